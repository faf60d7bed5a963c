//! A TCP sender of today: RACK-TLP, proportional rate reduction, F-RTO and undo, as in the Linux kernel.
//!
//! ```text
//!            SACK                 a loss by time: sent before what has arrived, and a round trip ago
//!   Open <--------> Disorder ----------------------------> Recovery
//!     |  \                                                    |  all that was out then is acknowledged,
//!     |   `-- echo of a mark --> CWR --> Open                  |  or it turns out that nothing was lost (undo)
//!     `------ time-out --------> Loss <------------------------'
//! ```
//!
//! A segment is lost when one sent later has arrived and its own round trip, and some for reordering, is over (RACK,
//! [`recovery`]). Where nothing comes back for two round trips the last segment is sent again to provoke a SACK (tail
//! loss probe, [`output`]). In Recovery and CWR the window follows what is delivered down to the threshold (PRR). A
//! time-out keeps what was sent recently out of the losses and, if what was never sent again is acknowledged after it,
//! is undone (F-RTO). Everything is counted in segments of one size.
//!
//! Names are the project's; each rule names the kernel's function. Read for facts: Linux 7.2, net/ipv4/tcp_input.c,
//! tcp_output.c, tcp_recovery.c, tcp_timer.c; RFC 8985 (RACK-TLP), RFC 9937 (PRR), RFC 5682 (F-RTO), RFC 4015 and 3708
//! (undo), RFC 3168 (ECN).
//!
//! # Departures from the source
//! * Packets are segments: no segmentation offload, and no small-queue limit, for a host's own queue is no bottleneck
//!   here. A flow's ends send data one way: no ping-pong mode, and an ACK never rides on data.
//! * The receive window is fixed (`max_window`), and the send buffer has no bound.
//! * ACKs that the kernel counts as window updates are duplicates here; with SACK nothing depends on it.
//! * A handshake takes a round trip; the SYN's options and its ACK's are not modelled. A connection's FIN rides on its
//!   last segment.

pub mod board;
pub mod clock;
pub mod minmax;
mod output;
pub mod rate;
pub mod receiver;
mod recovery;
mod reduction;
pub mod rtt;
mod sacks;
mod timers;

use crate::tcp::congestion::{CongestionControl as _, Control};
use crate::tcp::{Ack, DUP_THRESH, Outbox, Profile};
use aqm::unit::Time;
use board::Board;
use clock::Clock;
use rate::RateSample;
use reduction::Undo;
use rtt::Rtt;
use sacks::Rack;
use scenario::model::Halved;
use timers::Timer;

/// A threshold that was never set (`TCP_INFINITE_SSTHRESH`).
pub(super) const INFINITE: u32 = 0x7fff_ffff;

/// What a sender is doing about losses and marks, in the kernel's order (`tcp_ca_state`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Nothing unusual.
    Open,
    /// Something arrived out of order, or was sent again.
    Disorder,
    /// The window is coming down for a mark.
    Cwr,
    /// The window is coming down for a loss, which is being repaired.
    Recovery,
    /// The retransmission timer went off.
    Loss,
}

/// All that a sender knows but its control's own state.
#[derive(Clone, Debug)]
pub struct State {
    /// The present.
    pub clock: Clock,
    /// The first segment not acknowledged, the next to send, one past the last that the application will send.
    pub una: u32,
    /// See `una`.
    pub nxt: u32,
    end: u32,
    /// The congestion window and the slow-start threshold in segments.
    pub cwnd: u32,
    /// See `cwnd`.
    pub ssthresh: u32,
    /// Segments delivered towards the window's next (`snd_cwnd_cnt`).
    pub credit: u32,
    /// What it is doing about losses.
    pub phase: Phase,
    /// What is outstanding.
    pub board: Board,
    /// The round trip.
    pub rtt: Rtt,
    /// Segments delivered, and those of them in ACKs with an echo of a mark.
    pub delivered: u32,
    /// See `delivered`.
    pub delivered_marked: u32,
    /// When the latest was, in microseconds; when the first segment of the present rate sample was sent.
    pub(in crate::tcp) delivered_at: u64,
    first_at: u64,
    /// Until so many are delivered the application limits the rate; 0 if it does not.
    pub(in crate::tcp) limited_until: u32,
    /// Segments ever judged lost.
    pub lost: u32,
    /// When a segment was last sent, in ticks.
    pub sent_ticks: u32,
    /// The window before the present reduction, and the threshold to restore, 0 if none may be.
    pub prior_cwnd: u32,
    prior_ssthresh: u32,
    /// One past the highest segment out when this phase began.
    high: u32,
    /// Segments delivered and sent since the reduction began (PRR).
    prr_delivered: u32,
    prr_out: u32,
    undo: Undo,
    rack: Rack,
    /// Whether the window limited the sender, the most that was outstanding, and until which segment that counts.
    pub(in crate::tcp) window_limited: bool,
    most_out: u32,
    usage_end: u32,
    /// The most outstanding since the window was last full, and when that was.
    used: u32,
    full_ticks: u32,
    /// Whether the receiver took back what it SACKed.
    reneged: bool,
    /// Whether the next new segment says CWR.
    say_cwr: bool,
    /// Whether F-RTO is under way.
    frto: bool,
    /// Time-outs in a row.
    backoffs: u32,
    /// A tail loss probe is out: one past the highest segment then, 0 if none; whether it sent something again.
    probe_end: u32,
    probe_resent: bool,
    timer: Timer,
    /// The timestamp that the present ACK echoes, in ms.
    echo: u32,
    /// Segments sent again, and time-outs, since the start.
    resent: u32,
    timeouts: u32,
    /// Bytes a second; [`u64::MAX`] before a control sets it.
    pub pace: u64,
    /// When the pace allows the next segment, in ns on the clock of microseconds.
    pub(in crate::tcp) next_send: u64,
    /// Whether a segment waits for that.
    waiting: bool,
    /// First transmissions, which the pace spares at first.
    sent_new: u32,
}

