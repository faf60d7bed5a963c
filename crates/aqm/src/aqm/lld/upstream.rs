//! The virtual queue of a cable modem, whose packets wait for grants even where nothing is congested (annex O).

use crate::unit::{Rate, Span, Time};

/// How often the virtual queue is compared with what waits, VQ_INTERVAL.
const INTERVAL: Span = Span::us(500);
/// The weight of what waits in its average, at each comparison.
const WEIGHT: f64 = 1.0 / 128.0;

/// A queue that is served at the link's rate at once, and is at least what waits beyond the loop delay.
#[derive(Clone, Debug)]
pub(super) struct Upstream {
    rate: f64,
    /// Bytes that may wait for grants.
    allowed: f64,
    /// Its delay in seconds at `last`.
    delay: f64,
    last: Time,
    /// The average of what waits, in bytes.
    average: f64,
}

impl Upstream {
    /// An empty queue.
    pub(super) fn new(rate: Rate, loop_delay: Span) -> Self {
        let allowed = loop_delay.secs() * rate.bits() / 8.0;
        Self { rate: rate.bits(), allowed, delay: 0.0, last: Time::ZERO, average: 0.0 }
    }

    /// Continues at `now`, with the state of `before` if there is one.
    pub(super) fn resume(&mut self, now: Time, before: Option<Self>) {
        self.last = now;
        if let Some(Self { delay, last, average, .. }) = before {
            (self.delay, self.last, self.average) = (delay, last, average);
        }
    }

    /// The time has passed until `now`, while this many bytes waited.
    pub(super) fn advance(&mut self, now: Time, waiting: u64) {
        let interval = INTERVAL.nanos();
        let last = now.nanos() / interval;
        for number in self.last.nanos() / interval + 1..=last {
            let before = self.average;
            self.drain(Time::from_nanos(number * interval));
            self.average += WEIGHT * (waiting as f64 - self.average);
            self.delay = self.delay.max(self.beyond());
            // From here on it stays as it is, however long the silence.
            if self.average == before {
                self.drain(Time::from_nanos(last * interval));
                self.delay = self.delay.max(self.beyond());
                break;
            }
        }
        self.drain(now);
    }

    /// The delay of what waits beyond the loop delay.
    fn beyond(&self) -> f64 {
        8.0 * (self.average - self.allowed) / self.rate
    }

    fn drain(&mut self, now: Time) {
        self.delay = (self.delay - now.since(self.last).secs()).max(0.0);
        self.last = now;
    }

    /// A packet of this size arrives; returns its delay.
    pub(super) fn add(&mut self, size: u32) -> Span {
        self.delay += 8.0 * f64::from(size) / self.rate;
        Span::from_secs(self.delay)
    }

    /// A packet of this size goes elsewhere.
    pub(super) fn withdraw(&mut self, size: u32) {
        self.delay = (self.delay - 8.0 * f64::from(size) / self.rate).max(0.0);
    }
}
