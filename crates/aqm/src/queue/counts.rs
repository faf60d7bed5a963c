//! What is counted at a queue.

/// What has happened to the packets of one row, or of one lane, since the start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets dropped by the algorithm.
    pub drops_early: u64,
    /// Packets dropped for want of room.
    pub drops_overflow: u64,
    /// Packets marked with CE.
    pub marks: u64,
    /// Packets handed to the link.
    pub departures: u64,
    /// Bytes handed to the link.
    pub departed_bytes: u64,
    /// Of the packets dropped, those that had arrived before [`begin_window`](super::Queue::begin_window).
    pub earlier_drops: u64,
    /// Of the packets marked, those that had arrived before it.
    pub earlier_marks: u64,
}

impl Counts {
    /// What has happened since `then`, when [`begin_window`](super::Queue::begin_window) was called.
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

    /// These and others.
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

    /// Packets dropped, for whatever reason.
    #[must_use]
    pub const fn drops(&self) -> u64 {
        self.drops_early + self.drops_overflow
    }

    /// The part of the arrivals that was dropped, in [0, 1]: a packet is dropped at most once. `None` without arrivals.
    #[must_use]
    pub fn loss_ratio(&self) -> Option<f64> {
        self.over_arrivals(self.drops() - self.earlier_drops)
    }

    /// The part of the arrivals that was marked, in [0, 1]: a packet counts as marked once. `None` without arrivals.
    #[must_use]
    pub fn mark_ratio(&self) -> Option<f64> {
        self.over_arrivals(self.marks - self.earlier_marks)
    }

    fn over_arrivals(&self, packets: u64) -> Option<f64> {
        (self.arrivals > 0).then(|| packets as f64 / self.arrivals as f64)
    }
}
