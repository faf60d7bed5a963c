//! A scenario file as written, and the changes that a command line makes to it.

use crate::keys::{
    ALGORITHMS, DEEPEST, EXTENDS, JITTERS, LISTS, LOSSES, MANAGED, RECORDED, SWEEP, VARY, are_classes,
    name_key,
};
use crate::model::Control;
use crate::source::error::{Origin, Problem, Problems, instead};
use crate::source::target::{forget_synonyms, kept};
use crate::source::tree::{Data, Node, Table, labels, spec, unquoted};
use aqm::aqm::AnyParams;
use aqm::params::Value;
use aqm::user_defined;
use std::collections::{BTreeMap, HashMap};
use std::path::{self, PathBuf};
use std::sync::Arc;

/// Most bytes of a scenario file.
pub const LONGEST: u64 = 16 << 20;

/// A scenario file with its changes: values not yet checked, each with the place where it was written.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    pub(super) name: Arc<str>,
    /// The folder of the file; `None` for a text.
    pub(super) folder: Option<PathBuf>,
    /// Everything, with what the extended file says.
    pub(super) root: Table,
    /// The file that this one extends.
    pub(super) extended: Option<Arc<Self>>,
}

/// The entries of a network to whose algorithms a change of `aqm` applies.
#[derive(Clone, Copy)]
pub(crate) enum Managed {
    /// All, of a network without a dumbbell.
    All,
    /// The one that has the observed link: its list and its place there.
    Of(&'static str, usize),
}

impl Managed {
    fn has(self, list: &str, place: usize) -> bool {
        matches!(self, Self::All) || matches!(self, Self::Of(own, at) if (own, at) == (list, place))
    }
}

/// Whether an entry, called `label`, has this link.
fn has_link(list: &str, label: &str, entry: &Table, link: &str) -> bool {
    let leaves = match list {
        "wifi" => entry.get("stations"),
        "cell" => entry.get("users"),
        "cable" => entry.get("modems"),
        _ => None,
    };
    let leaves = leaves.map(Node::value);
    let of = |leaf: &Value| matches!(leaf, Value::Text(leaf) if format!("{label}-{leaf}") == link);
    label == link || matches!(leaves, Some(Value::List(leaves)) if leaves.iter().any(of))
}

impl Document {
    /// A text as it stands.
    pub(super) fn written(text: &str, name: &str) -> Result<Self, Problems> {
        if text.len() as u64 > LONGEST {
            return Err(Problem::of_file(name, too_long()).into());
        }
        let name = Arc::from(name);
        Ok(Self { root: Table::parse(text, &name)?, name, folder: None, extended: None })
    }

    /// The file that the scenario was read from, and those that it extends.
    pub(super) fn files(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |document| document.extended.as_deref())
    }

    /// Sets the value at a dotted path: `aqm.q0`, `traffic.long.tcp.min_rto`, `link.up.rate`, `seed`.
    ///
    /// # Errors
    /// If no such path can exist, or the value is too long or too deeply nested; [`Document::check`] checks whether it
    /// is allowed.
    pub fn set(&mut self, path: &str, value: Value) -> Result<(), Problem> {
        let origin = Origin::Set(format!("{path}={value}").into());
        bounded(path, &origin)?;
        self.put(path, Node::of(value, &origin))
    }

    /// Sets the value at a dotted path to `text`: a TOML value if it is one, otherwise a string.
    ///
    /// # Errors
    /// As [`Document::set`].
    pub fn set_text(&mut self, path: &str, text: &str) -> Result<(), Problem> {
        let origin = Origin::Set(format!("{path}={text}").into());
        bounded(path, &origin)?;
        self.put(path, unquoted(text, path, &origin)?)
    }

