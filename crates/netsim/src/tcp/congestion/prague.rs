//! TCP Prague: the scalable control of L4S, paced, with a window of fractions that follows the fraction of marks.
//!
//! ```text
//! segment without a mark:  w     <- w + a s / w            a: (rtt / virtual_rtt)^2, at most 1; s: 1500 bytes in segments
//! a round trip:            alpha <- alpha + (F - alpha) / 16     F: of the segments delivered, those marked
//! mark, once a round trip: w     <- (1 - alpha / 2) w
//! loss:                    w     <- w / 2
//! pace                     = w / rtt
//! ```
//!
//! The window is w rounded up, at least 2; it moves by a segment an ACK. From `transition` round trips after slow start on,
//! a round trip lasts at least `virtual_rtt` in the second and third line: so flows of all shorter round trips have the same
//! rate at the same marks. The window also grows while it comes down for a mark, since a queue of L4S marks a few segments
//! in each round trip.
//!
//! While the window is at most 6000 bytes, the rate itself is what moves, by as much, and w follows from it; the pace is
//! 3 % above it in the first half of a round trip and 3 % below in the second, so that marks come in each.
//!
//! With `classic_fallback` alpha is at least 5/8 c in the second line, with c in \[0, 1\] how surely the queue is a classic
//! one: c is the excess above 8, at most 1, of a sum that moves in each round trip by
//!
//! ```text
//! lg(v / 750 us) / 2 + max(0, lg(d / 2 ms)) / 2            within [0, 17]
//! ```
//!
//! with v the mean deviation of the round trip and d its mean less its least, smoothed over more round trips as the window
//! is larger. A shallow queue has a v of some 100 us, a classic one some ms.
//!
//! # Departures from the source
//! Real numbers stand for fixed-point ones, and the rounding that these need is left out. Segments keep their size: Linux
//! makes them smaller below 1 Mbit/s, so that there are two in 25 ms; here the pace may leave less than one a round trip.
//! They leave one by one; Linux sends bursts of a quarter of a millisecond. Rates are of payload, in Linux of packets with
//! their headers. The classic queue's detection is that of version 0.6; it carries the rests of its integer logarithms, which
//! real ones need not.
//!
//! # Slow start under sparse marks
//! Versions 0.6, and 0.7 for Linux 6.6, begin with alpha = 1, so that each early mark halves the window (`early_marks` =
//! each). Version 0.7 begins with 0 (`prague_alpha_mode` 0; `early_marks` = first): of the early marks only the first halves
//! the window, and not even that if its ACK also brings segments without a mark. Behind a queue that marks few segments, as
//! fair queues may at first, slow start may then last until the buffer overflows. Behind FQ-CoDel at 50 Mbit/s and 20 ms a
//! public capture has a window of 22 segments after 0.48 s. Here each of two flows there comes down to its share, some 55
//! segments, after 0.6 s with `each`, and after 5 s with `first`.
//!
//! Sources: De Schepper, Tilmans, Briscoe, Goel, draft-briscoe-iccrg-prague-congestion-control-04, 2024; Linux of L4STeam,
//! net/ipv4/tcp_prague.c, version 0.7, and 0.6 for the detection; Briscoe, Ahmed, "TCP Prague fall-back on detection of a
//! classic ECN AQM", 2021; RFC 9331, section 4.3. The receiver's part is in [`crate::tcp::rack::receiver`].

use super::growth::{self, LEAST};
use super::{CongestionControl, Event};
use crate::tcp::rack::burst::LARGEST;
use crate::tcp::rack::rate::RateSample;
use crate::tcp::rack::{Phase, State};
use scenario::model::{EarlyMarks, Profile};

/// The weight of the last round trip in alpha.
const G: f64 = 1.0 / 16.0;
/// The longest round trip that is compared with the virtual one, in microseconds.
const LONGEST_COMPARED: f64 = 100_000.0;
/// The least rate, in bytes a second.
const LEAST_RATE: f64 = 12_500.0;
/// The packet that the increase is counted in, and the window up to which the rate moves, in bytes.
const PACKET: u32 = 1500;
const SMALL: u32 = 4 * PACKET;
/// For how much of a second data leaves at once, 0.25 ms (RFC 9331, section 4.3).
const BURST_BITS: u32 = 12;
/// The part by which the pace swings about the rate.
const SWING: f64 = 4.0 / 128.0;
/// The weight of a round trip in the long mean of it.
const LONG: f64 = 1.0 / 128.0;

