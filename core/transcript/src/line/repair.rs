//! Parsing of lines whose text is broken but whose JSON is whole (S6).
//!
//! Two things occur in real files: bytes that are no UTF-8, and half a
//! surrogate pair as an escape, which a JavaScript program writes when it cuts
//! a text in the middle of an emoji. Both become U+FFFD. JSON that is cut off
//! stays an error: what is missing cannot be made up.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// An object without one of its fields, which is passed over unread: of half
/// of a transcript's bytes nobody asks for more.
struct Without(Map<String, Value>);

/// The field: the structured form of a tool's result.
const PASSED_OVER: &str = "toolUseResult";

impl<'de> Deserialize<'de> for Without {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Without;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Without, A::Error> {
                let mut map = Map::new();
                while let Some(key) = access.next_key::<String>()? {
                    if key == PASSED_OVER {
                        access.next_value::<IgnoredAny>()?;
                    } else {
                        map.insert(key, access.next_value()?);
                    }
                }
                Ok(Without(map))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// The same as [`parse`], without the structured form of a tool's result where
/// the line is in order.
pub(super) fn parse_said(line: &[u8]) -> Result<(Value, bool), serde_json::Error> {
    match serde_json::from_slice::<Without>(line) {
        Ok(own) => Ok((Value::Object(own.0), false)),
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
