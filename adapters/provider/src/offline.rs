//! The model that is none: answers by rule, without key and network (Q8).
//!
//! It takes requests in Anthropic's form, like a server would, and answers
//! with the same events, so that the loop, its tools and its permissions work
//! as they do with a model. It calls tools that the request offers, shows what
//! they gave, and says plainly that it is not a language model. It makes
//! nothing up: every line of an answer is a rule's own or a tool's.

mod present;
mod request;
mod rules;
mod summary;

use everfold_kernel::ports::{
    BoxFuture, Model, ModelCall, ModelError, ModelKind, ModelReply, ModelStream,
};
use everfold_kernel::record::Dialect;
use everfold_kernel::{Block, MessageId, ModelId, ToolUseId, Usage};
use everfold_wire::reply_events;
use futures_util::stream;
use jiff::Timestamp;
use request::Request;
use rules::Plan;
use std::sync::atomic::{AtomicI64, Ordering};

/// The name under which it answers.
pub const OFFLINE_MODEL: &str = "offline";

/// Bytes of a token, for an estimate of usage.
const BYTES_PER_TOKEN: usize = 4;

/// Answers by rule.
#[derive(Debug)]
pub struct Offline {
    next: AtomicI64,
}

impl Default for Offline {
    fn default() -> Self {
        Self::new()
    }
}

impl Offline {
    /// One whose answers have ids that no earlier process gave: a conversation
    /// that is resumed must not meet the same id twice.
    #[must_use]
    pub fn new() -> Self {
        Self::numbered_from(Timestamp::now().as_microsecond())
    }

    /// One whose answers are numbered from here.
    #[must_use]
    pub fn numbered_from(first: i64) -> Self {
        Self { next: AtomicI64::new(first) }
    }

    fn answer(&self, body: &[u8]) -> Result<ModelReply, ModelError> {
        let request = Request::parse(body)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (blocks, stop_reason) = match rules::plan(&request) {
            Plan::Say(text) => (vec![Block::text(text)], "end_turn"),
            Plan::Call { say, tool, input } => {
                let id = ToolUseId::new(format!("toolu_offline_{number}"));
                let call = Block::tool_use(&id, tool, input);
                (vec![Block::text(say), call], "tool_use")
            }
        };
        let written: usize = blocks
            .iter()
            .map(|block| serde_json::to_string(block).map_or(0, |text| text.len()))
            .sum();
        Ok(ModelReply {
            message_id: MessageId::new(format!("msg_offline_{number}")),
            request_id: None,
            model: ModelId::new(OFFLINE_MODEL),
            blocks,
            stop_reason: stop_reason.into(),
            usage: Usage { input: tokens(body.len()), output: tokens(written), ..Usage::default() },
            context_edits: None,
        })
    }
}

impl Model for Offline {
    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async move {
            let events = reply_events(self.answer(&call.body.whole())?);
            let stream: ModelStream = Box::pin(stream::iter(events.into_iter().map(Ok)));
            Ok(stream)
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn kind(&self) -> ModelKind {
        ModelKind::Rules
    }
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX)
}
