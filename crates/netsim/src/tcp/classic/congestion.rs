//! How a classic sender's congestion window grows: one file a control, one enum that names them.
//!
//! A loss or a mark leaves half of the window to each of them, and that is the sender's, as is all else. The controls
//! of today are those of [`super::rack::congestion`].

pub mod ledbat;
pub mod reno;

use crate::tcp::{Ack, Profile};
use aqm::unit::{Span, Time};
use ledbat::Ledbat;
use scenario::model::{Congestion, Tcp};

/// A flow's congestion control and its state, which is on the heap so that a Reno flow does not pay for it.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each is the choice of the same name in scenario::model::Congestion")]
pub enum Control {
    Reno,
    Ledbat(Box<Ledbat>),
}

/// An acknowledgement that lets the window grow.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Segments that it acknowledges for the first time.
    pub acked: u32,
    /// As how many these count in slow start.
    pub step: u32,
    /// Segments that were outstanding before it.
    pub flight: u32,
}

impl Control {
    /// The control of a new connection; `None` if classic senders have none of this name.
    #[must_use]
    pub fn new(profile: &Profile) -> Option<Self> {
        match profile.congestion {
            Congestion::Reno => Some(Self::Reno),
            Congestion::Ledbat => Some(Self::Ledbat(Box::new(Ledbat::new(profile.base_history)))),
            Congestion::Cubic | Congestion::Dctcp | Congestion::Bbr => None,
        }
    }

    /// Bytes of the state on the heap.
    #[must_use]
    pub fn bytes(tcp: &Tcp) -> usize {
        match tcp.congestion {
            Congestion::Ledbat => size_of::<Ledbat>() + tcp.base_history as usize * size_of::<Span>(),
            _ => 0,
        }
    }

    /// Takes note of an acknowledgement before the sender acts on it.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let (Self::Ledbat(ledbat), Some(delay)) = (self, ack.delay) {
            ledbat.on_delay(now, delay);
        }
    }

    /// The window after an acknowledgement outside recovery.
    #[must_use]
    #[inline]
    pub fn grown(&self, profile: &Profile, cwnd: f64, ssthresh: f64, growth: &Growth) -> f64 {
        match self {
            Self::Reno => reno::grown(cwnd, ssthresh, growth.step),
            Self::Ledbat(ledbat) => ledbat.grown(profile, cwnd, growth),
        }
    }
}
