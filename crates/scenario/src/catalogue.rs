//! All algorithms, TCPs, kinds of traffic and tables with their parameters, for lists and pages.

use crate::model::{
    Dumbbell, Flavour, General, Gilbert, KindName, LinkTable, Record, Response, TCP_PRESETS, Tcp,
    TrafficTable,
};
use crate::read::BELONGS;
use crate::resolved::value;
use aqm::aqm::{AnyParams, NAMES};
use aqm::params::{Field, Kind, Params, Spec, Value};
use serde_json::{Value as Json, json};

/// Everything that a scenario can be made of; see the schema for the form of a file.
#[must_use]
pub fn catalogue() -> Json {
    json!({
        "aqms": NAMES.iter().filter_map(|name| AnyParams::of(name)).map(|params| aqm(&params)).collect::<Json>(),
        "tcps": tcps(),
        "traffic": traffic(),
        "tables": {
            "general": parameters(General::specs()),
            "dumbbell": parameters(Dumbbell::specs()),
            "link": parameters(LinkTable::specs()),
            "loss": parameters(Gilbert::specs()),
            "traffic": parameters(TrafficTable::specs()),
            "tcp": parameters(Tcp::specs()),
            "response": parameters(Response::specs()),
            "record": parameters(Record::specs()),
        },
    })
}

fn parameters(specs: &[Spec]) -> Json {
    specs.iter().map(|spec| parameter(spec, &spec.default)).collect()
}

fn parameter(spec: &Spec, default: &Value) -> Json {
    json!({
        "name": spec.name,
        "doc": spec.doc,
        "unit": spec.unit,
        "default": value(default),
        "allowed": spec.allowed(),
        "aliases": spec.aliases,
    })
}

fn presets(presets: &[(&str, &str)]) -> Json {
    presets.iter().map(|(name, summary)| json!({ "name": name, "summary": summary })).collect()
}

fn aqm(params: &AnyParams) -> Json {
    let doc = params.doc();
    let head = doc.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    // The head of the file opens with the algorithm's name, which an entry has already.
    let summary = head.split_once(": ").map_or(&*head, |(_, summary)| summary);
    let signals = params.signals().iter();
    json!({
        "name": params.name(),
        "summary": summary,
        "doc": doc,
        "presets": presets(params.presets()),
        "signals": signals.map(|s| json!({ "name": s.name, "unit": s.unit, "doc": s.doc })).collect::<Json>(),
        "parameters": parameters(params.specs()),
    })
}

/// The names of a choice with what each means.
fn choices<T: Field>() -> impl Iterator<Item = (&'static str, &'static str)> {
    let Kind::Choice(names) = T::KIND else { unreachable!("only a choice has names") };
    names.iter().copied().zip(T::CHOICES.iter().copied())
}

/// The presets, and the flavours on top of the default preset; the default of each parameter is what it then is.
fn tcps() -> Json {
    let entry = |name: &str, summary: &str, tcp: &Tcp| {
        let own = |(spec, _): &(&Spec, _)| tcp.foreign(spec.name).is_none();
        let values = Tcp::specs().iter().zip(tcp.values()).filter(own);
        let parameters: Json = values.map(|(spec, (_, value))| parameter(spec, &value)).collect();
        json!({ "name": name, "summary": summary, "parameters": parameters })
    };
    let preset =
        |(name, summary): &(&str, &str)| entry(name, summary, &Tcp::preset(name).unwrap_or_default());
    let flavour = |(name, summary): (&'static str, &'static str)| {
        let flavour = Flavour::read(&Value::Text(name.to_owned())).unwrap_or(Flavour::NewReno);
        entry(name, summary, &Tcp { flavour, ..Tcp::default() })
    };
    TCP_PRESETS.iter().map(preset).chain(choices::<Flavour>().map(flavour)).collect()
}

/// The kinds of traffic, each with the parameters that it has.
fn traffic() -> Json {
    let kind = |(name, summary): (&'static str, &'static str)| {
        let kind = KindName::read(&Value::Text(name.to_owned()));
        let has = |spec: &&Spec| {
            BELONGS
                .iter()
                .all(|(key, kinds)| *key != spec.name || kind.is_some_and(|kind| kinds.contains(&kind)))
        };
        let parameters = TrafficTable::specs().iter().filter(has).map(|spec| parameter(spec, &spec.default));
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
        let tcps: Vec<&str> = presets.chain(["tahoe", "reno", "newreno", "sack"]).collect();
        assert_eq!(names(&catalogue["tcps"]), tcps);
        let Kind::Choice(kinds) = KindName::KIND else { panic!("kinds are names") };
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

    #[test]
    fn a_kind_of_traffic_lists_its_own_parameters() {
        let catalogue = catalogue();
        let common =
            ["name", "kind", "count", "from", "to", "packet_size", "class", "start", "stop", "active"];
        let own = |kind: &str| {
            let kinds = catalogue["traffic"].as_array().unwrap();
            let entry = kinds.iter().find(|entry| entry["name"] == kind).unwrap();
            let keys = names(&entry["parameters"]).into_iter().filter(|key| !common.contains(key));
            keys.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(own("ftp"), "");
        assert_eq!(own("transfer"), "size");
        assert_eq!(own("short"), "size lifetime arrival_rate interarrival");
        assert_eq!(own("cbr"), "rate");
        assert_eq!(own("on-off"), "rate on off");
        assert_eq!(own("fgn"), "rate hurst deviation step");
        assert_eq!(own("trace"), "file");
        assert_eq!(own("video"), "frame_rate frame_size key_every key_size");
    }

    #[test]
    fn a_preset_of_tcp_shows_its_own_values() {
        let catalogue = catalogue();
        let default = |tcp: &str, name: &str| {
            let entry = catalogue["tcps"].as_array().unwrap().iter().find(|entry| entry["name"] == tcp);
            let parameters = entry.unwrap()["parameters"].as_array().unwrap();
            parameters.iter().find(|entry| entry["name"] == name).map(|entry| entry["default"].clone())
        };
        assert_eq!(default("rfc", "min_rto"), Some(json!("1 s")));
        assert_eq!(default("ns2.35", "min_rto"), Some(json!("200 ms")));
        assert_eq!(default("ns2-2002", "min_rto"), Some(json!("1 s")));
        assert_eq!(default("ns2-2002", "max_window"), default("ns2.35", "max_window"));
        assert_eq!(default("linux", "congestion"), Some(json!("cubic")));
        assert_eq!(default("dctcp", "ecn"), Some(json!(true)));
        assert_eq!(default("cubic", "beta"), Some(json!(0.7)));
        assert_eq!(default("rfc", "beta"), None, "Reno has no such parameter");
    }
}
