//! What happened in the part that goes, as facts.
//!
//! Read from the messages alone, the same way every time. The check (L4.12),
//! the local summary (L4.11) and the restored files (L4.5) all look here.

use crate::user_messages::{self, MessageExtent, UserMessage};
use crate::{clip, frame, local_summary, pairs};
use everfold_kernel::{Block, BlockView, Limits, RecordId, Role, Tokens, ToolUseId, UserOrigin};
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::{Fold, Piece};
use serde_json::Value;
use std::borrow::Cow;

mod files;

pub use files::{FileUse, Touched};

/// Facts about a part of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanFacts {
    /// What the person said, oldest first, with what an earlier summary kept.
    pub said: Vec<UserMessage>,
    /// Calls of tools with what came of them, oldest first.
    pub calls: Vec<PastCall>,
    /// Files that were touched, in the order of their last use.
    pub files: Vec<Touched>,
    /// To-dos that are not done, as last written.
    pub todos: Vec<OpenTodo>,
    /// The last text of the model.
    pub last_answer: Option<String>,
    /// The text of an earlier summary.
    pub earlier: Option<String>,
    /// Turns, each with its first and last record.
    pub spans: Vec<Span>,
    /// Spans that went before, as an earlier summary names them.
    pub earlier_spans: Vec<Span>,
    pub messages: usize,
    /// Tokens in it, before calibration.
    pub tokens: Tokens,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct PastCall {
    pub record: RecordId,
    /// Its name, by which its result is known.
    pub id: ToolUseId,
    /// The record of its result, if it came.
    pub result: Option<RecordId>,
    pub tool: String,
    /// What it was called on: a path, a command, or the arguments.
    pub target: String,
    /// What came of it.
    pub outcome: CallOutcome,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It worked; the first line of what it said.
    Worked(String),
    /// It failed; the first lines of why.
    Failed(String),
    Unanswered,
}

/// A to-do that is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTodo {
    /// What is to be done.
    pub text: String,
    /// How far it is, such as `pending`.
    pub status: String,
}

/// A run of records that goes: one turn, from a prompt to the next.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Span {
    /// Its first record.
    #[serde(serialize_with = "as_text")]
    pub from: RecordId,
    /// Its last record.
    #[serde(serialize_with = "as_text")]
    pub to: RecordId,
    /// Its first words.
    pub words: String,
    /// Its tokens, before calibration.
    pub tokens: u64,
}

fn as_text<S: serde::Serializer>(id: &RecordId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(id.as_str())
}

impl SpanFacts {
    #[must_use]
    pub fn of(fold: &Fold, limits: &Limits) -> Self {
        let mut past = Self { messages: fold.messages().len(), ..Self::default() };
        for (role, piece) in pairs::pieces(fold) {
            past.tokens += piece.tokens;
            past.span(piece, limits);
            match role {
                Role::User => past.user(piece, limits),
                Role::Assistant => past.assistant(piece),
            }
        }
        past.files = files::touched(&past.calls, past.earlier.as_deref());
        past.last_answer = pairs::pieces(fold).rev().find_map(|(role, piece)| {
            let BlockView::Text(text) = piece.block.view() else { return None };
            (role == Role::Assistant && !text.trim().is_empty()).then(|| text.to_owned())
        });
        past
    }

    /// Failed calls that no later call of the same kind made good, oldest first.
    pub fn open_errors(&self) -> impl Iterator<Item = &PastCall> {
        self.calls.iter().enumerate().filter_map(|(index, call)| {
            let failed = matches!(call.outcome, CallOutcome::Failed(_));
            let later = self.calls.iter().skip(index + 1);
            let again = later
                .filter(|other| other.tool == call.tool && other.target == call.target)
                .any(|other| !matches!(other.outcome, CallOutcome::Unanswered));
            (failed && !again).then_some(call)
        })
    }

    /// The last failure, whether or not it was made good.
    #[must_use]
    pub fn last_error(&self) -> Option<(&PastCall, &str)> {
        self.calls.iter().rev().find_map(|call| match &call.outcome {
            CallOutcome::Failed(why) => Some((call, why.as_str())),
            _ => None,
        })
    }

