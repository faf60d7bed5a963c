//! The types that a parameter can have.

use super::spec::{Nested, ParamKind, Range};
use super::value::Value;
use super::{Params, read_table, read_table_check};
use crate::unit::{Bytes, Frequency, Limit, Quantity, Rate, Span};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A type that a parameter can have.
pub trait Field: Sized {
    /// The kind of value that it reads.
    const KIND: ParamKind;
    /// The units of its numbers, for messages; empty if they have none.
    const UNITS: &'static str = "";
    /// Whether it reads a list.
    const LIST: bool = false;
    /// Whether it may be `"auto"`.
    const OPTIONAL: bool = false;
    /// The meaning of each name of a choice, in the order of [`ParamKind::Choice`].
    const CHOICES: &'static [&'static str] = &[];
    /// Reads `value`; `None` if it is not of this kind.
    fn read(value: &Value) -> Option<Self>;
    /// The value from which [`Field::read`] reads this again.
    fn value(&self) -> Value;
    /// Whether every number in it is in `range`.
    fn within(&self, range: &Range) -> bool;
}

impl Field for f64 {
    const KIND: ParamKind = ParamKind::Number;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(n) => Some(*n as Self),
            Value::Float(x) => Some(*x),
            _ => None,
        }
    }
    fn value(&self) -> Value {
        Value::Float(*self)
    }
    fn within(&self, range: &Range) -> bool {
        range.contains(*self)
    }
}

macro_rules! counts {
    ($($ty:ty),*) => {$(
        impl Field for $ty {
            const KIND: ParamKind = ParamKind::Count;
            fn read(value: &Value) -> Option<Self> {
                match value {
                    Value::Integer(n) => Self::try_from(*n).ok(),
                    _ => None,
                }
            }
            fn value(&self) -> Value {
                Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
            fn within(&self, range: &Range) -> bool {
                range.contains(*self as f64)
            }
        }
    )*};
}
counts!(u32, u64);

impl Field for bool {
    const KIND: ParamKind = ParamKind::Switch;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }
    fn value(&self) -> Value {
        Value::Bool(*self)
    }
    fn within(&self, _: &Range) -> bool {
        true
    }
}

impl Field for String {
    const KIND: ParamKind = ParamKind::Text;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
    fn value(&self) -> Value {
        Value::Text(self.clone())
    }
    fn within(&self, _: &Range) -> bool {
        true
    }
}

macro_rules! quantities {
    ($($ty:ty: $magnitude:expr),* $(,)?) => {$(
        impl Field for $ty {
            const KIND: ParamKind = ParamKind::Quantity(<$ty as Quantity>::EXAMPLE);
            const UNITS: &'static str = <$ty as Quantity>::UNITS;
            fn read(value: &Value) -> Option<Self> {
                match value {
                    Value::Text(text) => Self::parse(text),
                    _ => None,
                }
            }
            fn value(&self) -> Value {
                Value::Text(self.to_string())
            }
            fn within(&self, range: &Range) -> bool {
                let magnitude: fn(&$ty) -> f64 = $magnitude;
                range.contains(magnitude(self))
            }
        }
    )*};
}
quantities! {
    Span: |x| x.secs(),
    Rate: |x| x.bits(),
    Bytes: |x| x.0 as f64,
    Frequency: |x| x.0,
    Limit: |x| match *x {
        Limit::Packets(packets) => f64::from(packets),
        Limit::Bytes(bytes) | Limit::BytesBefore(bytes) => bytes as f64,
    },
}

impl<T: Field> Field for Option<T> {
    const KIND: ParamKind = T::KIND;
    const UNITS: &'static str = T::UNITS;
    const LIST: bool = T::LIST;
    const OPTIONAL: bool = true;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Text(text) if text == "auto" => Some(None),
            _ => T::read(value).map(Some),
        }
    }
    fn value(&self) -> Value {
        self.as_ref().map_or_else(|| Value::Text("auto".to_owned()), Field::value)
    }
    fn within(&self, range: &Range) -> bool {
        self.as_ref().is_none_or(|x| x.within(range))
    }
}

/// A list; a single value is read as a list of one.
impl<T: Field> Field for Vec<T> {
    const KIND: ParamKind = T::KIND;
    const UNITS: &'static str = T::UNITS;
    const LIST: bool = true;
    const OPTIONAL: bool = T::OPTIONAL;
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::List(values) if values.is_empty() => None,
            Value::List(values) => values.iter().map(T::read).collect(),
            one => T::read(one).map(|x| vec![x]),
        }
    }
    fn value(&self) -> Value {
        Value::List(self.iter().map(Field::value).collect())
    }
    fn within(&self, range: &Range) -> bool {
        self.iter().all(|x| x.within(range))
    }
}

/// Sets of parameters, each with a name, in the order in which they were written.
#[derive(Clone, PartialEq, Debug)]
pub struct Named<P>(pub Vec<(String, P)>);

impl<P: Params> Field for Named<P> {
    const KIND: ParamKind = ParamKind::Named(Nested { specs: P::specs, check: read_table_check::<P> });
    fn read(value: &Value) -> Option<Self> {
        let Value::Table(entries) = value else { return None };
        let one = |(name, value): &(String, Value)| match value {
            Value::Table(entries) => Some((name.clone(), read_table(entries).ok()?)),
            _ => None,
        };
        entries.iter().map(one).collect::<Option<Vec<_>>>().filter(|read| !read.is_empty()).map(Self)
    }
    fn value(&self) -> Value {
        let one = |(name, params): &(String, P)| {
            let values = params.values().into_iter().map(|(key, value)| (key.to_owned(), value));
            (name.clone(), Value::Table(values.collect()))
        };
        Value::Table(self.0.iter().map(one).collect())
    }
    fn within(&self, _: &Range) -> bool {
        true
    }
}
