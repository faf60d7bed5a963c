//! BBR, version 1: sends at the bottleneck's bandwidth, and keeps the data in the network near the path's capacity.
//!
//! ```text
//! bandwidth = max delivery rate of the last 10 round trips         min_rtt = least round trip of the last 10 s
//! pace      = pacing_gain * bandwidth * 99 %                       cwnd    = cwnd_gain * bandwidth * min_rtt + bursts
//!
//!   STARTUP ----> DRAIN ----> PROBE_BW  <----> PROBE_RTT
//!    |   gains 2.885,  pace 1/2.885,  pace 5/4, 3/4, 1 x 6;       |  4 segments for 200 ms and a round trip,
//!    |   cwnd 2.885    cwnd 2.885     cwnd gain 2                 |  when min_rtt is 10 s old
//!    `------------------------------------------------------------'
//! ```
//!
//! The phase STARTUP ends when three round trips in a row have not brought 25 % more bandwidth, and DRAIN when no more
//! than one bandwidth-delay product (BDP) is in the network. Each phase of PROBE_BW lasts a min_rtt; but that of 5/4 lasts
//! until 5/4 of the BDP is in the network or something was lost, and that of 3/4 ends as soon as one BDP is. A loss does not reduce
//! the pace. For the first round trip of recovery as many segments are sent as were delivered; after it, and after
//! PROBE_RTT, the window is what it was. Two intervals that lose a fifth at one rate are a policer's: that rate is
//! kept for 48 round trips ([`policer`]). Where many segments are acknowledged at once, the window is larger by as many
//! ([`aggregation`]).
//!
//! # Departures from the source
//! * The first phase of PROBE_BW (any but 3/4) is drawn by hashing the time at which it starts, not from a stream of
//!   random numbers: the same run has the same phases, and two flows hardly ever the same.
//! * Marks have no effect, as in Linux's version 1.
//!
//! Sources: Linux 7.2, net/ipv4/tcp_bbr.c; Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR: congestion-based
//! congestion control", ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00.

pub(super) mod aggregation;
mod policer;
pub(super) mod scale;

use super::{CongestionControl, Event};
use crate::tcp::rack::INFINITE;
use crate::tcp::rack::burst::LARGEST;
use crate::tcp::rack::clock::ticks_of;
use crate::tcp::rack::minmax::Maximum;
use crate::tcp::rack::rate::RateSample;
use crate::tcp::rack::{Phase, State};
use aggregation::AckAggregation;
use aqm::unit::Span;
use policer::{Policer, Progress};
use scale::{BANDWIDTH_BITS, GAIN_BITS, ONE, bandwidth_of_window, hash, left_at_next, pace};
use scenario::model::Profile;

/// Fills the pipe in as few round trips as slow start: 2 / ln 2.
const HIGH_GAIN: u64 = ONE * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = ONE * 1000 / 2885;
/// Pacing gains of the phases of PROBE_BW; 3/4 drains what 5/4 has added.
const CYCLE: [u64; 8] = [ONE * 5 / 4, ONE * 3 / 4, ONE, ONE, ONE, ONE, ONE, ONE];
const CWND_GAIN: u64 = 2 * ONE;
/// Round trips over which the bandwidth is the greatest.
const BANDWIDTH_ROUNDS: u32 = 10;
/// Round trips for which each of the two values of the ACK aggregation is kept.
const AGGREGATION_ROUNDS: u32 = 5;
/// The lifetime of a minimum round trip, and the duration of PROBE_RTT.
const MIN_RTT_WINDOW: Span = Span::s(10);
const PROBE_RTT: Span = Span::ms(200);
/// The least window, and that of PROBE_RTT, in segments; that before there is a round trip.
const LEAST: u32 = 4;
const INITIAL: u32 = 10;
/// The start-up phase (STARTUP) continues while the bandwidth grows by this factor within this number of round trips.
const FULL_GROWTH: u64 = ONE * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// Below this pace, in bytes a second, segments leave one by one, else two at least (`bbr_min_tso_rate`).
const SINGLE: u64 = 1_200_000 / 8;
/// For how much of a second data leaves at once, and the most segments (`bbr_tso_segs_goal`).
const BURST_BITS: u32 = 10;
const MOST_IN_BURST: u64 = 127;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state (`struct bbr`).
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: Mode,
    pacing_gain: u64,
    cwnd_gain: u64,
    bandwidth: Maximum,
    /// Round trips, counted by delivered segments: the next ends when a segment sent after this number is delivered.
    round: u32,
    round_end: u32,
    round_start: bool,
    /// The bandwidth that STARTUP has seen, and for how many round trips it has not grown.
    full_bandwidth: u64,
    full_rounds: u32,
    full: bool,
    /// The least round trip in microseconds, and when it was measured, in ticks.
    min_rtt: u64,
    min_rtt_ticks: u32,
    /// The tick after which PROBE_RTT may end, once the window has come down; whether a round trip is over since.
    probe_rtt_end: Option<u32>,
    probe_rtt_round: bool,
    cycle: usize,
    cycle_start: u64,
    /// The window to restore after recovery or PROBE_RTT.
    prior_cwnd: u32,
    phase: Phase,
    conservation: bool,
    restarting: bool,
    /// Whether the pace is computed from a round trip that was measured.
    seen_rtt: bool,
    policer: Policer,
    aggregation: AckAggregation,
}

