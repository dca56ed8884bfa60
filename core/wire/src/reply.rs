//! A whole answer and the events by which it is streamed, each from the other.

use crate::openai::AnswerIds;
use crate::sse::{Decoder, SseEvent};
use crate::{anthropic, openai};
use everfold_kernel::BlockView;
use everfold_kernel::ports::{ModelError, ModelEvent, ModelReply};
use everfold_kernel::record::{CacheTtl, Dialect};

/// Most bytes of one event of an answer that is read from memory.
const EVENT_BYTES: usize = 64 << 20;

/// Reads the body of a response, whether it was streamed or came in one piece.
/// `unique` is a text that no other answer has: it completes ids of servers
/// that repeat theirs.
///
/// # Errors
/// [`ModelError::Broken`] when the bytes are no answer, and whatever an error
/// object says when they are one.
pub fn read_reply(
    dialect: Dialect,
    body: &[u8],
    cache: Option<CacheTtl>,
    unique: &str,
) -> Result<ModelReply, ModelError> {
    let ttl = cache.unwrap_or_default();
    let ids = AnswerIds { request_id: None, unique: unique.to_owned() };
    let start = body.trim_ascii_start();
    if !start.starts_with(b"event:") && !start.starts_with(b"data:") && !start.starts_with(b":") {
        return match dialect {
            Dialect::Anthropic => anthropic::parse_message(body, ttl, None),
            Dialect::OpenAi => openai::parse_message(body, &ids),
        };
    }
    let broken = |message: String| ModelError::Broken { message };
    let events = Decoder::new(EVENT_BYTES).push(body).map_err(|error| broken(error.to_string()))?;
    let mut reply = ReplyBuilder::default();
    let whole = match dialect {
        Dialect::Anthropic => {
            let mut parts = anthropic::Assembler::new(ttl, None);
            assemble(&events, &mut reply, |event| match event {
                Some(event) => parts.push(event),
                None => parts.finish(),
            })?
        }
        Dialect::OpenAi => {
            let mut parts = openai::Assembler::new(ids);
            assemble(&events, &mut reply, |event| match event {
                Some(event) => parts.push(event),
                None => parts.finish(),
            })?
        }
    };
    whole.ok_or_else(|| broken("the stream ended without an answer".into()))
}

/// Feeds the events of a stream, and its end, to an assembler.
fn assemble(
    events: &[SseEvent],
    reply: &mut ReplyBuilder,
    mut push: impl FnMut(Option<&SseEvent>) -> Result<Vec<ModelEvent>, ModelError>,
) -> Result<Option<ModelReply>, ModelError> {
    for event in events.iter().map(Some).chain([None]) {
        for part in push(event)? {
            if let Some(whole) = reply.push(part) {
                return Ok(Some(whole));
            }
        }
    }
    Ok(None)
}

/// Puts an answer together from its events.
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    reply: Option<ModelReply>,
}

impl ReplyBuilder {
    /// Takes the next event; gives the answer once it is whole.
    pub fn push(&mut self, event: ModelEvent) -> Option<ModelReply> {
        match (event, &mut self.reply) {
            (ModelEvent::Started { message_id, request_id, model, usage }, reply) => {
                *reply = Some(ModelReply {
                    message_id,
                    request_id,
                    model,
                    blocks: Vec::new(),
                    stop_reason: String::new(),
                    usage,
                    context_edits: None,
                });
            }
            (ModelEvent::Block { block, .. }, Some(reply)) => reply.blocks.push(block),
            (ModelEvent::ContextEdited { edits }, Some(reply)) => reply.context_edits = Some(edits),
            (ModelEvent::Restarted { .. }, reply) => *reply = None,
            (ModelEvent::Finished { stop_reason, usage }, Some(_)) => {
                return self.reply.take().map(|own| ModelReply { stop_reason, usage, ..own });
            }
            _ => {}
        }
        None
    }
}

/// The events of an answer that came in one piece.
#[must_use]
pub fn reply_events(reply: ModelReply) -> Vec<ModelEvent> {
    let mut events = vec![ModelEvent::Started {
        message_id: reply.message_id,
        request_id: reply.request_id,
        model: reply.model,
        usage: reply.usage,
    }];
    for (index, block) in (0..).zip(reply.blocks) {
        match block.view() {
            BlockView::Text(text) => events.push(ModelEvent::Text { index, text: text.to_owned() }),
            BlockView::Thinking(text) if !text.is_empty() => {
                events.push(ModelEvent::Thinking { index, text: text.to_owned() });
            }
            _ => {}
        }
        events.push(ModelEvent::Block { index, block });
    }
    events.extend(reply.context_edits.map(|edits| ModelEvent::ContextEdited { edits }));
    events.push(ModelEvent::Finished { stop_reason: reply.stop_reason, usage: reply.usage });
    events
}
