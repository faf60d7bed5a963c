//! The sender's one timer, and its purposes.

use super::clock::{Clock, goes_off};
use super::rtt::Rtt;
use crate::tcp::Profile;
use aqm::unit::Time;

/// What the timer is set for (`icsk_pending`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pending {
    Nothing,
    Retransmission,
    Probe,
    Reordering,
}

/// The timer.
#[derive(Clone, Debug)]
pub(super) struct Timer {
    pub(super) pending: Pending,
    /// The tick at which it expires, and when it goes off.
    pub(super) expires: u32,
    pub(super) goes_off: Time,
}

impl Default for Timer {
    fn default() -> Self {
        Self { pending: Pending::Nothing, expires: 0, goes_off: Time::MAX }
    }
}

impl Timer {
    /// Sets it to expire in `ticks` ticks.
    pub(super) fn set(&mut self, clock: &Clock, pending: Pending, ticks: u32, profile: &Profile) {
        self.pending = pending;
        self.expires = clock.ticks + ticks.min(Rtt::max(profile));
        self.goes_off = goes_off(clock.ticks, self.expires, profile.tcp.tick);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
