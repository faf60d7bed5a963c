//! All algorithms, TCPs, kinds of traffic and tables with their parameters, for lists and pages.

use crate::json::value;
use crate::model::tcp::{DEFAULT_PRESET, FLAVOURS_PRESET, NOT_MODELLED, RACK_PRESET};
use crate::model::{
    Control, Flavour, General, Gilbert, Handover, Jitter, Record, Reorder, Response, TCP_PRESETS, Tcp,
};
use crate::tables::{
    CableTable, CellTable, Dumbbell, KindName, LinkTable, Recorded, RecordedLoss, Sweep, TrafficTable,
    WifiTable,
};

use crate::tables::traffic::has;
use aqm::aqm::{AnyParams, NAMES, VARIANTS};
use aqm::params::{Field, ParamKind, Params, Spec, Value};
use serde_json::{Map, Value as Json, json};

/// The building blocks of a scenario; the schema defines the form of a file.
#[must_use]
pub fn catalogue() -> Json {
    json!({
        "aqms": NAMES.iter().filter_map(|name| AnyParams::of(name)).map(|params| aqm(&params)).collect::<Json>(),
        "variants": variants(VARIANTS),
        "tcps": tcps(),
        "traffic": traffic(),
        "tables": {
            "general": parameters(General::specs()),
            "dumbbell": parameters(Dumbbell::specs()),
            "link": parameters(LinkTable::specs()),
            "wifi": parameters(WifiTable::specs()),
            "cell": parameters(CellTable::specs()),
            "cable": parameters(CableTable::specs()),
            "loss": parameters(Gilbert::specs()),
            "recorded_loss": parameters(RecordedLoss::specs()),
            "handover": parameters(Handover::specs()),
            "jitter": parameters(Jitter::specs()),
            "reorder": parameters(Reorder::specs()),
            "rates": parameters(Recorded::specs()),
            "traffic": parameters(TrafficTable::specs()),
            "tcp": parameters_of(&Tcp::unnamed(None), |_| true),
            "response": parameters(Response::specs()),
            "record": parameters(Record::specs()),
            "sweep": parameters(Sweep::specs()),
        },
    })
}

/// The algorithm of each variant, by their names.
pub fn variants_of() -> impl Iterator<Item = (&'static str, &'static str)> {
    VARIANTS.iter().map(|&(name, of, _)| (name, of))
}

/// The entry of an algorithm among the `aqms` of [`catalogue`], or the one that a user-defined algorithm would have there, or
/// that of a user-defined congestion control; with a digest, that of the source with this digest.
///
/// # Errors
/// The reason for which there is neither.
pub fn described(reference: &str, source: Option<&str>) -> Result<Json, String> {
    let listed = AnyParams::of(reference).filter(|_| NAMES.contains(&reference)).ok_or(());
    let found = listed.or_else(|()| AnyParams::user_defined(reference, source));
    found.map(|params| aqm(&params)).or_else(|reason| {
        let params = Control::find(reference, source).map_err(|_| reason)?;
        let declaration = params.declaration();
        Ok(json!({
            "name": declaration.name,
            "summary": summary(declaration.doc),
            "doc": declaration.doc,
            "presets": [],
            "signals": [],
            "parameters": parameters(declaration.specs),
        }))
    })
}

/// The first paragraph of a documentation. The head of a file begins with the algorithm's name, which the entry already has.
fn summary(doc: &str) -> String {
    let head = doc.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    head.split_once(": ").map_or_else(|| head.clone(), |(_, summary)| summary.to_owned())
}

fn parameters(specs: &[Spec]) -> Json {
    specs.iter().map(|spec| parameter(spec, &spec.default)).collect()
}

/// The parameters of each table of a parameter that has tables by name.
fn of_each(spec: &Spec) -> &'static [Spec] {
    match spec.kind {
        ParamKind::Named(nested) => (nested.specs)(),
        _ => &[],
    }
}

fn parameter(spec: &Spec, default: &Value) -> Json {
    json!({
        "name": spec.name,
        "doc": spec.doc,
        "unit": spec.unit,
        "default": if of_each(spec).is_empty() { shown(default) } else { by_name(default, of_each(spec)) },
        "allowed": spec.allowed(),
        "aliases": spec.aliases,
        "each": parameters(of_each(spec)),
    })
}

