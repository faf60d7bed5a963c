//! The throughput of TCP at a loss event rate (section 3.1), with an ACK for each packet and a time-out of four round trips.

/// The rate in byte/s of packets of `size` bytes at the loss event rate `p`, with a round trip of `rtt` seconds.
#[must_use]
pub fn rate(size: f64, rtt: f64, p: f64) -> f64 {
    let fast = (2.0 * p / 3.0).sqrt();
    let timed_out = 4.0 * 3.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    size / (rtt * (fast + timed_out))
}

/// The loss event rate at which [`rate`] is `target` byte/s; at most 1.
pub(super) fn loss_event_rate(size: f64, rtt: f64, target: f64) -> f64 {
    // The rate falls with p; the middle is taken in the logarithm, because p spans many powers of ten.
    let (mut low, mut high) = (1e-18_f64, 1.0_f64);
    for _ in 0..64 {
        let middle = (low * high).sqrt();
        if rate(size, rtt, middle) > target { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_equation() {
        // Computed by hand from the printed formula: s, R, p, byte/s.
        for (size, rtt, p, expected) in RATES {
            let found = rate(size, rtt, p);
            assert!((found / expected - 1.0).abs() < 1e-5, "{size} {rtt} {p}: {found}, not {expected}");
            let inverse = loss_event_rate(size, rtt, expected);
            assert!((inverse / p - 1.0).abs() < 1e-4, "{inverse}, not {p}");
        }
    }

    #[test]
    fn a_rate_below_that_of_losing_every_packet_has_a_loss_event_rate_of_one() {
        assert!((loss_event_rate(1000.0, 0.1, 1e-3) - 1.0).abs() < 1e-9);
    }

    const RATES: [(f64, f64, f64, f64); 4] = [
        (1000.0, 0.1, 0.01, 112332.2344),
        (1460.0, 0.05, 0.001, 1120823.4037),
        (1000.0, 0.2, 0.1, 8850.5104),
        (500.0, 0.02, 0.3, 4871.1833),
    ];
}
