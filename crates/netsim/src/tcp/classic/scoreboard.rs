//! Which outstanding segments the receiver has (SACK), which are lost, which were sent again (RFC 6675).

use crate::tcp::{Blocks, NO_BLOCKS};
use std::collections::VecDeque;

const SACKED: u8 = 1;
const LOST: u8 = 2;
const RESENT: u8 = 4;

/// A flag byte for every outstanding segment, and how many carry each flag.
#[derive(Clone, Default, Debug)]
pub struct Scoreboard {
    /// The first outstanding segment.
    una: u32,
    flags: VecDeque<u8>,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// One past the highest segment that was SACKed.
    high_sacked: u32,
    /// All below are judged: SACKed or lost.
    judged: u32,
    /// No lost segment below waits to be sent again.
    next_lost: u32,
    /// The segments in the network during recovery by ns-2's Sack1; the sender counts them.
    pub(super) estimate: i64,
    /// The blocks of the last ACK, the last first: segments that they cover are already known.
    known: Blocks,
}

impl Scoreboard {
    /// Nothing is outstanding; `una` is the first segment.
    #[must_use]
    pub fn new(una: u32) -> Self {
        let mut board = Self::default();
        board.clear(una);
        board
    }

    /// Forgets everything (a time-out: the receiver may have reneged, RFC 2018, section 8).
    pub fn clear(&mut self, una: u32) {
        self.flags.clear();
        self.known = NO_BLOCKS;
        (self.una, self.high_sacked, self.judged, self.next_lost) = (una, una, una, una);
        (self.sacked, self.lost, self.resent) = (0, 0, 0);
    }

    /// Moves the left edge to `una`.
    pub fn advance(&mut self, una: u32) {
        for _ in self.una..una {
            let Some(flags) = self.flags.pop_front() else { break };
            self.count(flags, 0);
        }
        self.una = self.una.max(una);
        self.high_sacked = self.high_sacked.max(una);
        self.judged = self.judged.max(una);
        self.next_lost = self.next_lost.max(una);
    }

    /// Takes in that the receiver has `[low, high)`, and returns whether that was news.
    pub fn sack(&mut self, low: u32, high: u32) -> bool {
        let before = self.sacked;
        // A block mostly repeats the previous one: only the new part is recorded.
        let within = |&&(first, end): &&(u32, u32)| first < end && low <= first && end <= high;
        let (first, end) = self.known.iter().find(within).copied().unwrap_or((high, high));
        for seq in (low.max(self.una)..first).chain(end.max(self.una)..high) {
            self.put(seq, |_| SACKED);
        }
        self.high_sacked = self.high_sacked.max(high);
        let [last, before_last, _] = self.known;
        self.known = [(low, high), last, before_last];
        self.sacked > before
    }

    /// Judges every hole with `threshold` SACKed segments above it as lost (`IsLost`).
    pub fn judge(&mut self, threshold: u32) {
        if self.sacked < threshold {
            return;
        }
        let (mut above, mut edge) = (0, self.high_sacked);
        while edge > self.judged && above < threshold {
            edge -= 1;
            above += u32::from(self.flags_of(edge) & SACKED != 0);
        }
        if above == threshold {
            for seq in self.judged..edge {
                self.put(seq, |flags| if flags & SACKED == 0 { flags | LOST } else { flags });
            }
            self.judged = self.judged.max(edge);
        }
    }

    /// Marks the first outstanding segment as lost because of duplicate ACKs, whatever is above it.
    pub fn lose_first(&mut self) {
        self.put(self.una, |flags| if flags & SACKED == 0 { flags | LOST } else { flags });
    }

    /// Segments believed to be in the network (`SetPipe`), of those below `max`.
    #[must_use]
    pub fn pipe(&self, max: u32) -> u32 {
        max - self.una - self.sacked - self.lost + self.resent
    }

    /// The first lost segment that was not sent again (`NextSeg`, rule 1).
    pub fn next_lost(&mut self) -> Option<u32> {
        while self.next_lost < self.judged {
            if self.flags_of(self.next_lost) & (SACKED | LOST | RESENT) == LOST {
                return Some(self.next_lost);
            }
            self.next_lost += 1;
        }
        None
    }

