//! The chunks of a chat completion, assembled into blocks.
//!
//! Blocks are given out when the answer is whole: text first, then the calls
//! in their order. Servers differ: some send a call in one chunk and some in
//! pieces, some give no ids, no usage or no `[DONE]`. All of that is taken.

use super::message::{stop_reason, usage_of};
use crate::errors::{classify_event, is_error};
use crate::input;
use crate::sse::SseEvent;
use everfold_kernel::ports::{ModelError, ModelEvent};
use everfold_kernel::{Block, MessageId, ModelId, RequestId, ToolUseId, Usage};
use serde_json::Value;
use std::collections::BTreeMap;

/// Ids shorter than this are not unique enough to name a response: Ollama
/// draws its own from less than a thousand.
const UNIQUE_ID_BYTES: usize = 20;

/// The name of an answer, from what the server and the caller know.
#[derive(Clone, Debug)]
pub struct AnswerIds {
    /// The request, as the server named it in a header.
    pub request_id: Option<RequestId>,
    /// A text that no other answer has; it completes ids that may repeat.
    pub unique: String,
}

impl AnswerIds {
    pub(super) fn message_id(&self, id: Option<&str>) -> MessageId {
        match id {
            Some(id) if id.len() >= UNIQUE_ID_BYTES => MessageId::new(id),
            Some(id) if !id.is_empty() => MessageId::new(format!("{id}-{}", self.unique)),
            _ => MessageId::new(format!("chatcmpl-{}", self.unique)),
        }
    }
}

/// How far a server is with reading a prompt, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptProgress {
    /// Read, from its cache or anew.
    pub read: u64,
    pub total: u64,
}

impl PromptProgress {
    /// As llama.cpp tells it before the answer begins.
    fn of(chunk: &Value) -> Option<Self> {
        let told = chunk.get("prompt_progress")?;
        let tokens = |key: &str| told.get(key).and_then(Value::as_u64);
        Some(Self { read: tokens("processed")?, total: tokens("total")? })
    }
}

#[derive(Clone, Debug)]
pub struct Assembler {
    answer: AnswerIds,
    message_id: Option<MessageId>,
    text: String,
    calls: BTreeMap<u64, Call>,
    finish_reason: Option<String>,
    usage: Usage,
    progress: Option<PromptProgress>,
    done: bool,
}

