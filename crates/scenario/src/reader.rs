//! Reads each table of a document for itself: unknown keys, kinds of values, ranges.

use crate::model::{
    Arrival, Dumbbell, Flavour, General, KindName, LinkTable, Loss, Record, Response, TCP_PRESETS, Tcp,
    TrafficTable,
};
use crate::source::document::{ALGORITHMS, Document, LISTS, head};
use crate::source::error::{MOST_PROBLEMS, Origin, Problem, instead};
use crate::source::tree::{DEEPEST, Data, Node, Table, is_name, labels, spec};
use crate::tables::link::LOSSES;
use crate::tables::sweep;
use crate::tables::trace;
use crate::tables::traffic;
use aqm::aqm::{AnyParams, NAMES, VARIANTS};
use aqm::params::{Field, Kind, ParamError, Params, Spec, Value};
use std::borrow::Cow;
use std::sync::Arc;

/// No list of tables is longer.
const MOST_ENTRIES: usize = 10_000;

/// The tables of a file, each checked for itself.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Tables {
    pub(crate) general: General,
    pub(crate) response: Response,
    pub(crate) record: Record,
    pub(crate) observe: Option<String>,
    pub(crate) dumbbell: Option<Dumbbell>,
    /// The bottleneck's, there and back.
    pub(crate) aqms: [Option<AnyParams>; 2],
    /// The bottleneck's, there and back.
    pub(crate) losses: [Option<Loss>; 2],
    pub(crate) links: Vec<LinkEntry>,
    pub(crate) traffic: Vec<TrafficEntry>,
}

/// A `[[link]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LinkEntry {
    pub(crate) path: String,
    pub(crate) table: LinkTable,
    /// There and back.
    pub(crate) aqms: [Option<AnyParams>; 2],
    /// There and back.
    pub(crate) losses: [Option<Loss>; 2],
}

/// A `[[traffic]]`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TrafficEntry {
    pub(crate) path: String,
    pub(crate) table: TrafficTable,
    pub(crate) tcp: Tcp,
    /// The preset that it started from, if one was named.
    pub(crate) preset: Option<String>,
    /// What `file` holds.
    pub(crate) arrivals: Arc<[Arrival]>,
    /// Whether `from` and `to` were written, or are the default.
    pub(crate) ends: [bool; 2],
}

/// The keys of a file that hold a table or a list of tables, and `observe`.
pub(crate) const SECTIONS: [&str; 9] =
    ["dumbbell", "link", "aqm", "reverse_aqm", "traffic", "response", "record", "observe", "sweep"];

/// The name that a value of a choice is written with.
pub(crate) fn chosen(choice: &impl aqm::params::Field) -> String {
    match choice.value() {
        Value::Text(name) => name,
        other => other.to_string(),
    }
}

