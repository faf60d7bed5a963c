//! BBR, version 1: sends at the bottleneck's bandwidth and keeps the data outstanding near what the path holds.
//!
//! ```text
//! bandwidth = max delivery rate of the last 10 round trips         min_rtt = least round trip of the last 10 s
//! pace      = pacing_gain * bandwidth * 99 %                       cwnd    = cwnd_gain * bandwidth * min_rtt + 3
//!
//!   STARTUP ----> DRAIN ----> PROBE_BW  <----> PROBE_RTT
//!    |   gains 2.885,  pace 1/2.885,  pace 5/4, 3/4, 1 x 6;       |  4 segments for 200 ms and a round trip,
//!    |   cwnd 2.885    cwnd 2.885     cwnd gain 2                 |  when min_rtt is 10 s old
//!    `------------------------------------------------------------'
//! ```
//!
//! STARTUP ends when three round trips in a row have not brought 25 % more bandwidth; DRAIN when no more than one
//! bandwidth-delay product is outstanding. Each phase of PROBE_BW lasts a min_rtt; that of 5/4 until 5/4 of the
//! product is outstanding or something was lost, that of 3/4 at most until one is.
//!
//! A loss does not reduce the pace. For the first round trip of recovery as many segments are sent as were
//! delivered (packet conservation); after recovery, and after PROBE_RTT, the window is what it was before.
//!
//! # Departures from the source
//! * The first phase of PROBE_BW (any but 3/4) is drawn by hashing the time at which it starts, not from a stream
//!   of random numbers: the same run has the same phases, and two flows hardly ever the same.
//! * No sampler for policed links (`lt_bw`), no allowance for ACK aggregation (`extra_acked`).
//! * Segments are sent one by one, as without segmentation offload: the allowance for bursts is 3 segments.
//! * Marks are not heeded, as by Linux's version 1. `ssthresh` stays as it is.
//! * Without SACK a lost segment is sent again at once, not when the pace allows, and the bandwidth is known less
//!   well, see [`super::delivery`]: give BBR flows the flavour `sack`.
//!
//! # Sources
//! Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR: congestion-based congestion control", ACM Queue 14(5),
//! 2016; draft-cardwell-iccrg-bbr-congestion-control-00; Linux, tcp_bbr.c.

use super::delivery::{Delivery, Sample};
use super::maximum::Maximum;
use crate::tcp::Ack;
use aqm::unit::{Span, Time};

/// Fills the pipe in as few round trips as slow start: 2 / ln 2, as Linux rounds it.
const HIGH_GAIN: f64 = 2.885;
/// Pacing gains of the phases of PROBE_BW; 3/4 drains what 5/4 has added.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const CWND_GAIN: f64 = 2.0;
/// Paces a little below the bandwidth, so that no queue stands.
const MARGIN: f64 = 0.99;
/// Round trips over which the bandwidth is the greatest (a cycle and a bit).
const BANDWIDTH_ROUNDS: u32 = 10;
/// How long a least round trip is believed.
const MIN_RTT_WINDOW: Span = Span::s(10);
const PROBE_RTT: Span = Span::ms(200);
/// The least window, and that of PROBE_RTT, in segments.
const LEAST: f64 = 4.0;
/// STARTUP goes on while the bandwidth grows by this in as many round trips.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Segments beyond the bandwidth-delay product for what waits to be sent or acknowledged in bursts.
const BURSTS: f64 = 3.0;
/// The window before there is a round trip, in segments (TCP_INIT_CWND).
const INITIAL: f64 = 10.0;
/// A round trip that was not measured yet.
const UNKNOWN: Span = Span::ns(u64::MAX);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// What the sender is doing about losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repair {
    /// Nothing is lost.
    None,
    /// Fast recovery.
    Recovery,
    /// After a time-out, until all that was out then is acknowledged.
    Timeout,
}

