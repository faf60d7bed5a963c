//! The remaining work of a queue that works ahead.

use crate::engine::order::{Key, NEVER};

/// When the remaining work is due, in the order of [`crate::engine::order`].
#[derive(Debug)]
pub(crate) struct Due {
    /// The earliest of all.
    pub(super) next: Key,
    /// The end of the algorithm's period, if it has one.
    pub(super) period: Key,
    /// The end of the warm-up, until it is over.
    pub(super) warmup: Key,
    /// The end of the transmission under way, if there is one.
    pub(super) ready: Key,
    /// When the wire is free of all packets that have been let in.
    pub(super) free: Key,
}

impl Due {
    /// At the start of a run: the end of the algorithm's first period, if it has one, and of the warm-up.
    pub(crate) fn new(period: Option<Key>, warmup: Key) -> Self {
        let period = period.unwrap_or(NEVER);
        Self { next: period.min(warmup), period, warmup, ready: NEVER, free: 0 }
    }

    /// Computes the time of the next work.
    #[inline]
    pub(super) fn update(&mut self) {
        self.next = self.period.min(self.ready).min(self.warmup);
    }
}
