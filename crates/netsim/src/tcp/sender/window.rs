//! How a sender's window grows, and what is left of it.

use super::{Phase, Sender};
use crate::tcp::congestion::{Control, Growth, bbr};
use crate::tcp::{Ack, Profile};
use aqm::unit::Time;
use scenario::model::Halved;

/// The least slow-start threshold, in segments.
pub(super) const LEAST_SSTHRESH: f64 = 2.0;

impl Sender {
    /// Slow start or congestion avoidance, as the control has it.
    #[inline]
    pub(super) fn grow(&mut self, now: Time, profile: &Profile, acked: u32) {
        let flight = self.nxt - self.una + acked;
        // After a time-out an ACK may cover what arrived long ago (RFC 3465, section 2.3).
        let resent = self.una - acked < self.recover;
        let step = if resent { 1 } else { acked.min(profile.slow_start_step) };
        let growth = Growth { now, acked, step, flight, rtt: self.rtt.smoothed(profile) };
        let grown = self.control.grown(profile, self.cwnd, self.ssthresh, &growth);
        self.cwnd = grown.min(f64::from(profile.max_window));
    }

    /// What a loss leaves of the window (RFC 5681, equation 4: half).
    pub(super) fn kept(&self, profile: &Profile) -> f64 {
        self.control.kept(profile)
            * match profile.halved {
                Halved::Flight => f64::from((self.nxt - self.una).saturating_sub(self.limited)),
                Halved::Window => (self.cwnd + f64::from(self.inflation)).min(f64::from(profile.max_window)),
            }
    }

    pub(super) fn reduce(&mut self, profile: &Profile) {
        let kept = self.kept(profile);
        self.control.on_loss(profile, self.cwnd);
        self.say_cwr = profile.ecn;
        if self.control.paced() {
            return;
        }
        self.ssthresh = kept.floor().max(LEAST_SSTHRESH);
        self.cwnd = match profile.halved {
            Halved::Flight => self.ssthresh,
            Halved::Window => kept.max(1.0),
        };
    }

    /// Reduces the window for a mark.
    pub(super) fn answer_mark(&mut self, profile: &Profile) {
        if let Some(window) = self.control.after_mark(self.cwnd) {
            if window < self.cwnd {
                self.ssthresh = window.max(LEAST_SSTHRESH);
                self.cwnd = self.cwnd.min(self.ssthresh);
            }
            self.say_cwr = true;
            return;
        }
        // An echo may bring the window down to one segment; a loss not below two.
        let least = self.kept(profile).floor().max(1.0);
        self.reduce(profile);
        self.cwnd = self.cwnd.min(least);
    }

    /// Tells BBR that the application has nothing to send, if that is what limits it.
    pub(super) fn tell_limited(&mut self) {
        let flight = self.flight();
        if let Control::Bbr(control) = &mut self.control
            && f64::from(flight) < self.cwnd
        {
            control.on_limited(flight);
        }
    }

    /// Whether a time-out now lowers ssthresh (RFC 5681, equation 4).
    pub(super) fn lowers_threshold(&self, profile: &Profile) -> bool {
        if self.control.paced() {
            return false;
        }
        let answered = self.marked && !self.control.marks_are_mild();
        match profile.halved {
            // Only for the first time-out of a segment with data, and not again in the window in which a mark has
            // lowered it (RFC 3168, section 6.1.2).
            Halved::Flight => {
                self.una > 0 && self.expired != self.una && !(answered && self.una < self.reduced)
            }
            // ns-2 minds neither, and spares ssthresh however long ago the mark was that last reduced the window.
            Halved::Window => !answered,
        }
    }

    /// Segments believed to be in the network.
    // Only BBR asks; within `on_ack` the compiler would work it out before it knows whether anybody does.
    #[inline(never)]
    pub(super) fn flight(&self) -> u32 {
        match &self.board {
            Some(board) if self.phase == Phase::Recovery => board.pipe(self.max),
            Some(board) => (self.nxt - self.una).saturating_sub(board.sacked()),
            None => (self.nxt - self.una).saturating_sub(self.dup_acks),
        }
    }

    /// Lets BBR set the window; `flight_before` was in the network before this acknowledgement.
    pub(super) fn steer(&mut self, now: Time, profile: &Profile, ack: Ack, flight_before: u32) {
        let flight = self.flight();
        let Control::Bbr(control) = &mut self.control else { return };
        let repair = match self.phase {
            Phase::Recovery => bbr::Repair::Recovery,
            Phase::Open if self.una < self.recover => bbr::Repair::Timeout,
            Phase::Open => bbr::Repair::None,
        };
        let losses = self.board.as_ref().map_or(0, |board| board.losses());
        let state = bbr::State { now, repair, flight_before, flight, losses, cwnd: self.cwnd };
        self.cwnd = control.on_ack(&ack, &state).min(f64::from(profile.max_window));
    }

    #[inline]
    pub(super) fn window(&self, profile: &Profile) -> u32 {
        (self.cwnd as u32 + self.inflation).min(profile.max_window)
    }
}
