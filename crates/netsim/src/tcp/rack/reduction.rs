//! How the window comes down for a loss or a mark, and how that is taken back.
//!
//! Proportional rate reduction (RFC 9937): while more is in the network than the threshold allows, sending is in
//! proportion to delivery, so that the window reaches the threshold after a round trip; below it as much as is
//! delivered, and one more while nothing else is lost.

use super::board::EVER_RESENT;
use super::sacks::echoes_before;
use super::sender::Sender;
use super::state::{Cause, INFINITE, Phase, State};
use crate::tcp::congestion::{CongestionControl as _, Event};
use scenario::model::Profile;

impl State {
    /// Whether this ACK is for a segment sent before any retransmission (`tcp_packet_delayed`).
    pub(super) const fn is_delayed(&self) -> bool {
        self.undo.since == 0 || echoes_before(self.echo, self.undo.since)
    }

    /// Whether the reduction is known to be wrong (`tcp_may_undo`).
    pub(super) fn may_undo(&self) -> bool {
        self.undo.marker.is_some() && (self.undo.all_duplicated() || self.is_delayed())
    }

    /// Whether anything outstanding was retransmitted (`tcp_any_retrans_done`).
    pub(super) fn is_any_resent(&self) -> bool {
        self.board.resent > 0 || self.board.head().is_some_and(|head| head.flags & EVER_RESENT != 0)
    }

    /// Forgets when the first retransmission was sent, if nothing outstanding is one.
    pub(super) fn forget_resent(&mut self) {
        if !self.is_any_resent() {
            self.undo.since = 0;
        }
    }

    /// From here on a reduction may be undone (`tcp_init_undo`).
    pub(super) fn begin_undo(&mut self) {
        let probe = u32::from(self.probe_end != 0 && self.probe_resent);
        self.undo.marker = Some(self.una);
        self.undo.resent = Some(self.board.resent + probe).filter(|&resent| resent > 0);
    }

    /// The threshold that stands if a reduction now is undone: three quarters of the window at least
    /// (`tcp_current_ssthresh`).
    pub(super) const fn threshold_now(&self) -> u32 {
        let most = (self.cwnd >> 1) + (self.cwnd >> 2);
        if self.is_reducing() || self.ssthresh > most { self.ssthresh } else { most }
    }

    /// Sets the window after the deliveries of this acknowledgement (PRR; `tcp_cwnd_reduction`).
    pub(super) fn reduce(&mut self, delivered: u32, lost: u32, advanced: bool) {
        if delivered == 0 || self.prior_cwnd == 0 {
            return;
        }
        self.prr_delivered += delivered;
        let in_flight = i64::from(self.board.in_flight());
        let room = i64::from(self.ssthresh) - in_flight;
        let [done, out, prior] = [self.prr_delivered, self.prr_out, self.prior_cwnd].map(i64::from);
        let mut send = if room < 0 {
            (i64::from(self.ssthresh) * done + prior - 1) / prior - out
        } else {
            let mut send = (done - out).max(i64::from(delivered));
            send += i64::from(advanced && lost == 0);
            send.min(room)
        };
        // A lost segment is retransmitted at once.
        send = send.max(i64::from(self.prr_out == 0));
        self.cwnd = (in_flight + send).max(0) as u32;
    }
}

impl Sender {
    /// Goes into another phase.
    pub(super) fn enter(&mut self, profile: &Profile, phase: Phase) {
        self.control.on_phase(&mut self.state, profile, phase);
        self.state.phase = phase;
    }

    /// Begins to bring the window down (`tcp_init_cwnd_reduction`).
    pub(super) fn begin_reduction(&mut self, profile: &Profile, cause: Cause) {
        let state = &mut self.state;
        state.cause = cause;
        (state.high, state.probe_end, state.cwnd_cnt) = (state.nxt, 0, 0);
        state.prior_cwnd = state.cwnd;
        (state.prr_delivered, state.prr_out) = (0, 0);
        let threshold = self.control.ssthresh(&self.state, profile);
        let state = &mut self.state;
        (state.ssthresh, state.say_cwr) = (threshold, profile.tcp.ecn);
    }

