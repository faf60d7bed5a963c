//! The sending end of a connection with flavour `rack`: its life cycle, and its response to an acknowledgement.

use super::clock;
use super::rate::RateSample;
use super::state::{INFINITE, Phase, State};
use super::undo::Undo;
use crate::tcp::congestion::{CongestionControl as _, Control};
use crate::tcp::{Ack, DUP_THRESH, Outbox};
use aqm::unit::Time;
use scenario::model::Profile;

/// The sending end of a connection.
#[derive(Clone, Debug)]
pub struct Sender {
    pub(super) control: Control,
    pub(super) state: State,
}

/// The findings from an acknowledgement (the kernel's `FLAG_…`).
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct AckFlags {
    /// The first outstanding segment advanced.
    pub(super) advanced: bool,
    /// Data was acknowledged; some of it had been retransmitted.
    pub(super) acked: bool,
    pub(super) resent_acked: bool,
    /// Data was SACKed.
    pub(super) sacked: bool,
    /// Data that was out when the phase began and never sent again was acknowledged or SACKed.
    pub(super) original: bool,
    /// It reports a mark, but without a counter, so that all that it delivers counts as marked.
    pub(super) echo: bool,
    pub(super) marked: bool,
    /// It has a D-SACK, which reports duplicates; the duplicate is of a tail loss probe.
    pub(super) dsack: bool,
    pub(super) probe_dsack: bool,
    /// The first outstanding segment had been SACKed.
    pub(super) reneging: bool,
    /// A retransmission is lost.
    pub(super) resent_lost: bool,
    /// The timer is to be set anew.
    pub(super) timer: bool,
    /// When the first and the last of the segments SACKed and never sent again were sent, in microseconds.
    pub(super) first_sacked: Option<u64>,
    pub(super) last_sacked: u64,
}

/// The segments that an acknowledgement releases besides new data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Repair {
    Nothing,
    Lost,
    /// F-RTO: two new segments, to see whether the time-out was right.
    New,
}

impl Sender {
    /// A sender that has `segments` of data to send.
    ///
    /// # Panics
    /// If there is no such control; the scenario is checked for that.
    #[must_use]
    pub fn new(profile: &Profile, segments: u32) -> Self {
        Self { control: Control::new(profile), state: State::new(profile, segments) }
    }

    /// Frees the memory of segments that are acknowledged.
    pub fn shrink(&mut self) {
        self.state.board.shrink();
    }

    /// Its state.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Segments sent more than once.
    #[must_use]
    pub const fn retransmits(&self) -> u64 {
        self.state.resent as u64
    }

    /// Times that the retransmission timer went off.
    #[must_use]
    pub const fn timeouts(&self) -> u64 {
        self.state.timeouts as u64
    }

    /// When the timer goes off, and when the pace allows the segment that waits for it.
    #[must_use]
    pub fn deadlines(&self) -> [Time; 2] {
        let state = &self.state;
        // What waited may have been acknowledged since, or taken back by the application.
        let waits = state.waiting && (state.nxt < state.end || state.board.lost > state.board.resent);
        let pace = if waits { clock::instant(state.next_send.div_ceil(1000)) } else { Time::MAX };
        [state.timer.goes_off, pace]
    }

    /// One past the last segment that the application will send, and the FIN if it is one of its own.
    #[must_use]
    pub const fn end(&self) -> u32 {
        self.state.end
    }

    /// Whether all that the application has handed over was acknowledged.
    #[must_use]
    #[inline]
    pub const fn is_through(&self) -> bool {
        self.state.una >= self.state.end
    }

    /// Opens the connection.
    pub fn on_start(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        self.state.refresh(now, profile);
        if profile.tcp.handshake {
            self.send_syn(profile, out);
        } else {
            self.open(profile);
            self.push(profile, out);
        }
    }

    /// The application has `segments` more to send.
    pub fn on_data(&mut self, now: Time, profile: &Profile, segments: u32, out: &mut impl Outbox) {
        let state = &mut self.state;
        state.refresh(now, profile);
        state.note_limit();
        state.end = state.end.saturating_add(segments);
        if state.una > 0 || !profile.tcp.handshake {
            self.restart_after_idle(profile);
            self.push(profile, out);
        }
    }

    /// The application has handed over all its data and closes the connection (`tcp_send_fin`).
    pub fn on_close(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        self.state.refresh(now, profile);
        self.state.closed = true;
        if self.state.una > 0 {
            self.finish(profile, out);
        }
    }

    /// If the application has closed the connection and all data was sent, a FIN of its own follows; else the last segment
    /// has it.
    pub(super) fn finish(&mut self, profile: &Profile, out: &mut impl Outbox) {
        let state = &mut self.state;
        if state.closed && state.nxt == state.end && state.fin == u32::MAX {
            state.fin = state.end;
            state.end += 1;
            self.push(profile, out);
        }
    }

    /// The application has no more data than has been sent. If it has closed the connection, a FIN that waits stays.
    pub const fn on_stop(&mut self) {
        let state = &mut self.state;
        let sent = if state.nxt > 1 { state.nxt } else { 1 };
        if sent < state.end && sent != state.fin {
            (state.end, state.closed) = (sent, false);
        }
    }

