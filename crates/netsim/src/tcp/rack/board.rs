//! The outstanding segments: for each its time of sending, and whether it is SACKed, lost or retransmitted.
//!
//! ```text
//! flags    in the network
//! -        1    sent once
//! S        0    SACKed
//! L        0    lost
//! R        2    sent again, although the first is not known to be lost
//! L R      1    lost, and sent again
//! ```

use crate::tcp::{Blocks, NO_BLOCKS};
use std::collections::VecDeque;

/// The receiver has it (`TCPCB_SACKED_ACKED`).
pub const SACKED: u8 = 1;
/// It was sent again and that is in the network (`TCPCB_SACKED_RETRANS`).
pub const RESENT: u8 = 2;
/// It is lost (`TCPCB_LOST`).
pub const LOST: u8 = 4;
/// It was sent again at any time (`TCPCB_EVER_RETRANS`).
pub const EVER_RESENT: u8 = 8;
/// It was the last of several that left at once, and asks the receiver for an answer (`TCPHDR_PSH`).
pub const PUSHED: u8 = 16;

/// A time at which nothing is sent.
const NEVER: u64 = 0;

/// An outstanding segment.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it was last sent, in microseconds.
    pub at: u64,
    /// When the latest delivery before that was, 0 once this one counts as delivered (`tx.delivered_mstamp`).
    pub delivered_at: u64,
    /// When the first of the segments that this one's rate sample spans was sent (`tx.first_tx_mstamp`).
    pub first_at: u64,
    /// The number of segments delivered when it was last sent.
    pub delivered: u32,
    /// [`SACKED`] and so on.
    pub flags: u8,
    /// Whether the application limited the rate then.
    pub limited: bool,
}

const _: () = assert!(size_of::<Sent>() == 32);

impl Sent {
    /// Whether it was ever sent again.
    #[must_use]
    pub const fn ambiguous(&self) -> bool {
        self.flags & (RESENT | EVER_RESENT) != 0
    }

    /// Whether it is lost and was not sent again.
    #[must_use]
    pub const fn is_to_resend(&self) -> bool {
        self.flags & (LOST | SACKED | RESENT) == LOST
    }
}

/// The outstanding segments, and how many carry which flag.
#[derive(Clone, Debug)]
pub struct Board {
    /// The first of them.
    base: u32,
    sent: VecDeque<Sent>,
    /// Each transmission in order of time, as segment and time; segments delivered or sent again since are skipped
    /// (`tsorted_sent_queue`).
    order: VecDeque<(u32, u64)>,
    /// The numbers of segments SACKed, lost, and sent again (`sacked_out`, `lost_out`, `retrans_out`).
    pub sacked: u32,
    /// See `sacked`.
    pub lost: u32,
    /// See `sacked`.
    pub resent: u32,
    /// One past the highest that was SACKed.
    high_sacked: u32,
    /// The position at which the search for the next retransmission continues (`retransmit_skb_hint`).
    pub hint: Option<u32>,
    /// The blocks of the last ACK: segments that they cover are already known (`recv_sack_cache`).
    known: Blocks,
}

impl Board {
    /// Nothing is outstanding; `base` will be the first segment.
    #[must_use]
    pub const fn new(base: u32) -> Self {
        Self {
            base,
            sent: VecDeque::new(),
            order: VecDeque::new(),
            sacked: 0,
            lost: 0,
            resent: 0,
            high_sacked: base,
            hint: None,
            known: NO_BLOCKS,
        }
    }

    /// Frees the memory that is not in use.
    pub fn shrink(&mut self) {
        self.sent.shrink_to_fit();
        self.order.shrink_to_fit();
    }

    /// The first outstanding segment.
    #[must_use]
    #[inline]
    pub const fn base(&self) -> u32 {
        self.base
    }

    /// The number of outstanding segments (`packets_out`).
    #[must_use]
    #[inline]
    pub fn len(&self) -> u32 {
        self.sent.len() as u32
    }

