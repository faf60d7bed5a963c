//! The distribution of a random quantity, of which a constant is the simplest case.

use super::link::RATES;
use aqm::params::{Field, ParamKind, Range, Value};
use aqm::unit::{Bytes, Quantity, Rate, Span};
use std::fmt;
use std::ops::RangeInclusive;

/// The distribution of a quantity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distribution<T> {
    /// A constant.
    Fixed(T),
    /// Uniform between the two values.
    Uniform(T, T),
    /// Exponential with this mean.
    Exponential(T),
    /// Pareto with this mean and this shape, at least 1.01; the smallest value is mean (shape - 1) / shape.
    Pareto(T, f64),
}

// A Pareto draw is unbounded, but sums of draws must not overflow: no run lasts this long, and no flow sends this
// much.
const LONGEST: f64 = 1e9;
const LARGEST: f64 = 1e15;

/// Towards 1, below which there is no mean, an increasing part of the mean comes from values that no run is long
/// enough to draw: typical draws become so small that flows arrive without end.
const SHAPES: RangeInclusive<f64> = 1.01..=100.0;

/// A quantity that can be drawn at random.
pub trait Drawn: Field + Quantity + Copy + PartialOrd + fmt::Display {
    /// The forms of its distributions, for messages.
    const FORMS: &'static str;
    /// The value in the base unit.
    fn magnitude(self) -> f64;
    /// The value with this magnitude in the base unit, rounded to a representable one.
    fn of_magnitude(magnitude: f64) -> Self;
}

impl Drawn for Span {
    const FORMS: &'static str =
        "\"1 s\", \"uniform(0 s, 1 s)\", \"exponential(1 s)\" or \"pareto(1 s, 1.5)\" (mean, shape above 1)";
    fn magnitude(self) -> f64 {
        self.secs()
    }
    fn of_magnitude(magnitude: f64) -> Self {
        Self::from_secs(magnitude.min(LONGEST))
    }
}

impl Drawn for Rate {
    const FORMS: &'static str = "\"10 Mbit/s\", \"uniform(1 Mbit/s, 20 Mbit/s)\", \"exponential(10 Mbit/s)\" or \"pareto(10 Mbit/s, 1.5)\" (mean, shape above 1)";
    fn magnitude(self) -> f64 {
        self.bits()
    }
    fn of_magnitude(magnitude: f64) -> Self {
        Self::bit_per_s(magnitude.clamp(RATES.low, RATES.high).round() as u64)
    }
}

impl Drawn for Bytes {
    const FORMS: &'static str = "\"10 kB\", \"uniform(1 kB, 20 kB)\", \"exponential(10 kB)\" or \"pareto(10 kB, 1.3)\" (mean, shape above 1)";
    fn magnitude(self) -> f64 {
        self.0 as f64
    }
    fn of_magnitude(magnitude: f64) -> Self {
        Self(magnitude.min(LARGEST).round() as u64)
    }
}

impl<T: Drawn> Distribution<T> {
    /// The mean in the base unit.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Fixed(x) | Self::Exponential(x) | Self::Pareto(x, _) => x.magnitude(),
            Self::Uniform(low, high) => f64::midpoint(low.magnitude(), high.magnitude()),
        }
    }

    /// The mean in the base unit if draws above `most` count as that.
    #[must_use]
    pub fn mean_at_most(&self, most: f64) -> f64 {
        let mean = self.mean();
        if self.least().magnitude() >= most {
            return most;
        }
        match *self {
            Self::Uniform(low, high) if high.magnitude() > most => {
                let (low, high) = (low.magnitude(), high.magnitude());
                ((most * most - low * low) / 2.0 + most * (high - most)) / (high - low)
            }
            Self::Exponential(_) => mean * -libm::expm1(-most / mean),
            Self::Pareto(_, shape) => {
                let least = mean * (shape - 1.0) / shape;
                (shape * least - least * libm::pow(least / most, shape - 1.0)) / (shape - 1.0)
            }
            Self::Fixed(_) | Self::Uniform(..) => mean,
        }
    }

    /// The smallest value that can be drawn.
    #[must_use]
    pub fn least(&self) -> T {
        match *self {
            Self::Fixed(x) | Self::Uniform(x, _) => x,
            Self::Exponential(_) => T::of_magnitude(0.0),
            Self::Pareto(mean, shape) => T::of_magnitude(mean.magnitude() * (shape - 1.0) / shape),
        }
    }

    /// The largest value that can be drawn, if there is one.
    #[must_use]
    pub const fn greatest(&self) -> Option<T> {
        match *self {
            Self::Fixed(x) | Self::Uniform(_, x) => Some(x),
            Self::Exponential(_) | Self::Pareto(..) => None,
        }
    }
}

