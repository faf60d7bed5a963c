//! Congestion controls: one file and one line in a list for each.
//!
//! The sender handles losses, marks, retransmissions and timers; the control decides how far the window grows and how much
//! remains after a reduction. The two kinds of senders ask different things: a `rack` sender what Linux asks
//! ([`CongestionControl`]), a classic one only for the window after an ACK ([`classic`]).
//!
//! A new control for `rack` senders is a file with a type that implements the trait, a line in the list below, and an entry in
//! `crates/scenario/src/model/tcp.rs` with its name, its parameters and the senders that it serves. A control that is written
//! outside, in Python for instance, is called by [`user_defined`].

pub mod classic;
mod control;
pub mod growth;
pub mod ledbat;

pub use control::{CongestionControl, Event};

use super::rack::rate::RateSample;
use super::rack::{Phase, State};
use scenario::model::{Congestion, Profile, Tcp};

macro_rules! controls {
    ($($module:ident::$control:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// A `rack` sender's congestion control and its state, which is on the heap because there may be a hundred thousand
        /// flows.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "each is the choice of the same name in scenario::model::Congestion")]
        pub enum Control { $($control(Box<$module::$control>)),* }

        impl Control {
            /// Bytes of the state on the heap.
            #[must_use]
            pub const fn bytes(tcp: &Tcp) -> usize {
                match tcp.congestion {
                    $(Congestion::$control { .. } => size_of::<$module::$control>(),)*
                    _ => 0,
                }
            }
        }

        impl CongestionControl for Control {
            fn new(profile: &Profile) -> Self {
                match profile.tcp.congestion {
                    $(Congestion::$control { .. } => Self::$control(Box::new($module::$control::new(profile))),)*
                    other => unreachable!("{other:?} does not serve rack senders"),
                }
            }
            fn on_open(&mut self, state: &mut State, profile: &Profile) {
                match self { $(Self::$control(control) => control.on_open(state, profile)),* }
            }
            fn ssthresh(&mut self, state: &State, profile: &Profile) -> u32 {
                match self { $(Self::$control(control) => control.ssthresh(state, profile)),* }
            }
            #[inline]
            fn rechecks_app_limited(&self) -> bool {
                match self { $(Self::$control(control) => control.rechecks_app_limited()),* }
            }
            fn most_at_once(&self, state: &State, profile: &Profile) -> u32 {
                match self { $(Self::$control(control) => control.most_at_once(state, profile)),* }
            }
            #[inline]
            fn on_send(&mut self, state: &State, seq: u32) {
                match self { $(Self::$control(control) => control.on_send(state, seq)),* }
            }
            fn on_lost(&mut self, state: &State, profile: &Profile, seq: u32, lost: u32) {
                match self { $(Self::$control(control) => control.on_lost(state, profile, seq, lost)),* }
            }
            #[inline]
            fn cong_avoid(&mut self, state: &mut State, profile: &Profile, acked: u32) {
                match self { $(Self::$control(control) => control.cong_avoid(state, profile, acked)),* }
            }
            #[inline]
            fn on_rtt(&mut self, state: &mut State, profile: &Profile, rtt_us: u64) {
                match self { $(Self::$control(control) => control.on_rtt(state, profile, rtt_us)),* }
            }
            fn on_phase(&mut self, state: &mut State, profile: &Profile, next: Phase) {
                match self { $(Self::$control(control) => control.on_phase(state, profile, next)),* }
            }
            #[inline]
            fn on_event(&mut self, state: &mut State, profile: &Profile, event: Event) {
                match self { $(Self::$control(control) => control.on_event(state, profile, event)),* }
            }
            #[inline]
            fn on_ack(&mut self, state: &mut State, profile: &Profile) {
                match self { $(Self::$control(control) => control.on_ack(state, profile)),* }
            }
            fn undo_cwnd(&mut self, state: &mut State) -> u32 {
                match self { $(Self::$control(control) => control.undo_cwnd(state)),* }
            }
            #[inline]
            fn has_cong_control(&self) -> bool {
                match self { $(Self::$control(control) => control.has_cong_control()),* }
            }
            #[inline]
            fn cong_control(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
                match self { $(Self::$control(control) => control.cong_control(state, profile, sample)),* }
            }
        }
    };
}

controls! {
    reno::Reno,
    cubic::Cubic,
    dctcp::Dctcp,
    prague::Prague,
    bbr::Bbr,
    bbr3::Bbr3,
    user_defined::UserDefined,
}
