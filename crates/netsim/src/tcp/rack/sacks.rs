//! The arrived segments, and the losses that follow from them: SACK blocks, acknowledgements, RACK.
//!
//! RACK (RFC 8985): a segment is lost if one that was sent after it has arrived and its own transmission is older than
//! that one's round trip plus a reordering window. The window is zero as long as no reordering was ever seen and three
//! segments are SACKed or a recovery is under way; otherwise it is a quarter of the least round trip, and more after each
//! round trip in which a D-SACK shows that a retransmission was unnecessary.

use super::board::{EVER_RESENT, LOST, RESENT, SACKED};
use super::clock::ticks_of_us;
use super::rate::RateSample;
use super::reordering::Rack;
use super::sender::{AckFlags, Sender};
use super::state::{Phase, State};
use super::timer::Pending;
use crate::tcp::Ack;
use crate::tcp::congestion::CongestionControl as _;
use scenario::model::Profile;

/// The most reordering that is believed (`tcp_max_reordering`).
const MOST_REORDERING: u32 = 300;
/// The additional wait of a timer, in microseconds (`TCP_TIMEOUT_MIN_US`).
pub(super) const LEAST_TIMEOUT_US: u64 = 2000;

impl State {
    /// Counts segments as delivered, under an echo of a mark or not (`tcp_count_delivered`).
    pub(super) const fn count_delivered(&mut self, segments: u32, echo: bool) {
        self.delivered += segments;
        if echo {
            self.delivered_marked += segments;
        }
    }

    /// Takes in an ACK's blocks, and returns how many segments they deliver (`tcp_sacktag_write_queue`).
    pub(super) fn tag(
        &mut self,
        prior_una: u32,
        ack: &Ack,
        flags: &mut AckFlags,
        sample: &mut RateSample,
    ) -> u32 {
        let mut blocks = ack.blocks;
        let count = blocks.iter().filter(|&&(low, high)| low < high).count();
        let blocks = &mut blocks[..count];
        let mut reordered = self.nxt;
        let dsack = is_dsack(blocks, ack.next).then_some(blocks[0]);
        let mut delivered = 0;
        if let Some(block) = dsack {
            delivered = self.note_dsack(block, prior_una, flags);
        }
        if self.board.is_empty() {
            return delivered;
        }
        let dsack = dsack.filter(|_| delivered > 0);
        // In order, as the segments were sent.
        blocks.sort_unstable();
        for &mut block in &mut *blocks {
            if dsack == Some(block) {
                (block.0.max(self.board.base())..block.1.min(self.nxt))
                    .for_each(|seq| self.tag_dsack(seq, &mut reordered));
            }
            for seq in self.board.news(block).into_iter().flatten() {
                if seq >= self.una {
                    delivered += self.tag_one(seq, flags, &mut reordered, sample);
                }
            }
        }
        self.board.remember(std::array::from_fn(|i| blocks.get(i).copied().unwrap_or_default()));
        if self.phase != Phase::Loss || self.undo.marker.is_some() {
            self.check_reordering(reordered, self.board.high_sacked());
        }
        delivered
    }

    /// A D-SACK reports duplicates, because a retransmitted segment was not lost (`tcp_check_dsack`, `tcp_dsack_seen`).
    /// Returns how many, or 0 if they are none of the sender's.
    fn note_dsack(&mut self, (low, high): (u32, u32), prior_una: u32, flags: &mut AckFlags) -> u32 {
        let segments = high - low;
        if segments == 1 && self.probe_end == high {
            flags.probe_dsack = true;
        }
        self.rack.duplicates += segments;
        if self.rack.duplicates > self.resent {
            return 0; // more than were retransmitted: the network has duplicated them
        }
        self.rack.dsack |= self.rack.reordered && !flags.probe_dsack;
        flags.dsack = true;
        if high <= prior_una {
            self.undo.note_dsack(segments, high);
        }
        segments
    }

    /// A D-SACK reports a segment that is still outstanding (`tcp_sacktag_one`).
    fn tag_dsack(&mut self, seq: u32, reordered: &mut u32) {
        let sent = *self.board.get(seq);
        if !sent.ambiguous() {
            return;
        }
        self.undo.note_dsack(1, seq + 1);
        if sent.flags & SACKED != 0 {
            *reordered = seq.min(*reordered);
        }
        self.board.flag(seq, RESENT, 0);
    }

