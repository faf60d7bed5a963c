//! BBR, version 3: as version 1 ([`super::bbr`]) it sends at the bottleneck's bandwidth and keeps the data in the network
//! near the path's capacity, but losses and marks set bounds to both.
//!
//! ```text
//! max_bw  = max delivery rate of this cycle of PROBE_BW and the last       min_rtt = least round trip of the last 10 s
//! bw      = min(max_bw, bw_lo)
//! bdp     = bw * min_rtt
//! pace    = pacing_gain * bw * 99 %
//! cwnd    = min(cwnd_gain * bdp + extra_acked, bound), at least 3 bursts
//!
//!                     gains
//!                     pace  cwnd  bound of cwnd            until
//!   STARTUP           2.77  2     inflight_lo              3 round trips bring no 25 % more bandwidth, or lose over 2 %
//!   DRAIN             .347  2     inflight_lo              no more than a BDP is in the network
//!   PROBE_BW  DOWN    .91   2     inflight_hi, _lo         no more than a BDP, and than 85 % of inflight_hi
//!             CRUISE  1     2     85 % inflight_hi, _lo    2 to 3 s after DOWN began, or as many round trips as the
//!                                                          BDP has segments, at most 63
//!             REFILL  1     2     inflight_hi              a round trip
//!             UP      1.25  2.25  inflight_hi              it loses or marks too much; the bandwidth has stopped
//!                                                          growing; or the bound is reached that was too high before
//!   PROBE_RTT         1     1     bdp / 2, at least 4      200 ms and a round trip; it comes when no round trip has
//!                                                          been as short as the least for 5 s
//! ```
//!
//! * The upper bound `inflight_hi` comes from UP. If more than 2 % of the segments that were in flight when a segment was sent
//!   are lost, or half are marked, it becomes that flight, at least 70 % of the BDP ([`bounds`]). Else UP raises it, by
//!   one segment in the first round trip, by two, four … in the next ([`cycle`]). STARTUP sets it to the BDP, or to
//!   the part that a round trip delivered, if a round trip of recovery has six acknowledgements with losses and loses as
//!   much, or two in a row have as many marks.
//! * The lower bounds `bw_lo` and `inflight_lo` come from the other phases: a round trip with a loss takes both to 70 %,
//!   but not below the part that was delivered in it; one with a mark takes `inflight_lo` to 1 - alpha / 3, with alpha the
//!   fraction of marks as in DCTCP ([`marks`]). REFILL forgets them.
//!
//! Marks count with `ecn` only, and if the least round trip is at most `ecn_max_rtt`: the authors' kernel takes those of
//! a route that is known to mark at a shallow threshold.
//!
//! # Departures from the source
//! * The random wait before a probe (up to 1 s, and one round trip) is drawn by hashing the time at which it begins.
//! * The fast path of a sender that the application limits is left out. It saves computations, and neither sees
//!   aggregated acknowledgements nor moves the window. Protective load balancing is left out too: Linux does not use it by default.
//!
//! Sources: github.com/google/bbr, net/ipv4/tcp_bbr.c and what it changes in TCP, tag bbrv3-2025-03-18;
//! draft-ietf-ccwg-bbr-06, 2026.

mod bounds;
mod cycle;
mod flights;
mod marks;
mod signals;

use super::bbr::aggregation::AckAggregation;
use super::bbr::scale::{BANDWIDTH_BITS, ONE, bandwidth_of_window, bdp, left_at_next, pace};
use super::{CongestionControl, Event};
use crate::tcp::rack::INFINITE;
use crate::tcp::rack::burst::LARGEST;
use crate::tcp::rack::clock::ticks_of;
use crate::tcp::rack::rate::RateSample;
use crate::tcp::rack::{Phase, State};
use aqm::unit::Span;
use bounds::Bounds;
use cycle::Cycle;
use flights::{Flight, Flights};
use marks::Marks;
use scenario::model::Profile;
use signals::{Filling, Signals};

