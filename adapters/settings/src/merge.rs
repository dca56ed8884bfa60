//! Merging layers, each leaf with its origin (C4).
//!
//! Objects merge deep, lists are joined without repeats, anything else is
//! replaced by what comes later. A leaf is a value that is neither an object nor a
//! list, or one element of a list (whole, whatever it is). Merging knows
//! nothing of what keys mean.

use crate::origin::{ValueOrigin, child, segments};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What one source says.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    pub origin: ValueOrigin,
    /// An object in the shape of settings.
    pub value: Value,
}

impl Layer {
    /// A layer that sets one key, named by a JSON pointer such as `/model`.
    #[must_use]
    pub fn leaf(origin: ValueOrigin, pointer: &str, value: Value) -> Self {
        let path: Vec<String> = segments(pointer).collect();
        let value = path
            .into_iter()
            .rev()
            .fold(value, |inner, segment| Value::Object(Map::from_iter([(segment, inner)])));
        Self { origin, value }
    }

    /// A layer of one command-line flag.
    #[must_use]
    pub fn flag(name: &str, pointer: &str, value: impl Into<Value>) -> Self {
        Self::leaf(ValueOrigin::Flag(name.to_owned()), pointer, value.into())
    }
}

/// The sum of layers.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedSettings {
    pub value: Value,
    /// The last source that set each leaf, by JSON pointer.
    pub origins: BTreeMap<String, ValueOrigin>,
}

/// Merges layers, the later ones winning.
#[must_use]
pub fn merge<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> MergedSettings {
    let mut merged = MergedSettings { value: Value::Object(Map::new()), origins: BTreeMap::new() };
    for layer in layers {
        let mut step = Step { origin: &layer.origin, origins: &mut merged.origins };
        step.lay(&mut merged.value, &layer.value, "");
    }
    merged
}

struct Step<'a> {
    origin: &'a ValueOrigin,
    origins: &'a mut BTreeMap<String, ValueOrigin>,
}

impl Step<'_> {
    fn lay(&mut self, base: &mut Value, over: &Value, pointer: &str) {
        match (base, over) {
            (Value::Object(base), Value::Object(over)) => {
                for (key, value) in over {
                    let slot = base.entry(key).or_insert_with(|| empty_like(value));
                    self.lay(slot, value, &child(pointer, key));
                }
            }
            (Value::Array(base), Value::Array(over)) => {
                for element in over {
                    let index = base.iter().position(|old| old == element);
                    let index = index.unwrap_or_else(|| {
                        base.push(element.clone());
                        base.len() - 1
                    });
                    self.note(child(pointer, &index.to_string()));
                }
            }
            (base, Value::Object(_) | Value::Array(_)) => {
                self.forget(pointer);
                *base = empty_like(over);
                self.lay(base, over, pointer);
            }
            (base, over) => {
                self.forget(pointer);
                *base = over.clone();
                self.note(pointer.to_owned());
            }
        }
    }

    fn note(&mut self, pointer: String) {
        self.origins.insert(pointer, self.origin.clone());
    }

    /// Drops the origins of a value that is replaced whole.
    fn forget(&mut self, pointer: &str) {
        let below = format!("{pointer}/");
        self.origins.retain(|known, _| known != pointer && !known.starts_with(&below));
    }
}

fn empty_like(value: &Value) -> Value {
    match value {
        Value::Object(_) => Value::Object(Map::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn layer(index: usize, value: Value) -> Layer {
        Layer { origin: ValueOrigin::Env(index.to_string()), value }
    }

    #[test]
    fn c4_objects_merge_lists_join_and_the_later_scalar_wins() {
        let layers = [
            layer(0, json!({"a": {"x": 1, "y": 1}, "l": ["p", "q"]})),
            layer(1, json!({"a": {"y": 2}, "l": ["q", "r"]})),
        ];
        let merged = merge(&layers);
        assert_eq!(merged.value, json!({"a": {"x": 1, "y": 2}, "l": ["p", "q", "r"]}));
        let origin = |pointer: &str| merged.origins.get(pointer).cloned();
        assert_eq!(origin("/a/x"), Some(ValueOrigin::Env("0".into())));
        assert_eq!(origin("/a/y"), Some(ValueOrigin::Env("1".into())));
        assert_eq!(origin("/l/0"), Some(ValueOrigin::Env("0".into())));
        assert_eq!(origin("/l/1"), Some(ValueOrigin::Env("1".into())));
    }

    #[test]
    fn c4_a_value_of_another_kind_replaces_the_old_one_whole() {
        let layers = [layer(0, json!({"a": {"x": 1}})), layer(1, json!({"a": 2}))];
        let merged = merge(&layers);
        assert_eq!(merged.value, json!({"a": 2}));
        assert_eq!(merged.origins.len(), 1);
    }

    /// Leaves of one source: pointer and value; elements of lists under the
    /// pointer of their list, because their place may change.
    fn leaves(value: &Value, pointer: &str, out: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    leaves(value, &child(pointer, key), out);
                }
            }
            Value::Array(list) => {
                out.extend(list.iter().map(|e| (format!("{pointer}[]"), e.clone())));
            }
            other => out.push((pointer.to_owned(), other.clone())),
        }
    }

    fn leaves_of(value: &Value) -> Vec<(String, Value)> {
        let mut out = Vec::new();
        leaves(value, "", &mut out);
        out
    }

    fn tree() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            any::<bool>().prop_map(Value::from),
            (0..3_u8).prop_map(Value::from),
            Just(Value::Null),
        ];
        let node = scalar.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c/~]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        });
        prop::collection::btree_map("[a-c]", node, 0..4)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
    }

    proptest! {
        #[test]
        fn c4_merging_keeps_the_winner_and_invents_nothing(values in prop::collection::vec(tree(), 1..4)) {
            let layers: Vec<Layer> = values.into_iter().enumerate().map(|(i, v)| layer(i, v)).collect();
            let merged = merge(&layers);
            let by_layer: Vec<_> = layers.iter().map(|layer| leaves_of(&layer.value)).collect();
            let all = leaves_of(&merged.value);

            for leaf in by_layer.last().unwrap() {
                prop_assert!(all.contains(leaf), "lost {leaf:?}");
            }
            prop_assert_eq!(all.len(), merged.origins.len());
            for (pointer, origin) in &merged.origins {
                let value = merged.value.pointer(pointer);
                prop_assert!(value.is_some(), "origin of nothing: {}", pointer);
                let value = value.unwrap().clone();
                let list = pointer.rsplit_once('/').unwrap().0;
                let in_list = matches!(merged.value.pointer(list), Some(Value::Array(_)));
                let key = if in_list { format!("{list}[]") } else { pointer.clone() };
                let last = by_layer.iter().rposition(|leaves| leaves.contains(&(key.clone(), value.clone())));
                prop_assert_eq!(origin, &ValueOrigin::Env(last.unwrap().to_string()));
            }
        }
    }
}
