//! A TCP sender: window, loss detection, retransmission.
//!
//! ```text
//!            3 duplicate ACKs                         all that was out then is acknowledged
//!   Open ------------------------> Recovery ----------------------------------------------> Open
//!     ^  \                            |           (Reno: any new ACK; Tahoe: never enters)
//!     |   `--- time-out <-------------'
//!     `---- slow start from one segment, everything outstanding is sent again in order
//! ```
//!
//! Sources: RFC 5681 (slow start, congestion avoidance, fast retransmit and recovery), RFC 6582 (NewReno),
//! RFC 6675 (SACK), RFC 3042 (limited transmit), RFC 3168 (ECN), RFC 6298 (timer); ns-2.35, tcp.cc, tcp-reno.cc,
//! tcp-newreno.cc, tcp-sack1.cc for what the papers ran. Losses and retransmissions are in
//! `recovery`, the window is in `window`, by the rules of [`crate::tcp::congestion`].
//!
//! # Departures from the sources
//! * After an ECN echo with a window of one segment the next is sent when the ACK comes, not when the timer goes
//!   off (RFC 3168, section 6.1.2).
//! * A transfer's FIN rides on its last segment: the ACK of that ends the connection and its timer, and closing
//!   costs no packet of its own.
//! * Idle is who has nothing outstanding and has sent nothing for a time-out (Linux); RFC 5681, section 4.1, asks
//!   only for the latter, which implies the former as long as the timer runs.
//! * A lost SYN leaves ssthresh as it is (Linux), except in ns-2's presets; RFC 5681 speaks of the first window only.
//! * The optional rules 3 and 4 of `NextSeg` (RFC 6675) are left out: what has fewer than three SACKed segments above
//!   it is not sent again before the timer goes off.
//! * Recovery has no proportional rate reduction (RFC 9937): the window falls at once, as in RFC 5681 and RFC 6675.

mod recovery;
mod window;

use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use crate::tcp::congestion::classic::ClassicControl;
use crate::tcp::{Ack, AckOption, Content, DUP_THRESH, Outbox, Segment};
use aqm::unit::{Span, Time};
use scenario::model::{Flavour, Halved, Profile, SackRecovery};

/// The time-out with which data starts after a lost SYN (RFC 6298, rule 5.7).
const RTO_AFTER_LOST_SYN: Span = Span::s(3);

/// The least slow-start threshold, in segments.
const LEAST_SSTHRESH: f64 = 2.0;

/// No segment has this number.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Open,
    Recovery,
}

/// The sending end of a connection. The fields that every ACK touches come first: with a hundred thousand senders each cache
/// line is waited for.
#[derive(Clone, Debug)]
#[repr(C, align(32))]
pub struct Sender {
    /// The first segment not acknowledged, the next to send, one past the highest ever sent.
    una: u32,
    nxt: u32,
    max: u32,
    /// One past the last segment that the application will send.
    end: u32,
    cwnd: f64,
    ssthresh: f64,
    /// Segments that left the network during recovery, added to the window (RFC 5681, section 3.2, steps 3, 4).
    inflation: u32,
    dup_acks: u32,
    /// Segments sent by limited transmit since the last new ACK.
    limited: u32,
    /// One past the highest segment out when the last loss was detected.
    recover: u32,
    /// When the retransmission timer goes off.
    deadline: Time,
    /// When a segment was last sent.
    sent_at: Time,
    /// The segment that is being timed, and since when ([`Time::MAX`]: none).
    timed_since: Time,
    timed: u32,
    phase: Phase,
    /// Whether this recovery has seen a partial ACK.
    partial: bool,
    say_cwr: bool,
    /// Whether the window was last reduced for a mark.
    marked: bool,
    control: ClassicControl,
    board: Option<Box<Scoreboard>>,
    rtt: RttEstimator,
    // The following fields are for losses and marks.
    /// One past the highest segment out when the window was last reduced: one reduction a window (RFC 3168).
    reduced: u32,
    /// The segment that the timer last went off for, or [`NONE`].
    expired: u32,
    retransmits: u32,
    timeouts: u32,
    syn_lost: bool,
}

const _: () =
    assert!(size_of::<Sender>() <= 160, "a sender must stay small: there may be a hundred thousand");

/// The number of SACKed segments above a hole from which it counts as lost.
const fn lost_above(profile: &Profile) -> u32 {
    match profile.tcp.sack_recovery {
        SackRecovery::Rfc6675 => DUP_THRESH,
        SackRecovery::Sack1 => 1,
    }
}

impl Sender {
    /// A sender that has `segments` of data to send; its clock ticked last `tick_phase` before time zero.
    #[must_use]
    pub fn new(profile: &Profile, segments: u32, tick_phase: Span) -> Self {
        let first = profile.first();
        Self {
            una: first,
            nxt: first,
            max: first,
            end: segments.saturating_add(1),
            cwnd: if profile.tcp.handshake { 1.0 } else { f64::from(profile.initial_window) },
            ssthresh: f64::from(profile.initial_ssthresh),
            inflation: 0,
            dup_acks: 0,
            limited: 0,
            recover: 0,
            deadline: Time::MAX,
            sent_at: Time::ZERO,
            timed_since: Time::MAX,
            timed: 0,
            phase: Phase::Open,
            partial: false,
            say_cwr: false,
            marked: false,
            control: ClassicControl::new(profile),
            board: profile.sack.then(|| Box::new(Scoreboard::new(first))),
            rtt: RttEstimator::new(profile.tcp.initial_rto, tick_phase),
            reduced: 0,
            expired: NONE,
            retransmits: 0,
            timeouts: 0,
            syn_lost: false,
        }
    }

