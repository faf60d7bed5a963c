//! Problems of a scenario, and where they are.

use crate::keys::DEEPEST;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Where a value comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// A file as a whole.
    File(Arc<str>),
    /// A line of a file, counted from 1.
    Line(Arc<str>, usize),
    /// `--set`, with its argument.
    Set(Arc<str>),
    /// `--aqm`, with its argument.
    Aqm(Arc<str>),
}

impl Origin {
    /// Problems are listed by file, in the order of its lines; those of the command line and of a whole file come last.
    fn order(&self) -> (bool, &str, usize) {
        match self {
            Self::Line(name, line) => (false, name, *line),
            _ => (true, "", 0),
        }
    }
}

impl Origin {
    /// The file, if the value is from one.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::File(name) | Self::Line(name, _) => Some(name),
            Self::Set(_) | Self::Aqm(_) => None,
        }
    }

    /// The line of the file, counted from 1.
    #[must_use]
    pub const fn line(&self) -> Option<usize> {
        match self {
            Self::Line(_, line) => Some(*line),
            _ => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name) => f.write_str(name),
            Self::Line(name, line) => write!(f, "{name}:{line}"),
            Self::Set(text) => write!(f, "--set {}", shortened(text)),
            Self::Aqm(text) => write!(f, "--aqm {}", shortened(text)),
        }
    }
}

/// Most characters of a user's text that a message repeats.
const REPEATED: usize = 200;

/// A text, cut if it is long.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(REPEATED) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The kind of a problem, for programs; its message is for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProblemKind {
    /// A file cannot be read, or is not TOML.
    File,
    /// No value can exist at a path.
    Path,
    /// A value is not allowed, does not fit with others, or is missing.
    Value,
    /// Stands for problems that are not listed.
    Unlisted,
}

impl ProblemKind {
    /// The word for the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Path => "path",
            Self::Value => "value",
            Self::Unlisted => "unlisted",
        }
    }
}

/// One problem: `x.toml:14: aqm.beta = -1: must be in (0, 10], per packet`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Problem {
    /// Its kind.
    pub kind: ProblemKind,
    /// Where the value was written.
    pub origin: Origin,
    /// The value's dotted path; empty for the whole file.
    pub path: String,
    /// The value found, if the problem is about a value.
    pub found: Option<String>,
    /// The reason, and the allowed values.
    pub message: String,
}

impl Problem {
    /// A problem of the file called `name` as a whole.
    pub(crate) fn of_file(name: &str, message: String) -> Self {
        Self {
            kind: ProblemKind::File,
            origin: Origin::File(name.into()),
            path: String::new(),
            found: None,
            message,
        }
    }

    /// A path at which no value can exist.
    pub(crate) fn of_path(origin: Origin, path: &str, message: String) -> Self {
        Self { kind: ProblemKind::Path, origin, path: path.to_owned(), found: None, message }
    }

    /// A value that is not allowed.
    #[must_use]
    pub fn of_value(origin: Origin, path: &str, found: Option<String>, message: String) -> Self {
        Self { kind: ProblemKind::Value, origin, path: path.to_owned(), found, message }
    }

    /// The problem without its place.
    #[must_use]
    pub fn text(&self) -> String {
        match (&*self.path, &self.found) {
            ("", _) => self.message.clone(),
            (path, Some(found)) => format!("{} = {}: {}", shortened(path), shortened(found), self.message),
            (path, None) => format!("{}: {}", shortened(path), self.message),
        }
    }

    /// Refuses a value that is nested in more tables and lists than [`DEEPEST`].
    #[must_use]
    pub fn too_deep(origin: Origin, path: &str) -> Self {
        let message = format!("nested too deep: must lie in {DEEPEST} tables and lists at most");
        Self::of_path(origin, path, message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.text())
    }
}

/// Most problems that are listed.
pub(crate) const MOST_PROBLEMS: usize = 100;

impl Problem {
    /// Stands for `more` problems that are not listed.
    pub(crate) fn unlisted(origin: Origin, more: usize) -> Self {
        Self {
            kind: ProblemKind::Unlisted,
            origin,
            path: String::new(),
            found: None,
            message: format!("and {more} more problems"),
        }
    }
}

/// All problems, in the order of the files; at least one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    pub(crate) fn sorted(mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|a, b| a.origin.order().cmp(&b.origin.order()));
        Self(problems)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if i == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

/// Most names that are listed when none is near; a large network has thousands.
const LISTED: usize = 40;

/// Suggests the nearest of the known names in place of `found`, or lists all of them.
pub(crate) fn instead<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    if known.is_empty() {
        return "there is none".to_owned();
    }
    nearest(found, NEAR, known.iter().copied()).unwrap_or_else(|| {
        let more = if known.len() > LISTED { ", …" } else { "" };
        format!("known: {}{more}", known[..known.len().min(LISTED)].join(", "))
    })
}

/// Of this many letters of a name, one may be wrong.
pub(crate) const NEAR: usize = 3;

/// Of this many letters of a name, one may be wrong in one that is very near; of a shorter one that is near, one.
pub(crate) const VERY_NEAR: usize = 6;

/// Suggests the nearest of the known names in place of `found`, if one is as near as `share` says.
pub(crate) fn nearest<'a>(
    found: &str,
    share: usize,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let (lower, length) = (found.to_lowercase(), found.chars().count());
    let most = (length / NEAR).min((length / share).max(1));
    // A name is no nearer than the lengths are; a value may have millions of characters.
    let near = known.into_iter().filter(|name| name.chars().count().abs_diff(length) <= most);
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let (distance, name) = near.map(|name| (distance(name), name)).min_by_key(|(distance, _)| *distance)?;
    (distance <= most).then(|| format!("did you mean {name:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_else_all_are_listed() {
        let known = ["rate", "delay", "buffer"];
        assert_eq!(instead("buffr", known), "did you mean \"buffer\"?");
        assert_eq!(instead("Rate", known), "did you mean \"rate\"?");
        assert_eq!(instead("colour", known), "known: rate, delay, buffer");
        assert_eq!(instead("x", ["y", "z"]), "known: y, z", "all short names are near each other");
        assert_eq!(instead("colour", []), "there is none");
    }

    #[test]
    fn problems_come_in_the_order_of_the_file_and_the_command_line_last() {
        let problem = |origin| Problem::of_value(origin, "", None, "no".into());
        let problems = Problems::sorted(vec![
            problem(Origin::Set("a=1".into())),
            problem(Origin::Line("x".into(), 7)),
            problem(Origin::Line("x".into(), 2)),
        ]);
        assert_eq!(problems.to_string(), "x:2: no\nx:7: no\n--set a=1: no");
    }
}