    /// A segment is SACKed for the first time (`tcp_sacktag_one`).
    fn tag_one(
        &mut self,
        seq: u32,
        flags: &mut AckFlags,
        reordered: &mut u32,
        sample: &mut RateSample,
    ) -> u32 {
        let sent = *self.board.get(seq);
        if sent.flags & SACKED != 0 {
            return 0;
        }
        self.rack.advance(self.clock.us, self.rtt.least(), seq, &sent);
        let mut off = sent.flags & LOST;
        if sent.flags & RESENT != 0 {
            // Unless the first was lost, the second is still on its way.
            off |= if off != 0 { RESENT } else { 0 };
        } else if sent.flags & EVER_RESENT == 0 {
            if seq < self.board.high_sacked() {
                *reordered = seq.min(*reordered);
            }
            flags.original |= seq < self.high;
            flags.first_sacked.get_or_insert(sent.at);
            flags.last_sacked = sent.at;
        }
        self.board.flag(seq, off, SACKED);
        flags.sacked = true;
        let sent = *self.board.get(seq);
        self.note_delivery(seq, &sent, sample);
        1
    }

    /// A segment that was not sent again has arrived after one above it (`tcp_check_sack_reordering`).
    pub(super) fn check_reordering(&mut self, low: u32, high: u32) {
        if low >= high {
            return;
        }
        self.rack.reordering = self.rack.reordering.max((high - low).min(MOST_REORDERING));
        self.rack.reordered = true;
    }

    /// The reordering window in microseconds (`tcp_rack_reo_wnd`).
    fn reordering_window(&self) -> u64 {
        if !self.rack.reordered
            && (self.phase >= Phase::Recovery || self.board.sacked >= self.rack.reordering)
        {
            return 0;
        }
        (self.rtt.least() >> 2).saturating_mul(u64::from(self.rack.steps)).min(self.rtt.smoothed())
    }

    /// Judges what must be lost by now, and returns how long, in microseconds, until more may be
    /// (`tcp_rack_detect_loss`).
    pub(super) fn detect_losses(&mut self) -> u64 {
        let window = self.reordering_window();
        let (now, mut wait) = (self.clock.us, 0);
        let (rack, lost, losses) = (&self.rack, &mut self.lost, &mut self.losses);
        self.board.in_order_of_time(|board, seq, sent| {
            if !Rack::after(rack.sent_at, rack.seq, sent.at, seq) {
                return false;
            }
            let remaining = rack.remaining(now, &sent, window);
            if remaining <= 0 {
                if board.lose(seq) {
                    note_loss(seq, lost, losses);
                }
            } else {
                wait = wait.max(remaining as u64);
            }
            true
        });
        wait
    }

    /// Looks for losses if something was delivered since (`tcp_identify_packet_loss`, `tcp_rack_mark_lost`).
    fn identify_losses(&mut self, profile: &Profile, flags: &mut AckFlags) {
        if self.board.is_empty() || !std::mem::take(&mut self.rack.advanced) {
            return;
        }
        let resent = self.board.resent;
        let wait = self.detect_losses();
        if wait > 0 {
            let ticks = ticks_of_us(wait + LEAST_TIMEOUT_US, profile.tcp.tick);
            self.timer.set(&self.clock, Pending::Reordering, ticks.min(self.rtt.rto), profile);
            flags.timer = false;
        }
        flags.resent_lost |= resent > self.board.resent;
    }

    /// Marks outstanding segments lost when the timer expires, except those sent less than a round trip ago
    /// (`tcp_timeout_mark_lost`).
    pub(super) fn lose_at_timeout(&mut self) {
        let reneged = self.board.head().is_some_and(|head| head.flags & SACKED != 0);
        if reneged {
            self.board.forget_sacks();
            self.reneged = true;
        }
        let base = self.board.base();
        for seq in base..base + self.board.len() {
            let recent = self.rack.remaining(self.clock.us, self.board.get(seq), 0) > 0;
            if (reneged || seq == base || !recent) && self.board.lose(seq) {
                note_loss(seq, &mut self.lost, &mut self.losses);
            }
        }
        self.board.hint = None;
    }
}

impl Sender {
    /// Looks for losses after a delivery.
    pub(super) fn identify_losses(&mut self, profile: &Profile, flags: &mut AckFlags) {
        self.state.identify_losses(profile, flags);
        self.report_losses(profile);
    }

