//! How the congestion window moves: one file a control, one enum that names them.
//!
//! The sender finds out what was lost, marked and acknowledged, and sends again; a [`Control`] says how far the
//! window grows with an acknowledgement, what a loss or a mark leaves of it, and how fast segments follow each
//! other. Slow start, the reaction to a time-out and everything else that no control changes is the sender's.

pub mod bbr;
pub mod cubic;
pub mod dctcp;
pub mod delivery;
pub mod ledbat;
pub mod maximum;
pub mod reno;

use super::{Ack, Profile};
use aqm::unit::{Span, Time};
use bbr::Bbr;
use cubic::Cubic;
use dctcp::Dctcp;
use ledbat::Ledbat;
use scenario::model::{Congestion, Tcp};

/// A flow's congestion control and its state, which is on the heap so that a Reno flow does not pay for it.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is the choice of the same name in scenario::model::Congestion")]
pub enum Control {
    Reno,
    Cubic(Box<Cubic>),
    Dctcp(Box<Dctcp>),
    Ledbat(Box<Ledbat>),
    Bbr(Box<Bbr>),
}

/// An acknowledgement that lets the window grow.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// When it came.
    pub now: Time,
    /// Segments that it acknowledges for the first time.
    pub acked: u32,
    /// As how many these count in slow start.
    pub step: u32,
    /// Segments that were outstanding before it.
    pub flight: u32,
    /// The smoothed round trip; zero before the first measurement.
    pub rtt: Span,
}

impl Control {
    /// The control of a new connection.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        match profile.congestion {
            Congestion::Reno => Self::Reno,
            Congestion::Cubic => Self::Cubic(Box::default()),
            Congestion::Dctcp => Self::Dctcp(Box::default()),
            Congestion::Ledbat => Self::Ledbat(Box::new(Ledbat::new(profile.base_history))),
            Congestion::Bbr => Self::Bbr(Box::default()),
        }
    }

    /// Bytes of the state on the heap.
    #[must_use]
    pub fn bytes(tcp: &Tcp) -> u64 {
        let bytes = match tcp.congestion {
            Congestion::Reno => 0,
            Congestion::Cubic => size_of::<Cubic>(),
            Congestion::Dctcp => size_of::<Dctcp>(),
            Congestion::Ledbat => size_of::<Ledbat>() + tcp.base_history as usize * size_of::<Span>(),
            Congestion::Bbr => size_of::<Bbr>(),
        };
        bytes as u64
    }

    /// Bytes for every outstanding segment. Rings grow by doubling.
    #[must_use]
    pub fn bytes_a_segment(tcp: &Tcp) -> u64 {
        match tcp.congestion {
            Congestion::Bbr => 2 * delivery::RECORD as u64,
            _ => 0,
        }
    }

    /// Takes note of an acknowledgement before the sender acts on it; it has sent up to `next`, and `una` is the
    /// first segment that was not acknowledged before.
    #[inline]
    pub fn on_ack(&mut self, now: Time, profile: &Profile, ack: &Ack, una: u32, next: u32) {
        match self {
            Self::Dctcp(dctcp) => dctcp.on_ack(profile.g, ack, una, next),
            Self::Ledbat(ledbat) => {
                if let Some(delay) = ack.delay {
                    ledbat.on_delay(now, delay);
                }
            }
            Self::Reno | Self::Cubic(_) | Self::Bbr(_) => {}
        }
    }

    /// The window after an acknowledgement outside recovery.
    #[must_use]
    #[inline]
    pub fn grown(&mut self, profile: &Profile, cwnd: f64, ssthresh: f64, growth: &Growth) -> f64 {
        match self {
            Self::Ledbat(ledbat) => ledbat.grown(profile, cwnd, growth),
            Self::Bbr(_) => cwnd,
            // The application needs less than the window allows (RFC 9438, section 5.8).
            Self::Cubic(cubic) if f64::from(growth.flight) + 1.0 <= cwnd => {
                cubic.on_restart();
                cwnd
            }
            Self::Cubic(cubic) if cwnd >= ssthresh => cubic.grown(profile, cwnd, growth),
            Self::Reno | Self::Cubic(_) | Self::Dctcp(_) => reno::grown(cwnd, ssthresh, growth.step),
        }
    }

    /// The part of the window that a loss leaves.
    #[must_use]
    pub const fn kept(&self, profile: &Profile) -> f64 {
        match self {
            Self::Cubic(_) => profile.beta,
            _ => reno::KEPT,
        }
    }

    /// The window after a mark, for controls that answer it otherwise than a loss.
    #[must_use]
    pub fn after_mark(&self, cwnd: f64) -> Option<f64> {
        match self {
            Self::Dctcp(dctcp) => Some(dctcp.after_mark(cwnd)),
            Self::Bbr(_) => Some(cwnd),
            Self::Reno | Self::Cubic(_) | Self::Ledbat(_) => None,
        }
    }

    /// Whether a loss reduces the window even where a mark has done so in the same round trip.
    #[must_use]
    pub const fn marks_are_mild(&self) -> bool {
        matches!(self, Self::Dctcp(_) | Self::Bbr(_))
    }

    /// A loss was detected, or a mark that is answered like one, at this window.
    pub fn on_loss(&mut self, profile: &Profile, cwnd: f64) {
        match self {
            Self::Cubic(cubic) => cubic.on_loss(profile, cwnd),
            Self::Bbr(bbr) => bbr.on_loss(cwnd),
            Self::Reno | Self::Dctcp(_) | Self::Ledbat(_) => {}
        }
    }

    /// The retransmission timer went off at this window.
    pub fn on_timeout(&mut self, cwnd: f64) {
        match self {
            Self::Cubic(cubic) => cubic.on_timeout(cwnd),
            Self::Bbr(bbr) => bbr.on_timeout(cwnd),
            Self::Reno | Self::Dctcp(_) | Self::Ledbat(_) => {}
        }
    }

    /// The application has something to send again after all before was acknowledged; the window then.
    #[must_use]
    pub fn on_restart(&mut self, now: Time, cwnd: f64) -> f64 {
        match self {
            Self::Bbr(bbr) => return bbr.on_restart(now, cwnd),
            Self::Cubic(cubic) => cubic.on_restart(),
            Self::Reno | Self::Dctcp(_) | Self::Ledbat(_) => {}
        }
        cwnd
    }

    /// Whether segments are sent at a pace, and the window is the control's own in every phase.
    #[must_use]
    #[inline]
    pub const fn paced(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// Whether the pace allows a segment now; if not, [`Control::due`] says when.
    #[inline]
    pub fn may_send(&mut self, now: Time) -> bool {
        match self {
            Self::Bbr(bbr) => bbr.may_send(now),
            _ => true,
        }
    }

    /// A segment is sent; `idle` if nothing was outstanding.
    #[inline]
    pub fn on_send(&mut self, now: Time, seq: u32, idle: bool) {
        if let Self::Bbr(bbr) = self {
            bbr.on_send(now, seq, idle);
        }
    }

    /// When the pace allows the segment that waits for it; [`Time::MAX`] if none does.
    #[must_use]
    #[inline]
    pub const fn due(&self) -> Time {
        match self {
            Self::Bbr(bbr) => bbr.due(),
            _ => Time::MAX,
        }
    }

    /// The sender is about to try again what waits.
    pub fn on_wake(&mut self) {
        if let Self::Bbr(bbr) = self {
            bbr.on_wake();
        }
    }
}
