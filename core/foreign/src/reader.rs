//! The reader: finds out what kind of file it is, and hands lines on.

use crate::claude::{AgentLines, Claude};
use crate::codex::Codex;
use crate::gemini::{Gemini, is_gemini};
use crate::opencode::{Opencode, is_opencode};
use crate::origin::Origins;
use crate::pi::Pi;
use crate::tally::ImportTally;
use everfold_kernel::{Record, RecordId, SessionId};
use everfold_transcript::LineError;
use everfold_transcript::line::object;
use serde::Serialize;
use serde_json::{Map, Value};

/// Whose transcript it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Everfold,
    ClaudeCode,
    Codex,
    Pi,
    /// A session of Gemini CLI.
    Gemini,
    Opencode,
}

impl Format {
    /// Its name for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Everfold => "everfold",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Pi => "pi",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
        }
    }
}

/// One conversation of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread(pub u32);

impl Thread {
    /// The conversation with the person; all others are sidechains, in the
    /// order in which they began.
    pub const MAIN: Self = Self(0);
}

/// Something that a transcript tells.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptEvent {
    pub thread: Thread,
    pub what: What,
}

/// What happened in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The next record of its log.
    Record(Box<Record>),
    /// It went on from an earlier place: these records are no longer part of it.
    Rewound {
        /// Which, in order.
        dropped: Vec<RecordId>,
    },
}

/// Takes what is told.
pub type Sink<'a> = &'a mut dyn FnMut(TranscriptEvent);

/// What is known of a file once it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Whose it is; none where no line said so.
    pub format: Option<Format>,
    pub session: Option<SessionId>,
    /// The directory that it was started in.
    pub cwd: Option<String>,
    /// The version of the program that wrote it last.
    pub version: Option<String>,
    /// What became of its lines.
    pub tally: ImportTally,
}

#[derive(Debug, Default)]
pub struct Reader {
    about: About,
    /// Lines so far, blank ones included.
    line: u64,
    form: Option<Form>,
    origins: Origins,
    agent_lines: AgentLines,
}

#[derive(Debug)]
enum Form {
    Claude(Box<Claude>),
    Codex(Box<Codex>),
    Pi(Box<Pi>),
    Gemini(Box<Gemini>),
    Opencode(Box<Opencode>),
}

impl Reader {
    /// A reader that knows nothing of the file yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader of a file whose sub-agents have files of their own, which are
    /// read as well: nothing of theirs is told here.
    #[must_use]
    pub fn beside_agents() -> Self {
        Self { agent_lines: AgentLines::Elsewhere, ..Self::default() }
    }

    /// Takes in one line, with or without its line end.
    pub fn push(&mut self, line: &[u8], sink: Sink<'_>) {
        self.line += 1;
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        self.about.tally.lines += 1;
        if self.form.is_none() {
            match object(line) {
                Ok(fields) => self.form = form_of(&fields, self.agent_lines),
                Err(error) => return self.refuse(&error),
            }
        }
        let origins = &mut self.origins;
        let sink: Sink<'_> = &mut |mut told: TranscriptEvent| {
            origins.mark(&mut told);
            sink(told);
        };
        let (number, about) = (self.line, &mut self.about);
        match &mut self.form {
            Some(Form::Claude(claude)) => claude.push(line, number, about, sink),
            Some(Form::Codex(codex)) => match object(line) {
                Ok(fields) => codex.push(&fields, number, about, sink),
                Err(error) => self.refuse(&error),
            },
            Some(Form::Pi(pi)) => match object(line) {
                Ok(fields) => pi.push(&fields, number, about, sink),
                Err(error) => self.refuse(&error),
            },
            Some(Form::Gemini(gemini)) => match object(line) {
                Ok(fields) => gemini.push(&fields, number, about, sink),
                Err(error) => self.refuse(&error),
            },
            Some(Form::Opencode(opencode)) => match object(line) {
                Ok(fields) => opencode.push(&fields, number, about, sink),
                Err(error) => self.refuse(&error),
            },
            None => about.tally.skip("of no known transcript", number),
        }
    }

    /// Takes note of a line that was too long to be read.
    pub fn push_too_long(&mut self) {
        self.line += 1;
        self.about.tally.lines += 1;
        self.about.tally.skip("too long", self.line);
    }

    /// Tells what is still open, and what is known of the file.
    pub fn finish(mut self, sink: Sink<'_>) -> About {
        let mut origins = self.origins;
        let sink: Sink<'_> = &mut |mut told: TranscriptEvent| {
            origins.mark(&mut told);
            sink(told);
        };
        match &mut self.form {
            Some(Form::Claude(claude)) => claude.finish(sink),
            Some(Form::Codex(codex)) => codex.finish(sink),
            Some(Form::Gemini(gemini)) => gemini.finish(sink),
            Some(Form::Pi(_) | Form::Opencode(_)) | None => {}
        }
        self.about
    }

    fn refuse(&mut self, error: &LineError) {
        self.about.tally.skip(name(error), self.line);
    }
}

/// The name of what is wrong with a line.
pub(crate) fn name(error: &LineError) -> &'static str {
    match error {
        LineError::Json(_) => "not JSON",
        LineError::NotAnObject => "not an object",
        LineError::NoUuid => "a message without an id",
    }
}

/// Types of lines that stand beside a conversation of ours or Claude Code's.
const BESIDE: [&str; 8] = [
    "summary",
    "custom-title",
    "ai-title",
    "last-prompt",
    "mode",
    "permission-mode",
    "file-history-snapshot",
    "queue-operation",
];

/// Whose file has such a line; none where it could be anyone's.
fn form_of(fields: &Map<String, Value>, agent_lines: AgentLines) -> Option<Form> {
    let has = |key: &str| fields.contains_key(key);
    let kind = fields.get("type").and_then(Value::as_str).unwrap_or("");
    if has("payload") || has("record_type") || (kind.is_empty() && has("instructions")) {
        return Some(Form::Codex(Box::default()));
    }
    if is_opencode(fields) {
        return Some(Form::Opencode(Box::default()));
    }
    if is_gemini(fields) {
        return Some(Form::Gemini(Box::default()));
    }
    if has("uuid") || has("sessionId") || BESIDE.contains(&kind) {
        return Some(Form::Claude(Box::new(Claude::new(agent_lines))));
    }
    match kind {
        "session" => Some(Form::Pi(Box::default())),
        "message" if has("message") => Some(Form::Pi(Box::default())),
        // Rollouts of the first generation have bare items.
        "message" | "function_call" | "function_call_output" | "reasoning" => {
            Some(Form::Codex(Box::default()))
        }
        _ => None,
    }
}
