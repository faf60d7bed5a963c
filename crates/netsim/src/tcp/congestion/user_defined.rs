//! A control that is written outside, in Python for instance, as a sender calls it.
//!
//! The control works on a window of real numbers, of which the sender takes the whole segments. What the sender does to its
//! window itself, as in a reduction, the control sees at its next event; a fraction of a segment lasts until then.

use super::{CongestionControl, Event};
use crate::tcp::rack::{Cause, INFINITE, Phase, State};
use scenario::model::user_defined::{Connection, Flow, Hook, Instance, Params, Window};
use scenario::model::{Congestion, Profile};

/// A user-defined control and its window.
#[derive(Debug)]
pub struct UserDefined {
    params: &'static Params,
    /// `None` before the connection is open.
    instance: Option<Box<dyn Instance>>,
    window: Window,
    /// The last measured round trip in microseconds.
    rtt_us: u64,
    /// Whether the control knows of the present time-out.
    knows: bool,
}

impl Clone for UserDefined {
    fn clone(&self) -> Self {
        let instance = self.instance.as_ref().map(|instance| instance.copy());
        Self { instance, ..*self }
    }
}

/// A number of segments as the sender counts them.
fn whole(segments: f64) -> u32 {
    segments.min(f64::from(INFINITE)) as u32
}

/// The number `ours`, or the sender's if it is another.
fn kept(ours: f64, senders: u32) -> f64 {
    if whole(ours) == senders { ours } else { f64::from(senders) }
}

impl UserDefined {
    /// Lets the control see an event that it wants to know of; whether it does.
    fn tell(&mut self, hook: Hook, state: &State, profile: &Profile, acked: u32, repeated: bool) -> bool {
        let Some(hook) = self.params.declaration().kind.called(hook) else { return false };
        let Some(instance) = &mut self.instance else { return false };
        self.window.cwnd = kept(self.window.cwnd, state.cwnd);
        self.window.ssthresh = kept(self.window.ssthresh, state.ssthresh);
        let idle = (state.clock.ticks.wrapping_sub(state.sent_ticks) as i32).max(0);
        let flow = Flow {
            now_ns: state.clock.now.nanos() as i64,
            acked: acked.into(),
            rtt_us: self.rtt_us as i64,
            srtt_us: state.rtt.smoothed() as i64,
            in_flight: state.board.in_flight().into(),
            outstanding: state.board.len().into(),
            delivered: state.delivered.into(),
            marked: state.delivered_marked.into(),
            lost: state.lost.into(),
            acknowledged: state.una.into(),
            sent: state.nxt.into(),
            idle_ns: i64::from(idle) * profile.tcp.tick.nanos() as i64,
            limited: state.is_window_limited(),
            paced: state.pace != u64::MAX,
            repeated,
        };
        instance.on(hook, &flow, &mut self.window);
        true
    }

    /// The sender takes the window, the threshold and the pace.
    fn take(&self, state: &mut State) {
        state.cwnd = whole(self.window.cwnd);
        self.take_threshold(state);
    }

    fn take_threshold(&self, state: &mut State) {
        state.ssthresh = whole(self.window.ssthresh);
        self.take_pace(state);
    }

    fn take_pace(&self, state: &mut State) {
        let pace = self.window.pacing_rate;
        if pace < f64::INFINITY {
            (state.pace, state.paced_by_host) = (((pace / 8.0) as u64).max(1), false);
        } else if !state.paced_by_host {
            state.pace = u64::MAX;
        }
    }
}

impl CongestionControl for UserDefined {
    fn new(profile: &Profile) -> Self {
        let Congestion::UserDefined(control) = profile.tcp.congestion else {
            unreachable!("{:?} is another control", profile.tcp.congestion)
        };
        let window = Window { cwnd: 0.0, ssthresh: 0.0, pacing_rate: f64::INFINITY };
        Self { params: control.params(), instance: None, window, rtt_us: 0, knows: false }
    }

    fn on_open(&mut self, state: &mut State, profile: &Profile) {
        let connection = Connection {
            payload: profile.payload(),
            size: profile.size,
            tick_ns: profile.tcp.tick.nanos(),
            ecn: profile.tcp.ecn,
            now_ns: state.clock.now.nanos(),
            sent: state.nxt,
        };
        (self.window.cwnd, self.window.ssthresh) = (state.cwnd.into(), state.ssthresh.into());
        let maker = &self.params.declaration().kind.maker;
        self.instance = Some(maker.make(&self.params.all_plain(), &connection, &mut self.window));
        self.take(state);
    }

    fn ssthresh(&mut self, state: &State, profile: &Profile) -> u32 {
        let hook = match state.cause {
            Cause::Loss => Hook::Loss,
            Cause::Mark => Hook::Ecn,
            Cause::Timeout => Hook::Timeout,
        };
        self.knows = state.cause == Cause::Timeout;
        self.tell(hook, state, profile, 0, false);
        whole(self.window.ssthresh)
    }

    fn cong_avoid(&mut self, state: &mut State, profile: &Profile, acked: u32) {
        if self.tell(Hook::Ack, state, profile, acked, false) {
            self.take(state);
        }
    }

    fn on_rtt(&mut self, state: &mut State, profile: &Profile, rtt_us: u64) {
        self.rtt_us = rtt_us;
        if self.tell(Hook::Rtt, state, profile, 0, false) {
            self.take(state);
        }
    }

    fn on_phase(&mut self, state: &mut State, profile: &Profile, next: Phase) {
        let again = next == Phase::Loss && !std::mem::take(&mut self.knows);
        // A control that takes a time-out for a loss does not lower its threshold again.
        let wants = self.params.declaration().kind.has[Hook::Timeout as usize];
        if again && wants && self.tell(Hook::Timeout, state, profile, 0, true) {
            self.take_threshold(state);
        }
        // `ssthresh`, which comes before, cannot set it.
        self.take_pace(state);
    }

    fn on_event(&mut self, state: &mut State, profile: &Profile, event: Event) {
        if event == Event::TxStart && self.tell(Hook::Restart, state, profile, 0, false) {
            self.take(state);
        }
    }
}
