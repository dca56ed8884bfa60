//! The context layers around a loop of your own.
//!
//! You have an agent: your HTTP client, your tools, your loop. A [`Context`]
//! takes the place of its list of messages. Before each request it keeps the
//! conversation within the model's window: large tool results go to disk (layer
//! 1), stale ones are cleared where that pays (layer 2), notes are kept where
//! that is wanted, so that a summary is ready (layer 3), and what no longer fits
//! is replaced by a summary (layer 4). Memories that the person's words call for
//! are brought in. What was sent once is sent the same again, so the provider's
//! prompt cache is read, and every change of the prefix is a decision that was
//! weighed.
//!
//! One round is five calls:
//!
//! 1. [`Context::push`] takes what the person said, or what a tool returned.
//! 2. [`Context::prepare`] makes room. What that needs of the outside world (a
//!    file written, a model asked, memories searched) is performed by ports;
//!    [`LocalPorts`] has them for files and a function that posts. Who would
//!    rather perform it calls [`Context::step`] and [`Context::resolve`].
//! 3. [`Context::request`] gives the bytes to post.
//! 4. [`Context::observe`] takes the response, and gives the answer in it.
//! 5. [`Context::explain`] says what was done and why, in tokens and money.
//!
//! ```
//! use everfold::context::{Context, ContextSetup, LocalPorts};
//! use serde_json::json;
//!
//! // Your client: here a server that always says the same.
//! fn post(_body: &[u8]) -> std::io::Result<Vec<u8>> {
//!     let answer = json!({"id": "msg_1", "model": "claude-sonnet-4-5", "role": "assistant",
//!         "content": [{"type": "text", "text": "Eleven degrees and rain."}],
//!         "stop_reason": "end_turn", "usage": {"input_tokens": 14, "output_tokens": 7}});
//!     Ok(answer.to_string().into_bytes())
//! }
//!
//! let dir = tempfile::tempdir()?;
//! let mut ports = LocalPorts::new(dir.path(), post);
//! let mut context = Context::new(ContextSetup::new("claude-sonnet-4-5").system("Be brief."));
//! context.push(&json!({"role": "user", "content": "What is the weather in Bern?"}))?;
//! context.prepare(&mut ports)?;
//! let response = post(&context.request())?;
//! let answer = context.observe(&response)?;
//! assert_eq!(answer.blocks[0].plain_text(), "Eleven degrees and rain.");
//! assert_eq!(context.explain().acts.len(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The core is synchronous and does no I/O; [`Context::prepare_async`] is the
//! same for ports that wait.

mod climb;
mod error;
mod memory;
mod message;
mod notes;
mod ports;
mod setup;

pub use error::ContextError;
pub use everfold_kernel::models::Prices;
pub use everfold_kernel::ports::{Clock, Kept, MemoryError, ModelError, ModelReply, RecallQuery};
pub use everfold_kernel::record::Dialect;
pub use everfold_kernel::{Attachment, Flags, Limits, Timestamp, Tokens, Usage, Usd, Window};
pub use everfold_window::{ActKind, LayerAct, Refusal};
pub use memory::ContextMemory;
pub use ports::{AsyncPorts, ContextOutcome, ContextWork, LocalPorts, Perform, PerformAsync};
pub use setup::ContextSetup;

use bytes::Bytes;
use climb::Phase;
use everfold_kernel::{AssistantEntry, Decision, Entry, ModelSpec, Record, RecordId, UserOrigin};
use everfold_prefix::Fold;
use everfold_prune::CacheEdits;
use everfold_transcript::line::ANCHOR;
use everfold_transcript::{Rebuild, encode};
use everfold_window::LadderView;
use notes::RunningNotes;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A conversation of your agent, as its model sees it.
///
/// See the [module](self) for how it is used.
pub struct Context {
    setup: ContextSetup,
    fold: Fold,
    /// The data of what was attached: the fold keeps its bytes.
    attached: BTreeMap<RecordId, Value>,
    window: Window,
    phase: Phase,
    /// What the person said last, while no memories were looked up for it.
    said: Option<String>,
    /// When a question about the conversation last read its prefix.
    last_fork: Option<Timestamp>,
    /// Running notes, where they are kept.
    notes: Option<RunningNotes>,
    log: Log,
    books: Books,
    acts: Vec<LayerAct>,
}

