//! Finished runs as a table: the metrics of their documents in columns.

use crate::series::{Stream, floats};
use arrow_array::builder::LargeStringBuilder;
use arrow_array::{ArrayRef, Int64Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};
use std::sync::Arc;

/// What a table has of a run's document; `Run.document` in Python describes it.
#[derive(Deserialize)]
struct Document<'a> {
    seed: i64,
    metrics: Metrics,
    classes: BTreeMap<String, Metrics>,
    links: BTreeMap<String, Metrics>,
    lanes: BTreeMap<String, Metrics>,
    engine: Metrics,
    #[serde(borrow)]
    distributions: &'a RawValue,
}

/// Values by their names, in the order of the document; NaN if undefined.
struct Metrics(Vec<(String, f64)>);

impl<'de> Deserialize<'de> for Metrics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Metrics;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("numbers by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metrics, A::Error> {
        let mut found = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            // The standard library rounds every number correctly, serde_json only most.
            let value = match value.get() {
                "null" => f64::NAN,
                text => text.parse().map_err(|_| A::Error::custom(format!("{name}: {text} is no number")))?,
            };
            found.push((name, value));
        }
        Ok(Metrics(found))
    }
}

/// A table that grows by a row a run.
#[derive(Default)]
struct Table {
    seeds: Vec<i64>,
    distributions: LargeStringBuilder,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    /// The place of each name.
    places: HashMap<String, usize>,
}

impl Table {
    fn add(&mut self, document: &Document<'_>) {
        let row = self.seeds.len();
        self.seeds.push(document.seed);
        self.distributions.append_value(document.distributions.get());
        let groups = [("classes", &document.classes), ("links", &document.links), ("lanes", &document.lanes)];
        let mut name = String::new();
        let mut next = 0;
        self.fill(row, "", &document.metrics, &mut name, &mut next);
        for (group, owners) in groups {
            for (owner, metrics) in owners {
                self.fill(row, &format!("{group}.{owner}."), metrics, &mut name, &mut next);
            }
        }
        self.fill(row, "engine.", &document.engine, &mut name, &mut next);
        for column in &mut self.columns {
            column.resize(row + 1, f64::NAN);
        }
    }

    /// Writes metrics to a row; `next` is the place of the next one if the run has the metrics of the first run.
    fn fill(&mut self, row: usize, prefix: &str, metrics: &Metrics, name: &mut String, next: &mut usize) {
        for (metric, value) in &metrics.0 {
            name.clear();
            write!(name, "{prefix}{metric}").expect("a text can always be written to");
            let place = if self.names.get(*next) == Some(name) { *next } else { self.place(name) };
            let column = &mut self.columns[place];
            column.resize(row + 1, f64::NAN);
            column[row] = *value;
            *next = place + 1;
        }
    }

    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.places.get(name) {
            return place;
        }
        let place = self.names.len();
        self.places.insert(name.to_owned(), place);
        self.names.push(name.to_owned());
        self.columns.push(Vec::new());
        place
    }

    fn stream(mut self) -> Stream {
        let seeds: ArrayRef = Arc::new(Int64Array::from(self.seeds));
        let distributions: ArrayRef = Arc::new(self.distributions.finish());
        let metrics = self.names.into_iter().zip(self.columns.into_iter().map(floats));
        let first = [("seed".to_owned(), seeds), ("distributions".to_owned(), distributions)];
        Stream::of(first.into_iter().chain(metrics))
    }
}

/// A table of runs, given their documents as JSON: `seed`, `distributions` as JSON, and every metric that a run has.
///
/// The documents are taken one by one: together they may be large.
#[pyfunction]
pub(crate) fn rows(documents: &Bound<'_, PyAny>) -> PyResult<Stream> {
    let mut table = Table::default();
    for text in documents.try_iter()? {
        let text: PyBackedBytes = text?.extract()?;
        let added =
            documents.py().detach(|| serde_json::from_slice(&text).map(|document| table.add(&document)));
        added.map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    Ok(table.stream())
}
