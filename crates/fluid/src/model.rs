//! The part of a scenario that the equations model, and a list of what they leave out.

mod builder;
mod class;

use builder::{Builder, delays};
pub use class::{Class, Load};

use crate::law::Rule;
use crate::population::Population;
use crate::unsupported::Unsupported;
use aqm::params::{Field as _, ParamKind, Value};
use aqm::unit::{Bytes, Span, in_base_unit};
use aqm::{AnyParams, Port};
use scenario::Distribution;
use scenario::model::{EcnPath, Link, Scenario};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The model of a scenario.
#[derive(Clone, Debug)]
pub struct Model {
    /// The modelled scenario.
    pub scenario: Scenario,
    /// The managed link.
    pub port: Port,
    /// Its algorithm.
    pub aqm: AnyParams,
    /// Flows that share a round trip and a traffic entry.
    pub classes: Vec<Class>,
    /// Traffic that does not react to the queue.
    pub load: Vec<Load>,
    /// The parts of the scenario that are left out or simplified.
    pub not_modelled: Vec<String>,
}

/// Whether what varies on a link has no place in the equations: the link, the key, and what they have instead.
fn varied(link: &Link) -> Option<(&Link, &'static str, &'static str)> {
    if !link.outages.is_empty() {
        return Some((link, "outages", "no round trip while a link sends nothing"));
    }
    if link.handover.is_some() {
        return Some((link, "handover", "no rates and delays that are drawn for each run"));
    }
    let variation = link.variation.as_deref()?;
    let keys = [
        ("delays", !variation.delays.is_empty(), "constant delays"),
        ("reorder", variation.reorder.is_some(), "no packets that could overtake each other"),
        ("duplicate", variation.duplicate > 0.0, "no packets of which there could be two"),
    ];
    keys.into_iter().find(|(_, given, _)| *given).map(|(key, _, why)| (link, key, why))
}

impl Model {
    /// The model of `scenario`.
    ///
    /// # Errors
    /// If the equations cannot express the scenario; the message names the key and the fix.
    pub fn of(scenario: &Scenario) -> Result<Self, Unsupported> {
        scenario.computed().map_err(Unsupported::new)?;
        let observed = &scenario.links[scenario.observed];
        let droptail = AnyParams::of("droptail").expect("there is such an algorithm");
        let aqm = observed.aqm.clone().unwrap_or(droptail);
        let delays = delays(scenario);
        let delay = Span::from_secs(delays[scenario.observed]);
        let port = observed.port(delay);
        if let Some((link, signal)) = scenario.links.iter().find_map(|link| Some((link, link.half_duplex?))) {
            let message = format!(
                "link {}: half_duplex = {}: the fluid model has no collisions: remove it, or use `aqmlab run`",
                link.name,
                signal.value()
            );
            return Err(Unsupported::new(message));
        }
        if let Some(wifi) = scenario.wifis.first() {
            let message = format!(
                "wifi {}: the fluid model has no contention and no frames: remove it, or use `aqmlab run`",
                wifi.name
            );
            return Err(Unsupported::new(message));
        }
        if let Some(cell) = scenario.cells.first() {
            let message = format!(
                "cell {}: the fluid model has no slots and no grants: remove it, or use `aqmlab run`",
                cell.name
            );
            return Err(Unsupported::new(message));
        }
        if let Some(upstream) = scenario.upstreams.first() {
            let message = format!(
                "cable {}: the fluid model has no requests and no grants: remove it, or use `aqmlab run`",
                upstream.name
            );
            return Err(Unsupported::new(message));
        }
        if let Some(framing) = &observed.framing {
            let message = format!(
                "link {}: framing = {}: in the fluid model every packet takes the same bytes: give them as `overhead`",
                observed.name,
                framing.value()
            );
            return Err(Unsupported::new(message));
        }
        if let Some(link) = scenario.links.iter().find(|link| link.ecn_path != EcnPath::Pass) {
            let message = format!(
                "link {}: ecn_path = {}: what it does depends on the packet, of which the fluid model has none: remove it, or \
                 use `aqmlab run`",
                link.name,
                link.ecn_path.value()
            );
            return Err(Unsupported::new(message));
        }
        if let Some((link, key, why)) = scenario.links.iter().find_map(varied) {
            let message = format!(
                "link {}: {key}: the fluid model has {why}: remove it, or use `aqmlab run`",
                link.name
            );
            return Err(Unsupported::new(message));
        }
        let rule = Rule::new(&aqm, &port)?;
        if observed.recorded
            && observed.changes.iter().any(|change| change.rate.packets(observed.packet) < 1.0)
        {
            let message = format!(
                "link {}: in its recording less than a packet a second passes at times, where a flow of fluid has no \
                 round-trip time: raise the `bin` of `rates`, or use `aqmlab run`",
                observed.name
            );
            return Err(Unsupported::new(message));
        }
        let mut builder = Builder::new(scenario, observed, delays, rule.marks);
        for (entry, traffic) in scenario.traffic.iter().enumerate().filter(|(_, traffic)| traffic.count > 0) {
            builder.add(entry, traffic)?;
        }
        if builder.classes.is_empty() && builder.load.is_empty() {
            let message = format!(
                "no traffic crosses the link {}: observe another link (`observe`), or use `aqmlab run`",
                observed.name
            );
            return Err(Unsupported::new(message));
        }
        builder.say_what_is_left_out();
        builder.not_modelled.extend(rule.left_out);
        let Builder { classes, load, not_modelled, .. } = builder;
        Ok(Self { scenario: scenario.clone(), port, aqm, classes, load, not_modelled })
    }

