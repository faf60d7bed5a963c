//! PROBE_BW: DOWN, CRUISE, REFILL, UP, and DOWN again.

use super::flights::Flight;
use super::{Bbr3, Mode};
use crate::tcp::congestion::bbr::scale::{GAIN_BITS, ONE, hash};
use crate::tcp::rack::rate::RateSample;
use crate::tcp::rack::{Phase, State};
use scenario::model::Profile;

/// The most round trips between two probes, of which the first is drawn.
const MOST_ROUNDS: u32 = 63;
const DRAWN_ROUNDS: u64 = 2;
/// The least time between two probes, and the drawn time that is added, in microseconds.
const WAIT_US: u64 = 2_000_000;
const DRAWN_US: u64 = 1_000_000;
/// When marks have ended, the first round trip of a probe adds this part of the upper bound.
const REPROBE: u64 = ONE / 2;
/// The most doublings of what a probe adds.
const MOST_DOUBLINGS: u32 = 30;

/// The acknowledgements that come now, as to probing (`bbr_ack_phase`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Acks {
    #[default]
    Usual,
    Starting,
    Feedback,
    Stopping,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Cycle {
    acks: Acks,
    /// When the cycle or its UP began, and for how long the next probe waits at most, in microseconds.
    began: u64,
    wait: u64,
    /// Round trips since a probe.
    pub(super) rounds: u32,
    /// Round trips in which UP has raised the bound; segments that raise it by one, and those that were delivered.
    doublings: u32,
    step: u32,
    acked: u32,
    /// Whether samples are of a probe.
    pub(super) samples: bool,
    /// Whether the last probe went too far; whether this one was stopped because it might.
    pub(super) was_too_high: bool,
    was_stopped: bool,
}

impl Cycle {
    pub(super) const fn stop_probing(&mut self) {
        self.acks = Acks::Stopping;
    }

    #[cfg(test)]
    pub(super) const fn doublings(&self) -> u32 {
        self.doublings
    }

    /// Twice as much as in the last round trip (`bbr_raise_inflight_hi_slope`).
    fn steepen(&mut self, cwnd: u32) {
        self.step = (cwnd >> self.doublings).max(1);
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
    }
}

impl Bbr3 {
    /// Adapts the upper bound, and goes on to the next phase when it is time (`bbr_update_cycle_phase`).
    pub(super) fn advance_cycle(
        &mut self,
        state: &State,
        profile: &Profile,
        sample: &RateSample,
        rate: Option<u64>,
        flight: Option<Flight>,
    ) {
        if !self.filling.full || self.adapt_upper_bound(state, profile, sample, flight) {
            return;
        }
        let now = || self.in_network(state, profile, sample.prior_in_flight);
        match self.mode {
            Mode::Cruise => {
                self.probe_if_time(state, profile);
            }
            Mode::Refill if self.round_start => {
                self.cycle.samples = true;
                self.start_up(state, rate.unwrap_or(0));
            }
            Mode::Up => {
                let limited = state.window_limited && state.cwnd >= self.bounds.inflight_hi;
                if self.cycle.was_too_high && now() >= self.bounds.inflight_hi {
                    self.cycle.was_stopped = true;
                } else if limited {
                    return self.filling.restart(rate.unwrap_or(0));
                } else if !self.filling.full_now {
                    return;
                }
                self.cycle.was_too_high = false;
                self.start_down(state);
            }
            Mode::Down => {
                let now = now();
                if !self.probe_if_time(state, profile)
                    && now <= self.bounds.with_headroom()
                    && now <= self.inflight(state, profile, self.bounds.max_bw())
                {
                    self.start_cruise();
                }
            }
            Mode::Refill | Mode::Startup | Mode::Drain | Mode::ProbeRtt => {}
        }
    }

    /// Moves the upper bound by what a probe has shown; whether the next phase is decided (`bbr_adapt_upper_bounds`).
    fn adapt_upper_bound(
        &mut self,
        state: &State,
        profile: &Profile,
        sample: &RateSample,
        flight: Option<Flight>,
    ) -> bool {
        match self.cycle.acks {
            Acks::Starting if self.round_start => self.cycle.acks = Acks::Feedback,
            Acks::Stopping if self.round_start => {
                self.cycle.samples = false;
                self.cycle.acks = Acks::Usual;
                if self.mode.is_probe_bw() {
                    if !sample.limited {
                        self.bounds.advance();
                    }
                    // The bound was reached and nothing was lost: on beyond it.
                    if self.cycle.was_stopped && !self.cycle.was_too_high {
                        self.start_refill(state, 0);
                        return true;
                    }
                }
            }
            _ => {}
        }
        let flight = flight.unwrap_or_default();
        if self.is_too_high(flight) {
            if self.cycle.samples {
                self.back_off(state, profile, flight.segments, sample.limited);
            }
        } else if self.bounds.inflight_hi < u32::MAX {
            self.bounds.inflight_hi = self.bounds.inflight_hi.max(flight.segments);
            if self.mode == Mode::Up {
                self.raise_upper_bound(state, sample);
            }
        }
        false
    }

    /// UP raises the bound if it is used (`bbr_probe_inflight_hi_upward`).
    fn raise_upper_bound(&mut self, state: &State, sample: &RateSample) {
        if !state.window_limited || state.cwnd < self.bounds.inflight_hi {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.acked += sample.delivered;
        self.bounds.inflight_hi = self.bounds.inflight_hi.saturating_add(cycle.acked / cycle.step);
        cycle.acked %= cycle.step;
        if self.round_start {
            cycle.steepen(state.cwnd);
        }
    }

    /// Begins a probe if it is time; whether it is (`bbr_check_time_to_probe_bw`).
    fn probe_if_time(&mut self, state: &State, profile: &Profile) -> bool {
        let signals = &self.signals;
        if self.marks.count && signals.mark_in_cycle && !signals.loss_in_cycle && state.phase == Phase::Open {
            let more = ((u64::from(self.bounds.inflight_hi) * REPROBE) >> GAIN_BITS).max(1);
            self.start_refill(state, more.ilog2());
            return true;
        }
        let rounds = self.target(state, profile).min(MOST_ROUNDS);
        let over = state.clock.us > self.cycle.began + self.cycle.wait || self.cycle.rounds >= rounds;
        if over {
            self.start_refill(state, 0);
        }
        over
    }

    fn start_refill(&mut self, state: &State, doublings: u32) {
        self.bounds.forget_lower();
        self.cycle.doublings = doublings.min(MOST_DOUBLINGS);
        self.cycle.acked = 0;
        self.cycle.was_stopped = false;
        self.cycle.acks = Acks::Usual;
        self.round_end = state.delivered;
        self.mode = Mode::Refill;
    }

    fn start_up(&mut self, state: &State, rate: u64) {
        self.cycle.acks = Acks::Starting;
        self.round_end = state.delivered;
        self.cycle.began = state.clock.us;
        self.filling.restart(rate);
        self.mode = Mode::Up;
        self.cycle.steepen(state.cwnd);
    }

    pub(super) fn start_down(&mut self, state: &State) {
        self.signals.reset();
        let drawn = hash(state.clock.us);
        self.cycle.rounds = (drawn % DRAWN_ROUNDS) as u32;
        self.cycle.wait = WAIT_US + (drawn >> 32) % DRAWN_US;
        self.cycle.began = state.clock.us;
        self.cycle.stop_probing();
        self.round_end = state.delivered;
        self.mode = Mode::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        if self.bounds.inflight_lo != u32::MAX {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(self.bounds.inflight_hi);
        }
        self.mode = Mode::Cruise;
    }
}