    /// Replaces the algorithm by `NAME` or `NAME:KEY=VALUE,KEY=VALUE`: that of the bottleneck, and of its reverse direction
    /// if the file gives it one; those of the entry that `observe` names instead, if it has some; without a `[dumbbell]`,
    /// that of every link that has one. Parameters that `text` does not set have their defaults; but a target queue length
    /// of the file is kept.
    ///
    /// # Errors
    /// If `text` is not of this form, too long or too deeply nested, or no link has an algorithm to replace.
    pub fn set_aqm(&mut self, text: &str) -> Result<(), Problem> {
        let origin = Origin::Aqm(text.into());
        bounded("aqm", &origin)?;
        let Some(table) = spec(text, "name", "aqm", &origin)? else {
            let of_words =
                if text.contains('=') { "; a value of several words has spaces between them" } else { "" };
            let message = format!("must be NAME or NAME:KEY=VALUE,KEY=VALUE{of_words}");
            return Err(Problem::of_value(origin, "aqm", Some(format!("{text:?}")), message));
        };
        let node = |old: Option<&Node>| Node::new(origin.clone(), Data::Table(kept(old, table.clone())));
        let Some(managed) = self.managed() else {
            // A reverse direction with a discipline of its own gets it too: otherwise its queue would decide the results.
            for key in ALGORITHMS {
                let old = self.root.get(key);
                if key == "aqm" || old.is_some() {
                    let node = node(old);
                    self.root.insert(key, node);
                }
            }
            return Ok(());
        };
        let mut replaced = false;
        for link in self.managed_mut(managed) {
            for key in ALGORITHMS {
                if let Some(old) = link.get_mut(key) {
                    *old = node(Some(&*old));
                    replaced = true;
                }
            }
        }
        let message = "no link has an aqm to replace; give one an `aqm` in the file".to_owned();
        if replaced { Ok(()) } else { Err(Problem::of_value(origin, "link", None, message)) }
    }

    /// The earlier setting, as `--set PATH=VALUE` or `--aqm SPEC`, of which setting `path` would replace a value, by whatever
    /// name; `None` if there is none. What `--aqm` sets everywhere may be replaced at one place.
    #[must_use]
    pub fn replaced(&self, path: &str) -> Option<String> {
        let mut changed = self.clone();
        changed.put(path, Node::new(Origin::File(self.name.clone()), Data::Value(Value::Bool(true)))).ok()?;
        let (before, after) = (settings(&self.root), settings(&changed.root));
        let everywhere = path.split('.').next() == Some("aqm");
        let counts = |origin: &Origin| everywhere || !matches!(origin, Origin::Aqm(_));
        let lost = |(origin, values): &(&Origin, &u32)| counts(origin) && after.get(origin) < Some(values);
        before.iter().filter(lost).map(|(origin, _)| origin.to_string()).min()
    }

    /// Whether the network consists of entries of [`MANAGED`] only.
    pub(crate) fn is_graph(&self) -> bool {
        self.root.get("dumbbell").is_none() && MANAGED.iter().any(|list| self.root.get(list).is_some())
    }

    /// To whose algorithms a change of `aqm` applies; `None` if to those of the dumbbell.
    pub(crate) fn managed(&self) -> Option<Managed> {
        if self.is_graph() {
            return Some(Managed::All);
        }
        let link = self.root.text("observe")?.trim_end_matches(":reverse");
        MANAGED.into_iter().find_map(|list| {
            let entries = self.root.get(list)?.entries();
            let place = labels(entries, list == "link").iter().zip(entries).position(|(label, entry)| {
                let has_one = |table: &&Table| ALGORITHMS.iter().any(|key| table.get(key).is_some());
                entry.table().filter(has_one).is_some_and(|table| has_link(list, label, table, link))
            })?;
            Some(Managed::Of(list, place))
        })
    }

    /// These entries, each with its list.
    pub(crate) fn entries(&self, managed: Managed) -> impl Iterator<Item = (&'static str, &Table)> {
        MANAGED.into_iter().flat_map(move |list| {
            let entries = self.root.get(list).map(Node::entries).unwrap_or_default().iter().enumerate();
            let meant = entries.filter(move |(place, _)| managed.has(list, *place));
            meant.filter_map(move |(_, entry)| Some((list, entry.table()?)))
        })
    }

    fn managed_mut(&mut self, managed: Managed) -> impl Iterator<Item = &mut Table> {
        let lists = self.root.iter_mut().filter(|(list, _)| MANAGED.contains(list));
        lists.flat_map(move |(list, node)| {
            let entries = node.entries_mut().iter_mut().enumerate();
            entries.filter_map(move |(place, entry)| entry.table_mut().filter(|_| managed.has(list, place)))
        })
    }

    /// The entries to whose algorithms a path applies that begins with this key.
    pub(crate) fn managed_by(&self, key: &str) -> Option<Managed> {
        let own = |managed: &Managed| key == ALGORITHMS[0] || matches!(managed, Managed::Of(..));
        self.managed().filter(own).filter(|_| ALGORITHMS.contains(&key))
    }

