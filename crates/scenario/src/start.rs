//! When a flow starts.

use aqm::params::{Field, Kind, Range, Value};
use aqm::unit::{Quantity, Span};
use std::fmt;

/// When a flow starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Start {
    /// At this time.
    At(Span),
    /// Equally likely anywhere between two times.
    Uniform(Span, Span),
    /// After an exponentially distributed time with this mean.
    Exponential(Span),
}

/// The arguments of `name(…)`, as spans.
fn arguments(text: &str, name: &str) -> Option<Vec<Span>> {
    let inside = text.trim().strip_prefix(name)?.trim().strip_prefix('(')?.strip_suffix(')')?;
    inside.split(',').map(Span::parse).collect()
}

impl Field for Start {
    const KIND: Kind = Kind::Quantity("\"0 s\", \"uniform(0 s, 1 s)\" or \"exponential(1 s)\"");

    fn read(value: &Value) -> Option<Self> {
        let Value::Text(text) = value else { return None };
        if let Some(args) = arguments(text, "uniform") {
            return match args[..] {
                [low, high] if low <= high => Some(Self::Uniform(low, high)),
                _ => None,
            };
        }
        if let Some(args) = arguments(text, "exponential") {
            return match args[..] {
                [mean] => Some(Self::Exponential(mean)),
                _ => None,
            };
        }
        Span::parse(text).map(Self::At)
    }

    fn value(&self) -> Value {
        Value::Text(self.to_string())
    }

    fn within(&self, range: &Range) -> bool {
        match *self {
            Self::At(time) | Self::Exponential(time) => time.within(range),
            Self::Uniform(low, high) => low.within(range) && high.within(range),
        }
    }
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(time) => write!(f, "{time}"),
            Self::Uniform(low, high) => write!(f, "uniform({low}, {high})"),
            Self::Exponential(mean) => write!(f, "exponential({mean})"),
        }
    }
}
