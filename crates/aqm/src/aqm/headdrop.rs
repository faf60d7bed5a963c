//! Head drop: a full buffer makes room by dropping the packets that have waited longest.
//!
//! The senders learn of the loss earlier than with drop-tail, by the time that the queue takes to empty.
//!
//! Decides at: overflow. Timer: none. Randomness: none. State: none.
//!
//! # Departures from the source
//! In a buffer limited in bytes, as many packets are dropped as the arrival needs; an arrival larger than the buffer
//! is itself dropped.
//!
//! # Sources
//! Lakshman, Neidhardt, Ott, "The drop from front strategy in TCP and in TCP over ATM", INFOCOM 1996; Linux 7.2,
//! sch_fifo.c, pfifo_head_drop, against which it is tested.

use crate::contract::{Aqm, Backlog, Packet, Port, Signal, Uniform, Verdict};
use crate::unit::{Limit, Time};

crate::params! {
    /// Head drop has no parameters.
    pub struct Params {}
}

/// The algorithm; see the module.
#[derive(Clone, Copy, Debug)]
pub struct HeadDrop {
    limit: Limit,
}

impl Aqm for HeadDrop {
    type Params = Params;
    const SIGNALS: &'static [Signal] = &[];

    fn new(_: &Params, port: &Port) -> Self {
        Self { limit: port.limit }
    }

    #[inline]
    fn on_enqueue<R: Uniform>(&mut self, _: Time, _: &Packet, _: &Backlog, _: &mut R) -> Verdict {
        Verdict::Pass
    }

    fn make_room<R: Uniform>(&mut self, _: Time, packet: &Packet, queue: &Backlog, _: &mut R) -> Option<u32> {
        (queue.full && !self.limit.refuses(0, 0, packet.size)).then_some(0)
    }

    fn resume(&mut self, _: Self) {}

    fn signals(&self, _: impl FnMut(usize, f64)) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Draw, PORT, full, waiting};

    #[test]
    fn the_head_goes_when_the_buffer_is_full() {
        let mut front = HeadDrop::new(&Params {}, &PORT);
        let mut room = |size, queue: &Backlog| {
            front.make_room(Time::ZERO, &Packet::new(size, true), queue, &mut Draw(0.5))
        };
        assert_eq!(room(500, &full()), Some(0));
        assert_eq!(room(500, &waiting(199)), None);
    }

    #[test]
    fn nothing_is_dropped_for_an_arrival_that_never_fits() {
        let mut front = HeadDrop::new(&Params {}, &Port { limit: Limit::Bytes(3000), ..PORT });
        let mut room = |size| front.make_room(Time::ZERO, &Packet::new(size, true), &full(), &mut Draw(0.5));
        assert_eq!([room(3000), room(3001)], [Some(0), None]);
    }
}