/// Tables by name, each with the values that differ from the defaults.
fn by_name(given: &Value, specs: &[Spec]) -> Json {
    let Value::Table(tables) = given else { return value(given) };
    let changed = |table: &Value| -> Json {
        let Value::Table(entries) = table else { return value(table) };
        let is_default =
            |key: &str, own: &Value| specs.iter().any(|spec| spec.name == key && spec.default == *own);
        let others = entries.iter().filter(|(key, own)| !is_default(key, own));
        others.map(|(key, own)| (key.clone(), shown(own))).collect::<Map<_, _>>().into()
    };
    tables.iter().map(|(name, table)| (name.clone(), changed(table))).collect::<Map<_, _>>().into()
}

/// The value as written in a file: of an inner algorithm, its name and the parameters that differ from the defaults.
fn shown(given: &Value) -> Json {
    let Value::Table(entries) = given else { return value(given) };
    let inside = entries.iter().find_map(|(key, value)| match value {
        Value::Text(name) if key == "name" => AnyParams::of(name),
        _ => None,
    });
    let Some(defaults) = inside else { return value(given) };
    let defaults = defaults.values();
    let is_default = |(key, own): &&(String, Value)| defaults.iter().any(|(k, v)| k == key && v == own);
    let changed = entries.iter().filter(|entry| !is_default(entry));
    changed.map(|(key, own)| (key.clone(), shown(own))).collect::<Map<_, _>>().into()
}

/// The presets of an algorithm, each with the values that differ from the defaults.
fn presets(defaults: &AnyParams) -> Json {
    let entry = |(name, summary): &(&str, &str)| {
        let preset = defaults.preset(name).unwrap_or_else(|| defaults.clone());
        let changed = preset.values().into_iter().zip(defaults.values()).filter(|(own, other)| own != other);
        let values: Map<_, _> = changed.map(|((key, own), _)| (key.to_owned(), shown(&own))).collect();
        json!({ "name": name, "summary": summary, "values": values })
    };
    defaults.presets().iter().map(entry).collect()
}

/// The quantity that the algorithm steers to a target, if it has one: the `length` of the queue, or the `delay` of
/// packets.
fn steers(params: &AnyParams) -> Option<&'static str> {
    let is_delay =
        |spec: &Spec| spec.unit == "s" && [&[spec.name], spec.aliases].concat().contains(&"target");
    if params.target().is_some() {
        Some("length")
    } else if params.specs().iter().any(is_delay) {
        Some("delay")
    } else {
        None
    }
}

fn aqm(params: &AnyParams) -> Json {
    let doc = params.doc();
    let signals = params.signals().iter();
    json!({
        "name": params.name(),
        "summary": summary(doc),
        "doc": doc,
        "steers": steers(params),
        "one_queue": params.has_one_queue(),
        // By contract, p is the first signal of every algorithm that drops at random, and of no other.
        "random": params.signals().first().is_some_and(|signal| signal.name == "p"),
        "presets": presets(params),
        "signals": signals.map(|s| json!({ "name": s.name, "unit": s.unit, "doc": s.doc })).collect::<Json>(),
        "parameters": parameters(params.specs()),
    })
}

/// The names that stand for presets, each with the description of its preset.
fn variants(variants: &[(&str, &str, &str)]) -> Json {
    let entry = |(name, of, preset): &(&str, &str, &str)| {
        let presets = AnyParams::of(of).map(|params| presets(&params)).unwrap_or_default();
        let described =
            presets.as_array().into_iter().flatten().find(|entry| entry["name"] == *preset).cloned();
        let described = described.unwrap_or_default();
        json!({
            "name": name,
            "of": of,
            "preset": preset,
            "summary": described["summary"],
            "values": described["values"],
        })
    };
    variants.iter().map(entry).collect()
}

/// The names of a choice, each with its meaning.
fn choices<T: Field>() -> impl Iterator<Item = (&'static str, &'static str)> {
    let ParamKind::Choice(names) = T::KIND else { unreachable!("only a choice has names") };
    names.iter().copied().zip(T::CHOICES.iter().copied())
}

/// The parameters that a TCP `has`, each with the TCP's own value as its default.
fn parameters_of(tcp: &Tcp, has: impl Fn(&Spec) -> bool) -> Json {
    let values = Tcp::specs().iter().zip(tcp.values()).filter(|(spec, _)| has(spec));
    values.map(|(spec, (_, value))| parameter(spec, &value)).collect()
}

