//! Parameters, declared once: name, type, default, unit, range, aliases and documentation.
//!
//! From one declaration, [`params!`](crate::params!) generates the struct, its defaults, a setter whose errors name
//! the parameter and the allowed values, and the [`Spec`]s from which the command line, files, the schema, Python and
//! the documentation are generated.

mod field;
mod spec;
mod text;
mod value;

use alloc::vec::Vec;
pub use field::{Field, Named};
#[doc(hidden)]
pub use once_cell::race::OnceBox;
pub use spec::{Entries, Nested, ParamError, ParamKind, Range, Spec};
pub use text::{commas, settings};
pub use value::Value;

/// Declares an enum with a name for each value of a parameter: `choice! { pub enum Form { Paper = "paper", … } }`.
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[doc = $doc:literal])+ $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $name { $($(#[doc = $doc])+ $variant),+ }

        impl $crate::params::Field for $name {
            const KIND: $crate::params::ParamKind = $crate::params::ParamKind::Choice(&[$($text),+]);
            const CHOICES: &'static [&'static str] = &[$(concat!($($doc),+).trim_ascii()),+];
            fn read(value: &$crate::params::Value) -> Option<Self> {
                match value {
                    $crate::params::Value::Text(text) => match text.as_str() {
                        $($text => Some(Self::$variant),)+
                        _ => None,
                    },
                    // A name that consists of digits may be written without quotes on the command line.
                    $crate::params::Value::Integer(n) => Self::read(&$crate::params::Value::Text($crate::alloc::format!("{n}"))),
                    _ => None,
                }
            }
            fn value(&self) -> $crate::params::Value {
                $crate::params::Value::Text(match self { $(Self::$variant => $text),+ }.into())
            }
            fn within(&self, _: &$crate::params::Range) -> bool {
                true
            }
        }
    };
}

