//! The rooms of the crate, each of which uses only those before it.

use std::fs;
use std::path::{Path, PathBuf};

/// As `lib.rs` lists them.
const ROOMS: [&str; 11] = [
    "engine",
    "tcp",
    "tfrc",
    "stack",
    "packet",
    "measure",
    "network",
    "traffic",
    "flows",
    "simulation",
    "memory",
];

fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The words and punctuation of a source, without comments; `::` is one of them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let mut rest = line.split("//").next().unwrap();
        while let Some(first) = rest.chars().next() {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let length = match word {
                0 if rest.starts_with("::") => 2,
                0 => first.len_utf8(),
                word => word,
            };
            let (token, after) = rest.split_at(length);
            if !token.trim().is_empty() {
                tokens.push(token);
            }
            rest = after;
        }
    }
    tokens
}

/// Reads the paths of a module's source.
struct Reader<'a> {
    tokens: Vec<&'a str>,
    next: usize,
    /// The first names of all paths that begin with `crate` or `super`: the rooms.
    used: Vec<String>,
}

impl<'a> Reader<'a> {
    /// The rooms that the source `text` of the module `inside` uses by paths from `crate` or `super`.
    fn used(text: &'a str, inside: &[&'a str]) -> Vec<String> {
        let mut reader = Self { tokens: tokens(text), next: 0, used: Vec::new() };
        reader.block(inside);
        assert!(reader.next > reader.tokens.len(), "{inside:?}: a brace in a literal has no partner");
        reader.used
    }

    fn take(&mut self) -> Option<&'a str> {
        self.next += 1;
        self.tokens.get(self.next - 1).copied()
    }

    fn starts_with(&self, tokens: &[&str]) -> bool {
        self.tokens[self.next.min(self.tokens.len())..].starts_with(tokens)
    }

    /// Reads up to the brace that closes the block, which is in the module `inside`.
    fn block(&mut self, inside: &[&'a str]) {
        let mut module = None;
        while let Some(token) = self.take() {
            match token {
                "mod" => module = self.tokens.get(self.next).copied(),
                ";" => module = None,
                "{" => {
                    let inner: Vec<&str> = inside.iter().copied().chain(module.take()).collect();
                    self.block(&inner);
                }
                "}" => return,
                "crate" if self.starts_with(&["::"]) => self.path(&[]),
                "super" if self.starts_with(&["::"]) => self.path(&inside[..inside.len() - 1]),
                _ => {}
            }
        }
    }

    /// Reads what follows the path `from`: `::`, perhaps `super::` several times, and a name or several in braces.
    fn path(&mut self, mut from: &[&'a str]) {
        self.next += 1;
        while self.starts_with(&["super", "::"]) {
            from = &from[..from.len() - 1];
            self.next += 2;
        }
        if let Some(room) = from.first() {
            return self.used.push((*room).to_owned());
        }
        let mut depth = 0;
        let mut first = true;
        while let Some(token) = self.take() {
            match token {
                "{" => depth += 1,
                "}" => depth -= 1,
                "," => first = depth == 1,
                name if first => {
                    self.used.push(name.to_owned());
                    first = false;
                }
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}

#[test]
fn paths_from_crate_and_from_super_are_seen() {
    let used = |text, inside: &[&'static str]| Reader::used(text, inside);
    let sender = ["tcp", "rack", "sender"];
    assert_eq!(used("use crate::flows::flow::Flow;", &sender), ["flows"]);
    assert_eq!(used("use super::super::super::flows::Flow;", &sender), ["flows"]);
    assert_eq!(used("let x: super::super::Ack = y;", &sender), ["tcp"]);
    assert_eq!(used("use super::flows;", &["packet"]), ["flows"]);
    assert_eq!(used("mod tests { use super::*; } use super::flows;", &["packet"]), ["packet", "flows"]);
    assert_eq!(used("use crate::{engine::{clock, rng}, flows::Flow,};", &sender), ["engine", "flows"]);
    assert_eq!(used("// use crate::flows;\npub(super) const X: u8 = 0;", &sender), [""; 0]);
}

#[test]
fn a_room_uses_only_the_rooms_before_it() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut found = 0;
    for file in files(&sources) {
        let inside = file.strip_prefix(&sources).unwrap().with_extension("");
        let path: Vec<&str> = inside.iter().map(|name| name.to_str().unwrap()).collect();
        if path == ["lib"] {
            continue;
        }
        let room = path[0];
        let place = ROOMS.iter().position(|&known| known == room);
        let place = place.unwrap_or_else(|| panic!("{room} is not among the rooms"));
        for used in Reader::used(&fs::read_to_string(&file).unwrap(), &path) {
            found += 1;
            match ROOMS.iter().position(|&known| known == used) {
                Some(other) if other <= place => {}
                _ => wrong.push(format!("{}: {used}", inside.display())),
            }
        }
    }
    assert!(found > 250, "{found} uses");
    assert_eq!(wrong, Vec::<String>::new());
}