/// The presets, and the flavours with the preset on which they are based; the default of each parameter is its value
/// there.
fn tcps() -> Json {
    let entry = |name: &str, summary: &str, tcp: &Tcp| {
        let parameters = parameters_of(tcp, |spec| tcp.inapplicable(spec.name).is_none());
        let notes = if tcp.flavour == Flavour::Rack { NOT_MODELLED } else { "" };
        json!({ "name": name, "summary": summary, "notes": notes, "parameters": parameters })
    };
    let preset = |(name, summary): &(&str, &str)| {
        let note = if *name == DEFAULT_PRESET { "; the default" } else { "" };
        entry(name, &format!("{summary}{note}"), &Tcp::preset(name).unwrap_or_default())
    };
    let flavour = |(name, summary): (&'static str, &'static str)| {
        let flavour = Flavour::read(&Value::Text(name.to_owned())).unwrap_or(Flavour::NewReno);
        let base = if flavour == Flavour::Rack { RACK_PRESET } else { FLAVOURS_PRESET };
        let summary = format!("{summary} Otherwise as {base}.");
        entry(name, &summary, &Tcp { flavour, ..Tcp::unnamed(Some(name)) })
    };
    TCP_PRESETS.iter().map(preset).chain(choices::<Flavour>().map(flavour)).collect()
}

