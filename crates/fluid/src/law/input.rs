//! The input of a control law: the values at one instant, and the sums since its timer last expired.

/// No law has more numbers that move between its timer's instants.
pub(crate) const FLOWING: usize = 2;

/// The values at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant {
    /// The queue.
    pub(crate) q: f64,
    /// The arrival rate, packets per second.
    pub(crate) arriving: f64,
    /// The law's state.
    pub(crate) own: [f64; FLOWING],
}

/// The counts since the timer last expired, packets.
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
