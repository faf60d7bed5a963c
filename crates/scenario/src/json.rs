//! Values of parameters as JSON.

use aqm::params::Value;
use serde_json::{Map, Value as Json, json};

/// A value as JSON.
pub(crate) fn value(value: &Value) -> Json {
    match value {
        Value::Bool(switch) => json!(switch),
        Value::Integer(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::List(values) => values.iter().map(self::value).collect(),
        Value::Table(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), self::value(value))).collect())
        }
    }
}

pub(crate) fn object(values: Vec<(&'static str, Value)>) -> Map<String, Json> {
    values.into_iter().map(|(key, value)| (key.to_owned(), self::value(&value))).collect()
}