/// Where the log stands, and its lines that were not taken yet.
#[derive(Default)]
struct Log {
    last: Option<RecordId>,
    /// The name of the next record, where one was given out already.
    next: Option<RecordId>,
    lines: String,
}

/// What the conversation has cost, as far as its prices are known.
#[derive(Clone, Copy, Debug, Default)]
struct Books {
    requests: u64,
    usage: Usage,
    spent: f64,
    /// Spent on questions of the layers.
    asked: f64,
}

/// What comes next before a request.
#[derive(Clone, Debug, PartialEq)]
pub enum ContextStep {
    /// Do this, and hand its outcome to [`Context::resolve`].
    Perform(ContextWork),
    /// The request can be made.
    Ready,
    /// The conversation does not fit, and nothing may be done about it.
    Full(Refusal),
}

/// What a conversation holds, what was done to it, and what it cost.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What the layers did, oldest first; printed, each says why.
    pub acts: Vec<LayerAct>,
    /// Tokens of the next request.
    pub tokens: Tokens,
    /// The window and its thresholds.
    pub window: Window,
    /// Requests that were observed, without those of the layers.
    pub requests: u64,
    /// What they used together.
    pub usage: Usage,
    /// What all requests cost, those of the layers too; nothing for a model
    /// without a price.
    pub spent: Usd,
    /// The part of it that the layers asked for.
    pub spent_by_layers: Usd,
}

impl Context {
    /// An empty conversation.
    #[must_use]
    pub fn new(setup: ContextSetup) -> Self {
        let mut own = Self::empty(setup);
        let prelude = Box::new(own.setup.prelude());
        own.append(Entry::Decision(Decision::Prelude(prelude)));
        own
    }

    /// A conversation that goes on, from all that [`Context::take_lines`] gave
    /// of it. Its next request starts with the bytes of its last one.
    #[must_use]
    pub fn resume(setup: ContextSetup, lines: &[u8]) -> Self {
        let mut own = Self::empty(setup);
        let mut rebuild = Rebuild::new();
        lines.split(|byte| *byte == b'\n').for_each(|line| rebuild.push(line));
        for record in rebuild.finish().records {
            own.apply(record);
        }
        if own.fold.prelude().is_none() {
            let prelude = Box::new(own.setup.prelude());
            own.append(Entry::Decision(Decision::Prelude(prelude)));
        }
        own
    }

    fn empty(setup: ContextSetup) -> Self {
        Self {
            fold: Fold::new(Arc::clone(&setup.limits)),
            attached: BTreeMap::new(),
            window: setup.window_of(),
            phase: Phase::Start,
            said: None,
            last_fork: None,
            notes: setup.notes.then(RunningNotes::default),
            log: Log::default(),
            books: Books::default(),
            acts: Vec::new(),
            setup,
        }
    }

    /// Takes a message in the form in which the API has it, Anthropic's or
    /// `OpenAI`'s: a person's words (`user`), results of tools (`tool_result`
    /// blocks, or the role `tool`), or an answer of the model (`assistant`)
    /// that was not observed.
    ///
    /// # Errors
    /// If it is no such message. The system prompt belongs into the setup.
    pub fn push(&mut self, message: &Value) -> Result<(), ContextError> {
        for entry in message::entries(message, &self.setup.clock.fresh_uuid())? {
            if let Entry::User(user) = &entry
                && user.origin == UserOrigin::Human
            {
                let texts: Vec<String> =
                    user.content.iter().map(everfold_kernel::Block::plain_text).collect();
                self.said = Some(texts.join("\n"));
            }
            self.append(entry);
        }
        self.phase = Phase::Start;
        Ok(())
    }

    /// Attaches a text for the model to read, such as what a hook says; `kind`
    /// names it in the log.
    pub fn attach(&mut self, kind: &str, text: &str) {
        self.append(Entry::Attachment(Attachment {
            kind: kind.to_owned(),
            rendered: everfold_kernel::record::reminder(text),
            data: Value::Null,
            provenance: None,
        }));
        self.phase = Phase::Start;
    }

