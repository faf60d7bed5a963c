//! How a sender's window grows, and how losses reduce it.

use super::{LEAST_SSTHRESH, Sender};
use crate::tcp::Profile;
use crate::tcp::congestion::CongestionControl as _;
use crate::tcp::congestion::growth::{Growth, KEPT};
use scenario::model::Halved;

impl Sender {
    /// Slow start or congestion avoidance, as the control has it.
    #[inline]
    pub(super) fn grow(&mut self, profile: &Profile, acked: u32) {
        let flight = self.nxt - self.una + acked;
        // After a time-out an ACK may cover what arrived long ago (RFC 3465, section 2.3).
        let resent = self.una - acked < self.recover;
        let step = if resent { 1 } else { acked.min(profile.tcp.slow_start_step) };
        let growth = Growth { acked, step, flight };
        let grown = self.control.grown(profile, self.cwnd, self.ssthresh, &growth);
        self.cwnd = grown.min(f64::from(profile.tcp.max_window));
    }

    /// What a loss leaves of the window (RFC 5681, equation 4: half).
    pub(super) fn kept(&self, profile: &Profile) -> f64 {
        KEPT * match profile.tcp.halved {
            Halved::Flight => f64::from((self.nxt - self.una).saturating_sub(self.limited)),
            Halved::Window => (self.cwnd + f64::from(self.inflation)).min(f64::from(profile.tcp.max_window)),
        }
    }

    pub(super) fn reduce(&mut self, profile: &Profile) {
        let kept = self.kept(profile);
        self.say_cwr = profile.tcp.ecn;
        self.ssthresh = kept.floor().max(LEAST_SSTHRESH);
        self.cwnd = match profile.tcp.halved {
            Halved::Flight => self.ssthresh,
            Halved::Window => kept.max(1.0),
        };
    }

    /// Reduces the window for a mark.
    pub(super) fn answer_mark(&mut self, profile: &Profile) {
        // An echo may bring the window down to one segment; a loss not below two.
        let least = self.kept(profile).floor().max(1.0);
        self.reduce(profile);
        self.cwnd = self.cwnd.min(least);
    }

    /// Whether a time-out now lowers ssthresh (RFC 5681, equation 4).
    pub(super) fn lowers_threshold(&self, profile: &Profile) -> bool {
        match profile.tcp.halved {
            // Only for the first time-out of a segment with data, and not again in the window in which a mark has
            // lowered it (RFC 3168, section 6.1.2).
            Halved::Flight => {
                self.una > 0 && self.expired != self.una && !(self.marked && self.una < self.reduced)
            }
            // ns-2 minds neither, and spares ssthresh however long ago the mark was that last reduced the window.
            Halved::Window => !self.marked,
        }
    }

    #[inline]
    pub(super) fn window(&self, profile: &Profile) -> u32 {
        (self.cwnd as u32 + self.inflation).min(profile.tcp.max_window)
    }
}
