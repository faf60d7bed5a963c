//! The response to an unusual acknowledgement: the sender's phase, and retransmissions.

use super::sender::{AckFlags, Repair, Sender};
use super::state::{Cause, Phase};
use crate::tcp::Outbox;
use crate::tcp::congestion::{CongestionControl as _, Event};
use scenario::model::Profile;

impl Sender {
    /// Takes in an acknowledgement that is not simply the next, or comes in a phase that is not Open
    /// (`tcp_fastretrans_alert`).
    pub(super) fn fastretrans_alert(
        &mut self,
        profile: &Profile,
        prior_una: u32,
        flags: &mut AckFlags,
    ) -> Repair {
        let state = &mut self.state;
        if flags.echo {
            state.prior_ssthresh = 0;
        }
        if flags.reneging && flags.advanced {
            // The receiver gets a little time to correct itself (`tcp_check_sack_reneging`).
            state.wait_for_sacks(profile);
            flags.timer = false;
            return Repair::Nothing;
        }
        if state.phase == Phase::Open {
            state.undo.since = 0;
        } else if state.una >= state.high {
            match state.phase {
                // Until something above has arrived, so that the receiver knows of the reduction.
                Phase::Cwr if state.una != state.high => {
                    self.end_reduction();
                    self.enter(profile, Phase::Open);
                }
                Phase::Recovery => {
                    self.recover(profile);
                    self.end_reduction();
                }
                _ => {}
            }
        }
        match self.state.phase {
            Phase::Recovery => self.go_on_recovering(profile, prior_una, flags),
            Phase::Loss => self.go_on_after_timeout(profile, flags),
            _ => self.look_for_losses(profile, flags),
        }
    }

    /// In Recovery.
    fn go_on_recovering(&mut self, profile: &Profile, prior_una: u32, flags: &mut AckFlags) -> Repair {
        if flags.advanced && self.undo_partially(profile, prior_una) {
            return Repair::Nothing;
        }
        if self.undo_by_dsack() {
            self.try_to_open(profile, flags);
        }
        self.identify_losses(profile, flags);
        if self.state.phase != Phase::Recovery {
            if self.state.board.lost == 0 {
                return Repair::Nothing;
            }
            self.enter_recovery(profile, flags.echo);
        }
        Repair::Lost
    }

    /// In Loss.
    fn go_on_after_timeout(&mut self, profile: &Profile, flags: &mut AckFlags) -> Repair {
        let repair = self.process_loss(profile, flags);
        self.identify_losses(profile, flags);
        if !(self.state.phase == Phase::Open || flags.resent_lost) {
            return repair;
        }
        match self.look_for_losses(profile, flags) {
            Repair::Nothing => repair,
            lost => lost,
        }
    }

    /// In Open, Disorder and CWR.
    fn look_for_losses(&mut self, profile: &Profile, flags: &mut AckFlags) -> Repair {
        if self.state.phase <= Phase::Disorder {
            self.undo_by_dsack();
        }
        self.identify_losses(profile, flags);
        if self.state.board.lost == 0 {
            self.try_to_open(profile, flags);
            return Repair::Nothing;
        }
        self.enter_recovery(profile, flags.echo);
        Repair::Lost
    }

    /// An acknowledgement after a time-out (`tcp_process_loss`).
    fn process_loss(&mut self, profile: &Profile, flags: &AckFlags) -> Repair {
        let recovered = self.state.una >= self.state.high;
        if flags.advanced && self.undo_loss(profile, false) {
            return Repair::Nothing;
        }
        if self.state.frto {
            // What was never sent again has arrived: not all was lost, the timer went off too early.
            if flags.original && self.undo_loss(profile, true) {
                return Repair::Nothing;
            }
            let state = &mut self.state;
            let duplicate = !flags.advanced && !flags.acked && !flags.dsack;
            if state.nxt > state.high {
                if flags.sacked || duplicate {
                    state.frto = false;
                }
            } else if flags.advanced && !recovered {
                state.high = state.nxt;
                if state.nxt < state.end && state.nxt < state.una + profile.tcp.max_window {
                    return Repair::New;
                }
                state.frto = false;
            }
        }
        if recovered {
            self.recover(profile);
            return Repair::Nothing;
        }
        Repair::Lost
    }

