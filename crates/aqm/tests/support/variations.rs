//! The parameters with which properties of all algorithms are tested.

use aqm::AnyParams;
use aqm::aqm::NAMES;
use aqm::params::{ParamKind, Value};

/// Inner algorithms to test with: they drop at arrivals, at departures, or waiting packets; some have a timer.
pub(crate) const INSIDE: [&str; 6] = ["droptail", "red", "pi", "pie", "codel", "choke"];

/// Parameters with a value for each class of service, which their defaults do not have.
const BY_CLASS: [(&str, &str, [f64; 3]); 3] = [
    ("lred", "weights", [0.0, 1.0, 3.0]),
    ("raqm", "shares", [0.5, 0.3, 0.2]),
    ("raqm", "weights", [0.0, 1.0, 3.0]),
];

/// Every algorithm with its defaults, with each preset, with each value of each switch and choice, and with values by
/// class.
pub(crate) fn variations() -> Vec<(String, AnyParams)> {
    let mut found = Vec::new();
    for name in NAMES {
        let defaults = AnyParams::of(name).expect("a listed algorithm");
        for (preset, _) in defaults.presets() {
            found.push((format!("{name} {preset}"), defaults.preset(preset).expect("a listed preset")));
        }
        for spec in defaults.specs() {
            let values = match spec.kind {
                ParamKind::Switch => vec![Value::Bool(false), Value::Bool(true)],
                ParamKind::Choice(names) | ParamKind::Words(names) => {
                    names.iter().map(|name| Value::Text(name.replace('N', "40"))).collect()
                }
                ParamKind::Algorithm => INSIDE.iter().map(|name| Value::Text((*name).to_owned())).collect(),
                _ => continue,
            };
            for value in values {
                let mut params = defaults.clone();
                params.set(spec.name, &value).expect("an allowed value");
                found.push((format!("{name} {}={value}", spec.name), params));
            }
        }
        found.push(((*name).to_owned(), defaults));
    }
    for (name, key, values) in BY_CLASS {
        let mut params = AnyParams::of(name).expect("a listed algorithm");
        params.set(key, &Value::List(values.map(Value::Float).into())).expect("an allowed value");
        found.push((format!("{name} {key}"), params));
    }
    found
}
