//! Which packets a class takes.

use crate::any::Inner;
use crate::contract::CLASSES;
use crate::dscp::Dscp;
use crate::params::{Params as _, Range, Value};
use crate::unit::Limit;
use alloc::boxed::Box;
use alloc::vec::Vec;

crate::params! {
    /// What a class takes, and the discipline in it.
    pub struct Leaf {
        /// The code points that it takes.
        dscp: Option<Vec<Dscp>> = None, "";
        /// The classes of service that it takes.
        service: Option<Vec<u32>> = None, "", Range::new(1.0, CLASSES as f64);
        /// The discipline inside, of any kind.
        aqm: Inner = Inner::of("droptail"), "";
        /// Its limit; auto is the link's buffer, which is a limit of all together.
        limit: Option<Limit> = None, "packets", Range::new(1.0, 4e9);
    }
}

impl Leaf {
    pub(crate) fn takes(&self) -> Takes {
        let (dscps, services) = (self.dscp.clone(), self.service.clone());
        Takes { dscps: dscps.unwrap_or_default(), services: services.unwrap_or_default() }
    }

    /// The first key that has another value than its default, and the value.
    pub(crate) fn first_given(&self) -> Option<(&'static str, Value)> {
        let pairs = self.values().into_iter().zip(Self::default().values());
        pairs.filter(|(own, default)| own != default).map(|(own, _)| own).next()
    }
}

/// The packets that a class takes: those with one of these code points, and those of one of these classes of service.
#[derive(Clone, Default, Debug)]
pub(crate) struct Takes {
    pub(crate) dscps: Vec<Dscp>,
    pub(crate) services: Vec<u32>,
}

impl Takes {
    fn has(&self, dscp: u8, service: u8) -> bool {
        self.dscps.iter().any(|own| own.code() == dscp) || self.services.contains(&u32::from(service))
    }

    fn takes_others(&self) -> bool {
        self.dscps.is_empty() && self.services.is_empty()
    }
}

/// The class of each packet, by code point and class of service.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Places(Box<[[u16; CLASSES as usize]; 64]>);

impl Places {
    /// A packet joins the first of the classes that names it; if none does, the first that names neither code point nor class of service, else the last.
    pub(crate) fn new(classes: &[Takes]) -> Self {
        let others = classes.iter().position(Takes::takes_others).unwrap_or(classes.len() - 1);
        let place = |dscp: usize, service: usize| {
            classes.iter().position(|class| class.has(dscp as u8, service as u8 + 1)).unwrap_or(others) as u16
        };
        Self(Box::new(core::array::from_fn(|dscp| core::array::from_fn(|service| place(dscp, service)))))
    }

    pub(crate) fn of(&self, dscp: u8, service: usize) -> usize {
        usize::from(self.0[usize::from(dscp & 63)][service])
    }

    /// Whether the code point matters.
    pub(crate) fn reads_dscps(&self) -> bool {
        self.0.iter().any(|services| services != &self.0[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_class_that_names_a_packet_takes_it_and_one_that_takes_others_takes_the_others() {
        let class =
            |dscps: &[Dscp], services: &[u32]| Takes { dscps: dscps.into(), services: services.into() };
        let voice = class(&[Dscp::Ef], &[]);
        let second = class(&[Dscp::Ef, Dscp::Cs1], &[2]);
        let places = Places::new(&[voice.clone(), Takes::default(), second.clone()]);
        assert_eq!(
            [(46, 0), (8, 0), (0, 1), (0, 0)].map(|(dscp, service)| places.of(dscp, service)),
            [0, 2, 2, 1]
        );
        assert!(places.reads_dscps());
        assert_eq!(Places::new(&[voice, second]).of(0, 0), 1, "else the last");
        assert!(!Places::new(&[class(&[], &[1]), Takes::default()]).reads_dscps());
    }
}
