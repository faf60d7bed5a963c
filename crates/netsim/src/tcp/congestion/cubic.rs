//! CUBIC with HyStart, in the kernel's fixed-point arithmetic.
//!
//! ```text
//! W(t)  = C (t - K)^3 + W_max        t: since the epoch began, plus the least round trip       (RFC 9438, section 4.2)
//! K     = cbrt((W_max - cwnd) / C)   cwnd: when the epoch began
//! W_est   grows by 3 (1 - beta) / (1 + beta) a round trip, as Reno; the window is at least that          (section 4.3)
//! loss:   cwnd  <- beta cwnd                                                                             (section 4.6)
//!         W_max <- the window before, or (1 + beta)/2 of it if that is below the last W_max: fast convergence    (4.7)
//! ```
//!
//! HyStart ends slow start before a loss does: when acknowledgements that follow each other closely have come for half
//! the least round trip, or when the least of a round's first eight round trips exceeds the least ever by an eighth
//! (4 to 16 ms).
//!
//! # Departures from the source
//! * The cube root is exact; the kernel's (`cubic_root`) is off by 0.2 % on average.
//! * A train of acknowledgements may be longer by what segmentation offload explains (`hystart_ack_delay`): at most 1 ms,
//!   and the time of four times 64 KiB at the pace. That is so for a device with offload, also where `offload` is off here.
//!
//! Sources: Linux 7.2, net/ipv4/tcp_cubic.c; Ha, Rhee, Xu, "CUBIC", 2008; Ha, Rhee, "Hybrid slow start", 2008;
//! RFC 9438.

use super::growth::{self, LEAST};
use super::{CongestionControl, Event};
use crate::tcp::rack::clock::{ticks_of, ticks_of_us};
use crate::tcp::rack::{Phase, State};
use aqm::unit::Span;
use scenario::model::Profile;

/// Fractional bits of the time since the epoch (`BICTCP_HZ`).
const TIME_BITS: u32 = 10;
/// Fractional bits of C: the kernel has ten, for its C alone.
const C_BITS: u32 = 30;
/// The denominator of beta (`BICTCP_BETA_SCALE`).
const SCALE: u64 = 1024;
/// HyStart does nothing below this window.
const LOW_WINDOW: u32 = 16;
/// Acknowledgements no further apart are a train, in microseconds.
const TRAIN_GAP: u64 = 2000;
/// Round trips that are looked at in a round, and the increase that ends slow start, in microseconds.
const SAMPLES: u8 = 8;
const INCREASE: std::ops::RangeInclusive<u64> = 4000..=16_000;
/// The most that segmentation offload explains of a train, in microseconds, and the bytes of four such segments.
const OFFLOAD_US: u64 = 1000;
const OFFLOAD_BYTES: u64 = 4 * 65_536;

/// The state (`struct bictcp`, whose names stand in brackets where they differ).
#[derive(Clone, Default, Debug)]
pub struct Cubic {
    /// Acknowledged segments for each segment of growth.
    cnt: u32,
    /// The window at the last loss, in segments (`last_max_cwnd`); 0 before the first.
    w_max: u32,
    /// When and at which window `cnt` was last computed (`last_time`, `last_cwnd`).
    last: (u32, u32),
    /// The plateau of the curve (`bic_origin_point`), and when it is reached, in 1/1024 s since the epoch began (`bic_K`).
    origin: u32,
    k: u64,
    /// The least round trip in microseconds, 0 before the first.
    delay_min: u64,
    /// When the epoch began, in ticks; 0 before (`epoch_start`).
    epoch: u32,
    /// Segments acknowledged that `w_est` has not taken in (`ack_cnt`).
    acked: u32,
    /// The window that Reno would have (`tcp_cwnd`).
    w_est: u32,
    /// HyStart: whether slow start has ended.
    found: bool,
    /// When this round began, and the segment whose acknowledgement ends it (`end_seq`).
    round_start: u64,
    round_end: u32,
    /// The last acknowledgement of the train (`last_ack`).
    train: u64,
    /// The least round trip of this round (`curr_rtt`), and how many were looked at (`sample_cnt`).
    round_rtt: u64,
    samples: u8,
}

impl CongestionControl for Cubic {
    fn new(_: &Profile) -> Self {
        Self::default()
    }