/// The sender's state when an acknowledgement has been taken in and before anything is sent.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// When.
    pub now: Time,
    /// What it does about losses.
    pub repair: Repair,
    /// Segments believed to be in the network before the ACK, and now.
    pub flight_before: u32,
    /// See `flight_before`.
    pub flight: u32,
    /// Segments ever found lost.
    pub losses: u32,
    /// The congestion window.
    pub cwnd: f64,
}

/// The state.
#[derive(Clone, Debug)]
pub struct Bbr {
    delivery: Delivery,
    mode: Mode,
    pacing_gain: f64,
    cwnd_gain: f64,
    bandwidth: Maximum,
    /// Round trips counted by what is delivered: the next ends when a segment sent after this many is.
    round: u32,
    round_end: u64,
    round_start: bool,
    /// The bandwidth that STARTUP has seen, and for how many round trips it has not grown.
    full_bandwidth: f64,
    full_rounds: u32,
    full: bool,
    min_rtt: Span,
    min_rtt_at: Time,
    /// When PROBE_RTT may end, once the window has come down.
    probe_rtt_end: Option<Time>,
    probe_rtt_round: bool,
    cycle: usize,
    cycle_start: Time,
    /// The window to restore after recovery or PROBE_RTT.
    prior_cwnd: f64,
    repair: Repair,
    conservation: bool,
    losses: u32,
    restarting: bool,
    /// Segments a second; none before the connection is open.
    pace: f64,
    next_send: Time,
    waiting: bool,
}

impl Default for Bbr {
    fn default() -> Self {
        Self {
            delivery: Delivery::default(),
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            bandwidth: Maximum::default(),
            round: 0,
            round_end: 0,
            round_start: false,
            full_bandwidth: 0.0,
            full_rounds: 0,
            full: false,
            min_rtt: UNKNOWN,
            min_rtt_at: Time::ZERO,
            probe_rtt_end: None,
            probe_rtt_round: false,
            cycle: 0,
            cycle_start: Time::ZERO,
            prior_cwnd: 0.0,
            repair: Repair::None,
            conservation: false,
            losses: 0,
            restarting: false,
            pace: f64::INFINITY,
            next_send: Time::ZERO,
            waiting: false,
        }
    }
}

impl Bbr {
    /// The connection is open: the first round trip gives the first pace.
    pub fn on_open(&mut self, now: Time, rtt: Span, cwnd: f64) {
        self.min_rtt = rtt;
        self.min_rtt_at = now;
        self.start_pace(cwnd, rtt);
    }

    /// Before the bandwidth is known: the window in a round trip.
    fn start_pace(&mut self, cwnd: f64, rtt: Span) {
        self.pace = MARGIN * HIGH_GAIN * cwnd / rtt.secs();
    }

    /// Whether a segment may be sent now.
    pub fn may_send(&mut self, now: Time) -> bool {
        self.waiting = now < self.next_send;
        !self.waiting
    }

    /// When the segment that waits may be sent.
    #[must_use]
    pub const fn due(&self) -> Time {
        if self.waiting { self.next_send } else { Time::MAX }
    }

    /// What waits is tried again.
    pub const fn on_wake(&mut self) {
        self.waiting = false;
    }

    /// A segment is sent; `idle` if nothing was outstanding.
    pub fn on_send(&mut self, now: Time, seq: u32, idle: bool) {
        self.delivery.on_send(now, seq, idle);
        self.next_send = now.max(self.next_send) + Span::from_secs(1.0 / self.pace);
    }

    /// The application has nothing more to send, with so many segments outstanding.
    pub fn on_limited(&mut self, in_flight: u32) {
        self.delivery.limit(in_flight);
    }

    /// The application sends again after an idle time, at no more than the bandwidth; returns the window then.
    #[must_use]
    pub fn on_restart(&mut self, now: Time, cwnd: f64) -> f64 {
        self.restarting |= self.delivery.is_limited();
        match self.mode {
            Mode::ProbeBw if self.restarting => self.follow(1.0),
            Mode::ProbeRtt if self.restarting => return self.leave_probe_rtt(now, cwnd),
            _ => {}
        }
        cwnd
    }