    /// All that was out when the trouble began is acknowledged (`tcp_try_undo_recovery`).
    fn recover(&mut self, profile: &Profile) {
        if self.state.may_undo() {
            self.undo_reduction(false);
        } else {
            let lasting = &mut self.state.rack.lasting;
            *lasting = lasting.saturating_sub(1);
        }
        self.enter(profile, Phase::Open);
        self.state.reneged = false;
    }

    /// Undoes a time-out that was none (`tcp_try_undo_loss`).
    fn undo_loss(&mut self, profile: &Profile, by_frto: bool) -> bool {
        if !by_frto && !self.state.may_undo() {
            return false;
        }
        self.undo_reduction(true);
        self.state.backoffs = 0;
        self.enter(profile, Phase::Open);
        self.state.reneged = false;
        true
    }

    /// A hole was filled by a segment that was only late (`tcp_try_undo_partial`); whether recovery is to pause.
    fn undo_partially(&mut self, profile: &Profile, prior_una: u32) -> bool {
        if self.state.undo.marker.is_none() || !self.state.is_delayed() {
            return false;
        }
        self.state.check_reordering(prior_una, self.state.board.high_sacked());
        if self.state.board.resent > 0 {
            return true;
        }
        self.state.forget_resent();
        self.undo_reduction(true);
        self.keep_open(profile);
        false
    }

    /// Back to Open, Disorder or CWR (`tcp_try_to_open`).
    fn try_to_open(&mut self, profile: &Profile, flags: &AckFlags) {
        self.state.forget_resent();
        if flags.echo {
            self.enter_cwr(profile);
        }
        if self.state.phase != Phase::Cwr {
            self.keep_open(profile);
        }
    }

    /// Open, or Disorder if anything is SACKed, lost or sent again (`tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self, profile: &Profile) {
        let state = &self.state;
        let disorder = state.board.sacked + state.board.lost > 0 || state.is_any_resent();
        let phase = if disorder { Phase::Disorder } else { Phase::Open };
        if state.phase != phase {
            self.enter(profile, phase);
            self.state.high = self.state.nxt;
        }
    }

    /// Ends a tail loss probe's episode (`tcp_process_tlp_ack`).
    ///
    /// Whether it cannot be known yet if this acknowledgement is of the probe or of the segment that the probe repeats.
    pub(super) fn settle_probe(&mut self, profile: &Profile, next: u32, flags: &AckFlags) -> bool {
        let state = &mut self.state;
        if state.probe_end == 0 || next < state.probe_end {
            return false;
        }
        let duplicate = !flags.advanced && !flags.acked && !flags.sacked;
        if !state.probe_resent || flags.probe_dsack {
            state.probe_end = 0;
        } else if next > state.probe_end {
            // The probe has repaired a loss, which costs what any does.
            self.control.on_event(&mut self.state, profile, Event::TlpRecovery);
            self.begin_reduction(profile, Cause::Loss);
            self.enter(profile, Phase::Cwr);
            self.end_reduction();
            self.keep_open(profile);
        } else if duplicate {
            state.probe_end = 0; // both arrived
        } else {
            return true;
        }
        false
    }

    /// Sends the segments that an acknowledgement calls for (`tcp_xmit_recovery`).
    pub(super) fn repair(&mut self, profile: &Profile, repair: Repair, out: &mut impl Outbox) {
        match repair {
            Repair::Nothing => return,
            Repair::New => {
                self.push(profile, out);
                if self.state.nxt > self.state.high {
                    return;
                }
                self.state.frto = false;
            }
            Repair::Lost => {}
        }
        self.resend_lost(profile, out);
    }
}
