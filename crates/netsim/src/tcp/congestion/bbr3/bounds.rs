//! The bounds of bandwidth and flight, which losses and marks set.

use super::flights::Flight;
use super::{Bbr3, LEAST, Mode};
use crate::tcp::congestion::bbr::scale::{GAIN_BITS, ONE};
use crate::tcp::rack::State;
use crate::tcp::rack::rate::RateSample;
use scenario::model::Profile;

/// More losses than this part of a flight are too many.
const LOSS_THRESHOLD: u64 = ONE * 2 / 100;
/// What a loss leaves.
const KEPT: u64 = ONE - ONE * 30 / 100;
/// The part of the upper bound that is left to others.
const HEADROOM: u64 = ONE * 15 / 100;

/// Whether `count` is more than this part of `all`, rounded down.
pub(super) const fn exceeds(count: u32, all: u32, part: u64) -> bool {
    count as u64 > (all as u64 * part) >> GAIN_BITS
}

/// Whether a flight of this many segments lost too many.
pub(super) const fn loses_too_much(lost: u32, segments: u32) -> bool {
    lost > 0 && segments > 0 && exceeds(lost, segments, LOSS_THRESHOLD)
}

/// How much of a flight was in the network when its losses were just not too many, if its last segment is the last of `lost`
/// (`bbr_inflight_hi_from_lost_skb`).
pub(super) fn safe_flight(segments: u32, lost: u32) -> u32 {
    let (before, lost_before) = (u64::from(segments) - 1, u64::from(lost) - 1);
    let budget = (before * LOSS_THRESHOLD + ONE - 1) >> GAIN_BITS;
    let more = budget.saturating_sub(lost_before);
    (before + (more << GAIN_BITS) / (ONE - LOSS_THRESHOLD)) as u32
}

#[derive(Clone, Debug)]
pub(super) struct Bounds {
    /// The greatest rate of the last cycle and of this one.
    bandwidths: [u64; 2],
    pub(super) bw_lo: u64,
    pub(super) inflight_lo: u32,
    pub(super) inflight_hi: u32,
    /// The last three before the latest losses.
    saved: (u64, u32, u32),
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            bandwidths: [0, 0],
            bw_lo: u64::MAX,
            inflight_lo: u32::MAX,
            inflight_hi: u32::MAX,
            saved: (0, 0, 0),
        }
    }
}

impl Bounds {
    pub(super) fn max_bw(&self) -> u64 {
        self.bandwidths[0].max(self.bandwidths[1])
    }

    /// The rates of the cycle before the last are forgotten, if this one has any.
    pub(super) const fn advance(&mut self) {
        if self.bandwidths[1] > 0 {
            self.bandwidths = [self.bandwidths[1], 0];
        }
    }

    pub(super) const fn save(&mut self) {
        self.saved = (self.bw_lo, self.inflight_lo, self.inflight_hi);
    }

    pub(super) fn undo(&mut self) {
        let (bw_lo, inflight_lo, inflight_hi) = self.saved;
        self.bw_lo = self.bw_lo.max(bw_lo);
        self.inflight_lo = self.inflight_lo.max(inflight_lo);
        self.inflight_hi = self.inflight_hi.max(inflight_hi);
    }

    pub(super) const fn forget_lower(&mut self) {
        (self.bw_lo, self.inflight_lo) = (u64::MAX, u32::MAX);
    }

    /// The upper bound less the part that is left to others (`bbr_inflight_with_headroom`).
    pub(super) fn with_headroom(&self) -> u32 {
        if self.inflight_hi == u32::MAX {
            return u32::MAX;
        }
        let headroom = ((u64::from(self.inflight_hi) * HEADROOM) >> GAIN_BITS).max(1) as u32;
        self.inflight_hi.saturating_sub(headroom).max(LEAST)
    }
}

impl Bbr3 {
    /// Takes in the rate and, once a round trip, lets losses and marks lower the bounds
    /// (`bbr_update_congestion_signals`).
    pub(super) fn adapt_to_round(&mut self, state: &State, sample: &RateSample, rate: Option<u64>) {
        let Some(rate) = rate.filter(|_| sample.delivered > 0) else { return };
        if !sample.limited || rate >= self.bounds.max_bw() {
            self.bounds.bandwidths[1] = self.bounds.bandwidths[1].max(rate);
        }
        self.signals.loss_in_round |= sample.lost > 0;
        if !self.signals.round_start {
            return;
        }
        if !self.mode.is_probing() {
            self.lower(state);
        }
        (self.signals.loss_in_round, self.signals.mark_in_round) = (false, false);
    }

    /// Lowers the lower bounds (`bbr_adapt_lower_bounds`).
    fn lower(&mut self, state: &State) {
        let max_bw = self.bounds.max_bw();
        let (signals, bounds) = (&self.signals, &mut self.bounds);
        if !signals.loss_in_round && !signals.mark_in_round {
            return;
        }
        if bounds.inflight_lo == u32::MAX {
            bounds.inflight_lo = state.cwnd;
        }
        let marked = if signals.mark_in_round { self.marks.kept(bounds.inflight_lo) } else { u32::MAX };
        if signals.loss_in_round {
            let kept = |value: u64| (value * KEPT) >> GAIN_BITS;
            let bw_lo = if bounds.bw_lo == u64::MAX { max_bw } else { bounds.bw_lo };
            bounds.bw_lo = kept(bw_lo).max(signals.bandwidth);
            bounds.inflight_lo = (kept(u64::from(bounds.inflight_lo)) as u32).max(signals.inflight);
        }
        bounds.inflight_lo = bounds.inflight_lo.min(marked);
        bounds.bw_lo = bounds.bw_lo.max(1);
    }

    /// Whether a flight lost too much, or was marked too much (`bbr_is_inflight_too_high`).
    pub(super) const fn is_too_high(&self, flight: Flight) -> bool {
        loses_too_much(flight.lost, flight.segments) || self.marks.are_too_many(flight)
    }

    /// A probe has gone too far, at a flight of `segments` (`bbr_handle_inflight_too_high`).
    pub(super) fn back_off(&mut self, state: &State, profile: &Profile, segments: u32, limited: bool) {
        self.cycle.was_too_high = true;
        self.cycle.samples = false;
        if !limited {
            let least = (u64::from(self.target(state, profile)) * KEPT) >> GAIN_BITS;
            self.bounds.inflight_hi = segments.max(least as u32);
        }
        if self.mode == Mode::Up {
            self.start_down(state);
        }
    }
}
