//! A policed link as BBR knows it: two intervals in a row that lose much, at the same rate (`lt_bw`).

use super::scale::{BANDWIDTH_BITS, GAIN_BITS, ONE, pace};
use crate::tcp::rack::State;
use crate::tcp::rack::rate::RateSample;
use scenario::model::Profile;

/// The least number of round trips of an interval; four times this number is too long.
const LEAST_ROUNDS: u32 = 4;
/// The least number of losses per 256 delivered segments.
const LOSSES: u64 = 50;
/// Two rates are the same if they differ by an eighth, or by 4 kbit/s (in bytes a second).
const SAME: u64 = ONE / 8;
const SAME_PACE: u64 = 4000 / 8;
/// The number of round trips for which a policer's rate is kept.
const KEPT_ROUNDS: u32 = 48;

/// The detection of a policer.
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

/// The state of BBR at an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Whether a round trip begins.
    pub(super) round: bool,
    /// Whether it probes for bandwidth.
    pub(super) probing: bool,
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
    pub(super) fn watch(
        &mut self,
        state: &State,
        profile: &Profile,
        sample: &RateSample,
        progress: Progress,
    ) -> bool {
        let Progress { round, probing } = progress;
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
            self.end_interval(state, profile);
        }
        false
    }

    /// An interval may be over (`bbr_lt_bw_interval_done`).
    fn end_interval(&mut self, state: &State, profile: &Profile) {
        let lost = u64::from(state.lost - self.lost);
        let delivered = u64::from(state.delivered - self.delivered);
        let ms = (state.delivered_at / 1000).saturating_sub(self.since_ms);
        if delivered == 0 || lost << GAIN_BITS < LOSSES * delivered || ms < 1 {
            return;
        }
        let rate = (delivered << BANDWIDTH_BITS) / (ms * 1000);
        let apart = rate.abs_diff(self.bandwidth);
        let same = apart * ONE <= SAME * self.bandwidth || pace(profile, apart, ONE) <= SAME_PACE;
        if self.bandwidth > 0 && same {
            self.bandwidth = (rate + self.bandwidth) / 2;
            (self.policed, self.rounds) = (true, 0);
            return;
        }
        self.bandwidth = rate;
        self.start(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::Tcp;

    /// A sender of BBR, which loses some of what it sends, and its round trip in microseconds.
    struct Lossy(Policer, State, Profile, u64);

    impl Lossy {
        fn new() -> Self {
            let profile = Profile::new(&Tcp::preset("bbr").unwrap(), 1500);
            let mut state = State::new(&profile, u32::MAX);
            state.delivered_at = 1_000_000;
            Self(Policer::default(), state, profile, 100_000)
        }

        /// Round trips, each with this many delivered and lost.
        fn rounds(&mut self, rounds: u32, delivered: u32, lost: u32, limited: bool) -> bool {
            let mut over = false;
            for _ in 0..rounds {
                self.1.delivered += delivered;
                self.1.lost += lost;
                self.1.delivered_at += self.3;
                let sample = RateSample { lost, limited, ..RateSample::default() };
                over |= self.0.watch(&self.1, &self.2, &sample, Progress { round: true, probing: true });
            }
            over
        }
    }

    #[test]
    fn two_intervals_of_much_loss_at_one_rate_are_a_policer() {
        let mut link = Lossy::new();
        // The first round trip begins the first interval, three end it, and four more the second.
        link.rounds(4, 100, 30, false);
        assert!(!link.0.is_policed());
        link.rounds(4, 100, 30, false);
        let rate = link.0.bandwidth().expect("policed") as f64 / f64::from(1 << BANDWIDTH_BITS) * 1e6;
        assert!((rate - 1000.0).abs() < 1.0, "{rate} a second");
        // For 48 round trips.
        assert!(!link.rounds(47, 100, 0, false) && link.0.is_policed());
        assert!(link.rounds(1, 100, 0, false) && !link.0.is_policed());
    }

    #[test]
    fn little_loss_other_rates_and_a_limited_sender_are_none() {
        let mut little = Lossy::new();
        little.rounds(30, 100, 19, false);
        assert!(!little.0.is_policed(), "19 of 100 delivered");
        let mut other = Lossy::new();
        other.rounds(5, 100, 30, false);
        other.rounds(5, 130, 40, false);
        assert!(!other.0.is_policed(), "30 % more");
        // Unless it is less than 4 kbit/s: 5 and 8 segments in 20 s are 2.9 and 4.6.
        let mut slow = Lossy { 3: 20_000_000, ..Lossy::new() };
        slow.rounds(5, 5, 3, false);
        slow.rounds(5, 8, 5, false);
        assert!(slow.0.is_policed());
        let mut limited = Lossy::new();
        limited.rounds(4, 100, 30, false);
        limited.rounds(1, 100, 30, true);
        limited.rounds(4, 100, 30, false);
        assert!(!limited.0.is_policed(), "it begins anew");
    }
}
