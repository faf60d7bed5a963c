//! Sending: new data, retransmissions, tail loss probes.

use super::board::{LOST, PUSHED, RESENT, SACKED, Sent};
use super::burst::Turn;
use super::sender::Sender;
use super::state::{Phase, State};
use super::timer::Pending;
use crate::tcp::congestion::{CongestionControl as _, Event};
use crate::tcp::{Content, Outbox, Segment};
use aqm::unit::{Span, Time};
use scenario::model::{Profile, Tcp};

/// From this segment with data on, retransmissions counted too, the pace holds back what comes next.
const FIRST_PACED: u32 = 10;

impl State {
    /// Whether the pace holds the next segment back (`tcp_pacing_check`).
    fn is_held_back(&mut self) -> bool {
        self.waiting = self.next_send > self.clock.us * 1000;
        self.waiting
    }

    /// When `count` segments from `seq` on that are sent now count as sent, in microseconds: the pace may have let them go a
    /// moment ahead. Moves the pace on (`tcp_update_skb_after_send`).
    fn take_turn(&mut self, seq: u32, count: u32, profile: &Profile) -> u64 {
        if self.pace == u64::MAX {
            self.next_send = self.clock.us * 1000;
            return self.clock.us;
        }
        let data = seq != 0 && seq != self.fin;
        self.data_sent += if data { count } else { 0 };
        let before = self.next_send;
        self.next_send = before.max(self.clock.us * 1000);
        let at = self.next_send / 1000;
        if self.pace > 0 && self.data_sent >= FIRST_PACED && data {
            let length = u64::from(count * profile.payload()) * 1_000_000_000 / self.pace;
            // Half of what was missed may be made up for.
            let credit = self.next_send - before;
            self.next_send += length - credit.min(length / 2);
        }
        at
    }

    /// Notes whether the window limited the sender (`tcp_cwnd_validate`).
    fn note_usage(&mut self, profile: &Profile, limited: bool, paces_itself: bool) {
        let out = self.board.len();
        if self.una >= self.usage_end || limited || !self.window_limited && out > self.most_out {
            self.window_limited = limited;
            self.most_out = out;
            self.usage_end = self.nxt;
        }
        if self.is_window_limited() {
            self.used = 0;
            self.full_ticks = self.clock.ticks;
            return;
        }
        self.used = self.used.max(out);
        let idle = self.clock.ticks.wrapping_sub(self.full_ticks);
        if profile.tcp.restart_after_idle && idle >= self.rtt.rto && !paces_itself {
            self.shrink_unused(profile);
        }
    }

    /// The window was not used for a time-out: it moves half-way towards the used part
    /// (`tcp_cwnd_application_limited`).
    fn shrink_unused(&mut self, profile: &Profile) {
        if self.phase == Phase::Open {
            let used = self.used.max(profile.initial_window);
            if used < self.cwnd {
                self.ssthresh = self.threshold_now();
                self.cwnd = (self.cwnd + used) >> 1;
            }
            self.used = 0;
        }
        self.full_ticks = self.clock.ticks;
    }
}

impl Sender {
    /// Sends the SYN.
    pub(super) fn send_syn(&mut self, profile: &Profile, out: &mut impl Outbox) {
        let state = &mut self.state;
        let sent = state.record(state.clock.us);
        state.board.push(sent);
        state.nxt = 1;
        state.undo.since = state.clock.ms();
        state.start_rto(profile);
        self.emit(0, false, false, profile, out);
    }

    /// The SYN is acknowledged: the first round trip (`tcp_rcv_synsent_state_process`).
    pub(super) fn on_syn_ack(&mut self, profile: &Profile, out: &mut impl Outbox) {
        let state = &mut self.state;
        let sent = state.board.pop();
        state.una = 1;
        state.count_delivered(1, false);
        state.delivered_at = state.clock.us;
        let rtt = match sent {
            Some(sent) if !sent.ambiguous() => Some(state.clock.us - sent.at),
            _ if state.echo > 0 => Some(1000 * u64::from(state.clock.ms().saturating_sub(state.echo).max(1))),
            _ => None,
        };
        self.note_handshake(profile, rtt);
        let state = &mut self.state;
        state.backoffs = 0;
        state.start_rto(profile);
        self.open(profile);
        self.state.acknowledge(profile, out);
        self.push(profile, out);
        self.finish(profile, out);
    }

    /// Takes the round trip of the handshake in microseconds, if it was measured (`tcp_synack_rtt_meas`).
    fn note_handshake(&mut self, profile: &Profile, rtt: Option<u64>) {
        let state = &mut self.state;
        match rtt {
            Some(rtt) => {
                state.rtt.note_least(profile, &state.clock, rtt);
                state.rtt.measure(profile, rtt, state.una, state.nxt);
            }
            None => state.rtt.distrust(profile),
        }
    }