    /// Whether nothing is.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// Segments believed to be in the network (`tcp_packets_in_flight`).
    #[must_use]
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.len() - self.sacked - self.lost + self.resent
    }

    /// One past the highest SACKed segment, or the first outstanding one (`tcp_highest_sack_seq`).
    #[must_use]
    pub fn high_sacked(&self) -> u32 {
        if self.sacked == 0 { self.base } else { self.high_sacked.max(self.base) }
    }

    /// An outstanding segment.
    ///
    /// # Panics
    /// If it is not outstanding.
    #[must_use]
    #[inline]
    pub fn get(&self, seq: u32) -> &Sent {
        &self.sent[(seq - self.base) as usize]
    }

    /// The first outstanding segment's record.
    #[must_use]
    pub fn head(&self) -> Option<&Sent> {
        self.sent.front()
    }

    /// A segment is sent for the first time.
    #[inline]
    pub fn push(&mut self, sent: Sent) {
        self.order.push_back((self.base + self.len(), sent.at));
        self.sent.push_back(sent);
    }

    /// A segment is retransmitted; `in_recovery` if it replaces a lost segment, and is not a loss probe.
    pub fn resend(&mut self, seq: u32, sent: Sent, in_recovery: bool) {
        self.order.push_back((seq, sent.at));
        let i = (seq - self.base) as usize;
        let before = self.sent[i].flags;
        self.sent[i] = Sent { flags: before | sent.flags | EVER_RESENT, ..sent };
        if in_recovery {
            // It may be in the network already: a SYN, or a retransmission by a time-out after an undo.
            self.flag(seq, 0, RESENT);
        }
    }

    /// Takes the first segment off, which was acknowledged.
    pub fn pop(&mut self) -> Option<Sent> {
        let sent = self.sent.pop_front()?;
        if self.hint == Some(self.base) {
            self.hint = None;
        }
        self.base += 1;
        self.sacked -= u32::from(sent.flags & SACKED != 0);
        self.lost -= u32::from(sent.flags & LOST != 0);
        self.resent -= u32::from(sent.flags & RESENT != 0);
        while self.order.front().is_some_and(|&(seq, _)| seq < self.base) {
            self.order.pop_front();
        }
        Some(sent)
    }

    /// Takes off the flags of `seq` and puts on others.
    pub fn flag(&mut self, seq: u32, off: u8, on: u8) {
        let flags = &mut self.sent[(seq - self.base) as usize].flags;
        let before = *flags;
        *flags = before & !off | on;
        let after = *flags;
        let change = |count: &mut u32, flag: u8| {
            *count = *count + u32::from(after & flag != 0) - u32::from(before & flag != 0);
        };
        change(&mut self.sacked, SACKED);
        change(&mut self.lost, LOST);
        change(&mut self.resent, RESENT);
        if on & SACKED != 0 {
            self.high_sacked = self.high_sacked.max(seq + 1);
        }
    }

    /// The segment counts as delivered in rate samples from now on.
    pub fn note_delivered(&mut self, seq: u32) {
        self.sent[(seq - self.base) as usize].delivered_at = 0;
    }

    /// Judges `seq` lost, and returns whether that is a new loss: of the segment, or of its retransmission
    /// (`tcp_mark_skb_lost`).
    pub fn lose(&mut self, seq: u32) -> bool {
        let flags = self.get(seq).flags;
        if flags & SACKED != 0 {
            return false;
        }
        let earlier = match self.hint {
            None => self.resent >= self.lost,
            Some(hint) => seq < hint,
        };
        if earlier {
            self.hint = Some(seq);
        }
        if flags & LOST == 0 {
            self.flag(seq, 0, LOST);
        } else if flags & RESENT != 0 {
            self.flag(seq, RESENT, 0);
        } else {
            return false;
        }
        true
    }

    /// Nothing is lost after all: takes the flag off all segments.
    pub fn unmark_lost(&mut self) {
        self.sent.iter_mut().for_each(|sent| sent.flags &= !LOST);
        self.lost = 0;
        self.hint = None;
    }

    /// The receiver has none of what it SACKed (it reneged).
    pub fn forget_sacks(&mut self) {
        self.sent.iter_mut().for_each(|sent| sent.flags &= !SACKED);
        (self.sacked, self.high_sacked) = (0, self.base);
        self.known = NO_BLOCKS;
    }

    /// The part of this block that the last ACK did not have: up to two runs.
    #[must_use]
    pub fn news(&self, (low, high): (u32, u32)) -> [std::ops::Range<u32>; 2] {
        let low = low.max(self.base);
        let high = high.min(self.base + self.len());
        let within = |&&(first, end): &&(u32, u32)| first < end && low <= first && end <= high;
        match self.known.iter().find(within) {
            Some(&(first, end)) if self.sacked > 0 => [low..first, end..high],
            _ => [low..high, high..high],
        }
    }

    /// Remembers the blocks of an ACK.
    pub fn remember(&mut self, blocks: Blocks) {
        self.known = blocks;
    }

    /// Visits, in order of time, the transmissions that may still be in the network, until `visit` returns false. A transmission
    /// that `visit` judges lost is never visited again, even after [`Board::unmark_lost`]; one that a time-out judged lost may be.
    pub fn in_order_of_time(&mut self, mut visit: impl FnMut(&mut Self, u32, Sent) -> bool) {
        // Transmissions that are over are removed at the front, where that is cheap, and skipped further back.
        while let Some(&(seq, at)) = self.order.front()
            && self.sent_at(seq, at).is_none()
        {
            self.order.pop_front();
        }
        let mut i = 0;
        while let Some(&(seq, at)) = self.order.get(i) {
            if let Some(sent) = self.in_network(seq, at) {
                if !visit(self, seq, sent) {
                    return;
                }
                if self.in_network(seq, at).is_none() {
                    self.order[i].1 = NEVER;
                }
            }
            i += 1;
        }
    }

    /// A segment's record if it was last sent at `at` and is not known to have arrived.
    fn sent_at(&self, seq: u32, at: u64) -> Option<Sent> {
        let sent = self.sent.get(seq.checked_sub(self.base)? as usize)?;
        (sent.at == at && sent.flags & SACKED == 0).then_some(*sent)
    }

    /// The same, if that transmission is not known to be lost.
    fn in_network(&self, seq: u32, at: u64) -> Option<Sent> {
        self.sent_at(seq, at).filter(|sent| sent.flags & (LOST | RESENT) != LOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(at: u64) -> Sent {
        Sent { at, delivered_at: 0, first_at: 0, delivered: 0, flags: 0, limited: false }
    }

    fn board(segments: u64) -> Board {
        let mut board = Board::new(1);
        (1..=segments).for_each(|at| board.push(sent(at)));
        board
    }

    /// A segment as a list without counters would have it.
    #[derive(Clone, Copy)]
    struct Naive {
        at: u64,
        flags: u8,
        /// Judged lost on the way through the order of time.
        judged: bool,
    }

    impl Naive {
        fn in_network(&self) -> bool {
            !self.judged && self.flags & SACKED == 0 && self.flags & (LOST | RESENT) != LOST
        }

        fn lose(&mut self) -> bool {
            if self.flags & SACKED != 0 || self.flags & (LOST | RESENT) == LOST {
                return false;
            }
            self.flags = if self.flags & LOST == 0 { self.flags | LOST } else { self.flags & !RESENT };
            true
        }
    }

    #[test]
    fn counters_and_the_order_of_time_agree_with_a_naive_model() {
        proptest!(|(ops in prop::collection::vec((0u8..10, 0usize..30), 0..200))| {
            let (mut board, mut naive) = (Board::new(1), Vec::<Naive>::new());
            let mut base = 1;
            for (now, (what, at)) in (1..).zip(ops) {
                let i = at.checked_rem(naive.len());
                let seq = base + i.unwrap_or(0) as u32;
                match (what, i) {
                    (0..=2, _) => {
                        board.push(sent(now));
                        naive.push(Naive { at: now, flags: 0, judged: false });
                    }
                    (3, Some(_)) => {
                        prop_assert_eq!(board.pop().unwrap().at, naive.remove(0).at);
                        base += 1;
                    }
                    (4, Some(i)) => {
                        let off = naive[i].flags & LOST;
                        board.flag(seq, off, SACKED);
                        naive[i].flags = naive[i].flags & !off | SACKED;
                    }
                    (5, Some(i)) => prop_assert_eq!(board.lose(seq), naive[i].lose()),
                    (6, Some(i)) if naive[i].flags & SACKED == 0 => {
                        let lost = at.is_multiple_of(2);
                        board.resend(seq, sent(now), lost);
                        let again = if lost { RESENT } else { 0 };
                        naive[i] = Naive { at: now, flags: naive[i].flags | EVER_RESENT | again, judged: false };
                    }
                    (7, Some(_)) => {
                        let mut visited = Vec::new();
                        board.in_order_of_time(|board, seq, sent| {
                            visited.push((seq, sent.at));
                            if seq.is_multiple_of(3) {
                                board.lose(seq);
                            }
                            visited.len() < 5
                        });
                        let mut order: Vec<usize> = (0..naive.len()).filter(|&i| naive[i].in_network()).collect();
                        order.sort_by_key(|&i| naive[i].at);
                        let mut expected = Vec::new();
                        for (n, &i) in order.iter().take(5).enumerate() {
                            let seq = base + i as u32;
                            expected.push((seq, naive[i].at));
                            if seq.is_multiple_of(3) {
                                naive[i].lose();
                                // The last one visited is not looked at again.
                                naive[i].judged = n < 4 && !naive[i].in_network();
                            }
                        }
                        prop_assert_eq!(visited, expected);
                    }
                    (8, _) => {
                        board.unmark_lost();
                        naive.iter_mut().for_each(|segment| segment.flags &= !LOST);
                    }
                    _ => {}
                }
                let count = |flag: u8| naive.iter().filter(|segment| segment.flags & flag != 0).count() as u32;
                prop_assert_eq!([board.sacked, board.lost, board.resent], [SACKED, LOST, RESENT].map(count));
                prop_assert_eq!((board.base(), board.len() as usize), (base, naive.len()));
            }
        });
    }

    #[test]
    fn what_is_lost_is_not_in_the_network_until_it_is_sent_again() {
        let mut board = board(5);
        board.flag(5, 0, SACKED);
        assert!(board.lose(2) && !board.lose(2), "lost once");
        assert_eq!((board.in_flight(), board.high_sacked()), (3, 6));
        board.resend(2, sent(6), true);
        assert_eq!(board.in_flight(), 4);
        board.resend(1, sent(7), false);
        assert_eq!(board.in_flight(), 4, "a probe takes the place of what it repeats");
        assert!(board.lose(2), "and again");
        assert_eq!(board.in_flight(), 3);
        board.forget_sacks();
        assert_eq!((board.in_flight(), board.high_sacked()), (4, 1));
    }

    #[test]
    fn what_is_sent_again_in_the_network_counts_once() {
        let mut board = board(1);
        (2..4).for_each(|at| board.resend(1, sent(at), true));
        assert_eq!(board.in_flight(), 2);
        board.pop();
        assert_eq!(board.in_flight(), 0);
    }

    #[test]
    fn the_search_for_what_is_lost_goes_back_for_an_earlier_loss() {
        let mut board = board(9);
        assert!(board.lose(5));
        assert_eq!(board.hint, Some(5));
        board.hint = Some(7);
        assert!(board.lose(8));
        assert_eq!(board.hint, Some(7));
        assert!(board.lose(3));
        assert_eq!(board.hint, Some(3));
    }

    #[test]
    fn what_the_last_ack_said_is_no_news() {
        let mut board = board(20);
        let nothing = |runs: [std::ops::Range<u32>; 2]| runs.into_iter().all(|run| run.is_empty());
        assert_eq!(board.news((5, 9)), [5..9, 9..9]);
        (5..9).for_each(|seq| board.flag(seq, 0, SACKED));
        board.remember([(5, 9), (0, 0), (0, 0)]);
        assert_eq!(board.news((3, 12)), [3..5, 9..12]);
        assert!(nothing(board.news((5, 9))));
        assert_eq!(board.news((7, 12)), [7..12, 12..12], "it begins within");
        assert_eq!(board.news((19, 30))[0], 19..21, "not sent yet");
    }
}