/// The state (`struct prague`). Times are in microseconds.
#[derive(Clone, Debug)]
pub struct Prague {
    alpha: f64,
    w: f64,
    /// In bytes a second.
    rate: f64,
    /// Whether the rate moves in place of the window.
    by_rate: bool,
    /// What a segment without a mark adds to w, times w.
    increase: f64,
    seen_mark: bool,
    in_loss: bool,
    /// Round trips since slow start, and the segment whose acknowledgement ends this one.
    round: u32,
    round_end: u32,
    /// Delivered segments, and the marked ones, when it began.
    delivered: u32,
    marked: u32,
    /// When alpha and when the window last came down.
    alpha_at: u64,
    reduced_at: u64,
    /// The mean round trip.
    long_rtt: f64,
    /// The window, w and the rate before the last loss.
    before: (u32, f64, f64),
    virtual_rtt: f64,
    transition: u32,
    classic: Option<Classic>,
}

/// Whether the queue that marks is a classic one.
#[derive(Clone, Copy, Debug)]
struct Classic {
    sum: f64,
    mean: f64,
    deviation: f64,
    /// The exponent of the mean's weight.
    gain: u32,
}

impl Classic {
    /// The sum above which the response changes.
    const THRESHOLD: f64 = 8.0;
    const MOST: f64 = 17.0;

    fn measure(&mut self, us: f64) {
        let error = us - self.mean;
        self.mean += error / f64::from(1_u32 << self.gain);
        self.deviation += (error.abs() - self.deviation) / f64::from(2_u32 << self.gain);
    }

    /// Takes in a round trip (`prague_classic_ecn_detection`).
    fn judge(&mut self, least: f64) {
        let depth = self.mean - least;
        let mut sum = self.sum + 0.5 * libm::log2(self.deviation.max(1.0) / 750.0);
        if depth > 0.0 {
            sum += 0.5 * libm::log2(depth / 2000.0).max(0.0);
        }
        self.sum = sum.clamp(0.0, Self::MOST);
    }

    /// The least alpha (`prague_classic_ecn_fallback`).
    fn least_alpha(&self) -> f64 {
        (self.sum - Self::THRESHOLD).clamp(0.0, 1.0) * 0.625
    }

    /// The mean is taken over more round trips where the window is larger (`prague_update_rtt_scaling`).
    fn adapt(&mut self, threshold: u32) {
        let lg = threshold.max(1).ilog2();
        self.gain = (lg + (lg >> 1) + 1).min(18);
    }
}

impl Prague {
    /// Whether short round trips count as the virtual one.
    const fn is_independent(&self, state: &State) -> bool {
        !state.in_slow_start() && self.round >= self.transition
    }

    fn moves_rate(&self, state: &State) -> bool {
        self.by_rate && self.is_independent(state)
    }

    /// The round trip, at least the virtual one.
    fn long(&self, state: &State) -> f64 {
        self.virtual_rtt.max(state.rtt.smoothed() as f64)
    }

    fn update_increase(&mut self, state: &State) {
        let rtt = state.rtt.smoothed() as f64;
        let compared = self.round >= self.transition && rtt > 0.0 && rtt <= LONGEST_COMPARED;
        let part = if compared { (rtt / self.virtual_rtt).min(1.0) } else { 1.0 };
        self.increase = part * part;
    }

    fn start_round(&mut self, state: &State) {
        self.round_end = state.nxt;
        (self.delivered, self.marked) = (state.delivered, state.delivered_marked);
        if !state.in_slow_start() {
            self.round = self.round.saturating_add(1);
        }
        self.update_increase(state);
    }

