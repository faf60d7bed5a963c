//! The clock: whole nanoseconds, or seconds in floating point as ns-2 keeps them.
//!
//! Where delays and transmission times are multiples of each other, packets of different flows reach a queue at the
//! same instant, and when it is full their order decides who loses. A clock of whole nanoseconds keeps such ties
//! ([`crate::engine::order`] breaks them). In floating point each sum is rounded to the nearest of the numbers there
//! are, 2^-46 s apart after a minute: every path's round trip is a little too long or too short, by the same amount
//! each time until the numbers become twice as coarse at 64 s, 128 s and so on. Therefore flows of one path come first for
//! a long time, and starve the others. To see what ns-2 sees, sums must be made in its order: the transmission time and the
//! delay are added to each other before their sum is added to the time.

use aqm::unit::{Rate, Span, Time};

pub(crate) use scenario::model::Clock;

/// A point in simulated time, in the units of the run's clock, which alone can interpret it; a later one is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct SimTime(pub(crate) u64);

/// A length of simulated time, in the units of the run's clock, which alone can interpret it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct SimSpan(u64);

const NS_PER_S: f64 = 1e9;
/// 2^52, above which the doubles are 1 apart: 52 days in nanoseconds.
const WHOLE: f64 = 4_503_599_627_370_496.0;

impl SimSpan {
    /// Its seconds on the double clock.
    #[inline]
    pub(super) const fn secs(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// The time between two points on the double clock.
    pub(super) fn between(since: SimTime, at: SimTime) -> Self {
        Self((f64::from_bits(at.0) - f64::from_bits(since.0)).to_bits())
    }

    /// The time between two points on `clock`.
    pub(crate) fn since(clock: Clock, since: SimTime, at: SimTime) -> Self {
        match clock {
            Clock::Integer => Self(at.0 - since.0),
            Clock::Double => Self::between(since, at),
        }
    }
}

impl SimTime {
    /// The start of the run, on every clock.
    pub(crate) const ZERO: Self = Self(0);
    /// Later than every event, on every clock.
    pub(crate) const NEVER: Self = Self(u64::MAX);
}

/// The arithmetic of a clock. The bits of a floating-point number that is not negative have its order.
pub(crate) trait ClockArithmetic: Copy {
    /// The point `time`.
    fn sim_time(self, time: Time) -> SimTime;
    /// The nearest nanosecond to `at`.
    fn time(self, at: SimTime) -> Time;
    /// The length `span`.
    fn sim_span(self, span: Span) -> SimSpan;
    /// How long `size` bytes are in transmission at `rate`.
    fn transmission(self, rate: Rate, size: u32) -> SimSpan;
    /// One after the other.
    fn sum(self, a: SimSpan, b: SimSpan) -> SimSpan;
    /// The point `elapsed` after `at`.
    fn after(self, at: SimTime, elapsed: SimSpan) -> SimTime;
}

/// The clock of whole nanoseconds, where it is known when the program is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Integer;

/// The clock of seconds in floating point, where it is known when the program is compiled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Double;

impl ClockArithmetic for Integer {
    #[inline]
    fn sim_time(self, time: Time) -> SimTime {
        SimTime(time.nanos())
    }

    #[inline]
    fn time(self, at: SimTime) -> Time {
        Time::from_nanos(at.0)
    }

    #[inline]
    fn sim_span(self, span: Span) -> SimSpan {
        SimSpan(span.nanos())
    }

    fn transmission(self, rate: Rate, size: u32) -> SimSpan {
        SimSpan(rate.transmission(size).nanos())
    }

    #[inline]
    fn sum(self, a: SimSpan, b: SimSpan) -> SimSpan {
        SimSpan(a.0 + b.0)
    }

    #[inline]
    fn after(self, at: SimTime, elapsed: SimSpan) -> SimTime {
        SimTime(at.0 + elapsed.0)
    }
}

impl ClockArithmetic for Double {
    #[inline]
    fn sim_time(self, time: Time) -> SimTime {
        if time == Time::MAX { SimTime::NEVER } else { SimTime((time.nanos() as f64 / NS_PER_S).to_bits()) }
    }

    #[inline]
    fn time(self, at: SimTime) -> Time {
        // From 2^52 on, doubles are whole numbers: a sum with that is rounded. `round` is a call, and `as` has to saturate.
        let ns = f64::from_bits(at.0) * NS_PER_S;
        let whole = if ns < WHOLE { (ns + WHOLE).to_bits() - WHOLE.to_bits() } else { ns as u64 };
        Time::from_nanos(whole)
    }

    #[inline]
    fn sim_span(self, span: Span) -> SimSpan {
        SimSpan((span.nanos() as f64 / NS_PER_S).to_bits())
    }

    fn transmission(self, rate: Rate, size: u32) -> SimSpan {
        SimSpan((8.0 * f64::from(size) / rate.bits()).to_bits())
    }

    #[inline]
    fn sum(self, a: SimSpan, b: SimSpan) -> SimSpan {
        SimSpan((a.secs() + b.secs()).to_bits())
    }

    #[inline]
    fn after(self, at: SimTime, elapsed: SimSpan) -> SimTime {
        SimTime((f64::from_bits(at.0) + elapsed.secs()).to_bits())
    }
}

impl ClockArithmetic for Clock {
    fn sim_time(self, time: Time) -> SimTime {
        match self {
            Self::Integer => Integer.sim_time(time),
            Self::Double => Double.sim_time(time),
        }
    }

    fn time(self, at: SimTime) -> Time {
        match self {
            Self::Integer => Integer.time(at),
            Self::Double => Double.time(at),
        }
    }

    fn sim_span(self, span: Span) -> SimSpan {
        match self {
            Self::Integer => Integer.sim_span(span),
            Self::Double => Double.sim_span(span),
        }
    }

    fn transmission(self, rate: Rate, size: u32) -> SimSpan {
        match self {
            Self::Integer => Integer.transmission(rate, size),
            Self::Double => Double.transmission(rate, size),
        }
    }

    fn sum(self, a: SimSpan, b: SimSpan) -> SimSpan {
        match self {
            Self::Integer => Integer.sum(a, b),
            Self::Double => Double.sum(a, b),
        }
    }

    fn after(self, at: SimTime, elapsed: SimSpan) -> SimTime {
        match self {
            Self::Integer => Integer.after(at, elapsed),
            Self::Double => Double.after(at, elapsed),
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
                    clock.time(clock.sim_time(Time::from_nanos(ns))),
                    Time::from_nanos(ns),
                    "{clock:?}"
                );
            }
            let (a, b) = (clock.sim_time(Time::from_nanos(5)), clock.sim_time(Time::from_nanos(6)));
            assert!(SimTime::ZERO <= a && a < b && b < clock.sim_time(Time::MAX));
        }
    }

    #[test]
    fn only_a_double_drifts() {
        // A thousand packets of 0.4 ms are 0.4 s, but for rounding at 100 s.
        let start = Time::ZERO + Span::s(100);
        let sent = |clock: Clock| {
            let packet = clock.transmission(Rate::mbit_per_s(10), 500);
            (0..1000).fold(clock.sim_time(start), |at, _| clock.after(at, packet))
        };
        let whole = |clock: Clock| clock.sim_time(start + Span::ms(400));
        assert_eq!(sent(Clock::Integer), whole(Clock::Integer));
        assert_ne!(sent(Clock::Double), whole(Clock::Double));
        assert_eq!(Clock::Double.time(sent(Clock::Double)), start + Span::ms(400));
    }
}