impl Default for Bbr {
    fn default() -> Self {
        Self {
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            bandwidth: Maximum::new(0, 0),
            round: 0,
            round_end: 0,
            round_start: false,
            full_bandwidth: 0,
            full_rounds: 0,
            full: false,
            min_rtt: u64::MAX,
            min_rtt_ticks: 0,
            probe_rtt_end: None,
            probe_rtt_round: false,
            cycle: 0,
            cycle_start: 0,
            prior_cwnd: 0,
            phase: Phase::Open,
            conservation: false,
            restarting: false,
            seen_rtt: false,
            policer: Policer::default(),
            aggregation: AckAggregation::default(),
        }
    }
}

impl CongestionControl for Bbr {
    fn new(_: &Profile) -> Self {
        Self::default()
    }

    fn on_open(&mut self, state: &mut State, profile: &Profile) {
        state.ssthresh = INFINITE;
        self.round_end = state.delivered;
        (self.min_rtt, self.min_rtt_ticks) = (state.rtt.least(), state.clock.ticks);
        self.start_pace(state, profile);
        self.policer.reset(state);
        self.aggregation.start(state.clock.us);
    }

    fn ssthresh(&mut self, state: &State, _: &Profile) -> u32 {
        self.save_window(state);
        state.ssthresh
    }

    fn on_phase(&mut self, state: &mut State, profile: &Profile, next: Phase) {
        if next == Phase::Loss {
            self.phase = Phase::Loss;
            self.full_bandwidth = 0;
            self.round_start = true;
            self.watch_policer(state, profile, &RateSample { lost: 1, ..RateSample::default() });
        }
    }

    fn on_event(&mut self, state: &mut State, profile: &Profile, event: Event) {
        if event == Event::TxStart && state.limited_until != 0 {
            self.restarting = true;
            self.aggregation.start(state.clock.us);
            match self.mode {
                Mode::ProbeBw => self.set_pace(state, profile, ONE),
                Mode::ProbeRtt => self.leave_probe_rtt(state),
                Mode::Startup | Mode::Drain => {}
            }
        }
    }

    fn undo_cwnd(&mut self, state: &mut State) -> u32 {
        (self.full_bandwidth, self.full_rounds) = (0, 0);
        self.policer.reset(state);
        state.cwnd
    }

    fn most_at_once(&self, state: &State, profile: &Profile) -> u32 {
        state.burst(profile, least(state))
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
        self.measure_bandwidth(state, profile, sample);
        let bandwidth = self.bandwidth();
        self.aggregation.note(state, sample, bandwidth, self.round_start.then_some(AGGREGATION_ROUNDS));
        if self.mode == Mode::ProbeBw && self.is_phase_over(state, profile, sample) {
            self.next_phase(state);
        }
        self.judge_full(sample);
        self.drain(state, profile);
        self.measure_rtt(state, profile, sample);
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.is_policed() => (ONE, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (ONE, ONE),
        };
        self.set_pace(state, profile, self.pacing_gain);
        self.set_window(state, profile, sample);
    }
}

impl Bbr {
    /// The bandwidth in force: a policer's, or the greatest of late.
    fn bandwidth(&self) -> u64 {
        self.policer.bandwidth().unwrap_or_else(|| self.bandwidth.value())
    }

