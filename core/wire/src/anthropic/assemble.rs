//! A stream's events, assembled into blocks.
//!
//! A block is given out when it is whole and not before, so whoever listens
//! never holds half a tool call. Unknown events, deltas and block types are
//! tolerated; what contradicts itself is [`ModelError::Broken`], which the
//! provider answers by asking again.

use super::message::{applied_edits, implied_stop};
use super::usage::UsageTally;
use crate::errors::{classify_event, is_error};
use crate::input;
use crate::sse::SseEvent;
use everfold_kernel::ports::{ModelError, ModelEvent};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Block, MessageId, ModelId, RequestId};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Assembles one answer.
#[derive(Clone, Debug)]
pub struct Assembler {
    request_id: Option<RequestId>,
    tally: UsageTally,
    open: BTreeMap<u32, Building>,
    stop_reason: Option<String>,
    context_edits: Option<Value>,
    called_tool: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Open,
    Done,
}

/// A block whose deltas still come.
#[derive(Clone, Debug)]
struct Building {
    map: Map<String, Value>,
    input_json: String,
}

impl Assembler {
    /// An assembler for the answer to a request whose cached prefixes live
    /// this long, and whose response headers gave this id.
    #[must_use]
    pub fn new(ttl: CacheTtl, request_id: Option<RequestId>) -> Self {
        Self {
            request_id,
            tally: UsageTally::new(ttl),
            open: BTreeMap::new(),
            stop_reason: None,
            context_edits: None,
            called_tool: false,
            phase: Phase::Waiting,
        }
    }

    /// Takes the next event of the stream.
    ///
    /// # Errors
    /// What an `error` event says, or [`ModelError::Broken`] when the event
    /// cannot be understood.
    pub fn push(&mut self, event: &SseEvent) -> Result<Vec<ModelEvent>, ModelError> {
        if self.phase == Phase::Done || event.name == "ping" {
            return Ok(Vec::new());
        }
        let value: Value = match serde_json::from_str(&event.data) {
            Ok(value) => value,
            Err(_) if !is_known(&event.name) => return Ok(Vec::new()),
            Err(error) => return Err(broken(format!("an event is not JSON ({error})"))),
        };
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.name);
        match kind {
            "message_start" => self.start(&value),
            "content_block_start" => self.start_block(&value),
            "content_block_delta" => self.delta(&value),
            "content_block_stop" => self.stop_block(&value),
            "message_delta" => {
                self.message_delta(&value);
                Ok(Vec::new())
            }
            "message_stop" => self.stop(),
            _ if is_error(&value) => Err(classify_event(&value)),
            _ => Ok(Vec::new()),
        }
    }

    /// Says whether the answer was whole when the bytes ended.
    ///
    /// # Errors
    /// [`ModelError::Broken`] when it was not.
    pub fn finish(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        match self.phase {
            Phase::Done => Ok(Vec::new()),
            Phase::Waiting | Phase::Open => Err(broken("the stream ended early".into())),
        }
    }

    fn start(&mut self, value: &Value) -> Result<Vec<ModelEvent>, ModelError> {
        let Some(message) = value.get("message").filter(|_| self.phase == Phase::Waiting) else {
            return Err(broken("message_start without a message, or twice".into()));
        };
        let text = |key: &str| message.get(key).and_then(Value::as_str);
        let Some(id) = text("id") else {
            return Err(broken("the message has no id".into()));
        };
        if let Some(usage) = message.get("usage") {
            self.tally.merge(usage);
        }
        self.phase = Phase::Open;
        let started = ModelEvent::Started {
            message_id: MessageId::new(id),
            request_id: self.request_id.clone(),
            model: ModelId::new(text("model").unwrap_or_default()),
            usage: self.tally.usage(),
        };
        let missed = message.pointer("/diagnostics/cache_miss_reason/type").and_then(Value::as_str);
        let missed = missed.map(|reason| ModelEvent::CacheMissed { reason: reason.to_owned() });
        Ok([Some(started), missed].into_iter().flatten().collect())
    }

    fn start_block(&mut self, value: &Value) -> Result<Vec<ModelEvent>, ModelError> {
        let index = index(value)?;
        let block = value.get("content_block").and_then(Value::as_object);
        let (Some(map), Phase::Open) = (block, self.phase) else {
            return Err(broken("a block starts outside a message".into()));
        };
        let building = Building { map: map.clone(), input_json: String::new() };
        let shown = shown(index, map.get("type"), map);
        if self.open.insert(index, building).is_some() {
            return Err(broken(format!("block {index} starts twice")));
        }
        Ok(shown.into_iter().collect())
    }

    fn delta(&mut self, value: &Value) -> Result<Vec<ModelEvent>, ModelError> {
        let index = index(value)?;
        let Some(building) = self.open.get_mut(&index) else {
            return Err(broken(format!("a delta for block {index}, which is not open")));
        };
        let Some(delta) = value.get("delta").and_then(Value::as_object) else {
            return Err(broken(format!("an empty delta for block {index}")));
        };
        building.take(delta);
        let kind = match delta.get("type").and_then(Value::as_str) {
            Some("text_delta") => "text",
            Some("thinking_delta") => "thinking",
            _ => return Ok(Vec::new()),
        };
        let kind = Value::String(kind.into());
        Ok(shown(index, Some(&kind), delta).into_iter().collect())
    }

    fn stop_block(&mut self, value: &Value) -> Result<Vec<ModelEvent>, ModelError> {
        let index = index(value)?;
        match self.open.remove(&index) {
            Some(building) => Ok(vec![self.whole(index, building)]),
            None => Err(broken(format!("block {index} stops before it starts"))),
        }
    }

    fn message_delta(&mut self, value: &Value) {
        let reason =
            value.get("delta").and_then(|delta| delta.get("stop_reason")).and_then(Value::as_str);
        if let Some(reason) = reason {
            self.stop_reason = Some(reason.to_owned());
        }
        if let Some(usage) = value.get("usage") {
            self.tally.merge(usage);
        }
        // Gateways differ in where they leave it.
        let edits = applied_edits(value).or_else(|| applied_edits(value.get("delta")?));
        self.context_edits = edits.or_else(|| self.context_edits.take());
    }

    /// The message is whole, and with it every block that a proxy forgot to stop.
    fn stop(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        if self.phase != Phase::Open {
            return Err(broken("the message stops before it starts".into()));
        }
        let open = std::mem::take(&mut self.open);
        let mut events: Vec<ModelEvent> =
            open.into_iter().map(|(index, building)| self.whole(index, building)).collect();
        self.phase = Phase::Done;
        let called_tool = self.called_tool;
        let edits = self.context_edits.take();
        events.extend(edits.map(|edits| ModelEvent::ContextEdited { edits }));
        events.push(ModelEvent::Finished {
            stop_reason: self.stop_reason.take().unwrap_or_else(|| implied_stop(called_tool)),
            usage: self.tally.usage(),
        });
        Ok(events)
    }

    fn whole(&mut self, index: u32, building: Building) -> ModelEvent {
        let block = building.finish();
        self.called_tool |= block.kind() == "tool_use";
        ModelEvent::Block { index, block }
    }
}

