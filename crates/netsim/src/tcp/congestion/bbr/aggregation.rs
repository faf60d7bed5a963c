//! The segments that are acknowledged at once beyond those that the bandwidth explains (`bbr_update_ack_aggregation`).

use super::scale::BANDWIDTH_BITS;
use crate::tcp::rack::State;
use crate::tcp::rack::rate::RateSample;

/// An epoch with more segments starts over.
const LONG_EPOCH: u32 = 1 << 20;
/// The aggregation counts as at most the segments that the bandwidth delivers in this time, in microseconds.
const MOST_US: u64 = 100_000;

/// The greatest excess lately: two values, each kept for some round trips, of which the later one is still being filled.
#[derive(Clone, Default, Debug)]
pub(in crate::tcp::congestion) struct AckAggregation {
    since: u64,
    acked: u32,
    most: [u32; 2],
    now: usize,
    rounds: u32,
}

impl AckAggregation {
    /// A new epoch begins.
    pub(in crate::tcp::congestion) fn start(&mut self, us: u64) {
        (self.since, self.acked) = (us, 0);
    }

    /// Segments to add to the window.
    pub(in crate::tcp::congestion) fn extra_acked(&self, bandwidth: u64) -> u32 {
        let bound = (bandwidth * MOST_US) >> BANDWIDTH_BITS;
        self.most[0].max(self.most[1]).min(bound as u32)
    }

    /// Takes in an acknowledgement. If it begins a round trip, `round` is the number of round trips for which a value is kept.
    pub(in crate::tcp::congestion) fn note(
        &mut self,
        state: &State,
        sample: &RateSample,
        bandwidth: u64,
        round: Option<u32>,
    ) {
        if sample.delivered == 0 || sample.rate.is_none() {
            return;
        }
        if let Some(kept) = round {
            self.rounds += 1;
            if self.rounds >= kept {
                (self.rounds, self.now) = (0, 1 - self.now);
                self.most[self.now] = 0;
            }
        }
        let epoch = state.delivered_at.saturating_sub(self.since);
        let mut expected = ((u128::from(bandwidth) * u128::from(epoch)) >> BANDWIDTH_BITS) as u64;
        if u64::from(self.acked) <= expected || self.acked + sample.delivered >= LONG_EPOCH {
            self.start(state.delivered_at);
            expected = 0;
        }
        self.acked += sample.delivered;
        let excess = u64::from(self.acked).saturating_sub(expected) as u32;
        self.most[self.now] = self.most[self.now].max(excess.min(state.cwnd));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::{Profile, Tcp};

    /// One segment a millisecond, rounded up.
    const BANDWIDTH: u64 = (1 << BANDWIDTH_BITS) / 1000 + 1;

    #[test]
    fn aggregation_counts_for_five_to_ten_round_trips() {
        let profile = Profile::new(&Tcp::preset("bbr").unwrap(), 1500);
        let mut state = State::new(&profile, u32::MAX);
        state.cwnd = 100;
        let mut aggregation = AckAggregation::default();
        aggregation.start(1_000_000);
        let mut note = |ms: u64, delivered, round: bool| {
            state.delivered_at = 1_000_000 + ms * 1000;
            let sample = RateSample { delivered, rate: Some((1, 1000)), ..RateSample::default() };
            aggregation.note(&state, &sample, BANDWIDTH, round.then_some(5));
            aggregation.extra_acked(BANDWIDTH)
        };
        assert_eq!(note(30, 30, false), 30, "30 at once, of which the bandwidth explains none");
        // 50 in 15 ms are 35 beyond it, and the epoch goes on.
        assert_eq!(note(45, 20, false), 35);
        // As many as the bandwidth explains: a new epoch.
        assert_eq!(note(200, 1, false), 35);
        let kept = (1..=10).map(|round| note(200 + 10 * round, 1, true)).collect::<Vec<_>>();
        assert_eq!(kept.iter().rposition(|&most| most == 35), Some(8), "{kept:?}");
        assert_eq!(kept[9], 1);
        assert_eq!(note(400, 150, false), 100, "the window at most");
    }

    #[test]
    fn aggregation_is_a_tenth_of_a_second_at_most() {
        let aggregation = AckAggregation { most: [500, 0], ..AckAggregation::default() };
        assert_eq!((aggregation.extra_acked(BANDWIDTH), aggregation.extra_acked(10 * BANDWIDTH)), (100, 500));
    }
}
