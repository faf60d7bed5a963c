//! How the window moves: one file a control, one line in the list.
//!
//! A control is asked what Linux asks a `tcp_congestion_ops` and may use all that the sender knows. Losses, marks and
//! retransmissions are the sender's; a control says how far the window grows and what is left of it. One more is a
//! file, a line here, and its name in `scenario::model::Congestion`.

pub mod bbr;
pub mod cubic;
pub mod dctcp;
pub mod reno;

use super::rate::RateSample;
use super::{Phase, State};
use crate::tcp::Profile;
use scenario::model::Congestion;

/// Something that happened to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A segment is sent with none in the network.
    Start,
    /// The retransmission timer went off and the window is about to be reduced.
    Loss,
    /// A reduction of the window is complete.
    Reduced,
}

/// What a control does. The defaults are Reno's.
pub trait Rules {
    /// The connection is open.
    fn on_open(&mut self, _: &mut State, _: &Profile) {}

    /// The slow-start threshold that a loss or a mark leaves, in segments.
    fn threshold(&mut self, state: &State, profile: &Profile) -> u32 {
        (state.to_reduce(profile) / 2).max(reno::LEAST)
    }

    /// So many segments were delivered: the window may grow.
    fn grow(&mut self, state: &mut State, _: &Profile, delivered: u32) {
        reno::grow(state, delivered);
    }

    /// A round trip was measured, in microseconds.
    fn on_rtt(&mut self, _: &mut State, _: &Profile, _: u64) {}

    /// The sender is about to enter another phase.
    fn on_phase(&mut self, _: &mut State, _: &Profile, _: Phase) {}

    /// Something happened.
    fn on_event(&mut self, _: &mut State, _: &Profile, _: Event) {}

    /// An acknowledgement came and was taken in.
    fn on_ack(&mut self, _: &mut State, _: &Profile) {}

    /// The window after a reduction that turned out to be wrong.
    fn undone(&mut self, state: &mut State) -> u32 {
        state.cwnd.max(state.prior_cwnd)
    }

    /// Whether it sets window and pace itself in every phase ([`Rules::steer`]).
    fn steers(&self) -> bool {
        false
    }

    /// Sets window and pace after an acknowledgement.
    fn steer(&mut self, _: &mut State, _: &Profile, _: &RateSample) {}
}

macro_rules! controls {
    ($($(#[$doc:meta])* $name:ident($rules:ty)),* $(,)?) => {
        /// A flow's congestion control and its state, which is on the heap: there may be a hundred thousand flows.
        #[derive(Clone, Debug)]
        #[allow(missing_docs, reason = "each is the choice of the same name in scenario::model::Congestion")]
        pub enum Control { $($(#[$doc])* $name(Box<$rules>)),* }

        impl Control {
            /// The control of a new connection; `None` if these senders have none of this name.
            #[must_use]
            pub fn new(congestion: Congestion) -> Option<Self> {
                match congestion {
                    $(Congestion::$name => Some(Self::$name(Box::default())),)*
                    _ => None,
                }
            }

            /// Bytes of the state on the heap.
            #[must_use]
            pub fn bytes(congestion: Congestion) -> usize {
                match congestion {
                    $(Congestion::$name => size_of::<$rules>(),)*
                    _ => 0,
                }
            }
        }

        impl Rules for Control {
            fn on_open(&mut self, state: &mut State, profile: &Profile) {
                match self { $(Self::$name(rules) => rules.on_open(state, profile)),* }
            }
            fn threshold(&mut self, state: &State, profile: &Profile) -> u32 {
                match self { $(Self::$name(rules) => rules.threshold(state, profile)),* }
            }
            #[inline]
            fn grow(&mut self, state: &mut State, profile: &Profile, delivered: u32) {
                match self { $(Self::$name(rules) => rules.grow(state, profile, delivered)),* }
            }
            #[inline]
            fn on_rtt(&mut self, state: &mut State, profile: &Profile, us: u64) {
                match self { $(Self::$name(rules) => rules.on_rtt(state, profile, us)),* }
            }
            fn on_phase(&mut self, state: &mut State, profile: &Profile, next: Phase) {
                match self { $(Self::$name(rules) => rules.on_phase(state, profile, next)),* }
            }
            #[inline]
            fn on_event(&mut self, state: &mut State, profile: &Profile, event: Event) {
                match self { $(Self::$name(rules) => rules.on_event(state, profile, event)),* }
            }
            #[inline]
            fn on_ack(&mut self, state: &mut State, profile: &Profile) {
                match self { $(Self::$name(rules) => rules.on_ack(state, profile)),* }
            }
            fn undone(&mut self, state: &mut State) -> u32 {
                match self { $(Self::$name(rules) => rules.undone(state)),* }
            }
            #[inline]
            fn steers(&self) -> bool {
                match self { $(Self::$name(rules) => rules.steers()),* }
            }
            #[inline]
            fn steer(&mut self, state: &mut State, profile: &Profile, sample: &RateSample) {
                match self { $(Self::$name(rules) => rules.steer(state, profile, sample)),* }
            }
        }
    };
}

controls! {
    Reno(reno::Reno),
    Cubic(cubic::Cubic),
    Dctcp(dctcp::Dctcp),
    Bbr(bbr::Bbr),
}

/// Whether a control works by marks alone, so that everything is sent ECN-capable (`TCP_CONG_NEEDS_ECN`).
#[must_use]
pub const fn needs_ecn(congestion: Congestion) -> bool {
    matches!(congestion, Congestion::Dctcp)
}
