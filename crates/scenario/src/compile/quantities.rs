//! The numbers of a program, which counts in base units: a file has the unit beside each number.

use crate::keys::{LISTS, LOSSES, RECORDED, name_key};
use crate::model::{Control, General, Gilbert, Record, Response, Tcp};
use crate::source::document::{Document, position};
use crate::source::tree::{Data, Node, Table};
use crate::tables::{CableTable, CellTable, Dumbbell, LinkTable, Recorded, TrafficTable, WifiTable};
use aqm::aqm::AnyParams;
use aqm::params::{Field as _, ParamKind, Params as _, Spec, Value};
use aqm::unit::in_base_unit;

/// What may be in a table: its parameters, and the values that an algorithm has without what the table says.
struct Scope {
    specs: &'static [Spec],
    values: Vec<(&'static str, Value)>,
}

impl From<&'static [Spec]> for Scope {
    fn from(specs: &'static [Spec]) -> Self {
        Self { specs, values: Vec::new() }
    }
}

impl Scope {
    fn named(&self, key: &str) -> Option<&'static Spec> {
        self.specs.iter().find(|spec| spec.name == key || spec.aliases.contains(&key))
    }

    /// The base unit of the quantity at `key`; a buffer has none, which counts packets or bytes.
    fn unit(&self, key: &str) -> Option<&'static str> {
        let spec = self.named(key)?;
        let is_one = || in_base_unit(&format!("1 {}", spec.unit)).is_some();
        (matches!(spec.kind, ParamKind::Quantity(_)) && is_one()).then_some(spec.unit)
    }
}

impl Document {
    /// The base unit (s, bit/s, bytes, Hz) of the quantity at a dotted path; `None` for all else, and for buffers, which
    /// count packets or bytes.
    #[must_use]
    pub fn base_unit(&self, path: &str) -> Option<&'static str> {
        let keys: Vec<&str> = path.split('.').collect();
        let root = self.root();
        if let Some(managed) = self.managed_by(keys[0]) {
            let (list, table) = self.entries(managed).find(|(_, table)| table.get(keys[0]).is_some())?;
            return self.unit(table, &entry(list), &keys);
        }
        match &keys[..] {
            [list, name, inside @ ..] if LISTS.contains(list) => {
                let entries = root.get(list)?.entries();
                self.unit(entries[position(entries, list, name)?].table()?, &entry(list), inside)
            }
            keys => self.unit(root, &General::specs().into(), keys),
        }
    }

    fn unit(&self, table: &Table, scope: &Scope, keys: &[&str]) -> Option<&'static str> {
        match keys {
            [] => None,
            [key] => scope.unit(key),
            [key, rest @ ..] => {
                let inside = table.get(key).and_then(|node| node.expanded(key)).unwrap_or_default();
                self.unit(&inside, &self.inside(key, &inside, scope)?, rest)
            }
        }
    }

    /// What may be in `table`, which is at `key` in a table of `scope`.
    fn inside(&self, key: &str, table: &Table, scope: &Scope) -> Option<Scope> {
        if name_key(key, "") == Some("name") {
            let so_far = scope.values.iter().find(|(name, _)| *name == key);
            let params = self.algorithm_of(table).or_else(|| Box::read(&so_far?.1).map(|params| *params))?;
            return Some(Scope { specs: params.specs(), values: params.values() });
        }
        let specs = match key {
            "dumbbell" => Dumbbell::specs(),
            "response" => Response::specs(),
            "record" => Record::specs(),
            "tcp" => Tcp::specs(),
            "congestion" => {
                let reference = self.reference(table.get("name")?)?;
                Control::find(&reference, table.text("source")).ok()?.specs()
            }
            _ if LOSSES.contains(&key) => Gilbert::specs(),
            _ if RECORDED.contains(&key) => Recorded::specs(),
            _ => match scope.named(key)?.kind {
                ParamKind::Table(nested) => (nested.specs)(),
                _ => return None,
            },
        };
        Some(specs.into())
    }

    /// The algorithm that a table names, with its defaults.
    fn algorithm_of(&self, table: &Table) -> Option<AnyParams> {
        let name = table.get("name")?;
        match self.reference(name) {
            Some(reference) => AnyParams::user_defined(&reference, table.text("source")).ok(),
            None => AnyParams::of(name.text()?),
        }
    }

    /// `value` as a file has it at `path`: numbers of a quantity with its base unit.
    #[must_use]
    pub fn quantified(&self, path: &str, value: Value) -> Value {
        if !has_number(&value) {
            return value;
        }
        match self.base_unit(path) {
            Some(unit) => with_unit(value, unit),
            None => value,
        }
    }

    /// The document as a file has it: all numbers of quantities with their base units.
    #[must_use]
    pub fn all_quantified(mut self) -> Self {
        let mut root = self.root().clone();
        self.quantify(&mut root, &General::specs().into());
        *self.root_mut() = root;
        self
    }

    fn quantify(&self, table: &mut Table, scope: &Scope) {
        for (key, node) in table.iter_mut() {
            match &mut node.data {
                Data::Value(value) => {
                    if let (true, Some(unit)) = (has_number(value), scope.unit(key)) {
                        *value = with_unit(value.clone(), unit);
                    }
                }
                Data::Table(table) => {
                    if let Some(inside) = self.inside(key, table, scope) {
                        self.quantify(table, &inside);
                    }
                }
                Data::List(entries) if LISTS.contains(&key) => {
                    let scope = entry(key);
                    entries
                        .iter_mut()
                        .filter_map(Node::table_mut)
                        .for_each(|table| self.quantify(table, &scope));
                }
                Data::List(_) => {}
            }
        }
    }
}

