//! Compiles the tables of a document into a [`Scenario`], checks that they fit together, and writes the effective
//! scenario.

mod buffers;
mod check;
mod network;
mod quantities;
mod resolved;

use crate::json::{object, value};
use crate::keys::{SWEEP, VARY};
use crate::model::Scenario;
use crate::model::estimate::estimate;
use crate::reader::Reader;
use crate::source::document::Document;
use crate::source::error::{Problem, Problems};
use crate::source::tree::Node;
use crate::tables::{Tables, sweep};
use aqm::params::Params as _;
use network::network;
use serde_json::{Value as Json, json};

impl Document {
    fn tables(&self) -> (Tables, Scenario, Vec<Problem>) {
        let mut reader = Reader::new(self);
        let tables = reader.tables();
        let scenario = network(&tables, &mut reader);
        check::scenario(&tables, &scenario, &mut reader);
        if reader.problems.is_empty() {
            check::ports(&tables, &scenario, &mut reader);
        }
        if reader.problems.is_empty() {
            check::work(&tables, &scenario, &estimate(&scenario), &mut reader);
        }
        (tables, scenario, reader.finish())
    }

    /// Compiles the document into a scenario.
    ///
    /// # Errors
    /// All problems of the document.
    pub fn check(&self) -> Result<Scenario, Problems> {
        self.resolve().map(|(scenario, _)| scenario)
    }

    /// The document with all defaults, in the form of a scenario file in JSON.
    ///
    /// # Errors
    /// All problems of the document.
    pub fn to_json(&self) -> Result<serde_json::Value, Problems> {
        self.resolve().map(|(_, json)| json)
    }

    /// Both results from one reading: between two readings, a trace's file may change.
    ///
    /// # Errors
    /// All problems of the document.
    pub fn resolve(&self) -> Result<(Scenario, serde_json::Value), Problems> {
        let (tables, scenario, problems) = self.tables();
        if problems.is_empty() {
            let json = resolved::json(&tables, &scenario);
            Ok((scenario, json))
        } else {
            Err(Problems::sorted(problems))
        }
    }

    /// The table `[sweep]` with all defaults; under `vary`, the path, value and origin of each varied parameter.
    /// `None` without such a table.
    ///
    /// # Errors
    /// All problems of the document.
    pub fn sweep(&self) -> Result<Option<Json>, Problems> {
        let Some(node) = self.root().get(SWEEP) else { return Ok(None) };
        let mut reader = Reader::new(self);
        let (sweep, varied) = sweep::read(node, &mut reader);
        let problems = reader.finish();
        if !problems.is_empty() {
            return Err(Problems::sorted(problems));
        }
        let mut map = object(sweep.values());
        let entry = |(path, node): (String, &Node)| {
            json!({
                "path": path,
                "value": value(&node.value()),
                "origin": node.origin.to_string(),
            })
        };
        map.insert(VARY.to_owned(), varied.into_iter().map(entry).collect());
        Ok(Some(Json::Object(map)))
    }
}
