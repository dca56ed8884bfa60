//! The JSON schema of settings, and the list of keys that follows from it (C6).
//!
//! [`everfold_kernel::Settings`] is the one list; the schema for editors and
//! the page for people are both made from it, so neither can fall behind.

mod page;

pub use page::reference_page;

use crate::check::RANGES;
use crate::origin::{child, segments};
use everfold_kernel::settings::{DEFAULT_MODEL, DEFAULT_SMALL_MODEL};
use everfold_kernel::{Flag, Settings};
use serde_json::{Map, Value, json};

/// The schema, with every flag by name and the bounds that types do not say.
#[must_use]
pub fn settings_schema() -> Value {
    let mut schema = schemars::schema_for!(Settings).to_value();
    let flags = Flag::ALL.iter().map(|flag| {
        let entry = json!({
            "description": flag.about(),
            "type": "boolean",
            "default": flag.default_on(),
        });
        (flag.name().to_owned(), entry)
    });
    let flags = Value::Object(flags.collect::<Map<_, _>>());
    say(&mut schema, "/everfold/flags", "properties", flags);
    // Settings leave these unset, so that what nobody said is not written.
    say(&mut schema, "/model", "default", DEFAULT_MODEL.into());
    let small = DEFAULT_SMALL_MODEL.into();
    say(&mut schema, "/everfold/small_model", "default", small);
    for (pointer, least, most) in RANGES {
        say(&mut schema, pointer, "minimum", (*least).into());
        if *most < u64::MAX {
            say(&mut schema, pointer, "maximum", (*most).into());
        }
    }
    schema
}

/// Adds one keyword to the property that a settings pointer names.
fn say(schema: &mut Value, pointer: &str, keyword: &str, value: Value) {
    let mut place = String::new();
    for segment in segments(pointer) {
        let reference = schema.pointer(&format!("{place}/$ref"));
        if let Some(target) = reference.and_then(Value::as_str) {
            place = target.trim_start_matches('#').to_owned();
        }
        place = child(&format!("{place}/properties"), &segment);
    }
    if let Some(Value::Object(property)) = schema.pointer_mut(&place) {
        property.insert(keyword.to_owned(), value);
    }
}

/// One key that can be set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// The key, as a JSON pointer.
    pub(crate) pointer: String,
    /// What it takes, in words.
    pub(crate) takes: String,
    /// What holds where nobody sets it; null if nothing does.
    pub(crate) default: Value,
    pub(crate) meaning: String,
}

/// Every key of a schema, in its order, down to where free names begin.
pub(crate) fn keys(schema: &Value) -> Vec<Key> {
    let mut keys = Vec::new();
    collect(schema, schema, "", &mut keys);
    keys
}

fn collect(schema: &Value, object: &Value, pointer: &str, out: &mut Vec<Key>) {
    let Some(Value::Object(properties)) = object.get("properties") else {
        return;
    };
    for (name, property) in properties {
        let pointer = child(pointer, name);
        let shape = follow(schema, property);
        if shape.get("properties").is_some() {
            collect(schema, shape, &pointer, out);
            continue;
        }
        out.push(Key {
            pointer,
            takes: takes(schema, property),
            default: property.get("default").cloned().unwrap_or_default(),
            meaning: one_line(property.get("description")),
        });
    }
}

/// What a property is once references are followed.
fn follow<'a>(schema: &'a Value, property: &'a Value) -> &'a Value {
    property
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.strip_prefix('#'))
        .and_then(|pointer| schema.pointer(pointer))
        .unwrap_or(property)
}

/// What a property takes, in words.
fn takes(schema: &Value, property: &Value) -> String {
    let shape = follow(schema, property);
    if let Some(Value::Array(options)) = shape.get("anyOf").or(shape.get("oneOf")) {
        let mut words: Vec<String> = options
            .iter()
            .map(|option| takes(schema, option))
            .filter(|word| word != "null")
            .collect();
        words.dedup();
        return words.join(", ");
    }
    if let Some(word) = shape.get("const") {
        return literal(word);
    }
    if let Some(Value::Array(words)) = shape.get("enum") {
        return words.iter().map(literal).collect::<Vec<_>>().join(", ");
    }
    let kind = match shape.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().find(|kind| *kind != "null"),
        one => one,
    };
    match kind.and_then(Value::as_str) {
        Some("array") => match shape.get("items") {
            Some(items) => format!("list of {}", takes(schema, items)),
            None => "list".to_owned(),
        },
        Some("object") => match shape.get("additionalProperties") {
            Some(inner @ Value::Object(_)) => {
                format!("object of {} by name", takes(schema, inner))
            }
            _ => "object".to_owned(),
        },
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some(other) => other.to_owned(),
        None => "anything".to_owned(),
    }
}

fn literal(value: &Value) -> String {
    format!("`{}`", value.as_str().unwrap_or_default())
}

fn one_line(text: Option<&Value>) -> String {
    let text = text.and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(pointer: &str) -> Key {
        keys(&settings_schema()).into_iter().find(|key| key.pointer == pointer).unwrap()
    }

    #[test]
    fn c6_the_schema_lists_flags_limits_and_known_names() {
        assert_eq!(key("/everfold/flags/recall").default, true);
        assert_eq!(key("/everfold/flags/collapse").default, false);
        assert_eq!(key("/everfold/limits/max_retries").default, 10);
        assert_eq!(key("/model").default, DEFAULT_MODEL);
        assert_eq!(key("/autoMemoryEnabled").takes, "true or false");
        assert_eq!(key("/everfold/cache/ttl").default, "auto");
        assert_eq!(key("/permissions/allow").takes, "list of string");
        assert!(key("/permissions/defaultMode").takes.contains("`plan`"));
        let schema = settings_schema();
        let percent = &schema["$defs"]["Own"]["properties"]["auto_compact_percent"];
        assert_eq!((&percent["minimum"], &percent["maximum"]), (&json!(1), &json!(100)));
        assert!(schema["$schema"].as_str().unwrap().contains("2020-12"));
    }

    #[test]
    fn c6_every_key_says_what_it_is_for() {
        for key in keys(&settings_schema()) {
            assert!(!key.meaning.is_empty(), "{}", key.pointer);
            assert_ne!(key.takes, "", "{}", key.pointer);
        }
    }

    #[test]
    fn c6_the_keys() {
        // Limits are many and change often; docs/guide/settings.md shows them.
        let listing: Vec<String> = keys(&settings_schema())
            .iter()
            .filter(|key| !key.pointer.starts_with("/everfold/limits/"))
            .map(|key| format!("{}: {} = {}", key.pointer, key.takes, key.default))
            .collect();
        insta::assert_snapshot!(listing.join("\n"));
    }
}
