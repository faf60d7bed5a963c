//! The JSON Schema of a scenario file, for editors, generated from the declarations of the parameters.

use crate::json::value;
use crate::keys::{ALGORITHMS, EXTENDS, LOSSES, VARY};
use crate::model::tcp::{DEFAULT_PRESET, FLAVOURS_PRESET};
use crate::model::{Flavour, General, Gilbert, Record, Response, TCP_PRESETS, Tcp};
use crate::tables::{
    CableTable, CellTable, Dumbbell, KindName, LinkTable, RecordedLoss, Sweep, TrafficTable, WifiTable,
};

use crate::tables::traffic::{chosen, owned};
use aqm::aqm::{AnyParams, NAMES, VARIANTS};
use aqm::params::{Field, ParamKind, Params, Range, Spec, Value};
use serde_json::{Map, Value as Json, json};

/// The JSON Schema (draft `2020-12`) of a scenario file.
#[must_use]
pub fn schema() -> Json {
    let general = properties(General::specs());
    let sections = [
        (
            "dumbbell",
            table(
                "Senders, a bottleneck between two routers, receivers.",
                joined(properties(Dumbbell::specs()), losses()),
            ),
        ),
        ("link", list("Links between two nodes, in both directions.", "link")),
        ("wifi", list("Wireless LANs: access points with their stations.", "wifi")),
        ("cell", list("Cells: base stations with their users.", "cell")),
        ("cable", list("Cable networks: head ends with their modems.", "cable")),
        ("aqm", described("The algorithm at the dumbbell's bottleneck.", "changed_aqm")),
        ("reverse_aqm", described("The algorithm in the bottleneck's reverse direction.", "changed_aqm")),
        ("traffic", list("The flows, in entries of one kind each.", "traffic")),
        ("response", table("When a queue counts as settled.", properties(Response::specs()))),
        ("record", table("Which series to record.", properties(Record::specs()))),
        ("sweep", sweep()),
        (
            "observe",
            json!({ "type": "string", "description": "The observed link, which the summary metrics describe." }),
        ),
        (
            EXTENDS,
            json!({ "type": "string", "description": "The scenario over which the keys of this file are laid: a path from the folder of this file, or the name of a shipped scenario." }),
        ),
    ];
    let mut root = table("A scenario of aqmlab.", joined(general, sections));
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("aqmlab scenario");
    root["if"] = json!({ "required": [EXTENDS] });
    root["else"] = whole();
    root["$defs"] = json!({
        "aqm": aqm(),
        "changed_aqm": changed_aqm(),
        "link": link(),
        "loss": loss(),
        "tcp": tcp(),
        "traffic": traffic(),
        "wifi": wifi(),
        "cell": cell(),
        "cable": cable(),
    });
    root
}

/// What a file needs that extends no other, which could have said it.
fn whole() -> Json {
    let algorithms = || ALGORITHMS.map(|key| (key.to_owned(), json!({ "$ref": "#/$defs/aqm" })));
    let link = json!({ "required": ["from", "to"], "properties": Map::from_iter(algorithms()) });
    let traffic = json!({ "if": { "not": { "required": ["kind"] } }, "then": kind_only(&default_kind()) });
    let wifi = json!({ "required": ["ap", "stations"], "properties": Map::from_iter(algorithms()) });
    let cell = json!({ "required": ["base", "users"], "properties": Map::from_iter(algorithms()) });
    let cable = json!({ "required": ["cmts", "modems"], "properties": Map::from_iter(algorithms()) });
    let lists = [("link", link), ("wifi", wifi), ("cell", cell), ("cable", cable), ("traffic", traffic)];
    let networks = ["dumbbell", "link", "wifi", "cell", "cable"].map(|table| json!({ "required": [table] }));
    let lists = lists.map(|(key, items)| (key.to_owned(), json!({ "items": items })));
    json!({
        "required": ["traffic"],
        "anyOf": networks,
        "properties": algorithms().into_iter().chain(lists).collect::<Map<_, _>>(),
    })
}

/// An algorithm, or other parameters of that of the extended file.
fn changed_aqm() -> Json {
    json!({ "anyOf": [
        { "$ref": "#/$defs/aqm" },
        { "type": "object", "not": { "required": ["name"] } },
    ] })
}

/// A table with these keys and no others.
fn table(description: &str, properties: Map<String, Json>) -> Json {
    json!({
        "type": "object",
        "description": description,
        "properties": properties,
        "additionalProperties": false,
    })
}

fn joined<const N: usize>(mut properties: Map<String, Json>, more: [(&str, Json); N]) -> Map<String, Json> {
    properties.extend(more.map(|(key, schema)| (key.to_owned(), schema)));
    properties
}

