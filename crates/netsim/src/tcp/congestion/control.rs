//! The trait of a congestion control.

use super::growth::{self, Growth};
use crate::tcp::rack::rate::RateSample;
use crate::tcp::rack::{Phase, State};
use aqm::unit::{Span, Time};
use scenario::model::{Profile, Tcp};

/// Something that happened to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A segment is sent with none in the network.
    Start,
    /// The retransmission timer went off and the window is about to be reduced.
    Loss,
    /// A reduction of the window is complete.
    Reduced,
    /// A tail loss probe has repaired the loss of a segment.
    Repaired,
}

/// A congestion control. The defaults are Reno's.
///
/// A control that serves `rack` senders ([`crate::tcp::rack`]) implements the first group of functions: what Linux
/// asks a `tcp_congestion_ops`. One that serves classic senders implements the second.
pub trait CongestionControl {
    /// The state of a new connection.
    fn new(profile: &Profile) -> Self;

    /// Bytes of the state on the heap.
    #[must_use]
    fn bytes(_: &Tcp) -> usize
    where
        Self: Sized,
    {
        size_of::<Self>()
    }

    /// The connection is open.
    fn on_open(&mut self, _: &mut State, _: &Profile) {}

    /// The slow-start threshold that a loss or a mark leaves, in segments.
    fn threshold(&mut self, state: &State, profile: &Profile) -> u32 {
        (state.to_reduce(profile) / 2).max(growth::LEAST)
    }

    /// Whether an acknowledgement and a timer, too, look whether the application limits the rate.
    fn watches_application(&self) -> bool {
        false
    }

    /// Segment `seq` is about to be sent, for the first time or again.
    fn on_send(&mut self, _: &State, _: u32) {}

    /// Segment `seq` was judged lost; with it, `lost` were so far. Only if [`State::losses`] is there.
    fn on_lost(&mut self, _: &State, _: &Profile, _seq: u32, _lost: u32) {}

    /// `delivered` segments were delivered: the window may grow.
    fn grow(&mut self, state: &mut State, _: &Profile, delivered: u32) {
        growth::grow(state, delivered);
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

    /// Whether it sets window and pace itself in every phase ([`CongestionControl::steer`]).
    fn steers(&self) -> bool {
        false
    }

    /// Sets window and pace after an acknowledgement.
    fn steer(&mut self, _: &mut State, _: &Profile, _: &RateSample) {}

    /// A classic sender's acknowledgement carries a one-way delay.
    fn on_delay(&mut self, _: Time, _: Span) {}

    /// A classic sender's window after an acknowledgement outside recovery.
    fn grown(&self, _: &Profile, cwnd: f64, ssthresh: f64, growth: &Growth) -> f64 {
        growth::grown(cwnd, ssthresh, growth.step)
    }
}
