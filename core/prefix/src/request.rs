//! The bytes of a request. There is no other place where they are made.
//!
//! The body's order is fixed: parameters, tools, system, messages last. So a
//! longer conversation starts with the bytes of the shorter one, breakpoints
//! aside. Messages are rendered once into one buffer; a request copies it and
//! puts the breakpoints in on the way.

use crate::breaks::{BlockPrint, Fingerprint, HeadPrint};
use crate::measure::Measured;
use crate::message::{Message, ShownBlock};
use crate::pictures::described;
use bytes::{Bytes, BytesMut};
use everfold_kernel::models::LONG_WINDOW_SUFFIX;
use everfold_kernel::ports::ModelCall;
use everfold_kernel::record::{Breakpoint, CacheTtl, CallForm, Dialect, Pictures};
use everfold_kernel::{Block, MessageId, Prelude, QuerySource, Role};
use everfold_wire::openai;
use serde_json::{Value, json};
use std::fmt;

/// The beta under which the API says why its cache was of no use.
const DIAGNOSTICS_BETA: &str = "cache-diagnosis-2026-04-07";

/// A request that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub body: Bytes,
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
        // In place: a second copy of a long conversation is five megabytes.
        let mut body = BytesMut::from(std::mem::take(&mut self.body));
        body.truncate(body.len() - 1);
        body.extend_from_slice(tail.as_bytes());
        self.body = body.freeze();
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

/// Where a rendered message stands in the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    start: usize,
    end: usize,
    /// How many blocks stand before it.
    first_block: usize,
    hash: [u8; 32],
}

/// Where a breakpoint stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockMark {
    /// The closing brace, in the buffer.
    brace: usize,
    /// The block, counted over all messages.
    block: usize,
}

/// Most bytes that are reserved ahead: an estimate is no reason to ask for more.
const MOST_RESERVED: usize = 64 << 20;

/// Room behind a body for what [`Request::asking_why`] adds.
const TAIL_BYTES: usize = 256;

/// Messages rendered one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rendered {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    /// A hash for each block of all messages.
    prints: Vec<BlockPrint>,
    /// For each block its closing brace, where it may carry a breakpoint.
    braces: Vec<Option<usize>>,
    /// The same messages as the cache simulator sees them.
    pub(crate) measured: Measured,
}

