//! Our transcripts and Claude Code's: one form, many generations (CONTRACTS 3).
//!
//! A single line is `everfold-transcript`'s business; here is what lines mean
//! together while a session goes on.

use crate::reader::{About, Format, Sink, Thread, TranscriptEvent, What, name};
use crate::response::Open;
use crate::trail::{Pace, Trail};
use everfold_kernel::record::{
    CacheState, ClearTrigger, Cleared, ClearedResult, ClearingSum, Spilled,
};
use everfold_kernel::{
    Boundary, Decision, Entry, MessageId, Record, RecordId, ToolUseId, Usd, UserOrigin,
};
use everfold_transcript::line::{Facts, Gap, Line};
use everfold_transcript::{Decoded, Side, decode_said};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What stands in place of a result that Claude Code cleared.
const CLEARED: &str = "[Old tool result content cleared]";

/// The type of progress that tells what a sub-agent said.
const AGENT_PROGRESS: &str = "agent_progress";

/// Reads such a file.
#[derive(Debug, Default)]
pub(crate) struct Claude {
    lanes: BTreeMap<Thread, Lane>,
    /// The thread of each sub-agent.
    agents: BTreeMap<String, Thread>,
    sidechains: u32,
    /// Where every line is.
    index: BTreeMap<RecordId, Place>,
    /// Responses that are over.
    told: BTreeSet<MessageId>,
    /// Time for lines that have none.
    latest: Timestamp,
    made: u64,
    agent_lines: AgentLines,
}

/// Whether what sub-agents said is taken from the progress of their calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AgentLines {
    #[default]
    Told,
    /// They have files of their own.
    Elsewhere,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    thread: Thread,
    step: usize,
}

#[derive(Debug, Default)]
struct Lane {
    trail: Trail,
    open: Option<Open>,
}

impl Claude {
    pub(crate) fn new(agent_lines: AgentLines) -> Self {
        Self { agent_lines, ..Self::default() }
    }

    pub(crate) fn push(&mut self, line: &[u8], number: u64, about: &mut About, sink: Sink<'_>) {
        about.format = about.format.or(Some(Format::ClaudeCode));
        match decode_said(line) {
            Ok(Decoded::Record(line)) => self.record(*line, number, about, sink),
            Ok(Decoded::Link(own)) => {
                if !self.index.contains_key(&own.id) {
                    let thread = self.thread(&own.facts.side, own.parent.as_ref());
                    self.note(thread, own.id, Pace::Follows);
                }
                match said_by_agent(line).map(|said| decode_said(said.as_bytes())) {
                    Some(Ok(Decoded::Record(said))) if self.agent_lines == AgentLines::Told => {
                        self.record(*said, number, about, sink);
                    }
                    _ => about.tally.set_aside("progress"),
                }
            }
            Ok(Decoded::Bookkeeping(value)) => self.beside(&value, about, sink),
            Err(error) => about.tally.skip(name(&error), number),
        }
    }

    pub(crate) fn finish(&mut self, sink: Sink<'_>) {
        for (thread, lane) in &mut self.lanes {
            if let Some(open) = lane.open.take() {
                open.tell(*thread, sink);
            }
        }
    }

    fn record(&mut self, line: Line, number: u64, about: &mut About, sink: Sink<'_>) {
        let Line { mut record, mut rest, facts, .. } = line;
        if self.index.contains_key(&record.id) {
            return about.tally.skip("a line that is there twice", number);
        }
        note_facts(about, &facts);
        if facts.gaps.contains(&Gap::Time) {
            record.at = self.latest;
            for own in &mut rest {
                own.at = self.latest;
            }
        }
        self.latest = record.at;
        let thread = self.thread(&facts.side, record.parent.as_ref());
        if let Entry::Opaque(value) = &record.entry {
            let (id, at) = (record.id.clone(), record.at);
            let decision = microcompaction(value);
            if decision.is_none() {
                about.tally.set_aside(kind_of(value));
            }
            self.note(thread, id.clone(), Pace::Follows);
            if let Some(decision) = decision {
                self.tell(thread, Record { id, parent: None, at, entry: decision }, sink);
            }
            return;
        }
        self.take_back(thread, &record, sink);
        match &mut record.entry {
            Entry::Assistant(entry) => {
                let id = entry.message_id.clone();
                let numbered = !facts.gaps.contains(&Gap::BlockIndex);
                return self.block((thread, id, numbered), record, rest, (number, about), sink);
            }
            Entry::Decision(_) => about.format = Some(Format::Everfold),
            Entry::User(_) | Entry::Attachment(_) | Entry::Boundary(_) | Entry::Opaque(_) => {}
        }
        let opens = match &record.entry {
            Entry::User(user) => user.origin == UserOrigin::Human,
            _ => false,
        };
        if let Entry::Boundary(boundary) = &mut record.entry {
            self.cross(thread, boundary);
        }
        self.note(thread, record.id.clone(), if opens { Pace::Opens } else { Pace::Follows });
        let closes = match &record.entry {
            Entry::User(user) => user.origin != UserOrigin::ToolResult,
            Entry::Boundary(_) => true,
            _ => false,
        };
        if closes {
            self.close(thread, sink);
        }
        self.tell(thread, record, sink);
    }