    /// The connection is open (`tcp_init_transfer`).
    pub(super) fn open(&mut self, profile: &Profile) {
        let state = &mut self.state;
        state.phase = Phase::Open;
        state.ssthresh = profile.initial_ssthresh.min(INFINITE);
        // A second SYN that was lost leaves one segment; none was if the first is answered (`tcp_try_undo_spurious_syn`).
        let answered = state.echo != 0 && state.echo == state.undo.since;
        state.cwnd = if state.resent > 1 && !answered { 1 } else { profile.initial_window };
        state.undo = Undo::default();
        state.full_ticks = state.clock.ticks;
        self.control.on_open(&mut self.state, profile);
        self.state.pace_by_host(profile);
    }

    /// Takes in an acknowledgement (`tcp_ack`).
    pub fn on_ack(&mut self, now: Time, profile: &Profile, ack: &Ack, out: &mut impl Outbox) {
        let state = &mut self.state;
        if ack.next > state.nxt {
            return;
        }
        state.refresh(now, profile);
        state.echo = if profile.tcp.timestamps { clock::stamp(ack.echo) } else { 0 };
        if state.una == 0 && profile.tcp.handshake {
            if ack.next > 0 {
                self.on_syn_ack(profile, out);
            }
            return;
        }
        let prior_una = state.una;
        let mut flags = AckFlags::default();
        let mut sample = RateSample { prior_in_flight: state.board.in_flight(), ..RateSample::default() };
        if self.control.rechecks_app_limited() {
            self.state.note_limit();
        }
        let state = &mut self.state;
        if ack.next < prior_una {
            if ack.has_blocks() {
                self.state.tag(prior_una, ack, &mut flags, &mut sample);
                let repair = self.fastretrans_alert(profile, prior_una, &mut flags);
                self.repair(profile, repair, out);
            }
            return self.push(profile, out);
        }
        let (delivered, lost) = (state.delivered, state.lost);
        let prior_high = state.board.high_sacked();
        flags.advanced = ack.next > prior_una;
        if flags.advanced {
            state.backoffs = 0;
            state.una = ack.next;
            // With the last ACK came the receiver's FIN.
            if state.closed && state.una >= state.end {
                state.acknowledge(profile, out);
            }
        }
        let news = if ack.has_blocks() { state.tag(prior_una, ack, &mut flags, &mut sample) } else { 0 };
        let marked = state.delivered_marked;
        flags.echo = ack.marks.is_none() && profile.tcp.ecn && ack.ece;
        flags.marked = flags.echo;
        state.count_delivered(news, flags.marked);
        if state.board.is_empty() {
            self.control.on_ack(&mut self.state, profile);
            if flags.dsack {
                self.fastretrans_alert(profile, prior_una, &mut flags);
            }
            self.settle_probe(profile, ack.next, &flags);
            return self.push(profile, out);
        }
        self.take_off(profile, prior_high, &mut flags, &mut sample);
        if let Some(ace) = ack.marks
            && (flags.acked || flags.sacked)
        {
            let state = &mut self.state;
            let new = state.heard.news(ace, ack.option.counts(), marked, state.delivered - delivered);
            state.delivered_marked += new;
            flags.echo = new > 0;
        }
        self.state.rack.widen(sample.prior_delivered, self.state.delivered);
        self.control.on_ack(&mut self.state, profile);
        sample.probe = self.settle_probe(profile, ack.next, &flags);
        let mut repair = Repair::Nothing;
        let usual = flags.acked && !flags.sacked && !flags.echo && !flags.dsack;
        if !usual || self.state.phase != Phase::Open {
            repair = self.fastretrans_alert(profile, prior_una, &mut flags);
        }
        if flags.timer {
            self.state.set_timer(profile);
        }
        let state = &mut self.state;
        state.sample(state.delivered - delivered, state.lost - lost, &mut sample);
        (sample.echo, sample.marked) = (flags.echo, state.delivered_marked - marked);
        self.control_window(profile, &flags, &sample);
        self.repair(profile, repair, out);
        self.push(profile, out);
    }

    /// Lets the window move (`tcp_cong_control`).
    fn control_window(&mut self, profile: &Profile, flags: &AckFlags, sample: &RateSample) {
        if self.control.has_cong_control() {
            self.control.cong_control(&mut self.state, profile, sample);
        } else if self.state.is_reducing() {
            self.state.reduce(sample.delivered, sample.lost, flags.advanced);
        } else {
            // Where much is reordered what is SACKed counts too (`tcp_may_raise_cwnd`).
            if flags.acked || self.state.rack.reordering > DUP_THRESH && flags.sacked {
                self.control.cong_avoid(&mut self.state, profile, sample.delivered);
                self.state.full_ticks = self.state.clock.ticks;
            }
        }
        if self.state.paced_by_host {
            self.state.pace = self.state.usual_pace(profile);
        }
    }
}
