//! A policed link as BBR knows it: two intervals in a row that lose much, at the same rate (`lt_bw`).

use super::{BANDWIDTH_BITS, GAIN_BITS, ONE, State};
use crate::tcp::rack::rate::RateSample;

/// Round trips of an interval at least; four times as many are too long.
const LEAST_ROUNDS: u32 = 4;
/// Of 256 delivered so many are lost at least.
const LOSSES: u64 = 50;
/// Two rates are the same if they differ by an eighth.
const SAME: u64 = ONE / 8;
/// How many round trips a policer's rate is kept.
const KEPT_ROUNDS: u32 = 48;

/// What is known of a policer.
#[derive(Clone, Default, Debug)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    policed: bool,
    bandwidth: u64,
    /// At the start of the interval: delivered, lost, and when, in ms.
    delivered: u32,
    lost: u32,
    since_ms: u64,
}

impl Policer {
    pub(super) const fn is_policed(&self) -> bool {
        self.policed
    }

    /// The policer's rate, if there is one.
    pub(super) fn bandwidth(&self) -> Option<u64> {
        self.policed.then_some(self.bandwidth)
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self, state: &State) {
        *self = Self::default();
        self.start(state);
    }

    fn start(&mut self, state: &State) {
        (self.delivered, self.lost) = (state.delivered, state.lost);
        self.since_ms = state.delivered_at / 1000;
        self.rounds = 0;
    }

    /// Takes in an acknowledgement; whether the rate was kept for long enough, and the cycle is to start over
    /// (`bbr_lt_bw_sampling`).
    pub(super) fn watch(&mut self, state: &State, sample: &RateSample, round: bool, probing: bool) -> bool {
        if self.policed {
            if probing && round {
                self.rounds += 1;
                if self.rounds >= KEPT_ROUNDS {
                    self.reset(state);
                    return true;
                }
            }
            return false;
        }
        if !self.sampling {
            if sample.lost == 0 {
                return false;
            }
            self.start(state);
            self.sampling = true;
        }
        self.rounds += u32::from(round);
        if sample.limited || self.rounds > 4 * LEAST_ROUNDS {
            self.reset(state);
        } else if self.rounds >= LEAST_ROUNDS && sample.lost > 0 {
            self.end_interval(state);
        }
        false
    }

    /// An interval may be over (`bbr_lt_bw_interval_done`).
    fn end_interval(&mut self, state: &State) {
        let lost = u64::from(state.lost - self.lost);
        let delivered = u64::from(state.delivered - self.delivered);
        let ms = (state.delivered_at / 1000).saturating_sub(self.since_ms);
        if delivered == 0 || lost << GAIN_BITS < LOSSES * delivered || ms < 1 {
            return;
        }
        let rate = (delivered << BANDWIDTH_BITS) / (ms * 1000);
        if self.bandwidth > 0 && rate.abs_diff(self.bandwidth) * ONE <= SAME * self.bandwidth {
            self.bandwidth = (rate + self.bandwidth) / 2;
            (self.policed, self.rounds) = (true, 0);
            return;
        }
        self.bandwidth = rate;
        self.start(state);
    }
}
