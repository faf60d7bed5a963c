//! Drop-tail: accepts every packet for which the buffer has room.
//!
//! Decides at: nothing; the buffer's limit belongs to the queue. Timer: none. Randomness: none. State: none.
//!
//! # Departures from the source
//! ns-2 tests before the insertion whether the buffer would then be full, so that its `limit_ 200` holds 199 waiting
//! packets; here a buffer of 200 packets holds 200.
//!
//! # Sources
//! RFC 7567, section 2; ns-2.35, drop-tail.cc.

use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::unit::Time;

crate::params! {
    /// Drop-tail has no parameters.
    pub struct Params {}
}

/// The algorithm; see the module.
#[derive(Clone, Copy, Debug)]
pub struct DropTail;

impl Aqm for DropTail {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[];

    fn new(_: &Params, _: &Port) -> Self {
        Self
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, _: &Packet, _: &Backlog, _: &mut R) -> Verdict {
        Verdict::Pass
    }

    fn is_final(&self) -> bool {
        true
    }

    fn resume(&mut self, _: Self) {}

    fn signals(&self, _: impl FnMut(usize, f64)) {}
}
