//! The schema of a tool's arguments, made from the struct that they are read
//! into.
//!
//! It is part of the cached prefix, so its bytes must depend on the struct
//! alone: keys come in one order, and nothing is added that a model has no use
//! for (names of types, widths of numbers, defaults).

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// The keys that a schema keeps, in the order in which they are written.
const KEYS: [&str; 8] = [
    "type",
    "enum",
    "minimum",
    "description",
    "items",
    "properties",
    "required",
    "additionalProperties",
];

/// The schema of what is read into `T`.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = plain(schema.to_value());
    if let Some(fields) = schema.as_object_mut() {
        // What the struct is called and for is no argument.
        fields.shift_remove("description");
    }
    schema
}

fn plain(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else { return schema };
    if let Some(kinds) = fields.get_mut("type") {
        without_null(kinds);
    }
    named_variants(&mut fields);
    let mut out = Map::new();
    for key in KEYS {
        let Some(value) = fields.shift_remove(key) else { continue };
        let value = match (key, value) {
            ("properties", Value::Object(own)) => {
                own.into_iter().map(|(name, schema)| (name, plain(schema))).collect()
            }
            ("items", schema) => plain(schema),
            ("additionalProperties", Value::Bool(true)) => continue,
            ("description", Value::String(text)) if text.is_empty() => continue,
            ("description", Value::String(text)) => Value::String(text.replace('\n', " ")),
            (_, value) => value,
        };
        out.insert(key.to_owned(), value);
    }
    Value::Object(out)
}

/// An optional argument is left out, not `null`.
fn without_null(kinds: &mut Value) {
    let Value::Array(list) = kinds else { return };
    list.retain(|kind| kind != "null");
    if let [only] = list.as_slice() {
        *kinds = only.clone();
    }
}

/// Words to choose from, where the choice is made of documented variants.
fn named_variants(fields: &mut Map<String, Value>) {
    let any = fields.shift_remove("anyOf").or_else(|| fields.shift_remove("oneOf"));
    if let Some(Value::Array(choices)) = any {
        let mut words = Vec::new();
        for choice in &choices {
            words.extend(choice.get("const").cloned());
            words.extend(
                choice.get("enum").and_then(Value::as_array).into_iter().flatten().cloned(),
            );
        }
        fields.insert("type".to_owned(), "string".into());
        fields.insert("enum".to_owned(), Value::Array(words));
    }
    if let Some(Value::Array(words)) = fields.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
}
