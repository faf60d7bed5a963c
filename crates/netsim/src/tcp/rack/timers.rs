//! The setting of the timer, and the actions when it expires: retransmission, tail loss probe, or RACK's wait for
//! reordering.

use super::clock;
use super::clock::{ticks_of, ticks_of_us, us_of_ticks};
use super::sacks::LEAST_TIMEOUT_US;
use super::sender::Sender;
use super::state::{Phase, State};
use super::timer::Pending;
use crate::tcp::Outbox;
use crate::tcp::congestion::CongestionControl as _;
use aqm::unit::Time;
use scenario::model::Profile;

/// Lost SYNs after which the time-out doubles (`tcp_syn_linear_timeouts`).
const LINEAR_SYNS: u32 = 4;
/// For so long the ACK of a lone segment may be delayed, in microseconds (RFC 8985, section 7.2; `TCP_RTO_MIN`).
const LONGEST_DELAY_US: u64 = 200_000;
/// The least time for a receiver that seems to have reneged, in microseconds.
const RENEGING_US: u64 = 10_000;

impl State {
    /// Starts the retransmission timer, where a probe or RACK had it from when the head was sent (`tcp_rearm_rto`).
    pub(super) fn start_rto(&mut self, profile: &Profile) {
        if self.board.is_empty() {
            return self.timer.clear();
        }
        let mut ticks = self.rtt.rto;
        if matches!(self.timer.pending, Pending::Reordering | Pending::Probe) {
            ticks = ticks_of_us(self.until_rto(profile).max(1) as u64, profile.tcp.tick);
        }
        let ticks = ticks + self.pace_ticks(profile);
        self.timer.set(&self.clock, Pending::Retransmission, ticks, profile);
    }

    /// The same from now on, whatever it was set for.
    pub(super) fn restart_rto(&mut self, profile: &Profile) {
        let ticks = self.rtt.rto + self.pace_ticks(profile);
        self.timer.set(&self.clock, Pending::Retransmission, ticks, profile);
    }

    /// The time to the head's time-out, in microseconds (`tcp_rto_delta_us`).
    fn until_rto(&self, profile: &Profile) -> i64 {
        let rto = us_of_ticks(self.rtt.rto, profile.tcp.tick) as i64;
        self.board.head().map_or(rto, |head| head.at as i64 + rto - self.clock.us as i64)
    }

    /// Sets the timer for a tail loss probe or, where there may be none, for retransmission (`tcp_set_xmit_timer`).
    pub(super) fn set_timer(&mut self, profile: &Profile) {
        if self.board.is_empty() || !self.schedule_probe(profile, true) {
            self.start_rto(profile);
        }
    }

    /// Sets the timer for a tail loss probe in two round trips (`tcp_schedule_loss_probe`); whether there may be one.
    pub(super) fn schedule_probe(&mut self, profile: &Profile, advancing: bool) -> bool {
        if !matches!(self.phase, Phase::Open | Phase::Cwr) {
            return false;
        }
        let mut ticks = if self.rtt.srtt8 > 0 {
            // A single segment's ACK may be delayed.
            let more = if self.board.len() == 1 {
                LONGEST_DELAY_US.min(profile.tcp.min_rto.nanos() / 1000)
            } else {
                LEAST_TIMEOUT_US
            };
            ticks_of_us((self.rtt.srtt8 >> 2) + more, profile.tcp.tick)
        } else {
            ticks_of(profile.tcp.initial_rto, profile.tcp.tick)
        };
        let rto = if advancing {
            us_of_ticks(self.rtt.rto, profile.tcp.tick) as i64
        } else {
            self.until_rto(profile)
        };
        if rto > 0 {
            ticks = ticks.min(ticks_of_us(rto as u64, profile.tcp.tick));
        }
        let ticks = ticks + self.pace_ticks(profile);
        self.timer.set(&self.clock, Pending::Probe, ticks, profile);
        true
    }

    /// The receiver seems to have reneged: it gets half a round trip (`tcp_check_sack_reneging`).
    pub(super) fn wait_for_sacks(&mut self, profile: &Profile) {
        let ticks = ticks_of_us((self.rtt.srtt8 >> 4).max(RENEGING_US), profile.tcp.tick);
        self.timer.set(&self.clock, Pending::Retransmission, ticks, profile);
    }
}

impl Sender {
    /// A deadline has come (`tcp_write_timer_handler`).
    pub fn on_timer(&mut self, now: Time, profile: &Profile, out: &mut impl Outbox) {
        let state = &mut self.state;
        state.refresh(now, profile);
        if state.waiting && clock::instant(state.next_send.div_ceil(1000)) <= now {
            state.waiting = false;
            self.on_pace(profile, out);
        }
        let state = &mut self.state;
        if state.timer.goes_off > now {
            return;
        }
        if self.control.rechecks_app_limited() {
            self.state.note_limit();
        }
        let state = &mut self.state;
        match state.timer.pending {
            Pending::Nothing => state.timer.clear(),
            Pending::Reordering => self.on_reordering_over(profile, out),
            Pending::Probe => self.probe(profile, out),
            Pending::Retransmission => {
                state.timer.clear();
                self.on_timeout(profile, out);
            }
        }
    }

    /// The pace allows the segment that waits (`tcp_tsq_write`).
    fn on_pace(&mut self, profile: &Profile, out: &mut impl Outbox) {
        let state = &self.state;
        if state.board.lost > state.board.resent && state.cwnd > state.board.in_flight() {
            self.resend_lost(profile, out);
        }
        self.push(profile, out);
    }

    /// Reordering has had its time (`tcp_rack_reo_timeout`).
    fn on_reordering_over(&mut self, profile: &Profile, out: &mut impl Outbox) {
        let (before, lost) = (self.state.board.in_flight(), self.state.lost);
        self.state.detect_losses();
        self.report_losses(profile);
        if before != self.state.board.in_flight() {
            if self.state.phase != Phase::Recovery {
                self.enter_recovery(profile, false);
                if !self.control.has_cong_control() {
                    self.state.reduce(1, self.state.lost - lost, false);
                }
            }
            self.resend_lost(profile, out);
        }
        if self.state.timer.pending != Pending::Retransmission {
            self.state.start_rto(profile);
        }
    }

    /// The retransmission timer went off (`tcp_retransmit_timer`).
    fn on_timeout(&mut self, profile: &Profile, out: &mut impl Outbox) {
        if self.state.board.is_empty() {
            return;
        }
        self.state.timeouts += 1;
        let syn = self.state.una == 0 && profile.tcp.handshake;
        if !syn {
            self.enter_loss(profile);
        }
        self.state.backoffs += 1;
        let head = self.state.board.base();
        self.resend(head, 1, true, profile, out);
        let state = &mut self.state;
        if !syn || state.timeouts > LINEAR_SYNS {
            state.rtt.back_off(profile);
        }
        let rto = state.rtt.rto;
        state.timer.set(&state.clock, Pending::Retransmission, rto, profile);
    }
}