    /// w at the present rate.
    fn w_of_rate(&self, state: &State, profile: &Profile) -> f64 {
        let rtt = if self.long_rtt > 0.0 { self.long_rtt } else { state.rtt.smoothed() as f64 };
        self.rate * rtt / 1e6 / f64::from(profile.payload())
    }

    /// The rate at the present w.
    fn rate_of_w(&self, state: &State, profile: &Profile) -> f64 {
        let rtt = (state.rtt.smoothed() as f64).max(1.0);
        (self.w * f64::from(profile.payload()) * 1e6 / rtt).max(LEAST_RATE)
    }

    /// Sets w to `kept` of itself, or the rate, and each by the other.
    fn reduce(&mut self, state: &State, profile: &Profile, kept: f64) {
        if self.moves_rate(state) {
            self.rate = (self.rate * kept).max(LEAST_RATE);
            self.w = self.w_of_rate(state, profile);
        } else {
            self.w *= kept;
            self.rate = self.rate_of_w(state, profile);
        }
    }

    /// Grows w for what came without a mark, and takes the window one segment towards it (`prague_update_cwnd`).
    fn move_window(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
        let mut acked = sample.delivered;
        if sample.marked > 0 {
            if !self.seen_mark && profile.tcp.early_marks == EarlyMarks::First {
                self.w *= 0.5;
            }
            self.seen_mark = true;
            acked = acked.saturating_sub(sample.marked);
        }
        if acked > 0 && !self.in_loss && state.is_window_limited() {
            if state.in_slow_start() {
                acked = growth::slow_start(state, acked);
                self.w = f64::from(state.cwnd);
                if acked == 0 {
                    return self.update_increase(state);
                }
            }
            self.grow(state, profile, f64::from(acked));
        }
        let target = (self.w.ceil() as u32).clamp(LEAST, profile.tcp.max_window.max(LEAST));
        if state.cwnd > target {
            state.cwnd -= 1;
            state.ssthresh = state.cwnd;
            self.update_increase(state);
        } else if state.cwnd < target {
            state.cwnd += 1;
            self.update_increase(state);
        }
    }

    fn grow(&mut self, state: &State, profile: &Profile, acked: f64) {
        if self.moves_rate(state) {
            let (segment, seconds) = (f64::from(profile.payload()), self.long(state) / 1e6);
            let window = (self.rate * seconds / segment).ceil().max(1.0);
            self.rate += acked * f64::from(PACKET) / f64::from(profile.size) * segment / seconds / window;
            self.w = self.w.max(self.w_of_rate(state, profile));
        } else {
            self.w += acked * self.increase * f64::from(PACKET) / f64::from(profile.size) / self.w.max(1.0);
            self.rate = self.rate.max(self.rate_of_w(state, profile));
        }
    }

    /// Takes a round trip's marks into alpha (`prague_update_alpha`).
    fn update_alpha(&mut self, state: &State) {
        if self.seen_mark {
            if let Some(classic) = &mut self.classic {
                classic.judge(state.rtt.least() as f64);
            }
            let delivered = f64::from((state.delivered - self.delivered).max(1));
            let marked = f64::from(state.delivered_marked - self.marked);
            self.alpha = (self.alpha + G * (marked / delivered - self.alpha)).min(1.0);
            self.alpha_at = state.clock.us;
        }
        self.long_rtt += LONG * (state.rtt.smoothed() as f64 - self.long_rtt);
        self.start_round(state);
    }

    fn set_pace(&mut self, state: &mut State, profile: &Profile) {
        let mut pace = if self.moves_rate(state) {
            let elapsed = state.clock.us.saturating_sub(self.alpha_at) as f64;
            let late = elapsed >= self.long(state) / 2.0;
            self.rate * (1.0 + if late { -SWING } else { SWING })
        } else {
            let out = self.w.floor().max(f64::from(state.board.in_flight()));
            let rtt = (state.rtt.smoothed() as f64).max(1.0);
            self.rate = (out * f64::from(profile.payload()) * 1e6 / rtt).max(LEAST_RATE);
            self.rate
        };
        if state.cwnd < state.ssthresh / 2 {
            pace *= 2.0;
        }
        state.pace = pace as u64;
    }

