//! Whether a value has the shape of settings: wrong types are named by key,
//! keys that nobody knows are collected, and both can be found in the text.

use crate::origin::{child, segments};
use everfold_kernel::{Flag, Settings};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_ignored::Path as IgnoredPath;
use serde_json::Value;
use serde_path_to_error::{Path as TrackPath, Segment};
use std::fmt;

/// A key whose value is not what it takes.
#[derive(Debug)]
pub(crate) struct Mismatch {
    pub(crate) pointer: String,
    pub(crate) reason: String,
}

/// Settings with the pointers of keys that are none.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) settings: Settings,
    pub(crate) unknown: Vec<String>,
}

/// Numbers that are bounded by more than their type: pointer, least, most.
pub(crate) const RANGES: &[(&str, u64, u64)] = &[
    ("/autoCompactWindow", 1, u64::MAX),
    ("/everfold/auto_compact_percent", 1, 100),
    ("/cleanupPeriodDays", 1, u64::MAX),
];

/// Reads settings out of a value.
pub(crate) fn check(value: &Value) -> Result<Checked, Mismatch> {
    sections_are_objects(value)?;
    let mut unknown = Vec::new();
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(value, &mut track);
    let read = serde_ignored::deserialize(tracked, |path| unknown.push(ignored_pointer(&path)));
    let settings: Settings = read.map_err(|error: serde_json::Error| Mismatch {
        pointer: tracked_pointer(&track.path()),
        reason: error.to_string(),
    })?;
    mistyped_keys(value, &unknown)?;
    for (pointer, least, most) in RANGES {
        let number = value.pointer(pointer).and_then(Value::as_u64);
        if number.is_some_and(|number| number < *least || number > *most) {
            let reason = match *most {
                u64::MAX => format!("must be at least {least}"),
                most => format!("must be from {least} to {most}"),
            };
            return Err(Mismatch { pointer: (*pointer).to_owned(), reason });
        }
    }
    // Editors put `$schema` there to find the schema.
    unknown.retain(|pointer| pointer != "/$schema");
    let flags = settings.everfold.flags.unknown();
    unknown.extend(flags.map(|name| child("/everfold/flags", name)));
    Ok(Checked { settings, unknown })
}

/// Where a key that nobody knows is taken for one that was meant: what it was
/// to forbid or to hold back would be left out in silence (S12).
const STRICT: &[(&str, &[&str])] = &[
    ("/everfold/sandbox", &["enabled", "writable"]),
    ("/permissions", &["allow", "ask", "deny", "defaultMode", "additionalDirectories"]),
];

/// Letters that may be wrong in a key that was meant.
const NEAR: usize = 2;

fn mistyped_keys(value: &Value, unknown: &[String]) -> Result<(), Mismatch> {
    for (section, known) in STRICT {
        let keys = value.pointer(section).and_then(Value::as_object).into_iter().flatten();
        for (key, _) in keys {
            let pointer = child(section, key);
            if !unknown.contains(&pointer) {
                continue;
            }
            let nearest = known.iter().map(|name| (distance(key, name), name)).min();
            let near = nearest.filter(|(far, _)| *far <= NEAR).map(|(_, name)| *name);
            let reason = match (near, *section) {
                (Some(name), _) => format!("unknown key; did you mean `{name}`?"),
                (None, "/everfold/sandbox") => {
                    format!("unknown key; the keys are `{}`", known.join("`, `"))
                }
                (None, _) => continue,
            };
            return Err(Mismatch { pointer, reason });
        }
    }
    Ok(())
}

/// How many letters have to change to make one word another, without regard
/// to case and to marks between parts.
fn distance(one: &str, other: &str) -> usize {
    let letters = |text: &str| {
        let plain = text.chars().filter(|c| c.is_alphanumeric());
        plain.flat_map(char::to_lowercase).collect::<Vec<char>>()
    };
    let (one, other) = (letters(one), letters(other));
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut next = vec![at + 1];
        for (column, wanted) in other.iter().enumerate() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX - 1);
            let same = cell(&row, column) + usize::from(letter != wanted);
            next.push(same.min(cell(&row, column + 1) + 1).min(cell(&next, column) + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

/// Readers of structs also take lists, field by field. A list would replace
/// the object of an earlier source, and hide keys from [`crate::refuse`]; so
/// what is an object by default has to be one.
fn sections_are_objects(value: &Value) -> Result<(), Mismatch> {
    let sections = serde_json::to_value(Settings::default()).unwrap_or_default();
    compare_section(value, &sections, "")
}

fn compare_section(value: &Value, section: &Value, pointer: &str) -> Result<(), Mismatch> {
    let Value::Object(section) = section else {
        return Ok(());
    };
    let Value::Object(value) = value else {
        return Err(Mismatch {
            pointer: pointer.to_owned(),
            reason: "must be an object".to_owned(),
        });
    };
    for (key, section) in section {
        if let Some(value) = value.get(key) {
            compare_section(value, section, &child(pointer, key))?;
        }
    }
    Ok(())
}

/// Whether this is the name of a switch, of this version.
pub(crate) fn is_flag(name: &str) -> bool {
    Flag::by_name(name).is_some()
}

fn ignored_pointer(path: &IgnoredPath<'_>) -> String {
    match path {
        IgnoredPath::Root => String::new(),
        IgnoredPath::Seq { parent, index } => child(&ignored_pointer(parent), &index.to_string()),
        IgnoredPath::Map { parent, key } => child(&ignored_pointer(parent), key),
        IgnoredPath::Some { parent }
        | IgnoredPath::NewtypeStruct { parent }
        | IgnoredPath::NewtypeVariant { parent } => ignored_pointer(parent),
    }
}

fn tracked_pointer(path: &TrackPath) -> String {
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Seq { index } => child(&pointer, &index.to_string()),
        Segment::Map { key } => child(&pointer, key),
        Segment::Enum { .. } | Segment::Unknown => pointer,
    })
}