/// Doubles the rate in each round trip: 4 ln 2.
const STARTUP_GAIN: u64 = ONE * 277 / 100 + 1;
const DRAIN_GAIN: u64 = ONE * 1000 / 2885;
const UP_GAIN: u64 = ONE * 5 / 4;
const DOWN_GAIN: u64 = ONE * 91 / 100;
const CWND_GAIN: u64 = 2 * ONE;
const UP_CWND_GAIN: u64 = CWND_GAIN + ONE / 4;
const PROBE_RTT_CWND_GAIN: u64 = ONE / 2;
/// The lifetime of a minimum round trip, that of the one that starts PROBE_RTT, and the duration of PROBE_RTT.
const MIN_RTT_WINDOW: Span = Span::s(10);
const PROBE_RTT_INTERVAL: Span = Span::s(5);
const PROBE_RTT: Span = Span::ms(200);
/// The least window in segments.
const LEAST: u32 = 4;
/// For how much of a second data leaves at once; the allowance of a short path, which each 512 us of the
/// round trip halve (`bbr_tso_segs_generic`).
const BURST_BITS: u32 = 10;
const SHORT_PATH_BURST: u64 = 65_536;
const SHORT_PATH_BITS: u32 = 9;
const LEAST_BURST: u32 = 2;
/// Round trips for which each of the two values of the ACK aggregation is kept, and in STARTUP.
const AGGREGATION_ROUNDS: u32 = 5;
const STARTUP_AGGREGATION_ROUNDS: u32 = 1;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Mode {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether more than is known to be safe is on its way.
    const fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// The gains of the pace and of the window.
    const fn gains(self) -> (u64, u64) {
        match self {
            Self::Startup => (STARTUP_GAIN, CWND_GAIN),
            Self::Drain => (DRAIN_GAIN, CWND_GAIN),
            Self::Down => (DOWN_GAIN, CWND_GAIN),
            Self::Cruise | Self::Refill => (ONE, CWND_GAIN),
            Self::Up => (UP_GAIN, UP_CWND_GAIN),
            Self::ProbeRtt => (ONE, ONE),
        }
    }
}

/// The least round trip of a window of time, in microseconds, and when it was measured, in ticks.
#[derive(Clone, Copy, Debug)]
struct Least {
    us: u64,
    ticks: u32,
}

impl Least {
    fn is_older(self, state: &State, profile: &Profile, window: Span) -> bool {
        state.clock.ticks > self.ticks + ticks_of(window, profile.tcp.tick)
    }
}

/// The state (`struct bbr`).
#[derive(Clone, Debug)]
pub struct Bbr3 {
    mode: Mode,
    pacing_gain: u64,
    signals: Signals,
    filling: Filling,
    bounds: Bounds,
    cycle: Cycle,
    marks: Marks,
    flights: Flights,
    aggregation: AckAggregation,
    /// Round trips, counted by delivered segments: the next ends when a segment sent after this number is delivered.
    round_end: u32,
    round_start: bool,
    /// The least round trip of the last 10 s, and that of the last 5 s.
    min_rtt: Least,
    recent_rtt: Least,
    /// The tick after which PROBE_RTT may end, once the window has come down; whether a round trip is over since.
    probe_rtt_end: Option<u32>,
    probe_rtt_round: bool,
    initial: u32,
    /// The window to restore after recovery or PROBE_RTT.
    prior_cwnd: u32,
    phase: Phase,
    restarting: bool,
    /// Whether the pace is computed from a round trip that was measured.
    seen_rtt: bool,
}

impl CongestionControl for Bbr3 {
    fn new(profile: &Profile) -> Self {
        let never = Least { us: u64::MAX, ticks: 0 };
        Self {
            mode: Mode::Startup,
            pacing_gain: STARTUP_GAIN,
            signals: Signals::default(),
            filling: Filling::default(),
            bounds: Bounds::default(),
            cycle: Cycle::default(),
            marks: Marks::new(profile),
            flights: Flights::default(),
            aggregation: AckAggregation::default(),
            round_end: 0,
            round_start: false,
            min_rtt: never,
            recent_rtt: never,
            probe_rtt_end: None,
            probe_rtt_round: false,
            initial: profile.initial_window,
            prior_cwnd: 0,
            phase: Phase::Open,
            restarting: false,
            seen_rtt: false,
        }
    }

