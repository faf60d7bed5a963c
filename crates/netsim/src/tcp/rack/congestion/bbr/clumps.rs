//! How many segments are acknowledged at once beyond what the bandwidth explains (`bbr_update_ack_aggregation`).

use super::{BANDWIDTH_BITS, State};
use crate::tcp::rack::rate::RateSample;

/// Round trips that each of the two values is kept.
const ROUNDS: u32 = 5;
/// An epoch with more segments starts over.
const LONG_EPOCH: u32 = 1 << 20;
/// A clump counts for so much of the bandwidth at most, in microseconds.
const MOST_US: u64 = 100_000;

/// The greatest excess of the last five to ten round trips.
#[derive(Clone, Default, Debug)]
pub(super) struct Clumps {
    since: u64,
    acked: u32,
    most: [u32; 2],
    now: usize,
    rounds: u32,
}

impl Clumps {
    /// A new epoch begins.
    pub(super) fn start(&mut self, us: u64) {
        (self.since, self.acked) = (us, 0);
    }

    /// Segments to add to the window.
    pub(super) fn most(&self, bandwidth: u64) -> u32 {
        let bound = (bandwidth * MOST_US) >> BANDWIDTH_BITS;
        self.most[0].max(self.most[1]).min(bound as u32)
    }

    /// Takes in an acknowledgement.
    pub(super) fn note(&mut self, state: &State, sample: &RateSample, bandwidth: u64, round: bool) {
        if sample.delivered == 0 || sample.rate.is_none() {
            return;
        }
        if round {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
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
