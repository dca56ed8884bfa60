//! The arguments of a tool call, from the text that a model wrote.

use serde_json::{Map, Value};

/// The only key of the `input` of a tool call whose arguments were not a JSON
/// object; its value is the text as the model wrote it. Such a call is kept,
/// so that it can be answered with an error instead of ending the turn.
pub const INVALID_JSON: &str = "__invalid_json";

/// The arguments in a text: nothing is `{}`, anything but an object is kept
/// under [`INVALID_JSON`].
pub(crate) fn parse(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Value::Object(map),
        _ => invalid(text),
    }
}

/// The arguments in a value that a server sent whole.
pub(crate) fn from_value(value: Value) -> Value {
    match value {
        Value::Object(_) => value,
        Value::Null => Value::Object(Map::new()),
        Value::String(text) => parse(&text),
        other => invalid(&other.to_string()),
    }
}

fn invalid(text: &str) -> Value {
    let mut map = Map::new();
    map.insert(INVALID_JSON.into(), Value::String(text.into()));
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_an_object_or_kept_as_text() {
        assert_eq!(parse(""), json!({}));
        assert_eq!(parse(r#"{"a":1}"#), json!({"a": 1}));
        assert_eq!(parse(r#"{"a":"#), json!({INVALID_JSON: r#"{"a":"#}));
        assert_eq!(parse("[1]"), json!({INVALID_JSON: "[1]"}));
        assert_eq!(from_value(json!([1])), json!({INVALID_JSON: "[1]"}));
        assert_eq!(from_value(Value::Null), json!({}));
    }
}
