//! A receiver as in the Linux kernel: when to acknowledge, and with which blocks.
//!
//! The first segments of a connection, while Linux's receive window would grow (`quick_acks`), and those after
//! trouble are acknowledged one by one (quick ACKs), later every second, or one alone after 40 ms, more where segments come
//! slowly. A segment beyond a gap is acknowledged at once, from the fourth on a millisecond later and together (compressed
//! ACKs); a duplicate is reported (D-SACK), and the segment that fills the last gap is acknowledged at once.
//!
//! Sources: Linux 7.2, `tcp_data_queue`, `tcp_data_queue_ofo`, `tcp_event_data_recv`, `__tcp_ack_snd_check`,
//! `tcp_data_ecn_check` (net/ipv4/tcp_input.c), `tcp_send_delayed_ack` (tcp_output.c), `__tcp_cleanup_rbuf` (tcp.c),
//! `dctcp_ece_ack_update` (tcp_dctcp.h); RFC 2018, 2883, 3168, 8257.
//!
//! # Departures from the source
//! * The application reads at once, and the window itself never changes.
//! * The round trip that bounds a delayed and a compressed ACK is the handshake's (`tcp_synack_rtt_meas`): from the SYN
//!   to what follows.
//! * The ACK of a FIN stands for the receiver's own FIN, and for the ACK that goes out before it if one was due.

mod beyond;
mod merge;
mod paws;

use super::accurate::{Arrived, Field};
use super::clock::{Clock, goes_off, ticks_of};
use crate::tcp::{Ack, Content, Segment};
use aqm::unit::{Span, Time};
use merge::{Held, Joined};
use scenario::model::{MOST_BLOCKS, Profile};

/// Quick ACKs at the start and after trouble, and after a mark (`TCP_MAX_QUICKACKS`).
const QUICK: u8 = 16;
const QUICK_AFTER_MARK: u8 = 2;
/// The longest delay of an ACK (`TCP_DELACK_MAX`).
const LONGEST_DELAY: Span = Span::ms(200);
/// That of one which no round trip bounds (`tcp_send_delayed_ack`: HZ / 2).
const LONGEST_WITHOUT_RTT: Span = Span::ms(500);
/// ACKs beyond a gap that go out at once, and those that may be saved at most (`tcp_comp_sack_nr`).
const UNCOMPRESSED: u8 = 3;
const MOST_COMPRESSED: u8 = 44;
/// A compressed ACK waits for this part of the round trip, at most so long (`tcp_comp_sack_rtt_percent`,
/// `tcp_comp_sack_delay_ns`).
const COMPRESSED_PERCENT: u64 = 33;
const COMPRESSED_DELAY: Span = Span::ms(1);
/// Runs that are remembered for the blocks (`TCP_NUM_SACKS`), and those a compressed ACK can wait with.
const RUNS: usize = 4;
const FEW_RUNS: usize = 2;

/// The receiving end of a connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The next segment in order; the one that the last ACK asked for.
    next: u32,
    acked: u32,
    /// The FIN's number, if it is a segment of its own and has arrived; else [`u32::MAX`].
    fin: u32,
    /// The sending time that ACKs echo.
    stamp: Time,
    /// The segments that have arrived beyond `next`, in order; the same, the latest first, for the blocks.
    beyond: Vec<(u32, u32)>,
    runs: [(u32, u32); RUNS],
    /// The last duplicate.
    dsack: Option<(u32, u32)>,
    /// Whether an ACK is owed; whether it is owed at once; whether the last segment was the last that its sender had.
    owed: bool,
    at_once: bool,
    pushed: bool,
    /// Quick ACKs that are left, and for how many segments the window has grown, each of which is worth one.
    quick: u8,
    grown: u32,
    /// The delay of an ACK in ticks; 0 before the first segment.
    delay: u32,
    /// When the last segment in order came, in ticks.
    came: u32,
    /// The tick at which the delayed ACK expires, and when that goes off.
    expires: u32,
    due: Time,
    /// Compressed ACKs: how many were saved, at which `next` that began, how many duplicates went out before, and when the
    /// next is due.
    saved: u8,
    saved_for: u32,
    duplicates: u8,
    compressed_due: Time,
    /// When the SYN came, and the round trip of the handshake.
    syn: Time,
    rtt: Span,
    /// Whether ECE is set; whether an ECN-capable segment has ever arrived.
    echo: bool,
    capable: bool,
    /// DCTCP: the next segment when the last one came, and whether that was marked.
    before: u32,
    marked: bool,
    /// Accurate ECN: what it reports, and the time, on which that depends.
    arrived: Arrived,
    now: Time,
    held: Held,
}

