//! How fast segments are delivered: one sample for each acknowledgement.
//!
//! A sample is of the latest segment that is delivered. It counts the segments delivered between the sending and the delivery
//! of that one, and divides them by the time in which they were sent or in which they were acknowledged, whichever is longer.
//!
//! Sources: Linux 7.2, `tcp_rate_skb_sent`, `tcp_rate_skb_delivered`, `tcp_rate_gen`;
//! draft-cheng-iccrg-delivery-rate-estimation.

use super::board::{SACKED, Sent};
use super::state::State;

/// The sample of the rate that an acknowledgement gives.
#[derive(Clone, Copy, Default, Debug)]
pub struct RateSample {
    /// Segments delivered over `interval`, in microseconds; `None` without a valid sample.
    pub rate: Option<(u32, u64)>,
    /// Segments that had been delivered when the sample's latest was sent; 0 where no segment was delivered.
    pub prior_delivered: u32,
    /// When the last delivery before the sending of that segment was; 0 where there is no sample.
    pub(in crate::tcp) prior_at: u64,
    /// The time in which the sample's segments were sent.
    pub(in crate::tcp) sending: u64,
    pub(in crate::tcp) latest: u32,
    /// Whether the application limited the rate.
    pub limited: bool,
    /// The round trip of the segment acknowledged or SACKed last, in microseconds.
    pub rtt: Option<u64>,
    /// Segments delivered and segments found lost by this acknowledgement.
    pub delivered: u32,
    /// See `delivered`.
    pub lost: u32,
    /// Whether it echoes a mark, and how many segments it says were marked.
    pub echo: bool,
    /// See `echo`.
    pub marked: u32,
    /// Whether it acknowledges a tail loss probe or the segment that the probe repeats, and it is not known which.
    pub probe: bool,
    /// Segments in the network before it.
    pub prior_in_flight: u32,
}

impl State {
    /// The record of a segment that is sent at `at`, in microseconds.
    #[inline]
    pub(super) fn record(&mut self, at: u64) -> Sent {
        if self.board.is_empty() {
            (self.first_at, self.delivered_at) = (at, at);
        }
        Sent {
            at,
            delivered_at: self.delivered_at,
            first_at: self.first_at,
            delivered: self.delivered,
            flags: 0,
            limited: self.limited_until != 0,
        }
    }

    /// Notes whether there is more room than data (`tcp_rate_check_app_limited`).
    pub(super) fn note_limit(&mut self) {
        let in_flight = self.board.in_flight();
        if self.nxt >= self.end.min(self.fin) && in_flight < self.cwnd && self.board.lost <= self.board.resent
        {
            self.limited_until = (self.delivered + in_flight).max(1);
        }
    }

    /// A segment was acknowledged or SACKed.
    #[inline]
    pub(super) fn note_delivery(&mut self, seq: u32, sent: &Sent, sample: &mut RateSample) {
        if sent.delivered_at == 0 {
            return;
        }
        let later = sent.at > self.first_at || sent.at == self.first_at && seq > sample.latest;
        if sample.prior_delivered == 0 || later {
            sample.prior_delivered = sent.delivered;
            sample.prior_at = sent.delivered_at;
            sample.limited = sent.limited;
            sample.latest = seq;
            self.first_at = sent.at;
            sample.sending = sent.at.saturating_sub(sent.first_at);
        }
        if sent.flags & SACKED != 0 {
            self.board.note_delivered(seq);
        }
    }

    /// Completes an acknowledgement's sample.
    pub(super) fn sample(&mut self, delivered: u32, lost: u32, sample: &mut RateSample) {
        if self.limited_until != 0 && self.delivered > self.limited_until {
            self.limited_until = 0;
        }
        if delivered > 0 {
            self.delivered_at = self.clock.us;
        }
        (sample.delivered, sample.lost) = (delivered, lost);
        if sample.prior_at == 0 || self.reneged {
            return;
        }
        let interval = sample.sending.max(self.clock.us.saturating_sub(sample.prior_at));
        if interval >= self.rtt.least() {
            sample.rate = Some((self.delivered - sample.prior_delivered, interval));
        }
    }
}