impl Building {
    fn take(&mut self, delta: &Map<String, Value>) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        match delta.get("type").and_then(Value::as_str) {
            Some("text_delta") => self.append("text", text("text")),
            Some("thinking_delta") => self.append("thinking", text("thinking")),
            Some("input_json_delta") => self.input_json.push_str(text("partial_json")),
            Some("citations_delta") => {
                let citation = delta.get("citation").cloned().unwrap_or(Value::Null);
                if let Some(Value::Array(list)) = self.map.get_mut("citations") {
                    list.push(citation);
                } else {
                    let list = Value::Array(vec![citation]);
                    self.map.insert("citations".into(), list);
                }
            }
            // One delta carries the whole of it: its fields are the block's.
            Some("signature_delta" | "compaction_delta") => {
                for (key, value) in delta.iter().filter(|(key, _)| *key != "type") {
                    self.map.insert(key.clone(), value.clone());
                }
            }
            _ => {}
        }
    }

    fn append(&mut self, key: &str, text: &str) {
        match self.map.get_mut(key) {
            Some(Value::String(held)) => held.push_str(text),
            _ => {
                self.map.insert(key.into(), Value::String(text.into()));
            }
        }
    }

    fn finish(mut self) -> Block {
        let is_call = self.map.get("type").and_then(Value::as_str) == Some("tool_use");
        if !self.input_json.is_empty() {
            let parsed = input::parse(&self.input_json);
            self.map.insert("input".into(), parsed);
        } else if is_call {
            let given = self.map.get("input").cloned().unwrap_or(Value::Null);
            self.map.insert("input".into(), input::from_value(given));
        }
        Block::from_value(Value::Object(self.map)).unwrap_or_else(|| Block::text(""))
    }
}

/// What a person is shown of a block's start or of a delta, if anything.
fn shown(index: u32, kind: Option<&Value>, map: &Map<String, Value>) -> Option<ModelEvent> {
    let kind = kind.and_then(Value::as_str)?;
    let text = map.get(kind).and_then(Value::as_str)?.to_owned();
    match kind {
        _ if text.is_empty() => None,
        "text" => Some(ModelEvent::Text { index, text }),
        "thinking" => Some(ModelEvent::Thinking { index, text }),
        _ => None,
    }
}

fn is_known(name: &str) -> bool {
    matches!(
        name,
        "" | "message"
            | "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
            | "message_delta"
            | "message_stop"
            | "error"
    )
}

fn index(value: &Value) -> Result<u32, ModelError> {
    value
        .get("index")
        .and_then(Value::as_u64)
        .and_then(|index| u32::try_from(index).ok())
        .ok_or_else(|| broken("an event of a block has no index".into()))
}

fn broken(message: String) -> ModelError {
    ModelError::Broken { message }
}
