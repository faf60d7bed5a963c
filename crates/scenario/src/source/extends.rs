//! Reading a file that extends others: the extended file is read first, and the keys of the file are laid over it.

use crate::keys::EXTENDS;
use crate::source::document::{Document, LONGEST, too_long};
use crate::source::error::{NEAR, Origin, Problem, Problems, nearest};
use crate::source::file::{self, Unread};
use crate::source::overlay::{Change, changes, over};
use crate::source::tree::{Node, Table};
use aqm::params::Value;
use std::collections::BTreeMap;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

/// Most files of which each extends the next.
const MOST_FILES: usize = 8;

/// What a file extends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extension {
    /// The extended file, the file that this one extends, and so on.
    pub files: Vec<String>,
    /// How the scenario differs from that of the first of these files.
    pub changes: Vec<Change>,
}

/// The scenarios that a file or a text may extend by their names.
#[derive(Clone, Default, Debug)]
pub struct Library {
    files: BTreeMap<String, PathBuf>,
    /// The files that are in memory, where no file system has them.
    texts: BTreeMap<PathBuf, Arc<str>>,
}

impl Library {
    /// The scenarios in these files, by name.
    #[must_use]
    pub const fn new(files: BTreeMap<String, PathBuf>) -> Self {
        Self { files, texts: BTreeMap::new() }
    }

    /// The scenarios that these texts are, by name; one with a slash in its name is in a folder.
    #[must_use]
    pub fn in_memory(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut library = Self::default();
        for (name, text) in texts {
            let path = PathBuf::from(format!("{name}.toml"));
            library.texts.insert(path.clone(), text.into());
            library.files.insert(name, path);
        }
        library
    }

    /// Reads the scenario of this name, and the files that it extends.
    ///
    /// # Errors
    /// As [`Library::load`], and if there is none of this name.
    pub fn load_by_name(&self, name: &str) -> Result<Document, Problems> {
        let found = self.files.get(name).ok_or_else(|| Problem::of_file(name, self.unknown(name)))?;
        self.load(found)
    }

    /// Reads a file, and the files that it extends.
    ///
    /// # Errors
    /// If one of them cannot be read or is not TOML, or if the file extends itself.
    pub fn load(&self, path: &Path) -> Result<Document, Problems> {
        let name = path.display().to_string();
        let text = self.text(path).map_err(|problem| Problem::of_file(&name, problem))?;
        self.whole(path, &text, &[])
    }

    /// Reads a text, which messages call `name`, and the scenario of the library that it extends.
    ///
    /// # Errors
    /// If it is not TOML, too long, or extends a file, for which a text has no folder.
    pub fn parse(&self, text: &str, name: &str) -> Result<Document, Problems> {
        let document = Document::written(text, name)?;
        self.extended(document, &[])
    }

    /// The tables of a program, which messages call `name`, over the scenario of the library that they extend.
    ///
    /// # Errors
    /// If they extend a scenario that the library lacks.
    pub fn of(&self, tables: Vec<(String, Value)>, name: &str) -> Result<Document, Problems> {
        let name: Arc<str> = name.into();
        let root = Table::of(tables, &Origin::File(name.clone()));
        self.extended(Document { name, folder: None, root, extended: None }, &[])
    }

    /// The text of the file at `path` with what it extends; each of the files `above` extends the next, and the last one
    /// extends this.
    fn whole(&self, path: &Path, text: &str, above: &[PathBuf]) -> Result<Document, Problems> {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let name = path.display().to_string();
        let document = Document { folder: Some(folder), ..Document::written(text, &name)? };
        self.extended(document, &[above, &[path.to_owned()]].concat())
    }

    /// The document with what it extends; `files` are it and those above it, none if it is a text.
    fn extended(&self, mut document: Document, files: &[PathBuf]) -> Result<Document, Problems> {
        let Some(node) = document.root.get(EXTENDS).cloned() else { return Ok(document) };
        document.root.remove(EXTENDS);
        let base = node.text().filter(|base| !base.trim().is_empty()).ok_or_else(|| {
            let message = "must be the name of a shipped scenario, or the path of a scenario file from the folder of \
                           this file: \"base.toml\"";
            refused(&node, message)
        })?;
        let base = self.file(base, document.folder.as_deref()).map_err(|problem| refused(&node, &problem))?;
        let text = self.base_text(&base, files).map_err(|problem| refused(&node, &problem))?;
        let extended = self.whole(&base, &text, files)?;
        document.root = over(extended.root.clone(), document.root);
        document.extended = Some(Arc::new(extended));
        Ok(document)
    }

