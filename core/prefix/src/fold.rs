//! Records in, messages and bytes out.

use crate::measure::Weight;
use crate::message::{Link, Message, Piece, PieceOrigin, Showing};
use crate::request::{Frame, Rendered};
use everfold_kernel::record::{CacheTtl, Keeps};
use everfold_kernel::tokens::{estimate_block, estimate_prelude};
use everfold_kernel::{
    AssistantEntry, Block, BlockProvenance, BlockView, Boundary, Calibration, Entry, Limits,
    MessageId, ModelId, Params, Prelude, Record, RecordId, Role, Timestamp, Tokens, UserEntry,
    UserOrigin,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod breakpoints;
mod decisions;
mod results;
mod summary_record;
mod token_count;

use breakpoints::LentMarks;
pub use decisions::BreakCause;
pub use results::{Freshness, ResultView};
pub use summary_record::{MODEL_FAILURES, SummaryRecord};
use token_count::Reported;

/// The conversation as the model is to see it, kept up to date record by
/// record. Two folds that were given the same records are the same.
///
/// ```
/// use everfold_kernel::{Block, Entry, Limits, Params, Prelude, Decision, Record, UserEntry, UserOrigin};
/// use everfold_prefix::Fold;
///
/// let record = |id: &str, entry| Record { id: id.into(), parent: None, at: Default::default(), entry };
/// let prelude = Prelude { system: vec![], tools: vec![], params: Params::new("claude-sonnet-5-5", 1_000) };
/// let mut fold = Fold::new(Limits::default().into());
/// fold.push(record("1", Entry::Decision(Decision::Prelude(Box::new(prelude)))));
/// fold.push(record("2", Entry::User(UserEntry {
///     content: vec![Block::text("hello")], origin: UserOrigin::Human, tool_use_result: None,
///     provenance: Vec::new(),
/// })));
/// let request = fold.request(None).unwrap();
/// assert!(String::from_utf8_lossy(&request.body.whole()).contains(r#""text":"hello""#));
/// ```
#[derive(Clone, Debug)]
pub struct Fold {
    limits: Arc<Limits>,
    prelude: Option<Box<Prelude>>,
    frame: Frame,
    frame_tokens: Tokens,
    messages: Vec<Message>,
    pub(crate) rendered: Rendered,
    summary_goes_first: bool,
    raw: Tokens,
    reported: Option<Reported>,
    calibration: Calibration,
    calibrated_for: Option<ModelId>,
    last_response: Option<Timestamp>,
    pins: BTreeSet<RecordId>,
    summaries: SummaryRecord,
    noted: Option<RecordId>,
    notes_tried: Option<RecordId>,
    voided: BTreeSet<RecordId>,
    stale: bool,
    declared: Option<BreakCause>,
    /// What is to be shown for results that have not come yet.
    waiting: BTreeMap<String, (String, Showing)>,
    last_break: Option<Timestamp>,
    /// The last record that a response had answered which was taken back.
    carried: Option<RecordId>,
    /// The first message that a clearing changed since the last response.
    cleared_from: Option<usize>,
    /// Where a fork's breakpoints stand: on what its parent had, and nowhere else.
    lent: Option<LentMarks>,
    /// For how long the server keeps most of what it has of this.
    written_for: Option<CacheTtl>,
}

/// A block that a record brought, and whose words it holds.
struct Brought {
    block: Block,
    words: BlockProvenance,
}

impl Fold {
    /// An empty conversation.
    #[must_use]
    pub fn new(limits: Arc<Limits>) -> Self {
        Self {
            limits,
            prelude: None,
            frame: Frame::default(),
            frame_tokens: Tokens(0),
            messages: Vec::new(),
            rendered: Rendered::default(),
            summary_goes_first: false,
            raw: Tokens(0),
            reported: None,
            calibration: Calibration::default(),
            calibrated_for: None,
            last_response: None,
            pins: BTreeSet::new(),
            summaries: SummaryRecord::default(),
            noted: None,
            notes_tried: None,
            voided: BTreeSet::new(),
            stale: false,
            declared: None,
            waiting: BTreeMap::new(),
            last_break: None,
            carried: None,
            cleared_from: None,
            lent: None,
            written_for: None,
        }
    }

    /// The same empty conversation, in which these decisions do not count.
    #[must_use]
    pub fn without(mut self, voided: BTreeSet<RecordId>) -> Self {
        self.voided = voided;
        self
    }

    /// Takes the next record of the log.
    pub fn push(&mut self, record: Record) {
        self.push_weighed(record, &[]);
    }

    /// The same for a record whose blocks were weighed before, one weight for
    /// each: a replay does so once for all policies.
    pub fn push_weighed(&mut self, record: Record, weights: &[Weight]) {
        let Record { id, at, entry, .. } = record;
        match entry {
            Entry::User(user) => self.push_user(&id, at, user, weights),
            Entry::Assistant(assistant) => {
                self.push_assistant(id, at, assistant, weights.first());
            }
            Entry::Attachment(attachment) => {
                let origin = PieceOrigin::Attachment(attachment.kind);
                let words = attachment.provenance.map(BlockProvenance::whole).unwrap_or_default();
                let block = Brought { block: Block::text(attachment.rendered), words };
                self.push_piece(Role::User, id, at, origin, block, weights.first());
            }
            Entry::Boundary(boundary) => self.push_boundary(at, &boundary),
            Entry::Decision(decision) => self.decide(id, at, decision),
            Entry::Opaque(_) => {}
        }
    }

    /// The messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What stands before the messages.
    #[must_use]
    pub fn prelude(&self) -> Option<&Prelude> {
        self.prelude.as_deref()
    }

    /// The last response that is shown.
    #[must_use]
    pub fn last_message(&self) -> Option<&MessageId> {
        self.messages.iter().rev().flat_map(Message::pieces).find_map(|piece| match &piece.origin {
            PieceOrigin::Assistant(id) => Some(id),
            _ => None,
        })
    }

    /// When the model last answered.
    #[must_use]
    pub fn last_response(&self) -> Option<Timestamp> {
        self.last_response
    }

    /// The calls of the last message that nothing has answered yet.
    #[must_use]
    pub fn open_calls(&self) -> Vec<String> {
        match self.messages.last() {
            Some(last) if last.role() == Role::Assistant => {
                last.tool_calls().map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    fn push_user(&mut self, id: &RecordId, at: Timestamp, user: UserEntry, weights: &[Weight]) {
        let summary = user.origin == UserOrigin::CompactSummary && self.summary_goes_first;
        if summary {
            self.summary_goes_first = false;
            self.push_summary(id, at, user, weights);
            return;
        }
        let mut provenance = user.provenance.into_iter();
        for (index, block) in user.content.into_iter().enumerate() {
            let block = Brought { block, words: provenance.next().unwrap_or_default() };
            let origin = PieceOrigin::User(user.origin);
            self.push_piece(Role::User, id.clone(), at, origin, block, weights.get(index));
        }
    }

    /// Puts a summary before the messages that a boundary kept.
    fn push_summary(&mut self, id: &RecordId, at: Timestamp, user: UserEntry, weights: &[Weight]) {
        let kept = std::mem::take(&mut self.messages);
        self.rendered.truncate(0);
        self.raw = Tokens(0);
        let mut provenance = user.provenance.into_iter();
        for (index, block) in user.content.into_iter().enumerate() {
            let origin = PieceOrigin::User(user.origin);
            let block = Brought { block, words: provenance.next().unwrap_or_default() };
            self.push_piece(Role::User, id.clone(), at, origin, block, weights.get(index));
        }
        for message in kept {
            self.raw += message.tokens();
            self.readmit(message);
        }
    }

    fn push_assistant(
        &mut self,
        id: RecordId,
        at: Timestamp,
        entry: AssistantEntry,
        weight: Option<&Weight>,
    ) {
        let origin = PieceOrigin::Assistant(entry.message_id.clone());
        let prompt = self.raw + self.frame_tokens;
        let words = BlockProvenance::whole(entry.provenance());
        let block = Brought { block: entry.block, words };
        self.push_piece(Role::Assistant, id, at, origin, block, weight);
        self.last_response = Some(at);
        self.cleared_from = None;
        self.report(&entry.message_id, &entry.model, entry.usage, prompt);
    }

    fn push_piece(
        &mut self,
        role: Role,
        record: RecordId,
        at: Timestamp,
        origin: PieceOrigin,
        brought: Brought,
        weight: Option<&Weight>,
    ) {
        let provenance = brought.words;
        let (block, shown) = self.as_decided(brought.block);
        let weight = weight.filter(|_| shown == Showing::Whole);
        let tokens = weight.map_or_else(|| estimate_block(&block, &self.limits), |own| own.tokens);
        self.raw += tokens;
        let (link, content) = (Link::of(&block), weight.map(|own| own.content));
        let piece = Piece { record, at, origin, block, provenance, tokens, shown, link, content };
        match self.messages.last_mut() {
            Some(last) if last.takes(role, &piece.origin) => {
                last.push(piece);
                self.rendered.truncate(self.messages.len().saturating_sub(1));
            }
            _ => {
                if role == Role::User {
                    self.give_up_searches();
                }
                self.messages.push(Message::new(role, piece));
            }
        }
    }

    /// For how long the server keeps most of what it has of this conversation:
    /// as long as was asked when that was written. None where requests do not ask.
    #[must_use]
    pub fn cached_for(&self) -> Option<CacheTtl> {
        self.prelude
            .as_ref()
            .and_then(|prelude| prelude.params.cache)
            .map(|asked| self.written_for.map_or(asked, |written| written.max(asked)))
    }

    /// A block, or what was decided to be shown for it.
    fn as_decided(&mut self, block: Block) -> (Block, Showing) {
        let waiting = match block.view() {
            BlockView::ToolResult { id, .. } => self.waiting.remove(id),
            _ => None,
        };
        match waiting {
            Some((text, shown)) => (block.with_result_content(Value::String(text)), shown),
            None => (block, Showing::Whole),
        }
    }

    fn push_prelude(&mut self, at: Timestamp, prelude: Box<Prelude>) {
        if self.prelude.as_deref().is_some_and(|own| is_same_but_for_ttl(own, &prelude)) {
            // The cache knows a prefix by its text: none of it is lost.
            self.written_for = self.written_for.max(prelude.params.cache);
            self.frame = Frame::new(&prelude);
            self.prelude = Some(prelude);
            return;
        }
        if self.prelude.is_some() {
            self.declare(BreakCause::Prelude, at);
        }
        self.written_for = prelude.params.cache;
        self.frame_tokens = estimate_prelude(&prelude, &self.limits);
        self.frame = Frame::new(&prelude);
        self.rendered.truncate(0);
        self.prelude = Some(prelude);
    }

    fn push_boundary(&mut self, at: Timestamp, boundary: &Boundary) {
        let preserved: BTreeSet<&RecordId> = boundary.preserved.iter().collect();
        for message in std::mem::take(&mut self.messages) {
            if let Some(kept) = message.preserved(&preserved) {
                self.readmit(kept);
            }
        }
        self.raw = self.messages.iter().map(Message::tokens).sum();
        self.rendered.truncate(0);
        self.reported = None;
        self.summaries.follow(boundary);
        self.declare(BreakCause::Compaction, at);
        self.cleared_from = None;
        self.summary_goes_first = boundary.keeps == Keeps::Suffix;
    }

    /// Adds a message that was here before. Neighbours on the user's side
    /// become one.
    fn readmit(&mut self, message: Message) {
        match self.messages.last_mut() {
            Some(last) if last.role() == Role::User && message.role() == Role::User => {
                last.append(message);
            }
            _ => self.messages.push(message),
        }
    }
}
/// Whether two preludes differ in nothing but how long a prefix is to be kept.
fn is_same_but_for_ttl(one: &Prelude, other: &Prelude) -> bool {
    let (asked, asks) = (one.params.cache, other.params.cache);
    asked != asks
        && asked.is_some()
        && asks.is_some()
        && one.system == other.system
        && one.tools == other.tools
        && one.params == Params { cache: asked, ..other.params.clone() }
}