    /// The other end has opened the connection, and its handshake took so long. Nothing is to be sent as ECN-capable if the
    /// receiver here `distrusts` that.
    pub fn on_accept(&mut self, now: Time, profile: &Profile, rtt: Option<Span>, distrusts: bool) {
        self.state.refresh(now, profile);
        self.state.distrusts = distrusts;
        self.note_handshake(profile, rtt.map(|rtt| rtt.nanos() / 1000));
        self.control.on_open(&mut self.state, profile);
        self.state.pace_by_host(profile);
    }

    /// The window shrinks for the time in which nothing was sent (`tcp_slow_start_after_idle_check`,
    /// `tcp_cwnd_restart`).
    pub(super) fn restart_after_idle(&mut self, profile: &Profile) {
        let state = &mut self.state;
        let idle = state.clock.ticks.wrapping_sub(state.sent_ticks);
        if !profile.tcp.restart_after_idle
            || !state.board.is_empty()
            || idle <= state.rtt.rto
            || self.control.has_cong_control()
        {
            return;
        }
        state.ssthresh = state.threshold_now();
        let least = profile.restart_window.min(state.cwnd);
        let mut left = i64::from(idle) - i64::from(state.rtt.rto);
        while left > 0 && state.cwnd > least {
            state.cwnd >>= 1;
            left -= i64::from(state.rtt.rto);
        }
        state.cwnd = state.cwnd.max(least);
        state.full_ticks = state.clock.ticks;
        state.used = 0;
    }

    /// Sends new data as far as the window and the pace allow (`tcp_write_xmit`).
    pub(super) fn push(&mut self, profile: &Profile, out: &mut impl Outbox) {
        if self.state.nxt >= self.state.end {
            return;
        }
        let most = self.most_at_once(profile);
        let (mut sent, mut limited) = (0, false);
        while self.state.nxt < self.state.end && !self.state.is_held_back() {
            let state = &mut self.state;
            if state.board.in_flight() >= state.cwnd || !state.has_room(profile) {
                break;
            }
            let count = match most {
                1 => 1,
                _ => match state.turn(profile, most) {
                    Turn::Send(count) => count,
                    Turn::Wait { limited: by_window } => {
                        limited = by_window;
                        break;
                    }
                },
            };
            self.send_new(count, profile, out);
            sent += count;
        }
        self.note_sent(profile, sent, limited, false);
    }

    /// Segments that may leave at once (`tcp_tso_segs`).
    fn most_at_once(&self, profile: &Profile) -> u32 {
        if profile.tcp.offload { self.control.most_at_once(&self.state, profile) } else { 1 }
    }

    /// After `sent` new segments; whether others wait for the window although it has some room.
    #[inline(always)]
    fn note_sent(&mut self, profile: &Profile, sent: u32, limited: bool, probe: bool) {
        let state = &mut self.state;
        let limited = limited || state.board.in_flight() >= state.cwnd;
        if sent > 0 || limited {
            state.note_usage(profile, limited, self.control.has_cong_control());
        }
        if sent > 0 {
            if state.is_reducing() {
                state.prr_out += sent;
            }
            if !probe {
                state.schedule_probe(profile, false);
            }
        }
    }

    /// Sends the next `count` segments at once.
    #[inline(always)]
    fn send_new(&mut self, count: u32, profile: &Profile, out: &mut impl Outbox) {
        let first = self.state.nxt;
        self.note_start(first, profile);
        let at = self.state.take_turn(first, count, profile);
        let starts = self.state.board.is_empty();
        let last = if count > 1 { first + count - 1 } else { u32::MAX };
        for seq in first..first + count {
            let state = &mut self.state;
            self.control.on_send(state, seq);
            let sent = state.record(at);
            let push = seq == last;
            state.board.push(Sent { flags: if push { PUSHED } else { 0 }, ..sent });
            state.nxt = seq + 1;
            if starts && seq == first || state.timer.pending == Pending::Probe {
                state.start_rto(profile);
            }
            self.emit(seq, push, false, profile, out);
        }
    }

    /// A segment is about to be sent, and unless it is a FIN that is an event (`tcp_event_data_sent`).
    fn note_start(&mut self, seq: u32, profile: &Profile) {
        if seq == self.state.fin {
            return;
        }
        if self.state.board.in_flight() == 0 {
            self.control.on_event(&mut self.state, profile, Event::TxStart);
        }
        self.state.sent_ticks = self.state.clock.ticks;
    }

    /// Retransmits lost segments as far as the window allows (`tcp_xmit_retransmit_queue`).
    pub(super) fn resend_lost(&mut self, profile: &Profile, out: &mut impl Outbox) {
        if self.state.board.is_empty() {
            return;
        }
        let head = self.state.board.base();
        let most = self.most_at_once(profile);
        let (mut restart, mut hole) = (false, false);
        let mut seq = self.state.board.hint.unwrap_or(head);
        while seq < self.state.nxt && !self.state.is_held_back() {
            let board = &mut self.state.board;
            if !hole {
                board.hint = Some(seq);
            }
            if self.state.cwnd <= board.in_flight() || board.resent >= board.lost {
                break;
            }
            let sent = board.get(seq);
            let mut count = 1;
            if sent.is_to_resend() {
                count = if most > 1 { self.state.lost_together(seq, most) } else { 1 };
                self.resend(seq, count, true, profile, out);
                if self.state.is_reducing() {
                    self.state.prr_out += count;
                }
                restart |= seq == head && self.state.timer.pending != Pending::Reordering;
            } else {
                hole |= sent.flags & (LOST | SACKED | RESENT) == 0;
            }
            seq += count;
        }
        if restart {
            self.state.restart_rto(profile);
        }
    }