    /// The congestion window in segments.
    #[must_use]
    pub const fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// The slow-start threshold in segments.
    #[must_use]
    pub const fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Segments sent more than once.
    #[must_use]
    pub const fn retransmits(&self) -> u64 {
        self.retransmits as u64
    }

    /// Times that the retransmission timer went off.
    #[must_use]
    pub const fn timeouts(&self) -> u64 {
        self.timeouts as u64
    }

    /// When the retransmission timer goes off; [`Time::MAX`] if not at all.
    #[must_use]
    pub const fn deadline(&self) -> Time {
        self.deadline
    }

    /// The first segment not acknowledged.
    #[must_use]
    pub const fn una(&self) -> u32 {
        self.una
    }

    /// One past the highest segment ever sent.
    #[must_use]
    pub const fn max(&self) -> u32 {
        self.max
    }

    /// One past the last segment that the application will send.
    #[must_use]
    pub const fn end(&self) -> u32 {
        self.end
    }

    /// The smoothed round trip; `None` before the first measurement.
    #[must_use]
    pub fn smoothed(&self, profile: &Profile) -> Option<Span> {
        self.rtt.smoothed(profile)
    }

    /// Whether all that the application has handed over was acknowledged.
    #[must_use]
    #[inline]
    pub const fn is_through(&self) -> bool {
        self.una >= self.end
    }

    /// Opens the connection.
    pub fn on_start(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        self.fill(now, profile, u32::MAX, out);
    }

    /// The application has `segments` more to send.
    pub fn on_data(&mut self, now: Time, profile: &Profile, segments: u32, out: &mut impl Outbox) {
        self.end = self.end.saturating_add(segments);
        if self.una == self.max {
            // The old window no longer describes the path (RFC 5681, section 4.1).
            let idle = now > self.sent_at + self.rtt.timeout(profile);
            if profile.tcp.restart_after_idle && idle {
                self.cwnd = self.cwnd.min(f64::from(profile.restart_window));
            }
        }
        self.release(now, profile, out);
    }

    /// The application has no more data than has been sent.
    pub fn on_stop(&mut self) {
        self.end = self.end.min(self.max.max(1));
    }

    /// Takes in an acknowledgement.
    #[inline]
    pub fn on_ack(&mut self, now: Time, profile: &Profile, ack: &Ack, out: &mut impl Outbox) {
        if ack.next < self.una || ack.next > self.max {
            return;
        }
        let recovering = self.phase == Phase::Recovery;
        let mut news = false;
        if let Some(board) = &mut self.board {
            board.estimate -= 1; // Sack1 counts any ACK as a segment that left
            news = ack.has_blocks() && self.note_blocks(profile, ack.next, ack.blocks);
        }
        if let AckOption::Delay(delay) = ack.option {
            self.control.on_delay(now, delay);
        }
        let echoed = profile.tcp.ecn && ack.ece;
        // At most one reduction a window (RFC 3168, section 6.1.2): an echo of an ACK for less than the first segment
        // after the last reduction, which says CWR, is of before it.
        if echoed && self.phase == Phase::Open && ack.next > self.reduced {
            self.answer_mark(profile);
            (self.reduced, self.marked) = (self.max, true);
        }
        if ack.next > self.una {
            self.on_new_ack(now, profile, ack, echoed, out);
        } else if self.una < self.max && (self.board.is_none() || news) {
            self.on_duplicate_ack(now, profile, out);
        }
        let sack1 = self.is_sack1(profile);
        let quiet = match self.phase {
            // Sack1 sends no more on the ACK that starts recovery than the first segment again.
            Phase::Recovery => sack1 && !recovering,
            // The first duplicates are for limited transmit; Sack1 sends nothing on later ones either.
            Phase::Open => (1..DUP_THRESH).contains(&self.dup_acks) || sack1 && self.dup_acks > 0,
        };
        if !quiet {
            self.release(now, profile, out);
        }
    }

    /// The retransmission timer went off (RFC 6298, rules 5.4 to 5.6; RFC 5681, section 3.1).
    pub fn on_timer(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        if self.una >= self.max {
            self.deadline = Time::MAX;
            return;
        }
        self.timeouts += 1;
        let duplicates = self.dup_acks;
        self.open();
        if profile.tcp.flavour == Flavour::Tahoe {
            self.dup_acks = duplicates; // ns-2 continues to count them, and so releases fewer segments
        }
        self.syn_lost |= self.una == 0;
        if self.lowers_threshold(profile) {
            self.ssthresh = self.kept(profile).floor().max(LEAST_SSTHRESH);
        }
        self.expired = self.una;
        self.cwnd = 1.0;
        (self.recover, self.reduced) = (self.max, self.max);
        (self.marked, self.say_cwr) = (false, profile.tcp.ecn);
        self.nxt = self.una;
        self.timed_since = Time::MAX;
        if let Some(board) = &mut self.board {
            board.clear(self.una);
        }
        self.rtt.back_off();
        self.deadline = now + self.rtt.timeout(profile);
        self.fill(now, profile, u32::MAX, out);
    }

