//! What the keys of a frontmatter hold.
//!
//! Three tries, each more forgiving: YAML as it stands, YAML after the repair
//! pass, and the lines themselves. Something always comes out.

use crate::FrontmatterFault;
use crate::lines::fields;
use crate::repair::repaired;
use serde_json::{Map, Value};

/// A frontmatter longer than this is read by its lines only.
const MAX_YAML_BYTES: usize = 64 * 1024;
const MAX_DEPTH: usize = 16;
const MAX_NODES: usize = 4_000;

/// Why a text holds no keys.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoKeys {
    #[error(transparent)]
    Yaml(#[from] serde_saphyr::Error),
    #[error("it is not a list of keys")]
    NoMapping,
}

/// Reads YAML within a budget; only a mapping will do.
pub(crate) fn parse_strict(yaml: &str) -> Result<Map<String, Value>, NoKeys> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            // Nobody means them in a frontmatter; `&x` and `*x` are just text.
            max_aliases: 0,
            max_anchors: 0,
            max_documents: 1,
        },
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::LastWins,
        reject_unsupported_tags: true,
        with_snippet: false,
    };
    let value: Value = serde_saphyr::from_str_with_options(yaml, options)?;
    match value {
        Value::Object(map) => Ok(map),
        Value::Null => Ok(Map::new()),
        _ => Err(NoKeys::NoMapping),
    }
}

/// Reads a frontmatter, whatever state it is in.
#[must_use]
pub fn read(yaml: &str) -> (Map<String, Value>, Option<FrontmatterFault>) {
    if yaml.len() > MAX_YAML_BYTES {
        let message = format!("it has {} bytes, over {MAX_YAML_BYTES}", yaml.len());
        return (by_lines(yaml), Some(FrontmatterFault::Unreadable { message }));
    }
    let (mut map, fault) = match parse_strict(yaml) {
        Ok(map) => (map, None),
        Err(error) => {
            let message = error.to_string();
            match parse_strict(&repaired(yaml)) {
                Ok(map) => (map, Some(FrontmatterFault::Repaired { message })),
                Err(_) => (by_lines(yaml), Some(FrontmatterFault::Unreadable { message })),
            }
        }
    };
    keep_spelling(yaml, &mut map);
    (map, fault)
}

/// Numbers and the like are text to us: `1.10` is a name, not 1.1.
fn keep_spelling(yaml: &str, map: &mut Map<String, Value>) {
    for field in fields(yaml, 0..yaml.len()) {
        match map.get_mut(&field.key) {
            Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                *value = Value::String(yaml.get(field.value).unwrap_or_default().to_owned());
            }
            Some(Value::Object(below)) => {
                let inner = yaml.get(field.line.end..field.end).unwrap_or_default();
                keep_spelling(inner, below);
            }
            _ => {}
        }
    }
}

fn by_lines(yaml: &str) -> Map<String, Value> {
    let mut map = Map::new();
    for field in fields(yaml, 0..yaml.len()) {
        let value = yaml.get(field.value).unwrap_or_default();
        let below = yaml.get(field.line.end..field.end).unwrap_or_default();
        let read = if value.is_empty() && !fields(below, 0..below.len()).is_empty() {
            Value::Object(by_lines(below))
        } else {
            Value::String(unquoted(value))
        };
        map.insert(field.key, read);
    }
    map
}

fn unquoted(value: &str) -> String {
    let strip = |quote| value.strip_prefix(quote).and_then(|v: &str| v.strip_suffix(quote));
    strip('"').or_else(|| strip('\'')).unwrap_or(value).to_owned()
}

/// A value as one text.
#[must_use]
pub fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// A value as texts: a list, or one text with commas.
#[must_use]
pub fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(text).collect(),
        other => text(other)
            .map(|all| {
                all.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect()
            })
            .unwrap_or_default(),
    }
}