fn described(description: &str, name: &str) -> Json {
    json!({ "description": description, "$ref": format!("#/$defs/{name}") })
}

fn list(description: &str, name: &str) -> Json {
    json!({ "type": "array", "description": description, "items": { "$ref": format!("#/$defs/{name}") } })
}

/// A set of parameters, under all their names.
fn properties(specs: &[Spec]) -> Map<String, Json> {
    valued(specs.iter().map(|spec| (spec, &spec.default)))
}

/// Parameters, each with its default, under all their names.
fn valued<'a>(parameters: impl Iterator<Item = (&'a Spec, &'a Value)>) -> Map<String, Json> {
    let mut properties = Map::new();
    for (spec, default) in parameters {
        properties.insert(spec.name.to_owned(), parameter(spec, default));
        for alias in spec.aliases {
            let mut schema = parameter(spec, default);
            schema["description"] = json!(format!("Alias of {}.", spec.name));
            properties.insert((*alias).to_owned(), schema);
        }
    }
    properties
}

fn parameter(spec: &Spec, default: &Value) -> Json {
    let mut one = plain(spec);
    // A quantity is text already, as is "auto".
    if spec.optional && one["type"] != "string" {
        one = json!({ "anyOf": [one, { "const": "auto" }] });
    }
    let mut forms = vec![one.clone()];
    if spec.list {
        forms.push(json!({ "type": "array", "items": one, "minItems": 1 }));
    }
    let mut schema = if forms.len() == 1 { forms.remove(0) } else { json!({ "anyOf": forms }) };
    schema["description"] = json!(format!("{}\nMust be {}.", spec.doc, spec.allowed()));
    schema["default"] = value(default);
    schema
}

/// One value of the parameter.
fn plain(spec: &Spec) -> Json {
    let mut schema = match spec.kind {
        ParamKind::Number => json!({ "type": "number" }),
        ParamKind::Count => json!({ "type": "integer", "minimum": 0 }),
        ParamKind::Switch => json!({ "type": "boolean" }),
        ParamKind::Quantity(examples) => {
            json!({ "type": "string", "examples": examples.split('"').skip(1).step_by(2).collect::<Vec<_>>() })
        }
        ParamKind::Choice(names) => json!({ "enum": names }),
        ParamKind::Words(words) => json!({ "type": "string", "examples": words }),
        ParamKind::Text => json!({ "type": "string" }),
        // Without a name, it is the algorithm of the defaults or of the preset, which only the reader knows.
        ParamKind::Algorithm { .. } => json!({ "$ref": "#/$defs/changed_aqm" }),
        ParamKind::Table(nested) => table(spec.doc, properties((nested.specs)())),
        ParamKind::Named(nested) => json!({
            "type": "object",
            "minProperties": 1,
            "additionalProperties": table(spec.doc, properties((nested.specs)())),
        }),
    };
    if matches!(spec.kind, ParamKind::Number | ParamKind::Count) && spec.range != Range::ANY {
        let low = if spec.range.low_included { "minimum" } else { "exclusiveMinimum" };
        schema[low] = json!(spec.range.low);
        schema["maximum"] = json!(spec.range.high);
    }
    schema
}

/// An algorithm: text, or a table whose keys depend on its name.
fn aqm() -> Json {
    let tables = NAMES.iter().filter_map(|name| AnyParams::of(name)).map(|params| {
        let presets: Vec<&str> = params.presets().iter().map(|(name, _)| *name).collect();
        let variants =
            VARIANTS.iter().filter(|(_, of, _)| *of == params.name()).map(|(variant, ..)| *variant);
        let names: Vec<&str> = std::iter::once(params.name()).chain(variants).collect();
        let mut keys = Map::from_iter([("name".to_owned(), json!({ "enum": names }))]);
        if !presets.is_empty() {
            keys.insert(
                "preset".to_owned(),
                json!({ "enum": presets, "description": "Preset that sets the other values." }),
            );
        }
        keys.extend(properties(params.specs()));
        let mut table = table(params.doc().lines().next().unwrap_or_default(), keys);
        table["required"] = json!(["name"]);
        table
    });
    let names: Vec<&str> =
        NAMES.iter().copied().chain(VARIANTS.iter().map(|(variant, ..)| *variant)).collect();
    let text = json!({ "type": "string", "pattern": format!("^({})(:.*)?$|\\.py:", names.join("|")) });
    let user_defined = user_defined("An algorithm");
    json!({ "anyOf": std::iter::once(text).chain(tables).chain([user_defined]).collect::<Vec<_>>() })
}

