//! A sender's detection of losses, and its retransmissions.

use super::{Phase, Sender, lost_above};
use crate::tcp::{Blocks, DUP_THRESH, Outbox};
use aqm::unit::Time;
use scenario::model::{Flavour, LimitedTransmit, Profile, SackRecovery};

impl Sender {
    /// Takes in an ACK that acknowledges nothing new.
    pub(super) fn on_duplicate_ack(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        self.dup_acks += 1;
        let sack1 = self.is_sack1(profile);
        let lost = match &mut self.board {
            Some(board) => {
                board.judge(lost_above(profile));
                self.dup_acks == DUP_THRESH
                    || !sack1 && (self.dup_acks > DUP_THRESH || board.next_lost().is_some())
            }
            None => self.dup_acks == DUP_THRESH,
        };
        if self.phase == Phase::Recovery {
            self.inflation += u32::from(self.board.is_none());
        } else if lost {
            // Duplicates of segments sent before the last loss are no sign of a new one (RFC 6582, section 4);
            // with SACK it is enough that all of that has arrived (RFC 6675, section 5.1).
            if self.una > self.recover || self.board.is_some() && !sack1 && self.una == self.recover {
                self.fast_retransmit(now, profile, out);
            }
        } else if self.dup_acks < DUP_THRESH {
            self.transmit_limited(now, profile, out);
        }
    }

    /// Halves the window and sends the first outstanding segment again (RFC 5681, section 3.2, steps 2 and 3).
    fn fast_retransmit(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        let already_reduced = profile.tcp.ecn && self.una < self.reduced;
        if !already_reduced {
            self.reduce(profile);
        }
        (self.recover, self.reduced) = (self.max, self.max);
        self.marked = false;
        self.timed_since = Time::MAX;
        self.restart_timer(now, profile);
        if profile.tcp.flavour == Flavour::Tahoe {
            self.cwnd = 1.0;
            self.nxt = self.una;
            return;
        }
        self.phase = Phase::Recovery;
        self.partial = false;
        if let Some(board) = &mut self.board {
            board.lose_first();
            board.resend(self.una);
            board.estimate = i64::from(self.max - self.una) - i64::from(DUP_THRESH);
        } else {
            self.inflation = DUP_THRESH;
        }
        self.emit(now, profile, self.una, out);
    }

    /// An ACK below the data outstanding when the loss was detected has come: the segment it requests is lost too.
    pub(super) fn on_partial_ack(&mut self, now: Time, profile: &Profile, acked: u32, out: &mut impl Outbox) {
        if !self.partial || !profile.tcp.impatient || self.board.is_some() {
            self.restart_timer(now, profile);
        }
        self.partial = true;
        if let Some(board) = &mut self.board {
            board.estimate -= 1; // the segment that filled the hole, and that which was lost
        } else {
            self.deflate(acked);
            self.emit(now, profile, self.una, out);
        }
    }

    /// A partial ACK takes what it covers out of the inflated window, except one segment (RFC 6582, 3.2, step 3).
    fn deflate(&mut self, acked: u32) {
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            self.cwnd = (self.cwnd - f64::from(acked - self.inflation)).max(1.0);
            self.inflation = 1;
        }
    }

    /// Whether this is ns-2's Sack1, which knows of SACK blocks only between duplicates and the end of recovery.
    pub(super) fn is_sack1(&self, profile: &Profile) -> bool {
        self.board.is_some() && profile.tcp.sack_recovery == SackRecovery::Sack1
    }

    /// Takes in the blocks of an ACK for all below `next`, and returns whether they were news.
    pub(super) fn note_blocks(&mut self, profile: &Profile, next: u32, blocks: Blocks) -> bool {
        let Some(board) = &mut self.board else { return false };
        // Outside recovery Sack1 reads no blocks of a new ACK, and none from a time-out to the first new ACK.
        let deaf = next > self.una || self.expired == self.una;
        if profile.tcp.sack_recovery == SackRecovery::Sack1 && self.phase == Phase::Open && deaf {
            return false;
        }
        let blocks = blocks.iter().filter(|&&(low, high)| low < high && high <= self.max);
        blocks.fold(false, |news, &(low, high)| board.sack(low, high) | news)
    }

    /// Sends lost and new segments while the network has room for them (RFC 6675, section 5, step C).
    pub(super) fn fill_pipe(&mut self, now: Time, profile: &Profile, burst: u32, out: &mut impl Outbox) {
        let edge = (self.una + profile.tcp.max_window).min(self.end);
        for _ in 0..burst {
            let Some(board) = &mut self.board else { return };
            let room = match profile.tcp.sack_recovery {
                SackRecovery::Rfc6675 => f64::from(board.pipe(self.max)) + 1.0 <= self.cwnd,
                SackRecovery::Sack1 => board.estimate < self.cwnd as i64,
            };
            if !room {
                return;
            }
            let lost = board.next_lost();
            if lost.is_none() && self.nxt >= edge {
                return;
            }
            board.estimate += 1;
            if let Some(seq) = lost {
                board.resend(seq);
                self.emit(now, profile, seq, out);
            } else {
                self.emit(now, profile, self.nxt, out);
                self.nxt += 1;
            }
        }
    }

    /// A duplicate ACK below the threshold releases a segment (RFC 3042).
    fn transmit_limited(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        let allowed = match profile.tcp.limited_transmit {
            LimitedTransmit::Off => false,
            LimitedTransmit::New => self.nxt == self.max,
            LimitedTransmit::Next => true,
        };
        let edge = (self.una + profile.tcp.max_window)
            .min(self.una + self.cwnd as u32 + self.dup_acks)
            .min(self.end);
        if allowed && self.nxt < edge {
            self.emit(now, profile, self.nxt, out);
            self.nxt += 1;
            self.limited += 1;
        }
    }
}