/// The arguments of `name(…)`.
fn arguments<'a>(text: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let inside = text.trim().strip_prefix(name)?.trim().strip_prefix('(')?.strip_suffix(')')?;
    Some(inside.split(',').collect())
}

impl<T: Drawn> Field for Distribution<T> {
    const KIND: ParamKind = ParamKind::Quantity(T::FORMS);
    const UNITS: &'static str = <T as Quantity>::UNITS;

    fn read(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        if let Some(args) = arguments(text, "uniform") {
            let [low, high] = args[..] else { return None };
            let (low, high) = (T::parse(low)?, T::parse(high)?);
            return (low <= high).then_some(Self::Uniform(low, high));
        }
        if let Some(args) = arguments(text, "exponential") {
            let [mean] = args[..] else { return None };
            return T::parse(mean).map(Self::Exponential);
        }
        if let Some(args) = arguments(text, "pareto") {
            let [mean, shape] = args[..] else { return None };
            let shape: f64 = shape.trim().parse().ok()?;
            return T::parse(mean).filter(|_| SHAPES.contains(&shape)).map(|mean| Self::Pareto(mean, shape));
        }
        T::parse(text).map(Self::Fixed)
    }

    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn within(&self, range: &Range) -> bool {
        match *self {
            Self::Fixed(x) | Self::Exponential(x) | Self::Pareto(x, _) => x.within(range),
            Self::Uniform(low, high) => low.within(range) && high.within(range),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Distribution<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(x) => write!(f, "{x}"),
            Self::Uniform(low, high) => write!(f, "uniform({low}, {high})"),
            Self::Exponential(mean) => write!(f, "exponential({mean})"),
            Self::Pareto(mean, shape) => write!(f, "pareto({mean}, {shape})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_draws_that_are_cut_off_is_that_of_many() {
        let laws = [
            Distribution::Fixed(Bytes(100)),
            Distribution::Fixed(Bytes(2000)),
            Distribution::Uniform(Bytes(500), Bytes(2500)),
            Distribution::Uniform(Bytes(500), Bytes(900)),
            Distribution::Exponential(Bytes(1000)),
            Distribution::Pareto(Bytes(1000), 1.5),
        ];
        for law in laws {
            // The inverse of each law at the middles of a million equal parts.
            let draw = |u: f64| match law {
                Distribution::Fixed(x) => x.magnitude(),
                Distribution::Uniform(low, high) => {
                    low.magnitude() + (high.magnitude() - low.magnitude()) * u
                }
                Distribution::Exponential(mean) => -mean.magnitude() * (1.0 - u).ln(),
                Distribution::Pareto(mean, shape) => {
                    mean.magnitude() * (shape - 1.0) / shape / (1.0 - u).powf(1.0 / shape)
                }
            };
            let parts = 1_000_000;
            let sum: f64 =
                (0..parts).map(|i| draw((f64::from(i) + 0.5) / f64::from(parts)).min(1500.0)).sum();
            let (found, mean) = (law.mean_at_most(1500.0), sum / f64::from(parts));
            assert!((found - mean).abs() < 0.05, "{law:?}: {found} {mean}");
        }
    }

    #[test]
    fn a_distribution_reads_what_it_writes() {
        for text in ["1 s", "uniform(0 s, 1 s)", "exponential(20 ms)", "pareto(1 s, 1.5)"] {
            let distribution = Distribution::<Span>::read(&Value::Text(text.into())).unwrap();
            assert_eq!(distribution.to_string().replace("0 ns", "0 s"), text);
            assert_eq!(Distribution::read(&distribution.value()), Some(distribution));
        }
        for text in [
            "pareto(1 s, 1)",
            "pareto(1 s, 1.0000001)",
            "pareto(1 s)",
            "uniform(2 s, 1 s)",
            "exponential(1)",
            "gauss(1 s)",
        ] {
            assert_eq!(Distribution::<Span>::read(&Value::Text(text.into())), None, "{text}");
        }
    }

    #[test]
    fn a_distribution_knows_its_mean_and_bounds() {
        let pareto = Distribution::Pareto(Bytes(10_000), 1.3);
        assert_eq!((pareto.mean(), pareto.least(), pareto.greatest()), (1e4, Bytes(2308), None));
        let uniform = Distribution::Uniform(Span::s(1), Span::s(2));
        assert_eq!(
            (uniform.mean(), uniform.least(), uniform.greatest()),
            (1.5, Span::s(1), Some(Span::s(2)))
        );
    }
}
