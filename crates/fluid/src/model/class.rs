//! Traffic as the equations see it: classes of flows with one round trip, and a load that does not answer to losses.

use crate::population::Population;

/// Flows of TCP with one round trip.
#[derive(Clone, Debug)]
pub struct Class {
    /// The number of the traffic entry.
    pub entry: usize,
    /// The number of flows over time.
    pub flows: Population,
    /// There and back without any queue, s.
    pub rtt: f64,
    /// Size of a data packet on the managed link in bytes.
    pub packet: u64,
    /// Packets acknowledged that let the window grow as one: where acknowledgements count, those that an ACK covers.
    pub acked: f64,
    /// The first window, the greatest, and the first slow-start threshold, in packets.
    pub initial_window: f64,
    /// See `initial_window`.
    pub max_window: f64,
    /// See `initial_window`.
    pub initial_ssthresh: f64,
    /// The least retransmission time-out, s.
    pub min_rto: f64,
    /// Whether its packets are marked where others are dropped early.
    pub marked: bool,
    /// The part of its packets lost at random in front of the queue, and behind it.
    pub lost: [f64; 2],
}

/// Traffic that does not heed losses, as a mean rate.
#[derive(Clone, Debug)]
pub struct Load {
    /// The number of the traffic entry.
    pub entry: usize,
    /// What there is when, in bit/s on the managed link.
    pub rate: Population,
    /// Its kind.
    pub kind: &'static str,
    /// The part lost at random in front of the queue.
    pub lost: f64,
    /// Whether its packets are marked where others are dropped early.
    pub marked: bool,
}
