//! The model of traffic: classes of flows with one round trip, and a load that does not respond to losses.

use crate::population::Population;

/// Flows of TCP with one round trip.
#[derive(Clone, Debug)]
pub struct Class {
    /// The number of the traffic entry.
    pub entry: usize,
    /// The number of flows over time.
    pub flows: Population,
    /// The round trip without queues, s.
    pub rtt: f64,
    /// Size of a data packet on the managed link in bytes.
    pub packet: u64,
    /// The number of acknowledged packets that count as one for the growth of the window; those of an ACK, if ACKs are
    /// counted.
    pub acked: f64,
    /// The first window, the greatest, and the first slow-start threshold, in packets.
    pub initial_window: f64,
    /// See `initial_window`.
    pub max_window: f64,
    /// See `initial_window`.
    pub initial_ssthresh: f64,
    /// The minimum retransmission time-out, s.
    pub min_rto: f64,
    /// Whether early drops are marks for its packets.
    pub marked: bool,
    /// The share of its packets that are lost at random before the queue, and after it.
    pub lost: [f64; 2],
}

/// Traffic that does not respond to losses, as a mean rate.
#[derive(Clone, Debug)]
pub struct Load {
    /// The number of the traffic entry.
    pub entry: usize,
    /// Its rate over time, in bit/s on the managed link.
    pub rate: Population,
    /// Its kind.
    pub kind: &'static str,
    /// The share that is lost at random before the queue.
    pub lost: f64,
    /// Whether early drops are marks for its packets.
    pub marked: bool,
}
