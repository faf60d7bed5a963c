//! The counters of a queue.

/// The counts of the packets of one row, or of one lane, since the start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets dropped by the algorithm.
    pub drops_early: u64,
    /// Packets dropped because the buffer was full.
    pub drops_overflow: u64,
    /// Packets marked with CE.
    pub marks: u64,
    /// Packets handed to the link.
    pub departures: u64,
    /// Bytes handed to the link.
    pub departed_bytes: u64,
    /// Dropped packets that had arrived before [`begin_window`](super::Queue::begin_window).
    pub earlier_drops: u64,
    /// Marked packets that had arrived before it.
    pub earlier_marks: u64,
}

impl Counts {
    /// The counts since `then`, when [`begin_window`](super::Queue::begin_window) was called.
    #[must_use]
    pub const fn since(&self, then: &Self) -> Self {
        Self {
            arrivals: self.arrivals - then.arrivals,
            drops_early: self.drops_early - then.drops_early,
            drops_overflow: self.drops_overflow - then.drops_overflow,
            marks: self.marks - then.marks,
            departures: self.departures - then.departures,
            departed_bytes: self.departed_bytes - then.departed_bytes,
            earlier_drops: self.earlier_drops - then.earlier_drops,
            earlier_marks: self.earlier_marks - then.earlier_marks,
        }
    }

    /// The sum of these counts and others.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            arrivals: self.arrivals + other.arrivals,
            drops_early: self.drops_early + other.drops_early,
            drops_overflow: self.drops_overflow + other.drops_overflow,
            marks: self.marks + other.marks,
            departures: self.departures + other.departures,
            departed_bytes: self.departed_bytes + other.departed_bytes,
            earlier_drops: self.earlier_drops + other.earlier_drops,
            earlier_marks: self.earlier_marks + other.earlier_marks,
        }
    }

    /// Packets dropped, early or by overflow.
    #[must_use]
    pub const fn drops(&self) -> u64 {
        self.drops_early + self.drops_overflow
    }

    /// The fraction of arrivals that were dropped, in [0, 1]: a packet is dropped at most once. `None` without
    /// arrivals.
    #[must_use]
    pub fn loss_ratio(&self) -> Option<f64> {
        self.over_arrivals(self.drops() - self.earlier_drops)
    }

    /// The fraction of arrivals that were marked, in [0, 1]: a packet counts as marked once. `None` without arrivals.
    #[must_use]
    pub fn mark_ratio(&self) -> Option<f64> {
        self.over_arrivals(self.marks - self.earlier_marks)
    }

    fn over_arrivals(&self, packets: u64) -> Option<f64> {
        (self.arrivals > 0).then(|| packets as f64 / self.arrivals as f64)
    }
}
