//! The bytes of a request. There is no other place where they are made.
//!
//! The body's order is fixed: parameters, tools, system, messages last. So a
//! longer conversation starts with the bytes of the shorter one, breakpoints
//! aside.

mod rendered;

use crate::breaks::{Fingerprint, HeadPrint};
use everfold_kernel::models::LONG_WINDOW_SUFFIX;
use everfold_kernel::ports::{ModelCall, RequestBody};
use everfold_kernel::record::{Breakpoint, CacheTtl, CallForm, Dialect, Pictures};
use everfold_kernel::{MessageId, Prelude, QuerySource};
use everfold_wire::openai;
pub(crate) use rendered::Rendered;
use serde_json::{Value, json};
use std::fmt;

/// The beta under which the API says why its cache was of no use.
const DIAGNOSTICS_BETA: &str = "cache-diagnosis-2026-04-07";

/// A request that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub body: RequestBody,
    /// Beta names for the header.
    pub betas: Vec<String>,
    /// How long its breakpoints live; none where it has none.
    pub cache: Option<CacheTtl>,
    /// What the body says, breakpoints aside.
    pub prefix: PrefixHash,
    /// What makes up its cache key, part by part.
    pub fingerprint: Fingerprint,
}

impl Request {
    /// The same request, which asks the server why it did not read the prompt
    /// from its cache, compared with an earlier answer (PC6). What is asked
    /// stands behind the messages: no byte of the prefix changes.
    #[must_use]
    pub fn asking_why(mut self, previous: &MessageId) -> Self {
        if !self.body.ends_with(b"}") {
            return self;
        }
        let asked = json!({ "previous_message_id": previous });
        let tail = format!(",\"diagnostics\":{asked}}}");
        self.body.truncate(self.body.len() - 1);
        self.body.push(tail);
        self.betas.push(DIAGNOSTICS_BETA.to_owned());
        self
    }

    /// The call that sends it.
    #[must_use]
    pub fn into_call(self, source: QuerySource) -> ModelCall {
        ModelCall { body: self.body, betas: self.betas, source, cache: self.cache }
    }
}

/// A message that stands after the conversation in a fork's request and is
/// not part of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive<'a>(pub &'a str);

/// How a question is to be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerForm {
    /// The JSON schema of the answer.
    pub schema: Value,
    /// Most tokens of it.
    pub max_tokens: u64,
}

/// The hash of a request's content without its breakpoints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrefixHash(pub [u8; 32]);

impl fmt::Display for PrefixHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PrefixHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrefixHash({self})")
    }
}

/// Everything of a request before and after its messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
    dialect: Dialect,
    pictures: Pictures,
    calls: CallForm,
    /// Whether `before` ends with a message already.
    follows_message: bool,
    head: HeadPrint,
}

impl Frame {
    pub(crate) fn new(prelude: &Prelude) -> Self {
        let frame = match prelude.params.dialect {
            Dialect::Anthropic => Self::anthropic(prelude),
            Dialect::OpenAi => Self::openai(prelude),
        };
        let (pictures, calls) = (prelude.params.pictures, prelude.params.calls);
        Self { head: HeadPrint::new(prelude), pictures, calls, ..frame }
    }

    fn anthropic(prelude: &Prelude) -> Self {
        let params = &prelude.params;
        let model = params.model.as_str();
        let mut head = serde_json::Map::new();
        head.insert("model".into(), Value::from(sent_model(model)));
        head.insert("max_tokens".into(), Value::from(params.max_tokens));
        head.insert("stream".into(), Value::from(params.delivery.is_streamed()));
        if let Some(thinking) = &params.thinking {
            head.insert("thinking".into(), thinking.clone());
        }
        let mut output = serde_json::Map::new();
        if let Some(effort) = &params.effort {
            output.insert("effort".into(), Value::from(effort.as_str()));
        }
        if let Some(schema) = &params.schema {
            output.insert("format".into(), json!({"type": "json_schema", "schema": schema}));
        }
        if !output.is_empty() {
            head.insert("output_config".into(), Value::Object(output));
        }
        if let Some(management) = &params.context_management {
            head.insert("context_management".into(), management.clone());
        }
        if !prelude.tools.is_empty() {
            head.insert("tools".into(), Value::Array(prelude.tools.clone()));
            // What is answered in a form calls nothing.
            if params.schema.is_some() {
                head.insert("tool_choice".into(), json!({"type": "none"}));
            }
        }
        let system: Vec<Value> = prelude
            .system
            .iter()
            .map(|block| {
                let mut value = json!({"type": "text", "text": block.text});
                if let Some(marker) = params.cache.and_then(|ttl| marker(block.breakpoint, ttl)) {
                    insert(&mut value, "cache_control", marker);
                }
                value
            })
            .collect();
        if !system.is_empty() {
            head.insert("system".into(), Value::Array(system));
        }
        let mut before = Value::Object(head).to_string().into_bytes();
        before.pop();
        before.extend_from_slice(b",\"messages\":[");
        Self { before, after: b"]}".to_vec(), dialect: Dialect::Anthropic, ..Self::default() }
    }

    fn openai(prelude: &Prelude) -> Self {
        let head = openai::head_json(&prelude.system, &prelude.tools, &prelude.params);
        let follows_message = !head.system_message.is_empty();
        let before = head.before_messages + &head.system_message;
        Self {
            before: before.into_bytes(),
            after: head.after_messages.into_bytes(),
            dialect: Dialect::OpenAi,
            follows_message,
            ..Self::default()
        }
    }
}

/// A model's name as the server is told it.
pub(crate) fn sent_model(model: &str) -> &str {
    model.strip_suffix(LONG_WINDOW_SUFFIX).unwrap_or(model)
}

fn cache_control(ttl: CacheTtl) -> Value {
    match ttl {
        CacheTtl::FiveMinutes => json!({"type": "ephemeral"}),
        CacheTtl::OneHour => json!({"type": "ephemeral", "ttl": ttl.as_str()}),
    }
}

/// The marker of a breakpoint in the system prompt.
fn marker(breakpoint: Breakpoint, ttl: CacheTtl) -> Option<Value> {
    let mut marker = cache_control(ttl);
    match breakpoint {
        Breakpoint::None => return None,
        Breakpoint::Here => {}
        Breakpoint::Shared => insert(&mut marker, "scope", "global".into()),
    }
    Some(marker)
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Some(map) = object.as_object_mut() {
        map.insert(key.into(), value);
    }
}