    /// The window is down (`tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self) {
        if self.control.has_cong_control() {
            return;
        }
        let state = &mut self.state;
        if state.ssthresh < INFINITE && (state.phase == Phase::Cwr || state.undo.marker.is_some()) {
            state.cwnd = state.ssthresh;
            state.full_ticks = state.clock.ticks;
        }
    }

    /// A mark brings the window down, once a round trip (`tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self, profile: &Profile) {
        self.state.prior_ssthresh = 0;
        if self.state.phase < Phase::Cwr {
            self.state.undo.marker = None;
            self.begin_reduction(profile, Cause::Mark);
            self.enter(profile, Phase::Cwr);
        }
    }

    /// A loss brings the window down and is repaired (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, profile: &Profile, echo: bool) {
        let state = &mut self.state;
        state.forget_resent();
        state.prior_ssthresh = 0;
        state.begin_undo();
        if !state.is_reducing() {
            if !echo {
                state.prior_ssthresh = state.threshold_now();
            }
            self.begin_reduction(profile, Cause::Loss);
        }
        self.enter(profile, Phase::Recovery);
    }

    /// The timer went off: all but recent segments count as lost, and the window is one more than the segments in the
    /// network (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self, profile: &Profile) {
        self.state.lose_at_timeout();
        self.report_losses(profile);
        let state = &mut self.state;
        let anew = state.phase < Phase::Recovery;
        // Once a window.
        if state.phase <= Phase::Disorder
            || state.high <= state.una
            || state.phase == Phase::Loss && state.backoffs == 0
        {
            state.prior_ssthresh = state.threshold_now();
            state.prior_cwnd = state.cwnd;
            state.cause = Cause::Timeout;
            let threshold = self.control.ssthresh(&self.state, profile);
            self.state.ssthresh = threshold;
            self.control.on_event(&mut self.state, profile, Event::Loss);
            self.state.begin_undo();
        }
        let state = &mut self.state;
        state.cwnd = state.board.in_flight() + 1;
        state.cwnd_cnt = 0;
        state.full_ticks = state.clock.ticks;
        if state.phase <= Phase::Disorder && state.board.sacked >= crate::tcp::DUP_THRESH {
            state.rack.reordering = state.rack.reordering.min(crate::tcp::DUP_THRESH);
        }
        self.enter(profile, Phase::Loss);
        let state = &mut self.state;
        (state.high, state.probe_end) = (state.nxt, 0);
        state.say_cwr = profile.tcp.ecn;
        state.frto = anew || state.backoffs > 0;
    }

    /// The reduction was wrong: the window and the threshold are restored (`tcp_undo_cwnd_reduction`).
    pub(super) fn undo_reduction(&mut self, nothing_lost: bool) {
        let state = &mut self.state;
        if nothing_lost {
            state.board.unmark_lost();
        }
        if state.prior_ssthresh > 0 {
            let cwnd = self.control.undo_cwnd(&mut self.state);
            let state = &mut self.state;
            state.cwnd = cwnd;
            if state.prior_ssthresh > state.ssthresh {
                state.ssthresh = state.prior_ssthresh;
                state.say_cwr = false;
            }
        }
        let state = &mut self.state;
        state.full_ticks = state.clock.ticks;
        state.undo.marker = None;
        state.rack.advanced = true;
    }

    /// Undoes a reduction if D-SACKs show that every retransmission was unnecessary (`tcp_try_undo_dsack`).
    pub(super) fn undo_by_dsack(&mut self) -> bool {
        let undo = self.state.undo.all_duplicated();
        if undo {
            self.state.rack.last_longer();
            self.undo_reduction(false);
        }
        undo
    }
}