    /// A loss was detected at this window.
    pub fn on_loss(&mut self, cwnd: f64) {
        let undisturbed = self.repair == Repair::None && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if undisturbed { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// The retransmission timer went off at this window: STARTUP begins to count again.
    pub fn on_timeout(&mut self, cwnd: f64) {
        self.on_loss(cwnd);
        self.repair = Repair::Timeout;
        self.full_bandwidth = 0.0;
    }

    /// The window after an acknowledgement.
    #[must_use]
    pub fn on_ack(&mut self, ack: &Ack, state: &State) -> f64 {
        let sample = self.delivery.on_ack(state.now, ack);
        let lost = state.losses - self.losses;
        self.losses = state.losses;
        self.measure_bandwidth(&sample);
        self.turn_cycle(state, lost);
        self.judge_full(&sample);
        self.drain(state);
        let restored = self.measure_rtt(&sample, state);
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
        self.follow(self.pacing_gain);
        self.window(&sample, &State { cwnd: restored, ..*state }, lost)
    }

    /// Counts round trips and takes the delivery rate into the bandwidth.
    fn measure_bandwidth(&mut self, sample: &Sample) {
        self.round_start = false;
        // A shorter time than the least round trip comes of an ACK for what was sent again.
        if sample.interval == Span::ZERO
            || sample.interval < self.min_rtt.min(sample.rtt.unwrap_or(self.min_rtt))
        {
            return;
        }
        if sample.prior >= self.round_end {
            self.round_end = self.delivery.delivered();
            self.round += 1;
            self.round_start = true;
            self.conservation = false;
        }
        let rate = sample.delivered as f64 / sample.interval.secs();
        if !sample.limited || rate >= self.bandwidth.value() {
            self.bandwidth.insert(BANDWIDTH_ROUNDS, self.round, rate);
        }
    }

    /// Goes on to the next phase of PROBE_BW when this one is over.
    fn turn_cycle(&mut self, state: &State, lost: u32) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let whole = self.delivery.delivered_at().since(self.cycle_start) > self.min_rtt;
        let flight = self.in_network(state.now, state.flight_before);
        let over = match CYCLE[self.cycle] {
            gain if gain > 1.0 => whole && (lost > 0 || flight >= self.inflight(gain)),
            gain if gain < 1.0 => whole || flight <= self.inflight(1.0),
            _ => whole,
        };
        if over {
            self.next_phase();
        }
    }

    fn next_phase(&mut self) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_start = self.delivery.delivered_at();
    }

    /// Whether the bandwidth has stopped growing.
    fn judge_full(&mut self, sample: &Sample) {
        if self.full || !self.round_start || sample.limited {
            return;
        }
        if self.bandwidth.value() >= FULL_GROWTH * self.full_bandwidth {
            self.full_bandwidth = self.bandwidth.value();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    fn drain(&mut self, state: &State) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_network(state.now, state.flight) <= self.inflight(1.0) {
            self.enter_probe_bw(state.now);
        }
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        // Seven of the eight phases: the one after which `next_phase` comes to 3/4 is left out.
        self.cycle = CYCLE.len() - 1 - (hash(now.nanos()) % 7) as usize;
        self.next_phase();
    }

    /// Takes in the round trip, and goes through PROBE_RTT when the least is old; returns the window then.
    fn measure_rtt(&mut self, sample: &Sample, state: &State) -> f64 {
        let now = state.now;
        let known = self.min_rtt < UNKNOWN;
        let expired = known && now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rtt.filter(|&rtt| rtt < self.min_rtt || expired) {
            if !known {
                self.start_pace(state.cwnd, rtt);
            }
            (self.min_rtt, self.min_rtt_at) = (rtt, now);
        }
        let mut cwnd = state.cwnd;
        if expired && !self.restarting && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.on_loss(cwnd); // remembers the window, as before a loss
            self.probe_rtt_end = None;
        }
        if self.mode == Mode::ProbeRtt {
            // What is delivered meanwhile says nothing of the bandwidth.
            self.delivery.limit(state.flight);
            if self.probe_rtt_end.is_none() && f64::from(state.flight) <= LEAST {
                self.probe_rtt_end = Some(now + PROBE_RTT);
                self.probe_rtt_round = false;
                self.round_end = self.delivery.delivered();
            } else if self.probe_rtt_end.is_some() {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round {
                    cwnd = self.leave_probe_rtt(now, cwnd);
                }
            }
        }
        self.restarting &= sample.newly == 0;
        cwnd
    }