    /// Lets the control know of each new loss, in the order in which they were flags.
    pub(super) fn report_losses(&mut self, profile: &Profile) {
        let Some(mut losses) = self.state.losses.take() else { return };
        let before = self.state.lost - losses.len() as u32;
        for (seq, lost) in losses.drain(..).zip(before + 1..) {
            self.control.on_lost(&self.state, profile, seq, lost);
        }
        self.state.losses = Some(losses);
    }

    /// Takes acknowledged segments off the board, and measures the round trip (`tcp_clean_rtx_queue`).
    pub(super) fn take_off(
        &mut self,
        profile: &Profile,
        prior_high: u32,
        flags: &mut AckFlags,
        sample: &mut RateSample,
    ) {
        let state = &mut self.state;
        let (now, high) = (state.clock.us, state.high);
        // A time-out and a probe do not wait for the pace: they count as sent when it would let them go.
        let since = |at: u64| now.saturating_sub(at);
        let (mut first, mut last) = (None, None);
        let mut reordered = state.nxt;
        let mut acked = 0;
        while state.board.base() < state.una {
            let seq = state.board.base();
            let sent = *state.board.get(seq);
            if sent.ambiguous() {
                flags.resent_acked = true;
            } else if sent.flags & SACKED == 0 {
                first.get_or_insert(sent.at);
                last = Some(sent.at);
                reordered = seq.min(reordered);
                flags.original |= seq < high;
            }
            if sent.flags & SACKED == 0 {
                state.count_delivered(1, flags.marked);
                // An echo from before it was sent again is of the first transmission (`tcp_skb_spurious_retrans`).
                let spurious = sent.ambiguous() && echoes_before(state.echo, (sent.at / 1000) as u32);
                if !spurious {
                    state.rack.advance(now, state.rtt.least(), seq, &sent);
                }
            }
            state.note_delivery(seq, &sent, sample);
            state.board.pop();
            acked += 1;
        }
        flags.acked = acked > 0;
        flags.reneging = state.board.head().is_some_and(|head| head.flags & SACKED != 0);
        let mut rtt = first.filter(|_| !flags.resent_acked).map(since);
        let mut latest = last.filter(|_| !flags.resent_acked).map(since);
        let sacked = flags.first_sacked.map(since);
        if sacked.is_some() {
            latest = Some(since(flags.last_sacked));
        }
        rtt = rtt.or(sacked);
        if rtt.is_none() && flags.acked && state.echo != 0 {
            // Karn's rule, but for timestamps (`tcp_rtt_tsopt_us`).
            rtt = Some(1000 * u64::from(state.clock.ms().saturating_sub(state.echo).max(1)));
            latest = rtt;
        }
        sample.rtt = latest;
        if let (Some(rtt), Some(latest)) = (rtt, latest) {
            state.rtt.note_least(profile, &state.clock, latest);
            state.rtt.measure(profile, rtt, state.una, state.nxt);
        }
        if flags.acked {
            flags.timer = true;
            if reordered < prior_high {
                state.check_reordering(reordered, state.board.high_sacked());
            }
        } else if let (Some(sacked), Some(_), Some(head)) = (sacked, rtt, state.board.head())
            && sacked > since(head.at)
        {
            // What was sent after the head was last sent has arrived: the timer may start over.
            flags.timer = true;
        }
        if let Some(latest) = latest {
            self.control.on_rtt(&mut self.state, profile, latest);
        }
    }
}

/// Counts a loss, and keeps it for a control that wants to know of each.
fn note_loss(seq: u32, lost: &mut u32, losses: &mut Option<Vec<u32>>) {
    *lost += 1;
    if let Some(losses) = losses {
        losses.push(seq);
    }
}

/// Whether the first block of an ACK for all below `next` reports a duplicate (RFC 2883, section 4).
fn is_dsack(blocks: &[(u32, u32)], next: u32) -> bool {
    match blocks {
        [(low, _), ..] if *low < next => true,
        [(low, high), (first, end), ..] => first <= low && high <= end,
        _ => false,
    }
}

/// Whether an ACK echoes a timestamp from before `since`, in ms (`tcp_tsopt_ecr_before`).
pub(super) const fn echoes_before(echo: u32, since: u32) -> bool {
    echo != 0 && echo < since
}
