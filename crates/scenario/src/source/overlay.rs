//! Laying the keys of a file over those of the file that it extends, and the difference that this makes.

use crate::keys::{LISTS, SWEEP, VARY, below, name_key};
use crate::source::target::{forget_synonyms, kept};
use crate::source::tree::{Data, Node, Table, labels};
use std::collections::HashMap;

/// The keys of a file over those of the file that it extends. Tables are merged key by key, algorithms as `--aqm` does
/// it, entries of lists by their names; all else replaces the old value. Each value keeps the place where it was
/// written.
pub(super) fn over(base: Table, own: Table) -> Table {
    base.overlaid(own, &|key, old, new| match key {
        SWEEP => swept(key, old, new),
        _ if LISTS.contains(&key) => entries(key, old, new),
        _ => merged(key, old, new),
    })
}

/// `new` over `old`, both at `key`.
fn merged(key: &str, old: &Node, new: Node) -> Node {
    if name_key(key, "") == Some("name")
        && let (Some(base), Some(own)) = (old.expanded(key), new.expanded(key))
    {
        return Node::new(new.origin, Data::Table(algorithm(key, old, &base, own)));
    }
    match (new.data, old.expanded(key)) {
        (Data::Table(own), Some(base)) if key == "tcp" => {
            Node::new(new.origin, Data::Table(laid(key, &base, &own)))
        }
        // Another congestion control has none of the parameters of this one.
        (Data::Table(own), Some(base))
            if key == "congestion"
                && own.text("name").is_some_and(|name| base.text("name") != Some(name)) =>
        {
            Node::new(new.origin, Data::Table(own))
        }
        (Data::Table(own), Some(base)) => Node::new(new.origin, Data::Table(base.overlaid(own, &merged))),
        (data, _) => Node::new(new.origin, data),
    }
}

/// The algorithm `own` in place of that in `old`, whose table is `base`; both are at the key `at`. Without a name, it is
/// the same algorithm.
fn algorithm(at: &str, old: &Node, base: &Table, mut own: Table) -> Table {
    if let (None, Some(name)) = (own.get("name"), base.get("name")) {
        own.insert("name", name.clone());
    }
    if own.text("name") != base.text("name") || own.get("preset").is_some() {
        return kept(Some(old), own);
    }
    laid(at, base, &own)
}

/// The table `own` over `base`, both at the key `at`, which keeps what `own` does not set by whatever name.
fn laid(at: &str, base: &Table, own: &Table) -> Table {
    let mut whole = base.clone();
    for (key, node) in own.iter() {
        let node = base.get(key).map_or_else(|| node.clone(), |old| merged(key, old, node.clone()));
        forget_synonyms(&mut whole, at, key);
        whole.insert(key, node);
    }
    whole
}

/// The entries of a list: those with the name of an earlier one are merged into it, the others follow.
fn entries(list: &str, old: &Node, new: Node) -> Node {
    let (Data::List(base), Data::List(own)) = (&old.data, &new.data) else { return new };
    let ends = list == "link";
    let places: HashMap<String, usize> =
        labels(base, ends).into_iter().enumerate().map(|(place, label)| (label, place)).collect();
    let mut whole = base.clone();
    for (label, entry) in labels(own, ends).into_iter().zip(own.iter().cloned()) {
        // A number is the place of an entry without a name.
        let numbered = label.bytes().all(|c| c.is_ascii_digit());
        match places.get(&label).filter(|_| !numbered) {
            Some(&place) => whole[place] = merged(list, &base[place], entry),
            None => whole.push(entry),
        }
    }
    Node::new(new.origin, Data::List(whole))
}

/// What a study varies: the values of a parameter are one, even if they are a table.
fn swept(key: &str, old: &Node, new: Node) -> Node {
    match (new.data, old.table()) {
        (Data::Table(own), Some(base)) if [SWEEP, VARY].contains(&key) => {
            Node::new(new.origin, Data::Table(base.clone().overlaid(own, &swept)))
        }
        (data, _) => Node::new(new.origin, data),
    }
}

/// A value that differs between two scenarios.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Its dotted path.
    pub path: String,
    /// The old value; `None` if there was none.
    pub old: Option<String>,
    /// The new value; `None` if there is none.
    pub new: Option<String>,
}

/// The values of `whole` that differ from those of `base`, in its order, and those that only `base` has.
pub(super) fn changes(base: &Table, whole: &Table) -> Vec<Change> {
    let (old, new) = (values(base), values(whole));
    let before: HashMap<_, _> = old.iter().map(|(path, shown)| (path, shown)).collect();
    let now: HashMap<_, _> = new.iter().map(|(path, shown)| (path, shown)).collect();
    let differ =
        new.iter().filter(|(path, shown)| before.get(path) != Some(&shown)).map(|(path, shown)| Change {
            path: path.clone(),
            old: before.get(path).map(|&shown| shown.clone()),
            new: Some(shown.clone()),
        });
    let gone = old.iter().filter(|(path, _)| !now.contains_key(path)).map(|(path, shown)| Change {
        path: path.clone(),
        old: Some(shown.clone()),
        new: None,
    });
    differ.chain(gone).collect()
}

/// The values of a file with their paths.
fn values(root: &Table) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (key, node) in root.iter() {
        if !LISTS.contains(&key) || node.entries().is_empty() {
            collect(key, key, node, &mut found);
            continue;
        }
        for (label, entry) in labels(node.entries(), key == "link").iter().zip(node.entries()) {
            collect(&below(key, label), label, entry, &mut found);
        }
    }
    found
}

/// Adds the values of `node`, which is at `key` in a table and at `path` in the file.
fn collect(path: &str, key: &str, node: &Node, found: &mut Vec<(String, String)>) {
    match node.expanded(key).filter(|table| table.iter().next().is_some()) {
        Some(table) => {
            table.iter().for_each(|(key, inside)| collect(&below(path, key), key, inside, found));
        }
        None => found.push((path.to_owned(), node.value().to_string())),
    }
}
