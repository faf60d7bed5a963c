//! Classes of service whose drop probabilities are in proportion to their weights.

use crate::contract::{CLASSES, Packet};
use crate::params::ParamError;

/// Each class's weight.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Weights([f64; CLASSES as usize]);

impl Weights {
    /// The weights of classes 1, 2, …; the last one also applies to the classes beyond the list.
    pub(crate) fn new(given: &[f64]) -> Self {
        Self(core::array::from_fn(|i| given[i.min(given.len() - 1)]))
    }

    /// Refuses weights by which a class of lower number would lose more.
    pub(crate) fn check(given: &[f64]) -> Result<(), ParamError> {
        if given.len() > usize::from(CLASSES) || !given.is_sorted() {
            let allowed = format!("at most {CLASSES} weights, none smaller than the one before");
            return Err(ParamError::invalid("weights", format!("{given:?}"), allowed));
        }
        Ok(())
    }

    /// The weight of a packet.
    #[inline]
    pub(crate) fn of(&self, packet: &Packet) -> f64 {
        self.0[packet.place()]
    }
}

/// The factor on p for a packet of this weight, where the mean weight of the arrivals is `mix`: so p stays the mean drop
/// probability.
#[inline]
pub(crate) fn factor(weight: f64, mix: f64) -> f64 {
    // If all arrivals had weight 0, p applies unchanged to the other classes.
    if mix == 0.0 { f64::from(u8::from(weight > 0.0)) } else { weight / mix }
}
