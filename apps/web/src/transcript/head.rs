//! A message in a list.

use everfold_kernel::phrase::{counted, cut};
use everfold_kernel::{
    BlockView, Boundary, Decision, Entry, Record, Timestamp, UserEntry, UserOrigin,
};
use everfold_memory_judge::secrets;
use serde_json::Value;

/// Characters of a line.
const LINE_CHARS: usize = 180;
/// Characters of a text that are looked at for it: what is masked must not be
/// cut before it is known.
const LOOK_CHARS: usize = 2_000;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadKind {
    Person,
    Model,
    Thinking,
    Call,
    Result,
    Failed,
    Injected,
    Summary,
    Compaction,
    Decided,
    Other,
}

impl HeadKind {
    /// The word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Model => "model",
            Self::Thinking => "thinking",
            Self::Call => "call",
            Self::Result => "result",
            Self::Failed => "failed",
            Self::Injected => "injected",
            Self::Summary => "summary",
            Self::Compaction => "compaction",
            Self::Decided => "decision",
            Self::Other => "other",
        }
    }
}

/// A message in a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MessageHead {
    /// In which file, and which record of it.
    pub(crate) file: usize,
    pub(crate) ordinal: usize,
    /// Whether it is a sub-agent's.
    pub(crate) aside: bool,
    pub(crate) at: Timestamp,
    pub(crate) kind: HeadKind,
    /// Its start, secrets masked.
    pub(crate) line: String,
    pub(crate) bytes: usize,
}

impl MessageHead {
    /// None for what says nothing to a person.
    pub(super) fn of(
        record: &Record,
        (file, ordinal): (usize, usize),
        aside: bool,
    ) -> Option<Self> {
        let (kind, bytes, line) = told(&record.entry)?;
        let line = secrets::mask(&line);
        let line = cut(line.trim(), LINE_CHARS);
        Some(Self { file, ordinal, aside, at: record.at, kind, line, bytes })
    }
}

fn told(entry: &Entry) -> Option<(HeadKind, usize, String)> {
    match entry {
        Entry::User(user) => Some(user_told(user)),
        Entry::Assistant(answer) => {
            let (kind, text) = block(answer.block.view());
            Some((kind, text.len(), start(&text)))
        }
        Entry::Attachment(attachment) => {
            let line = format!("{}: {}", attachment.kind, start(&attachment.rendered));
            Some((HeadKind::Injected, attachment.rendered.len(), line))
        }
        Entry::Boundary(boundary) => Some((HeadKind::Compaction, 0, boundary_told(boundary))),
        Entry::Decision(decision) => {
            decision_told(decision).map(|line| (HeadKind::Decided, 0, line))
        }
        Entry::Opaque(_) => None,
    }
}

fn user_told(user: &UserEntry) -> (HeadKind, usize, String) {
    let blocks: Vec<(HeadKind, String)> =
        user.content.iter().map(|own| block(own.view())).collect();
    let bytes = blocks.iter().map(|(_, text)| text.len()).sum();
    let first = blocks.first().map(|(kind, _)| *kind);
    let kind = match (user.origin, first) {
        (_, Some(kind @ (HeadKind::Result | HeadKind::Failed))) => kind,
        (UserOrigin::Human, _) => HeadKind::Person,
        (UserOrigin::CompactSummary, _) => HeadKind::Summary,
        (UserOrigin::ToolResult | UserOrigin::Meta, _) => HeadKind::Injected,
    };
    let mut line = blocks.first().map(|(_, text)| start(text)).unwrap_or_default();
    if blocks.len() > 1 {
        line = format!("({}) {line}", counted(blocks.len() as u64, "block"));
    }
    (kind, bytes, line)
}

fn boundary_told(boundary: &Boundary) -> String {
    let before = match boundary.pre_tokens {
        0 => String::new(),
        tokens => format!(" at {} tokens", everfold_kernel::phrase::grouped(tokens)),
    };
    let kept = match boundary.preserved.len() {
        0 => "only the summary was kept".to_owned(),
        kept => format!("{} kept word for word", counted(kept as u64, "message")),
    };
    format!("compacted ({}){before}; {kept}", boundary.trigger)
}

/// What was decided about what a model sees; what was booked is money.
fn decision_told(decision: &Decision) -> Option<String> {
    let ids = |count: usize| counted(count as u64, "result");
    Some(match decision {
        Decision::Spilled(own) => {
            format!("result {} went to disk; a preview stays", own.tool_use_id)
        }
        Decision::Cleared(own) => format!("{} cleared from view", ids(own.results.len())),
        Decision::Snipped { .. } => "a range of messages was taken out of view".to_owned(),
        Decision::Collapsed { summary, .. } => format!("rounds summarised: {}", start(summary)),
        Decision::CompactionFailed { reason, .. } => format!("a compaction failed: {reason}"),
        Decision::BreakSeen(_) => "the cache broke where nothing had announced it".to_owned(),
        Decision::HookFailed { event, reason, .. } => format!("hook {event} failed: {reason}"),
        Decision::Retracted { reason, .. } => format!("a response was retracted: {reason}"),
        _ => return None,
    })
}

/// Everything that a record says, block by block: a heading and a text.
pub(crate) fn texts(entry: &Entry) -> Vec<(String, String)> {
    let one = |own: BlockView<'_>| {
        let (kind, text) = block(own);
        (kind.as_str().to_owned(), text)
    };
    match entry {
        Entry::User(user) => user.content.iter().map(|own| one(own.view())).collect(),
        Entry::Assistant(answer) => vec![one(answer.block.view())],
        Entry::Attachment(own) => vec![(own.kind.clone(), own.rendered.clone())],
        Entry::Boundary(own) => vec![
            ("compaction".to_owned(), boundary_told(own)),
            ("metadata".to_owned(), pretty(&Value::Object(own.metadata.clone()))),
        ],
        Entry::Decision(own) => {
            let value = serde_json::to_value(own).unwrap_or_default();
            vec![("decision".to_owned(), pretty(&value))]
        }
        Entry::Opaque(value) => vec![("line".to_owned(), pretty(value))],
    }
}

fn block(view: BlockView<'_>) -> (HeadKind, String) {
    match view {
        BlockView::Text(text) => (HeadKind::Model, text.to_owned()),
        BlockView::Thinking(text) => (HeadKind::Thinking, text.to_owned()),
        BlockView::RedactedThinking => (HeadKind::Thinking, "(encrypted)".into()),
        BlockView::ToolUse { name, input, .. } => {
            (HeadKind::Call, format!("{name} {}", pretty(input)))
        }
        BlockView::ToolResult { content, is_error, .. } => {
            let kind = if is_error { HeadKind::Failed } else { HeadKind::Result };
            (kind, plain(content))
        }
        BlockView::Image => (HeadKind::Other, "(a picture)".into()),
        BlockView::Document => (HeadKind::Other, "(a document)".into()),
        BlockView::Other(kind) => (HeadKind::Other, format!("({kind})")),
    }
}

/// The text of a result: a string, or the text blocks of a list.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let one = |own: &Value| {
                let text = own.get("text").and_then(Value::as_str);
                text.map_or_else(
                    || format!("({})", own["type"].as_str().unwrap_or("?")),
                    str::to_owned,
                )
            };
            blocks.iter().map(one).collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => pretty(other),
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn start(text: &str) -> String {
    text.chars().take(LOOK_CHARS).collect()
}