/// Line and column of the value at `pointer` in a text that is JSON; those of
/// its end, as the parser counts.
pub(crate) fn locate(text: &str, pointer: &str) -> (usize, usize) {
    let path: Vec<String> = segments(pointer).collect();
    let mut parser = serde_json::Deserializer::from_str(text);
    match (Walk { path: &path }).deserialize(&mut parser) {
        Ok(()) => (1, 1),
        Err(error) => (error.line(), error.column()),
    }
}

/// Goes down to the value and fails there on purpose: the parser puts the
/// place it has reached into the error.
#[derive(Clone, Copy)]
struct Walk<'a> {
    path: &'a [String],
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the place of a key")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((first, rest)) = self.path.split_first() else {
            return Err(A::Error::custom("here"));
        };
        while let Some(key) = map.next_key::<String>()? {
            if &key == first {
                map.next_value_seed(Walk { path: rest })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Some((first, rest)) = self.path.split_first() else {
            return Err(A::Error::custom("here"));
        };
        let mut index = 0_usize;
        loop {
            let found = first.parse() == Ok(index);
            let more = if found {
                seq.next_element_seed(Walk { path: rest })?.is_some()
            } else {
                seq.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                return Ok(());
            }
            index += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn c4_a_key_is_found_in_the_text() {
        let text = "{\n  \"a\": [1,\n    {\"b\": true}],\n  \"c\": {}\n}";
        assert_eq!(locate(text, "/a/1/b").0, 3);
        assert_eq!(locate(text, "/c").0, 4);
        assert_eq!(locate(text, "/nowhere"), (1, 1));
    }

    #[test]
    fn c4_unknown_keys_are_collected_at_every_depth() {
        let checked = check(&json!({
            "$schema": "x", "colour": 1,
            "everfold": {"limits": {"max_retries": 2, "speed": 3}, "flags": {"recall": false, "fly": true}},
            "permissions": {"defaultMode": "plan", "extra": []},
            "hooks": {"Stop": [{"anything": 1}]}
        }))
        .unwrap();
        assert_eq!(
            checked.unknown,
            ["/colour", "/everfold/limits/speed", "/permissions/extra", "/everfold/flags/fly"]
        );
        assert_eq!(checked.settings.everfold.limits.max_retries, 2);
    }

    #[test]
    fn s12_a_key_that_was_meant_is_no_silent_one() {
        for (value, pointer, says) in [
            (
                json!({"everfold": {"sandbox": {"main": true}}}),
                "/everfold/sandbox/main",
                "`enabled`",
            ),
            (
                json!({"everfold": {"sandbox": {"enable": true}}}),
                "/everfold/sandbox/enable",
                "mean `enabled`",
            ),
            (json!({"permissions": {"denny": []}}), "/permissions/denny", "mean `deny`"),
            (
                json!({"permissions": {"default_mode": "plan"}}),
                "/permissions/default_mode",
                "mean `defaultMode`",
            ),
            (json!({"permissions": {"Deny": []}}), "/permissions/Deny", "mean `deny`"),
        ] {
            let wrong = check(&value).unwrap_err();
            assert_eq!(wrong.pointer, pointer);
            assert!(wrong.reason.contains(says), "{}", wrong.reason);
        }
        let other = check(&json!({"permissions": {"disableBypassPermissionsMode": "x"}})).unwrap();
        assert_eq!(other.unknown, ["/permissions/disableBypassPermissionsMode"]);
    }

    #[test]
    fn c4_a_wrong_type_names_its_key() {
        let wrong =
            check(&json!({"everfold": {"models": {"a/b": {"window": "big"}}}})).unwrap_err();
        assert_eq!(wrong.pointer, "/everfold/models/a~1b/window");
        assert!(wrong.reason.contains("u64"), "{}", wrong.reason);
    }

    #[test]
    fn s2_a_list_does_not_pass_for_a_section() {
        for (list, pointer) in [
            (json!({"permissions": [["Bash"]]}), "/permissions"),
            (json!({"permissions": []}), "/permissions"),
            (json!({"everfold": []}), "/everfold"),
            (json!({"everfold": {"provider": []}}), "/everfold/provider"),
            (json!({"everfold": {"limits": [1]}}), "/everfold/limits"),
        ] {
            assert_eq!(check(&list).unwrap_err().pointer, pointer);
        }
    }

    #[test]
    fn t5_a_percentage_is_from_1_to_100() {
        for percent in [0, 101] {
            let wrong = check(&json!({"everfold": {"auto_compact_percent": percent}})).unwrap_err();
            assert_eq!(wrong.pointer, "/everfold/auto_compact_percent");
            assert_eq!(wrong.reason, "must be from 1 to 100");
        }
    }
}
