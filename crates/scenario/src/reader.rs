//! Reads the tables of a document into parameters: refuses unknown keys and values of the wrong kind or out of range,
//! and collects the problems.

use crate::keys::{DEEPEST, below, is_name, name_key};
use crate::source::document::Document;
use crate::source::error::{MOST_PROBLEMS, NEAR, Origin, Problem, VERY_NEAR, instead, nearest};
use crate::source::tree::{Data, Node, Table, spec};
use aqm::aqm::{AnyParams, NAMES, VARIANTS};
use aqm::params::{Nested, ParamError, ParamKind, Params, Spec, Value};
use aqm::unit::in_base_unit;
use std::borrow::Cow;

/// An algorithm with its name as the file writes it: `fq_codel` is `fq` with certain parameters.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Algorithm {
    pub(crate) name: String,
    pub(crate) params: AnyParams,
}

/// Collects the problems of a document.
pub(crate) struct Reader<'a> {
    pub(crate) document: &'a Document,
    pub(crate) problems: Vec<Problem>,
    /// Sentences on how recordings were read.
    pub(crate) remarks: Vec<String>,
    unlisted: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(document: &'a Document) -> Self {
        Self { document, problems: Vec::new(), remarks: Vec::new(), unlisted: 0 }
    }

    /// Records a problem with the value at `path`.
    pub(crate) fn refuse(&mut self, path: &str, found: Option<String>, message: impl Into<String>) {
        // Finding the origin costs time, which must be bounded for many more problems than are listed.
        if self.problems.len() < MOST_PROBLEMS {
            self.note(Problem::of_value(self.document.origin(path), path, found, message.into()));
        } else {
            self.unlisted += 1;
        }
    }

    pub(crate) fn note(&mut self, problem: Problem) {
        // `--aqm` puts one text in the place of each algorithm: its mistakes are told once.
        let is_same =
            |known: &Problem| (&known.origin, &known.message) == (&problem.origin, &problem.message);
        if matches!(problem.origin, Origin::Aqm(_)) && self.problems.iter().any(is_same) {
            return;
        }
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.unlisted += 1;
        }
    }

    /// All recorded problems.
    pub(crate) fn finish(self) -> Vec<Problem> {
        let mut problems = self.problems;
        if self.unlisted > 0 {
            problems.push(Problem::unlisted(self.document.origin(""), self.unlisted));
        }
        problems
    }

    /// Whether no problem was recorded at these paths or below them.
    pub(crate) fn fine(&self, paths: &[&str]) -> bool {
        let inside = |at: &str, path: &str| {
            at.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        !self.problems.iter().any(|problem| paths.iter().any(|path| inside(&problem.path, path)))
    }

    /// The table in `node`, which may be written as `NAME:KEY=VALUE,KEY=VALUE`.
    pub(crate) fn table<'n>(&mut self, node: &'n Node, path: &str) -> Option<Cow<'n, Table>> {
        // An inner algorithm is named in a text inside a text.
        if path.split('.').count() > DEEPEST {
            self.note(Problem::too_deep(node.origin.clone(), path));
            return None;
        }
        let key = path.rsplit('.').next().unwrap_or_default();
        if let Some(table) = node.table() {
            return Some(Cow::Borrowed(table));
        }
        let written = node.text().and_then(|text| Some((text, name_key(key, text)?)));
        let table = written.map_or(Ok(None), |(text, head)| spec(text, head, path, &node.origin));
        let table = match table {
            Ok(table) => table,
            Err(problem) => {
                self.note(problem);
                return None;
            }
        };
        if table.is_none() {
            let text =
                if name_key(key, "").is_some() { " or text like \"NAME:KEY=VALUE,KEY=VALUE\"" } else { "" };
            self.refuse(path, node.shown(), format!("must be a table{text}"));
        }
        table.map(Cow::Owned)
    }

    /// The set of parameters in `node`, or the defaults if there is no node.
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

    /// Sets the parameters that `table` contains; for an inner algorithm, `values` has the present one.
    pub(crate) fn assign(
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
                let path = if is_name(key) { at } else { below(path, &format!("{key:?}")) };
                let message = format!("unknown key; {}", advice(key, node, specs, others));
                self.note(Problem::of_path(node.origin.clone(), &path, message));
                continue;
            };
            if let Some((_, earlier)) = seen.iter().find(|(name, _)| *name == spec.name) {
                self.refuse(&at, node.shown(), format!("{earlier} is given as well and means the same"));
                continue;
            }
            seen.push((spec.name, key));
            let auto = spec.optional && node.text() == Some("auto");
            let value = match (spec.kind, &node.data) {
                (ParamKind::Algorithm { several }, _) if !auto => {
                    let so_far = values.iter().find(|(name, _)| *name == spec.name);
                    let so_far = so_far.and_then(|(_, value)| AnyParams::read(value));
                    match self.inside(node, &at, so_far, several) {
                        Some(params) => params.value(),
                        None => continue,
                    }
                }
                (ParamKind::Table(nested), Data::Table(table)) => match self.nested(table, &at, nested) {
                    Some(value) => value,
                    None => continue,
                },
                (ParamKind::Named(nested), Data::Table(table)) if table.iter().next().is_some() => {
                    match self.by_name(table, &at, nested) {
                        Some(value) => value,
                        None => continue,
                    }
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

    /// The values in `table`, a nested set of parameters.
    fn nested(&mut self, table: &Table, path: &str, nested: Nested) -> Option<Value> {
        let mut entries = Vec::new();
        self.assign(table, path, (nested.specs)(), &[], &[], &mut |key, value| {
            let entry = (key.to_owned(), value.clone());
            (nested.check)(std::slice::from_ref(&entry)).map(|()| entries.push(entry))
        });
        self.fine(&[path]).then_some(Value::Table(entries))
    }

    /// The values in the tables of `table`, nested sets of parameters by their names.
    fn by_name(&mut self, table: &Table, path: &str, nested: Nested) -> Option<Value> {
        let mut entries = Vec::new();
        for (name, node) in table.iter() {
            let at = below(path, name);
            if !is_name(name) {
                let at = below(path, &format!("{name:?}"));
                self.note(Problem::of_path(
                    node.origin.clone(),
                    &at,
                    "must be a name: letters, digits, - and _".into(),
                ));
                continue;
            }
            match self.table(node, &at) {
                Some(own) => {
                    entries.extend(self.nested(&own, &at, nested).map(|value| (name.to_owned(), value)))
                }
                None => continue,
            }
        }
        self.fine(&[path]).then_some(Value::Table(entries))
    }

    /// The inner algorithm in `node`, which replaces `so_far`.
    fn inside(
        &mut self,
        node: &Node,
        path: &str,
        so_far: Option<AnyParams>,
        several: bool,
    ) -> Option<AnyParams> {
        let params = self.algorithm(node, path, so_far).filter(|_| self.fine(&[path]))?;
        if !several && !params.has_one_queue() {
            let found = Some(format!("{:?}", params.name()));
            self.refuse(path, found, "must be an algorithm on one queue: this one keeps several");
            return None;
        }
        Some(params)
    }

    /// The algorithm in `node`, which is at `key` of the table at `path`.
    pub(crate) fn named(&mut self, node: &Node, path: &str, key: &str) -> Option<Algorithm> {
        let params = self.algorithm(node, &below(path, key), None)?;
        let table = node.expanded(key);
        let name = table.as_ref().and_then(|table| table.text("name")).unwrap_or_else(|| params.name());
        Some(Algorithm { name: name.to_owned(), params })
    }

    /// The algorithm in `node`; without a name, `so_far` with the new values.
    pub(crate) fn algorithm(
        &mut self,
        node: &Node,
        path: &str,
        so_far: Option<AnyParams>,
    ) -> Option<AnyParams> {
        let table = self.table(node, path)?;
        let at = below(path, "name");
        let name = table.get("name");
        let source = table.get("source");
        if let Some((name, reference)) = name.and_then(|name| Some((name, self.document.reference(name)?))) {
            return self.user_defined(&table, path, (name, &reference), source);
        }
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
        self.set_all(&table, path, &["name", "preset"], &mut params);
        if self.fine(&[path])
            && let Err(ParamError::Invalid { name, found, allowed }) = params.check()
        {
            self.refuse(&below(path, &name), Some(found), format!("must be {allowed}"));
        }
        Some(params)
    }

    /// The algorithm of a reference, in its full form `reference`; `source` is the digest of its source, if it is given.
    fn user_defined(
        &mut self,
        table: &Table,
        path: &str,
        (name, reference): (&Node, &str),
        source: Option<&Node>,
    ) -> Option<AnyParams> {
        match AnyParams::user_defined(reference, source.and_then(Node::text)) {
            Ok(mut params) => {
                self.set_all(table, path, &["name", "source"], &mut params);
                Some(params)
            }
            Err(message) => {
                self.refuse(&below(path, "name"), name.shown(), message);
                None
            }
        }
    }

    /// Sets the parameters that `table` contains, apart from the keys `others`.
    fn set_all(&mut self, table: &Table, path: &str, others: &[&str], params: &mut AnyParams) {
        let (specs, values) = (params.specs(), params.values());
        self.assign(table, path, specs, others, &values, &mut |key, value| params.set(key, value));
    }
}

/// What may have been meant by an unknown key: the nearest of the known names and aliases, or a list of names. A name
/// that is not very near must take the value: `threshold = 30` of `step` is not its `ce_threshold`, a time.
fn advice(key: &str, node: &Node, specs: &[Spec], others: &[&str]) -> String {
    let names = |spec: &Spec| std::iter::once(spec.name).chain(spec.aliases.iter().copied());
    let fitting: Vec<&Spec> = specs.iter().filter(|spec| takes(spec, node)).collect();
    let own = || others.iter().copied();
    let all = || specs.iter().flat_map(names).chain(own());
    let fit = nearest(key, NEAR, fitting.iter().copied().flat_map(names).chain(own()));
    if let Some(near) = fit.or_else(|| nearest(key, VERY_NEAR, all())) {
        return near;
    }
    match &fitting[..] {
        [only] if nearest(key, NEAR, all()).is_some() => format!("did you mean {:?}?", only.name),
        _ => instead(key, specs.iter().map(|spec| spec.name).chain(own())),
    }
}

/// Whether the parameter may have been meant by this value, going by its kind and its unit.
fn takes(spec: &Spec, node: &Node) -> bool {
    match &node.data {
        Data::Value(Value::Integer(_) | Value::Float(_)) => {
            matches!(spec.kind, ParamKind::Number | ParamKind::Count)
        }
        Data::Value(Value::Bool(_)) => spec.kind == ParamKind::Switch,
        Data::Value(Value::Text(text)) => match in_base_unit(text) {
            Some((_, unit)) => spec.unit == unit,
            None => !matches!(
                spec.kind,
                ParamKind::Number
                    | ParamKind::Count
                    | ParamKind::Switch
                    | ParamKind::Table(_)
                    | ParamKind::Named(_)
            ),
        },
        Data::Value(_) => spec.list,
        _ => matches!(spec.kind, ParamKind::Algorithm { .. } | ParamKind::Table(_) | ParamKind::Named(_)),
    }
}
