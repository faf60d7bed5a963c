//! The tokens of the sources of a crate, without documentation and tests.

use crate::{Hash, read};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::fs;
use std::path::{Path, PathBuf};

/// The items that are omitted after `#[cfg(test)]`, up to their block or semicolon. Everything else counts.
const ITEMS: &[&str] = &["mod", "fn", "impl", "use", "const"];

/// Adds the crate whose sources are in `folder`: every file except those of test modules. Since macros declare modules
/// too, a file counts unless it is declared as a test.
pub(crate) fn add(hash: &mut Hash, folder: &Path) {
    let files = files(folder);
    let sources: Vec<Source<'_>> = files.iter().map(|file| Source::read(file)).collect();
    let tests: Vec<&PathBuf> = sources.iter().flat_map(|source| &source.tests).collect();
    let both = sources.iter().flat_map(|source| &source.modules).find(|module| tests.contains(module));
    assert!(both.is_none(), "{} is declared with cfg(test) and without", both.unwrap().display());
    // The module's own file, and all files in its folder.
    let is_test =
        |file: &Path| tests.iter().any(|test| file == test.with_extension("rs") || file.starts_with(test));
    for source in sources.iter().filter(|source| !is_test(source.file)) {
        assert!(source.outside.is_empty(), "{}", source.outside.join("; "));
        source.pieces.iter().for_each(|piece| hash.add(piece.as_bytes()));
        hash.add(b"");
    }
}

/// Every file below `folder`, in the same order everywhere.
fn files(folder: &Path) -> Vec<PathBuf> {
    let is_hidden =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry of a folder").path()).collect();
    paths.retain(|path| !is_hidden(path));
    paths.sort();
    let each = paths.into_iter().map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    each.flatten().collect()
}

struct Source<'a> {
    file: &'a Path,
    pieces: Vec<String>,
    /// The modules that are compiled for tests only, as paths without an extension.
    tests: Vec<PathBuf>,
    /// All other modules that are declared with a semicolon.
    modules: Vec<PathBuf>,
    /// Files of other folders, which a module that counts must not include.
    outside: Vec<String>,
}

impl<'a> Source<'a> {
    const fn new(file: &'a Path) -> Self {
        Self { file, pieces: Vec::new(), tests: Vec::new(), modules: Vec::new(), outside: Vec::new() }
    }

    fn read(file: &'a Path) -> Self {
        let mut source = Self::new(file);
        if file.extension().is_some_and(|end| end == "rs") {
            let parsed: Result<TokenStream, _> = read(file).parse();
            source.add(parsed.unwrap_or_else(|error| panic!("{}: {error}", file.display())), true);
        } else {
            source.pieces.push(read(file)); // data that a source includes
        }
        source
    }

    /// The folder of the module's submodules.
    fn folder(&self) -> PathBuf {
        let is_root = ["lib.rs", "mod.rs"].iter().any(|name| self.file.ends_with(name));
        if is_root { self.file.with_file_name("") } else { self.file.with_extension("") }
    }

    /// Adds tokens of the file itself, or of a group in it.
    fn add(&mut self, tokens: TokenStream, is_top: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &tokens[..];
        while let Some(first) = rest.first() {
            if let Some((attribute, after)) = attribute(rest) {
                let text = attribute.stream().to_string();
                let is_path =
                    text.starts_with("path ") || text.starts_with("cfg_attr") && text.contains("path =");
                assert!(!is_path, "{}: #[{text}] is not followed", self.file.display());
                if text.starts_with("doc ") {
                    rest = after;
                    continue;
                }
                if text.replace(' ', "") == "cfg(test)"
                    && let Some((item, after)) = item(after)
                    && (is_top || declared(item).is_none())
                {
                    self.tests.extend(declared(item).map(|name| self.folder().join(name)));
                    rest = after;
                    continue;
                }
            }
            if is_top && let [word, name, end, ..] = rest {
                let name = declared(&[word.clone(), name.clone(), end.clone()]);
                self.modules.extend(name.map(|name| self.folder().join(name)));
            }
            self.check_include(rest);
            self.add_tree(first);
            rest = &rest[1..];
        }
    }

    fn add_tree(&mut self, tree: &TokenTree) {
        match tree {
            TokenTree::Group(group) => {
                let [open, close] = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::None => ["", ""],
                };
                self.pieces.push(open.to_owned());
                self.add(group.stream(), false);
                self.pieces.push(close.to_owned());
            }
            leaf => self.pieces.push(leaf.to_string()),
        }
    }

    /// Records files that are included from another folder: only the files of `src` count.
    fn check_include(&mut self, rest: &[TokenTree]) {
        let [TokenTree::Ident(word), TokenTree::Punct(mark), TokenTree::Group(arguments), ..] = rest else {
            return;
        };
        if mark.as_char() == '!' && word.to_string().starts_with("include") {
            let argument = arguments.stream().to_string();
            let leaves = ["../", "env", "OUT_DIR", "\"/"].iter().any(|part| argument.contains(part));
            if word == "include" || leaves {
                self.outside.push(format!("{}: {word}!({argument}) is not followed", self.file.display()));
            }
        }
    }
}

