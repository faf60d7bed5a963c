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
//! tcp-newreno.cc, tcp-sack1.cc for what the papers ran. How far the window grows and falls is in
//! [`super::congestion`].
//!
//! # Departures from the sources
//! * After an ECN echo with a window of one segment the next is sent when the ACK comes, not when the timer goes
//!   off (RFC 3168, section 6.1.2).
//! * A transfer's FIN rides on its last segment: the ACK of that ends the connection and its timer, and closing
//!   costs no packet of its own.
//! * Idle is who has nothing outstanding and has sent nothing for a time-out (Linux); RFC 5681, section 4.1, asks
//!   only for the latter, which implies the former as long as the timer runs.
//! * A lost SYN leaves ssthresh as it is (Linux), but for ns-2's presets; RFC 5681 speaks of the first window only.
//! * The optional rules 3 and 4 of `NextSeg` (RFC 6675) are left out: what has fewer than three SACKed segments above
//!   it is not sent again before the timer goes off.
//! * Recovery has no proportional rate reduction (RFC 9937): the window falls at once, as RFC 5681 and RFC 6675 say.

use super::congestion::{Control, Growth, bbr};
use super::rtt::RttEstimator;
use super::scoreboard::Scoreboard;
use super::{Ack, DUP_THRESH, Outbox, Profile, Segment};
use aqm::unit::{Span, Time};
use scenario::model::{Flavour, Halved, LimitedTransmit, SackRecovery};

/// The least slow-start threshold, in segments.
const LEAST_SSTHRESH: f64 = 2.0;
/// The time-out with which data starts after a lost SYN (RFC 6298, rule 5.7).
const RTO_AFTER_LOST_SYN: Span = Span::s(3);

