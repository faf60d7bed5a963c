//! The round trip and the retransmission time-out as Linux computes them, in microseconds and ticks.
//!
//! ```text
//! srtt   <- 7/8 srtt + 1/8 R        mdev <- 3/4 mdev + 1/4 |R - srtt|     (1/32 of it where R falls by much)
//! rttvar =  the largest mdev of a round trip, at least min_rto; falls by a quarter of the difference a round trip
//! rto    =  srtt + rttvar
//! ```
//!
//! The floor is that of rttvar, so that a time-out is never shorter than srtt + 200 ms. With
//! `rto_floor = "whole"` the floor is RFC 6298's, `min_rto` as a whole, and rttvar at least a tick; its estimator is the same.
//!
//! Sources: Linux 7.2, `tcp_rtt_estimator`, `__tcp_set_rto`, `tcp_update_rtt_min` (net/ipv4/tcp_input.c); RFC 6298.

use super::clock::{Clock, ticks_of, ticks_of_us};
use super::minmax::Minimum;
use aqm::unit::Span;
use scenario::model::{Profile, RtoFloor};

/// For how long a least round trip is believed (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Span = Span::s(300);

/// The time-out of a connection whose handshake gave no measurement (`TCP_TIMEOUT_FALLBACK`).
const FALLBACK: Span = Span::s(3);

/// A sender's estimate of its round trip.
#[derive(Clone, Debug)]
pub struct Rtt {
    /// Smoothed, in microseconds times 8; 0 before the first measurement.
    pub srtt8: u64,
    /// Its mean deviation, times 4, and the largest of this round trip.
    mdev4: u64,
    mdev_max: u64,
    /// The part of the time-out that is added to the smoothed round trip.
    rttvar: u64,
    /// The round trip ends when this segment is acknowledged.
    round_end: u32,
    min: Minimum,
    /// The time-out in ticks, back-off included.
    pub rto: u32,
    /// How often it was doubled since the last measurement.
    pub backoff: u32,
}

