//! Arguments of tools, read with words that a model can act on.

use crate::refusal::CallRefusal;
use serde_json::{Map, Value};

/// The arguments of one call.
pub(crate) struct Arguments(pub(crate) Map<String, Value>);

impl Arguments {
    pub(crate) fn text(&self, name: &'static str) -> Result<&str, CallRefusal> {
        match self.optional(name)? {
            Some(text) => Ok(text),
            None => Err(CallRefusal::Missing(name)),
        }
    }

    /// A text that may be there.
    pub(crate) fn optional(&self, name: &'static str) -> Result<Option<&str>, CallRefusal> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(CallRefusal::NotText(name)),
        }
    }

    /// A whole number, some models send it as text.
    pub(crate) fn number(&self, name: &'static str, usual: usize) -> Result<usize, CallRefusal> {
        let number = match self.0.get(name) {
            None | Some(Value::Null) => return Ok(usual),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(value) => value.as_u64(),
        };
        let number = number.and_then(|number| usize::try_from(number).ok());
        number.ok_or(CallRefusal::NoNumber(name))
    }
}