/// The kinds of traffic, each with its parameters.
fn traffic() -> Json {
    let kind = |(name, summary): (&'static str, &'static str)| {
        let kind = KindName::read(&Value::Text(name.to_owned()));
        let own = |spec: &&Spec| kind.is_some_and(|kind| has(kind, spec.name));
        let parameters = TrafficTable::specs().iter().filter(own).map(|spec| parameter(spec, &spec.default));
        json!({ "name": name, "summary": summary, "parameters": parameters.collect::<Json>() })
    };
    choices::<KindName>().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(entries: &Json) -> Vec<&str> {
        entries.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn everything_is_listed_with_a_summary() {
        let catalogue = catalogue();
        assert_eq!(names(&catalogue["aqms"]), NAMES);
        let presets = TCP_PRESETS.iter().map(|(name, _)| *name);
        let ParamKind::Choice(flavours) = Flavour::KIND else { panic!("flavours are names") };
        let tcps: Vec<&str> = presets.chain(flavours.iter().copied()).collect();
        assert_eq!(names(&catalogue["tcps"]), tcps);
        let ParamKind::Choice(kinds) = KindName::KIND else { panic!("kinds are names") };
        assert_eq!(names(&catalogue["traffic"]), kinds);
        assert!(
            ["ftp", "short", "web", "on-off", "fgn", "trace", "video"]
                .iter()
                .all(|kind| kinds.contains(kind))
        );
        for list in ["aqms", "tcps", "traffic"] {
            for entry in catalogue[list].as_array().unwrap() {
                assert!(entry["summary"].as_str().is_some_and(|text| text.len() > 10), "{entry}");
            }
        }
    }

    fn discipline(name: &str) -> Json {
        let catalogue = catalogue();
        let mut entries = catalogue["aqms"].as_array().unwrap().iter();
        entries.find(|entry| entry["name"] == name).unwrap().clone()
    }

    fn preset(of: &str, name: &str) -> Json {
        let entry = discipline(of);
        let mut presets = entry["presets"].as_array().unwrap().iter();
        presets.find(|preset| preset["name"] == name).unwrap().clone()
    }

    #[test]
    fn a_preset_lists_the_values_that_are_not_the_defaults() {
        let floyd = json!({ "min_th": 5.0, "max_th": 15.0, "w_q": 0.002, "gentle": false });
        assert_eq!(preset("red", "floyd1997")["values"], floyd);
        // Setting the values over the defaults gives the preset.
        for name in NAMES {
            let defaults = AnyParams::of(name).unwrap();
            for preset in discipline(name)["presets"].as_array().unwrap() {
                let preset_name = preset["name"].as_str().unwrap();
                let wanted = defaults.preset(preset_name).unwrap();
                let mut built = defaults.clone();
                for (key, own) in wanted.values() {
                    if preset["values"].get(key).is_some() {
                        built.set(key, &own).unwrap();
                    }
                }
                assert_eq!(built, wanted, "{name} {preset_name}");
            }
        }
    }

    #[test]
    fn an_inner_algorithm_is_shown_by_its_name_and_changed_parameters() {
        assert_eq!(discipline("fq")["parameters"][0]["default"], json!({ "name": "codel" }));
        assert_eq!(discipline("fq")["one_queue"], json!(false));
        assert_eq!(discipline("pi")["one_queue"], json!(true));
        let mut pi = AnyParams::of("pi").unwrap();
        pi.set("q0", &Value::Integer(7)).unwrap();
        assert_eq!(shown(&Box::new(pi).value()), json!({ "name": "pi", "q_ref": 7.0 }));
        assert_eq!(shown(&Value::Float(1.0)), json!(1.0));
    }

    #[test]
    fn a_variant_is_described_as_its_preset_is() {
        let listed = variants(&[("gred-i", "red", "gred-i")]);
        let preset = preset("red", "gred-i");
        assert_eq!((&listed[0]["summary"], &listed[0]["values"]), (&preset["summary"], &preset["values"]));
        assert_eq!((&listed[0]["name"], &listed[0]["of"]), (&json!("gred-i"), &json!("red")));
    }

    #[test]
    fn a_discipline_lists_its_target_and_whether_it_drops_at_random() {
        let facts = |name| {
            let entry = discipline(name);
            (entry["steers"].clone(), entry["random"].clone())
        };
        assert_eq!(facts("pi"), (json!("length"), json!(true)));
        assert_eq!(facts("red"), (json!(null), json!(true)));
        assert_eq!(facts("droptail"), (json!(null), json!(false)));
    }

    #[test]
    fn a_kind_of_traffic_lists_its_own_parameters() {
        let catalogue = catalogue();
        let common = [
            "name",
            "kind",
            "count",
            "from",
            "to",
            "sender_delay",
            "receiver_delay",
            "send_jitter",
            "packet_size",
            "class",
            "dscp",
            "start",
            "stop",
            "active",
        ];
        let own = |kind: &str| {
            let kinds = catalogue["traffic"].as_array().unwrap();
            let entry = kinds.iter().find(|entry| entry["name"] == kind).unwrap();
            let keys = names(&entry["parameters"]).into_iter().filter(|key| !common.contains(key));
            keys.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(own("ftp"), "");
        assert_eq!(own("transfer"), "size request");
        assert_eq!(own("short"), "size lifetime arrival_rate interarrival");
        assert_eq!(own("cbr"), "ecn rate pacing_burst");
        assert_eq!(own("on-off"), "ecn rate on off");
        assert_eq!(own("fgn"), "ecn rate hurst deviation step");
        assert_eq!(own("trace"), "ecn file src dst");
        assert_eq!(own("video"), "ecn frame_rate frame_size key_every key_size");
    }

    #[test]
    fn the_default_tcp_and_the_presets_of_flavours_are_listed() {
        let catalogue = catalogue();
        let summary = |tcp: &str| {
            let entry = catalogue["tcps"].as_array().unwrap().iter().find(|entry| entry["name"] == tcp);
            entry.unwrap()["summary"].as_str().unwrap().to_owned()
        };
        let saying: Vec<_> =
            TCP_PRESETS.iter().filter(|(name, _)| summary(name).ends_with("; the default")).collect();
        assert_eq!(saying.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [DEFAULT_PRESET]);
        let ParamKind::Choice(flavours) = Flavour::KIND else { panic!("flavours are names") };
        for flavour in flavours {
            let base = if *flavour == "rack" { "rfc" } else { "rfc5681" };
            assert!(summary(flavour).ends_with(&format!(" Otherwise as {base}.")), "{}", summary(flavour));
        }
        let table = catalogue["tables"]["tcp"].as_array().unwrap();
        let congestion = table.iter().find(|entry| entry["name"] == "congestion").unwrap();
        assert_eq!(congestion["default"], json!("cubic"), "linux's value");
    }

    #[test]
    fn a_preset_of_tcp_shows_its_own_values() {
        let catalogue = catalogue();
        let default = |tcp: &str, name: &str| {
            let entry = catalogue["tcps"].as_array().unwrap().iter().find(|entry| entry["name"] == tcp);
            let parameters = entry.unwrap()["parameters"].as_array().unwrap();
            parameters.iter().find(|entry| entry["name"] == name).map(|entry| entry["default"].clone())
        };
        assert_eq!(default("rfc5681", "min_rto"), Some(json!("1 s")));
        assert_eq!(default("ns2.35", "min_rto"), Some(json!("200 ms")));
        assert_eq!(default("ns2-2002", "min_rto"), Some(json!("1 s")));
        assert_eq!(default("ns2-2002", "max_window"), default("ns2.35", "max_window"));
        assert_eq!(default("linux", "congestion"), Some(json!("cubic")));
        assert_eq!(default("dctcp", "ecn"), Some(json!(true)));
        assert_eq!(default("cubic", "beta"), default("linux", "beta"));
        assert_eq!(default("rack", "beta"), Some(json!(0.7)));
        assert_eq!(default("linux", "limited_transmit"), None, "it is of other flavours");
        assert_eq!(default("rfc5681", "quick_acks"), None, "and this of today's");
        assert_eq!(default("rfc5681", "beta"), None, "Reno has no such parameter");
    }
}