    /// Chooses what moves from now on.
    fn choose(&mut self, state: &State, profile: &Profile) {
        let small = self.seen_mark && state.cwnd * profile.size <= SMALL;
        if small {
            self.w = self.w_of_rate(state, profile);
        } else if !small {
            self.rate = self.rate_of_w(state, profile);
        }
        self.by_rate = small;
    }
}

impl CongestionControl for Prague {
    fn new(profile: &Profile) -> Self {
        let classic = Classic { sum: 0.0, mean: 0.0, deviation: 1.0, gain: 18 };
        Self {
            alpha: if profile.tcp.early_marks == EarlyMarks::Each { 1.0 } else { 0.0 },
            w: f64::from(profile.initial_window),
            rate: LEAST_RATE,
            by_rate: false,
            increase: 1.0,
            seen_mark: false,
            in_loss: false,
            round: 0,
            round_end: 0,
            delivered: 0,
            marked: 0,
            alpha_at: 0,
            reduced_at: 0,
            long_rtt: 0.0,
            before: (0, 0.0, 0.0),
            virtual_rtt: profile.tcp.virtual_rtt.secs() * 1e6,
            transition: profile.tcp.transition,
            classic: profile.tcp.classic_fallback.then_some(classic),
        }
    }

    fn on_open(&mut self, state: &mut State, profile: &Profile) {
        self.w = f64::from(state.cwnd);
        self.alpha_at = state.clock.us;
        self.long_rtt = state.rtt.smoothed() as f64;
        if let Some(classic) = &mut self.classic {
            classic.mean = self.long_rtt;
        }
        if state.rtt.srtt8 > 0 {
            self.set_pace(state, profile);
        }
        self.start_round(state);
    }

    fn ssthresh(&mut self, state: &State, _: &Profile) -> u32 {
        if let Some(classic) = &mut self.classic {
            classic.adapt(state.ssthresh);
        }
        state.ssthresh
    }

    fn on_rtt(&mut self, _: &mut State, _: &Profile, us: u64) {
        if let Some(classic) = &mut self.classic {
            classic.measure(us as f64);
        }
    }

    fn on_phase(&mut self, state: &mut State, profile: &Profile, next: Phase) {
        if next == state.phase {
            return;
        }
        match next {
            Phase::Recovery => self.on_event(state, profile, Event::Loss),
            Phase::Cwr => {
                let now = state.clock.us;
                let early = (now.saturating_sub(self.reduced_at) as f64) < self.virtual_rtt;
                if self.is_independent(state) && early {
                    return;
                }
                self.reduced_at = now;
                let alpha = self.classic.map_or(self.alpha, |classic| self.alpha.max(classic.least_alpha()));
                self.reduce(state, profile, 1.0 - alpha / 2.0);
            }
            Phase::Open => self.in_loss = false,
            Phase::Disorder | Phase::Loss => {}
        }
    }

    fn on_event(&mut self, state: &mut State, profile: &Profile, event: Event) {
        if event == Event::Loss {
            self.before = (state.cwnd, self.w, self.rate);
            self.reduce(state, profile, 0.5);
            self.in_loss = true;
        }
    }

    fn undo_cwnd(&mut self, state: &mut State) -> u32 {
        self.in_loss = false;
        self.w = self.w.max(self.before.1);
        self.rate = self.rate.max(self.before.2);
        state.cwnd.max(self.before.0)
    }

    fn most_at_once(&self, state: &State, profile: &Profile) -> u32 {
        let bytes = (state.pace >> BURST_BITS).min(LARGEST);
        ((bytes / u64::from(profile.payload())) as u32).max(1)
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
        self.move_window(state, profile, sample);
        let elapsed = state.clock.us.saturating_sub(self.alpha_at) as f64;
        if state.una >= self.round_end && (!self.is_independent(state) || elapsed >= self.virtual_rtt) {
            self.update_alpha(state);
        }
        self.set_pace(state, profile);
        self.choose(state, profile);
    }
}

#[cfg(test)]
mod tests;