/// The table of a class in Python.
fn user_defined(what: &str) -> Json {
    json!({
        "type": "object",
        "description": format!("{what} in Python: the file and the class."),
        "properties": {
            "name": { "type": "string", "pattern": "\\.py:" },
            "source": { "type": "string", "description": "Digest of the source; another source is refused." },
        },
        "required": ["name"],
    })
}

fn sweep() -> Json {
    let one = json!({ "type": ["string", "number", "boolean"] });
    let values = json!({
        "type": "object",
        "description": "The varied parameters: the path of each, with its values.",
        "additionalProperties": { "anyOf": [
            one,
            { "type": "array", "items": one, "minItems": 1 },
            { "type": "object" },
        ] },
    });
    table(
        "The parameters that a study varies, and its disciplines and seeds.",
        joined(properties(Sweep::specs()), [(VARY, values)]),
    )
}

fn link() -> Json {
    let more = [
        ("aqm", described("The algorithm on the queue at `from`.", "changed_aqm")),
        ("reverse_aqm", described("The algorithm on the queue at `to`.", "changed_aqm")),
    ];
    let keys = joined(joined(properties(LinkTable::specs()), more), losses());
    table("A link between two nodes, in both directions.", keys)
}

fn wifi() -> Json {
    let more = [
        ("aqm", described("The algorithm on the access point's queues.", "changed_aqm")),
        ("reverse_aqm", described("The algorithm on the stations' queues.", "changed_aqm")),
    ];
    table("An access point and its stations.", joined(properties(WifiTable::specs()), more))
}

fn cell() -> Json {
    let more = [
        ("aqm", described("The algorithm on the base station's queues.", "changed_aqm")),
        ("reverse_aqm", described("The algorithm on the users' queues.", "changed_aqm")),
    ];
    table("A base station and its users.", joined(properties(CellTable::specs()), more))
}

fn cable() -> Json {
    let more = [
        ("aqm", described("The algorithm on the modems' queues.", "changed_aqm")),
        ("reverse_aqm", described("The algorithm on the head end's queues.", "changed_aqm")),
    ];
    table("A head end and its modems.", joined(properties(CableTable::specs()), more))
}

