//! The latest delivery, and reordering (RACK, RFC 8985; `tp->rack`, `tp->reordering`).

use super::board::Sent;
use crate::tcp::DUP_THRESH;

/// Recoveries for which a widened reordering window lasts (`TCP_RACK_RECOVERY_THRESH`).
const LASTING: u8 = 16;
/// The latest delivery, and the reordering that was seen.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// When the latest delivered segment was sent, and its number.
    pub(super) sent_at: u64,
    pub(super) seq: u32,
    /// The round trip of the last one delivered, in microseconds.
    pub(super) rtt: u64,
    /// Whether something was delivered since losses were last looked for.
    pub(super) advanced: bool,
    /// The reordering window in quarters of the least round trip, and for how many recoveries more.
    pub(super) steps: u32,
    pub(super) lasting: u8,
    /// Whether a D-SACK came, and how many segments had been delivered when the window was last widened.
    pub(super) dsack: bool,
    pub(super) widened_at: u32,
    /// The extent of reordering, and whether any was seen.
    pub(super) reordering: u32,
    pub(super) reordered: bool,
    /// Segments that D-SACKs have reported, in all.
    pub(super) duplicates: u32,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent_at: 0,
            seq: 0,
            rtt: 0,
            advanced: false,
            steps: 1,
            lasting: 0,
            dsack: false,
            widened_at: 0,
            reordering: DUP_THRESH,
            reordered: false,
            duplicates: 0,
        }
    }
}

impl Rack {
    /// Whether a transmission at `at` of segment `seq` comes after another (`tcp_skb_sent_after`).
    pub(super) const fn after(at: u64, seq: u32, other_at: u64, other: u32) -> bool {
        at > other_at || at == other_at && seq > other
    }

    /// A segment has arrived (`tcp_rack_advance`).
    pub(super) fn advance(&mut self, now: u64, least_rtt: u64, seq: u32, sent: &Sent) {
        let rtt = now.saturating_sub(sent.at);
        // It may be the first transmission that arrived.
        if rtt < least_rtt && sent.ambiguous() {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if Self::after(sent.at, seq, self.sent_at, self.seq) {
            (self.sent_at, self.seq) = (sent.at, seq);
        }
    }

    /// Widens the reordering window if a D-SACK came (`tcp_rack_update_reo_wnd`).
    pub(super) fn widen(&mut self, prior_delivered: u32, delivered: u32) {
        if prior_delivered == 0 {
            return;
        }
        // Once a round trip.
        if prior_delivered < self.widened_at {
            self.dsack = false;
        }
        if self.dsack {
            self.steps = (self.steps + 1).min(255);
            (self.dsack, self.widened_at, self.lasting) = (false, delivered, LASTING);
        } else if self.lasting == 0 {
            self.steps = 1;
        }
    }

    /// Another recovery showed the window to be too short.
    pub(super) fn last_longer(&mut self) {
        self.lasting = (self.lasting + 1).min(LASTING);
    }

    /// The time until a transmission counts as lost, in microseconds (`tcp_rack_skb_timeout`).
    pub(super) fn remaining(&self, now: u64, sent: &Sent, window: u64) -> i64 {
        (self.rtt + window) as i64 - now.saturating_sub(sent.at) as i64
    }
}
