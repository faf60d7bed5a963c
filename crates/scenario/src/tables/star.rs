//! A node with others around it: an access point and its stations, a base station and its users, a head end and its
//! modems.

use crate::keys::{below, is_name};
use crate::reader::Reader;
use std::collections::HashSet;

/// Most nodes around another, to which a queue each belongs.
const MOST: usize = 1000;

/// A node and those around it.
pub(super) struct Star<'a> {
    /// The key of the node in the middle, its words in messages, and its name.
    pub(super) middle: (&'static str, &'static str, &'a str),
    /// The key of the others, their word, that for one of them, and their names.
    pub(super) others: (&'static str, [&'static str; 2], &'a [String]),
}

/// The value of a node in a list that has one for all or one for each.
pub(crate) fn of<T: Copy>(values: &[T], node: usize) -> Option<T> {
    if let [value] = values { Some(*value) } else { values.get(node).copied() }
}

impl Reader<'_> {
    /// Checks the names of the nodes of a star.
    pub(super) fn star(&mut self, star: &Star<'_>, path: &str) {
        let (hub_key, hub_words, hub) = star.middle;
        let (key, [several, one], names) = star.others;
        let [at_hub, at] = [hub_key, key].map(|key| below(path, key));
        if hub.is_empty() && self.fine(&[&at_hub]) {
            self.refuse(&at_hub, None, "missing: must be the name of a node");
        }
        if names.is_empty() && self.fine(&[&at]) {
            self.refuse(&at, None, format!("missing: must be the names of the nodes that are {several}"));
        }
        if names.len() > MOST {
            self.refuse(&at, None, format!("{} {several}, at most {MOST}", names.len()));
        }
        let mut seen = HashSet::from([hub]);
        for (path, name) in [(&at_hub, hub)].into_iter().chain(names.iter().map(|name| (&at, &**name))) {
            let found = || Some(format!("{name:?}"));
            if !name.is_empty() && !is_name(name) && self.fine(&[path]) {
                self.refuse(path, found(), "must be made of letters, digits, \"-\" and \"_\"");
            } else if *path == at && !seen.insert(name) && self.fine(&[path]) {
                let message = format!("must be another node than the {hub_words} and each other {one}");
                self.refuse(path, found(), message);
            }
        }
    }

    /// Checks that a list at `path` has one value for all nodes around another or one for each.
    pub(super) fn for_each(&mut self, path: &str, values: usize, star: &Star<'_>) {
        let (_, [several, _], names) = star.others;
        if values == 1 || values == names.len() || names.is_empty() || !self.fine(&[path]) {
            return;
        }
        let counts = format!("{values} values, but {} {several}: ", names.len());
        let cure = "give one for all or one for each";
        let message = match names.get(values) {
            Some(name) => format!("{counts}{name} has none; {cure}"),
            None => format!("{counts}{cure}"),
        };
        self.refuse(path, None, message);
    }
}
