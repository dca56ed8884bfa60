//! Parsing of lines whose text is broken but whose JSON is whole (S6).
//!
//! Two things occur in real files: bytes that are no UTF-8, and half a
//! surrogate pair as an escape, which a JavaScript program writes when it cuts
//! a text in the middle of an emoji. Both become U+FFFD. JSON that is cut off
//! stays an error: what is missing cannot be made up.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// An object of which some fields are passed over unread: of half of a
/// transcript's bytes nobody asks for more.
#[derive(Clone, Copy)]
enum Part {
    Line,
    Message,
    Usage,
}

/// Room for the fields of a part, so that it is seldom made larger.
const FIELDS: usize = 16;

impl Part {
    fn is_passed_over(self, name: &str) -> bool {
        match self {
            Self::Line => {
                matches!(name, "toolUseResult" | "gitBranch" | "userType" | "entrypoint" | "slug")
            }
            Self::Message => matches!(name, "type" | "role" | "stop_sequence"),
            Self::Usage => matches!(name, "service_tier" | "inference_geo"),
        }
    }

    fn within(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Line, "message") => Some(Self::Message),
            (Self::Message, "usage") => Some(Self::Usage),
            _ => None,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Part {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Part {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut map = Map::with_capacity(FIELDS);
        while let Some(name) = access.next_key_seed(Name(self))? {
            let Some(name) = name else {
                access.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = match self.within(&name) {
                Some(part) => Value::Object(access.next_value_seed(part)?),
                None => access.next_value()?,
            };
            map.insert(name, value);
        }
        Ok(map)
    }
}

/// The name of a field; none where it is passed over.
struct Name(Part);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok((!self.0.is_passed_over(name)).then(|| name.to_owned()))
    }
}

/// The same as [`parse`], without what nobody asks for who only asks what was
/// said, where the line is in order.
pub(super) fn parse_said(line: &[u8]) -> Result<(Value, bool), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_slice(line);
    match Part::Line.deserialize(&mut json).and_then(|map| json.end().map(|()| map)) {
        Ok(map) => Ok((Value::Object(map), false)),
        Err(_) => parse(line),
    }
}

/// The value, and whether characters had to be replaced.
pub(super) fn parse(line: &[u8]) -> Result<(Value, bool), serde_json::Error> {
    let error = match serde_json::from_slice(line) {
        Ok(value) => return Ok((value, false)),
        Err(error) => error,
    };
    let text = String::from_utf8_lossy(line);
    let repaired = replace_lone_surrogates(&text);
    match serde_json::from_str(&repaired) {
        Ok(value) => Ok((value, true)),
        Err(_) => Err(error),
    }
}

fn replace_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, _)) = rest.split_once('\\') {
        out.push_str(before);
        let tail = rest.get(before.len()..).unwrap_or_default();
        let (escape, after) = match (unit(tail), tail.get(6..).and_then(unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => cut(tail, 12),
            (Some(0xD800..0xE000), _) => ("\\ufffd", cut(tail, 6).1),
            (Some(_), _) => cut(tail, 6),
            // The character after a backslash is one byte in valid JSON; any
            // other text fails to parse anyway.
            (None, _) => cut(tail, 2),
        };
        out.push_str(escape);
        rest = after;
    }
    out.push_str(rest);
    out
}

fn cut(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// The UTF-16 unit that a `\uXXXX` escape at the start stands for.
fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_half_a_surrogate_pair_is_replaced() {
        let line = br#"{"a":"x\ud83d","b":"\\ud83d \ud83d\ude00","c":"\ude00\ud83dz"}"#;
        let (value, repaired) = parse(line).unwrap();
        assert!(repaired);
        assert_eq!(
            value,
            serde_json::json!({"a": "x\u{fffd}", "b": "\\ud83d 😀", "c": "\u{fffd}\u{fffd}z"})
        );
    }

    #[test]
    fn s6_invalid_utf8_is_replaced() {
        let (value, repaired) = parse(b"{\"a\":\"x\xffy\"}").unwrap();
        assert!(repaired);
        assert_eq!(value, serde_json::json!({"a": "x\u{fffd}y"}));
    }

    #[test]
    fn s6_cut_json_stays_an_error() {
        for line in [&br#"{"a":"x\ud8"#[..], b"{\"a\":\\\xc3\xa9", b"\\", b"", b"{\"a\":\\u12"] {
            assert!(parse(line).is_err());
        }
    }
}