    fn on_open(&mut self, state: &mut State, profile: &Profile) {
        state.ssthresh = INFINITE;
        state.losses = Some(Vec::new());
        self.initial = state.cwnd.min(127);
        self.round_end = state.delivered;
        self.signals.round_end = state.delivered + 1;
        self.min_rtt = Least { us: state.rtt.least(), ticks: state.clock.ticks };
        self.recent_rtt = self.min_rtt;
        self.start_pace(state, profile);
        self.aggregation.start(state.clock.us);
    }

    fn ssthresh(&mut self, state: &State, _: &Profile) -> u32 {
        self.save_window(state);
        self.bounds.save();
        state.ssthresh
    }

    fn rechecks_app_limited(&self) -> bool {
        true
    }

    fn most_at_once(&self, state: &State, profile: &Profile) -> u32 {
        self.burst(state, profile)
    }

    fn on_send(&mut self, state: &State, seq: u32) {
        self.flights.note(state, seq);
    }

    fn on_lost(&mut self, state: &State, profile: &Profile, seq: u32, lost: u32) {
        self.signals.note_loss(state);
        let sent = state.board.get(seq);
        let Some(flight) = self.flights.of(seq) else { return };
        if !self.cycle.samples || sent.delivered_at == 0 {
            return;
        }
        let lost = lost - flight.lost;
        if bounds::loses_too_much(lost, flight.segments) {
            let flight = bounds::safe_flight(flight.segments, lost);
            self.back_off(state, profile, flight, sent.limited);
        }
    }

    fn on_phase(&mut self, state: &mut State, _: &Profile, next: Phase) {
        if next == Phase::Loss {
            self.phase = Phase::Loss;
            self.filling.restart(0);
            if !self.mode.is_probing() && self.bounds.inflight_lo == u32::MAX {
                self.bounds.inflight_lo = state.cwnd.max(self.prior_cwnd);
            }
        } else if self.phase == Phase::Loss {
            state.cwnd = state.cwnd.max(self.prior_cwnd);
        }
    }

    fn on_event(&mut self, state: &mut State, profile: &Profile, event: Event) {
        match event {
            Event::TxStart if state.limited_until != 0 => {
                self.restarting = true;
                self.aggregation.start(state.clock.us);
                if self.mode.is_probe_bw() {
                    self.set_pace(state, profile, ONE);
                } else if self.mode == Mode::ProbeRtt {
                    self.leave_probe_rtt(state);
                }
            }
            Event::TlpRecovery => {
                self.signals.note_loss(state);
                let flight = self.signals.inflight + 1;
                if self.cycle.samples && bounds::loses_too_much(1, flight) {
                    self.back_off(state, profile, flight, state.probe_limited);
                }
            }
            Event::TxStart | Event::Loss => {}
        }
    }

    fn undo_cwnd(&mut self, _: &mut State) -> u32 {
        self.filling.restart(0);
        self.signals.loss_in_round = false;
        self.bounds.undo();
        self.prior_cwnd
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
        let flight = self.flights.of_sample(state, sample);
        let rate = sample.rate.filter(|&(_, interval)| interval > 0);
        let rate =
            rate.map(|(delivered, interval)| (u64::from(delivered) << BANDWIDTH_BITS).div_ceil(interval));
        self.round_start = rate.is_some() && sample.prior_delivered >= self.round_end;
        if self.round_start {
            self.round_end = state.delivered;
            self.cycle.rounds = (self.cycle.rounds + 1).min(255);
            if let Some(ratio) = self.marks.update(state, self.min_rtt.us)
                && !self.filling.full
                && self.marks.are_too_many_in_startup(ratio)
            {
                self.fill(state, profile);
            }
        }
        self.signals.mark_in_round |= self.marks.count && sample.echo;
        self.signals.note_delivery(state, sample, rate);

        self.adapt_to_round(state, sample, rate);
        let kept = if self.filling.full { AGGREGATION_ROUNDS } else { STARTUP_AGGREGATION_ROUNDS };
        self.aggregation.note(state, sample, self.bandwidth(), self.round_start.then_some(kept));
        self.judge_losses_in_startup(state, profile, sample, flight);
        self.filling.judge(sample, rate, self.round_start);
        self.drain(state, profile);
        self.advance_cycle(state, profile, sample, rate, flight);
        self.measure_rtt(state, profile, sample);

        let (pacing_gain, cwnd_gain) = self.mode.gains();
        self.pacing_gain = pacing_gain;
        self.set_pace(state, profile, pacing_gain);
        self.set_window(state, profile, sample.delivered, cwnd_gain);
        self.bound_window(state);

        self.signals.advance(sample, rate);
        self.phase = state.phase;
        self.signals.loss_in_cycle |= flight.is_some_and(|flight| flight.lost > 0);
        self.signals.mark_in_cycle |= flight.is_some_and(|flight| flight.marked > 0);
        self.flights.forget(state.una);
    }
}

