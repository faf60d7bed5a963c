//! PRIO: strict priority between classes, each with a discipline of its own.
//!
//! A packet joins the first of the `classes` that names its DSCP (`dscp`) or its class of service (`service`); if none
//! does, the first that names neither, else the last. The class of the lowest `priority` that has packets is served; of
//! several with the same, the first as they are written. So a class waits as long as one before it has anything to
//! send: it starves if they send all the time.
//!
//! Decides at: departure, which class. The disciplines inside decide on packets. Timer: those of the disciplines
//! inside. Randomness: that of the disciplines inside. State: that of the disciplines inside.
//!
//! # Departures from the source
//! Linux has 16 bands at most, and by default sorts packets into three by the type of service of 1992; here classes
//! name what they take. A discipline inside learns that it is empty when a class after it is served. Where a shaper
//! asks for the next packet, a discipline inside that has to be asked for it makes this one be asked too: a packet of a
//! class before it, which comes while that one waits, is sent after it.
//!
//! # Sources
//! Linux 7.2, sch_prio.c. Tested packet by packet against a plain re-implementation, and in open loop against the
//! kernel.

use crate::composite::{Composite, Inside, Leaf, P, Part, Parts, Scheduler, Served};
use crate::contract::{Port, Signal};
use crate::discipline::Lane;
use crate::dscp::Dscp;
use crate::params::{Named, Range};
use crate::unit::Time;
use alloc::borrow::ToOwned;
use alloc::vec::Vec;

crate::params! {
    /// A class.
    pub struct Class with leaf: Leaf {
        /// The lowest is served first.
        priority: u32 = 0, "", Range::new(0.0, 1000.0);
    }
}

crate::params! {
    /// The parameters of strict priority.
    pub struct Params {
        /// The classes.
        classes: Named<Class> = usual(), "";
    }
}

/// What RFC 4594 has before and after the rest.
fn usual() -> Named<Class> {
    let class = |priority, dscp| Class { priority, leaf: Leaf { dscp, ..Leaf::default() } };
    Named(vec![
        ("first".to_owned(), class(0, Some(vec![Dscp::Ef, Dscp::Va, Dscp::Cs5, Dscp::Cs6, Dscp::Cs7]))),
        ("others".to_owned(), class(1, None)),
        ("last".to_owned(), class(2, Some(vec![Dscp::Le, Dscp::Cs1]))),
    ])
}

/// The order of the classes; see the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order(Vec<usize>);

/// The algorithm; see the module.
pub type Prio = Composite<Order>;

impl Scheduler for Order {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[P];

    fn parts<'a>(params: &'a Params, _: &Port) -> Vec<Part<'a>> {
        params.classes.0.iter().map(|(name, class)| Part::class(name, &class.leaf, None)).collect()
    }

    fn new(params: &Params, _: &Port) -> Self {
        let mut order: Vec<usize> = (0..params.classes.0.len()).collect();
        order.sort_by_key(|place| params.classes.0[*place].1.priority);
        Self(order)
    }

    fn choose(&mut self, now: Time, parts: &mut Parts, lanes: &[Lane]) -> Option<Served> {
        for &part in &self.0 {
            if parts.can_serve(part, now, lanes) {
                return Some(parts.serve(part, now, lanes));
            }
            parts.rest(part, now);
        }
        None
    }

    fn is_peekable(&self, parts: &Parts) -> bool {
        parts.iter().all(Inside::is_peekable)
    }

    fn peek(&self, parts: &Parts, lanes: &[Lane]) -> Option<u32> {
        parts.get(*self.0.iter().find(|part| !parts.get(**part).is_empty())?).peek(lanes)
    }

    fn can_resume(&self, before: &Self) -> bool {
        self == before
    }

    fn resume(&mut self, _: Time, _: Self) {}
}
