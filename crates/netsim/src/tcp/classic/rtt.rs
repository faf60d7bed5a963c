//! The round-trip time and the retransmission time-out (RFC 6298), in Jacobson's scaled integers.
//!
//! Times are counted in ticks of the sender's clock, as a real stack does and ns-2 too: a round trip measured
//! with a coarse clock is 0, 1 or 2 ticks, and that shows in the time-out.

use aqm::unit::{Span, Time};
use scenario::model::Profile;

/// Fractional bits of the smoothed round trip (gain 1/8) and of its deviation (gain 1/4).
const SRTT_BITS: u32 = 3;
const RTTVAR_BITS: u32 = 2;
/// The time-out is doubled at most this often: by then it is beyond every `max_rto`.
const MOST_BACKOFF: u8 = 30;
/// After more doublings than this the estimate is forgotten: it is likely wrong (RFC 6298, section 5).
const FORGET_BACKOFF: u8 = 3;

/// A sender's estimate of its round trip.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Smoothed round trip, ticks scaled by 8; 0 before the first measurement.
    srtt: u64,
    /// Its mean deviation, ticks scaled by 4.
    rttvar: u64,
    /// The time-out before `min_rto` and back-off.
    rto: Span,
    /// The nanoseconds from the clock's last tick to time zero; a tick is at most a second.
    phase: u32,
    backoff: u8,
}

impl RttEstimator {
    /// Before any measurement.
    #[must_use]
    pub const fn new(initial_rto: Span, phase: Span) -> Self {
        Self { srtt: 0, rttvar: 0, rto: initial_rto, phase: phase.nanos() as u32, backoff: 0 }
    }

    /// Takes a measurement: a segment sent at `sent` was acknowledged at `now` (rules 2.2 and 2.3).
    pub fn measure(&mut self, profile: &Profile, sent: Time, now: Time) {
        let ticks = |t: Time| (t.nanos() + u64::from(self.phase)) / profile.tcp.tick.nanos();
        let rtt = (ticks(now) - ticks(sent)).max(1);
        if self.srtt == 0 {
            self.srtt = rtt << SRTT_BITS;
            self.rttvar = rtt << (RTTVAR_BITS - 1);
        } else {
            let smoothed = self.srtt >> SRTT_BITS;
            self.srtt = (self.srtt + rtt - smoothed).max(1);
            self.rttvar = (self.rttvar + rtt.abs_diff(smoothed) - (self.rttvar >> RTTVAR_BITS)).max(1);
        }
        // srtt + 4 rttvar: the deviation's scale of 4 is its factor, so only the scale of 8 remains.
        let ticks = ((self.rttvar << SRTT_BITS) + self.srtt) >> SRTT_BITS;
        self.rto = profile.tcp.tick * ticks;
        self.backoff = 0;
    }

    /// Doubles the time-out (rule 5.5).
    pub const fn back_off(&mut self) {
        if self.backoff < MOST_BACKOFF {
            self.backoff += 1;
        }
        if self.backoff > FORGET_BACKOFF {
            self.rttvar += self.srtt >> SRTT_BITS;
            self.srtt = 0;
        }
    }

    /// Starts over with this time-out (rule 5.7).
    pub const fn restart(&mut self, rto: Span) {
        *self = Self::new(rto, Span::ns(self.phase as u64));
    }

    /// The smoothed round trip; `None` before the first measurement.
    #[must_use]
    pub fn smoothed(&self, profile: &Profile) -> Option<Span> {
        let ticks = self.srtt as f64 / f64::from(1 << SRTT_BITS);
        (self.srtt > 0).then(|| Span::from_secs(profile.tcp.tick.secs() * ticks))
    }

    /// The time-out in force.
    #[must_use]
    #[inline]
    pub fn timeout(&self, profile: &Profile) -> Span {
        let rto = self.rto.max(profile.tcp.min_rto).nanos();
        Span::ns(rto.saturating_mul(1 << self.backoff)).min(profile.tcp.max_rto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::model::Tcp;

    fn profile() -> Profile {
        Profile::new(&Tcp::preset("ns2.35").unwrap(), 500)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::ms(ms)
    }

    #[test]
    fn first_measurement_sets_three_round_trips() {
        // RFC 6298, 2.2: SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR = 3 R.
        let (profile, mut rtt) = (profile(), RttEstimator::new(Span::s(3), Span::ZERO));
        assert_eq!(rtt.timeout(&profile), Span::s(3));
        rtt.measure(&profile, at(0), at(200));
        assert_eq!(rtt.timeout(&profile), Span::ms(600));
    }

    #[test]
    fn later_measurements_follow_the_gains() {
        // R = 200 then 280 ms: RTTVAR = 3/4 100 + 1/4 80 = 95, SRTT = 7/8 200 + 1/8 280 = 210, RTO = 590 ms.
        let (profile, mut rtt) = (profile(), RttEstimator::new(Span::s(3), Span::ZERO));
        rtt.measure(&profile, at(0), at(200));
        rtt.measure(&profile, at(1000), at(1280));
        assert_eq!(rtt.timeout(&profile), Span::ms(590));
        assert_eq!(rtt.srtt, 21 << SRTT_BITS);
    }

    #[test]
    fn the_clock_is_as_coarse_as_its_tick() {
        // 4 ms over a tick boundary counts as one tick of 10 ms, and less than a tick as one.
        let (profile, mut rtt) = (profile(), RttEstimator::new(Span::s(3), Span::ZERO));
        rtt.measure(&profile, at(8), at(12));
        assert_eq!(rtt.srtt, 1 << SRTT_BITS);
        let mut rtt = RttEstimator::new(Span::s(3), Span::ZERO);
        rtt.measure(&profile, at(12), at(14));
        assert_eq!(rtt.srtt, 1 << SRTT_BITS);
    }

    #[test]
    fn the_phase_decides_how_many_ticks_a_round_trip_spans() {
        // 14 ms from 8 to 22 ms: over 10 and 20, or, ticking at 5, 15, 25, over 15 alone.
        let ticks = |phase| {
            let mut rtt = RttEstimator::new(Span::s(3), phase);
            rtt.measure(&profile(), at(8), at(22));
            rtt.restart(Span::s(3));
            rtt.measure(&profile(), at(8), at(22));
            rtt.srtt >> SRTT_BITS
        };
        assert_eq!(ticks(Span::ZERO), 2);
        assert_eq!(ticks(Span::ms(5)), 1);
    }

    #[test]
    fn a_clock_of_nanoseconds_measures_seconds() {
        let mut profile = profile();
        profile.tcp.tick = Span::ns(1);
        let mut rtt = RttEstimator::new(Span::s(3), Span::ZERO);
        rtt.measure(&profile, at(0), at(5000));
        assert_eq!(rtt.timeout(&profile), Span::s(15));
    }

    #[test]
    fn back_off_doubles_up_to_the_maximum_and_ends_with_a_measurement() {
        let (profile, mut rtt) = (profile(), RttEstimator::new(Span::s(3), Span::ZERO));
        rtt.measure(&profile, at(0), at(50));
        assert_eq!(rtt.timeout(&profile), Span::ms(200), "min_rto");
        rtt.back_off();
        assert_eq!(rtt.timeout(&profile), Span::ms(400));
        for _ in 0..20 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(&profile), Span::s(60), "max_rto");
        rtt.measure(&profile, at(20_000), at(20_100));
        assert_eq!(rtt.timeout(&profile), Span::ms(300), "the estimate was forgotten: 3 R again");
    }
}