impl Bbr3 {
    /// The bandwidth in force.
    fn bandwidth(&self) -> u64 {
        self.bounds.max_bw().min(self.bounds.bw_lo)
    }

    /// The pace before the bandwidth is known.
    fn start_pace(&mut self, state: &mut State, profile: &Profile) {
        self.seen_rtt = state.rtt.srtt8 > 0;
        state.pace = pace(profile, bandwidth_of_window(state), STARTUP_GAIN).max(1);
    }

    fn set_pace(&mut self, state: &mut State, profile: &Profile, gain: u64) {
        let pace = pace(profile, self.bandwidth(), gain).max(1);
        if !self.seen_rtt && state.rtt.srtt8 > 0 {
            self.start_pace(state, profile);
        }
        if self.filling.full || pace > state.pace {
            state.pace = pace;
        }
    }

    /// Segments that leave at once where there is segmentation offload; the window allows for them in any case.
    fn burst(&self, state: &State, profile: &Profile) -> u32 {
        let halvings = (self.min_rtt.us >> SHORT_PATH_BITS).min(u64::from(u32::MAX)) as u32;
        let bytes = (state.pace >> BURST_BITS) + SHORT_PATH_BURST.checked_shr(halvings).unwrap_or(0);
        ((bytes.min(LARGEST) / u64::from(profile.payload())) as u32).max(LEAST_BURST)
    }

    /// Segments that the path holds at a gain (`bbr_bdp`).
    fn bdp(&self, bandwidth: u64, gain: u64) -> u32 {
        if self.min_rtt.us == u64::MAX { self.initial } else { bdp(bandwidth, self.min_rtt.us, gain) }
    }

    /// Adds room for segments that leave and are acknowledged in bursts (`bbr_quantization_budget`).
    fn with_bursts(&self, state: &State, profile: &Profile, segments: u32) -> u32 {
        let least = segments.max(3 * self.burst(state, profile)).max(LEAST);
        if self.mode == Mode::Up { least + 2 } else { least }
    }

    /// Segments that fill the path (`bbr_inflight`).
    fn inflight(&self, state: &State, profile: &Profile, bandwidth: u64) -> u32 {
        self.with_bursts(state, profile, self.bdp(bandwidth, ONE))
    }

    /// Segments to have in flight, unless the window is less (`bbr_target_inflight`).
    fn target(&self, state: &State, profile: &Profile) -> u32 {
        self.inflight(state, profile, self.bandwidth()).min(state.cwnd)
    }

    /// Of `now` segments in the network, those there at the time at which the pace allows the next.
    fn in_network(&self, state: &State, profile: &Profile, now: u32) -> u32 {
        let more = if self.pacing_gain > ONE { self.burst(state, profile) } else { 0 };
        left_at_next(state, self.bandwidth(), now + more)
    }

    /// The path was found full by losses or marks (`bbr_handle_queue_too_high_in_startup`).
    fn fill(&mut self, state: &State, profile: &Profile) {
        self.filling.full = true;
        self.bounds.inflight_hi =
            self.inflight(state, profile, self.bounds.max_bw()).max(self.signals.inflight);
    }

    fn judge_losses_in_startup(
        &mut self,
        state: &State,
        profile: &Profile,
        sample: &RateSample,
        flight: Option<Flight>,
    ) {
        if self.filling.full {
            return;
        }
        let many = self.signals.count_losses(sample, state.phase);
        if many && flight.is_some_and(|flight| self.is_too_high(flight)) {
            return self.fill(state, profile);
        }
        self.signals.end_round_of_losses();
    }

