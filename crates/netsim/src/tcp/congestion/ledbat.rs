//! LEDBAT: background transport that adds at most `target` of queueing delay and gives way to all else.
//!
//! ```text
//! queueing delay = min(the last 4 one-way delays) - min(the smallest of each of the last `base_history` minutes)
//! off_target     = (target - queueing delay) / target
//! an ACK:  cwnd <- cwnd + gain off_target acked / cwnd,                                (RFC 6817, section 2.4.2)
//!          at most flight + allowed_increase, at least 2
//! a loss, a mark:  cwnd <- max(cwnd / 2, 2), at most once a round trip
//! ```
//!
//! flight is the data outstanding before the ACK. The receiver measures the one-way delay and each ACK carries the
//! latest, in microseconds.
//!
//! # Departures from the source
//! * No slow start, as RFC 6817 has none: ssthresh has no say, at the start nor after a time-out.
//! * The two ends' clocks agree, so that there is no offset or skew for the base delay to cancel.
//! * An ACK carries the delay of one segment; of two that a delayed ACK covers, the later.
//!
//! # Sources
//! RFC 6817; RFC 7928, whose experiments take a target of 5 ms and a gain of 10.

use super::classic::NewAck;
use aqm::unit::{Span, Time};
use scenario::model::Profile;
use std::collections::VecDeque;

/// Delays among which the current one is the smallest (CURRENT_FILTER).
const CURRENT: usize = 4;
/// The least window in segments (MIN_CWND).
const LEAST: f64 = 2.0;
const MINUTE: Span = Span::s(60);

/// The state.
#[derive(Clone, Debug)]
pub struct Ledbat {
    /// The last delays, by turns.
    current: [Span; CURRENT],
    turn: usize,
    /// The smallest delay of each minute that had one, the latest last.
    base: VecDeque<Span>,
    minutes: usize,
    minute: u64,
}

impl Ledbat {
    /// The queueing delay; zero before the first measurement.
    fn queueing(&self) -> Span {
        let current = self.current.iter().min().map_or(0, |delay| delay.nanos());
        self.base.iter().min().map_or(Span::ZERO, |base| Span::ns(current.saturating_sub(base.nanos())))
    }

    /// The state of a new connection, which remembers the smallest delay of each of the last `base_history` minutes.
    pub(super) fn new(profile: &Profile) -> Self {
        let minutes = profile.tcp.base_history as usize;
        let base = VecDeque::with_capacity(minutes);
        Self { current: [Span::ns(u64::MAX); CURRENT], turn: 0, base, minutes, minute: 0 }
    }

    /// See [`super::classic::ClassicControl::on_delay`].
    pub(super) fn on_delay(&mut self, now: Time, delay: Span) {
        self.current[self.turn] = delay;
        self.turn = (self.turn + 1) % CURRENT;
        let minute = now.nanos() / MINUTE.nanos();
        match self.base.back_mut().filter(|_| minute == self.minute) {
            Some(smallest) => *smallest = delay.min(*smallest),
            None => {
                if self.base.len() == self.minutes {
                    self.base.pop_front();
                }
                self.base.push_back(delay);
                self.minute = minute;
            }
        }
    }

    /// The window after an ACK (RFC 6817, section 2.4.2).
    pub(super) fn cwnd_after_ack(&self, profile: &Profile, cwnd: f64, ack: &NewAck) -> f64 {
        let target = profile.tcp.target.secs();
        let off_target = (target - self.queueing().secs()) / target;
        let moved = cwnd + profile.tcp.gain * off_target * f64::from(ack.acked) / cwnd;
        moved.min(f64::from(ack.flight) + profile.tcp.allowed_increase).max(LEAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::Tcp;

    fn profile() -> Profile {
        Profile::new(&Tcp::preset("ledbat").unwrap(), 1500)
    }

    fn at(s: u64) -> Time {
        Time::ZERO + Span::s(s)
    }

    fn ack(acked: u32, flight: u32) -> NewAck {
        NewAck { acked, counted: 1, flight }
    }

    fn with_delays(ms: &[u64]) -> Ledbat {
        let mut ledbat = Ledbat::new(&profile());
        for &delay in ms {
            ledbat.on_delay(at(1), Span::ms(delay));
        }
        ledbat
    }

    #[test]
    fn the_window_grows_below_the_target_rests_at_it_and_falls_above() {
        // RFC 6817, 2.4.2, target 100 ms, gain 1, base delay 20 ms.
        let profile = profile();
        let next = |ms| with_delays(&[20, ms, ms, ms, ms]).cwnd_after_ack(&profile, 10.0, &ack(2, 10));
        assert_eq!(next(20), 10.0 + 1.0 * 2.0 / 10.0);
        assert!((next(70) - (10.0 + 0.5 * 2.0 / 10.0)).abs() < 1e-12);
        assert!((next(120) - 10.0).abs() < 1e-12);
        assert!((next(220) - (10.0 - 1.0 * 2.0 / 10.0)).abs() < 1e-12);
        let tcp = Tcp { gain: 10.0, target: Span::ms(5), ..profile.tcp.clone() };
        let eager = Profile { tcp, ..profile };
        let found = with_delays(&[20, 30, 30, 30, 30]).cwnd_after_ack(&eager, 10.0, &ack(1, 10));
        assert!((found - 9.0).abs() < 1e-12, "10 ms are twice the target: 10 * -1 / 10, {found}");
    }

    #[test]
    fn the_window_is_at_most_a_segment_more_than_what_is_outstanding_and_at_least_two() {
        let (profile, ledbat) = (profile(), with_delays(&[20]));
        assert_eq!(ledbat.cwnd_after_ack(&profile, 10.0, &ack(1, 4)), 5.0);
        let late = with_delays(&[20, 2000, 2000, 2000, 2000]);
        assert_eq!(late.cwnd_after_ack(&profile, 2.1, &ack(1, 2)), 2.0);
        assert_eq!(
            Ledbat::new(&profile).cwnd_after_ack(&profile, 2.0, &ack(1, 2)),
            2.5,
            "no delay is known: none is seen"
        );
    }

    #[test]
    fn the_current_delay_is_the_smallest_of_the_last_four() {
        assert_eq!(with_delays(&[20, 90, 60, 80, 70]).queueing(), Span::ms(40));
        assert_eq!(with_delays(&[20, 60, 90, 80, 70, 75]).queueing(), Span::ms(50));
    }

    #[test]
    fn the_base_delay_is_forgotten_after_its_minutes() {
        let mut profile = profile();
        profile.tcp.base_history = 2;
        let mut ledbat = Ledbat::new(&profile);
        ledbat.on_delay(at(10), Span::ms(20));
        ledbat.on_delay(at(70), Span::ms(50));
        let late = |ledbat: &mut Ledbat, s| (0..4).for_each(|_| ledbat.on_delay(at(s), Span::ms(100)));
        late(&mut ledbat, 100);
        assert_eq!(ledbat.queueing(), Span::ms(80), "20 ms of the minute before counts");
        late(&mut ledbat, 130);
        assert_eq!(ledbat.queueing(), Span::ms(50), "only the second and third minutes are left");
    }
}