/// The keys for random losses.
fn losses() -> [(&'static str, Json); 2] {
    let docs = ["Random losses in front of the buffer.", "Random losses in the reverse direction."];
    [0, 1].map(|direction| (LOSSES[direction], described(docs[direction], "loss")))
}

fn loss() -> Json {
    let p = json!({ "type": "number", "minimum": 0.0, "maximum": 1.0 });
    let mut recorded = table("Losses of a recording.", properties(RecordedLoss::specs()));
    recorded["required"] = json!(["file"]);
    json!({ "anyOf": [p, table("Losses in bursts.", properties(Gilbert::specs())), recorded] })
}

fn tcp() -> Json {
    let presets: Vec<&str> = TCP_PRESETS.iter().map(|(name, _)| *name).collect();
    let ParamKind::Choice(flavours) = Flavour::KIND else { unreachable!("flavours are names") };
    let names: Vec<String> = presets.iter().chain(flavours).map(|name| name.replace('.', "\\.")).collect();
    let description =
        format!("Preset that sets the other values; if only a flavour is named, {FLAVOURS_PRESET:?}.");
    let preset = json!({ "enum": presets, "description": description, "default": DEFAULT_PRESET });
    let text = json!({ "type": "string", "pattern": format!("^({})(:.*)?$|\\.py:", names.join("|")) });
    let values = Tcp::unnamed(None).values();
    let mut keys = valued(Tcp::specs().iter().zip(values.iter().map(|(_, value)| value)));
    let congestion = keys["congestion"].as_object_mut().expect("it is an object");
    let known = json!({ "enum": congestion.remove("enum") });
    let text_of_class = json!({ "type": "string", "pattern": "\\.py:" });
    congestion
        .insert("anyOf".to_owned(), json!([known, text_of_class, user_defined("A congestion control")]));
    json!({ "anyOf": [text, table("A TCP.", joined(keys, [("preset", preset)]))] })
}

fn traffic() -> Json {
    let keys = joined(properties(TrafficTable::specs()), [("tcp", described("The flows' TCP.", "tcp"))]);
    let mut traffic = table("Some flows of one kind.", keys);
    let ParamKind::Choice(kinds) = KindName::KIND else { unreachable!("kinds are names") };
    let conditions = kinds.iter().map(|kind| {
        let of = json!({ "properties": { "kind": { "const": kind } }, "required": ["kind"] });
        json!({ "if": of, "then": kind_only(kind) })
    });
    traffic["allOf"] = conditions.collect();
    traffic
}

/// Refuses the keys of traffic of other kinds.
fn kind_only(kind: &str) -> Json {
    let others = owned().into_iter().filter(|(_, kinds)| kinds.iter().all(|name| chosen(name) != kind));
    json!({ "properties": others.map(|(key, _)| (key.to_owned(), json!(false))).collect::<Map<_, _>>() })
}

/// The kind of an entry without `kind`.
fn default_kind() -> String {
    let Value::Text(default) = KindName::Ftp.value() else { unreachable!("kinds are names") };
    default
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every parameter of `specs` is described under all its names in `table`, which allows nothing else.
    fn complete(table: &Json, specs: &[Spec], more: usize) {
        let defaults: Vec<_> = specs.iter().map(|spec| spec.default.clone()).collect();
        complete_with(table, specs, &defaults, more);
    }

    fn complete_with(table: &Json, specs: &[Spec], defaults: &[Value], more: usize) {
        let keys = table["properties"].as_object().unwrap();
        assert_eq!(table["additionalProperties"], json!(false));
        assert_eq!(keys.len(), more + specs.iter().map(|spec| 1 + spec.aliases.len()).sum::<usize>());
        for (spec, default) in specs.iter().zip(defaults) {
            assert!(keys[spec.name]["description"].as_str().unwrap().starts_with(spec.doc), "{}", spec.name);
            assert_eq!(keys[spec.name]["default"], value(default));
            for alias in spec.aliases {
                assert!(keys.contains_key(*alias), "{alias}");
            }
        }
    }

    #[test]
    fn every_parameter_is_in_the_schema() {
        let schema = schema();
        complete(&schema, General::specs(), 13);
        complete(&schema["properties"]["sweep"], Sweep::specs(), 1);
        complete(&schema["properties"]["dumbbell"], Dumbbell::specs(), 2);
        complete(&schema["properties"]["response"], Response::specs(), 0);
        complete(&schema["properties"]["record"], Record::specs(), 0);
        complete(&schema["$defs"]["link"], LinkTable::specs(), 4);
        complete(&schema["$defs"]["wifi"], WifiTable::specs(), 2);
        complete(&schema["$defs"]["cell"], CellTable::specs(), 2);
        complete(&schema["$defs"]["cable"], CableTable::specs(), 2);
        complete(&schema["$defs"]["loss"]["anyOf"][1], Gilbert::specs(), 0);
        complete(&schema["$defs"]["loss"]["anyOf"][2], RecordedLoss::specs(), 0);
        complete(&schema["$defs"]["traffic"], TrafficTable::specs(), 1);
        let linux: Vec<_> =
            Tcp::preset("linux").unwrap().values().into_iter().map(|(_, value)| value).collect();
        complete_with(&schema["$defs"]["tcp"]["anyOf"][1], Tcp::specs(), &linux, 1);
        for (i, name) in NAMES.iter().enumerate() {
            let params = AnyParams::of(name).unwrap();
            let more = if params.presets().is_empty() { 1 } else { 2 };
            complete(&schema["$defs"]["aqm"]["anyOf"][i + 1], params.specs(), more);
        }
    }

    #[test]
    fn ranges_and_choices_reach_the_schema() {
        let schema = schema();
        let band = &schema["properties"]["response"]["properties"]["band"];
        assert_eq!((&band["exclusiveMinimum"], &band["maximum"]), (&json!(0.0), &json!(10.0)));
        assert_eq!(schema["properties"]["seed"]["minimum"], json!(0.0));
        let kind = &schema["$defs"]["traffic"]["properties"]["kind"];
        let kinds = kind["enum"].as_array().unwrap();
        assert!(kinds.contains(&json!("ftp")) && kinds.contains(&json!("on-off")));
        let rate = &schema["properties"]["dumbbell"]["properties"]["rate"];
        assert_eq!(rate["examples"], json!(["10 Mbit/s"]));
        let delay = &schema["properties"]["dumbbell"]["properties"]["sender_delay"];
        assert_eq!(delay["anyOf"][1]["items"]["examples"][1], json!("uniform(0 s, 1 s)"));
        let refused = |kind: &str| {
            let conditions = schema["$defs"]["traffic"]["allOf"].as_array().unwrap();
            let of = |one: &&Json| one["if"]["properties"]["kind"]["const"] == kind;
            let keys = conditions.iter().find(of).unwrap()["then"]["properties"].as_object().unwrap();
            assert!(keys.values().all(|allowed| *allowed == json!(false)));
            keys.keys().map(String::as_str).collect::<Vec<_>>()
        };
        for (key, kinds) in owned() {
            for kind in ["ftp", "short", "cbr", "on-off", "trace"] {
                let has = kinds.iter().any(|name| chosen(name) == kind);
                assert_ne!(refused(kind).contains(&key), has, "{key} of {kind}");
            }
        }
        assert!(refused("cbr").contains(&"tcp") && !refused("on-off").contains(&"off"));
    }
}
