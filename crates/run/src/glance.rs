//! A glance at a run under way.

use serde::Serialize;

/// The observed link of a run under way, at one time: the queue, and counters since the start of the run, warm-up
/// included. The differences of two glances yield rates and means.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Glance {
    /// The simulated time in s.
    pub t: f64,
    /// Packets that wait.
    pub queue: u64,
    /// Their number integrated over the time so far, in packet seconds.
    pub queue_area: f64,
    /// Packets that arrived.
    pub arrivals: u64,
    /// Packets dropped, by the discipline or because the buffer was full.
    pub drops: u64,
    /// Packets marked with CE.
    pub marks: u64,
    /// Packets whose transmission has begun.
    pub departures: u64,
    /// Their bytes on the link, of a half-duplex link those that were sent.
    pub departed_bytes: u64,
    /// The sum of the times that they waited, in s.
    pub waited: f64,
}
