//! The load of the link.

use crate::unit::{Span, Time};

/// The time over which the load is measured.
const WINDOW: Span = Span::ms(500);

/// The load over the last window, from the mean packet size in bits and the mean time between arrivals in seconds.
#[derive(Clone, Default, Debug)]
pub(super) struct Load {
    pub(super) packets: f64,
    pub(super) size: f64,
    pub(super) gap: f64,
    pub(super) last: Time,
    pub(super) end: Time,
}

impl Load {
    pub(super) fn arrive(&mut self, now: Time, bits: f64) {
        let gap = now.since(self.last).secs();
        self.last = now;
        if now >= self.end {
            (self.packets, self.gap, self.size) = (1.0, gap, bits);
            self.end = now + WINDOW;
            return;
        }
        self.packets += 1.0;
        self.gap = (gap + self.gap * (self.packets - 1.0)) / self.packets;
        self.size = (bits + self.size * (self.packets - 1.0)) / self.packets;
    }

    pub(super) fn of(&self, link: f64) -> f64 {
        if self.gap > 0.0 { self.size / (self.gap * link) } else { 1.0 }
    }
}