    fn on_open(&mut self, state: &mut State, _: &Profile) {
        self.start_round(state);
    }

    /// Multiplicative decrease and fast convergence (RFC 9438, sections 4.6 and 4.7).
    fn ssthresh(&mut self, state: &State, profile: &Profile) -> u32 {
        self.epoch = 0;
        let (cwnd, beta) = (u64::from(state.to_reduce(profile)), beta(profile));
        self.w_max = if cwnd < u64::from(self.w_max) && profile.tcp.fast_convergence {
            (cwnd * (SCALE + beta) / (2 * SCALE)) as u32
        } else {
            cwnd as u32
        };
        ((cwnd * beta / SCALE) as u32).max(LEAST)
    }

    fn cong_avoid(&mut self, state: &mut State, profile: &Profile, acked: u32) {
        if !state.is_window_limited() {
            return;
        }
        let left = growth::slow_start(state, acked);
        if left > 0 {
            self.update(state, profile, left);
            growth::additive_increase(state, self.cnt, left);
        }
    }

    fn on_rtt(&mut self, state: &mut State, profile: &Profile, rtt_us: u64) {
        // As in the kernel: for a second after a reduction, round trips say nothing about the path.
        let since = state.clock.ticks.wrapping_sub(self.epoch);
        if self.epoch != 0 && since < ticks_of(Span::s(1), profile.tcp.tick) {
            return;
        }
        let rtt_us = rtt_us.max(1);
        if self.delay_min == 0 || self.delay_min > rtt_us {
            self.delay_min = rtt_us;
        }
        if profile.tcp.hystart && !self.found && state.in_slow_start() {
            self.hystart(state, profile, rtt_us);
        }
    }

    fn on_phase(&mut self, state: &mut State, _: &Profile, next: Phase) {
        if next == Phase::Loss {
            *self = Self::default();
            self.start_round(state);
        }
    }

    fn on_event(&mut self, state: &mut State, _: &Profile, event: Event) {
        let idle = state.clock.ticks.wrapping_sub(state.sent_ticks);
        // The curve stands still while nothing is sent, so that an idle flow does not return with a burst.
        if event == Event::TxStart && self.epoch != 0 && (idle as i32) > 0 {
            self.epoch = self.epoch.saturating_add(idle).min(state.clock.ticks);
        }
    }
}

fn beta(profile: &Profile) -> u64 {
    (profile.tcp.beta * SCALE as f64).round() as u64
}

impl Cubic {
    /// Works out how fast the window grows (`bictcp_update`).
    fn update(&mut self, state: &State, profile: &Profile, acked: u32) {
        let (now, cwnd) = (state.clock.ticks, state.cwnd);
        self.acked += acked;
        let age = now.wrapping_sub(self.last.0) as i32;
        if self.last.1 == cwnd && age <= (ticks_of(Span::s(1), profile.tcp.tick) / 32) as i32 {
            return;
        }
        if self.epoch == 0 || now != self.last.0 {
            self.last = (now, cwnd);
            if self.epoch == 0 {
                self.begin_epoch(state, profile, acked);
            }
            self.follow_curve(state, profile);
        }
        if profile.tcp.reno_friendly {
            self.follow_reno(cwnd, profile);
        }
        self.cnt = self.cnt.max(2);
    }

    /// The curve starts at the present window: K (RFC 9438, figure 2).
    fn begin_epoch(&mut self, state: &State, profile: &Profile, acked: u32) {
        self.epoch = state.clock.ticks;
        self.acked = acked;
        self.w_est = state.cwnd;
        if self.w_max <= state.cwnd {
            (self.k, self.origin) = (0, state.cwnd);
        } else {
            let cube = f64::from(self.w_max - state.cwnd) / profile.tcp.c;
            self.k = (libm::cbrt(cube) * f64::from(1 << TIME_BITS)) as u64;
            self.origin = self.w_max;
        }
    }

