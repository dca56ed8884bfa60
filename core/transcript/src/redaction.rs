//! The texts of a line, whatever it is: looked at, and changed (S15).
//!
//! A line is taken as JSON and not as a record, so that no text is missed in a
//! line that this version does not know. Pictures are left alone; compressed
//! copies are opened.

use crate::chain::RESUME_POINT;
use crate::line::Packed;
use serde_json::{Map, Value};

/// Longest value that is looked at together with its name.
const NAMED_BYTES: usize = 1_000;

/// What stands in the place of thinking that held a secret.
const REMOVED_THINKING: &str = "(thinking that held a secret was removed)";

/// What a line is after its texts were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redacted {
    Same,
    Line(String),
    /// It goes: it says at which bytes others stand, and they moved.
    Gone,
}

/// Gives every text of a line, with the name that it stands under.
pub fn each_text(line: &[u8], sink: &mut dyn FnMut(Option<&str>, &str)) {
    if let Ok(value) = serde_json::from_slice::<Value>(line) {
        look(&value, None, sink);
    }
}

fn look(value: &Value, name: Option<&str>, sink: &mut dyn FnMut(Option<&str>, &str)) {
    match value {
        Value::String(text) => sink(name.filter(|_| text.len() <= NAMED_BYTES), text),
        Value::Array(items) => items.iter().for_each(|item| look(item, name, sink)),
        Value::Object(fields) if is_picture(fields) => {}
        Value::Object(fields) => {
            if let Some(packed) = Packed::of(value) {
                packed.each_text(&mut |text| sink(None, text));
                return;
            }
            fields.iter().for_each(|(name, item)| look(item, Some(name), sink));
        }
        _ => {}
    }
}

/// Changes every text of a line.
#[must_use]
pub fn redact(line: &[u8], change: &dyn Fn(&str) -> Option<String>) -> Redacted {
    if line.starts_with(RESUME_POINT.as_bytes()) {
        return Redacted::Gone;
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(line) else {
        // Half a line, or none of ours: a text like any other.
        let text = String::from_utf8_lossy(line);
        return change(&text).map_or(Redacted::Same, Redacted::Line);
    };
    match put(&mut value, change) {
        Changed::Yes => Redacted::Line(value.to_string()),
        Changed::No => Redacted::Same,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Changed {
    Yes,
    No,
}

impl Changed {
    fn or(self, other: Self) -> Self {
        if self == Self::Yes { self } else { other }
    }
}

fn put(value: &mut Value, change: &dyn Fn(&str) -> Option<String>) -> Changed {
    if let Some(packed) = Packed::of(value) {
        let Some(fresh) = packed.with_texts(change) else { return Changed::No };
        *value = fresh;
        return Changed::Yes;
    }
    match value {
        Value::String(text) => match change(text) {
            Some(fresh) => {
                *text = fresh;
                Changed::Yes
            }
            None => Changed::No,
        },
        Value::Array(items) => {
            items.iter_mut().fold(Changed::No, |changed, item| changed.or(put(item, change)))
        }
        Value::Object(fields) if is_picture(fields) => Changed::No,
        Value::Object(fields) => {
            let changed = fields
                .iter_mut()
                .fold(Changed::No, |changed, (_, item)| changed.or(put(item, change)));
            // Signed thinking that was changed would be refused for ever.
            let is_thinking = fields.get("type").and_then(Value::as_str) == Some("thinking");
            if changed == Changed::Yes && is_thinking {
                fields.clear();
                fields.insert("type".into(), "text".into());
                fields.insert("text".into(), REMOVED_THINKING.into());
            }
            changed
        }
        _ => Changed::No,
    }
}

fn is_picture(fields: &Map<String, Value>) -> bool {
    fields.get("type").and_then(Value::as_str) == Some("base64")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: &str) -> Option<String> {
        text.contains("KEY").then(|| text.replace("KEY", "-"))
    }

    #[test]
    fn s15_every_text_of_a_line_is_changed_and_pictures_are_not() {
        let line =
            r#"{"type":"x","a":["KEY",{"b":"my KEY"}],"p":{"type":"base64","data":"KEY"},"n":1}"#;
        let Redacted::Line(fresh) = redact(line.as_bytes(), &change) else { panic!("{line}") };
        assert_eq!(
            fresh,
            r#"{"type":"x","a":["-",{"b":"my -"}],"p":{"type":"base64","data":"KEY"},"n":1}"#
        );
        assert_eq!(redact(br#"{"a":"b"}"#, &change), Redacted::Same);
        assert_eq!(redact(b"{torn KEY", &change), Redacted::Line("{torn -".into()));
        let point = format!("{RESUME_POINT}1}}");
        assert_eq!(redact(point.as_bytes(), &change), Redacted::Gone);
    }

    #[test]
    fn s15_thinking_that_was_changed_is_none_any_more() {
        let line = br#"{"type":"thinking","thinking":"the KEY","signature":"s"}"#;
        let Redacted::Line(fresh) = redact(line, &change) else { panic!("it is the same") };
        assert_eq!(fresh, format!(r#"{{"type":"text","text":"{REMOVED_THINKING}"}}"#));
    }

    #[test]
    fn s15_texts_are_given_with_their_names() {
        let mut seen = Vec::new();
        each_text(br#"{"input":{"password":"x"},"l":["y"]}"#, &mut |name, text| {
            seen.push((name.map(str::to_owned), text.to_owned()));
        });
        let named = |name: &str, text: &str| (Some(name.to_owned()), text.to_owned());
        assert_eq!(seen, [named("password", "x"), named("l", "y")]);
    }
}
