//! What is reviewed, and what the background agent is told.
//!
//! A review looks at the messages since the cursor, and only those (L5.9,
//! L5.10). Who said what is kept apart: what a person said is worth more than
//! what a model concluded, and what came from the web or a tool server is data
//! from strangers (L5.26).

use crate::error::Error;
use everfold_kernel::{Block, BlockView, RecordId, ToolUseId, UserOrigin};
use everfold_prefix::Message;
use everfold_prefix::message::{Origin, Piece};
use everfold_recall::Manifest;
use minijinja::{Environment, UndefinedBehavior, context};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Characters of the message by which the agent finds where to start.
const START_CHARS: usize = 80;
/// Tools whose results come from the web, or from servers.
const WEB_TOOLS: &[&str] =
    &["WebFetch", "WebSearch", "ListMcpResourcesTool", "ReadMcpResourceTool"];
/// What the names of a tool server's tools start with.
const SERVER_TOOLS: &str = "mcp__";
/// Words of shell commands that bring something from the web.
const WEB_COMMANDS: &[&str] = &["curl", "wget", "http://", "https://"];
/// Tools by which a model writes files.
const WRITING_TOOLS: &[&str] = &["Write", "Edit"];

/// What a review has to know of the surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The directories of memories.
    pub memory_dirs: &'a [PathBuf],
    /// Kinds of attachments that hold instruction files.
    pub instruction_kinds: &'a [&'a str],
}

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The person.
    Person,
    /// The model.
    Assistant,
    /// A tool that works with the person's own things.
    Tool,
    /// The web, or a tool server.
    Stranger,
}

/// One piece of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The record that brought it.
    pub record: RecordId,
    /// Who said it.
    pub who: Who,
    /// What.
    pub text: String,
}

/// The part of a conversation that is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Review {
    /// What was said since the cursor, in order.
    pub said: Vec<Said>,
    /// What strangers said in the whole conversation, as far as it is shown.
    pub strangers: Vec<String>,
    /// What instruction files say.
    pub instructions: String,
    /// The last message that is looked at: the cursor after the review.
    pub last: Option<RecordId>,
    /// Memories that the main agent wrote itself.
    pub saved: Vec<PathBuf>,
}

impl Review {
    /// Whether the main agent wrote memories itself (L5.11).
    #[must_use]
    pub fn saved_by_main(&self) -> bool {
        !self.saved.is_empty()
    }

    /// Whether the person said nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.said.iter().any(|said| said.who == Who::Person)
    }

    /// What these said, one text after the other.
    pub(crate) fn by(&self, who: Who) -> impl Iterator<Item = &Said> {
        self.said.iter().filter(move |said| said.who == who)
    }
}

/// What there is to review after the cursor. If the message that it names is
/// gone, all messages count (L5.10).
#[must_use]
pub fn review(messages: &[Message], cursor: Option<&RecordId>, ground: Ground<'_>) -> Review {
    let pieces: Vec<&Piece> = messages.iter().flat_map(Message::pieces).collect();
    let after = cursor
        .and_then(|cursor| pieces.iter().rposition(|piece| piece.record == *cursor))
        .map_or(0, |at| at + 1);
    let calls = Calls::of(&pieces);
    let mut review = Review { last: pieces.last().map(|p| p.record.clone()), ..Review::default() };
    for (at, piece) in pieces.iter().enumerate() {
        let is_new = at >= after;
        match said(piece, &calls) {
            Some(said) => {
                if said.who == Who::Stranger {
                    review.strangers.push(said.text.clone());
                }
                if is_new {
                    review.said.push(said);
                }
            }
            None => {
                if let Origin::Attachment(kind) = &piece.origin
                    && ground.instruction_kinds.contains(&kind.as_str())
                {
                    review.instructions.push_str(&piece.block.plain_text());
                    review.instructions.push('\n');
                }
            }
        }
        if is_new && let Some(path) = calls.written(piece, ground.memory_dirs) {
            review.saved.push(path);
        }
    }
    review
}

/// The calls of a conversation, and which of them failed.
struct Calls<'a> {
    calls: BTreeMap<ToolUseId, (&'a str, &'a Value)>,
    failed: BTreeSet<ToolUseId>,
}