    /// Retransmits `count` segments at once; `lost` if they replace lost segments, and none is a probe
    /// (`tcp_retransmit_skb`).
    pub(super) fn resend(
        &mut self,
        first: u32,
        count: u32,
        lost: bool,
        profile: &Profile,
        out: &mut impl Outbox,
    ) {
        self.note_start(first, profile);
        let at = self.state.take_turn(first, count, profile);
        for seq in first..first + count {
            let state = &mut self.state;
            self.control.on_send(state, seq);
            let sent = state.record(at);
            let flags = if count > 1 && seq + 1 == first + count { PUSHED } else { 0 };
            state.board.resend(seq, Sent { flags, ..sent }, lost);
            let push = state.board.get(seq).flags & PUSHED != 0;
            state.resent += 1;
            if lost {
                state.undo.note_resent((at / 1000) as u32);
            }
            self.emit(seq, push, true, profile, out);
        }
    }

    /// Nothing came back for two round trips: a new segment, or the last again, to provoke a SACK
    /// (`tcp_send_loss_probe`).
    pub(super) fn probe(&mut self, profile: &Profile, out: &mut impl Outbox) {
        if self.state.probe_end == 0 && !self.state.board.is_empty() {
            let state = &mut self.state;
            state.probe_resent = false;
            let new = state.nxt < state.end && state.has_room(profile);
            let held_back = new && state.is_held_back();
            if new && !held_back {
                let most = self.most_at_once(profile);
                let state = &mut self.state;
                // A probe waits for no more data, and needs no room.
                let count = if most > 1 { state.ready(profile, most) } else { 1 };
                self.send_new(count, profile, out);
                self.note_sent(profile, count, false, true);
            } else if !new {
                let last = self.state.nxt - 1;
                self.state.probe_limited = self.state.board.get(last).limited;
                self.resend(last, 1, false, profile, out);
                self.state.probe_resent = true;
            }
            if !held_back {
                self.state.probe_end = self.state.nxt;
                // From now on, and not from when the head was sent.
                self.state.timer.pending = Pending::Nothing;
            }
        }
        self.state.start_rto(profile);
    }

    fn emit(&mut self, seq: u32, push: bool, retransmission: bool, profile: &Profile, out: &mut impl Outbox) {
        let state = &mut self.state;
        let Tcp { ecn, .. } = profile.tcp;
        let content = match seq {
            0 => Content::Syn,
            _ if seq == state.fin => Content::Fin,
            _ => Content::Data,
        };
        let cwr = match content {
            // A SYN that is sent again does not ask for ECN, with Accurate ECN from the second time on
            // (`tcp_ecn_clear_syn`).
            Content::Syn => ecn && state.resent <= u32::from(profile.is_accurate()),
            // With Accurate ECN that bit is part of a counter.
            Content::Data if ecn && !retransmission && !profile.is_accurate() => {
                std::mem::take(&mut state.say_cwr)
            }
            _ => false,
        };
        let push = push || seq + 1 == state.end.min(state.fin);
        out.send(Segment { push, cwr, ..state.segment(seq, content, retransmission, profile) });
    }
}

impl State {
    /// Answers the receiver's SYN or FIN.
    pub(super) fn acknowledge(&self, profile: &Profile, out: &mut impl Outbox) {
        out.send(self.segment(self.nxt, Content::Ack, false, profile));
    }

    fn segment(&self, seq: u32, content: Content, retransmission: bool, profile: &Profile) -> Segment {
        let ect = self.is_capable(content, retransmission, profile);
        let l4s = ect && profile.is_scalable();
        Segment { seq, content, retransmission, cwr: false, ect, l4s, push: false, sent: self.clock.now }
    }

    /// Whether a segment may be marked (`tcp_ecn_send`).
    const fn is_capable(&self, content: Content, retransmission: bool, profile: &Profile) -> bool {
        let Tcp { ecn, congestion, .. } = &profile.tcp;
        match content {
            // That of a control that needs marks may be, even if ECN was given up.
            Content::Syn => congestion.needs_marks(),
            _ if !*ecn || self.distrusts => false,
            _ if profile.is_accurate() => true,
            // No retransmission (RFC 3168, section 6.1.5), but for a control that needs marks (`tcp_ca_needs_ecn`) and, once
            // it has sent, BBRv3's (`TCP_ECN_ECT_PERMANENT`).
            Content::Data if !retransmission => true,
            _ => congestion.needs_marks() || congestion.tells_marks_apart() && self.nxt > 1,
        }
    }

    /// Whether the receive window has room for a new segment.
    const fn has_room(&self, profile: &Profile) -> bool {
        self.nxt < self.una + profile.tcp.max_window
    }
}