    /// Takes in an ACK that acknowledges something new.
    #[inline]
    fn on_new_ack(&mut self, now: Time, profile: &Profile, ack: &Ack, echoed: bool, out: &mut impl Outbox) {
        self.measure(now, profile, ack);
        let acked = ack.next - self.una;
        let syn = self.una == 0;
        self.una = ack.next;
        self.nxt = self.nxt.max(self.una);
        let sack1 = self.is_sack1(profile);
        if let Some(board) = &mut self.board {
            board.advance(self.una);
            board.judge(lost_above(profile));
        }
        if self.phase == Phase::Recovery && profile.tcp.flavour != Flavour::Reno && ack.next < self.recover {
            self.on_partial_ack(now, profile, acked, out);
            return;
        }
        let recovering = self.phase == Phase::Recovery;
        if recovering && profile.tcp.halved == Halved::Flight {
            self.cwnd = self.ssthresh; // whatever partial ACKs have deflated (RFC 6582, section 3.2, step 3)
        }
        self.open();
        if let Some(board) = self.board.as_mut().filter(|_| sack1) {
            board.clear(self.una);
            if recovering {
                self.recover = 0; // any duplicates may start the next recovery
            }
        }
        self.restart_timer(now, profile);
        if syn {
            self.cwnd = if self.syn_lost { 1.0 } else { f64::from(profile.initial_window) };
            if self.syn_lost && profile.tcp.initial_rto < RTO_AFTER_LOST_SYN {
                self.rtt.restart(RTO_AFTER_LOST_SYN);
            }
        } else if !echoed && (!recovering || profile.grow_after_recovery) {
            self.grow(profile, acked);
        }
    }

    /// Leaves recovery with a window that is not inflated.
    const fn open(&mut self) {
        self.phase = Phase::Open;
        self.partial = false;
        self.inflation = 0;
        self.dup_acks = 0;
        self.limited = 0;
    }

    /// Takes a round trip from an acknowledgement that has one.
    #[inline]
    fn measure(&mut self, now: Time, profile: &Profile, ack: &Ack) {
        let sent = if profile.tcp.timestamps {
            ack.echo
        } else if self.timed_since != Time::MAX && ack.next > self.timed {
            std::mem::replace(&mut self.timed_since, Time::MAX)
        } else {
            return;
        };
        self.rtt.measure(profile, sent, now);
    }

    #[inline]
    fn restart_timer(&mut self, now: Time, profile: &Profile) {
        self.deadline = if self.una < self.max { now + self.rtt.timeout(profile) } else { Time::MAX };
    }

    /// Sends as far as recovery or the window allows.
    // For every ACK: as a call it has more registers to save than work to do.
    #[inline(always)]
    fn release(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        match self.phase {
            Phase::Open => self.fill(now, profile, u32::MAX, out),
            Phase::Recovery if self.board.is_some() => {
                self.fill_pipe(now, profile, profile.recovery_burst, out)
            }
            Phase::Recovery => self.fill(now, profile, profile.recovery_burst, out),
        }
    }

    /// Sends as far as the window allows, at most `burst` segments.
    #[inline(always)] // as `release`
    fn fill(&mut self, now: Time, profile: &Profile, burst: u32, out: &mut impl Outbox) {
        let edge = (self.una + self.window(profile)).min(self.end);
        let mut sent = 0;
        while self.nxt < edge && sent < burst {
            if !self.board.as_ref().is_some_and(|board| board.has(self.nxt)) {
                self.emit(now, profile, self.nxt, out);
                sent += 1;
            }
            self.nxt += 1;
        }
    }

    #[inline(always)] // as `release`
    fn emit(&mut self, now: Time, profile: &Profile, seq: u32, out: &mut impl Outbox) {
        self.sent_at = now;
        let retransmission = seq < self.max;
        if retransmission {
            self.retransmits += 1;
        } else {
            self.max = seq + 1;
            if self.timed_since == Time::MAX {
                (self.timed, self.timed_since) = (seq, now);
            }
        }
        if self.deadline == Time::MAX {
            self.deadline = now + self.rtt.timeout(profile);
        }
        let content = if seq == 0 { Content::Syn } else { Content::Data };
        // Neither a SYN nor a segment sent again may be marked (RFC 3168, sections 6.1.1 and 6.1.5).
        let ect = profile.tcp.ecn && (!retransmission || profile.tcp.ecn_again) && !content.is_syn();
        let cwr = ect && std::mem::take(&mut self.say_cwr);
        // No control here is scalable, and only the receivers of today act on a push.
        out.send(Segment { seq, content, retransmission, cwr, ect, l4s: false, push: false, sent: now });
    }
}