/// The sending end of a connection.
#[derive(Clone, Debug)]
pub struct Sender {
    control: Control,
    state: State,
}

/// What an acknowledgement turned out to be (the kernel's `FLAG_…`).
#[derive(Clone, Copy, Default, Debug)]
struct Found {
    /// The first outstanding segment advanced.
    advanced: bool,
    /// Data was acknowledged; data that had been sent again was.
    acked: bool,
    resent_acked: bool,
    /// Data was SACKed.
    sacked: bool,
    /// Data that was out when the phase began and never sent again was acknowledged or SACKed.
    original: bool,
    /// It echoes a mark.
    echo: bool,
    /// It says that something came twice; that this was a tail loss probe.
    twice: bool,
    probe_twice: bool,
    /// The first outstanding segment had been SACKed.
    reneging: bool,
    /// What was sent again is lost.
    resent_lost: bool,
    /// The timer is to be set anew.
    timer: bool,
    /// When the first and the last of what was SACKed and never sent again were sent, in microseconds.
    first_sacked: Option<u64>,
    last_sacked: u64,
}

/// What is to be sent after an acknowledgement besides new data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Repair {
    Nothing,
    Lost,
    /// F-RTO: two new segments, to see whether the time-out was right.
    New,
}

impl State {
    pub(in crate::tcp) fn new(profile: &Profile, segments: u32) -> Self {
        let first = profile.first();
        Self {
            clock: Clock::at(Time::ZERO, profile.tcp.tick),
            una: first,
            nxt: first,
            end: segments.saturating_add(1),
            cwnd: profile.initial_window,
            ssthresh: INFINITE,
            credit: 0,
            phase: Phase::Open,
            board: Board::new(first),
            rtt: Rtt::new(profile),
            delivered: first, // the SYN is delivered first
            delivered_marked: 0,
            delivered_at: 0,
            first_at: 0,
            limited_until: u32::from(!profile.tcp.handshake),
            lost: 0,
            sent_ticks: 0,
            prior_cwnd: 0,
            prior_ssthresh: 0,
            high: 0,
            prr_delivered: 0,
            prr_out: 0,
            undo: Undo::default(),
            rack: Rack::default(),
            window_limited: false,
            most_out: 0,
            usage_end: 0,
            used: 0,
            full_ticks: 0,
            reneged: false,
            say_cwr: false,
            frto: false,
            backoffs: 0,
            probe_end: 0,
            probe_resent: false,
            timer: Timer::default(),
            echo: 0,
            resent: 0,
            timeouts: 0,
            pace: u64::MAX,
            next_send: 0,
            waiting: false,
            sent_new: 0,
        }
    }

    /// Whether the window is below the threshold.
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether the window is what limits the sender; in slow start it may be twice what was used
    /// (`tcp_is_cwnd_limited`).
    #[must_use]
    pub const fn is_window_limited(&self) -> bool {
        self.window_limited || self.in_slow_start() && self.cwnd < 2 * self.most_out
    }

    /// Segments that a control reduces: the window, or what is outstanding (RFC 5681, equation 4).
    #[must_use]
    pub fn to_reduce(&self, profile: &Profile) -> u32 {
        match profile.tcp.halved {
            Halved::Window => self.cwnd,
            Halved::Flight => self.cwnd.min(self.board.len()),
        }
    }

