//! The growth and the reduction of a sender's window.

use super::{LEAST_SSTHRESH, Sender};
use crate::tcp::congestion::classic::{KEPT, NewAck};
use scenario::model::{Halved, Profile};

impl Sender {
    /// Slow start or congestion avoidance, as the control has it.
    #[inline]
    pub(super) fn grow(&mut self, profile: &Profile, acked: u32) {
        let flight = self.nxt - self.una + acked;
        // After a time-out an ACK may cover segments that arrived long ago (RFC 3465, section 2.3).
        let resent = self.una - acked < self.recover;
        let counted = if resent { 1 } else { acked.min(profile.tcp.slow_start_step) };
        let ack = NewAck { acked, counted, flight };
        let cwnd = self.control.cwnd_after_ack(profile, self.cwnd, self.ssthresh, &ack);
        self.cwnd = cwnd.min(f64::from(profile.tcp.max_window));
    }

    /// The window after a loss (RFC 5681, equation 4: half).
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