/// What may be in an entry of a list.
fn entry(list: &str) -> Scope {
    match list {
        "link" => LinkTable::specs().into(),
        "wifi" => WifiTable::specs().into(),
        "cell" => CellTable::specs().into(),
        "cable" => CableTable::specs().into(),
        _ => TrafficTable::specs().into(),
    }
}

fn has_number(value: &Value) -> bool {
    match value {
        Value::Integer(_) | Value::Float(_) => true,
        Value::List(values) => values.iter().any(has_number),
        _ => false,
    }
}

/// A number with its unit, or a list of such.
fn with_unit(value: Value, unit: &str) -> Value {
    match value {
        Value::Integer(number) => Value::Text(format!("{number} {unit}")),
        Value::Float(number) => Value::Text(format!("{number} {unit}")),
        Value::List(values) => Value::List(values.into_iter().map(|value| with_unit(value, unit)).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parameters of every table and of every algorithm, each with a document and the path of its table.
    fn all() -> Vec<(String, String, &'static [Spec])> {
        let both = "[dumbbell]\n[[traffic]]\nname = 'x'\n";
        let mut all: Vec<(String, String, &'static [Spec])> = vec![
            (both.into(), String::new(), General::specs()),
            (both.into(), "dumbbell.".into(), Dumbbell::specs()),
            (both.into(), "dumbbell.rates.".into(), Recorded::specs()),
            (both.into(), "traffic.x.".into(), TrafficTable::specs()),
            (both.into(), "traffic.1.tcp.".into(), Tcp::specs()),
            (both.into(), "response.".into(), Response::specs()),
            (both.into(), "record.".into(), Record::specs()),
            ("[[link]]\nname = 'up'".into(), "link.up.".into(), LinkTable::specs()),
            ("[[wifi]]\nname = 'air'".into(), "wifi.air.".into(), WifiTable::specs()),
            ("[[cell]]\nname = 'c'".into(), "cell.c.".into(), CellTable::specs()),
            ("[[cable]]\nname = 'c'".into(), "cable.c.".into(), CableTable::specs()),
        ];
        for name in aqm::aqm::NAMES {
            let specs = AnyParams::of(name).unwrap().specs();
            all.push((format!("{both}[aqm]\nname = '{name}'"), "aqm.".into(), specs));
            all.push((format!("[[link]]\n[[link]]\naqm = '{name}'"), "aqm.".into(), specs));
            all.push((format!("{both}[aqm]\nname = 'fq'\naqm = '{name}'"), "aqm.aqm.".into(), specs));
        }
        all
    }

    #[test]
    fn each_quantity_reads_the_number_that_it_is_in_its_base_unit() {
        let mut found = 0;
        for (text, table, specs) in all() {
            let document = Document::parse(&text, "x").unwrap();
            for spec in specs {
                let path = format!("{table}{}", spec.name);
                let number = |value: &Value| match value {
                    Value::Text(text) => in_base_unit(text).map(|(number, _)| number),
                    _ => None,
                };
                let Some(base) = document.base_unit(&path) else {
                    let counts = spec.unit.is_empty() || spec.unit == "packets or bytes";
                    assert!(
                        !matches!(spec.kind, ParamKind::Quantity(_)) || counts,
                        "{path} has {}",
                        spec.unit
                    );
                    continue;
                };
                assert_eq!(base, spec.unit, "{path}");
                let default = match &spec.default {
                    Value::List(values) => number(&values[0]),
                    value => number(value),
                };
                let Some(default) = default else { continue };
                let written = document.quantified(&path, Value::Float(default));
                assert_eq!(number(&written), Some(default), "{path}: {written}");
                found += 1;
            }
        }
        assert!(found > 100, "{found} quantities have a default");
    }

    #[test]
    fn an_algorithm_inside_another_is_that_of_the_variant_that_is_named() {
        let document = Document::parse("[dumbbell]\n[aqm]\nname = 'fq_codel'", "x").unwrap();
        assert_eq!(document.base_unit("aqm.aqm.target"), Some("s"));
        assert_eq!(document.base_unit("aqm.quantum"), Some("bytes"));
        assert_eq!(document.base_unit("aqm.flows"), None);
        assert_eq!(document.base_unit("reverse_aqm.aqm.target"), None, "the reverse direction has none");
    }

    #[test]
    fn lists_and_whole_documents_get_units_where_quantities_are() {
        let text = "duration = 2.5\n[dumbbell]\nsender_delay = [0.01, '20 ms']\n[[traffic]]\ncount = 3\ntcp = {min_rto = 1}";
        let toml = Document::parse(text, "x").unwrap().all_quantified().to_toml();
        for line in [
            "duration = \"2.5 s\"",
            "sender_delay = [\"0.01 s\", \"20 ms\"]",
            "count = 3",
            "min_rto = \"1 s\"",
        ] {
            assert!(toml.contains(line), "{toml}");
        }
    }
}
