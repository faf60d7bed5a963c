//! What a control law sees: one instant, and the sums since the last instant of its timer.

/// No law has more numbers that move between its timer's instants.
pub(crate) const FLOWING: usize = 2;

/// The state at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant {
    /// The queue.
    pub(crate) q: f64,
    /// What arrives, packets a second.
    pub(crate) arriving: f64,
    /// The law's own numbers that move.
    pub(crate) own: [f64; FLOWING],
}

/// What happened since the timer's last instant, packets.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tally {
    pub(crate) arrivals: f64,
    /// Dropped or marked by the algorithm.
    pub(crate) early: f64,
    /// The part of it that was only marked.
    pub(crate) marks: f64,
    /// Dropped by overflow.
    pub(crate) overflow: f64,
}
