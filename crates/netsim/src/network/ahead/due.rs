//! What a queue that works ahead has still to do.

use crate::engine::clock::Instant;
use aqm::unit::{Span, Time};

/// When the remaining work is due. The transmitter's own time is `AqmQueue::sent`, while it is busy.
#[derive(Debug)]
pub(crate) struct Due {
    /// The earliest of all.
    pub(crate) next: Time,
    /// The end of the algorithm's period, if it has one.
    pub(super) period: Time,
    /// The end of the warm-up, until it is over.
    pub(super) warmup: Time,
    /// When the wire is free of all packets that have been let in.
    pub(super) free: Instant,
}

impl Due {
    /// At the start of a run, where the algorithm has this period.
    pub(crate) fn new(period: Option<Span>, warmup: Time) -> Self {
        let period = period.map_or(Time::MAX, |period| Time::ZERO + period);
        Self { next: period.min(warmup), period, warmup, free: Instant::ZERO }
    }

    /// Computes the next due event; the transmitter is busy until `sent`, if it is.
    #[inline]
    pub(super) fn update(&mut self, busy: bool, sent: Time) {
        let ready = if busy { sent } else { Time::MAX };
        self.next = self.period.min(ready).min(self.warmup);
    }
}
