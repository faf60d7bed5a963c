//! The clock: whole nanoseconds, or seconds in floating point as ns-2 keeps them.
//!
//! Where delays and transmission times are multiples of each other, packets of different flows reach a queue at the
//! same instant, and when it is full their order decides who loses. A clock of whole nanoseconds keeps such ties
//! ([`crate::engine::order`] breaks them). In floating point each sum is rounded to the nearest of the numbers there
//! are, 2^-46 s apart after a minute: every path's round trip is a little too long or too short, by the same amount
//! each time until the numbers become twice as coarse at 64 s, 128 s and so on. So flows of one path come first for a
//! long time, and starve the others. To see what ns-2 sees, its sums must be made in its order: the transmission time
//! and the delay are added before they are added to the time.

use aqm::unit::{Rate, Span, Time};

pub(crate) use scenario::model::Clock;

/// A point in simulated time; a later one is greater. Only its clock can interpret it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Instant(pub(crate) u64);

/// A length of simulated time. Only its clock can interpret it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Lapse(u64);

const NS_PER_S: f64 = 1e9;
/// 2^52, above which the doubles are 1 apart: 52 days in nanoseconds.
const WHOLE: f64 = 4_503_599_627_370_496.0;

impl Lapse {
    /// The seconds of a lapse on the double clock.
    #[inline]
    pub(super) const fn secs(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// The lapse between two points on the double clock.
    pub(super) fn between(since: Instant, at: Instant) -> Self {
        Self((f64::from_bits(at.0) - f64::from_bits(since.0)).to_bits())
    }
}

impl Instant {
    /// The start of the run, on every clock.
    pub(crate) const ZERO: Self = Self(0);
    /// Later than every event, on every clock.
    pub(crate) const NEVER: Self = Self(u64::MAX);
}

/// The arithmetic of a clock. The bits of a floating-point number that is not negative have its order.
pub(crate) trait ClockArithmetic: Copy {
    /// The point `time`.
    fn instant(self, time: Time) -> Instant;
    /// The nearest nanosecond to `instant`.
    fn time(self, instant: Instant) -> Time;
    /// The length `span`.
    fn lapse(self, span: Span) -> Lapse;
    /// How long `size` bytes are in transmission at `rate`.
    fn transmission(self, rate: Rate, size: u32) -> Lapse;
    /// One after the other.
    fn sum(self, a: Lapse, b: Lapse) -> Lapse;
    /// The point `lapse` after `instant`.
    fn after(self, instant: Instant, lapse: Lapse) -> Instant;
}

/// The clock of whole nanoseconds, where it is known when the program is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Integer;

/// The clock of seconds in floating point, where it is known when the program is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Double;

impl ClockArithmetic for Integer {
    #[inline]
    fn instant(self, time: Time) -> Instant {
        Instant(time.nanos())
    }

    #[inline]
    fn time(self, instant: Instant) -> Time {
        Time::from_nanos(instant.0)
    }

    #[inline]
    fn lapse(self, span: Span) -> Lapse {
        Lapse(span.nanos())
    }

    fn transmission(self, rate: Rate, size: u32) -> Lapse {
        Lapse(rate.transmission(size).nanos())
    }

    #[inline]
    fn sum(self, a: Lapse, b: Lapse) -> Lapse {
        Lapse(a.0 + b.0)
    }

    #[inline]
    fn after(self, instant: Instant, lapse: Lapse) -> Instant {
        Instant(instant.0 + lapse.0)
    }
}

impl ClockArithmetic for Double {
    #[inline]
    fn instant(self, time: Time) -> Instant {
        if time == Time::MAX { Instant::NEVER } else { Instant((time.nanos() as f64 / NS_PER_S).to_bits()) }
    }

    #[inline]
    fn time(self, instant: Instant) -> Time {
        // From 2^52 on, doubles are whole numbers: a sum with that is rounded. `round` is a call, and `as` has to saturate.
        let ns = f64::from_bits(instant.0) * NS_PER_S;
        let whole = if ns < WHOLE { (ns + WHOLE).to_bits() - WHOLE.to_bits() } else { ns as u64 };
        Time::from_nanos(whole)
    }

    #[inline]
    fn lapse(self, span: Span) -> Lapse {
        Lapse((span.nanos() as f64 / NS_PER_S).to_bits())
    }

    fn transmission(self, rate: Rate, size: u32) -> Lapse {
        Lapse((8.0 * f64::from(size) / rate.bits()).to_bits())
    }

    #[inline]
    fn sum(self, a: Lapse, b: Lapse) -> Lapse {
        Lapse((a.secs() + b.secs()).to_bits())
    }

    #[inline]
    fn after(self, instant: Instant, lapse: Lapse) -> Instant {
        Instant((f64::from_bits(instant.0) + lapse.secs()).to_bits())
    }
}

impl ClockArithmetic for Clock {
    fn instant(self, time: Time) -> Instant {
        match self {
            Self::Integer => Integer.instant(time),
            Self::Double => Double.instant(time),
        }
    }

    fn time(self, instant: Instant) -> Time {
        match self {
            Self::Integer => Integer.time(instant),
            Self::Double => Double.time(instant),
        }
    }

    fn lapse(self, span: Span) -> Lapse {
        match self {
            Self::Integer => Integer.lapse(span),
            Self::Double => Double.lapse(span),
        }
    }

    fn transmission(self, rate: Rate, size: u32) -> Lapse {
        match self {
            Self::Integer => Integer.transmission(rate, size),
            Self::Double => Double.transmission(rate, size),
        }
    }

    fn sum(self, a: Lapse, b: Lapse) -> Lapse {
        match self {
            Self::Integer => Integer.sum(a, b),
            Self::Double => Double.sum(a, b),
        }
    }

    fn after(self, instant: Instant, lapse: Lapse) -> Instant {
        match self {
            Self::Integer => Integer.after(instant, lapse),
            Self::Double => Double.after(instant, lapse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_tell_the_same_nanosecond() {
        for clock in [Clock::Integer, Clock::Double] {
            for ns in [0, 1, 400_000, 123_456_789_012, 86_400_000_000_001, 9_000_000_000_000_000] {
                assert_eq!(
                    clock.time(clock.instant(Time::from_nanos(ns))),
                    Time::from_nanos(ns),
                    "{clock:?}"
                );
            }
            let (a, b) = (clock.instant(Time::from_nanos(5)), clock.instant(Time::from_nanos(6)));
            assert!(Instant::ZERO <= a && a < b && b < clock.instant(Time::MAX));
        }
    }

    #[test]
    fn only_a_double_drifts() {
        // A thousand packets of 0.4 ms are 0.4 s, but for rounding at 100 s.
        let start = Time::ZERO + Span::s(100);
        let sent = |clock: Clock| {
            let packet = clock.transmission(Rate::mbit_per_s(10), 500);
            (0..1000).fold(clock.instant(start), |at, _| clock.after(at, packet))
        };
        let whole = |clock: Clock| clock.instant(start + Span::ms(400));
        assert_eq!(sent(Clock::Integer), whole(Clock::Integer));
        assert_ne!(sent(Clock::Double), whole(Clock::Double));
        assert_eq!(Clock::Double.time(sent(Clock::Double)), start + Span::ms(400));
    }
}