    fn drain(&mut self, state: &mut State, profile: &Profile) {
        let full = self.inflight(state, profile, self.bounds.max_bw());
        if self.mode == Mode::Startup && self.filling.full {
            self.mode = Mode::Drain;
            state.ssthresh = full;
            self.signals.reset();
        }
        if self.mode == Mode::Drain && self.in_network(state, profile, state.board.in_flight()) <= full {
            self.start_down(state);
        }
    }

    /// Takes in the round trip, and goes through PROBE_RTT when the least is old (`bbr_update_min_rtt`).
    fn measure_rtt(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
        let due = self.recent_rtt.is_older(state, profile, PROBE_RTT_INTERVAL);
        if let Some(us) = sample.rtt.filter(|&us| us < self.recent_rtt.us || due) {
            self.recent_rtt = Least { us, ticks: state.clock.ticks };
        }
        if self.recent_rtt.us <= self.min_rtt.us || self.min_rtt.is_older(state, profile, MIN_RTT_WINDOW) {
            self.min_rtt = self.recent_rtt;
        }
        if due && !self.restarting && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(state);
            self.probe_rtt_end = None;
            self.cycle.stop_probing();
            self.round_end = state.delivered;
        }
        if self.mode == Mode::ProbeRtt {
            self.go_on_probing_rtt(state, profile);
        }
        if sample.delivered > 0 {
            self.restarting = false;
        }
    }

    fn probe_rtt_window(&self) -> u32 {
        self.bdp(self.bandwidth(), PROBE_RTT_CWND_GAIN).max(LEAST)
    }

    fn go_on_probing_rtt(&mut self, state: &mut State, profile: &Profile) {
        let in_flight = state.board.in_flight();
        // The rates measured in this phase are too low to count.
        state.limited_until = (state.delivered + in_flight).max(1);
        if self.probe_rtt_end.is_none() {
            if in_flight <= self.probe_rtt_window() {
                self.probe_rtt_end = Some(state.clock.ticks + ticks_of(PROBE_RTT, profile.tcp.tick));
                self.probe_rtt_round = false;
                self.round_end = state.delivered;
            }
            return;
        }
        self.probe_rtt_round |= self.round_start;
        if self.probe_rtt_round {
            self.leave_probe_rtt(state);
        }
    }

    /// Ends PROBE_RTT if its time is over (`bbr_check_probe_rtt_done`).
    fn leave_probe_rtt(&mut self, state: &mut State) {
        if self.probe_rtt_end.is_none_or(|end| state.clock.ticks <= end) {
            return;
        }
        self.recent_rtt.ticks = state.clock.ticks;
        state.cwnd = state.cwnd.max(self.prior_cwnd);
        self.bounds.forget_lower();
        if self.filling.full {
            self.start_down(state);
            self.start_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Remembers the window before a recovery or PROBE_RTT (`bbr_save_cwnd`).
    fn save_window(&mut self, state: &State) {
        let good = self.phase < Phase::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if good { state.cwnd } else { self.prior_cwnd.max(state.cwnd) };
    }

    /// Sets the window (`bbr_set_cwnd`).
    fn set_window(&self, state: &mut State, profile: &Profile, acked: u32, gain: u64) {
        if acked > 0 {
            let bandwidth = self.bandwidth();
            let target = self.bdp(bandwidth, gain) + self.aggregation.extra_acked(bandwidth);
            let target = self.with_bursts(state, profile, target);
            if self.filling.full {
                state.cwnd = (state.cwnd + acked).min(target);
            } else if state.cwnd < target || state.cwnd < 2 * self.initial {
                state.cwnd += acked;
            }
            state.cwnd = state.cwnd.max(LEAST);
        }
        if self.mode == Mode::ProbeRtt {
            state.cwnd = state.cwnd.min(self.probe_rtt_window());
        }
    }

    /// Holds the window to the bounds (`bbr_bound_cwnd_for_inflight_model`).
    fn bound_window(&self, state: &mut State) {
        let upper = match self.mode {
            Mode::Down | Mode::Refill | Mode::Up => self.bounds.inflight_hi,
            Mode::Cruise | Mode::ProbeRtt => self.bounds.with_headroom(),
            Mode::Startup | Mode::Drain => u32::MAX,
        };
        state.cwnd = state.cwnd.min(upper.min(self.bounds.inflight_lo).max(LEAST));
    }
}

#[cfg(test)]
mod tests;