    /// Starts the way anew at a boundary, with what it keeps. Older files
    /// name that by its first and last line.
    fn cross(&mut self, thread: Thread, boundary: &mut Boundary) {
        let trail = std::mem::take(&mut self.lane(thread).trail);
        if boundary.preserved.is_empty() {
            boundary.preserved = segment(&trail, boundary.metadata.get("preservedSegment"));
        }
        for id in &boundary.preserved {
            self.note(thread, id.clone(), Pace::Follows);
        }
    }

    /// Adds a block to its response.
    fn block(
        &mut self,
        (thread, id, numbered): (Thread, MessageId, bool),
        record: Record,
        rest: Vec<Record>,
        (number, about): (u64, &mut About),
        sink: Sink<'_>,
    ) {
        let is_open = self.lane(thread).open.as_ref().is_some_and(|open| open.id == id);
        if !is_open {
            if self.told.contains(&id) {
                self.note(thread, record.id, Pace::Follows);
                return about.tally.skip("a block of a response that was over", number);
            }
            self.close(thread, sink);
            self.told.insert(id.clone());
            self.lane(thread).open = Some(Open::new(id));
        }
        self.note(thread, record.id.clone(), if is_open { Pace::Follows } else { Pace::Opens });
        // Several blocks in one line are in order, whatever the line says.
        let numbered = numbered || !rest.is_empty();
        if let Some(open) = &mut self.lane(thread).open {
            for record in std::iter::once(record).chain(rest) {
                open.add(record, numbered);
            }
        }
    }

    /// Tells of what is dropped, where the conversation went back.
    fn take_back(&mut self, thread: Thread, record: &Record, sink: Sink<'_>) {
        let starts = match &record.entry {
            Entry::User(user) => matches!(user.origin, UserOrigin::Human | UserOrigin::Meta),
            Entry::Attachment(_) => true,
            _ => false,
        };
        let parent = record.parent.as_ref().filter(|_| starts);
        let place = parent.and_then(|parent| self.index.get(parent)).copied();
        let (Some(parent), Some(place)) = (parent, place.filter(|own| own.thread == thread)) else {
            return;
        };
        if let Some(dropped) = self.lane(thread).trail.back_to(parent, place.step) {
            self.close(thread, sink);
            sink(TranscriptEvent { thread, what: What::Rewound { dropped } });
        }
    }

    /// Lines beside the conversation. Results that were shown in another form
    /// are part of it all the same.
    fn beside(&mut self, value: &Value, about: &mut About, sink: Sink<'_>) {
        about.tally.set_aside(kind_of(value));
        let agent = value.get("agentId").and_then(Value::as_str).map(str::to_owned);
        let replacements = value.get("replacements").and_then(Value::as_array);
        for one in replacements.into_iter().flatten() {
            let id = one.get("toolUseId").and_then(Value::as_str);
            let text = one.get("replacement").and_then(Value::as_str);
            let (Some(id), Some(text)) = (id, text) else { continue };
            self.made += 1;
            let side = agent.clone().map_or(Side::Main, |id| Side::Agent(Some(id)));
            let thread = self.thread(&side, None);
            let entry = Entry::Decision(Decision::Spilled(Spilled {
                tool_use_id: ToolUseId::new(id),
                replacement: text.to_owned(),
                file: None,
                chars: 0,
            }));
            let id = RecordId::from(format!("replacement-{}", self.made));
            self.tell(thread, Record { id, parent: None, at: self.latest, entry }, sink);
        }
    }

