//! The parameters with which properties of all algorithms are tested.

use aqm::AnyParams;
use aqm::aqm::NAMES;
use aqm::params::{ParamKind, Value};

/// Inner algorithms to test with: they drop at arrivals, at departures, or waiting packets; some have a timer.
pub(crate) const INSIDE: [&str; 6] = ["droptail", "red", "pi", "pie", "codel", "choke"];

/// Those of several queues, to test with inside disciplines that take any: one pauses the link, one has others inside.
const AROUND: [&str; 8] = ["fq_codel", "dualpi2", "cake", "tbf", "prio", "drr_classes", "htb", "police"];

/// Classes of disciplines around others: each takes a class of service; the value of `aqm`, and the limit.
const CLASSES: [[(&str, &str, &str); 3]; 2] = [
    [("a", "codel", "5 packets"), ("b", "tbf", "10 kB"), ("c", "fq_codel", "1 packets")],
    [("a", "headdrop", "3 packets"), ("b", "droptail", "2 packets"), ("c", "cake", "300 packets")],
];

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
                ParamKind::Algorithm { several } => {
                    let more = if several { &AROUND[..] } else { &[] };
                    INSIDE.iter().chain(more).map(|name| Value::Text((*name).to_owned())).collect()
                }
                _ => continue,
            };
            // What Linux refuses.
            let refused = (*name, spec.name) == ("cake_mq", "autorate_ingress");
            for value in values.into_iter().filter(|value| !refused || *value != Value::Bool(true)) {
                let mut params = defaults.clone();
                params.set(spec.name, &value).expect("an allowed value");
                found.push((format!("{name} {}={value}", spec.name), params));
            }
        }
        found.push(((*name).to_owned(), defaults));
    }
    let text = |text: &str| Value::Text(text.to_owned());
    for name in ["prio", "drr_classes", "htb"] {
        for classes in CLASSES {
            let class = |(name, aqm, limit): (&str, &str, &str), service| {
                let keys = [
                    ("service", Value::Integer(service)),
                    ("aqm", Value::Table(vec![("name".to_owned(), text(aqm))])),
                    ("limit", text(limit)),
                ];
                (name.to_owned(), Value::Table(keys.map(|(key, value)| (key.to_owned(), value)).into()))
            };
            let mut params = AnyParams::of(name).expect("a listed algorithm");
            let table = classes.into_iter().zip(1..).map(|(each, service)| class(each, service)).collect();
            params.set("classes", &Value::Table(table)).expect("allowed classes");
            found.push((format!("{name} with {classes:?}"), params));
        }
    }
    for (name, key, values) in BY_CLASS {
        let mut params = AnyParams::of(name).expect("a listed algorithm");
        params.set(key, &Value::List(values.map(Value::Float).into())).expect("an allowed value");
        found.push((format!("{name} {key}"), params));
    }
    found
}