    /// The body of the next request.
    #[must_use]
    pub fn request(&mut self) -> Bytes {
        // There is a prelude from the first record on.
        self.fold.request(None).map(|request| request.body.whole()).unwrap_or_default()
    }

    /// Takes the body of a response, streamed or not, and gives the answer.
    ///
    /// # Errors
    /// What the server said instead of an answer. Where it said that the prompt
    /// is too long, the next [`Context::prepare`] makes room for it.
    pub fn observe(&mut self, response: &[u8]) -> Result<ModelReply, ModelError> {
        let reply = self.read(response).inspect_err(|error| {
            if let ModelError::PromptTooLong { maximum, .. } = error {
                self.too_long(*maximum);
            }
        })?;
        self.observe_reply(&reply);
        Ok(reply)
    }

    /// Takes an answer that was read elsewhere.
    pub fn observe_reply(&mut self, reply: &ModelReply) {
        let last = reply.blocks.len().saturating_sub(1);
        for (at, block) in reply.blocks.iter().enumerate() {
            self.append(Entry::Assistant(AssistantEntry {
                message_id: reply.message_id.clone(),
                request_id: reply.request_id.clone(),
                model: reply.model.clone(),
                index: u32::try_from(at).unwrap_or(u32::MAX),
                block: block.clone(),
                usage: reply.usage,
                stop_reason: (at == last).then(|| reply.stop_reason.clone()),
            }));
        }
        self.books.requests += 1;
        self.books.usage.add(&reply.usage);
        self.books.spent += self.cost(&reply.usage);
        self.phase = Phase::Start;
    }

    /// What was done, what is in view, and what it cost.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        Explanation {
            acts: self.acts.clone(),
            tokens: self.fold.count(),
            window: self.window,
            requests: self.books.requests,
            usage: self.books.usage,
            spent: Usd(self.books.spent),
            spent_by_layers: Usd(self.books.asked),
        }
    }

    /// Lines of the conversation's transcript that came since this was last
    /// asked: what was said, and what was decided. Append them to a file, and
    /// [`Context::resume`] goes on from it. The format is that of `docs/formats`.
    #[must_use]
    pub fn take_lines(&mut self) -> String {
        std::mem::take(&mut self.log.lines)
    }

    fn read(&self, response: &[u8]) -> Result<ModelReply, ModelError> {
        let params = &self.setup.params;
        let unique = self.setup.clock.fresh_uuid();
        everfold_wire::read_reply(params.dialect, response, params.cache, &unique)
    }

    fn append(&mut self, mut entry: Entry) {
        let clock = &self.setup.clock;
        let id = self.log.next.take().unwrap_or_else(|| RecordId::from(clock.fresh_uuid()));
        let mut parent = self.log.last.clone();
        if let Entry::Boundary(boundary) = &mut entry {
            // It names its summary, which follows it, and what came before.
            let summary = clock.fresh_uuid();
            boundary.metadata.insert(ANCHOR.to_owned(), summary.clone().into());
            boundary.last_before = parent.take();
            self.log.next = Some(summary.into());
        }
        let record = Record { id, parent, at: clock.now(), entry };
        self.log.lines.push_str(&encode(&record, &self.setup.envelope));
        self.log.lines.push('\n');
        self.apply(record);
    }

    fn apply(&mut self, record: Record) {
        if let Entry::Attachment(attachment) = &record.entry
            && !attachment.data.is_null()
        {
            self.attached.insert(record.id.clone(), attachment.data.clone());
        }
        self.log.last = Some(record.id.clone());
        self.fold.push(record);
    }

    fn spec(&self) -> &ModelSpec {
        self.setup.table.spec(&self.setup.params.model)
    }

    fn cost(&self, usage: &Usage) -> f64 {
        self.spec().cost(usage).map_or(0.0, |usd| usd.0)
    }

    fn view(&self) -> LadderView<'_> {
        LadderView {
            fold: &self.fold,
            window: &self.window,
            model: self.spec(),
            now: self.setup.clock.now(),
            last_fork: self.last_fork,
            cache_edits: CacheEdits::NotOffered,
            clearable: &self.setup.clearable,
            flags: &self.setup.flags,
            limits: &self.setup.limits,
        }
    }
}
