//! Looking through the lines of a log for one id.

use super::{RecallError, Recalled, RecalledKind, words};
use everfold_kernel::provenance::Provenance;
use everfold_kernel::{BlockProvenance, BlockView, Entry, Record, SessionId, Timestamp};
use everfold_transcript::{Decoded, decode};

/// Longest id that is looked for.
const ID_BYTES: usize = 512;

/// What stands between the two ends of a span.
const SPAN: &str = "..";

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted<'a> {
    One { id: &'a str },
    Span { first: &'a str, last: &'a str },
}

impl<'a> Wanted<'a> {
    pub(super) fn parse(id: &'a str) -> Result<Self, RecallError> {
        let id = id.trim();
        if id.is_empty() || id.len() > ID_BYTES {
            return Err(RecallError::NoId);
        }
        if is_path(id) {
            return Err(RecallError::Path { id: id.to_owned() });
        }
        match id.split_once(SPAN) {
            Some((first, last)) if first.is_empty() || last.is_empty() => Err(RecallError::NoId),
            Some((first, last)) => Ok(Self::Span { first: first.trim(), last: last.trim() }),
            None => Ok(Self::One { id }),
        }
    }
}

/// Whether an id names a place rather than a thing.
fn is_path(id: &str) -> bool {
    id.starts_with(['/', '\\', '~'])
        || id.split(['/', '\\']).any(|part| matches!(part, "." | ".."))
        || id.chars().any(char::is_control)
}

/// A pass over a log.
pub(super) struct Looking<'a> {
    wanted: Wanted<'a>,
    result: Option<Found>,
    message: Option<Found>,
    tool: Option<String>,
    span: Span,
}

/// A text, when it was written, and whose words it is.
type Found = (String, Timestamp, Option<Provenance>);

/// What a span says so far, and the least trusted of it.
#[derive(Default)]
struct Lines {
    texts: Vec<String>,
    lowest: Option<Provenance>,
}

/// How far a span has been seen.
enum Span {
    NotBegun,
    Open(Lines, Timestamp),
    Closed(Lines, Timestamp),
}

impl<'a> Looking<'a> {
    pub(super) fn new(wanted: Wanted<'a>) -> Self {
        Self { wanted, result: None, message: None, tool: None, span: Span::NotBegun }
    }

    /// Takes the next line. One that cannot be read holds nothing that could
    /// be brought back.
    pub(super) fn take(&mut self, line: &[u8]) {
        if !self.may_matter(line) {
            return;
        }
        let Ok(Decoded::Record(line)) = decode(line) else { return };
        for record in std::iter::once(&line.record).chain(&line.rest) {
            match self.wanted {
                Wanted::One { id } => self.take_one(id, record),
                Wanted::Span { first, last } => self.take_span(first, last, record),
            }
        }
    }

    /// Whether a line can hold the id: reading JSON is what takes time.
    fn may_matter(&self, line: &[u8]) -> bool {
        let Wanted::One { id } = self.wanted else { return true };
        // A further block of a line has the line's id and a number.
        let name = id.split_once('.').map_or(id, |(name, _)| name);
        let is_verbatim =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:".contains(&byte));
        // A hashed id is found by hashing those in the log.
        !is_verbatim
            || name.starts_with("result-")
            || std::str::from_utf8(line).map_or(true, |line| line.contains(name))
    }

    fn take_one(&mut self, id: &str, record: &Record) {
        let named = |own: &str| own == id || everfold_offload::stem(own) == id;
        match &record.entry {
            Entry::Assistant(assistant) => {
                if let BlockView::ToolUse { id, name, .. } = assistant.block.view()
                    && named(id)
                {
                    self.tool = Some(name.to_owned());
                }
            }
            Entry::User(user) => {
                for (at, block) in user.content.iter().enumerate() {
                    if let BlockView::ToolResult { id, content, .. } = block.view()
                        && named(id)
                    {
                        let whose = user.provenance_of(at).lowest();
                        let found = || (words::content(content), record.at, whose);
                        self.result.get_or_insert_with(found);
                    }
                }
            }
            _ => {}
        }
        if record.id.as_str() == id && self.message.is_none() {
            self.message = words::record(record).map(|text| (text, record.at, whose(record)));
        }
    }

    fn take_span(&mut self, first: &str, last: &str, record: &Record) {
        let id = record.id.as_str();
        if matches!(self.span, Span::NotBegun) && id == first {
            self.span = Span::Open(Lines::default(), record.at);
        }
        let Span::Open(lines, at) = &mut self.span else { return };
        lines.texts.extend(words::short(record));
        lines.lowest = lines.lowest.max(whose(record));
        if id == last {
            self.span = Span::Closed(std::mem::take(lines), *at);
        }
    }

    pub(super) fn found(self, session: &SessionId) -> Result<Recalled, RecallError> {
        let Self { wanted, result, message, tool, span } = self;
        let unknown =
            |id: &str| RecallError::Unknown { id: id.to_owned(), session: session.clone() };
        let recalled = |kind, tool, (text, at, provenance)| Recalled {
            kind,
            tool,
            text,
            at: Some(at),
            provenance,
        };
        match wanted {
            Wanted::One { id } => match (result, message) {
                (Some(result), _) => Ok(recalled(RecalledKind::Result, tool, result)),
                (None, Some(message)) => Ok(recalled(RecalledKind::Message, None, message)),
                (None, None) if tool.is_some() => Err(RecallError::NoResult { id: id.to_owned() }),
                (None, None) => Err(unknown(id)),
            },
            Wanted::Span { first, last } => match span {
                Span::NotBegun => Err(unknown(first)),
                Span::Open(..) => {
                    Err(RecallError::Backwards { first: first.to_owned(), last: last.to_owned() })
                }
                Span::Closed(lines, at) => {
                    let found = (lines.texts.join("\n"), at, lines.lowest);
                    Ok(recalled(RecalledKind::Span, None, found))
                }
            },
        }
    }
}

/// Whose words a record holds; the least trusted of them.
fn whose(record: &Record) -> Option<Provenance> {
    match &record.entry {
        Entry::User(user) => user.provenance.iter().filter_map(BlockProvenance::lowest).max(),
        Entry::Assistant(assistant) => Some(assistant.provenance()),
        Entry::Attachment(attachment) => attachment.provenance,
        _ => None,
    }
}
