//! Large results in short, with a compressed copy (L1, E11).
//!
//! A result that goes to disk is there whole in its own file. Its line says
//! what the model sees of it, so that every reader of such files finds that,
//! and holds all of it once more, compressed, under a key of our own: neither
//! file has to be there for the other one to be whole.
//!
//! What is compressed is JSON: `contents` has the content of each shortened
//! block by its place, `toolUseResult` the structured form. That mostly
//! repeats the content, so a text in it that stands in one is a reference.
//!
//! Code and output of programs are short enough by bzip2; prose is not, and gets
//! the model that compresses it best, which takes a few times as long.

use super::text_form;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bzip2::Compression;
use bzip2::read::{BzDecoder, BzEncoder};
use everfold_kernel::{Block, BlockView, ToolUseId, UserEntry};
use ppmd_rust::{Ppmd7Decoder, Ppmd7Encoder};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// Under `everfold`: the compressed copy.
pub(super) const PACKED: &str = "packed";
/// How it is made, as the key that holds it: the first two are written, the last
/// one was, with base64.
const BZIP2: &str = "bzip2.91";
const PPMD: &str = "ppmd.91";
const OLD_BZIP2: &str = "bzip2";
/// What bzip2 has to bring a copy down to, of a hundred; else the other is tried.
const ENOUGH: usize = 29;
/// How far back `PPMd` looks, and what its model may take. Both are part of the form.
const ORDER: u32 = 12;
const MODEL_BYTES: u32 = 16 << 20;
/// In the copy of a structured form: a text that stands in a content.
const REFERENCE: &str = "everfoldIn";
/// Texts of a structured form up to this size stay in it.
const SHORT_BYTES: usize = 8 << 10;
/// What a longer one is cut to.
const CUT_BYTES: usize = 200;
/// Most bytes that a copy holds: one that says it has more is not read.
const MOST_BYTES: u64 = 256 << 20;

/// The compressed copy of a line's content.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed(Value);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Copy {
    contents: BTreeMap<usize, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_use_result: Option<Value>,
}

/// What a line says in place of the whole.
pub(super) struct Short {
    pub(super) content: Vec<Block>,
    pub(super) tool_use_result: Option<Value>,
    pub(super) packed: Value,
}

/// The short form of a message whose results are shown by these previews.
/// None where nothing is, or where it would not be shorter.
pub(super) fn shorten(user: &UserEntry, previews: &BTreeMap<ToolUseId, String>) -> Option<Short> {
    let mut content = user.content.clone();
    let mut contents = BTreeMap::new();
    for (at, block) in content.iter_mut().enumerate() {
        let BlockView::ToolResult { id, content: whole, .. } = block.view() else { continue };
        let Some(preview) = previews.get(&ToolUseId::new(id)) else { continue };
        contents.insert(at, whole.clone());
        *block = block.with_result_content(preview.as_str().into());
    }
    let structured = user.tool_use_result.as_ref();
    if contents.is_empty() || structured.is_some_and(has_reference) {
        return None;
    }
    let tool_use_result =
        structured.map(|value| map_texts(value, &|text| referred(text, &contents)));
    let copy = serde_json::to_string(&Copy { contents, tool_use_result }).ok()?;
    let (form, packed) = compress(copy.as_bytes())?;
    let is_shorter = packed.len() < copy.len() && copy.len() as u64 <= MOST_BYTES;
    is_shorter.then(|| Short {
        content,
        tool_use_result: structured.map(|value| map_texts(value, &cut)),
        packed: json!({"bytes": copy.len(), form: packed}),
    })
}

impl Packed {
    pub(super) fn new(value: Value) -> Self {
        Self(value)
    }

    /// Puts the whole back. Says whether it could: a copy that is damaged
    /// leaves what the model saw.
    #[must_use]
    pub fn restore(&self, user: &mut UserEntry) -> Restored {
        let Some(copy) = self.copy() else { return Restored::Damaged };
        let texts = &copy.contents;
        user.tool_use_result = copy.tool_use_result.map(|value| resolved(value, texts));
        for (at, whole) in copy.contents {
            if let Some(block) = user.content.get_mut(at) {
                *block = block.with_result_content(whole);
            }
        }
        Restored::Whole
    }

    /// The same copy with every text in it changed; none where nothing is, or
    /// it is damaged.
    pub(crate) fn with_texts(&self, change: &dyn Fn(&str) -> Option<String>) -> Option<Value> {
        let Copy { contents, tool_use_result } = self.copy()?;
        let change = &|text: &str| change(text).map(Value::from);
        let whole = tool_use_result.map(|value| resolved(value, &contents));
        let changed: BTreeMap<usize, Value> =
            contents.iter().map(|(at, value)| (*at, map_texts(value, change))).collect();
        let structured = whole.as_ref().map(|value| map_texts(value, change));
        if changed == contents && structured == whole {
            return None;
        }
        let tool_use_result =
            structured.map(|value| map_texts(&value, &|text| referred(text, &changed)));
        let copy = serde_json::to_string(&Copy { contents: changed, tool_use_result }).ok()?;
        let (form, packed) = compress(copy.as_bytes())?;
        Some(json!({"bytes": copy.len(), form: packed}))
    }

