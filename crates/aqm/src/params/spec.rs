//! The declaration of a parameter: its kind, its range, and the error for a value outside them.

use super::value::Value;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// The kind of value of a parameter; it determines the JSON Schema.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ParamKind {
    /// A real number.
    Number,
    /// A whole number, not negative.
    Count,
    /// `true` or `false`.
    Switch,
    /// Text that is a number with a unit; holds an example.
    Quantity(&'static str),
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Several of these words, in order, in one text; one with a number ends in ` N`.
    Words(&'static [&'static str]),
    /// Free text.
    Text,
    /// The name of an algorithm, or a table with the name and its parameters.
    Algorithm {
        /// Whether it may keep several queues.
        several: bool,
    },
    /// A nested set of parameters.
    Table(Nested),
    /// Nested sets of parameters, each with a name.
    Named(Nested),
}

/// Values with their names.
pub type Entries = [(String, Value)];

/// A set of parameters that is the value of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Nested {
    /// Its declarations.
    pub specs: fn() -> &'static [Spec],
    /// Checks that these values can be read.
    pub check: fn(&Entries) -> Result<(), ParamError>,
}

impl Nested {
    /// The keys of a table, in a message.
    fn form(&self) -> String {
        let keys: Vec<&str> = (self.specs)().iter().map(|spec| spec.name).collect();
        format!("{{{} = …}}", keys.join(" = …, "))
    }
}

impl PartialEq for Nested {
    fn eq(&self, other: &Self) -> bool {
        (self.specs)() == (other.specs)()
    }
}

/// The numbers that a parameter allows, in the base unit (s, bit/s, bytes, packets, Hz, 1).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    /// The lower bound.
    pub low: f64,
    /// Whether `low` itself is allowed.
    pub low_included: bool,
    /// The upper bound, always allowed.
    pub high: f64,
}

impl Range {
    /// Every finite number.
    pub const ANY: Self = Self { low: f64::MIN, low_included: true, high: f64::MAX };

    /// `[low, high]`.
    #[must_use]
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, low_included: true, high }
    }

    /// `(low, high]`.
    #[must_use]
    pub const fn above(low: f64, high: f64) -> Self {
        Self { low, low_included: false, high }
    }

    /// Whether `x` is in the range; NaN never is.
    #[must_use]
    pub fn contains(&self, x: f64) -> bool {
        x <= self.high && (x > self.low || self.low_included && x == self.low)
    }
}

/// One parameter as declared.
#[derive(Clone, PartialEq, Debug)]
pub struct Spec {
    /// The canonical name.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Its meaning and origin.
    pub doc: &'static str,
    /// The unit of numbers, and of the range; empty for none.
    pub unit: &'static str,
    /// Its default; `"auto"` if the host computes it.
    pub default: Value,
    /// The kind of its value.
    pub kind: ParamKind,
    /// The units in which a quantity may be written, in words; empty if there are none.
    pub units: &'static str,
    /// Whether its value is a list.
    pub list: bool,
    /// Whether its value, or an entry of the list, may be `"auto"`.
    pub optional: bool,
    /// The allowed numbers.
    pub range: Range,
}

impl Spec {
    /// The allowed values, in words: `in (0, 10], per packet`.
    #[must_use]
    pub fn allowed(&self) -> String {
        let mut text = match self.kind {
            ParamKind::Number => "a number".to_owned(),
            ParamKind::Count => "a whole number".to_owned(),
            ParamKind::Switch => "true or false".to_owned(),
            ParamKind::Quantity(example) => format!("a quantity like {example}"),
            ParamKind::Choice(names) => format!("one of {}", names.join(", ")),
            ParamKind::Words(words) => format!("words separated by spaces, each one of {}", words.join(", ")),
            ParamKind::Text => "text".to_owned(),
            ParamKind::Algorithm { several: false } => {
                "an algorithm on one queue like \"lred:q0=20\"".to_owned()
            }
            ParamKind::Algorithm { several: true } => {
                "an algorithm like \"fq_codel\" or \"lred:q0=20\"".to_owned()
            }
            ParamKind::Table(nested) => format!("a table like {}", nested.form()),
            ParamKind::Named(nested) => format!("tables by name, each like {}", nested.form()),
        };
        if self.range != Range::ANY {
            let open = if self.range.low_included { '[' } else { '(' };
            text = match self.kind {
                ParamKind::Number => String::new(),
                _ => text + " ",
            };
            text += &format!("in {open}{}, {}]", short(self.range.low), short(self.range.high));
        }
        if !self.unit.is_empty() && (self.range != Range::ANY || !matches!(self.kind, ParamKind::Quantity(_)))
        {
            text += &format!(", {}", self.unit);
        }
        if self.list {
            text = format!("a list, each {text}");
        }
        if self.optional {
            text += " (or \"auto\")";
        }
        text
    }

    /// The allowed values, in words, for a value that could not be read: with the units.
    #[must_use]
    pub fn readable(&self) -> String {
        let units = if self.units.is_empty() { String::new() } else { format!("; units: {}", self.units) };
        self.allowed() + &units
    }
}

/// `x` without trailing zeros.
fn short(x: f64) -> String {
    if x.abs() >= 1e6 || (x != 0.0 && x.abs() < 1e-4) { format!("{x:e}") } else { format!("{x}") }
}

/// The reason for which a parameter was refused.
#[derive(Clone, PartialEq, Debug)]
pub enum ParamError {
    /// No parameter has this name.
    Unknown {
        /// The name found.
        name: String,
    },
    /// The value is of the wrong kind or out of range.
    Invalid {
        /// The parameter.
        name: String,
        /// The value found.
        found: String,
        /// The allowed values.
        allowed: String,
    },
}

impl ParamError {
    /// The error that `name` has the value `found`, but must be as `allowed` states.
    #[must_use]
    pub fn invalid(name: &str, found: impl fmt::Display, allowed: impl Into<String>) -> Self {
        Self::Invalid { name: name.to_owned(), found: found.to_string(), allowed: allowed.into() }
    }

    /// The same error, of a parameter that has another name outside.
    #[must_use]
    pub(crate) fn renamed(self, outside: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::Invalid { name, found, allowed } => Self::Invalid { name: outside(&name), found, allowed },
            unknown @ Self::Unknown { .. } => unknown,
        }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => write!(f, "{name}: no such parameter"),
            Self::Invalid { name, found, allowed } => write!(f, "{name} = {found}: must be {allowed}"),
        }
    }
}

impl core::error::Error for ParamError {}
