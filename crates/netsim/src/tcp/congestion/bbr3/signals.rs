//! What the latest round trips and the present cycle have shown: deliveries, losses, marks, and whether the path is full.

use crate::tcp::congestion::bbr::scale::{GAIN_BITS, ONE};
use crate::tcp::rack::rate::RateSample;
use crate::tcp::rack::{Phase, State};

/// Acknowledgements with losses, in a round trip of recovery, that end STARTUP.
const MANY_LOSSES: u32 = 6;
/// The path is full when the bandwidth has not grown by this factor within this number of round trips.
const FULL_GROWTH: u64 = ONE * 5 / 4;
const FULL_ROUNDS: u32 = 3;

#[derive(Clone, Default, Debug)]
pub(super) struct Signals {
    /// The greatest rate, and the greatest number of segments delivered during a sample, of this round trip.
    pub(super) bandwidth: u64,
    pub(super) inflight: u32,
    /// This round trip of losses ends when a segment sent after this number of delivered ones is delivered.
    pub(super) round_end: u32,
    pub(super) round_start: bool,
    pub(super) loss_in_round: bool,
    pub(super) mark_in_round: bool,
    pub(super) loss_in_cycle: bool,
    pub(super) mark_in_cycle: bool,
    losses_in_round: u32,
}

impl Signals {
    /// After a time in which more was sent than was known to be safe (`bbr_reset_congestion_signals`).
    pub(super) const fn reset(&mut self) {
        (self.loss_in_round, self.mark_in_round) = (false, false);
        (self.loss_in_cycle, self.mark_in_cycle) = (false, false);
        (self.bandwidth, self.inflight) = (0, 0);
    }

    /// A segment is lost; with the first, a round trip begins (`bbr_note_loss`).
    pub(super) const fn note_loss(&mut self, state: &State) {
        if !self.loss_in_round {
            self.round_end = state.delivered;
        }
        (self.loss_in_round, self.loss_in_cycle) = (true, true);
    }

    /// Takes in an acknowledgement (`bbr_update_latest_delivery_signals`).
    pub(super) fn note_delivery(&mut self, state: &State, sample: &RateSample, rate: Option<u64>) {
        self.round_start = false;
        let (Some(rate), Some((delivered, _))) = (rate, sample.rate) else { return };
        if sample.delivered == 0 {
            return;
        }
        self.bandwidth = self.bandwidth.max(rate);
        self.inflight = self.inflight.max(delivered);
        if sample.prior_delivered >= self.round_end {
            self.round_end = state.delivered;
            self.round_start = true;
        }
    }

    /// After an acknowledgement: the next round trip counts from here. If the acknowledgement is of a probe, which may have
    /// repaired the end of a flight, what that flight delivered is kept (`bbr_advance_latest_delivery_signals`).
    pub(super) fn advance(&mut self, sample: &RateSample, rate: Option<u64>) {
        if self.round_start && !sample.probe {
            self.bandwidth = rate.unwrap_or(0);
            self.inflight = sample.rate.map_or(0, |(delivered, _)| delivered);
        }
    }

    /// Counts acknowledgements with losses, and returns whether there were many in a round trip of recovery.
    pub(super) fn count_losses(&mut self, sample: &RateSample, phase: Phase) -> bool {
        self.losses_in_round = (self.losses_in_round + u32::from(sample.lost > 0)).min(15);
        self.round_start && phase == Phase::Recovery && self.losses_in_round >= MANY_LOSSES
    }

    pub(super) const fn end_round_of_losses(&mut self) {
        if self.round_start {
            self.losses_in_round = 0;
        }
    }
}

/// Whether the path is full: the bandwidth has stopped growing (`bbr_check_full_bw_reached`).
#[derive(Clone, Default, Debug)]
pub(super) struct Filling {
    /// Whether it was ever full, and whether it is in this phase.
    pub(super) full: bool,
    pub(super) full_now: bool,
    bandwidth: u64,
    rounds: u32,
}

impl Filling {
    /// Growth counts from this bandwidth on.
    pub(super) const fn restart(&mut self, bandwidth: u64) {
        (self.bandwidth, self.rounds, self.full_now) = (bandwidth, 0, false);
    }

    pub(super) fn judge(&mut self, sample: &RateSample, rate: Option<u64>, round_start: bool) {
        if self.full_now || sample.limited {
            return;
        }
        let rate = rate.unwrap_or(0);
        if rate >= (self.bandwidth * FULL_GROWTH) >> GAIN_BITS {
            self.restart(rate);
        } else if round_start {
            self.rounds += 1;
            self.full_now = self.rounds >= FULL_ROUNDS;
            self.full |= self.full_now;
        }
    }
}