    /// Leaves PROBE_RTT if it has lasted long enough; returns the window then.
    fn leave_probe_rtt(&mut self, now: Time, cwnd: f64) -> f64 {
        if self.probe_rtt_end.is_none_or(|end| now <= end) {
            return cwnd;
        }
        self.min_rtt_at = now;
        if self.full {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
        cwnd.max(self.prior_cwnd)
    }

    /// Sets the pace; in STARTUP it never falls.
    fn follow(&mut self, gain: f64) {
        let pace = MARGIN * gain * self.bandwidth.value();
        if pace > 0.0 && (self.full || pace > self.pace) {
            self.pace = pace;
        }
    }

    fn window(&mut self, sample: &Sample, state: &State, lost: u32) -> f64 {
        let newly = f64::from(sample.newly);
        let mut cwnd = state.cwnd;
        if sample.newly > 0 {
            cwnd = self.repaired(cwnd, newly, state, lost);
            if !self.conservation {
                let target = self.inflight(self.cwnd_gain);
                if self.full {
                    cwnd = (cwnd + newly).min(target);
                } else if cwnd < target || (self.delivery.delivered() as f64) < INITIAL {
                    cwnd += newly;
                }
                cwnd = cwnd.max(LEAST);
            }
        }
        if self.mode == Mode::ProbeRtt { cwnd.min(LEAST) } else { cwnd }
    }

    /// The window as losses and their repair have it.
    fn repaired(&mut self, cwnd: f64, newly: f64, state: &State, lost: u32) -> f64 {
        let flight = f64::from(state.flight);
        let mut cwnd = (cwnd - f64::from(lost)).max(1.0);
        let before = std::mem::replace(&mut self.repair, state.repair);
        if state.repair == Repair::Recovery && before != Repair::Recovery {
            self.conservation = true;
            self.round_end = self.delivery.delivered();
            cwnd = flight + newly;
        } else if state.repair == Repair::None && before != Repair::None {
            self.conservation = false;
            cwnd = cwnd.max(self.prior_cwnd);
        }
        if self.conservation { cwnd.max(flight + newly) } else { cwnd }
    }

    /// Segments in the network when the next one leaves, of so many outstanding now.
    fn in_network(&self, now: Time, flight: u32) -> f64 {
        let meanwhile = (self.bandwidth.value() * self.next_send.since(now).secs()).floor();
        let next = if self.pacing_gain > 1.0 { 1.0 } else { 0.0 };
        (f64::from(flight) + next - meanwhile).max(0.0)
    }

    /// Segments to have outstanding: so many bandwidth-delay products, with what bursts need.
    fn inflight(&self, gain: f64) -> f64 {
        let product = match self.min_rtt {
            UNKNOWN => INITIAL,
            min_rtt => (gain * self.bandwidth.value() * min_rtt.secs()).ceil(),
        } + BURSTS;
        // Even, for receivers that acknowledge every second segment; more in the phase of 5/4, so that it probes.
        let even = product + product % 2.0;
        if self.mode == Mode::ProbeBw && self.cycle == 0 { even + 2.0 } else { even }
    }
}

/// Spreads all bits of `x` (splitmix64).
const fn hash(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
