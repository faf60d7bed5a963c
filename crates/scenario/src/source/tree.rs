//! The raw tree of a scenario: keys, values, and where each was written.

use crate::keys::{DEEPEST, below, is_name, name_key};
use crate::source::error::{MOST_PROBLEMS, Origin, Problem, ProblemKind, Problems};
use crate::source::mistaken;
use aqm::params::{Value, commas};
use aqm::user_defined;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use toml::de::{DeInteger, DeTable, DeValue};

/// A value of the file, and where it was written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub(crate) origin: Origin,
    pub(crate) data: Data,
}

/// The content of a node.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Data {
    /// One value, or a list of values.
    Value(Value),
    /// A table.
    Table(Table),
    /// A list that contains tables.
    List(Vec<Node>),
}

/// Keys with their nodes, in the order in which they were written.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Table(Vec<(String, Node)>);

impl Table {
    /// The values of a program's; of a key that is there twice, the last.
    pub(crate) fn of(entries: Vec<(String, Value)>, origin: &Origin) -> Self {
        let mut table = Self::default();
        entries.into_iter().for_each(|(key, value)| table.insert(&key, Node::of(value, origin)));
        table
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.0.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.0.iter().map(|(key, node)| (&**key, node))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Node)> {
        self.0.iter_mut().map(|(key, node)| (&**key, node))
    }

    /// Sets `key`, which keeps its position if it exists.
    pub(crate) fn insert(&mut self, key: &str, node: Node) {
        match self.get_mut(key) {
            Some(old) => *old = node,
            None => self.0.push((key.to_owned(), node)),
        }
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }

    /// The nodes of `own` over these; `merge` makes one of the old and the new node at a key that both have.
    pub(crate) fn overlaid(mut self, own: Self, merge: &dyn Fn(&str, &Node, Node) -> Node) -> Self {
        let places: HashMap<String, usize> =
            self.0.iter().enumerate().map(|(place, (key, _))| (key.clone(), place)).collect();
        for (key, node) in own.0 {
            match places.get(&key) {
                Some(&place) => self.0[place].1 = merge(&key, &self.0[place].1, node),
                None => self.0.push((key, node)),
            }
        }
        self
    }

    /// The text at `key`.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Node::text)
    }
}

impl Node {
    pub(crate) const fn new(origin: Origin, data: Data) -> Self {
        Self { origin, data }
    }

