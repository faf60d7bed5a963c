//! The conversion of Python values to values of a scenario.

use crate::refused;
use aqm::params::Value;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use scenario::{DEEPEST, Origin, Problem};

/// No list holds more values, those of the lists in it included: one that holds another twice doubles at each level.
const MOST_VALUES: usize = 1_000_000;

/// Reads the value to set at `path`.
pub(crate) fn read(path: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    inside(path, given, path.split('.').count(), &mut { MOST_VALUES })
}

/// Reads the tables of a scenario.
pub(crate) fn tables(given: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Value)>> {
    match inside("", given, 0, &mut { MOST_VALUES })? {
        Value::Table(entries) => Ok(entries),
        _ => Err(PyTypeError::new_err("must be a mapping of the keys of a scenario file to their values")),
    }
}

/// Reads a value that lies in `depth` tables and lists: one may be endless, it may be in itself. They may hold `left`
/// values more.
fn inside(path: &str, given: &Bound<'_, PyAny>, depth: usize, left: &mut usize) -> PyResult<Value> {
    let origin = || Origin::Set(format!("{path}=…").into());
    if depth > DEEPEST {
        return Err(refused(Problem::too_deep(origin(), path)));
    }
    if let Ok(switch) = given.extract() {
        return Ok(Value::Bool(switch));
    }
    if let Ok(number) = given.extract() {
        return Ok(Value::Integer(number));
    }
    if let Ok(number) = given.extract() {
        return Ok(Value::Float(number));
    }
    if let Ok(text) = given.extract() {
        return Ok(Value::Text(text));
    }
    // Its length may exceed the memory, so it is checked before the values are read.
    if let Ok(length) = given.len() {
        *left = left.checked_sub(length).ok_or_else(|| {
            let message =
                format!("too many values: a list must hold {MOST_VALUES} at most, lists in it included");
            refused(Problem::of_value(origin(), path, None, message))
        })?;
    }
    if let Ok(table) = given.cast::<PyMapping>() {
        let entry = |item: Bound<'_, PyAny>| -> PyResult<(String, Value)> {
            let (key, value): (String, Bound<'_, PyAny>) = item.extract()?;
            let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let value = inside(&at, &value, depth + 1, left)?;
            Ok((key, value))
        };
        return Ok(Value::Table(table.items()?.iter().map(entry).collect::<PyResult<_>>()?));
    }
    let values: Vec<Bound<'_, PyAny>> = given.extract().map_err(|_| {
        let kind = given.get_type();
        PyTypeError::new_err(format!(
            "{path}: {kind}: must be a number, a text, true or false, a list or a mapping"
        ))
    })?;
    Ok(Value::List(values.iter().map(|value| inside(path, value, depth + 1, left)).collect::<PyResult<_>>()?))
}