    /// The pace before the bandwidth is known: the window in a round trip, or in a millisecond.
    fn start_pace(&mut self, state: &mut State, profile: &Profile) {
        self.seen_rtt = state.rtt.srtt8 > 0;
        state.pace = pace(profile, bandwidth_of_window(state), HIGH_GAIN);
    }

    fn set_pace(&mut self, state: &mut State, profile: &Profile, gain: u64) {
        let pace = pace(profile, self.bandwidth(), gain);
        if !self.seen_rtt && state.rtt.srtt8 > 0 {
            self.start_pace(state, profile);
        }
        if self.full || pace > state.pace {
            state.pace = pace;
        }
    }

    /// Counts round trips and takes the delivery rate into the bandwidth (`bbr_update_bw`).
    fn measure_bandwidth(&mut self, state: &State, profile: &Profile, sample: &RateSample) {
        self.round_start = false;
        let Some((delivered, interval)) = sample.rate else { return };
        if interval == 0 {
            return;
        }
        if sample.prior_delivered >= self.round_end {
            self.round_end = state.delivered;
            self.round += 1;
            self.round_start = true;
            self.conservation = false;
        }
        self.watch_policer(state, profile, sample);
        let rate = (u64::from(delivered) << BANDWIDTH_BITS) / interval;
        if !sample.limited || rate >= self.bandwidth.value() {
            self.bandwidth.insert(BANDWIDTH_ROUNDS, self.round, rate);
        }
    }

    fn watch_policer(&mut self, state: &State, profile: &Profile, sample: &RateSample) {
        let probing = self.mode == Mode::ProbeBw;
        if self.policer.watch(state, profile, sample, Progress { round: self.round_start, probing }) {
            self.enter_probe_bw(state);
        }
    }

    /// Segments that the path holds at a gain (`bbr_bdp`).
    fn bdp(&self, bandwidth: u64, gain: u64) -> u32 {
        if self.min_rtt == u64::MAX { INITIAL } else { scale::bdp(bandwidth, self.min_rtt, gain) }
    }

    /// Adds room for segments that leave and are acknowledged in bursts (`bbr_quantization_budget`).
    fn with_bursts(&self, state: &State, profile: &Profile, segments: u32) -> u32 {
        let even = (segments + 3 * burst(state, profile)).next_multiple_of(2);
        if self.mode == Mode::ProbeBw && self.cycle == 0 { even + 2 } else { even }
    }

    fn inflight(&self, state: &State, profile: &Profile, gain: u64) -> u32 {
        self.with_bursts(state, profile, self.bdp(self.bandwidth.value(), gain))
    }

    /// The segments in the network at the time at which the pace allows the next (`bbr_packets_in_net_at_edt`).
    fn in_network(&self, state: &State, profile: &Profile, now: u32) -> u32 {
        let more = if self.pacing_gain > ONE { burst(state, profile) } else { 0 };
        left_at_next(state, self.bandwidth(), now + more)
    }

    /// Whether this phase of PROBE_BW is over (`bbr_is_next_cycle_phase`).
    fn is_phase_over(&self, state: &State, profile: &Profile, sample: &RateSample) -> bool {
        let whole = state.delivered_at.saturating_sub(self.cycle_start) > self.min_rtt;
        let now = || self.in_network(state, profile, sample.prior_in_flight);
        match self.pacing_gain {
            ONE => whole,
            gain if gain > ONE => {
                whole && (sample.lost > 0 || now() >= self.inflight(state, profile, self.pacing_gain))
            }
            _ => whole || now() <= self.inflight(state, profile, ONE),
        }
    }