/// A call whose pieces still come.
#[derive(Clone, Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Assembler {
    /// An assembler for one answer.
    #[must_use]
    pub fn new(answer: AnswerIds) -> Self {
        Self {
            answer,
            message_id: None,
            text: String::new(),
            calls: BTreeMap::new(),
            finish_reason: None,
            usage: Usage::default(),
            progress: None,
            done: false,
        }
    }

    /// How far the prompt is read, as far as it was told.
    #[must_use]
    pub fn progress(&self) -> Option<PromptProgress> {
        self.progress
    }

    /// Takes the next event of the stream.
    ///
    /// # Errors
    /// What an error object says, or [`ModelError::Broken`] when the event is
    /// not JSON.
    pub fn push(&mut self, event: &SseEvent) -> Result<Vec<ModelEvent>, ModelError> {
        if self.done {
            return Ok(Vec::new());
        }
        if event.data.trim() == "[DONE]" {
            return self.finish();
        }
        let chunk: Value = serde_json::from_str(&event.data).map_err(|error| {
            ModelError::Broken { message: format!("an event is not JSON ({error})") }
        })?;
        if is_error(&chunk) {
            return Err(classify_event(&chunk));
        }
        if let Some(progress) = PromptProgress::of(&chunk) {
            self.progress = Some(progress);
            return Ok(Vec::new());
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = usage_of(usage);
        }
        let mut events: Vec<ModelEvent> = self.start(&chunk).into_iter().collect();
        let choice = chunk.get("choices").and_then(|choices| choices.get(0));
        if let Some(choice) = choice {
            self.choice(choice, &mut events);
        }
        Ok(events)
    }

    /// Ends the answer when the bytes end: it is whole if the server said why
    /// it stopped.
    ///
    /// # Errors
    /// [`ModelError::Broken`] when it is not whole.
    pub fn finish(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        if self.done {
            return Ok(Vec::new());
        }
        let (Some(reason), Some(id)) = (&self.finish_reason, &self.message_id) else {
            return Err(ModelError::Broken { message: "the stream ended early".into() });
        };
        self.done = true;
        let stop_reason = stop_reason(reason, !self.calls.is_empty());
        let text = (!self.text.is_empty()).then(|| Block::text(std::mem::take(&mut self.text)));
        let calls = std::mem::take(&mut self.calls)
            .into_iter()
            .map(|(number, call)| call.block(id, number));
        let mut events: Vec<ModelEvent> = (0..)
            .zip(text.into_iter().chain(calls))
            .map(|(index, block)| ModelEvent::Block { index, block })
            .collect();
        events.push(ModelEvent::Finished { stop_reason, usage: self.usage });
        Ok(events)
    }

    fn start(&mut self, chunk: &Value) -> Option<ModelEvent> {
        // A first chunk with neither is a note of a proxy, not the answer.
        let is_chunk = chunk.get("choices").is_some() || chunk.get("id").is_some();
        if self.message_id.is_some() || !is_chunk {
            return None;
        }
        let text = |key: &str| chunk.get(key).and_then(Value::as_str);
        let id = self.answer.message_id(text("id"));
        self.message_id = Some(id.clone());
        Some(ModelEvent::Started {
            message_id: id,
            request_id: self.answer.request_id.clone(),
            model: ModelId::new(text("model").unwrap_or_default()),
            usage: self.usage,
        })
    }

    fn choice(&mut self, choice: &Value, events: &mut Vec<ModelEvent>) {
        let delta = choice.get("delta").unwrap_or(&Value::Null);
        let text = |key: &str| {
            let text = delta.get(key).and_then(Value::as_str)?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        if let Some(text) = text("reasoning_content").or_else(|| text("reasoning")) {
            events.push(ModelEvent::Thinking { index: 0, text });
        }
        if let Some(text) = text("content") {
            self.text.push_str(&text);
            events.push(ModelEvent::Text { index: 0, text });
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (place, piece) in (0..).zip(calls.into_iter().flatten()) {
            self.call_piece(place, piece);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish_reason = Some(reason.to_owned());
        }
    }

    fn call_piece(&mut self, place: u64, piece: &Value) {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
        let function = piece.get("function").unwrap_or(&Value::Null);
        let id = text(piece.get("id"));
        let number = match piece.get("index").and_then(Value::as_u64) {
            Some(number) => number,
            None => self.number_without_index(&id, place),
        };
        let call = self.calls.entry(number).or_default();
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name.is_empty() {
            call.name = text(function.get("name"));
        }
        match function.get("arguments") {
            Some(Value::String(part)) => call.arguments.push_str(part),
            Some(Value::Null) | None => {}
            Some(whole) => call.arguments = whole.to_string(),
        }
    }

    /// Without an index a new id is a new call, and a piece without an id
    /// belongs to the newest one.
    fn number_without_index(&self, id: &str, place: u64) -> u64 {
        let newest = self.calls.keys().next_back().copied();
        let known = self.calls.iter().find(|(_, call)| !id.is_empty() && call.id == id);
        match (known, newest) {
            (Some((number, _)), _) => *number,
            (None, Some(newest)) if id.is_empty() => newest.max(place),
            (None, Some(newest)) => newest + 1,
            (None, None) => place,
        }
    }
}

impl Call {
    fn block(self, message: &MessageId, number: u64) -> Block {
        call_block(message, number, self.id, &self.name, input::parse(&self.arguments))
    }
}

/// A call as a block; an id that is missing is made up, the same every time.
pub(super) fn call_block(
    message: &MessageId,
    number: u64,
    id: String,
    name: &str,
    input: Value,
) -> Block {
    let id = if id.is_empty() { format!("call_{message}_{number}") } else { id };
    Block::tool_use(&ToolUseId::from(id), name, input)
}