impl Rendered {
    /// How many messages are rendered.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Makes room for about so many bytes at once: a buffer that grows step
    /// by step leaves its earlier sizes behind as holes in the heap.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        self.bytes.reserve(usize::try_from(bytes).unwrap_or(0).min(MOST_RESERVED));
    }

    /// Forgets the messages from this one on.
    pub(crate) fn truncate(&mut self, count: usize) {
        if let Some(span) = self.spans.get(count) {
            self.bytes.truncate(span.start);
            self.prints.truncate(span.first_block);
            self.braces.truncate(span.first_block);
            self.spans.truncate(count);
        }
        self.measured.truncate(count);
    }

    /// Renders the next message.
    pub(crate) fn push(&mut self, frame: &Frame, message: &Message, before: Option<&Message>) {
        let mut blocks = message.blocks(before);
        if frame.pictures == Pictures::Told {
            blocks = blocks.into_iter().map(described).collect();
        }
        self.push_blocks(frame, message.role(), &blocks);
    }

    fn push_blocks(&mut self, frame: &Frame, role: Role, blocks: &[ShownBlock<'_>]) {
        let (start, first_block) = (self.bytes.len(), self.prints.len());
        if !blocks.is_empty() {
            if start > 0 || frame.follows_message {
                self.bytes.push(b',');
            }
            match frame.dialect {
                Dialect::Anthropic => self.write_anthropic(role, blocks),
                Dialect::OpenAi => self.write_openai(role, blocks, (start, frame.calls)),
            }
        }
        let end = self.bytes.len();
        let hash = blake3::hash(self.bytes.get(start..end).unwrap_or_default()).into();
        self.spans.push(Span { start, end, first_block, hash });
    }

    fn write_anthropic(&mut self, role: Role, blocks: &[ShownBlock<'_>]) {
        self.bytes.extend_from_slice(b"{\"role\":\"");
        self.bytes.extend_from_slice(role.as_str().as_bytes());
        self.bytes.extend_from_slice(b"\",\"content\":[");
        for (index, shown) in blocks.iter().enumerate() {
            if index > 0 {
                self.bytes.push(b',');
            }
            let start = self.bytes.len();
            write_block(&mut self.bytes, shown.block());
            let brace = self.bytes.len().checked_sub(1).filter(|_| shown.is_cacheable());
            self.braces.push(brace);
            let written = self.bytes.get(start..).unwrap_or_default();
            self.prints.push(BlockPrint::new(role, written));
        }
        self.bytes.extend_from_slice(b"]}");
    }

    fn write_openai(
        &mut self,
        role: Role,
        blocks: &[ShownBlock<'_>],
        (start, calls): (usize, CallForm),
    ) {
        let shown = |shown: &ShownBlock<'_>| match calls {
            CallForm::Declared => shown.block().clone(),
            CallForm::Text => openai::text_calls::as_text(shown.block()),
        };
        let blocks: Vec<Block> = blocks.iter().map(shown).collect();
        for block in &blocks {
            let mut written = Vec::new();
            write_block(&mut written, block);
            self.prints.push(BlockPrint::new(role, &written));
            self.braces.push(None);
        }
        let text = openai::message_json(role, &blocks);
        if text.is_empty() {
            self.bytes.truncate(start);
        } else {
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    /// How many blocks stand before a message.
    pub(crate) fn blocks_before(&self, message: usize) -> usize {
        self.spans.get(message).map_or(self.prints.len(), |span| span.first_block)
    }

    /// The last blocks of these messages that may carry a breakpoint, none
    /// behind the first `most` blocks.
    pub(crate) fn marks(&self, messages: &[usize], most: usize) -> Vec<BlockMark> {
        let mark = |message: &usize| {
            let start = self.spans.get(*message)?.first_block;
            let end = self.blocks_before(message.saturating_add(1)).min(most);
            let own = self.braces.get(start..end)?;
            let at = own.iter().rposition(Option::is_some)?;
            Some(BlockMark { brace: own.get(at).copied().flatten()?, block: start + at })
        };
        messages.iter().filter_map(mark).collect()
    }

    /// The request's body, with breakpoints at `marks`.
    pub(crate) fn body(&self, frame: &Frame, marks: &[BlockMark], ttl: Option<CacheTtl>) -> Bytes {
        let marker = ttl.map(|ttl| format!(",\"cache_control\":{}", cache_control(ttl)));
        let marker = marker.unwrap_or_default();
        let extra = marker.len() * marks.len();
        let size = frame.before.len() + self.bytes.len() + frame.after.len() + extra;
        let mut body = Vec::with_capacity(size + TAIL_BYTES);
        body.extend_from_slice(&frame.before);
        let mut copied = 0;
        for place in marks.iter().map(|mark| mark.brace).filter(|_| !marker.is_empty()) {
            body.extend_from_slice(self.bytes.get(copied..place).unwrap_or_default());
            body.extend_from_slice(marker.as_bytes());
            copied = place;
        }
        body.extend_from_slice(self.bytes.get(copied..).unwrap_or_default());
        body.extend_from_slice(&frame.after);
        Bytes::from(body)
    }

    /// What makes up the cache key of a request with these breakpoints.
    pub(crate) fn fingerprint(
        &self,
        frame: &Frame,
        marks: &[BlockMark],
        ttl: Option<CacheTtl>,
    ) -> Fingerprint {
        Fingerprint {
            head: frame.head.clone(),
            blocks: self.prints.clone(),
            starts: self.spans.iter().map(|span| span.first_block).collect(),
            marks: marks.iter().filter(|_| ttl.is_some()).map(|mark| mark.block).collect(),
            ttl,
        }
    }

    /// The hash of what is rendered, head included.
    pub(crate) fn prefix_hash(&self, frame: &Frame) -> PrefixHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&frame.before);
        for span in &self.spans {
            hasher.update(&span.hash);
        }
        PrefixHash(hasher.finalize().into())
    }
}

/// Writes a block without a breakpoint that somebody else may have left on it.
fn write_block(out: &mut Vec<u8>, block: &Block) {
    let map = block.as_map();
    let written = if map.contains_key("cache_control") {
        let mut plain = map.clone();
        plain.shift_remove("cache_control");
        serde_json::to_writer(&mut *out, &plain)
    } else {
        serde_json::to_writer(&mut *out, map)
    };
    debug_assert!(written.is_ok(), "JSON values always write into memory");
}
