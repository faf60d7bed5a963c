//! The congestion controls of classic senders, whose window is a real number and grows with each ACK.

use super::ledbat::Ledbat;
use aqm::unit::{Span, Time};
use scenario::model::{Congestion, Profile, Tcp};

/// The part of the window that a loss leaves.
pub const KEPT: f64 = 0.5;

/// An ACK that lets the window grow.
#[derive(Clone, Copy, Debug)]
pub struct NewAck {
    /// Segments that it acknowledges for the first time.
    pub acked: u32,
    /// The number as which these count in slow start (L of RFC 3465).
    pub counted: u32,
    /// Segments that were outstanding before it.
    pub flight: u32,
}

/// A classic sender's congestion control. The sender itself reduces the window.
#[derive(Clone, Debug)]
pub enum ClassicControl {
    /// It has no state.
    Reno,
    /// On the heap: there may be a hundred thousand flows.
    Ledbat(Box<Ledbat>),
}

impl ClassicControl {
    /// The state of a new connection.
    ///
    /// # Panics
    /// If the control does not serve classic senders; the scenario is checked for that.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        match profile.tcp.congestion {
            Congestion::Reno => Self::Reno,
            Congestion::Ledbat => Self::Ledbat(Box::new(Ledbat::new(profile))),
            other => unreachable!("{other:?} does not serve classic senders"),
        }
    }

    /// Bytes of the state on the heap.
    #[must_use]
    pub const fn bytes(tcp: &Tcp) -> usize {
        match tcp.congestion {
            Congestion::Ledbat => size_of::<Ledbat>() + tcp.base_history as usize * size_of::<Span>(),
            _ => 0,
        }
    }

    /// An ACK at `now` carries a one-way delay. Called before the ACK is taken in.
    pub fn on_delay(&mut self, now: Time, delay: Span) {
        if let Self::Ledbat(ledbat) = self {
            ledbat.on_delay(now, delay);
        }
    }

    /// The window in segments after an ACK that came with this window and threshold. Called for each ACK that acknowledges
    /// something new, has no echo of a mark and comes outside recovery.
    #[inline]
    #[must_use]
    pub fn cwnd_after_ack(&self, profile: &Profile, cwnd: f64, ssthresh: f64, ack: &NewAck) -> f64 {
        match self {
            Self::Reno => reno(cwnd, ssthresh, ack.counted),
            Self::Ledbat(ledbat) => ledbat.cwnd_after_ack(profile, cwnd, ack),
        }
    }
}

/// Reno's window after an ACK that counts as `counted` segments in slow start (RFC 5681, section 3.1).
fn reno(cwnd: f64, ssthresh: f64, counted: u32) -> f64 {
    if cwnd < ssthresh {
        (cwnd + f64::from(counted)).min(ssthresh.max(cwnd + 1.0))
    } else {
        cwnd + 1.0 / cwnd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_doubles_below_the_threshold_and_adds_one_a_round_trip_above() {
        assert_eq!(reno(4.0, 8.0, 1), 5.0);
        assert_eq!([2, 9].map(|counted| reno(4.0, 8.0, counted)), [6.0, 8.0], "not beyond the threshold");
        assert_eq!(reno(7.5, 8.0, 1), 8.5);
        let after = (0..8).fold(8.0, |cwnd, _| reno(cwnd, 8.0, 1));
        // Eight times 1/cwnd with cwnd from 8 to 9: between 8/9 and 1.
        assert!((8.0 + 8.0 / 9.0..9.0).contains(&after), "{after}");
    }
}
