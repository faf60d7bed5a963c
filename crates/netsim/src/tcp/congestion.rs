//! Congestion controls: one file and one line in the list for each.
//!
//! A control implements [`CongestionControl`]. The sender handles losses, marks, retransmissions and timers; the control
//! decides how far the window grows and how much remains after a reduction. A new control is a file with a type that
//! implements the trait, a line in the list below, and an entry in `crates/scenario/src/model/tcp.rs` with its name,
//! its parameters and the senders that it serves.

mod control;
pub mod growth;

pub use control::{CongestionControl, Event};

use super::rack::rate::RateSample;
use super::rack::{Phase, State};
use aqm::unit::{Span, Time};
use growth::Growth;
use scenario::model::{Congestion, Profile, Tcp};

macro_rules! controls {
    ($($module:ident::$control:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// A flow's congestion control and its state, which is on the heap: there may be a hundred thousand flows.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "each is the choice of the same name in scenario::model::Congestion")]
        pub enum Control { $($control(Box<$module::$control>)),* }

        impl Control {
            /// Bytes of the state on the heap.
            #[must_use]
            pub fn bytes(tcp: &Tcp) -> usize {
                match tcp.congestion {
                    $(Congestion::$control => $module::$control::bytes(tcp)),*
                }
            }
        }

        impl CongestionControl for Control {
            fn new(profile: &Profile) -> Self {
                match profile.tcp.congestion {
                    $(Congestion::$control => Self::$control(Box::new($module::$control::new(profile)))),*
                }
            }
            fn on_open(&mut self, state: &mut State, profile: &Profile) {
                match self { $(Self::$control(control) => control.on_open(state, profile)),* }
            }
            fn threshold(&mut self, state: &State, profile: &Profile) -> u32 {
                match self { $(Self::$control(control) => control.threshold(state, profile)),* }
            }
            #[inline]
            fn watches_application(&self) -> bool {
                match self { $(Self::$control(control) => control.watches_application()),* }
            }
            #[inline]
            fn on_send(&mut self, state: &State, seq: u32) {
                match self { $(Self::$control(control) => control.on_send(state, seq)),* }
            }
            fn on_lost(&mut self, state: &State, profile: &Profile, seq: u32, lost: u32) {
                match self { $(Self::$control(control) => control.on_lost(state, profile, seq, lost)),* }
            }
            #[inline]
            fn grow(&mut self, state: &mut State, profile: &Profile, delivered: u32) {
                match self { $(Self::$control(control) => control.grow(state, profile, delivered)),* }
            }
            #[inline]
            fn on_rtt(&mut self, state: &mut State, profile: &Profile, us: u64) {
                match self { $(Self::$control(control) => control.on_rtt(state, profile, us)),* }
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
            fn undone(&mut self, state: &mut State) -> u32 {
                match self { $(Self::$control(control) => control.undone(state)),* }
            }
            #[inline]
            fn steers(&self) -> bool {
                match self { $(Self::$control(control) => control.steers()),* }
            }
            #[inline]
            fn steer(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
                match self { $(Self::$control(control) => control.steer(state, profile, sample)),* }
            }
            #[inline]
            fn on_delay(&mut self, now: Time, delay: Span) {
                match self { $(Self::$control(control) => control.on_delay(now, delay)),* }
            }
            #[inline]
            fn grown(&self, profile: &Profile, cwnd: f64, ssthresh: f64, growth: &Growth) -> f64 {
                match self { $(Self::$control(control) => control.grown(profile, cwnd, ssthresh, growth)),* }
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
    ledbat::Ledbat,
}