    /// The link's rate in packets of the usual size per second.
    #[must_use]
    pub fn capacity(&self) -> f64 {
        self.port.rate.packets(self.port.packet)
    }

    /// The buffer in packets of the usual size.
    #[must_use]
    pub fn buffer(&self) -> f64 {
        self.port.limit.packets(self.port.packet)
    }

    /// The parameters as JSON, in base units; those left to the engine have the values that it computes.
    fn parameters(&self) -> Map<String, Json> {
        let kinds = self.aqm.specs().iter().map(|spec| (spec.name, spec.kind));
        let kinds: BTreeMap<&str, ParamKind> = kinds.collect();
        let mut map = Map::new();
        for (name, value) in self.aqm.values() {
            map.insert(name.to_owned(), plain(&value, kinds.get(name)));
        }
        for (name, value) in self.effective() {
            map.insert(name.to_owned(), json!(value));
        }
        map.shift_remove("design");
        map
    }

    /// The values of parameters that may be left to the engine or follow from others.
    fn effective(&self) -> Vec<(&'static str, f64)> {
        let packet = |given: Option<Bytes>| ("mean_packet", given.unwrap_or(self.port.packet).0 as f64);
        let red = |params: &aqm::aqm::red::Params| {
            let red = aqm::aqm::red::Effective::new(params, &self.port);
            vec![
                ("min_th", red.min_th),
                ("max_th", red.max_th),
                ("max_p", red.max_p),
                ("w_q", red.w_q),
                ("mean_packet", red.mean.0 as f64),
                ("pkrate", red.c),
            ]
        };
        match &self.aqm {
            AnyParams::Pi(params) => {
                let (a, b) = params.gains(&self.port);
                vec![("a", a), ("b", b), packet(params.mean_packet)]
            }
            AnyParams::Red(params) => red(params),
            AnyParams::Ared(params) => {
                let mut values = red(&params.red);
                values.push(("bottom", params.least_max_p(self.port.rate)));
                values
            }
            AnyParams::Lred(params) => vec![packet(params.mean_packet)],
            AnyParams::Rem(params) => vec![packet(params.mean_packet)],
            AnyParams::Avq(params) => vec![packet(params.mean_packet)],
            AnyParams::Raqm(params) => vec![packet(params.mean_packet)],
            AnyParams::Pie(params) => vec![packet(params.mean_packet)],
            _ => Vec::new(),
        }
    }

    /// The model, for analysis elsewhere.
    #[must_use]
    pub fn json(&self) -> Json {
        let general = &self.scenario.general;
        let name = |entry: usize| self.scenario.traffic[entry].name.clone();
        let (mut classes, mut shorts) = (Vec::new(), Vec::new());
        for class in &self.classes {
            match &class.flows {
                Population::Lasting { count, start, stop } => classes.push(json!({
                    "entry": name(class.entry),
                    "flows": count,
                    "rtt": class.rtt,
                    "packet": class.packet,
                    "start": start,
                    "stop": stop.is_finite().then_some(stop),
                    "acked": class.acked,
                    "max_window": class.max_window,
                    "min_rto": class.min_rto,
                    "initial_window": class.initial_window,
                    "marked": class.marked,
                    "lost": class.lost,
                })),
                Population::Passing { rate, arrive: [from, to], stay } => shorts.push(json!({
                    "entry": name(class.entry),
                    "arrivals": rate,
                    "duration": bounds(stay),
                    "mean_duration": stay.mean(),
                    "rtt": class.rtt,
                    "packet": class.packet,
                    "acked": class.acked,
                    "max_window": class.max_window,
                    "min_rto": class.min_rto,
                    "initial_window": class.initial_window,
                    "from": from,
                    "to": to.min(general.duration.secs()),
                })),
            }
        }
        let load = self.load.iter().map(|load| {
            let Population::Lasting { count, start, stop } = &load.rate else {
                unreachable!("a load lasts");
            };
            json!({
                "entry": name(load.entry),
                "rate": count,
                "from": f64::midpoint(start[0], start[1]),
                "to": stop.min(general.duration.secs()),
                "kind": load.kind,
                "marked": load.marked,
            })
        });
        json!({
            "link": self.scenario.links[self.scenario.observed].name,
            "capacity": self.capacity(),
            "packet": self.port.packet.0,
            "buffer": self.buffer(),
            "delay": self.port.delay.secs(),
            "aqm": self.aqm.name(),
            "source": self.aqm.source(),
            "parameters": self.parameters(),
            "duration": general.duration.secs(),
            "warmup": general.warmup.secs(),
            "target": self.scenario.target(),
            "classes": classes,
            "load": load.collect::<Json>(),
            "short": shorts,
            "not_modelled": self.not_modelled,
        })
    }
}

/// A value as JSON, a quantity as the number of its base units; an omitted value as null.
fn plain(value: &Value, kind: Option<&ParamKind>) -> Json {
    match value {
        Value::Bool(switch) => json!(switch),
        Value::Integer(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Text(text) if text == "auto" => Json::Null,
        Value::Text(text) => match (kind, in_base_unit(text)) {
            (Some(ParamKind::Quantity(_)), Some((number, _))) => json!(number),
            _ => json!(text),
        },
        Value::List(values) => values.iter().map(|value| plain(value, kind)).collect(),
        Value::Table(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), plain(value, None))).collect())
        }
    }
}

/// The least and the greatest value of a distribution; its mean twice if it has no greatest value.
fn bounds(distribution: &Distribution<Span>) -> [f64; 2] {
    distribution
        .greatest()
        .map_or([distribution.mean(); 2], |greatest| [distribution.least().secs(), greatest.secs()])
}
