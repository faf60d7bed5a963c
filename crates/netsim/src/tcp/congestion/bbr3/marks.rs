//! The fraction of marks, as in DCTCP.

use super::bounds::exceeds;
use super::flights::Flight;
use crate::tcp::congestion::bbr::scale::{GAIN_BITS, ONE};
use crate::tcp::rack::State;
use scenario::model::Profile;

/// The weight of the last round trip.
const GAIN: u64 = ONE / 16;
/// A flow takes this part of the fraction off the flight.
const FACTOR: u64 = ONE / 3;
/// More marks than this are too many.
const THRESHOLD: u64 = ONE / 2;
/// The number of round trips with too many marks that ends STARTUP.
const ROUNDS: u32 = 2;

#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// Whether they count.
    pub(super) count: bool,
    ecn: bool,
    max_rtt: u64,
    alpha: u64,
    /// Delivered segments, and the marked ones, when alpha last moved.
    delivered: u32,
    marked: u32,
    startup_rounds: u32,
}

impl Marks {
    pub(super) fn new(profile: &Profile) -> Self {
        let tcp = &profile.tcp;
        let max_rtt = if tcp.ecn_max_rtt.nanos() == 0 { u64::MAX } else { tcp.ecn_max_rtt.nanos() / 1000 };
        Self { count: false, ecn: tcp.ecn, max_rtt, alpha: ONE, delivered: 0, marked: 0, startup_rounds: 0 }
    }

    /// Takes in a round trip, and returns the fraction of it that was marked, if marks count (`bbr_update_ecn_alpha`).
    pub(super) fn update(&mut self, state: &State, min_rtt: u64) -> Option<u64> {
        self.count |= self.ecn && min_rtt <= self.max_rtt;
        let delivered = u64::from(state.delivered - self.delivered);
        if !self.count || delivered == 0 {
            return None;
        }
        let ratio = (u64::from(state.delivered_marked - self.marked) << GAIN_BITS) / delivered;
        let alpha = (((ONE - GAIN) * self.alpha) >> GAIN_BITS) + ((GAIN * ratio) >> GAIN_BITS);
        self.alpha = alpha.min(ONE);
        (self.delivered, self.marked) = (state.delivered, state.delivered_marked);
        Some(ratio)
    }

    /// Whether enough round trips of STARTUP had too many marks to end it.
    pub(super) const fn are_too_many_in_startup(&mut self, ratio: u64) -> bool {
        self.startup_rounds = if ratio >= THRESHOLD { self.startup_rounds + 1 } else { 0 };
        self.startup_rounds >= ROUNDS
    }

    /// Whether a flight had too many.
    pub(super) const fn are_too_many(&self, flight: Flight) -> bool {
        self.count && flight.delivered > 0 && exceeds(flight.marked, flight.delivered, THRESHOLD)
    }

    /// What remains of a flight.
    pub(super) const fn kept(&self, segments: u32) -> u32 {
        let kept = ONE - ((self.alpha * FACTOR) >> GAIN_BITS);
        ((segments as u64 * kept) >> GAIN_BITS) as u32
    }
}
