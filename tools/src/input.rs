//! Arguments of a call, read with patience.
//!
//! Every tool has a struct that its arguments are read into; its schema is
//! made from the same struct. Models send numbers as strings and leave
//! optional fields `null`; both are taken as meant. What cannot be understood
//! is answered by a sentence that says which field the tool needs. Fields that
//! a tool does not know are ignored. The same reading serves `access` and
//! `run`, so that a call which is let through as harmless because it is
//! malformed does nothing.

mod field;

use crate::failure::Failure;
use everfold_kernel::{Class, Classify};
use everfold_wire::INVALID_JSON;
use field::Fields;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::ops::Deref;

/// How much of broken arguments is shown.
const RAW_CHARS: usize = 200;

/// Reads the arguments of a call of `tool`.
pub(crate) fn read<'a, T: Deserialize<'a>>(
    tool: &'static str,
    input: &'a Value,
) -> Result<T, InputError> {
    let Value::Object(fields) = input else {
        return Err(InputError::NoObject { tool, given: kind(input) });
    };
    if let Some(raw) = fields.get(INVALID_JSON) {
        let raw = raw.as_str().map_or_else(|| raw.to_string(), str::to_owned);
        let mut start: String = raw.chars().take(RAW_CHARS).collect();
        if start.len() < raw.len() {
            start.push('…');
        }
        return Err(InputError::NoJson { tool, start });
    }
    T::deserialize(Fields::of(tool, fields))
}

/// A text that says something.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
pub(crate) struct Filled<'a>(&'a str);

impl<'a> Filled<'a> {
    /// The text.
    pub(crate) fn get(self) -> &'a str {
        self.0
    }
}

impl Deref for Filled<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

/// Why arguments were not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputError {
    /// They are something else than an object.
    #[error("{tool} needs its arguments as a JSON object, not {given}")]
    NoObject { tool: &'static str, given: String },
    /// They were cut off or garbled on their way.
    #[error(
        "the arguments of {tool} were not valid JSON, so nothing was done; send the call again. \
         They began: {start}"
    )]
    NoJson { tool: &'static str, start: String },
    /// A field is not there.
    #[error("{whose} needs {field:?} ({what})")]
    Missing { whose: String, field: String, what: String },
    /// A field is something else.
    #[error("{whose} needs {field:?} ({what}), not {given}")]
    Wrong { whose: String, field: String, what: String, given: String },
    /// A field says nothing.
    #[error("{whose} needs {field:?} (a string), and it is empty")]
    Empty { whose: String, field: String },
    /// What a type of ours says about its own field.
    #[error("{message}")]
    Unfit { message: String },
}

impl InputError {
    /// What a field must be, and what it was.
    pub(crate) fn needs(whose: &str, field: &str, what: &str, given: Option<&Value>) -> Self {
        let (whose, field, what) = (whose.to_owned(), field.to_owned(), what.to_owned());
        match given.map(kind) {
            None => Self::Missing { whose, field, what },
            Some(given) => Self::Wrong { whose, field, what, given },
        }
    }

    /// A field is there, and says nothing.
    pub(crate) fn empty(tool: &str, field: &str) -> Self {
        Self::Empty { whose: tool.to_owned(), field: field.to_owned() }
    }
}

impl serde::de::Error for InputError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Unfit { message: message.to_string() }
    }
}

impl Classify for InputError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

impl Failure for InputError {}

/// What a value is, as one says it to a model.
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
mod tests;