    /// A value of a program's.
    pub(crate) fn of(value: Value, origin: &Origin) -> Self {
        let data = match value {
            Value::Table(entries) => Data::Table(Table::of(entries, origin)),
            Value::List(values) => list(values.into_iter().map(|value| Self::of(value, origin)).collect()),
            other => Data::Value(other),
        };
        Self::new(origin.clone(), data)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Value(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) const fn table(&self) -> Option<&Table> {
        match &self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(crate) const fn table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.data {
            Data::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Its table, which may be written as `NAME:KEY=VALUE,KEY=VALUE` where `key` takes this form.
    pub(crate) fn expanded(&self, key: &str) -> Option<Table> {
        let written = |text: &str| spec(text, name_key(key, text)?, key, &self.origin).ok()?;
        self.table().cloned().or_else(|| written(self.text()?))
    }

    /// The entries of a list of tables.
    pub(crate) fn entries(&self) -> &[Self] {
        match &self.data {
            Data::List(nodes) => nodes,
            _ => &[],
        }
    }

    pub(crate) fn entries_mut(&mut self) -> &mut [Self] {
        match &mut self.data {
            Data::List(nodes) => nodes,
            _ => &mut [],
        }
    }

    /// Its value; a table with the values in it.
    pub(crate) fn value(&self) -> Value {
        match &self.data {
            Data::Value(value) => value.clone(),
            Data::Table(table) => {
                Value::Table(table.iter().map(|(key, node)| (key.to_owned(), node.value())).collect())
            }
            Data::List(nodes) => Value::List(nodes.iter().map(Self::value).collect()),
        }
    }

    /// Its text in a message; a table has none.
    pub(crate) fn shown(&self) -> Option<String> {
        match &self.data {
            Data::Value(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// The number of nested tables and lists of its deepest value, within this node.
    pub(crate) fn depth(&self) -> usize {
        fn of(value: &Value) -> usize {
            match value {
                Value::List(values) => values.iter().map(|inside| 1 + of(inside)).max().unwrap_or(0),
                Value::Table(entries) => entries.iter().map(|(_, inside)| 1 + of(inside)).max().unwrap_or(0),
                _ => 0,
            }
        }
        match &self.data {
            Data::Value(value) => of(value),
            Data::Table(table) => table.iter().map(|(_, inside)| 1 + inside.depth()).max().unwrap_or(0),
            Data::List(nodes) => nodes.iter().map(|inside| 1 + inside.depth()).max().unwrap_or(0),
        }
    }

    /// Reads a value that is nested in `depth` tables and lists. The problem of one that is too deep has its place.
    fn from_toml(
        value: &DeValue<'_>,
        origin: Origin,
        depth: usize,
        at: &dyn Fn(usize) -> Origin,
    ) -> Result<Self, Problem> {
        if depth > DEEPEST {
            return Err(Problem::too_deep(origin, ""));
        }
        let data = match value {
            DeValue::String(text) => Data::Value(Value::Text(text.to_string())),
            DeValue::Integer(number) => Data::Value(finite(integer(number), number.as_str(), &origin)?),
            DeValue::Float(number) => {
                let value = Value::Float(number.as_str().parse().unwrap_or(f64::NAN));
                Data::Value(finite(value, number.as_str(), &origin)?)
            }
            DeValue::Boolean(switch) => Data::Value(Value::Bool(*switch)),
            DeValue::Datetime(date) => Data::Value(Value::Text(date.to_string())),
            DeValue::Table(table) => Data::Table(Table::from_toml(table, depth, at)?),
            DeValue::Array(items) => {
                let node = |item: &toml::Spanned<DeValue<'_>>| {
                    Self::from_toml(item.get_ref(), at(item.span().start), depth + 1, at)
                };
                list(items.iter().map(node).collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { origin, data })
    }

    fn to_toml(&self) -> toml::Value {
        match &self.data {
            Data::Value(value) => written(value),
            Data::Table(table) => toml::Value::Table(table.to_toml()),
            Data::List(nodes) => toml::Value::Array(nodes.iter().map(Self::to_toml).collect()),
        }
    }
}

impl Table {
    /// Reads a table that is nested in `depth` others.
    fn from_toml(table: &DeTable<'_>, depth: usize, at: &dyn Fn(usize) -> Origin) -> Result<Self, Problem> {
        let entry = |(key, value): (&toml::Spanned<toml::de::DeString<'_>>, &toml::Spanned<DeValue<'_>>)| {
            let node = Node::from_toml(value.get_ref(), at(key.span().start), depth + 1, at);
            let key = key.get_ref().to_string();
            match node {
                Ok(node) => Ok((key, node)),
                Err(problem) if problem.path.is_empty() => Err(Problem { path: key, ..problem }),
                Err(problem) => Err(Problem { path: below(&key, &problem.path), ..problem }),
            }
        };
        Ok(Self(table.iter().map(entry).collect::<Result<_, _>>()?))
    }

    pub(crate) fn to_toml(&self) -> toml::Table {
        self.iter().map(|(key, node)| (key.to_owned(), node.to_toml())).collect()
    }

    /// Reads a file's text.
    pub(crate) fn parse(text: &str, name: &Arc<str>) -> Result<Self, Problems> {
        let starts: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        let at = |offset| Origin::Line(name.clone(), starts.partition_point(|&start| start <= offset));
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return Self::from_toml(table.get_ref(), 0, &at).map_err(Problems::from);
        }
        if let Some(what) = mistaken::recognised(text) {
            let (kind, path) = (ProblemKind::File, String::new());
            let message = format!("not TOML but {what}");
            return Err(
                Problem { kind, origin: Origin::File(name.clone()), path, found: None, message }.into()
            );
        }
        // The parser has its own limit of depth, and does not locate dotted keys.
        let dotted = || text.lines().position(|line| most_dots(line) >= DEEPEST);
        let problem = |error: toml::de::Error| {
            let deep = is_too_deep(&error);
            let start =
                error.span().map(|span| span.start).or_else(|| Some(starts[dotted().filter(|_| deep)?]));
            let origin = start.map_or_else(|| Origin::File(name.clone()), at);
            if deep {
                return Problem::too_deep(origin, "");
            }
            let message = format!("not TOML: {}", error.message().replace('\n', ", "));
            Problem { kind: ProblemKind::File, origin, path: String::new(), found: None, message }
        };
        // One mistake causes several parser errors in the same line.
        let mut problems = Problems::sorted(errors.into_iter().map(problem).collect()).0;
        problems.dedup_by(|later, first| later.origin == first.origin);
        let more = problems.len().saturating_sub(MOST_PROBLEMS);
        problems.truncate(MOST_PROBLEMS);
        problems.extend((more > 0).then(|| Problem::unlisted(Origin::File(name.clone()), more)));
        Err(Problems(problems))
    }
}

/// Whether the parser stopped at its own limit of depth.
fn is_too_deep(error: &toml::de::Error) -> bool {
    error.message().contains("recurs")
}

/// The number of dots of a line's most dotted key.
fn most_dots(line: &str) -> usize {
    let (mut most, mut dots, mut quoted) = (0, 0, None);
    for c in line.chars() {
        match c {
            _ if quoted == Some(c) => quoted = None,
            _ if quoted.is_some() => {}
            '"' | '\'' => quoted = Some(c),
            '#' => break,
            '.' => dots += 1,
            '=' | ']' => most = most.max(std::mem::take(&mut dots)),
            '[' | '{' | ',' => dots = 0,
            _ => {}
        }
    }
    most
}

/// A list: of values if none of them is a table.
fn list(nodes: Vec<Node>) -> Data {
    let values: Option<Vec<Value>> = nodes
        .iter()
        .map(|node| match &node.data {
            Data::Value(value) => Some(value.clone()),
            _ => None,
        })
        .collect();
    values.map_or(Data::List(nodes), |values| Data::Value(Value::List(values)))
}

/// Refuses a number whose digits are beyond the greatest one, which would look like the `inf` that a file may have.
fn finite(value: Value, text: &str, origin: &Origin) -> Result<Value, Problem> {
    match value {
        Value::Float(number) if number.is_infinite() && !text.ends_with("inf") => {
            let message = "too large: the greatest number is 1.8e308".to_owned();
            Err(Problem::of_value(origin.clone(), "", Some(text.to_owned()), message))
        }
        _ => Ok(value),
    }
}

/// A whole number, or a floating-point number if it is too large.
fn integer(number: &DeInteger<'_>) -> Value {
    let (text, radix) = (number.as_str(), number.radix());
    i64::from_str_radix(text, radix).map_or_else(
        |_| {
            let digits = text.chars().filter_map(|digit| digit.to_digit(radix));
            let size = digits.fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit));
            Value::Float(if text.starts_with('-') { -size } else { size })
        },
        Value::Integer,
    )
}

/// A value as TOML.
fn written(value: &Value) -> toml::Value {
    match value {
        Value::Bool(switch) => toml::Value::Boolean(*switch),
        Value::Integer(number) => toml::Value::Integer(*number),
        Value::Float(number) => toml::Value::Float(*number),
        Value::Text(text) => toml::Value::String(text.clone()),
        Value::List(values) => toml::Value::Array(values.iter().map(written).collect()),
        Value::Table(entries) => {
            toml::Value::Table(entries.iter().map(|(key, value)| (key.clone(), written(value))).collect())
        }
    }
}

/// A text of the command line as a value: a TOML value if it is one, otherwise a string.
///
/// # Errors
/// If it is a value that is too deeply nested to be set at `path`.
pub(crate) fn unquoted(text: &str, path: &str, origin: &Origin) -> Result<Node, Problem> {
    let text = text.trim();
    let too_deep = || Problem::too_deep(origin.clone(), path);
    match DeValue::parse(text) {
        Ok(value) => {
            Node::from_toml(value.get_ref(), origin.clone(), path.split('.').count(), &|_| origin.clone())
                .map_err(|problem| match problem.found {
                    Some(_) => Problem { path: path.to_owned(), ..problem },
                    None => too_deep(),
                })
        }
        Err(error) if is_too_deep(&error) => Err(too_deep()),
        Err(_) => Ok(Node::new(origin.clone(), Data::Value(Value::Text(text.to_owned())))),
    }
}

/// `NAME` or `NAME:KEY=VALUE,KEY=VALUE` at `path` as a table with the name at `head`; `None` if it is not of this
/// form.
///
/// # Errors
/// If a value is too deeply nested.
pub(crate) fn spec(text: &str, head: &str, path: &str, origin: &Origin) -> Result<Option<Table>, Problem> {
    let mut table = Table::default();
    if head == "congestion" {
        table.insert(head, Node::new(origin.clone(), Data::Value(Value::Text(text.to_owned()))));
        return Ok(Some(table));
    }
    let reference = user_defined::split(text).filter(|_| head == "name");
    let (name, settings) = reference.or_else(|| text.split_once(':')).unwrap_or((text, ""));
    if name.trim().is_empty() {
        return Ok(None);
    }
    table.insert(head, Node::new(origin.clone(), Data::Value(Value::Text(name.trim().to_owned()))));
    for setting in commas(settings).into_iter().filter(|setting| !setting.trim().is_empty()) {
        let Some((key, value)) = setting.split_once('=') else { return Ok(None) };
        let key = key.trim();
        if key.is_empty() || table.get(key).is_some() {
            return Ok(None);
        }
        table.insert(key, unquoted(value, &below(path, key), origin)?);
    }
    Ok(Some(table))
}

/// The name of each entry of a list of tables in paths and results: its name, or its number from 1 if it has no valid
/// and unique name. With `ends`, an entry without a name is named after its ends.
pub(crate) fn labels(entries: &[Node], ends: bool) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |entry: &Node, key| entry.table()?.text(key).filter(|name| is_name(name)).map(str::to_owned);
    let label = |(i, entry): (usize, &Node)| {
        let number = (i + 1).to_string();
        let both =
            || ends.then(|| Some(format!("{}-{}", name(entry, "from")?, name(entry, "to")?))).flatten();
        // A number as a name could be mistaken for another entry's number.
        let own = name(entry, "name").filter(|name| !name.bytes().all(|c| c.is_ascii_digit()));
        own.or_else(both).filter(|name| taken.insert(name.clone())).unwrap_or(number)
    };
    entries.iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin {
        Origin::Set("x".into())
    }

    #[test]
    fn unquoted_text_is_a_toml_value_if_it_can_be() {
        let read = |text| match unquoted(text, "x", &origin()).unwrap().data {
            Data::Value(value) => value,
            other => panic!("{other:?}"),
        };
        assert_eq!(read("60"), Value::Integer(60));
        assert_eq!(read("true"), Value::Bool(true));
        assert_eq!(read("1e-3"), Value::Float(1e-3));
        assert_eq!(read("\"60 ms\""), Value::Text("60 ms".into()));
        assert_eq!(read("[1, 2]"), Value::List(vec![Value::Integer(1), Value::Integer(2)]));
        for text in ["60 ms", "10 Mbit/s", "uniform(0 s, 1 s)", "ns2.35", "", "it's", "1 # 2", "a = 1"] {
            assert_eq!(read(text), Value::Text(text.into()));
        }
    }

    #[test]
    fn too_large_numbers_keep_their_size() {
        let table = Table::parse("a = 1000000000000000000000\nb = -0x0", &"x".into());
        assert!(table.is_err(), "hexadecimal numbers have no sign in TOML");
        let table = Table::parse("a = -1000000000000000000000\nb = 0xffffffffffffffff", &"x".into()).unwrap();
        assert_eq!(table.get("a").unwrap().data, Data::Value(Value::Float(-1e21)));
        assert_eq!(table.get("b").unwrap().data, Data::Value(Value::Float(18_446_744_073_709_551_615.0)));
        let table = Table::parse("a = inf\nb = -inf", &"x".into()).unwrap();
        assert_eq!(table.get("b").unwrap().data, Data::Value(Value::Float(f64::NEG_INFINITY)));
        let digits = "1".repeat(3000);
        for (text, sign) in [(&*digits, ""), (&*digits, "-"), ("1e999", "")] {
            let problems =
                Table::parse(&format!("[t]\na = {sign}{text}"), &"x".into()).unwrap_err().to_string();
            assert!(problems.starts_with(&format!("x:2: t.a = {sign}{}", &text[..5])), "{problems}");
            assert!(problems.ends_with(": too large: the greatest number is 1.8e308"), "{problems}");
            let problem = unquoted(&format!("{sign}{text}"), "t.a", &origin()).unwrap_err();
            assert!(problem.text().starts_with(&format!("t.a = {sign}{}", &text[..5])), "{problem}");
        }
    }

    #[test]
    fn a_spec_splits_at_commas_outside_brackets_and_quotes() {
        let table = spec("x: a = uniform(0 s, 1 s), b=[1,2],c='d,e',", "name", "aqm", &origin());
        let table = table.unwrap().unwrap();
        let keys: Vec<_> =
            table.iter().map(|(key, node)| format!("{key}={}", node.shown().unwrap())).collect();
        assert_eq!(keys, ["name=\"x\"", "a=\"uniform(0 s, 1 s)\"", "b=[1, 2]", "c=\"d,e\""]);
        for text in ["", ":a=1", "x:a", "x:=1", "x:a=1,a=2", "x:name=y"] {
            assert_eq!(spec(text, "name", "aqm", &origin()), Ok(None), "{text:?}");
        }
    }

    #[test]
    fn entries_without_a_name_of_their_own_are_numbered() {
        let text = "x = [{name='a'}, {}, {name='a'}, {name='b.c'}, {name='1'}, {from='p', to='q'}]";
        let table = Table::parse(text, &"x".into()).unwrap();
        let entries = table.get("x").unwrap().entries();
        assert_eq!(labels(entries, false), ["a", "2", "3", "4", "5", "6"]);
        assert_eq!(labels(entries, true), ["a", "2", "3", "4", "5", "p-q"]);
    }
}