    /// The file that a file in `folder`, or a text, extends as `base`: a file there, or else a scenario of the library.
    fn file(&self, base: &str, folder: Option<&Path>) -> Result<PathBuf, String> {
        let path = folder.map(|folder| folder.join(base));
        let name = base.strip_suffix(".toml").unwrap_or(base);
        let path = match (path, self.files.get(name)) {
            (Some(path), _) if self.texts.contains_key(&path) || path.is_file() => return Ok(path),
            (_, Some(shipped)) => return Ok(shipped.clone()),
            // What cannot even be looked at is there: reading it says why.
            (Some(path), None) if !matches!(path.try_exists(), Ok(false)) => return Ok(path),
            (path, None) => path,
        };
        let unknown = self.unknown(name);
        Err(path.map_or_else(
            || format!("{unknown}, and a text extends no file: save it as a file, from whose folder a path starts"),
            |path| {
                let at = path::absolute(&path).unwrap_or(path);
                format!(
                    "{}: no such file, and {unknown}; the path starts in the folder of this file",
                    at.display()
                )
            },
        ))
    }

    fn unknown(&self, name: &str) -> String {
        let near = nearest(name, NEAR, self.files.keys().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!(" ({near})"));
        format!("no shipped scenario has this name{near}")
    }

    /// The text of the file at `base`, which the last of `files` extends.
    fn base_text(&self, base: &Path, files: &[PathBuf]) -> Result<String, String> {
        let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let at = whole(&base.to_owned());
        if let Some(first) = files.iter().position(|file| whole(file) == at) {
            let circle = files[first..].iter().chain([&files[first]]).map(|file| file.display().to_string());
            let circle = circle.collect::<Vec<_>>().join(" extends ");
            return Err(format!("a circle, {circle}: extend a file that does not extend this one"));
        }
        if files.len() == MOST_FILES {
            return Err(format!(
                "more than {MOST_FILES} files, each extending the next: extend an earlier one"
            ));
        }
        self.text(base).map_err(|problem| {
            let at = path::absolute(base).unwrap_or(at);
            format!("{}: {problem}; the path starts in the folder of this file", at.display())
        })
    }

    /// The text of the file at `path`.
    fn text(&self, path: &Path) -> Result<String, String> {
        if let Some(text) = self.texts.get(path) {
            return Ok(text.to_string());
        }
        let bytes = file::read(path, LONGEST).map_err(|unread| match unread {
            Unread::Missing => "no such file".to_owned(),
            Unread::TooLong => too_long(),
            Unread::Other(problem) => problem,
        })?;
        String::from_utf8(bytes).map_err(|_| "not UTF-8 text: save it as UTF-8".to_owned())
    }
}

impl Document {
    /// Reads a file, and the files that it extends by their paths.
    ///
    /// # Errors
    /// As [`Library::load`].
    pub fn load(path: &Path) -> Result<Self, Problems> {
        Library::default().load(path)
    }

    /// Reads a text, which messages call `name`.
    ///
    /// # Errors
    /// As [`Library::parse`], of a library without scenarios.
    pub fn parse(text: &str, name: &str) -> Result<Self, Problems> {
        Library::default().parse(text, name)
    }

    /// What the file extends, if it does.
    #[must_use]
    pub fn extension(&self) -> Option<Extension> {
        let extended = self.extended.as_deref()?;
        let files = extended.files().map(|document| document.name.to_string()).collect();
        Some(Extension { files, changes: changes(&extended.root, &self.root) })
    }
}

/// Refuses a file to be extended.
fn refused(node: &Node, message: &str) -> Problem {
    Problem::of_value(node.origin.clone(), EXTENDS, node.shown(), message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library() -> Library {
        let base = "duration = \"9 s\"\n[[traffic]]\nname = \"a\"\n[dumbbell]\nrate = \"1 Mbit/s\"";
        Library::in_memory(
            [("lab/_base", base), ("lab/fast", "extends = \"_base.toml\"\ndumbbell.rate = \"2 Mbit/s\"")]
                .map(|(name, text)| (name.to_owned(), text.to_owned())),
        )
    }

    fn rate(document: &Document) -> f64 {
        document.check().expect("it is whole").links[0].rate.bits()
    }

    #[test]
    fn texts_in_memory_extend_each_other_as_files_do() {
        let fast = library().load_by_name("lab/fast").expect("it is there");
        assert!((rate(&fast) - 2e6).abs() < 1.0);
        assert_eq!(fast.extension().expect("it extends").files, ["lab/_base.toml"]);
        let text = "extends = \"lab/fast\"\ndumbbell.rate = \"3 Mbit/s\"";
        assert!((rate(&library().parse(text, "mine").expect("it is whole")) - 3e6).abs() < 1.0);
    }

    #[test]
    fn a_name_that_no_text_has_is_refused_with_the_nearest_one() {
        let refused = library().load_by_name("lab/fats").unwrap_err().to_string();
        assert_eq!(refused, "lab/fats: no shipped scenario has this name (did you mean \"lab/fast\"?)");
    }
}
