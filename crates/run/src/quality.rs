//! How users see a network: the quality of a call, responsiveness, and the outcome for an application.

use scenario::model::Voice;

/// The mean opinion score of a call, from 1 to 4.5, by the E-model (ITU-T G.107, with the defaults of its table 2): random
/// loss (`BurstR` 1), no echo.
///
/// `delay` is the time in s from mouth to ear, `loss` the share of packets that are not played.
#[must_use]
pub fn mean_opinion_score(voice: &Voice, delay: f64, loss: f64) -> f64 {
    /// R without delay and loss, of G.711.
    const BEST: f64 = 93.2;
    let lost = 100.0 * loss;
    let Voice { impairment, robustness, .. } = voice;
    // `Ie-eff` of section 7.5.
    let impaired = impairment + (95.0 - impairment) * lost / (lost + robustness);
    let r = BEST - delay_impairment(1e3 * delay) - impaired;
    // Annex B.
    match r {
        r if r <= 0.0 => WORST_CALL,
        r if r >= 100.0 => 4.5,
        r => (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(WORST_CALL),
    }
}

/// The impairment by a delay of `ms` between users without echo (`Idd` of G.107, section 7.4).
fn delay_impairment(ms: f64) -> f64 {
    if ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(ms / 100.0);
    let root = |x: f64| libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// The score of a call of which nothing is heard.
pub const WORST_CALL: f64 = 1.0;

/// Responsiveness in round trips a minute (draft-ietf-ippm-responsiveness-09, section 5.3.1.1): the mean of that of other
/// connections and that of the connections that load the network.
///
/// Each is 60 s over the trimmed mean of round-trip times. On a connection of its own a probe takes three round trips,
/// for TCP, TLS and HTTP, so that the mean of the three is that of a ping.
#[must_use]
pub const fn responsiveness(probe: f64, loaded: f64) -> f64 {
    f64::midpoint(probe, loaded)
}

/// The share of the round-trip times that a trimmed mean keeps, the shortest.
pub const KEPT: f64 = 0.95;

/// What an application needs (draft-ietf-ippm-qoo-09): `optimal`, where it works as well as it can, and `unacceptable`.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Percentiles, each with the optimal and the unacceptable round-trip time in s.
    pub latency: [(f64, f64, f64); 2],
    /// The optimal and the unacceptable share of packets lost.
    pub loss: (f64, f64),
    /// The least rate in bit/s.
    pub rate: f64,
}

/// Those of the example of the draft.
pub const NEEDS: Needs =
    Needs { latency: [(0.99, 0.2, 0.5), (0.999, 0.3, 0.6)], loss: (0.01, 0.05), rate: 4e6 };

/// The quality of outcome in [0, 1] (draft-ietf-ippm-qoo-09): the least of the scores for latency, loss and rate.
///
/// `latency` has the round-trip time in s of each percentile of the needs.
#[must_use]
pub fn quality_of_outcome(needs: &Needs, latency: [f64; 2], loss: f64, rate: f64) -> f64 {
    let score = |found: f64, optimal: f64, unacceptable: f64| {
        (1.0 - (found - optimal) / (unacceptable - optimal)).clamp(0.0, 1.0)
    };
    let latencies = needs.latency.iter().zip(latency);
    let worst = latencies.map(|(&(_, optimal, worst), found)| score(found, optimal, worst));
    let rate = if rate >= needs.rate { 1.0 } else { 0.0 };
    worst.fold(score(loss, needs.loss.0, needs.loss.1).min(rate), f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::Codec;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 2e-5 * expected, "{found}, not {expected}");
    }

    #[test]
    fn a_call_is_rated_as_by_hand() {
        let mean_opinion_score =
            |delay: f64, loss: f64| super::mean_opinion_score(&Codec::G711.voice(), delay, loss);
        // R 93.2: 1 + 3.262 + 93.2 * 33.2 * 6.8 * 7e-6.
        near(mean_opinion_score(0.02, 0.0), 4.4093);
        near(mean_opinion_score(0.1, 0.0), 4.4093);
        // At 200 ms X is 1: 25 (2^(1/6) - 3 (1 + 1/729)^(1/6) + 2) = 3.0444; R 90.1556.
        near(delay_impairment(200.0), 3.0444);
        near(mean_opinion_score(0.2, 0.0), 4.3428);
        // At 400 ms X is 2: 25 (65^(1/6) - 3 (1 + 64/729)^(1/6) + 2) = 24.0701; R 69.1299.
        near(delay_impairment(400.0), 24.0701);
        near(mean_opinion_score(0.4, 0.0), 3.5559);
        // 5 % lost: 95 * 5 / 30.1 = 15.7807; R 77.4193.
        near(mean_opinion_score(0.0, 0.05), 3.9228);
        assert_eq!(mean_opinion_score(10.0, 1.0), 1.0);
    }

    #[test]
    fn a_call_is_rated_by_its_codec() {
        for (codec, whole, lossy) in [
            // R 93.2 - 95 * 5 / 9.3 = 42.1247.
            (Codec::G711Bare, 4.40929, 2.16931),
            // R 82.2; 82.2 - 84 * 5 / 24 = 64.7.
            (Codec::G729a, 4.10438, 3.33964),
            // R 78.2; 78.2 - 80 * 5 / 21.1 = 59.2427.
            (Codec::G7231, 3.95419, 3.06069),
            // R 88.2; 88.2 - 90 * 5 / 15 = 58.2.
            (Codec::GsmEfr, 4.29245, 3.00635),
            (Codec::Amr, 4.29245, 3.00635),
        ] {
            near(mean_opinion_score(&codec.voice(), 0.0, 0.0), whole);
            near(mean_opinion_score(&codec.voice(), 0.0, 0.05), lossy);
        }
    }

    #[test]
    fn responsiveness_is_the_mean_of_that_of_others_and_of_the_load() {
        // 60 / 0.05 s and 60 / 0.2 s.
        near(responsiveness(60.0 / 0.05, 60.0 / 0.2), 750.0);
        near(responsiveness(60.0 / 0.02, 60.0 / 0.02), 3000.0);
    }

    #[test]
    fn the_outcome_is_that_of_the_drafts_example() {
        near(quality_of_outcome(&NEEDS, [0.35, 0.375], 0.02, 28e6), 0.5);
        assert_eq!(quality_of_outcome(&NEEDS, [0.35, 0.375], 0.02, 3.9e6), 0.0, "below 4 Mbit/s");
        near(quality_of_outcome(&NEEDS, [0.2, 0.3], 0.04, 4e6), 0.25);
        near(quality_of_outcome(&NEEDS, [0.1, 0.57], 0.0, 4e6), 0.1);
        assert_eq!(quality_of_outcome(&NEEDS, [0.1, 0.1], 0.0, 4e6), 1.0);
    }
}