    /// Sets a parameter of the algorithms of these entries: at `aqm` those of both directions.
    fn put_in_algorithms(&mut self, managed: Managed, path: &[&str], node: &Node) -> Result<(), Problem> {
        for table in self.managed_mut(managed) {
            for key in ALGORITHMS {
                let meant = if path[0] == ALGORITHMS[0] { table.get(key).is_some() } else { path[0] == key };
                if meant {
                    let keys: Vec<&str> = std::iter::once(key).chain(path[1..].iter().copied()).collect();
                    descend(table, "", &keys, node.clone())?;
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, path: &str, node: Node) -> Result<(), Problem> {
        let problem = |path: &str, message: String| Problem::of_path(node.origin.clone(), path, message);
        let keys: Vec<&str> = path.split('.').collect();
        if keys.iter().any(|key| key.is_empty()) {
            return Err(problem(
                "",
                "must be PATH=VALUE with a dotted path like traffic.long.count".to_owned(),
            ));
        }
        if keys[0] == EXTENDS {
            let message = "only the text of a scenario says what it extends: write it at the top";
            return Err(problem(path, message.to_owned()));
        }
        if keys.len() + node.depth() > DEEPEST {
            return Err(Problem::too_deep(node.origin, path));
        }
        if keys.len() > 1
            && let Some(managed) = self.managed_by(keys[0])
        {
            return self.put_in_algorithms(managed, &keys, &node);
        }
        if let [SWEEP, VARY, rest @ ..] = &keys[..]
            && !rest.is_empty()
        {
            // The path of what varies is one key or several.
            forget(&mut self.root, path);
            return descend(&mut self.root, "", &[SWEEP, VARY, &rest.join(".")], node);
        }
        if !LISTS.contains(&keys[0]) {
            return descend(&mut self.root, "", &keys, node);
        }
        let [list, name, rest @ ..] = &keys[..] else {
            return Err(problem(path, format!("name the entry and its key, like {path}.NAME.KEY")));
        };
        let at = format!("{list}.{name}");
        let entries = self.root.get_mut(list).map(Node::entries_mut).unwrap_or_default();
        let Some(i) = position(entries, list, name) else {
            let labels = labels(entries, *list == "link");
            return Err(problem(
                &at,
                format!("no such entry; {}", instead(name, labels.iter().map(|label| &**label))),
            ));
        };
        match &mut entries[i].data {
            Data::Table(table) if !rest.is_empty() => descend(table, &at, rest, node),
            _ => Err(problem(&at, format!("name one of its keys, like {at}.KEY"))),
        }
    }

    /// A problem with the value at `path`, which was found to be this.
    #[must_use]
    pub fn problem(&self, path: &str, found: &str, message: &str) -> Problem {
        Problem::of_value(self.origin(path), path, Some(found.to_owned()), message.to_owned())
    }

    /// Where the value at `path` was written; if it was not, where the table around it was.
    pub(crate) fn origin(&self, path: &str) -> Origin {
        let keys: Vec<&str> = path.split('.').collect();
        let mut node = self.root.get(keys[0]);
        let mut rest = &keys[1..];
        if let ([list, name, inside @ ..], Some(entries)) = (&keys[..], node.map(Node::entries))
            && LISTS.contains(list)
            && let Some(i) = position(entries, list, name)
        {
            (node, rest) = (Some(&entries[i]), inside);
        }
        let mut origin = Origin::File(self.name.clone());
        while let Some(found) = node {
            origin = found.origin.clone();
            let [key, inside @ ..] = rest else { break };
            node = found.table().and_then(|table| table.get(key));
            rest = inside;
        }
        origin
    }

    /// The full path of the file that is called `name` at `origin`: in the folder of the scenario's file that says so if
    /// it exists there, otherwise in the current folder.
    pub(crate) fn file(&self, name: &str, origin: &Origin) -> PathBuf {
        let said = self.files().find(|document| origin.file() == Some(&document.name)).unwrap_or(self);
        let beside = said.folder.as_ref().map(|folder| folder.join(name)).filter(|path| path.exists());
        let found = beside.unwrap_or_else(|| name.into());
        path::absolute(&found).unwrap_or(found)
    }

    /// The full form of the reference to a user-defined algorithm, if `name` is one.
    pub(crate) fn reference(&self, name: &Node) -> Option<String> {
        let (file, class) = user_defined::parts(name.text()?)?;
        let colon = if class.is_empty() { "" } else { ":" };
        Some(format!("{}{colon}{class}", self.file(file, &name.origin).display()))
    }

    pub(crate) const fn root(&self) -> &Table {
        &self.root
    }

    pub(crate) const fn root_mut(&mut self) -> &mut Table {
        &mut self.root
    }

    /// The document without its `[sweep]`.
    #[must_use]
    pub fn base(&self) -> Self {
        let mut base = self.clone();
        base.root.remove(SWEEP);
        base
    }

    /// The document with its changes, as a scenario file with the same meaning in any folder.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.to_toml_with(&BTreeMap::new())
    }

    /// As [`Document::to_toml`]; `sources` has the digests of user-defined algorithms that were read earlier, by reference.
    #[must_use]
    pub fn to_toml_with(&self, sources: &BTreeMap<&str, &str>) -> String {
        let mut root = self.root.clone();
        for entry in root.get_mut("traffic").map(Node::entries_mut).unwrap_or_default() {
            self.complete(entry);
            self.complete_control(entry, sources);
        }
        if let Some(dumbbell) = root.get_mut("dumbbell") {
            self.complete_rates(dumbbell);
        }
        self.complete_algorithms(&mut root, sources);
        for (_, list) in root.iter_mut().filter(|(key, _)| MANAGED.contains(key)) {
            for entry in list.entries_mut() {
                self.complete_rates(entry);
                if let Data::Table(link) = &mut entry.data {
                    self.complete_algorithms(link, sources);
                }
            }
        }
        root.to_toml().to_string()
    }

    /// Sets the files of a link's recorded rates and losses, and of its jitter, to their full paths.
    fn complete_rates(&self, link: &mut Node) {
        let Data::Table(table) = &mut link.data else { return };
        for key in RECORDED.into_iter().chain(LOSSES).chain(JITTERS) {
            table.get_mut(key).into_iter().for_each(|entry| self.complete(entry));
        }
    }

    /// Sets the reference of a traffic entry's user-defined congestion control to its full form, with the digest of its source.
    fn complete_control(&self, entry: &mut Node, sources: &BTreeMap<&str, &str>) {
        let Data::Table(table) = &mut entry.data else { return };
        let Some(node) = table.get_mut("tcp") else { return };
        let Some(mut tcp) = node.expanded("tcp") else { return };
        let Some(mut inside) = tcp.get("congestion").and_then(|control| control.expanded("congestion"))
        else {
            return;
        };
        let find = |name: &str, source: Option<&str>| {
            Control::find(name, source).ok().map(|params| params.declaration().source)
        };
        if self.complete_reference(&mut inside, sources, &find) {
            let origin = node.origin.clone();
            tcp.insert("congestion", Node::new(origin, Data::Table(inside)));
            node.data = Data::Table(tcp);
        }
    }

    /// Sets the reference in a table to its full form, with the digest of its source, which `find` reads. Returns whether there
    /// is one.
    fn complete_reference(
        &self,
        table: &mut Table,
        sources: &BTreeMap<&str, &str>,
        find: &dyn Fn(&str, Option<&str>) -> Option<&'static str>,
    ) -> bool {
        let Some(name) = table.get_mut("name") else { return false };
        let Some(reference) = self.reference(name) else { return false };
        let origin = name.origin.clone();
        name.data = Data::Value(Value::Text(reference.clone()));
        let read = sources.get(&*reference).map(|source| (*source).to_owned());
        let said = table.text("source").map(str::to_owned).or(read);
        if let Some(source) = find(&reference, said.as_deref()) {
            table.insert("source", Node::new(origin, Data::Value(Value::Text(source.to_owned()))));
        }
        true
    }

    /// Sets the references of a table's user-defined algorithms to their full forms, with the digests of their sources.
    /// Returns whether it has any.
    fn complete_algorithms(&self, table: &mut Table, sources: &BTreeMap<&str, &str>) -> bool {
        let mut any = false;
        let named = table.iter_mut().filter(|(key, _)| are_classes(key)).map(|(_, node)| &mut node.data);
        for classes in named {
            let Data::Table(classes) = classes else { continue };
            for (_, class) in classes.iter_mut() {
                if let Data::Table(class) = &mut class.data {
                    any |= self.complete_algorithms(class, sources);
                }
            }
        }
        let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
        for key in keys.iter().filter(|key| name_key(key, "") == Some("name")) {
            let Some(node) = table.get_mut(key) else { continue };
            let Some(mut inside) = node.expanded(key) else { continue };
            let is_inside = self.complete_algorithms(&mut inside, sources);
            let find =
                |name: &str, source: Option<&str>| AnyParams::user_defined(name, source).ok()?.source();
            if self.complete_reference(&mut inside, sources, &find) || is_inside {
                node.data = Data::Table(inside);
                any = true;
            }
        }
        any
    }

    /// Sets the `file` of a recording, if it exists, to its full path.
    fn complete(&self, recording: &mut Node) {
        let Data::Table(table) = &mut recording.data else { return };
        let Some(file) = table.get_mut("file") else { return };
        if let Some(whole) =
            file.text().map(|name| self.file(name, &file.origin)).filter(|path| path.exists())
        {
            file.data = Data::Value(Value::Text(whole.display().to_string()));
        }
    }
}

/// How many values each setting of the command line has set.
fn settings(root: &Table) -> HashMap<Origin, u32> {
    fn count(key: &str, node: &Node, found: &mut HashMap<Origin, u32>) {
        if let Some(table) = node.expanded(key) {
            table.iter().for_each(|(key, inside)| count(key, inside, found));
        } else if !node.entries().is_empty() {
            node.entries().iter().for_each(|entry| count("", entry, found));
        } else if matches!(node.origin, Origin::Set(_) | Origin::Aqm(_)) {
            *found.entry(node.origin.clone()).or_default() += 1;
        }
    }
    let mut found = HashMap::new();
    root.iter().for_each(|(key, node)| count(key, node, &mut found));
    found
}

/// Removes the value at the dotted `path`, however the path is divided into keys.
fn forget(table: &mut Table, path: &str) {
    table.remove(path);
    for (dot, _) in path.match_indices('.') {
        if let Some(Node { data: Data::Table(inside), .. }) = table.get_mut(&path[..dot]) {
            forget(inside, &path[dot + 1..]);
        }
    }
}

/// Refuses a text that is too long for a scenario.
fn bounded(path: &str, origin: &Origin) -> Result<(), Problem> {
    let (Origin::Set(written) | Origin::Aqm(written)) = origin else { return Ok(()) };
    if written.len() as u64 <= LONGEST {
        return Ok(());
    }
    Err(Problem::of_value(origin.clone(), path, None, too_long()))
}

pub(super) fn too_long() -> String {
    format!("more than {} MiB: no scenario is as long; recorded packets are a trace's `file`", LONGEST >> 20)
}

/// The index of the entry called `name` in the list at `key`.
pub(crate) fn position(entries: &[Node], key: &str, name: &str) -> Option<usize> {
    labels(entries, key == "link").iter().position(|label| label == name).or_else(|| {
        let number: usize = name.parse().ok()?;
        number.checked_sub(1).filter(|&i| i < entries.len())
    })
}

/// Puts `node` at `keys` below `table`, which is at `path`.
fn descend(table: &mut Table, path: &str, keys: &[&str], node: Node) -> Result<(), Problem> {
    let [key, rest @ ..] = keys else { return Ok(()) };
    let at = if path.is_empty() { (*key).to_owned() } else { format!("{path}.{key}") };
    if rest.is_empty() {
        forget_synonyms(table, path.rsplit('.').next().unwrap_or_default(), key);
        table.insert(key, node);
        return Ok(());
    }
    if table.get(key).is_none() {
        table.insert(key, Node::new(node.origin.clone(), Data::Table(Table::default())));
    }
    let child = table.get_mut(key).expect("just made if it was not there");
    if let Some(text) = child.text()
        && let Some(head) = name_key(key, text)
        && let Some(expanded) = spec(text, head, &at, &child.origin)?
    {
        child.data = Data::Table(expanded);
    }
    match &mut child.data {
        Data::Table(inner) => descend(inner, &at, rest, node),
        _ => {
            let message = format!("not a table, it has no key {:?}", rest[0]);
            Err(Problem { found: child.shown(), ..Problem::of_path(node.origin, &at, message) })
        }
    }
}
