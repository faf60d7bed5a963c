//! Parameters as the whole numbers of a program that computes in fixed point, as those of the kernel do.

use crate::aqm::AnyParams;
use crate::contract::{Aqm as _, Numbers, Port};
use crate::discipline::Discipline as _;
use crate::float::{powi, round};
use crate::params::{ParamError, ParamKind, Spec, Value};
use crate::user_defined::{Plain, plain, written};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Nanoseconds per second: a program counts time in them.
const NS: f64 = 1e9;

/// A number of a program: its name, its binary digits after the point, and its largest value if not every value of the
/// catalogue is possible.
struct Field<'a> {
    name: &'a str,
    bits: u32,
    most: Option<f64>,
}

impl<'a> Field<'a> {
    /// Reads `q0:16:` or `window:0:64`.
    fn read(text: &'a str) -> Result<Self, ParamError> {
        let wrong = || ParamError::invalid("fields", text, "like q0:16: or window:0:64, separated by spaces");
        let mut parts = text.splitn(3, ':');
        let name = parts.next().unwrap_or_default();
        let bits = parts.next().and_then(|bits| bits.parse().ok()).filter(|bits| *bits < 62);
        let most = parts.next().filter(|most| !most.is_empty()).map(str::parse).transpose();
        Ok(Self { name, bits: bits.ok_or_else(wrong)?, most: most.map_err(|_| wrong())? })
    }

    /// `number` in units of 2^-`bits`, or which numbers are possible, each as `shown`.
    fn scaled(&self, number: f64, shown: impl Fn(f64) -> String) -> Result<i64, String> {
        let most = self.most.unwrap_or_else(|| powi(2.0, 62 - self.bits) - 1.0);
        let scaled = round(number * powi(2.0, self.bits));
        if number.is_nan() {
            Err("one number in the kernel's program".into())
        } else if number.abs() > most {
            Err(format!("at most {} in the kernel's program", shown(most)))
        } else if scaled == 0.0 && number != 0.0 {
            let (bound, least) = (if number < 0.0 { "most" } else { "least" }, 0.5 / powi(2.0, self.bits));
            Err(format!("at {bound} {} in the kernel's program", shown(least.copysign(number))))
        } else {
            Ok(scaled as i64)
        }
    }

    /// A parameter so.
    fn of_parameter(&self, spec: &Spec, value: &Value) -> Result<i64, ParamError> {
        let shown = |number| match spec.kind {
            ParamKind::Quantity(_) if spec.unit == "s" => written(spec, number / NS).to_string(),
            ParamKind::Quantity(_) => written(spec, number).to_string(),
            _ => digits(number),
        };
        self.scaled(number(spec, value), shown)
            .map_err(|allowed| ParamError::invalid(self.name, value, allowed))
    }

    /// A computed number so, which depends on the parameters `of`.
    fn of_computed(&self, number: f64, of: &[&str]) -> Result<i64, ParamError> {
        self.scaled(number, digits).map_err(|allowed| {
            let of = if of.is_empty() { String::new() } else { format!(" and {}", of.join(", ")) };
            let from = "computed from the link's rate, what may wait, the port's packet";
            ParamError::invalid(
                self.name,
                digits(number),
                format!("{allowed}, {from}{of}: change one of these"),
            )
        })
    }
}

/// A number in digits, with an exponent if it is small.
fn digits(number: f64) -> String {
    if number.abs() < 1e-4 && number != 0.0 { format!("{number:e}") } else { number.to_string() }
}

/// A value of a parameter as a number in base units, time in nanoseconds; NaN if it is not one number.
fn number(spec: &Spec, value: &Value) -> f64 {
    if spec.list || spec.optional && *value == Value::Text("auto".into()) {
        return f64::NAN;
    }
    match (plain(spec, value), spec.kind) {
        (Plain::Number(seconds), ParamKind::Quantity(_)) if spec.unit == "s" => round(seconds * NS),
        (Plain::Number(number), _) => number,
        (Plain::Whole(number), _) => number as f64,
        (Plain::Switch(switch), _) => f64::from(u8::from(switch)),
        (Plain::Text(text), ParamKind::Choice(names)) => {
            names.iter().position(|name| *name == text).map_or(f64::NAN, |index| index as f64)
        }
        (Plain::Text(_), _) => f64::NAN,
    }
}

/// What a user-defined algorithm knows of its port.
fn of_port(port: &Port) -> Numbers {
    let values = vec![
        ("port_rate", port.rate.bits()),
        ("port_delay", port.delay.nanos() as f64),
        ("port_buffer", port.limit.packets(port.packet)),
        ("port_packet", port.packet.0 as f64),
    ];
    Numbers { values, of: vec![] }
}

impl AnyParams {
    /// The numbers that a program in fixed point can have of this algorithm, each with its name, times in nanoseconds; NaN
    /// for a parameter that is not one number.
    pub(crate) fn numbers(&self, port: &Port) -> Vec<(&'static str, f64)> {
        let computed = of_params!(self, _ => of_port(port), A(params) => A::fixed(params, port)).values;
        let values = self.values();
        let is_replaced = |name: &str| computed.iter().any(|(computed, _)| *computed == name);
        let own = self.specs().iter().zip(&values).filter(|(spec, _)| !is_replaced(spec.name));
        own.map(|(spec, (name, value))| (*name, number(spec, value))).chain(computed.clone()).collect()
    }

