//! Values of parameters in one line of text, as on a command line.

use super::value::Value;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Values inside values, in a text.
const DEPTH: u32 = 8;

/// The parts of `text` between commas outside brackets and quotes.
#[must_use]
pub fn commas(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start) = (0, None, 0);
    let mut parts = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '"' | '\'' if quoted.is_none() => quoted = Some(c),
            _ if quoted == Some(c) => quoted = None,
            _ if quoted.is_some() => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// The settings `KEY=VALUE,KEY=VALUE` of a text; the error is a part that is none.
///
/// # Errors
/// The first part without a key or a sign of equality.
pub fn settings(text: &str) -> Result<Vec<(&str, Value)>, &str> {
    within(text, DEPTH)
}

fn within(text: &str, depth: u32) -> Result<Vec<(&str, Value)>, &str> {
    let parts = commas(text).into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (key, value) = part.split_once('=').ok_or(part)?;
            let key = key.trim();
            if key.is_empty() { Err(part) } else { Ok((key, read(value.trim(), depth))) }
        })
        .collect()
}

/// A truth value, a number, a list in brackets or a table in braces if `text` is one, otherwise a text.
fn read(text: &str, depth: u32) -> Value {
    let inside = |open, close| text.strip_prefix(open)?.strip_suffix(close).filter(|_| depth > 0);
    if let Some(list) = inside('[', ']') {
        let values = commas(list).into_iter().map(str::trim).filter(|value| !value.is_empty());
        return Value::List(values.map(|value| read(value, depth - 1)).collect());
    }
    if let Some(Ok(table)) = inside('{', '}').map(|table| within(table, depth - 1)) {
        return Value::Table(table.into_iter().map(|(key, value)| (key.to_string(), value)).collect());
    }
    let quoted = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    match text {
        _ if quoted.is_some() => Value::Text(quoted.map_or_else(String::new, str::to_string)),
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match (text.parse(), text.parse()) {
            (Ok(whole), _) => Value::Integer(whole),
            (_, Ok(number)) => Value::Float(number),
            _ => Value::Text(text.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_it_looks_like() {
        let text = "a=1, b = 2.5,c=true,d=5 ms,e='7',f=[1, x],g={name = codel, target = 5ms}";
        let shown: Vec<String> =
            settings(text).unwrap().iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let expected = ["a: 1", "b: 2.5", "c: true", "d: \"5 ms\"", "e: \"7\"", "f: [1, \"x\"]"];
        assert_eq!(shown[..6], expected);
        assert_eq!(shown[6], "g: {name = \"codel\", target = \"5ms\"}");
        assert_eq!(settings("").unwrap(), []);
        assert_eq!((settings("a=1,b"), settings("=1")), (Err("b"), Err("=1")));
    }

    #[test]
    fn brackets_without_end_do_no_harm() {
        for open in ["[", "{a=", "("] {
            let text = format!("x={}", open.repeat(100_000));
            assert!(settings(&text).is_ok());
            let closed = format!("x={}{}", "[".repeat(100_000), "]".repeat(100_000));
            assert!(settings(&closed).is_ok());
        }
    }
}