impl Receiver {
    /// Before anything arrived; `first` is the number of the first segment.
    #[must_use]
    pub fn new(first: u32) -> Self {
        Self {
            next: first,
            acked: first,
            fin: u32::MAX,
            stamp: Time::ZERO,
            beyond: Vec::new(),
            runs: [(0, 0); RUNS],
            dsack: None,
            owed: false,
            at_once: false,
            pushed: false,
            quick: 0,
            grown: 0,
            delay: 0,
            came: 0,
            expires: 0,
            due: Time::MAX,
            saved: 0,
            saved_for: 0,
            duplicates: 0,
            compressed_due: Time::MAX,
            syn: Time::MAX,
            rtt: Span::ZERO,
            echo: false,
            capable: false,
            before: first,
            marked: false,
            arrived: Arrived::default(),
            now: Time::ZERO,
            held: Held::default(),
        }
    }

    /// Data segments that arrived in order: all but segment 0, the SYN, and the FIN.
    #[must_use]
    #[inline]
    pub fn delivered(&self) -> u32 {
        self.next.min(self.fin).saturating_sub(1)
    }

    /// Data segments that arrived beyond a gap.
    #[must_use]
    pub fn beyond(&self) -> u32 {
        let all: u32 = self.beyond.iter().map(|(low, high)| high - low).sum();
        all - u32::from((self.next..u32::MAX).contains(&self.fin))
    }

    /// One past the last segment that arrived in order.
    #[must_use]
    pub const fn next(&self) -> u32 {
        self.next
    }

    /// When a delayed or compressed ACK is due, or segments that wait are; [`Time::MAX`] if none.
    #[must_use]
    #[inline]
    pub fn deadline(&self) -> Time {
        self.due.min(self.compressed_due).min(self.held.until)
    }