/// SACKed segments above a hole that say it is lost.
const fn lost_above(profile: &Profile) -> u32 {
    match profile.sack_recovery {
        SackRecovery::Rfc6675 => DUP_THRESH,
        SackRecovery::Sack1 => 1,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Open,
    Recovery,
}

/// The sending end of a connection.
#[derive(Clone, Debug)]
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
    /// One past the highest segment out when the window was last reduced: one reduction a window (RFC 3168).
    reduced: u32,
    /// Whether that was for a mark.
    marked: bool,
    phase: Phase,
    /// Whether this recovery has seen a partial ACK.
    partial: bool,
    say_cwr: bool,
    syn_lost: bool,
    /// The segment that is being timed, and since when ([`Time::MAX`]: none).
    timed: u32,
    timed_since: Time,
    rtt: RttEstimator,
    /// When the retransmission timer goes off.
    deadline: Time,
    /// When a segment was last sent.
    sent_at: Time,
    control: Control,
    /// The segment that the timer last went off for.
    expired: Option<u32>,
    board: Option<Box<Scoreboard>>,
    /// What Sack1 takes to be in the network during recovery.
    pipe: i64,
    retransmits: u64,
    timeouts: u64,
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
            cwnd: if profile.handshake { 1.0 } else { f64::from(profile.initial_window) },
            ssthresh: f64::from(profile.initial_ssthresh),
            inflation: 0,
            dup_acks: 0,
            limited: 0,
            recover: 0,
            reduced: 0,
            marked: false,
            phase: Phase::Open,
            partial: false,
            say_cwr: false,
            syn_lost: false,
            timed: 0,
            timed_since: Time::MAX,
            rtt: RttEstimator::new(profile.initial_rto, tick_phase),
            deadline: Time::MAX,
            sent_at: Time::ZERO,
            control: Control::new(profile),
            expired: None,
            board: profile.sack.then(|| {
                let mut board = Scoreboard::default();
                board.clear(first);
                Box::new(board)
            }),
            pipe: 0,
            retransmits: 0,
            timeouts: 0,
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
        self.retransmits
    }

    /// Times that the retransmission timer went off.
    #[must_use]
    pub const fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// When [`Sender::on_timer`] is due; [`Time::MAX`] if not at all.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let [retransmission, pace] = self.deadlines();
        retransmission.min(pace)
    }

    /// When the retransmission timer goes off, and when the pace allows the segment that waits for it.
    #[must_use]
    pub const fn deadlines(&self) -> [Time; 2] {
        [self.deadline, self.control.due()]
    }

    /// The first segment not acknowledged.
    #[must_use]
    pub const fn una(&self) -> u32 {
        self.una
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
            self.cwnd = self.control.on_restart(now, self.cwnd);
            // What the window was says little of the path by now (RFC 5681, section 4.1).
            let idle = now > self.sent_at + self.rtt.timeout(profile);
            if profile.restart_after_idle && idle && !self.control.paced() {
                self.cwnd = self.cwnd.min(f64::from(profile.restart_window));
            }
        }
        self.release(now, profile, out);
    }

    /// The application has nothing more than what was sent already.
    pub fn on_stop(&mut self) {
        self.end = self.end.min(self.max.max(1));
    }

    /// Takes in an acknowledgement.
    pub fn on_ack(&mut self, now: Time, profile: &Profile, ack: &Ack, out: &mut impl Outbox) {
        if ack.next < self.una || ack.next > self.max {
            return;
        }
        let flight = if self.control.paced() { self.flight() } else { 0 };
        let news = self.note_blocks(profile, ack);
        let recovering = self.phase == Phase::Recovery;
        self.pipe -= 1; // Sack1 counts any ACK as a segment that left
        self.control.on_ack(now, profile, ack, self.una, self.nxt);
        let echoed = profile.ecn && ack.ece;
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
        self.steer(now, profile, ack, flight);
        let sack1 = self.is_sack1(profile);
        let quiet = match self.phase {
            // Sack1 sends no more on the ACK that starts recovery than the first segment again.
            Phase::Recovery => sack1 && !recovering,
            Phase::Open if self.control.paced() => false,
            // What the first duplicates release is limited transmit's; Sack1 sends nothing on later ones either.
            Phase::Open => (1..DUP_THRESH).contains(&self.dup_acks) || sack1 && self.dup_acks > 0,
        };
        if !quiet {
            self.release(now, profile, out);
        }
    }

    /// A deadline has come: the pace allows a segment, or the retransmission timer went off (RFC 6298, rules 5.4
    /// to 5.6; RFC 5681, section 3.1).
    pub fn on_timer(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        self.control.on_wake();
        if now < self.deadline {
            self.release(now, profile, out);
            return;
        }
        if self.una >= self.max {
            self.deadline = Time::MAX;
            return;
        }
        self.timeouts += 1;
        let duplicates = self.dup_acks;
        self.open();
        if profile.flavour == Flavour::Tahoe {
            self.dup_acks = duplicates; // ns-2's goes on counting, and so releases fewer segments for them
        }
        self.syn_lost |= self.una == 0;
        if self.lowers_threshold(profile) {
            self.ssthresh = self.kept(profile).floor().max(LEAST_SSTHRESH);
        }
        self.control.on_timeout(self.cwnd);
        self.expired = Some(self.una);
        self.cwnd = 1.0;
        (self.recover, self.reduced) = (self.max, self.max);
        (self.marked, self.say_cwr) = (false, profile.ecn);
        self.nxt = self.una;
        self.timed_since = Time::MAX;
        if let Some(board) = &mut self.board {
            board.clear(self.una);
        }
        self.rtt.back_off();
        self.deadline = now + self.rtt.timeout(profile);
        self.fill(now, profile, u32::MAX, out);
    }

    /// Whether a time-out now lowers ssthresh (RFC 5681, equation 4).
    fn lowers_threshold(&self, profile: &Profile) -> bool {
        if self.control.paced() {
            return false;
        }
        let answered = self.marked && !self.control.marks_are_mild();
        match profile.halved {
            // Only for the first time-out of a segment with data, and not again in the window in which a mark has
            // lowered it (RFC 3168, section 6.1.2).
            Halved::Flight => {
                self.una > 0 && self.expired != Some(self.una) && !(answered && self.una < self.reduced)
            }
            // ns-2 minds neither, and spares ssthresh however long ago the mark was that last reduced the window.
            Halved::Window => !answered,
        }
    }

    fn on_new_ack(&mut self, now: Time, profile: &Profile, ack: &Ack, echoed: bool, out: &mut impl Outbox) {
        let rtt = self.measure(now, profile, ack);
        let acked = ack.next - self.una;
        let syn = self.una == 0;
        self.una = ack.next;
        self.nxt = self.nxt.max(self.una);
        let sack1 = self.is_sack1(profile);
        if let Some(board) = &mut self.board {
            board.advance(self.una);
            board.judge(lost_above(profile));
        }
        if self.phase == Phase::Recovery && profile.flavour != Flavour::Reno && ack.next < self.recover {
            if !self.partial || !profile.impatient || self.board.is_some() {
                self.restart_timer(now, profile);
            }
            self.partial = true;
            self.pipe -= 1; // the segment that filled the hole, and that which was lost
            if self.board.is_none() {
                self.deflate(acked);
                self.emit(now, profile, self.una, out);
            }
            return;
        }
        let recovering = self.phase == Phase::Recovery;
        if recovering && profile.halved == Halved::Flight && !self.control.paced() {
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
            if self.syn_lost && profile.initial_rto < RTO_AFTER_LOST_SYN {
                self.rtt.restart(RTO_AFTER_LOST_SYN);
            }
            if let (Control::Bbr(bbr), Some(rtt)) = (&mut self.control, rtt) {
                bbr.on_open(now, rtt, self.cwnd);
            }
        } else if !echoed && (!recovering || profile.grow_after_recovery) {
            self.grow(now, profile, acked);
        }
    }

    fn on_duplicate_ack(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
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
            // Duplicates of what was sent before the last loss say nothing of a new one (RFC 6582, section 4);
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
        let already_reduced = profile.ecn && self.una < self.reduced && !self.control.marks_are_mild();
        if !already_reduced {
            self.reduce(profile);
        }
        (self.recover, self.reduced) = (self.max, self.max);
        self.marked = false;
        self.timed_since = Time::MAX;
        self.restart_timer(now, profile);
        if profile.flavour == Flavour::Tahoe {
            self.cwnd = 1.0;
            self.nxt = self.una;
            return;
        }
        self.phase = Phase::Recovery;
        self.partial = false;
        if let Some(board) = &mut self.board {
            board.lose_first();
            if self.control.paced() {
                return; // sent like all else, when the pace allows
            }
            board.resend(self.una);
            self.pipe = i64::from(self.max - self.una) - i64::from(DUP_THRESH);
        } else {
            self.inflation = DUP_THRESH;
        }
        self.emit(now, profile, self.una, out);
    }

    /// Leaves recovery with a window that is not inflated.
    const fn open(&mut self) {
        self.phase = Phase::Open;
        self.partial = false;
        self.inflation = 0;
        self.dup_acks = 0;
        self.limited = 0;
    }

    /// A partial ACK takes what it covers out of the inflated window, but for one segment (RFC 6582, 3.2, step 3).
    fn deflate(&mut self, acked: u32) {
        if self.inflation > acked {
            self.inflation -= acked - 1;
        } else {
            self.cwnd = (self.cwnd - f64::from(acked - self.inflation)).max(1.0);
            self.inflation = 1;
        }
    }

    /// Slow start or congestion avoidance, as the control has it.
    fn grow(&mut self, now: Time, profile: &Profile, acked: u32) {
        let flight = self.nxt - self.una + acked;
        // After a time-out an ACK may cover what arrived long ago (RFC 3465, section 2.3).
        let resent = self.una - acked < self.recover;
        let step = if resent { 1 } else { acked.min(profile.slow_start_step) };
        let growth = Growth { now, acked, step, flight, rtt: self.rtt.smoothed(profile) };
        let grown = self.control.grown(profile, self.cwnd, self.ssthresh, &growth);
        self.cwnd = grown.min(f64::from(profile.max_window));
    }

    /// What a loss leaves of the window (RFC 5681, equation 4: half).
    fn kept(&self, profile: &Profile) -> f64 {
        self.control.kept(profile)
            * match profile.halved {
                Halved::Flight => f64::from((self.nxt - self.una).saturating_sub(self.limited)),
                Halved::Window => (self.cwnd + f64::from(self.inflation)).min(f64::from(profile.max_window)),
            }
    }

    fn reduce(&mut self, profile: &Profile) {
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
    fn answer_mark(&mut self, profile: &Profile) {
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

    /// Segments believed to be in the network.
    fn flight(&self) -> u32 {
        match &self.board {
            Some(board) if self.phase == Phase::Recovery => board.pipe(self.max),
            Some(board) => (self.nxt - self.una).saturating_sub(board.sacked()),
            None => (self.nxt - self.una).saturating_sub(self.dup_acks),
        }
    }

    /// Lets BBR set the window; `flight_before` was in the network before this acknowledgement.
    fn steer(&mut self, now: Time, profile: &Profile, ack: &Ack, flight_before: u32) {
        let flight = self.flight();
        let Control::Bbr(control) = &mut self.control else { return };
        let repair = match self.phase {
            Phase::Recovery => bbr::Repair::Recovery,
            Phase::Open if self.una < self.recover => bbr::Repair::Timeout,
            Phase::Open => bbr::Repair::None,
        };
        let losses = self.board.as_ref().map_or(0, |board| board.losses());
        let state = bbr::State { now, repair, flight_before, flight, losses, cwnd: self.cwnd };
        self.cwnd = control.on_ack(ack, &state).min(f64::from(profile.max_window));
    }

    /// Whether this is ns-2's Sack1, which knows of SACK blocks only between duplicates and the end of recovery.
    fn is_sack1(&self, profile: &Profile) -> bool {
        self.board.is_some() && profile.sack_recovery == SackRecovery::Sack1
    }

    fn note_blocks(&mut self, profile: &Profile, ack: &Ack) -> bool {
        // Outside recovery Sack1 reads no blocks of a new ACK, and none from a time-out to the first new ACK.
        let deaf = ack.next > self.una || self.expired == Some(self.una);
        if self.is_sack1(profile) && self.phase == Phase::Open && deaf {
            return false;
        }
        let Some(board) = &mut self.board else { return false };
        let blocks = ack.blocks.iter().filter(|&&(low, high)| low < high && high <= self.max);
        blocks.fold(false, |news, &(low, high)| board.sack(low, high) | news)
    }

    /// Takes a round trip from an acknowledgement that has one, and returns it.
    fn measure(&mut self, now: Time, profile: &Profile, ack: &Ack) -> Option<Span> {
        let sent = if profile.timestamps {
            ack.echo
        } else if self.timed_since != Time::MAX && ack.next > self.timed {
            std::mem::replace(&mut self.timed_since, Time::MAX)
        } else {
            return None;
        };
        self.rtt.measure(profile, sent, now);
        Some(now.since(sent))
    }

    fn restart_timer(&mut self, now: Time, profile: &Profile) {
        self.deadline = if self.una < self.max { now + self.rtt.timeout(profile) } else { Time::MAX };
    }

    fn window(&self, profile: &Profile) -> u32 {
        (self.cwnd as u32 + self.inflation).min(profile.max_window)
    }

    /// Sends what recovery or the window allows.
    fn release(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        let burst = if self.phase == Phase::Recovery { profile.recovery_burst } else { u32::MAX };
        if self.phase == Phase::Recovery && self.board.is_some() {
            self.fill_pipe(now, profile, burst, out);
        } else {
            self.fill(now, profile, burst, out);
        }
        let flight = self.flight();
        if let Control::Bbr(control) = &mut self.control
            && self.nxt >= self.end
            && f64::from(flight) < self.cwnd
        {
            control.on_limited(flight);
        }
    }

    /// Sends what the window allows, at most `burst` segments.
    fn fill(&mut self, now: Time, profile: &Profile, burst: u32, out: &mut impl Outbox) {
        let edge = (self.una + self.window(profile)).min(self.end);
        let mut sent = 0;
        while self.nxt < edge && sent < burst {
            if !self.board.as_ref().is_some_and(|board| board.has(self.nxt)) {
                if !self.control.may_send(now) {
                    return;
                }
                self.emit(now, profile, self.nxt, out);
                sent += 1;
            }
            self.nxt += 1;
        }
    }

    /// Sends lost and new segments while the network has room for them (RFC 6675, section 5, step C).
    fn fill_pipe(&mut self, now: Time, profile: &Profile, burst: u32, out: &mut impl Outbox) {
        let edge = (self.una + profile.max_window).min(self.end);
        for _ in 0..burst {
            let Some(board) = &mut self.board else { return };
            let room = match profile.sack_recovery {
                SackRecovery::Rfc6675 => f64::from(board.pipe(self.max)) + 1.0 <= self.cwnd,
                SackRecovery::Sack1 => self.pipe < self.cwnd as i64,
            };
            if !room {
                return;
            }
            let lost = board.next_lost();
            if lost.is_none() && self.nxt >= edge || !self.control.may_send(now) {
                return;
            }
            if let Some(seq) = lost {
                board.resend(seq);
                self.emit(now, profile, seq, out);
            } else {
                self.emit(now, profile, self.nxt, out);
                self.nxt += 1;
            }
            self.pipe += 1;
        }
    }

    /// A duplicate ACK below the threshold releases a segment (RFC 3042).
    fn transmit_limited(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        let allowed = match profile.limited_transmit {
            LimitedTransmit::Off => false,
            LimitedTransmit::New => self.nxt == self.max,
            LimitedTransmit::Next => true,
        };
        let edge =
            (self.una + profile.max_window).min(self.una + self.cwnd as u32 + self.dup_acks).min(self.end);
        if allowed && self.nxt < edge && self.control.may_send(now) {
            self.emit(now, profile, self.nxt, out);
            self.nxt += 1;
            self.limited += 1;
        }
    }

    fn emit(&mut self, now: Time, profile: &Profile, seq: u32, out: &mut impl Outbox) {
        self.control.on_send(now, seq, self.una == self.max);
        self.sent_at = now;
        let again = seq < self.max;
        if again {
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
        let syn = seq == 0;
        // Neither a SYN nor a segment sent again may be marked (RFC 3168, sections 6.1.1 and 6.1.5).
        let ect = profile.ecn && !again && !syn;
        let cwr = ect && std::mem::take(&mut self.say_cwr);
        let l4s = ect && profile.l4s;
        out.send(Segment { seq, syn, again, cwr, ect, l4s, sent: now });
    }
}
