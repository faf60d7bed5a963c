//! Reno, by segments delivered in `rack` senders, by acknowledgements in classic ones.
//!
//! ```text
//! `rack` senders                                  classic senders
//! cwnd <  ssthresh:  cwnd <- cwnd + 1             cwnd <- cwnd + 1           slow start
//! cwnd >= ssthresh:  cwnd <- cwnd + 1 / cwnd      cwnd <- cwnd + 1 / cwnd    congestion avoidance
//!                    a segment delivered          an ACK                     (RFC 5681, section 3.1)
//! loss or mark:      cwnd <- cwnd / 2, at least 2                            (equation 4)
//! ```
//!
//! In `rack` senders, the window grows by whole segments, and only while it is what limits the sender. The equations
//! are in [`super::growth`] and, for classic senders, [`super::classic`].
//!
//! # Departures from the source
//! In classic senders acknowledgements count, not the bytes that they cover (RFC 5681 allows both; ns-2 does this): with
//! delayed ACKs the window grows by half a segment a round trip. In slow start an ACK may count as the segments that it
//! covers, see `slow_start_step`.
//!
//! # Sources
//! Linux 7.2, `tcp_slow_start`, `tcp_cong_avoid_ai`, `tcp_reno_cong_avoid` (net/ipv4/tcp_cong.c); RFC 5681, section 3.1;
//! RFC 3465.

use super::CongestionControl;
use scenario::model::Profile;

/// Reno; its state is in the sender's.
#[derive(Clone, Default, Debug)]
pub struct Reno;

impl CongestionControl for Reno {
    fn new(_: &Profile) -> Self {
        Self
    }
}
