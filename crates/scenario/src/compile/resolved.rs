//! The effective scenario in full, in the form of a scenario file.

use crate::json::{object, value};
use crate::keys::{ALGORITHMS, BOTTLENECK, LOSSES};
use crate::model::{Link, Loss, Scenario};
use crate::reader::Algorithm;
use crate::tables::traffic::has;
use crate::tables::{Admission, LinkEntry, LossEntry, Tables, TrafficEntry};
use aqm::aqm::AnyParams;
use aqm::params::{Field as _, Params};
use aqm::unit::Limit;
use serde_json::{Map, Value as Json, json};

fn parameters(params: &impl Params) -> Map<String, Json> {
    object(params.values())
}

fn algorithm(name: &str, params: &AnyParams) -> Json {
    let mut map = Map::from_iter([("name".to_owned(), json!(name))]);
    map.extend(params.source().map(|source| ("source".to_owned(), json!(source))));
    map.extend(object(params.values()));
    Json::Object(map)
}

/// Writes the rule for the buffers of a cable where it follows from a preset, which is not written itself. Where the
/// rule changes nothing `auto` stays, and with it the keys of stored runs.
fn admission(map: &mut Map<String, Json>, cable: &str, scenario: &Scenario) {
    let of = |link: &&Link| link.cable() == cable;
    let sticks_out = |link: &Link| matches!(link.buffer, Limit::BytesBefore(_));
    if map["buffer_admission"] == "auto" && scenario.links.iter().filter(of).any(sticks_out) {
        map.insert("buffer_admission".to_owned(), value(&Admission::Ns2.value()));
    }
}

fn link(entry: &LinkEntry, scenario: &Scenario) -> Json {
    let mut map = parameters(&entry.table);
    admission(&mut map, &entry.table.name, scenario);
    algorithms(&mut map, &entry.aqms);
    losses(&mut map, &entry.losses);
    Json::Object(map)
}

fn managed(table: &impl Params, aqms: &[Option<Algorithm>; 2]) -> Json {
    let mut map = parameters(table);
    algorithms(&mut map, aqms);
    Json::Object(map)
}

fn algorithms(map: &mut Map<String, Json>, aqms: &[Option<Algorithm>; 2]) {
    for (key, aqm) in ALGORITHMS.into_iter().zip(aqms) {
        if let Some(aqm) = aqm {
            map.insert(key.to_owned(), algorithm(&aqm.name, &aqm.params));
        }
    }
}

fn losses(map: &mut Map<String, Json>, losses: &[Option<LossEntry>; 2]) {
    for (key, loss) in LOSSES.into_iter().zip(losses) {
        if let Some(loss) = loss {
            map.insert(key.to_owned(), self::loss(loss));
        }
    }
}

fn loss(entry: &LossEntry) -> Json {
    match (&entry.loss, &entry.said) {
        (_, Some(recorded)) => Json::Object(parameters(recorded)),
        (Loss::Bernoulli(p), None) => json!(p),
        (Loss::Gilbert(gilbert), None) => Json::Object(parameters(gilbert)),
        (Loss::Steps(_), None) => unreachable!("they are recorded"),
    }
}

fn traffic(entry: &TrafficEntry) -> Json {
    let mut map = parameters(&entry.table);
    let mut tcp = parameters(&entry.tcp);
    tcp.retain(|key, _| entry.tcp.inapplicable(key).is_none());
    map.insert("tcp".to_owned(), Json::Object(tcp));
    map.retain(|key, _| has(entry.table.kind, key));
    Json::Object(map)
}

/// `tables`, which were compiled into `scenario`, with all defaults.
pub(crate) fn json(tables: &Tables, scenario: &Scenario) -> Json {
    let mut map = parameters(&tables.general);
    map.insert("clock".to_owned(), value(&scenario.clock.value()));
    map.insert("observe".to_owned(), json!(scenario.links[scenario.observed].name));
    if let Some(dumbbell) = &tables.dumbbell {
        let mut table = parameters(dumbbell);
        admission(&mut table, BOTTLENECK, scenario);
        losses(&mut table, &tables.losses);
        map.insert("dumbbell".to_owned(), Json::Object(table));
        let bottleneck = scenario.links.iter().find(|link| link.name == BOTTLENECK);
        if let Some(params) = bottleneck.and_then(|link| link.aqm.as_ref()) {
            let name = tables.aqms[0].as_ref().map_or_else(|| params.name(), |aqm| &aqm.name);
            map.insert("aqm".to_owned(), algorithm(name, params));
        }
        if let Some(aqm) = &tables.aqms[1] {
            map.insert("reverse_aqm".to_owned(), algorithm(&aqm.name, &aqm.params));
        }
    }
    if !tables.links.is_empty() {
        map.insert("link".to_owned(), tables.links.iter().map(|entry| link(entry, scenario)).collect());
    }
    if !tables.wifis.is_empty() {
        let wifis = tables.wifis.iter().map(|entry| managed(&entry.table, &entry.aqms));
        map.insert("wifi".to_owned(), wifis.collect());
    }
    if !tables.cells.is_empty() {
        let cells = tables.cells.iter().map(|entry| managed(&entry.table, &entry.aqms));
        map.insert("cell".to_owned(), cells.collect());
    }
    if !tables.cables.is_empty() {
        let cables = tables.cables.iter().map(|entry| managed(&entry.table, &entry.aqms));
        map.insert("cable".to_owned(), cables.collect());
    }
    map.insert("traffic".to_owned(), tables.traffic.iter().map(traffic).collect());
    map.insert("response".to_owned(), Json::Object(parameters(&tables.response)));
    map.insert("record".to_owned(), Json::Object(parameters(&tables.record)));
    Json::Object(map)
}