    /// How fast the window must grow to be W(t) a round trip from now (RFC 9438, figure 1).
    fn follow_curve(&mut self, state: &State, profile: &Profile) {
        let ticks = u64::from(state.clock.ticks.wrapping_sub(self.epoch))
            + u64::from(ticks_of_us(self.delay_min, profile.tcp.tick));
        let t = (ticks << TIME_BITS) * profile.tcp.tick.nanos() / 1_000_000_000;
        let offset = t.abs_diff(self.k) as u128;
        let c = (profile.tcp.c * f64::from(1 << C_BITS)).round() as u128;
        let cube = (c * offset * offset * offset) >> (C_BITS + 3 * TIME_BITS);
        let delta = u32::try_from(cube).unwrap_or(u32::MAX);
        let target =
            if t < self.k { self.origin.saturating_sub(delta) } else { self.origin.saturating_add(delta) };
        let cwnd = state.cwnd;
        self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        // Before the first loss there is no W_max, and the curve may grow too slowly at first.
        if self.w_max == 0 {
            self.cnt = self.cnt.min(20);
        }
    }

    /// The Reno-friendly region: the window is at least `w_est`, which grows by a segment for each `step` acknowledged
    /// (RFC 9438, figure 4).
    fn follow_reno(&mut self, cwnd: u32, profile: &Profile) {
        let beta = beta(profile);
        let scale = 8 * (SCALE + beta) / 3 / (SCALE - beta);
        let step = ((u64::from(cwnd) * scale) >> 3).max(1) as u32;
        while self.acked > step {
            self.acked -= step;
            self.w_est += 1;
        }
        if self.w_est > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.w_est - cwnd));
        }
    }

    /// HyStart's next round begins.
    fn start_round(&mut self, state: &State) {
        (self.round_start, self.train) = (state.clock.us, state.clock.us);
        self.round_end = state.nxt;
        (self.round_rtt, self.samples) = (u64::MAX, 0);
    }

    /// Watches for the end of slow start (`hystart_update`).
    fn hystart(&mut self, state: &mut State, profile: &Profile, rtt_us: u64) {
        if state.una > self.round_end {
            self.start_round(state);
        }
        if state.cwnd < LOW_WINDOW {
            return;
        }
        let now = state.clock.us;
        if now - self.train <= TRAIN_GAP {
            self.train = now;
            let offload = OFFLOAD_US.min(OFFLOAD_BYTES * 1_000_000 / state.usual_pace(profile).max(1));
            // Where the host paces, acknowledgements of the whole round come in one train.
            let part = u32::from(state.pace == u64::MAX);
            self.found |= now - self.round_start > (self.delay_min + offload) >> part;
        }
        self.round_rtt = self.round_rtt.min(rtt_us);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let increase = (self.delay_min >> 3).clamp(*INCREASE.start(), *INCREASE.end());
            self.found |= self.round_rtt > self.delay_min + increase;
        }
        if self.found {
            state.ssthresh = state.cwnd;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::rack::INFINITE;
    use crate::tcp::rack::clock::Clock;
    use aqm::unit::Time;
    use scenario::model::Tcp;

    fn profile(change: impl FnOnce(&mut Tcp)) -> Profile {
        let mut tcp = Tcp::preset("linux").unwrap();
        change(&mut tcp);
        Profile::new(&tcp, 1500)
    }

    fn state(profile: &Profile, cwnd: u32, ssthresh: u32) -> State {
        let mut state = State::new(profile, u32::MAX);
        (state.cwnd, state.ssthresh, state.window_limited) = (cwnd, ssthresh, true);
        state
    }

    fn at(profile: &Profile, ns: u64) -> Clock {
        Clock::at(Time::from_nanos(ns), profile.tcp.tick)
    }

    /// Grows for this many round trips of `rtt` ns with everything acknowledged one by one; the window after each.
    fn grow(cubic: &mut Cubic, state: &mut State, profile: &Profile, rtt: u64, round_trips: u64) -> Vec<u32> {
        cubic.delay_min = rtt / 1000;
        let windows = (0..round_trips).map(|round| {
            let segments = u64::from(state.cwnd);
            for i in 0..segments {
                state.clock = at(profile, round * rtt + i * rtt / segments);
                cubic.cong_avoid(state, profile, 1);
            }
            state.cwnd
        });
        windows.collect()
    }

    #[test]
    fn the_window_follows_the_curve() {
        let profile = profile(|tcp| tcp.reno_friendly = false);
        let (mut cubic, mut state) = (Cubic::default(), state(&profile, 200, 200));
        state.ssthresh = cubic.ssthresh(&state, &profile);
        state.cwnd = state.ssthresh;
        assert_eq!(state.cwnd, 140);
        let k = (60.0 / profile.tcp.c).cbrt();
        for (round, cwnd) in (1..).zip(grow(&mut cubic, &mut state, &profile, 50_000_000, 200)) {
            let t = f64::from(round) * 0.05;
            let curve = profile.tcp.c * (t - k).powi(3) + 200.0;
            assert!((f64::from(cwnd) - curve).abs() < 0.01 * curve, "{cwnd} at {t} s, not {curve}");
        }
        assert!(state.cwnd > 235, "beyond the plateau: {}", state.cwnd);
    }

    #[test]
    fn a_window_that_shrank_makes_room() {
        for (fast_convergence, max) in [(true, 119), (false, 140)] {
            let profile = profile(|tcp| tcp.fast_convergence = fast_convergence);
            let mut cubic = Cubic::default();
            cubic.ssthresh(&state(&profile, 200, 200), &profile);
            assert_eq!(cubic.w_max, 200);
            // (1 + beta) / 2 of it, or all.
            cubic.ssthresh(&state(&profile, 140, 140), &profile);
            assert_eq!(cubic.w_max, max);
        }
    }

    #[test]
    fn on_a_short_path_the_window_is_that_of_reno() {
        let profile = profile(|_| ());
        let (mut cubic, mut state) = (Cubic::default(), state(&profile, 20, 20));
        state.ssthresh = cubic.ssthresh(&state, &profile);
        state.cwnd = state.ssthresh;
        // 3 (1 - beta) / (1 + beta) = 8 / 15 a round trip.
        let last = *grow(&mut cubic, &mut state, &profile, 5_000_000, 100).last().unwrap();
        assert!((63..=68).contains(&last), "14 + 53.3, not {last}");
    }

    #[test]
    fn without_friendliness_the_window_is_that_of_the_curve() {
        let profile = profile(|tcp| tcp.reno_friendly = false);
        let (mut cubic, mut state) = (Cubic::default(), state(&profile, 20, 20));
        state.ssthresh = cubic.ssthresh(&state, &profile);
        state.cwnd = state.ssthresh;
        let last = *grow(&mut cubic, &mut state, &profile, 40_000_000, 100).last().unwrap();
        assert!((20..=22).contains(&last), "20 + 0.4 (4 - 2.47)^3, not {last}");
    }

    /// Round trips of 100 ms, `gap` ns apart; after how many slow start ends.
    fn train(profile: &Profile, cwnd: u32, gap: u64) -> Option<u64> {
        let (mut cubic, mut state) = (Cubic::default(), state(profile, cwnd, INFINITE));
        state.rtt.measure(profile, 100_000, 1, 1);
        cubic.on_open(&mut state, profile);
        (state.una, state.nxt) = (state.nxt + 1, 100);
        (0..100).find(|i| {
            state.clock = at(profile, 1_000_000_000 + i * gap);
            cubic.on_rtt(&mut state, profile, 100_000);
            state.ssthresh == cwnd
        })
    }

    #[test]
    fn a_train_of_half_the_round_trip_ends_slow_start() {
        let on = profile(|_| ());
        // Half of 100 ms and of the 1 ms that segmentation offload may explain.
        assert_eq!(train(&on, 40, 1_500_000), Some(34));
        assert_eq!(train(&on, 40, 2_100_000), None, "too far apart");
        assert_eq!(train(&on, 15, 1_500_000), None, "a small window");
        assert_eq!(train(&profile(|tcp| tcp.hystart = false), 40, 1_500_000), None);
    }

    #[test]
    fn the_curve_stands_still_while_nothing_is_sent() {
        let profile = profile(|_| ());
        let (mut cubic, mut state) = (Cubic::default(), state(&profile, 20, 20));
        grow(&mut cubic, &mut state, &profile, 50_000_000, 1);
        let epoch = cubic.epoch;
        (state.sent_ticks, state.clock) = (state.clock.ticks, at(&profile, 1_000_000_000));
        let idle = state.clock.ticks - state.sent_ticks;
        cubic.on_event(&mut state, &profile, Event::TxStart);
        assert_eq!(cubic.epoch, epoch + idle);
    }
}