    fn next_phase(&mut self, state: &State) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_start = state.delivered_at;
    }

    fn enter_probe_bw(&mut self, state: &State) {
        self.mode = Mode::ProbeBw;
        // Seven of the eight phases: the one after which comes 3/4 is left out.
        self.cycle = CYCLE.len() - 1 - (hash(state.clock.us) % 7) as usize;
        self.next_phase(state);
    }

    /// Whether the bandwidth has stopped growing (`bbr_check_full_bw_reached`).
    fn judge_full(&mut self, sample: &RateSample) {
        if self.full || !self.round_start || sample.limited {
            return;
        }
        if self.bandwidth.value() >= (self.full_bandwidth * FULL_GROWTH) >> GAIN_BITS {
            (self.full_bandwidth, self.full_rounds) = (self.bandwidth.value(), 0);
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    fn drain(&mut self, state: &mut State, profile: &Profile) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            state.ssthresh = self.inflight(state, profile, ONE);
        }
        if self.mode == Mode::Drain {
            let now = self.in_network(state, profile, state.board.in_flight());
            if now <= self.inflight(state, profile, ONE) {
                self.enter_probe_bw(state);
            }
        }
    }

    /// Takes in the round trip, and goes through PROBE_RTT when the least is old (`bbr_update_min_rtt`).
    fn measure_rtt(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
        let now = state.clock.ticks;
        let expired = now > self.min_rtt_ticks + ticks_of(MIN_RTT_WINDOW, profile.tcp.tick);
        if let Some(rtt) = sample.rtt.filter(|&rtt| rtt < self.min_rtt || expired) {
            (self.min_rtt, self.min_rtt_ticks) = (rtt, now);
        }
        if expired && !self.restarting && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(state);
            self.probe_rtt_end = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.go_on_probing(state, profile);
        }
        if sample.delivered > 0 {
            self.restarting = false;
        }
    }

    fn go_on_probing(&mut self, state: &mut State, profile: &Profile) {
        let in_flight = state.board.in_flight();
        // The rates measured in this phase are too low to count.
        state.limited_until = (state.delivered + in_flight).max(1);
        if self.probe_rtt_end.is_none() {
            if in_flight <= LEAST {
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
        self.min_rtt_ticks = state.clock.ticks;
        state.cwnd = state.cwnd.max(self.prior_cwnd);
        if self.full { self.enter_probe_bw(state) } else { self.mode = Mode::Startup }
    }

    /// Remembers the window before a recovery or PROBE_RTT (`bbr_save_cwnd`).
    fn save_window(&mut self, state: &State) {
        let good = self.phase < Phase::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if good { state.cwnd } else { self.prior_cwnd.max(state.cwnd) };
    }

    /// Sets the window (`bbr_set_cwnd`).
    fn set_window(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
        let acked = sample.delivered;
        if acked > 0 {
            state.cwnd = match self.conserve(state, sample) {
                (cwnd, true) => cwnd,
                (cwnd, false) => {
                    let bandwidth = self.bandwidth();
                    let bdp = self.bdp(bandwidth, self.cwnd_gain);
                    let extra_acked = if self.full { self.aggregation.extra_acked(bandwidth) } else { 0 };
                    let target = self.with_bursts(state, profile, bdp + extra_acked);
                    if self.full {
                        (cwnd + acked).min(target)
                    } else if cwnd < target || state.delivered < INITIAL {
                        cwnd + acked
                    } else {
                        cwnd
                    }
                    .max(LEAST)
                }
            };
        }
        if self.mode == Mode::ProbeRtt {
            state.cwnd = state.cwnd.min(LEAST);
        }
    }

    /// The window in and after recovery, and whether it is final (`bbr_set_cwnd_to_recover_or_restore`).
    fn conserve(&mut self, state: &State, sample: &RateSample) -> (u32, bool) {
        let in_flight = state.board.in_flight();
        let mut cwnd = state.cwnd;
        if sample.lost > 0 {
            cwnd = cwnd.saturating_sub(sample.lost).max(1);
        }
        if state.phase == Phase::Recovery && self.phase != Phase::Recovery {
            self.conservation = true;
            self.round_end = state.delivered;
            cwnd = in_flight + sample.delivered;
        } else if self.phase >= Phase::Recovery && state.phase < Phase::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conservation = false;
        }
        self.phase = state.phase;
        if self.conservation {
            cwnd = cwnd.max(in_flight + sample.delivered);
        }
        (cwnd, self.conservation)
    }
}

/// Segments that leave at once where there is segmentation offload; the window allows for them in any case.
fn burst(state: &State, profile: &Profile) -> u32 {
    let bytes = (state.pace >> BURST_BITS).min(LARGEST);
    (bytes / u64::from(profile.payload())).clamp(u64::from(least(state)), MOST_IN_BURST) as u32
}

/// The fewest segments that leave at once (`bbr_min_tso_segs`).
const fn least(state: &State) -> u32 {
    if state.pace < SINGLE { 1 } else { 2 }
}

#[cfg(test)]
mod tests;