/// The dotted path of `key` in the table at `path`.
pub(crate) fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Collects what is wrong with a document.
pub(crate) struct Reader<'a> {
    pub(crate) document: &'a Document,
    pub(crate) problems: Vec<Problem>,
    unlisted: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(document: &'a Document) -> Self {
        Self { document, problems: Vec::new(), unlisted: 0 }
    }

    /// Notes a problem with the value at `path`.
    pub(crate) fn refuse(&mut self, path: &str, found: Option<String>, message: impl Into<String>) {
        // Looking for the origin is not free; many more problems than are listed must not take forever.
        if self.problems.len() < MOST_PROBLEMS {
            self.note(self.document.origin(path), path.to_owned(), found, message.into());
        } else {
            self.unlisted += 1;
        }
    }

    pub(crate) fn note(&mut self, origin: Origin, path: String, found: Option<String>, message: String) {
        self.note_whole(Problem { origin, path, found, message });
    }

    fn note_whole(&mut self, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.unlisted += 1;
        }
    }

    /// Everything noted.
    pub(crate) fn finish(self) -> Vec<Problem> {
        let mut problems = self.problems;
        if self.unlisted > 0 {
            problems.push(Problem::unlisted(self.document.origin(""), self.unlisted));
        }
        problems
    }

    /// Whether nothing was noted about the values at these paths, nor about anything in them.
    pub(crate) fn fine(&self, paths: &[&str]) -> bool {
        let inside = |at: &str, path: &str| {
            at.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        !self.problems.iter().any(|problem| paths.iter().any(|path| inside(&problem.path, path)))
    }

    pub(crate) fn tables(&mut self) -> Tables {
        let root = self.document.root();
        let mut losses = [None, None];
        let dumbbell = root.get("dumbbell").map(|node| {
            let table = self.table(node, "dumbbell");
            let Some(table) = table else { return Dumbbell::default() };
            let dumbbell: Dumbbell = self.assigned(&table, "dumbbell", &LOSSES);
            losses = LOSSES.map(|key| self.loss(table.get(key)?, &below("dumbbell", key)));
            self.changes(dumbbell.changes.as_deref(), dumbbell.changes_period, "dumbbell");
            dumbbell
        });
        let mut tables = Tables {
            general: self.assigned(root, "", &SECTIONS),
            response: self.params(root.get("response"), "response"),
            record: self.params(root.get("record"), "record"),
            observe: None,
            dumbbell,
            aqms: ALGORITHMS.map(|key| self.algorithm(root.get(key)?, key, None)),
            losses,
            links: Vec::new(),
            traffic: Vec::new(),
        };
        if let Some(node) = root.get("observe") {
            tables.observe = node.text().map(str::to_owned);
            if tables.observe.is_none() {
                self.refuse("observe", node.shown(), "must be the name of a link");
            }
        }
        if let Some(node) = root.get("sweep") {
            sweep::read(node, self);
        }
        for (label, table) in self.entries("link") {
            tables.links.push(self.link(&label, table));
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

    fn link(&mut self, label: &str, table: &Table) -> LinkEntry {
        let path = below("link", label);
        let others = [ALGORITHMS, LOSSES].concat();
        let mut read: LinkTable = self.assigned(table, &path, &others);
        read.name = label.to_owned();
        self.changes(read.changes.as_deref(), read.changes_period, &path);
        for (key, node) in [("from", &read.from), ("to", &read.to)] {
            let at = below(&path, key);
            if node.is_empty() && self.fine(&[&at]) {
                self.refuse(&at, None, "missing: must be the name of a node");
            } else if !is_name(node) && self.fine(&[&at]) {
                let found = Some(format!("{node:?}"));
                self.refuse(&at, found, "must be made of letters, digits, \"-\" and \"_\"");
            }
        }
        let aqms = ALGORITHMS.map(|key| self.algorithm(table.get(key)?, &below(&path, key), None));
        let losses = LOSSES.map(|key| self.loss(table.get(key)?, &below(&path, key)));
        LinkEntry { path, table: read, aqms, losses }
    }

    fn traffic(&mut self, label: &str, table: &Table) -> TrafficEntry {
        let path = below("traffic", label);
        let mut read: TrafficTable = self.assigned(table, &path, &["tcp"]);
        read.name = label.to_owned();
        if self.fine(&[&below(&path, "kind")]) {
            traffic::belonging(&read, table, &path, self);
            traffic::whole(&read, &path, self);
        }
        traffic::fill(&mut read);
        let arrivals = self.arrivals(&mut read, &path);
        let (tcp, preset) = match table.get("tcp") {
            Some(node) => self.tcp(node, &below(&path, "tcp")),
            None => (Tcp::unnamed(None), None),
        };
        traffic::room(&read, &tcp, &path, self);
        let ends = ["from", "to"].map(|key| table.get(key).is_some());
        TrafficEntry { path, table: read, tcp, preset, arrivals, ends }
    }

    /// The packets that a trace replays; its file is then called by its whole path.
    fn arrivals(&mut self, read: &mut TrafficTable, path: &str) -> Arc<[Arrival]> {
        let at = below(path, "file");
        let Some(file) = read.file.as_mut().filter(|_| read.kind == KindName::Trace) else {
            return Arc::default();
        };
        let whole = self.document.file(file);
        if whole.to_str().is_none() {
            let message = "its whole path is not UTF-8: rename the folder, or move the file";
            self.refuse(&at, Some(format!("{file:?}")), message);
            return Arc::default();
        }
        let arrivals = trace::read(&whole).unwrap_or_else(|problem| {
            self.refuse(&at, Some(format!("{file:?}")), problem);
            Arc::default()
        });
        *file = whole.display().to_string();
        arrivals
    }

    /// The table in `node`, which may be written as `NAME:KEY=VALUE,KEY=VALUE`.
    fn table<'n>(&mut self, node: &'n Node, path: &str) -> Option<Cow<'n, Table>> {
        // An algorithm inside another is named in a text inside a text.
        if path.split('.').count() > DEEPEST {
            self.note_whole(Problem::too_deep(node.origin.clone(), path));
            return None;
        }
        let key = path.rsplit('.').next().unwrap_or_default();
        if let Some(table) = node.table() {
            return Some(Cow::Borrowed(table));
        }
        let written = node.text().and_then(|text| Some((text, head(key, text)?)));
        let table = written.map_or(Ok(None), |(text, head)| spec(text, head, path, &node.origin));
        let table = match table {
            Ok(table) => table,
            Err(problem) => {
                self.note_whole(problem);
                return None;
            }
        };
        if table.is_none() {
            let text =
                if head(key, "").is_some() { " or text like \"NAME:KEY=VALUE,KEY=VALUE\"" } else { "" };
            self.refuse(path, node.shown(), format!("must be a table{text}"));
        }
        table.map(Cow::Owned)
    }

    /// The set of parameters in `node`, the defaults if there is none.
    pub(crate) fn params<P: Params>(&mut self, node: Option<&Node>, path: &str) -> P {
        let table = node.and_then(|node| self.table(node, path));
        table.map_or_else(P::default, |table| self.assigned(&table, path, &[]))
    }

    /// The set of parameters in `table`, whose keys `others` are read elsewhere.
    pub(crate) fn assigned<P: Params>(&mut self, table: &Table, path: &str, others: &[&str]) -> P {
        let mut params = P::default();
        self.assign(table, path, P::specs(), others, &[], &mut |key, value| params.set(key, value));
        params
    }

    /// Sets what `table` says of these parameters; where another algorithm is inside at one of them, `values` tell
    /// which it is so far.
    fn assign(
        &mut self,
        table: &Table,
        path: &str,
        specs: &'static [Spec],
        others: &[&str],
        values: &[(&str, Value)],
        set: &mut dyn FnMut(&str, &Value) -> Result<(), ParamError>,
    ) {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for (key, node) in table.iter().filter(|(key, _)| !others.contains(key)) {
            let at = below(path, key);
            let Some(spec) = specs.iter().find(|spec| spec.name == key || spec.aliases.contains(&key)) else {
                let known = specs.iter().map(|spec| spec.name).chain(others.iter().copied());
                let aliases = specs.iter().flat_map(|spec| spec.aliases.iter().copied());
                let path = if is_name(key) { at } else { below(path, &format!("{key:?}")) };
                let message = format!("unknown key; {}", nearest(key, known, aliases));
                self.note(node.origin.clone(), path, None, message);
                continue;
            };
            if let Some((_, earlier)) = seen.iter().find(|(name, _)| *name == spec.name) {
                self.refuse(&at, node.shown(), format!("{earlier} is given as well and means the same"));
                continue;
            }
            seen.push((spec.name, key));
            let auto = spec.optional && node.text() == Some("auto");
            let value = match (spec.kind, &node.data) {
                (Kind::Algorithm, _) if !auto => {
                    let so_far = values.iter().find(|(name, _)| *name == spec.name);
                    match self.inside(node, &at, so_far.and_then(|(_, value)| Field::read(value))) {
                        Some(params) => params.value(),
                        None => continue,
                    }
                }
                (Kind::Table(nested), Data::Table(table)) => {
                    let check =
                        &mut |key: &str, value: &Value| (nested.check)(&[(key.to_owned(), value.clone())]);
                    self.assign(table, &at, (nested.specs)(), &[], &[], check);
                    if !self.fine(&[&at]) {
                        continue;
                    }
                    node.value()
                }
                (_, Data::Value(value)) => value.clone(),
                _ => {
                    self.refuse(&at, None, format!("must be {}, not a table", spec.allowed()));
                    continue;
                }
            };
            if let Err(ParamError::Invalid { found, allowed, .. }) = set(key, &value) {
                self.refuse(&at, Some(found), format!("must be {allowed}"));
            }
        }
    }

    /// The algorithm in `node`, which is inside another one, in the place of `so_far`.
    fn inside(&mut self, node: &Node, path: &str, so_far: Option<Box<AnyParams>>) -> Option<Box<AnyParams>> {
        let params =
            self.algorithm(node, path, so_far.map(|params| *params)).filter(|_| self.fine(&[path]))?;
        if !params.has_one_queue() {
            let found = Some(format!("{:?}", params.name()));
            self.refuse(path, found, "must be an algorithm on one queue: this one keeps several");
            return None;
        }
        Some(Box::new(params))
    }

    /// The algorithm in `node`; if it names none, `so_far` with other values.
    fn algorithm(&mut self, node: &Node, path: &str, so_far: Option<AnyParams>) -> Option<AnyParams> {
        let table = self.table(node, path)?;
        let at = below(path, "name");
        let name = table.get("name");
        let Some(mut params) = name.map_or(so_far, |name| AnyParams::of(name.text()?)) else {
            if let Some(name) = name {
                let variants = VARIANTS.iter().map(|(name, ..)| *name);
                let hint = instead(name.text().unwrap_or_default(), NAMES.iter().copied().chain(variants));
                self.refuse(&at, name.shown(), format!("no such algorithm; {hint}"));
            } else {
                let message =
                    format!("missing: must be the name of an algorithm, one of {}", NAMES.join(", "));
                self.refuse(&at, None, message);
            }
            return None;
        };
        if let Some(preset) = table.get("preset") {
            match preset.text().and_then(|preset| params.preset(preset)) {
                Some(values) => params = values,
                None => {
                    let hint = instead(
                        preset.text().unwrap_or_default(),
                        params.presets().iter().map(|(name, _)| *name),
                    );
                    self.refuse(
                        &below(path, "preset"),
                        preset.shown(),
                        format!("no such preset of {}; {hint}", params.name()),
                    );
                }
            }
        }
        let values = params.values();
        self.assign(&table, path, params.specs(), &["name", "preset"], &values, &mut |key, value| {
            params.set(key, value)
        });
        if self.fine(&[path])
            && let Err(ParamError::Invalid { name, found, allowed }) = params.check()
        {
            self.refuse(&below(path, &name), Some(found), format!("must be {allowed}"));
        }
        Some(params)
    }

    /// The TCP in `node`, and its preset if one is named.
    fn tcp(&mut self, node: &Node, path: &str) -> (Tcp, Option<String>) {
        let Some(table) = self.table(node, path) else { return (Tcp::default(), None) };
        let mut tcp = Tcp::unnamed(table.text("flavour"));
        let presets = TCP_PRESETS.iter().map(|(name, _)| *name);
        if let (Some(_), Some(name)) = (node.text(), table.text("flavour"))
            && tcp.set("flavour", &Value::Text(name.to_owned())).is_err()
        {
            let Kind::Choice(flavours) = Flavour::KIND else { unreachable!("flavours are names") };
            let hint = instead(name, flavours.iter().copied().chain(presets));
            self.refuse(path, node.shown(), format!("no such TCP; {hint}"));
            return (tcp, None);
        }
        if let Some(preset) = table.get("preset") {
            match preset.text().and_then(Tcp::preset) {
                Some(values) => tcp = values,
                None => {
                    let hint = instead(preset.text().unwrap_or_default(), presets);
                    self.refuse(&below(path, "preset"), preset.shown(), format!("no such preset; {hint}"));
                }
            }
        }
        self.assign(&table, path, Tcp::specs(), &["preset"], &[], &mut |key, value| tcp.set(key, value));
        self.controls(&table, path, &tcp);
        (tcp, table.text("preset").map(str::to_owned))
    }

    /// Refuses parameters that this TCP does not have, and a congestion control that its flavour does not.
    fn controls(&mut self, table: &Table, path: &str, tcp: &Tcp) {
        if !self.fine(&[&below(path, "congestion"), &below(path, "flavour")]) {
            return;
        }
        if let Some(fit) = tcp.misfit() {
            let (congestion, flavour) = (tcp.congestion.value(), tcp.flavour.value());
            let message = format!("flavour = {flavour} has no such control; take {fit}");
            self.refuse(&below(path, "congestion"), Some(congestion.to_string()), message);
            return;
        }
        for (key, node) in table.iter() {
            let named = |spec: &&Spec| spec.name == key || spec.aliases.contains(&key);
            let Some((what, others, own)) =
                Tcp::specs().iter().find(named).and_then(|spec| tcp.foreign(spec.name))
            else {
                continue;
            };
            let message = format!("only for {what} = {others}; this TCP's is {own}");
            self.refuse(&below(path, key), node.shown(), message);
        }
    }
}

/// The nearest of the known names or their aliases, or all names without the aliases.
fn nearest<'n>(
    key: &str,
    known: impl Iterator<Item = &'n str> + Clone,
    aliases: impl Iterator<Item = &'n str>,
) -> String {
    let near = instead(key, known.clone().chain(aliases));
    if near.starts_with("did") { near } else { instead(key, known) }
}