    /// The conversation that a line belongs to. A sidechain without a name is
    /// known by the line before it.
    fn thread(&mut self, side: &Side, parent: Option<&RecordId>) -> Thread {
        let known = match side {
            Side::Main => Some(Thread::MAIN),
            Side::Agent(Some(name)) => self.agents.get(name).copied(),
            Side::Agent(None) => {
                let place = parent.and_then(|parent| self.index.get(parent));
                place.map(|place| place.thread).filter(|own| *own != Thread::MAIN)
            }
        };
        known.unwrap_or_else(|| {
            self.sidechains += 1;
            let thread = Thread(self.sidechains);
            if let Side::Agent(Some(name)) = side {
                self.agents.insert(name.clone(), thread);
            }
            thread
        })
    }

    fn lane(&mut self, thread: Thread) -> &mut Lane {
        self.lanes.entry(thread).or_default()
    }

    fn note(&mut self, thread: Thread, id: RecordId, pace: Pace) {
        let step = self.lane(thread).trail.note(id.clone(), pace);
        self.index.insert(id, Place { thread, step });
    }

    fn close(&mut self, thread: Thread, sink: Sink<'_>) {
        if let Some(open) = self.lane(thread).open.take() {
            open.tell(thread, sink);
        }
    }

    /// Tells a record, behind the response that may still go on.
    fn tell(&mut self, thread: Thread, record: Record, sink: Sink<'_>) {
        match &mut self.lane(thread).open {
            Some(open) => open.hold(record),
            None => sink(TranscriptEvent { thread, what: What::Record(Box::new(record)) }),
        }
    }
}

/// The lines from a head to a tail.
fn segment(trail: &Trail, segment: Option<&Value>) -> Vec<RecordId> {
    let end = |key| trail.place(&RecordId::new(segment?.get(key)?.as_str()?));
    match (end("headUuid"), end("tailUuid")) {
        (Some(head), Some(last)) if head <= last => {
            trail.from(head).into_iter().take(last - head + 1).collect()
        }
        _ => Vec::new(),
    }
}

/// What a sub-agent said, as a line of its own. Generations that write no files
/// for sub-agents, or whose files are gone, have it in the progress of the call.
fn said_by_agent(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.contains(AGENT_PROGRESS))?;
    let mut whole: Value = serde_json::from_str(line).ok()?;
    let data = whole.get_mut("data")?;
    if data.get("type")? != AGENT_PROGRESS {
        return None;
    }
    let agent = data.get("agentId")?.clone();
    let mut said = data.get_mut("message")?.take();
    let fields = said.as_object_mut()?;
    fields.insert("isSidechain".to_owned(), Value::Bool(true));
    fields.insert("agentId".to_owned(), agent);
    for key in ["sessionId", "cwd", "version"] {
        if let Some(value) = whole.get(key) {
            fields.insert(key.to_owned(), value.clone());
        }
    }
    Some(said.to_string())
}

fn note_facts(about: &mut About, facts: &Facts) {
    if about.cwd.is_none() {
        about.cwd.clone_from(&facts.cwd);
    }
    if facts.session.is_some() {
        about.session.clone_from(&facts.session);
    }
    if facts.version.is_some() {
        about.version.clone_from(&facts.version);
    }
}

/// The type of a line, with its subtype.
fn kind_of(value: &Value) -> &str {
    let kind = |key: &str| value.get(key).and_then(Value::as_str).filter(|kind| !kind.is_empty());
    let attached = value.pointer("/attachment/type").and_then(Value::as_str);
    attached.or_else(|| kind("subtype")).or_else(|| kind("type")).unwrap_or("no type")
}

/// Results that Claude Code cleared, as a decision.
fn microcompaction(value: &Value) -> Option<Entry> {
    if value.get("subtype")?.as_str()? != "microcompact_boundary" {
        return None;
    }
    let metadata = value.get("microcompactMetadata")?;
    let ids = metadata.get("compactedToolIds")?.as_array()?;
    let results = ids
        .iter()
        .filter_map(Value::as_str)
        .map(|id| ClearedResult { tool_use_id: ToolUseId::new(id), marker: CLEARED.to_owned() });
    let cleared_tokens = metadata.get("tokensSaved").and_then(Value::as_u64).unwrap_or(0);
    let nothing = Usd(0.0);
    let sum = ClearingSum {
        cache: CacheState::Cold,
        cleared_tokens,
        rewritten_tokens: 0,
        rounds: 0.0,
        saves: nothing,
        costs: nothing,
    };
    let cleared = Cleared { results: results.collect(), trigger: ClearTrigger::Time, sum };
    Some(Entry::Decision(Decision::Cleared(cleared)))
}
