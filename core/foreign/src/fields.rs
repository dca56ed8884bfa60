//! Looking into JSON that anyone may have written.

use everfold_kernel::Block;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// The fields of a line.
pub(crate) type Fields = Map<String, Value>;

pub(crate) fn text<'a>(fields: &'a Fields, key: &str) -> Option<&'a str> {
    fields.get(key)?.as_str().filter(|text| !text.is_empty())
}

pub(crate) fn object<'a>(fields: &'a Fields, key: &str) -> Option<&'a Fields> {
    fields.get(key)?.as_object()
}

pub(crate) fn count(fields: &Fields, key: &str) -> u64 {
    fields.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// A time: a text, or milliseconds since 1970.
pub(crate) fn time(value: Option<&Value>) -> Option<Timestamp> {
    match value? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => Timestamp::from_millisecond(number.as_i64()?).ok(),
        _ => None,
    }
}

/// The blocks of a content in any of the forms that agents write: a string,
/// or parts of which texts and pictures are known. The rest is passed over
/// and told to `unknown`.
pub(crate) fn blocks(content: Option<&Value>, unknown: &mut dyn FnMut(&str)) -> Vec<Block> {
    match content {
        Some(Value::String(text)) => vec![Block::text(text.as_str())],
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| block(part.as_object()?, unknown)).collect()
        }
        _ => Vec::new(),
    }
}

fn block(part: &Fields, unknown: &mut dyn FnMut(&str)) -> Option<Block> {
    match text(part, "type").unwrap_or("") {
        "text" | "input_text" | "output_text" | "summary_text" => {
            Some(Block::text(part.get("text")?.as_str()?))
        }
        "image" => {
            let media = text(part, "mimeType").unwrap_or("image/png");
            Some(Block::image(media, text(part, "data").unwrap_or("")))
        }
        "input_image" => Block::from_value(json!({"type": "image", "source":
            {"type": "url", "url": part.get("image_url").cloned().unwrap_or_default()}})),
        other => {
            unknown(other);
            None
        }
    }
}