    /// The numbers of a program, which is the same algorithm in fixed point, in the order of its `fields`:
    /// `"q0:16: beta:48: window:0:64"`, each the name of a parameter, or of a number that the algorithm computes, the
    /// binary digits after the point, and the largest value or nothing. Times are in ns, a choice is its index.
    ///
    /// # Errors
    /// If there is no number of this name, one does not fit, or a parameter is set that the program does not have.
    pub fn fixed(&self, port: &Port, fields: &str) -> Result<Vec<i64>, ParamError> {
        let computed = of_params!(self, _ => of_port(port), A(params) => A::fixed(params, port));
        let fields = fields.split_whitespace().map(Field::read).collect::<Result<Vec<_>, _>>()?;
        let values = self.values();
        for (spec, (name, value)) in self.specs().iter().zip(&values) {
            let had = fields.iter().any(|field| field.name == *name)
                || computed.values.iter().any(|(computed, _)| computed == name)
                || computed.of.contains(name);
            if !had && *value != spec.default {
                let allowed = format!(
                    "at its default {}, since the kernel's program has no such parameter",
                    spec.default
                );
                return Err(ParamError::invalid(name, value, allowed));
            }
        }
        let fixed = |field: &Field<'_>| {
            let written = values.iter().position(|(name, _)| *name == field.name);
            let parameter = written.map(|i| (&self.specs()[i], &values[i].1));
            let own = computed.values.iter().find(|(name, _)| *name == field.name);
            match (own, parameter) {
                (Some((_, own)), Some((spec, value))) if *own == number(spec, value) => {
                    field.of_parameter(spec, value)
                }
                (Some((_, number)), _) => field.of_computed(*number, &computed.of),
                (None, Some((spec, value))) => field.of_parameter(spec, value),
                (None, None) => Err(ParamError::Unknown { name: field.name.into() }),
            }
        };
        fields.iter().map(fixed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::PORT;

    fn fixed(aqm: &str, fields: &str) -> Result<Vec<i64>, String> {
        let params: AnyParams = aqm.parse().expect("parameters");
        params.fixed(&PORT, fields).map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_is_in_base_units_times_a_power_of_two() {
        let fields = "target:0: ecn:0: mark_ecnth:4: delay:0: mean_packet:0: t_update:0:";
        let found =
            fixed("pie:target=1.5ms,ecn=true,mark_ecnth=0.3,delay=timestamps,mean_packet=1kB", fields);
        // 0.3 is 4.8 sixteenths, and "timestamps" the second of the choices.
        assert_eq!(found, Ok(vec![1_500_000, 1, 5, 1, 1000, 15_000_000]));
        assert_eq!(fixed("pi:b=0,a=0.01,q_ref=7.5", "q_ref:1: b:62:"), Err(REFUSED.into()));
    }

    const REFUSED: &str = "fields = b:62:: must be like q0:16: or window:0:64, separated by spaces";

    #[test]
    fn a_number_that_the_law_computes_is_in_place_of_a_parameter() {
        // PORT has 500-byte packets.
        assert_eq!(fixed("lred", "mean_packet:0:"), Ok(vec![500]));
        assert_eq!(fixed("lred:mean_packet=1kB", "mean_packet:0:"), Ok(vec![1000]));
    }

    #[test]
    fn a_number_that_does_not_fit_is_refused() {
        for (aqm, fields, message) in [
            ("lred:window=65", "window:0:64", "window = 65: must be at most 64 in the kernel's program"),
            (
                "lred:period=200s",
                "period:0:100000000000",
                "period = \"200 s\": must be at most \"100 s\" in the kernel's program",
            ),
            ("lred:q0=1e9", "q0:42:", "q0 = 1000000000.0: must be at most 1048575 in the kernel's program"),
            ("lred", "weights:16:", "weights = [1.0]: must be one number in the kernel's program"),
            ("pie", "mean_packet:0:", "mean_packet = \"auto\": must be one number in the kernel's program"),
            ("lred", "q1:0:", "q1: no such parameter"),
            (
                "rem:inw=1e-16",
                "inw:48:",
                "inw = 1e-16: must be at least 1.7763568394002505e-15 in the kernel's program",
            ),
            ("lred:q0=0.1", "q0:2:", "q0 = 0.1: must be at least 0.125 in the kernel's program"),
            (
                "avq:buflim=2",
                "buffer:24:100000000",
                "buffer = 160000000: must be at most 100000000 in the kernel's program, computed from the link's rate, what \
                 may wait, the port's packet and alpha, gamma, buflim, mean_packet: change one of these",
            ),
            (
                "rem:phi=1.0001",
                "log2_phi:8:",
                "log2_phi = 0.0001442622910945383: must be at least 0.001953125 in the kernel's program, computed from the \
                 link's rate, what may wait, the port's packet and phi: change one of these",
            ),
        ] {
            assert_eq!(fixed(aqm, fields), Err(message.into()), "{aqm}");
        }
    }

    #[test]
    fn a_parameter_that_the_program_lacks_is_at_its_default() {
        let error = "weights = [1.0, 2.0]: must be at its default [1.0], since the kernel's program has no such \
                     parameter";
        let fields = "q0:16: mean_packet:0:";
        assert_eq!(fixed("lred:weights=[1,2]", fields), Err(error.into()));
        assert_eq!(fixed("lred:q0=20,mean_packet=1kB", fields), Ok(vec![20 << 16, 1000]));
        // The gains depend on the design.
        let (a, b) = (fixed("pi:preset=pi-star", "a:40: q_ref:0:"), fixed("pi", "a:40: q_ref:0:"));
        assert!(a.is_ok() && b.is_ok() && a != b, "{a:?} {b:?}");
    }
}
