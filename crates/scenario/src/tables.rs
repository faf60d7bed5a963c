//! The tables of a file: the keys of each, and the checks of each by itself.

mod cable;
mod cell;
pub(crate) mod link;
mod rates;
mod recording;
mod stack;
pub(crate) mod star;
pub(crate) mod sweep;
mod tcp;
mod trace;
pub(crate) mod traffic;
pub(crate) mod variation;
mod wifi;

use crate::keys::{ALGORITHMS, LISTS, LOSSES, SECTIONS, SWEEP, below, is_name};
use crate::model::{General, Record, Response, Variation};
use crate::reader::{Algorithm, Reader};
use crate::source::tree::{Table, labels};
pub(crate) use cable::CableEntry;
pub use cable::CableTable;
pub(crate) use cell::CellEntry;
pub use cell::CellTable;
pub(crate) use link::BUFFERS;
pub use link::{Admission, Dumbbell, LinkTable};
pub(crate) use link::{LinkEntry, LossEntry};
pub(crate) use rates::Rates;
pub use rates::{Recorded, RecordedLoss};
pub use sweep::{Method, Sweep};
pub(crate) use traffic::TrafficEntry;
pub use traffic::{KindName, TrafficTable};
pub(crate) use wifi::WifiEntry;
pub use wifi::WifiTable;

/// The tables of a file, each checked by itself.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Tables {
    pub(crate) general: General,
    pub(crate) response: Response,
    pub(crate) record: Record,
    pub(crate) observe: Option<String>,
    pub(crate) dumbbell: Option<Dumbbell>,
    /// Those of the bottleneck, in the two directions.
    pub(crate) aqms: [Option<Algorithm>; 2],
    /// Those of the bottleneck, in the two directions.
    pub(crate) losses: [Option<LossEntry>; 2],
    /// The recorded rates of the bottleneck, in the two directions.
    pub(crate) recorded: [Option<Rates>; 2],
    /// What varies in the delays of the bottleneck, in the two directions.
    pub(crate) variations: [Variation; 2],
    pub(crate) links: Vec<LinkEntry>,
    pub(crate) wifis: Vec<WifiEntry>,
    pub(crate) cells: Vec<CellEntry>,
    pub(crate) cables: Vec<CableEntry>,
    pub(crate) traffic: Vec<TrafficEntry>,
}

/// Most entries in a list of tables.
const MOST_ENTRIES: usize = 10_000;

impl<'a> Reader<'a> {
    /// Reads every table of the document.
    pub(crate) fn tables(&mut self) -> Tables {
        let root = self.document.root();
        let (mut losses, mut recorded, mut variations) = ([None, None], [None, None], Default::default());
        let dumbbell = root.get("dumbbell").map(|node| {
            let table = self.table(node, "dumbbell");
            let Some(table) = table else { return Dumbbell::default() };
            let mut dumbbell: Dumbbell = self.assigned(&table, "dumbbell", &LOSSES);
            losses = LOSSES.map(|key| self.loss(table.get(key)?, &below("dumbbell", key)));
            let over = dumbbell.starts_over();
            self.changes(dumbbell.changes.as_deref(), dumbbell.changes_period, over, "dumbbell");
            recorded = self.recorded(dumbbell.recording(), &table, "dumbbell");
            self.recorded_once(&losses, &recorded, "dumbbell");
            variations = self.variations(dumbbell.varying(), &recorded, "dumbbell");
            dumbbell
        });
        let mut tables = Tables {
            general: self.assigned(root, "", &SECTIONS),
            response: self.params(root.get("response"), "response"),
            record: self.params(root.get("record"), "record"),
            observe: None,
            dumbbell,
            aqms: ALGORITHMS.map(|key| self.named(root.get(key)?, "", key)),
            losses,
            recorded,
            variations,
            links: Vec::new(),
            wifis: Vec::new(),
            cells: Vec::new(),
            cables: Vec::new(),
            traffic: Vec::new(),
        };
        if let Some(node) = root.get("observe") {
            tables.observe = node.text().map(str::to_owned);
            if tables.observe.is_none() {
                self.refuse("observe", node.shown(), "must be the name of a link");
            }
        }
        if let Some(node) = root.get(SWEEP) {
            sweep::read(node, self);
        }
        for (label, table) in self.entries("link") {
            tables.links.push(self.link(&label, table));
        }
        for (label, table) in self.entries("wifi") {
            tables.wifis.push(self.wifi(&label, table));
        }
        for (label, table) in self.entries("cell") {
            tables.cells.push(self.cell(&label, table));
        }
        for (label, table) in self.entries("cable") {
            tables.cables.push(self.cable(&label, table));
        }
        for (label, table) in self.entries("traffic") {
            tables.traffic.push(self.traffic(&label, table));
        }
        tables
    }

    /// The tables of a list with their labels.
    fn entries(&mut self, list: &str) -> Vec<(String, &'a Table)> {
        debug_assert!(LISTS.contains(&list));
        let Some(node) = self.document.root().get(list) else { return Vec::new() };
        let entries = node.entries();
        if entries.is_empty() && node.shown().as_deref() != Some("[]") {
            self.refuse(list, node.shown(), format!("must be tables: write [[{list}]]"));
        }
        if entries.len() > MOST_ENTRIES {
            self.refuse(list, None, format!("{} entries, at most {MOST_ENTRIES}", entries.len()));
            return Vec::new();
        }
        let mut tables = Vec::new();
        for (label, entry) in labels(entries, list == "link").into_iter().zip(entries) {
            let path = below(list, &label);
            let Some(table) = entry.table() else {
                self.refuse(&path, entry.shown(), "must be a table");
                continue;
            };
            if let Some(name) = table.text("name").filter(|name| !name.is_empty() && *name != label) {
                let message = if !is_name(name) {
                    "must be made of letters, digits, \"-\" and \"_\"".to_owned()
                } else if name.bytes().all(|c| c.is_ascii_digit()) {
                    "must not be a number, which means the entry in this place".to_owned()
                } else {
                    format!("an earlier {list} has this name")
                };
                self.refuse(&below(&path, "name"), Some(format!("{name:?}")), message);
            }
            tables.push((label, table));
        }
        tables
    }
}