/// Declares a set of parameters:
///
/// ```
/// use aqm::params::{Params as _, Range};
/// aqm::params! {
///     /// LRED's parameters.
///     pub struct Params {
///         /// Target queue length.
///         q0: f64 = 100.0, "packets", Range::new(0.0, 1e9), ["target"];
///     }
/// }
/// assert_eq!(Params::default().q0, 100.0);
/// assert_eq!(Params::specs()[0].doc, "Target queue length.");
/// ```
///
/// Each line is `name: type = default, unit, range, [aliases];`, the last two optional. A set that builds on another,
/// `struct Params with red: red::Params { … }`, has all of that one's parameters, in a field of this name, before
/// its own.
#[macro_export]
macro_rules! params {
    (@range) => { $crate::params::Range::ANY };
    (@range $range:expr) => { $range };
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(with $base:ident: $base_ty:ty)? {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $ty:ty = $default:expr, $unit:literal $(, $range:expr $(, [$($alias:literal),*])?)?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        $vis struct $name {
            $(#[doc = concat!("The parameters of ", stringify!($base), ".")] pub $base: $base_ty,)?
            $($(#[doc = $doc])+ pub $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($base: Default::default(),)? $($field: $default,)* }
            }
        }

        impl $crate::params::Field for $name {
            const KIND: $crate::params::ParamKind = $crate::params::ParamKind::Table($crate::params::Nested {
                specs: <Self as $crate::params::Params>::specs,
                check: $crate::params::read_table_check::<Self>,
            });
            fn read(value: &$crate::params::Value) -> Option<Self> {
                match value {
                    $crate::params::Value::Table(entries) => $crate::params::read_table(entries).ok(),
                    _ => None,
                }
            }
            fn value(&self) -> $crate::params::Value {
                let values = $crate::params::Params::values(self);
                $crate::params::Value::Table(values.into_iter().map(|(key, value)| (key.into(), value)).collect())
            }
            fn within(&self, _: &$crate::params::Range) -> bool {
                true
            }
        }

        impl $crate::params::Params for $name {
            fn specs() -> &'static [$crate::params::Spec] {
                static SPECS: $crate::params::OnceBox<$crate::alloc::vec::Vec<$crate::params::Spec>> =
                    $crate::params::OnceBox::new();
                SPECS.get_or_init(|| {
                    let own: &[$crate::params::Spec] = &[$($crate::params::Spec {
                        name: stringify!($field),
                        aliases: &[$($($($alias),*)?)?],
                        doc: concat!($($doc),+).trim(),
                        unit: $unit,
                        default: <$ty as $crate::params::Field>::value(&$default),
                        kind: <$ty as $crate::params::Field>::KIND,
                        units: <$ty as $crate::params::Field>::UNITS,
                        list: <$ty as $crate::params::Field>::LIST,
                        optional: <$ty as $crate::params::Field>::OPTIONAL,
                        range: $crate::params!(@range $($range)?),
                    },)*];
                    $crate::alloc::boxed::Box::new([$(<$base_ty as $crate::params::Params>::specs(),)? own].concat())
                })
            }

            #[allow(unused_variables, unreachable_code)]
            fn set(&mut self, name: &str, value: &$crate::params::Value) -> Result<(), $crate::params::ParamError> {
                let Some(spec) = <Self as $crate::params::Params>::spec(name) else {
                    return Err($crate::params::ParamError::Unknown { name: name.into() });
                };
                match spec.name {
                    $(stringify!($field) => self.$field = $crate::params::read_checked(spec, value)?,)*
                    $(name if <$base_ty as $crate::params::Params>::spec(name).is_some() => {
                        $crate::params::Params::set(&mut self.$base, name, value)?;
                    })?
                    _ => unreachable!("every spec has a field"),
                }
                Ok(())
            }

            fn values(&self) -> $crate::alloc::vec::Vec<(&'static str, $crate::params::Value)> {
                let own: $crate::alloc::vec::Vec<(&'static str, $crate::params::Value)> =
                    $crate::alloc::vec![$((stringify!($field), $crate::params::Field::value(&self.$field)),)*];
                [$($crate::params::Params::values(&self.$base),)? own].concat()
            }
        }
    };
}

/// A set of parameters declared by [`params!`](crate::params!).
pub trait Params: Clone + Default {
    /// The declarations, in order.
    fn specs() -> &'static [Spec];
    /// Sets the parameter called `name` (or with this alias).
    ///
    /// # Errors
    /// If there is no such parameter, or `value` is not allowed for it.
    fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError>;
    /// Every parameter with its value, in order.
    fn values(&self) -> Vec<(&'static str, Value)>;

    /// The declaration of the parameter called `name` (or with this alias).
    #[must_use]
    fn spec(name: &str) -> Option<&'static Spec> {
        Self::specs().iter().find(|spec| spec.name == name || spec.aliases.contains(&name))
    }
}

/// The parameters with these values; the others have their defaults.
///
/// # Errors
/// If a value is not allowed.
pub fn read_table<P: Params>(entries: &Entries) -> Result<P, ParamError> {
    let mut params = P::default();
    entries.iter().try_for_each(|(key, value)| params.set(key, value)).map(|()| params)
}

/// Checks that [`read_table`] can read these values.
///
/// # Errors
/// If a value is not allowed.
pub fn read_table_check<P: Params>(entries: &Entries) -> Result<(), ParamError> {
    read_table::<P>(entries).map(|_| ())
}

/// Reads `value` for the parameter `spec`.
///
/// # Errors
/// If the value is of the wrong kind or out of range.
pub fn read_checked<T: Field>(spec: &Spec, value: &Value) -> Result<T, ParamError> {
    let Some(read) = T::read(value) else {
        return Err(ParamError::invalid(spec.name, value, spec.readable()));
    };
    match read.within(&spec.range) {
        true => Ok(read),
        false => Err(ParamError::invalid(spec.name, value, spec.allowed())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Bytes, Span};

    choice! {
        /// A form.
        enum Form {
            /// As printed.
            Paper = "paper",
            /// As in ns-2.
            Ns2 = "ns2",
            /// As printed first.
            Old = "1993",
        }
    }

    params! {
        /// Some parameters.
        struct Example {
            /// A gain.
            beta: f64 = 0.001, "per packet", Range::above(0.0, 10.0), ["gain"];
            /// A period.
            period: Span = Span::s(1), "s", Range::above(0.0, 100.0);
            /// A form.
            form: Form = Form::Paper, "";
            /// A size that the host may choose.
            size: Option<Bytes> = None, "bytes", Range::new(1.0, 65535.0);
        }
    }

    params! {
        /// The parameters of `Example`, and another one.
        struct Extended with example: Example {
            /// A count.
            count: u32 = 3, "packets", Range::new(1.0, 9.0), ["n"];
        }
    }

    #[test]
    fn a_setter_reads_its_kind_and_nothing_else() {
        let mut example = Example::default();
        example.set("gain", &Value::Integer(2)).unwrap();
        example.set("period", &Value::Text("20 ms".into())).unwrap();
        example.set("form", &Value::Text("ns2".into())).unwrap();
        example.set("size", &Value::Text("1 kB".into())).unwrap();
        assert_eq!(
            example,
            Example { beta: 2.0, period: Span::ms(20), form: Form::Ns2, size: Some(Bytes(1000)) }
        );
        example.set("size", &Value::Text("auto".into())).unwrap();
        assert_eq!(example.size, None);
    }

    #[test]
    fn a_choice_of_digits_needs_no_quotes() {
        let mut example = Example::default();
        for value in [Value::Text("1993".into()), Value::Integer(1993)] {
            example.form = Form::Paper;
            example.set("form", &value).unwrap();
            assert_eq!(example.form, Form::Old);
        }
        assert!(example.set("form", &Value::Integer(1994)).is_err());
    }

    #[test]
    fn errors_name_parameter_value_and_range() {
        let mut example = Example::default();
        let error = |e: Result<(), ParamError>| e.unwrap_err().to_string();
        assert_eq!(
            error(example.set("beta", &Value::Integer(-1))),
            "beta = -1: must be in (0, 10], per packet"
        );
        assert_eq!(
            error(example.set("period", &Value::Float(f64::NAN))),
            "period = NaN: must be a quantity like \"2.5 ms\" in (0, 100], s; units: s, ms, us, ns, min, h"
        );
        assert_eq!(
            error(example.set("form", &Value::Text("ns3".into()))),
            "form = \"ns3\": must be one of paper, ns2, 1993"
        );
        assert_eq!(error(example.set("bet", &Value::Integer(1))), "bet: no such parameter");
        assert!(example.set("beta", &Value::Float(f64::NAN)).is_err());
        assert!(example.set("beta", &Value::Integer(0)).is_err());
    }

    #[test]
    fn written_values_can_be_read() {
        let example = Example::default();
        let mut copy = Example { beta: 1.0, ..Example::default() };
        for (name, value) in example.values() {
            copy.set(name, &value).unwrap();
        }
        assert_eq!(copy, example);
    }
    #[test]
    fn a_set_that_builds_on_another_has_the_parameters_of_both() {
        let names: Vec<&str> = Extended::specs().iter().map(|spec| spec.name).collect();
        assert_eq!(names, ["beta", "period", "form", "size", "count"]);
        let mut extended = Extended::default();
        extended.set("gain", &Value::Integer(2)).unwrap();
        extended.set("n", &Value::Integer(4)).unwrap();
        let example = Example { beta: 2.0, ..Example::default() };
        assert_eq!(extended, Extended { example, count: 4 });
        assert_eq!(extended.values()[0], ("beta", Value::Float(2.0)));
        assert_eq!(extended.values()[4], ("count", Value::Integer(4)));
        let error = extended.set("beta", &Value::Integer(-1)).unwrap_err();
        assert_eq!(error.to_string(), "beta = -1: must be in (0, 10], per packet");
        assert_eq!(
            extended.set("bet", &Value::Integer(1)),
            Err(ParamError::Unknown { name: "bet".to_owned() })
        );
    }
}