    /// Notes that `seq` was sent again.
    pub fn resend(&mut self, seq: u32) {
        self.put(seq, |flags| flags | RESENT);
    }

    /// Whether `seq` is SACKed.
    #[must_use]
    pub fn has(&self, seq: u32) -> bool {
        self.flags_of(seq) & SACKED != 0
    }

    fn flags_of(&self, seq: u32) -> u8 {
        self.flags.get((seq - self.una) as usize).copied().unwrap_or(0)
    }

    fn put(&mut self, seq: u32, change: impl Fn(u8) -> u8) {
        let i = (seq - self.una) as usize;
        if self.flags.len() <= i {
            self.flags.resize(i + 1, 0);
        }
        let before = self.flags[i];
        let after = change(before);
        self.flags[i] = after;
        self.count(before, after);
    }

    const fn count(&mut self, before: u8, after: u8) {
        self.sacked = self.sacked + (after & SACKED != 0) as u32 - (before & SACKED != 0) as u32;
        self.lost = self.lost + (after & LOST != 0) as u32 - (before & LOST != 0) as u32;
        self.resent = self.resent + (after & RESENT != 0) as u32 - (before & RESENT != 0) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(una: u32) -> Scoreboard {
        Scoreboard::new(una)
    }

    #[test]
    fn a_hole_is_lost_once_three_segments_arrived_above_it() {
        let mut board = board(10);
        assert!(board.sack(11, 13));
        board.judge(3);
        assert_eq!(board.next_lost(), None);
        assert!(board.sack(14, 15));
        board.judge(3);
        assert_eq!(board.next_lost(), Some(10), "11, 12 and 14 are above 10");
        // Of 10..20: 3 arrived, 1 lost; 13 has only one above it and still counts as in the network.
        assert_eq!(board.pipe(20), 6);
        board.resend(10);
        assert_eq!((board.next_lost(), board.pipe(20)), (None, 7));
    }

    #[test]
    fn an_old_block_is_no_news() {
        let mut board = board(0);
        assert!(board.sack(5, 7));
        assert!(!board.sack(5, 7));
        board.advance(8);
        assert!(!board.sack(5, 7));
        assert_eq!(board.pipe(10), 2);
    }

    #[test]
    fn counters_agree_with_a_naive_model() {
        use proptest::prelude::*;
        let op = (0u8..4, 0u32..40, 1u32..6);
        proptest!(|(ops in proptest::collection::vec(op, 0..200))| {
            let (mut board, mut una, max) = (board(0), 0u32, 64u32);
            let (mut sacked, mut lost, mut resent) = ([false; 64], [false; 64], [false; 64]);
            for (what, at, len) in ops {
                match what {
                    0 => { una = (una + len / 3).min(50); board.advance(una); }
                    1 => {
                        let (low, high) = ((una + 1 + at % 10).min(60), (una + 1 + at % 10 + len).min(64));
                        board.sack(low, high);
                        for s in low..high { sacked[s as usize] = true; lost[s as usize] = false; resent[s as usize] = false; }
                        board.judge(3);
                        for s in una..max {
                            let above = (s + 1..max).filter(|&a| sacked[a as usize]).count();
                            if above >= 3 && !sacked[s as usize] { lost[s as usize] = true; }
                        }
                    }
                    2 => if let Some(seq) = board.next_lost() {
                        let naive = (una..max).find(|&s| lost[s as usize] && !resent[s as usize]);
                        prop_assert_eq!(Some(seq), naive);
                        board.resend(seq);
                        resent[seq as usize] = true;
                    },
                    _ => { board.clear(una); sacked = [false; 64]; lost = [false; 64]; resent = [false; 64]; }
                }
                let count = |set: &[bool; 64]| set[una as usize..].iter().filter(|&&b| b).count() as u32;
                prop_assert_eq!(board.pipe(max), max - una - count(&sacked) - count(&lost) + count(&resent));
            }
        });
    }
}