    /// Every text in it.
    pub(crate) fn each_text(&self, sink: &mut dyn FnMut(&str)) {
        let Some(copy) = self.copy() else { return };
        let structured = copy.tool_use_result.iter();
        for value in copy.contents.values().chain(structured) {
            each_text(value, sink);
        }
    }

    /// Whether a value has the form of such a copy.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let has = |key: &str| value.get(key).is_some();
        let has_form = [BZIP2, PPMD, OLD_BZIP2].into_iter().any(has);
        (has("bytes") && has_form).then(|| Self(value.clone()))
    }

    fn copy(&self) -> Option<Copy> {
        let bytes = self.0.get("bytes")?.as_u64().filter(|bytes| *bytes <= MOST_BYTES)?;
        let text = |form: &str| self.0.get(form).and_then(Value::as_str);
        let copy = if let Some(packed) = text(PPMD) {
            let packed = text_form::read(packed)?;
            whole(Ppmd7Decoder::new(&*packed, ORDER, MODEL_BYTES).ok()?, bytes)
        } else if let Some(packed) = text(BZIP2) {
            whole(BzDecoder::new(&*text_form::read(packed)?), bytes)
        } else {
            whole(BzDecoder::new(&*STANDARD.decode(text(OLD_BZIP2)?).ok()?), bytes)
        };
        serde_json::from_slice(&copy?).ok()
    }
}

/// What came of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The record is as it was written.
    Whole,
    /// The copy could not be read.
    Damaged,
}

/// So many bytes of what is read.
fn whole(packed: impl Read, bytes: u64) -> Option<Vec<u8>> {
    let mut copy = Vec::new();
    packed.take(bytes).read_to_end(&mut copy).ok()?;
    Some(copy)
}

/// The form in which some bytes are short enough, and that.
fn compress(bytes: &[u8]) -> Option<(&'static str, String)> {
    let mut packed = Vec::new();
    BzEncoder::new(bytes, Compression::best()).read_to_end(&mut packed).ok()?;
    let short = text_form::write(&packed);
    if short.len() <= bytes.len() / 100 * ENOUGH {
        return Some((BZIP2, short));
    }
    let shorter = by_model(bytes).map(|packed| text_form::write(&packed));
    Some(match shorter {
        Some(shorter) if shorter.len() < short.len() => (PPMD, shorter),
        _ => (BZIP2, short),
    })
}

fn by_model(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = Ppmd7Encoder::new(Vec::new(), ORDER, MODEL_BYTES).ok()?;
    encoder.write_all(bytes).ok()?;
    encoder.finish(false).ok()
}

/// The value with every text in it changed, where there is something to change.
fn map_texts(value: &Value, change: &dyn Fn(&str) -> Option<Value>) -> Value {
    match value {
        Value::String(text) => change(text).unwrap_or_else(|| value.clone()),
        Value::Array(items) => items.iter().map(|item| map_texts(item, change)).collect(),
        Value::Object(fields) => {
            let changed = |(key, item): (&String, _)| (key.clone(), map_texts(item, change));
            Value::Object(fields.iter().map(changed).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn each_text(value: &Value, sink: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => sink(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, sink)),
        Value::Object(fields) => fields.values().for_each(|item| each_text(item, sink)),
        _ => {}
    }
}

/// The start of a long text.
fn cut(text: &str) -> Option<Value> {
    let start = text.get(..text.floor_char_boundary(CUT_BYTES))?;
    (text.len() > SHORT_BYTES).then(|| format!("{start}…").into())
}

/// Where a long text stands in the contents.
fn referred(text: &str, contents: &BTreeMap<usize, Value>) -> Option<Value> {
    let mut found =
        contents.iter().filter_map(|(at, whole)| Some((at, whole.as_str()?.find(text)?)));
    let (at, start) = found.next().filter(|_| text.len() > SHORT_BYTES)?;
    Some(json!({REFERENCE: [at, start, text.len()]}))
}

fn has_reference(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields.contains_key(REFERENCE) || fields.values().any(has_reference)
        }
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

/// The structured form with its references followed.
fn resolved(value: Value, contents: &BTreeMap<usize, Value>) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| resolved(item, contents)).collect(),
        Value::Object(fields) => {
            if let Some(reference) = fields.get(REFERENCE) {
                return followed(reference, contents).unwrap_or_default();
            }
            let whole = |(key, item)| (key, resolved(item, contents));
            Value::Object(fields.into_iter().map(whole).collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn followed(reference: &Value, contents: &BTreeMap<usize, Value>) -> Option<Value> {
    let (at, start, bytes) = <(usize, usize, usize)>::deserialize(reference).ok()?;
    let text = contents.get(&at)?.as_str()?.get(start..start.checked_add(bytes)?)?;
    Some(text.into())
}