    /// Whether the window is coming down (`tcp_in_cwnd_reduction`).
    const fn is_reducing(&self) -> bool {
        matches!(self.phase, Phase::Cwr | Phase::Recovery)
    }

    /// The pace in bytes a second at which a sender without one of its own is taken to send: twice the window a round
    /// trip in slow start, 1.2 times above (`tcp_update_pacing_rate`).
    #[must_use]
    pub fn usual_pace(&self, profile: &Profile) -> u64 {
        let percent = if self.cwnd < self.ssthresh / 2 { 200 } else { 120 };
        let window = u64::from(self.cwnd.max(self.board.len())) * u64::from(profile.payload());
        window * percent * 10_000 / self.rtt.smoothed().max(1)
    }

    const fn refresh(&mut self, now: Time, profile: &Profile) {
        self.clock = Clock::at(now, profile.tcp.tick);
    }
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

    /// What it knows.
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
        // There was more room than data (`tcp_rate_check_app_limited`).
        let in_flight = state.board.in_flight();
        if state.nxt >= state.end && in_flight < state.cwnd && state.board.lost <= state.board.resent {
            state.limited_until = (state.delivered + in_flight).max(1);
        }
        state.end = state.end.saturating_add(segments);
        if state.una > 0 || !profile.tcp.handshake {
            self.restart_after_idle(profile);
            self.push(profile, out);
        }
    }

    /// The application has nothing more than what was sent already.
    pub fn on_stop(&mut self) {
        self.state.end = self.state.end.min(self.state.nxt.max(1));
    }

    /// The connection is open (`tcp_init_transfer`).
    fn open(&mut self, profile: &Profile) {
        let state = &mut self.state;
        state.phase = Phase::Open;
        state.ssthresh = profile.initial_ssthresh.min(INFINITE);
        // A second SYN that was lost leaves one segment; none was if the first is answered (`tcp_try_undo_spurious_syn`).
        let answered = state.echo != 0 && state.echo == state.undo.since;
        state.cwnd = if state.resent > 1 && !answered { 1 } else { profile.initial_window };
        state.undo = Undo::default();
        state.full_ticks = state.clock.ticks;
        self.control.on_open(&mut self.state, profile);
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
        let mut found = Found::default();
        let mut sample = RateSample { prior_in_flight: state.board.in_flight(), ..RateSample::default() };
        if ack.next < prior_una {
            if ack.has_blocks() {
                self.state.tag(prior_una, ack, &mut found, &mut sample);
                let repair = self.alert(profile, prior_una, &mut found);
                self.repair(profile, repair, out);
            }
            return self.push(profile, out);
        }
        let (delivered, lost) = (state.delivered, state.lost);
        let prior_high = state.board.high_sacked();
        found.advanced = ack.next > prior_una;
        if found.advanced {
            state.backoffs = 0;
            state.una = ack.next;
        }
        let news = if ack.has_blocks() { state.tag(prior_una, ack, &mut found, &mut sample) } else { 0 };
        found.echo = profile.tcp.ecn && ack.ece;
        state.count_delivered(news, found.echo);
        if state.board.is_empty() {
            self.control.on_ack(&mut self.state, profile);
            if found.twice {
                self.alert(profile, prior_una, &mut found);
            }
            self.settle_probe(profile, ack.next, &found);
            return self.push(profile, out);
        }
        self.take_off(profile, prior_high, &mut found, &mut sample);
        self.state.rack.widen(sample.prior_delivered, self.state.delivered);
        self.control.on_ack(&mut self.state, profile);
        self.settle_probe(profile, ack.next, &found);
        let mut repair = Repair::Nothing;
        let usual = found.acked && !found.sacked && !found.echo && !found.twice;
        if !usual || self.state.phase != Phase::Open {
            repair = self.alert(profile, prior_una, &mut found);
        }
        if found.timer {
            self.state.set_timer(profile);
        }
        let state = &mut self.state;
        state.sample(state.delivered - delivered, state.lost - lost, &mut sample);
        self.control_window(profile, &found, &sample);
        self.repair(profile, repair, out);
        self.push(profile, out);
    }

    /// Lets the window move (`tcp_cong_control`).
    fn control_window(&mut self, profile: &Profile, found: &Found, sample: &RateSample) {
        if self.control.steers() {
            self.control.steer(&mut self.state, profile, sample);
        } else if self.state.is_reducing() {
            self.state.reduce(sample.delivered, sample.lost, found.advanced);
        } else {
            // Where much is reordered what is SACKed counts too (`tcp_may_raise_cwnd`).
            if found.acked || self.state.rack.reordering > DUP_THRESH && found.sacked {
                self.control.grow(&mut self.state, profile, sample.delivered);
                self.state.full_ticks = self.state.clock.ticks;
            }
        }
    }
}
