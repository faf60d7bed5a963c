//! Reno: one segment more for every acknowledgement in slow start, one a round trip above; half after a loss.
//!
//! ```text
//! cwnd <  ssthresh:  cwnd <- cwnd + 1             an ACK
//! cwnd >= ssthresh:  cwnd <- cwnd + 1 / cwnd      an ACK      (RFC 5681, section 3.1)
//! loss:              cwnd <- cwnd / 2                         (equation 4)
//! ```
//!
//! # Departures from the source
//! Acknowledgements count, not the bytes that they cover (RFC 5681 allows both; ns-2 does this): with delayed ACKs
//! the window grows by half a segment a round trip. In slow start an ACK may count as the segments that it covers,
//! see `slow_start_step`.

/// The part of the window that a loss leaves.
pub const KEPT: f64 = 0.5;

/// The window after an acknowledgement that counts as `step` segments in slow start.
#[must_use]
pub fn grown(cwnd: f64, ssthresh: f64, step: u32) -> f64 {
    if cwnd < ssthresh { (cwnd + f64::from(step)).min(ssthresh.max(cwnd + 1.0)) } else { cwnd + 1.0 / cwnd }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_doubles_below_the_threshold_and_adds_one_a_round_trip_above() {
        assert_eq!(grown(4.0, 8.0, 1), 5.0);
        assert_eq!([2, 9].map(|step| grown(4.0, 8.0, step)), [6.0, 8.0], "not beyond the threshold");
        assert_eq!(grown(7.5, 8.0, 1), 8.5);
        let after = (0..8).fold(8.0, |cwnd, _| grown(cwnd, 8.0, 1));
        // Eight times 1/cwnd with cwnd from 8 to 9: between 8/9 and 1.
        assert!((8.0 + 8.0 / 9.0..9.0).contains(&after), "{after}");
    }
}