    fn span(&mut self, piece: &Piece, limits: &Limits) {
        let human = piece.origin == PieceOrigin::User(UserOrigin::Human);
        let words = || match &piece.origin {
            PieceOrigin::User(UserOrigin::CompactSummary) | PieceOrigin::Attachment(_) => {
                String::new()
            }
            _ => clip::line(&shown(&piece.block), limits.compact.line_chars / 2),
        };
        match self.spans.last_mut() {
            Some(last) if !human || last.to == piece.record => {
                last.to = piece.record.clone();
                last.tokens += piece.tokens.0;
                if last.words.is_empty() {
                    last.words = words();
                }
            }
            _ => self.spans.push(Span {
                from: piece.record.clone(),
                to: piece.record.clone(),
                words: words(),
                tokens: piece.tokens.0,
            }),
        }
    }

    fn user(&mut self, piece: &Piece, limits: &Limits) {
        match (&piece.origin, piece.block.view()) {
            (_, BlockView::ToolResult { id, is_error, .. }) => {
                let open = self.calls.iter_mut().rev().find(|call| call.id.as_str() == id);
                if let Some(call) = open {
                    call.result = Some(piece.record.clone());
                    let (text, most) = (result_text(&piece.block), limits.compact.line_chars);
                    call.outcome = if is_error {
                        CallOutcome::Failed(clip::line(&text, most))
                    } else {
                        CallOutcome::Worked(clip::gist(&text, most))
                    };
                }
            }
            (PieceOrigin::User(UserOrigin::CompactSummary), BlockView::Text(text)) => {
                self.said.extend(user_messages::find(text));
                self.earlier_spans.extend(frame::spans_in(text));
                self.todos = local_summary::todos_in(text);
                self.earlier = Some(text.to_owned());
            }
            (PieceOrigin::User(UserOrigin::Human), _) => self.say(piece),
            _ => {}
        }
    }

    fn say(&mut self, piece: &Piece) {
        let text = shown(&piece.block);
        if text.trim().is_empty() {
            return;
        }
        let record = Some(piece.record.clone());
        match self.said.last_mut() {
            Some(last) if last.record == record => {
                last.text.push('\n');
                last.text.push_str(&text);
            }
            _ => self.said.push(UserMessage { record, text, part: MessageExtent::Whole }),
        }
    }

    fn assistant(&mut self, piece: &Piece) {
        let BlockView::ToolUse { id, name, input } = piece.block.view() else { return };
        if name == "TodoWrite" {
            self.todos = open_todos(input);
        }
        self.calls.push(PastCall {
            record: piece.record.clone(),
            id: id.into(),
            result: None,
            tool: name.to_owned(),
            target: target(input),
            outcome: CallOutcome::Unanswered,
        });
    }
}

/// What a result says, of which only a line is kept: most are one text, and
/// may be long.
fn result_text(block: &Block) -> Cow<'_, str> {
    match block.view() {
        BlockView::ToolResult { content: Value::String(text), .. } => Cow::Borrowed(text),
        _ => Cow::Owned(block.plain_text()),
    }
}

/// What a person would see of a block.
pub(crate) fn shown(block: &Block) -> String {
    match block.view() {
        BlockView::Image => "[image]".to_owned(),
        BlockView::Document => "[document]".to_owned(),
        BlockView::ToolUse { name, input, .. } => format!("{name} {}", target(input)),
        _ => block.plain_text(),
    }
}

/// What a call is about: the argument that says most.
fn target(input: &Value) -> String {
    const TELLING: [&str; 9] = [
        "file_path",
        "notebook_path",
        "command",
        "pattern",
        "url",
        "query",
        "path",
        "description",
        "prompt",
    ];
    let telling = TELLING.iter().find_map(|key| input.get(key).and_then(Value::as_str));
    telling.map_or_else(|| input.to_string(), str::to_owned)
}

fn open_todos(input: &Value) -> Vec<OpenTodo> {
    let text = |todo: &Value, key: &str| todo.get(key).and_then(Value::as_str).map(str::to_owned);
    let todos = input.get("todos").and_then(Value::as_array);
    todos
        .into_iter()
        .flatten()
        .filter_map(|todo| {
            let status = text(todo, "status").unwrap_or_else(|| "pending".to_owned());
            Some(OpenTodo { text: text(todo, "content")?, status })
        })
        .filter(|todo| todo.status != "completed")
        .collect()
}
