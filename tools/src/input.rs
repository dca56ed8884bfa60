//! Arguments of a call, read with patience.
//!
//! Models send numbers as strings and leave optional fields `null`; both are
//! taken as meant. What cannot be understood is answered by a sentence that
//! says which field the tool needs. Fields that a tool does not know are
//! ignored. The same reading serves `access` and `run`, so that a call which
//! is let through as harmless because it is malformed does nothing.

use everfold_wire::INVALID_JSON;
use serde_json::{Map, Value};

use crate::Refusal;

/// How much of broken arguments is shown.
const RAW_CHARS: usize = 200;

/// The arguments of one call.
pub(crate) struct Input<'a> {
    tool: &'static str,
    fields: &'a Map<String, Value>,
}

impl<'a> Input<'a> {
    /// The arguments of a call of `tool`.
    pub(crate) fn of(tool: &'static str, input: &'a Value) -> Result<Self, Refusal> {
        let Value::Object(fields) = input else {
            return Err(Refusal::new(format!(
                "{tool} needs its arguments as a JSON object, not {}",
                kind(input)
            )));
        };
        if let Some(raw) = fields.get(INVALID_JSON) {
            let raw = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
            let start: String = raw.chars().take(RAW_CHARS).collect();
            let more = if start.len() < raw.len() { "…" } else { "" };
            return Err(Refusal::new(format!(
                "the arguments of {tool} were not valid JSON, so nothing was done; \
                 send the call again. They began: {start}{more}"
            )));
        }
        Ok(Self { tool, fields })
    }

    /// A text that must be there; it may be empty.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, Refusal> {
        self.optional_text(name)?.ok_or_else(|| self.needs(name, "a string", None))
    }

    /// A text that must be there and say something.
    pub(crate) fn filled_text(&self, name: &str) -> Result<&'a str, Refusal> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            return Err(Refusal::new(format!(
                "{} needs {name:?} (a string), and it is empty",
                self.tool
            )));
        }
        Ok(text)
    }

    /// A text that may be left out.
    pub(crate) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        match self.field(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.needs(name, "a string", Some(other))),
        }
    }

    /// A whole number from zero on, that may be left out.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(value) = self.field(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => {
                number.as_u64().or_else(|| whole(&number.as_f64()?.to_string()))
            }
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => whole(text.trim()),
            _ => None,
        };
        number.map(Some).ok_or_else(|| self.needs(name, "a whole number from 0 on", Some(value)))
    }

    /// A yes or no that may be left out.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Refusal> {
        match self.field(name) {
            None => Ok(false),
            Some(Value::Bool(yes)) => Ok(*yes),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.needs(name, "true or false", Some(other))),
        }
    }

    /// A field as it came; `null` counts as left out.
    pub(crate) fn field(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// A refusal that says what a field must be, and what it was.
    pub(crate) fn needs(&self, name: &str, what: &str, given: Option<&Value>) -> Refusal {
        let tool = self.tool;
        Refusal::new(match given {
            None => format!("{tool} needs {name:?} ({what})"),
            Some(value) => format!("{tool} needs {name:?} ({what}), not {}", kind(value)),
        })
    }
}

/// A whole number, also where it is written with a fraction of zero.
fn whole(text: &str) -> Option<u64> {
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if zeros.chars().all(|c| c == '0') => digits,
        Some(_) => return None,
        None => text,
    };
    digits.parse().ok()
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "a boolean".into(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => {
            format!("the string {:?}", text.chars().take(40).collect::<String>())
        }
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message<T>(result: Result<T, Refusal>) -> String {
        result.err().map(|refusal| refusal.text).unwrap_or_default()
    }

    #[test]
    fn q5_missing_and_wrong_fields_are_named() {
        let value = json!({"offset": [1], "limit": -2, "name": 3, "empty": " "});
        let input = Input::of("Read", &value).unwrap();
        assert_eq!(message(input.text("file_path")), r#"Read needs "file_path" (a string)"#);
        assert_eq!(
            message(input.text("name")),
            r#"Read needs "name" (a string), not the number 3"#
        );
        assert!(message(input.number("offset")).ends_with("not a list"));
        assert!(message(input.number("limit")).ends_with("not the number -2"));
        assert!(message(input.filled_text("empty")).contains("it is empty"));
        assert!(message(input.flag("limit")).contains("true or false"));
    }

    #[test]
    fn q5_numbers_and_flags_given_as_strings_are_taken() {
        let value =
            json!({"a": "12", "b": 3.0, "c": "4.0", "d": null, "e": "", "f": "TRUE", "g": 1.5});
        let input = Input::of("Read", &value).unwrap();
        assert_eq!(input.number("a").unwrap(), Some(12));
        assert_eq!(input.number("b").unwrap(), Some(3));
        assert_eq!(input.number("c").unwrap(), Some(4));
        assert_eq!(input.number("d").unwrap(), None);
        assert_eq!(input.number("e").unwrap(), None);
        assert!(input.number("g").is_err());
        assert!(input.flag("f").unwrap());
        assert!(!input.flag("missing").unwrap());
    }

    #[test]
    fn s6_arguments_that_were_not_json_are_answered_with_their_start() {
        let value = json!({"__invalid_json": format!("{{\"file_path\": \"{}", "é".repeat(300))});
        let text = message(Input::of("Read", &value));
        assert!(text.contains("not valid JSON"), "{text}");
        assert!(text.contains("{\"file_path\": \"é"), "{text}");
        assert!(text.ends_with("é…"), "{text}");
        assert!(message(Input::of("Read", &json!([1]))).contains("not a list"));
    }
}