    /// Whether nothing has arrived, not even the SYN.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        self.next == 0
    }

    /// Takes in a segment, and hands over the ACKs that it calls for at once.
    pub fn on_segment(
        &mut self,
        now: Time,
        profile: &Profile,
        segment: &Segment,
        ce: bool,
        mut send: impl FnMut(Ack),
    ) {
        if profile.tcp.receive_offload > Span::ZERO {
            return self.held.push(now, profile, segment, ce);
        }
        let clock = Clock::at(now, profile.tcp.tick);
        if self.take_in(&clock, profile, &Joined { segment: *segment, end: segment.seq + 1, ce }, &mut send) {
            self.answer(&clock, profile, true, &mut send);
        }
    }

    /// Takes in segments; whether an ACK may be owed.
    #[inline(always)]
    fn take_in(
        &mut self,
        clock: &Clock,
        profile: &Profile,
        joined: &Joined,
        send: &mut impl FnMut(Ack),
    ) -> bool {
        let (now, segment) = (clock.now, &joined.segment);
        if segment.content.is_syn() {
            self.on_syn(now, profile, segment, joined.ce, send);
            return false;
        }
        if self.syn != Time::MAX && self.rtt == Span::ZERO {
            self.rtt = now - self.syn;
        }
        if segment.sent < self.stamp && self.throws_away(profile, joined) {
            return true;
        }
        if segment.seq <= self.acked && !self.is_past(joined) && segment.sent >= self.stamp {
            self.stamp = segment.sent;
        }
        if profile.tcp.ecn {
            self.heed_field(now, profile, joined);
        }
        match segment.content {
            Content::Ack => return false,
            Content::Fin => self.fin = segment.seq,
            Content::Data | Content::Syn => {}
        }
        if segment.seq > self.next {
            self.take_beyond(profile, joined, send);
        } else if joined.end > self.next {
            self.take_next(clock, profile, joined, send);
        } else {
            self.dsack = Some((segment.seq, joined.end));
            self.hurry(QUICK, profile);
            (self.owed, self.at_once) = (true, true);
        }
        true
    }

    /// The handshake: the SYN's ACK goes out at once, again if it comes again.
    #[cold]
    #[inline(never)]
    fn on_syn(
        &mut self,
        now: Time,
        profile: &Profile,
        segment: &Segment,
        ce: bool,
        send: &mut impl FnMut(Ack),
    ) {
        let first = self.next == 0;
        if first {
            (self.next, self.acked, self.before) = (1, 1, 1);
        }
        if self.next == 1 {
            self.syn = now;
        }
        self.stamp = self.stamp.max(segment.sent);
        // Whether or not there will be ECN: the listening socket has its control's codepoint (`tcp_v4_send_synack`).
        let ect = profile.tcp.congestion.needs_marks();
        let l4s = ect && profile.is_scalable();
        let mut ack = Ack { next: self.next, echo: segment.sent, ect, l4s, ..Ack::default() };
        if profile.is_accurate() {
            let (ace, option) = self.arrived.on_syn(profile, segment, ce, first);
            (ack.marks, ack.option) = (Some(ace), option);
        }
        send(ack);
    }

    /// Whether ACKs are sent Not-ECT although there is ECN.
    #[must_use]
    pub const fn distrusts(&self) -> bool {
        self.arrived.distrusts
    }

    /// Whether segments end below the last ACK: neither their timestamp nor their ECN field is looked at (`tcp_sequence`).
    const fn is_past(&self, joined: &Joined) -> bool {
        joined.end < self.acked
    }

    /// The ECN field of segments, before they themselves (`tcp_ecn_accept_cwr`, `tcp_ecn_received_counters`).
    #[inline(never)]
    fn heed_field(&mut self, now: Time, profile: &Profile, joined: &Joined) {
        let segment = &joined.segment;
        if profile.is_accurate() {
            self.now = now;
            if !self.is_past(joined) {
                let data = segment.content == Content::Data;
                let changes = self.arrived.on_segments(Field::of(segment, joined.ce), joined.count(), data);
                self.at_once |= changes && segment.content != Content::Ack;
            }
            if segment.seq < self.next {
                self.arrived.on_repeat(segment.seq);
            }
        } else if segment.cwr {
            // Acknowledged at once, because the sender's window may be very small.
            (self.echo, self.at_once) = (false, true);
        }
    }

    /// The next segments in order (`tcp_data_queue`, `tcp_event_data_recv`).
    fn take_next(&mut self, clock: &Clock, profile: &Profile, joined: &Joined, send: &mut impl FnMut(Ack)) {
        let segment = &joined.segment;
        if segment.seq < self.next {
            self.dsack = Some((segment.seq, self.next));
        }
        self.next = joined.end;
        self.owed = true;
        if segment.content == Content::Fin {
            self.at_once = true;
        } else {
            self.pushed |= segment.push;
            self.adapt_delay(clock, profile, joined.count());
            self.heed_mark(profile, joined, send);
        }
        while let Some(&(low, high)) = self.beyond.first()
            && low <= self.next
        {
            self.next = self.next.max(high);
            self.beyond.remove(0);
            // RFC 5681, section 4.2: a segment that fills the gap is acknowledged at once.
            self.at_once |= self.beyond.is_empty();
        }
        let next = self.next;
        if self.runs[0] != (0, 0) {
            let mut left = self.runs.into_iter().filter(|&(low, _)| low > next);
            self.runs = std::array::from_fn(|_| left.next().unwrap_or_default());
        }
    }

    /// Adapts the delay of ACKs to the gaps between segments; `count` have come at once.
    fn adapt_delay(&mut self, clock: &Clock, profile: &Profile, count: u32) {
        let least = ticks_of(profile.tcp.delayed_ack_timeout, profile.tcp.tick);
        let gap = clock.ticks.wrapping_sub(self.came);
        // The time-out that the sender has after the handshake: srtt + 4 rttvar, with rttvar = rtt / 2.
        let rto = || ticks_of(self.rtt + profile.tcp.min_rto.max(self.rtt + self.rtt), profile.tcp.tick);
        if self.delay == 0 {
            self.quick = self.quick.max(quick(QUICK, profile));
            self.delay = least;
        } else if gap <= least / 2 {
            self.delay = self.delay / 2 + least / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(rto()).min(longest(profile));
        } else if gap > rto() {
            self.quick = self.quick.max(quick(QUICK, profile));
        }
        self.came = clock.ticks;
        self.grow_window(profile, count);
    }

    /// While the window grows, by what has come, it is acknowledged (`tcp_grow_window`).
    const fn grow_window(&mut self, profile: &Profile, count: u32) {
        if self.grown < profile.quick_acks {
            self.grown += count;
            self.quick |= 1;
        }
    }

    /// A mark, or the absence of one (`tcp_data_ecn_check`).
    fn heed_mark(&mut self, profile: &Profile, joined: &Joined, send: &mut impl FnMut(Ack)) {
        if !profile.tcp.ecn {
            return;
        }
        let ce = joined.ce;
        if !joined.segment.ect && !ce {
            // A segment that is not ECN-capable is probably a retransmission.
            if self.capable {
                self.hurry(QUICK_AFTER_MARK, profile);
            }
            return;
        }
        self.capable = true;
        if profile.tells_marks_apart() && !profile.tcp.congestion.counts_marks() {
            self.tell_marks_apart(profile, ce, send);
        } else if ce && !self.echo && !profile.is_accurate() {
            self.hurry(QUICK_AFTER_MARK, profile);
            self.echo = true;
        }
    }

    /// DCTCP's receiver: an ACK is for marked segments or for unmarked ones (`dctcp_ece_ack_update`).
    fn tell_marks_apart(&mut self, profile: &Profile, ce: bool, send: &mut impl FnMut(Ack)) {
        if self.marked != ce {
            if self.due != Time::MAX {
                // It echoes the last state, also where CWR has just ended the echo.
                let ece = self.marked && !profile.is_accurate();
                send(Ack { next: self.before, ece, ..self.ack(profile) });
            }
            self.at_once = true;
        }
        (self.before, self.marked, self.echo) = (self.next, ce, ce);
    }

    /// The next ACKs are quick (`tcp_enter_quickack_mode`).
    fn hurry(&mut self, count: u8, profile: &Profile) {
        self.quick = self.quick.max(quick(count, profile));
        self.delay = ticks_of(profile.tcp.delayed_ack_timeout, profile.tcp.tick);
    }

    /// Acknowledges now, later, or together with others; whether the application `reads` (`__tcp_ack_snd_check`,
    /// `__tcp_cleanup_rbuf`).
    #[inline(always)]
    fn answer(&mut self, clock: &Clock, profile: &Profile, reads: bool, send: &mut impl FnMut(Ack)) {
        if !self.owed {
            return;
        }
        let second = self.next - self.acked > 1;
        if reads && (second || self.pushed) || self.quick > 0 || self.at_once || !profile.tcp.delayed_ack {
            return self.acknowledge(profile, send);
        }
        if self.beyond.is_empty() {
            return self.wait(clock, profile, send);
        }
        if !profile.tcp.compressed_acks || self.saved >= MOST_COMPRESSED {
            return self.acknowledge(profile, send);
        }
        if self.saved_for != self.next {
            (self.saved_for, self.duplicates) = (self.next, 0);
        }
        if self.duplicates < UNCOMPRESSED {
            self.duplicates += 1;
            return self.acknowledge(profile, send);
        }
        self.saved += 1;
        if self.compressed_due == Time::MAX {
            let part = Span::ns(self.rtt.nanos() * COMPRESSED_PERCENT / 100);
            let delay = if self.rtt == Span::ZERO { COMPRESSED_DELAY } else { part.min(COMPRESSED_DELAY) };
            self.compressed_due = clock.now + delay;
        }
    }

    /// The ACK waits for another segment (`tcp_send_delayed_ack`).
    fn wait(&mut self, clock: &Clock, profile: &Profile, send: &mut impl FnMut(Ack)) {
        let least = ticks_of(profile.tcp.delayed_ack_timeout, profile.tcp.tick);
        let mut delay = self.delay;
        if delay > least {
            let mut most = ticks_of(LONGEST_WITHOUT_RTT, profile.tcp.tick);
            if self.rtt > Span::ZERO {
                most = most.min(ticks_of(self.rtt, profile.tcp.tick).max(least));
            }
            delay = delay.min(most);
        }
        delay = delay.min(longest(profile));
        let mut expires = clock.ticks + delay;
        if self.due != Time::MAX {
            if self.expires <= clock.ticks + (delay >> 2) {
                return self.acknowledge(profile, send);
            }
            expires = expires.min(self.expires);
        }
        self.expires = expires;
        self.due = goes_off(clock.ticks, expires, profile.tcp.tick);
    }

    /// A deadline has come (`tcp_delack_timer_handler`, `tcp_compressed_ack_kick`).
    pub fn on_timer(&mut self, now: Time, profile: &Profile, mut send: impl FnMut(Ack)) {
        self.now = now;
        if self.held.until <= now {
            self.take_held(now, profile, &mut send);
        }
        if self.compressed_due <= now {
            self.compressed_due = Time::MAX;
            if self.saved > 0 {
                self.acknowledge(profile, &mut send);
            }
        }
        if self.due <= now && self.owed {
            // An ACK that had to wait in vain waits longer the next time.
            self.delay = (self.delay * 2).min(longest(profile));
            self.acknowledge(profile, &mut send);
        }
    }

    /// Sends an ACK.
    fn acknowledge(&mut self, profile: &Profile, send: &mut impl FnMut(Ack)) {
        send(self.ack(profile));
        if self.owed && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = ticks_of(profile.tcp.delayed_ack_timeout, profile.tcp.tick);
            }
        }
        self.acked = self.next;
        (self.owed, self.at_once, self.pushed, self.dsack) = (false, false, false, None);
        (self.due, self.compressed_due, self.saved) = (Time::MAX, Time::MAX, 0);
    }

    /// The ACK for the arrived segments.
    fn ack(&mut self, profile: &Profile) -> Ack {
        let runs = self.runs.into_iter().filter(|run| *run != (0, 0));
        let mut blocks = self.dsack.into_iter().chain(runs).take(profile.sack_blocks.min(MOST_BLOCKS));
        let mut ack = Ack {
            next: self.next,
            ece: self.echo,
            echo: self.stamp,
            blocks: std::array::from_fn(|_| blocks.next().unwrap_or_default()),
            ..Ack::default()
        };
        if profile.tcp.ecn {
            self.report_field(profile, &mut ack);
        }
        ack
    }

    /// The parts of an ACK that depend on ECN. RFC 3168 allows no marks on it; with Accurate ECN, and for a control that needs
    /// marks, it may have one all the same (`tcp_ecn_send`).
    fn report_field(&mut self, profile: &Profile, ack: &mut Ack) {
        if profile.is_accurate() {
            let dsack = self.dsack.map(|(seq, _)| seq);
            let (ace, option) = self.arrived.report(self.now, self.rtt, profile, dsack, &mut ack.blocks);
            (ack.ece, ack.marks, ack.option) = (false, Some(ace), option);
            ack.ect = !self.arrived.distrusts;
        } else {
            ack.ect = profile.tcp.congestion.needs_marks();
        }
        ack.l4s = ack.ect && profile.is_scalable();
    }
}

/// The longest delay of an ACK in ticks.
fn longest(profile: &Profile) -> u32 {
    ticks_of(LONGEST_DELAY.max(profile.tcp.delayed_ack_timeout), profile.tcp.tick)
}

/// Starts this many quick ACKs, if the profile has any.
const fn quick(count: u8, profile: &Profile) -> u8 {
    if matches!(profile.tcp.quick_acks, Some(0)) { 0 } else { count }
}

#[cfg(test)]
mod tests;