impl<'a> Calls<'a> {
    fn of(pieces: &[&'a Piece]) -> Self {
        let (mut calls, mut failed) = (BTreeMap::new(), BTreeSet::new());
        for piece in pieces {
            match piece.block.view() {
                BlockView::ToolUse { id, name, input } => {
                    calls.insert(id.into(), (name, input));
                }
                BlockView::ToolResult { id, is_error: true, .. } => {
                    failed.insert(id.into());
                }
                _ => {}
            }
        }
        Self { calls, failed }
    }

    /// Whose words a result is.
    fn who(&self, id: &str) -> Who {
        let Some((name, input)) = self.calls.get(&ToolUseId::new(id)) else { return Who::Tool };
        let fetches = || {
            let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
            WEB_COMMANDS.iter().any(|word| command.contains(word))
        };
        let stranger = WEB_TOOLS.contains(name) || name.starts_with(SERVER_TOOLS) || fetches();
        if stranger { Who::Stranger } else { Who::Tool }
    }

    /// The memory that a call wrote, if it did.
    fn written(&self, piece: &Piece, dirs: &[PathBuf]) -> Option<PathBuf> {
        let BlockView::ToolUse { id, name, input } = piece.block.view() else { return None };
        let path = Path::new(input.get("file_path")?.as_str()?);
        let is_memory = dirs.iter().any(|dir| path.starts_with(dir));
        let went_through = !self.failed.contains(&ToolUseId::new(id));
        (WRITING_TOOLS.contains(&name) && is_memory && went_through).then(|| path.to_owned())
    }
}

/// What a piece says, and who; none for what the program put there.
fn said(piece: &Piece, calls: &Calls<'_>) -> Option<Said> {
    let who = match (&piece.origin, piece.block.view()) {
        (Origin::User(_), BlockView::ToolResult { id, .. }) => calls.who(id),
        // What a server searched the web for by itself.
        (Origin::Assistant(_), BlockView::Other(kind)) if kind.starts_with("web_") => Who::Stranger,
        // What the assistant says after what it found there.
        (Origin::Assistant(_), BlockView::Text(_)) if is_cited(&piece.block) => Who::Stranger,
        (Origin::Assistant(_), BlockView::Text(_)) => Who::Assistant,
        (Origin::User(UserOrigin::Human), _) => Who::Person,
        _ => return None,
    };
    let text = match piece.block.view() {
        BlockView::Other(_) => Value::Object(piece.block.as_map().clone()).to_string(),
        _ => piece.block.plain_text(),
    };
    let record = piece.record.clone();
    (!text.trim().is_empty()).then_some(Said { record, who, text })
}

/// Whether a text names the pages that it rests on.
fn is_cited(block: &Block) -> bool {
    let citations = block.as_map().get("citations").and_then(Value::as_array);
    citations.is_some_and(|citations| !citations.is_empty())
}

/// What the background agent is told besides the conversation.
#[derive(Clone, Copy, Debug)]
pub struct Directive<'a> {
    /// Where memories of this project go.
    pub dir: &'a Path,
    /// Where memories of the person go that hold in every project.
    pub global_dir: Option<&'a Path>,
    /// The memories that there are.
    pub manifest: &'a Manifest,
}

/// The directive for a review (L5.9).
///
/// # Errors
/// If the prompt is broken.
pub fn directive(review: &Review, told: &Directive<'_>) -> Result<String, Error> {
    let first = review.by(Who::Person).next().map_or("", |said| said.text.as_str());
    let words: Vec<&str> = first.split_whitespace().collect();
    let start: String = words.join(" ").chars().take(START_CHARS).collect();
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let global_dir = told.global_dir.map(|dir| dir.display().to_string()).unwrap_or_default();
    let text = environment.render_str(
        include_str!("prompt.md"),
        context! {
            start => start,
            dir => told.dir.display().to_string(),
            global_dir => global_dir,
            manifest => told.manifest.render().trim_end(),
        },
    )?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::limits::RecallLimits;
    use everfold_recall::Topic;
    use jiff::Timestamp;

    #[test]
    fn l5_9_the_prompt_reads_so() {
        let topic = Topic {
            file: "deploy.md".into(),
            name: "Deploys".into(),
            kind: Some("project".into()),
            modified: Timestamp::from_second(1_750_000_000).unwrap(),
            description: "on which weekday we deploy".into(),
            body: String::new(),
            used: 0,
        };
        let manifest = Manifest::new(vec![topic], "", &BTreeSet::new(), &RecallLimits::default());
        let said = Said {
            record: "r1".into(),
            who: Who::Person,
            text: "We moved the deploy\nto Thursdays, and here is a long story about how that came to be.".into(),
        };
        let review = Review { said: vec![said], ..Review::default() };
        let told = Directive {
            dir: Path::new("/home/ada/memory"),
            global_dir: Some(Path::new("/home/ada/global")),
            manifest: &manifest,
        };
        insta::assert_snapshot!(directive(&review, &told).unwrap());
        let bare = Directive { global_dir: None, manifest: &Manifest::default(), ..told };
        let text = directive(&review, &bare).unwrap();
        assert!(text.contains("There are none yet") && !text.contains("/home/ada/global"));
        assert!(text.len() < 2_400, "{} bytes: it is sent after every turn", text.len());
    }
}