impl Rtt {
    /// Before any measurement.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        Self {
            srtt8: 0,
            mdev4: 0,
            mdev_max: 0,
            rttvar: 0,
            round_end: 0,
            min: Minimum::new(0, u64::MAX),
            rto: ticks_of(profile.tcp.initial_rto, profile.tcp.tick).min(Self::max(profile)),
            backoff: 0,
        }
    }

    /// The smoothed round trip in microseconds.
    #[must_use]
    pub const fn smoothed(&self) -> u64 {
        self.srtt8 >> 3
    }

    /// The least round trip in microseconds, [`u64::MAX`] before the first.
    #[must_use]
    pub const fn least(&self) -> u64 {
        self.min.value()
    }

    /// Takes a measurement for the least round trip.
    pub fn note_least(&mut self, profile: &Profile, clock: &Clock, us: u64) {
        self.min.insert(ticks_of(MIN_RTT_WINDOW, profile.tcp.tick), clock.ticks, us.max(1));
    }

    /// Takes a measurement; the sender has sent up to `nxt` and all below `una` is acknowledged.
    pub fn measure(&mut self, profile: &Profile, us: u64, una: u32, nxt: u32) {
        let floor = match profile.tcp.rto_floor {
            RtoFloor::Variance => profile.tcp.min_rto.nanos() / 1000,
            RtoFloor::Whole => 0,
        };
        if self.srtt8 == 0 {
            self.srtt8 = us << 3;
            self.mdev4 = us << 1;
            self.rttvar = self.mdev4.max(floor);
            self.mdev_max = self.rttvar;
            self.round_end = nxt;
        } else {
            self.deviate(us);
            if self.mdev4 > self.mdev_max {
                self.mdev_max = self.mdev4;
                self.rttvar = self.rttvar.max(self.mdev_max);
            }
            if una > self.round_end {
                self.rttvar -= self.rttvar.saturating_sub(self.mdev_max) >> 2;
                self.round_end = nxt;
                self.mdev_max = floor;
            }
        }
        self.srtt8 = self.srtt8.max(1);
        self.backoff = 0;
        self.set_rto(profile);
    }

    fn deviate(&mut self, us: u64) {
        let error = us as i64 - (self.srtt8 >> 3) as i64;
        self.srtt8 = (self.srtt8 as i64 + error) as u64;
        let mut change = error.abs() - (self.mdev4 >> 2) as i64;
        // A falling round trip raises the deviation by an eighth as much as a rising round trip.
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.mdev4 = (self.mdev4 as i64 + change) as u64;
    }

    fn set_rto(&mut self, profile: &Profile) {
        let us = match profile.tcp.rto_floor {
            RtoFloor::Variance => self.smoothed() + self.rttvar,
            RtoFloor::Whole => {
                let variance = self.rttvar.max(profile.tcp.tick.nanos() / 1000);
                (self.smoothed() + variance).max(profile.tcp.min_rto.nanos() / 1000)
            }
        };
        self.rto = ticks_of_us(us, profile.tcp.tick).min(Self::max(profile));
    }

    /// The handshake gave no measurement (RFC 6298, rule 5.7).
    pub fn distrust(&mut self, profile: &Profile) {
        let us = FALLBACK.nanos() / 1000;
        (self.rttvar, self.mdev4, self.mdev_max) = (us, us, us);
        self.rto = ticks_of(FALLBACK, profile.tcp.tick).min(Self::max(profile));
    }

    /// Doubles the time-out.
    pub fn back_off(&mut self, profile: &Profile) {
        self.backoff += 1;
        self.rto = self.rto.saturating_mul(2).min(Self::max(profile));
    }

    /// The greatest time-out in ticks.
    #[must_use]
    pub const fn max(profile: &Profile) -> u32 {
        ticks_of(profile.tcp.max_rto, profile.tcp.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::Tcp;

    fn profile(rto_floor: RtoFloor, min_rto: Span) -> Profile {
        Profile::new(&Tcp { rto_floor, min_rto, ..Tcp::preset("linux").unwrap() }, 1500)
    }

    #[test]
    fn the_time_out_by_hand() {
        let profile = profile(RtoFloor::Variance, Span::ms(50));
        let mut rtt = Rtt::new(&profile);
        assert_eq!(rtt.rto, 1000);
        rtt.measure(&profile, 100_000, 1, 10);
        // rttvar = 2 R.
        assert_eq!((rtt.smoothed(), rtt.rto), (100_000, 300));
        // Up: mdev = 3/4 200 + 1/4 of 4 * 80, each in ms; srtt = 7/8 100 + 1/8 180.
        rtt.measure(&profile, 180_000, 5, 10);
        assert_eq!((rtt.smoothed(), rtt.mdev4, rtt.rto), (110_000, 230_000, 340));
        // Down by 80 of 110: an eighth of the change of 80 - 57.5.
        rtt.measure(&profile, 30_000, 6, 20);
        assert_eq!((rtt.smoothed(), rtt.mdev4, rtt.rto), (100_000, 232_812, 333));
        // The round trip ends with the largest deviation of its time, and the next one begins at the floor.
        rtt.measure(&profile, 100_000, 11, 30);
        assert_eq!((rtt.mdev4, rtt.rttvar, rtt.mdev_max), (174_609, 232_812, 50_000));
        // 3/4 174.609 = 130.957: a quarter of the difference.
        rtt.measure(&profile, 100_000, 31, 40);
        assert_eq!((rtt.mdev4, rtt.rttvar, rtt.rto), (130_957, 207_349, 308));
    }

    #[test]
    fn the_floor_is_under_the_variance_or_under_the_whole() {
        for (floor, rto) in [(RtoFloor::Variance, 300), (RtoFloor::Whole, 200)] {
            let profile = profile(floor, Span::ms(200));
            let mut rtt = Rtt::new(&profile);
            (1..100).for_each(|i| rtt.measure(&profile, 100_000, i, i));
            assert_eq!(rtt.rto, rto, "{floor:?}");
        }
    }

    #[test]
    fn a_time_out_doubles_up_to_the_greatest_and_a_measurement_ends_that() {
        let profile = profile(RtoFloor::Variance, Span::ms(200));
        let mut rtt = Rtt::new(&profile);
        rtt.measure(&profile, 100_000, 1, 1);
        rtt.back_off(&profile);
        assert_eq!((rtt.rto, rtt.backoff), (600, 1));
        (0..20).for_each(|_| rtt.back_off(&profile));
        assert_eq!(rtt.rto, 120_000);
        rtt.measure(&profile, 100_000, 2, 2);
        assert_eq!((rtt.rto, rtt.backoff), (300, 0));
    }

    #[test]
    fn the_least_round_trip_is_believed_for_five_minutes() {
        let profile = profile(RtoFloor::Variance, Span::ms(200));
        let at = |s| Clock::at(aqm::unit::Time::ZERO + Span::s(s), profile.tcp.tick);
        let mut rtt = Rtt::new(&profile);
        assert_eq!(rtt.least(), u64::MAX);
        rtt.note_least(&profile, &at(0), 50_000);
        rtt.note_least(&profile, &at(299), 80_000);
        assert_eq!(rtt.least(), 50_000);
        rtt.note_least(&profile, &at(301), 90_000);
        assert_eq!(rtt.least(), 80_000);
    }
}