/// The brackets of the attribute that `tokens` begin with, and what follows it: `#[inline] fn`, `#![no_std]`.
fn attribute(tokens: &[TokenTree]) -> Option<(&Group, &[TokenTree])> {
    let is = |tree: Option<&TokenTree>, c| matches!(tree, Some(TokenTree::Punct(p)) if p.as_char() == c);
    let inner = usize::from(is(tokens.get(1), '!'));
    match tokens.get(1 + inner) {
        Some(TokenTree::Group(group))
            if is(tokens.first(), '#') && group.delimiter() == Delimiter::Bracket =>
        {
            Some((group, &tokens[2 + inner..]))
        }
        _ => None,
    }
}

/// The name in `mod name;`, at the end of an item.
fn declared(item: &[TokenTree]) -> Option<String> {
    match item {
        [.., TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end)]
            if word == "mod" && end.as_char() == ';' =>
        {
            Some(name.to_string())
        }
        _ => None,
    }
}

/// The item that `tokens` begin with, if it is one of [`ITEMS`], and what follows it.
fn item(mut tokens: &[TokenTree]) -> Option<(&[TokenTree], &[TokenTree])> {
    while let Some((_, after)) = attribute(tokens) {
        tokens = after;
    }
    let word = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(word)) => word.to_string(),
        _ => String::new(),
    };
    // `pub`, `pub(crate)`
    let is_group = matches!(tokens.get(1), Some(TokenTree::Group(_)));
    let first = if word(0) == "pub" { 1 + usize::from(is_group) } else { 0 };
    let keyword = word(first);
    if !ITEMS.contains(&keyword.as_str()) {
        return None;
    }
    // A block ends a function, `const` or not, but no constant and no import.
    let is_function = ["fn", "unsafe", "async", "extern"].contains(&word(first + 1).as_str());
    let block_ends = keyword != "use" && (keyword != "const" || is_function);
    let end = tokens.iter().position(|tree| match tree {
        TokenTree::Punct(punct) => punct.as_char() == ';',
        TokenTree::Group(group) => block_ends && group.delimiter() == Delimiter::Brace,
        _ => false,
    })?;
    Some(tokens.split_at(end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a source that count.
    fn pieces(source: &str) -> String {
        let mut hashed = Source::new(Path::new("lib.rs"));
        hashed.add(source.parse().unwrap(), true);
        hashed.pieces.join(" ")
    }

    #[test]
    fn documentation_comments_tests_and_white_space_do_not_count() {
        let plain = pieces("fn f(x: u32) -> u32 { x + 1 }");
        assert_eq!(plain, "fn f ( x : u32 ) - > u32 { x + 1 }");
        for same in [
            "//! A module.\n/// Adds.\nfn f(x: u32) -> u32 { /* why */ x + 1 }",
            "#![doc = \"A module.\"]\nfn f(\n    x: u32\n) -> u32 {\n    x + 1 // one more\n}",
            "fn f(x: u32) -> u32 { x + 1 } #[cfg(test)] mod tests { #[test] fn t() { assert_eq!(f(1), 2); } }",
            "#[cfg(test)] use a::{b, c}; fn f(x: u32) -> u32 { x + 1 } #[cfg(test)] #[allow(unused)] pub(crate) mod fixture;",
            "#[cfg(test)] const A: [u8; 2] = { [1, 2] }; fn f(x: u32) -> u32 { x + 1 }",
            "#[cfg(test)] pub const fn g() -> u32 { 1 } fn f(x: u32) -> u32 { x + 1 }",
            "#[cfg(test)] impl A { const B: u32 = 1; } fn f(x: u32) -> u32 { x + 1 }",
        ] {
            assert_eq!(pieces(same), plain, "{same}");
        }
    }

    #[test]
    fn everything_else_counts() {
        let plain = pieces("fn f(x: u32) -> u32 { x + 1 }");
        for other in [
            "fn f(x: u32) -> u32 { x + 2 }",
            "fn f(x: u32) -> u32 { x - 1 }",
            "fn f(y: u32) -> u32 { y + 1 }",
            "#[inline] fn f(x: u32) -> u32 { x + 1 }",
            "fn f(x: u32) -> u32 { x + 1 } #[cfg(unix)] fn g() {}",
            "#[cfg(not(test))] fn f(x: u32) -> u32 { x + 1 }",
            "params! { /// Doc.\n a: f64 = 1.0; } fn f(x: u32) -> u32 { x + 1 }",
        ] {
            assert_ne!(pieces(other), plain, "{other}");
        }
        assert_ne!(
            pieces("params! { /// A.\n a: f64 = 1.0; }"),
            pieces("params! { /// A.\n a: f64 = 2.0; }")
        );
        assert_eq!(
            pieces("params! { /// A.\n a: f64 = 1.0; }"),
            pieces("params! { /// B.\n a: f64 = 1.0; }")
        );
        // Code for tests within an expression is no item; it counts, and so does everything after it.
        assert_ne!(
            pieces("fn f() { #[cfg(test)] { g(); } const A: u32 = 1; }"),
            pieces("fn f() { #[cfg(test)] { g(); } }")
        );
        assert_ne!(pieces("#[cfg(test)] const fn g() {} fn f() {} use a::b;"), pieces("use a::b;"));
        assert_ne!(pieces("fn f() { #[cfg(test)] g(); }"), pieces("fn f() {}"));
    }
}
