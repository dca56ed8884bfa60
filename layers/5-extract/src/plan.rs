//! What is reviewed, and what the background agent is told.
//!
//! A review looks at the messages since the cursor, and only those (L5.9,
//! L5.10), each piece with its provenance (L5.33).

use crate::error::Error;
use everfold_kernel::provenance::Source;
use everfold_kernel::{BlockProvenance, BlockView, RecordId, ToolUseId, UserOrigin};
use everfold_memory_judge::{Testimony, words};
use everfold_memory_recall::Manifest;
use everfold_prefix::Message;
use everfold_prefix::message::{Piece, PieceOrigin};
use minijinja::{Environment, UndefinedBehavior, context};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Pieces of others that the agent is told of.
const FOREIGN_PIECES: usize = 8;
/// Characters of the message by which the agent finds where to start.
const START_CHARS: usize = 80;
/// Tools by which a model writes files.
const WRITING_TOOLS: &[&str] = &["Write", "Edit"];

/// What a review has to know of the surroundings.
#[derive(Clone, Copy, Debug)]
pub struct ReviewContext<'a> {
    /// The directories of memories.
    pub memory_dirs: &'a [PathBuf],
    /// Kinds of attachments that hold instruction files.
    pub instruction_kinds: &'a [&'a str],
}

/// The part of a conversation that is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewSpan {
    /// What was said since the cursor, and what instruction files say.
    pub testimony: Testimony,
    /// The last message that is looked at: the cursor after the review.
    pub last: Option<RecordId>,
    /// Memories that the main agent wrote itself.
    pub saved: Vec<PathBuf>,
}

impl ReviewSpan {
    /// Whether the main agent wrote memories itself (L5.11).
    #[must_use]
    pub fn saved_by_main(&self) -> bool {
        !self.saved.is_empty()
    }

    /// Whether the person said nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.testimony.has_person()
    }
}

/// What there is to review after the cursor. If the message that it names is
/// gone, all messages count (L5.10).
#[must_use]
pub fn review(
    messages: &[Message],
    cursor: Option<&RecordId>,
    ground: ReviewContext<'_>,
) -> ReviewSpan {
    let pieces: Vec<&Piece> = messages.iter().flat_map(Message::pieces).collect();
    let after = cursor
        .and_then(|cursor| pieces.iter().rposition(|piece| piece.record == *cursor))
        .map_or(0, |at| at + 1);
    let calls = Calls::of(&pieces);
    let mut review =
        ReviewSpan { last: pieces.last().map(|p| p.record.clone()), ..ReviewSpan::default() };
    for (at, piece) in pieces.iter().enumerate() {
        let is_new = at >= after;
        if let PieceOrigin::Attachment(kind) = &piece.origin
            && ground.instruction_kinds.contains(&kind.as_str())
        {
            review.testimony.instructions.push_str(&piece.block.plain_text());
            review.testimony.instructions.push('\n');
        } else if is_new {
            hear(&mut review.testimony, piece);
        }
        if is_new && let Some(path) = calls.written(piece, ground.memory_dirs) {
            review.saved.push(path);
        }
    }
    review
}

/// The calls of a conversation that failed.
struct Calls {
    failed: BTreeSet<ToolUseId>,
}

impl Calls {
    fn of(pieces: &[&Piece]) -> Self {
        let failed = pieces.iter().filter_map(|piece| match piece.block.view() {
            BlockView::ToolResult { id, is_error: true, .. } => Some(id.into()),
            _ => None,
        });
        Self { failed: failed.collect() }
    }

    /// The memory that a call wrote, if it did.
    fn written(&self, piece: &Piece, dirs: &[PathBuf]) -> Option<PathBuf> {
        let BlockView::ToolUse { id, name, input } = piece.block.view() else { return None };
        let path = Path::new(everfold_kernel::call::file_of(input)?);
        let is_memory = dirs.iter().any(|dir| path.starts_with(dir));
        let went_through = !self.failed.contains(&ToolUseId::new(id));
        (WRITING_TOOLS.contains(&name) && is_memory && went_through).then(|| path.to_owned())
    }
}

/// Takes in what a piece says. One that does not say whose words it holds is
/// from an older transcript, or from another program's: a prompt is told apart
/// by its form, and nothing else counts as anybody's own.
fn hear(testimony: &mut Testimony, piece: &Piece) {
    let text = match piece.block.view() {
        BlockView::Thinking(_) | BlockView::RedactedThinking | BlockView::ToolUse { .. } => return,
        BlockView::Other(_) => Value::Object(piece.block.as_map().clone()).to_string(),
        _ => piece.block.plain_text(),
    };
    if text.trim().is_empty() {
        return;
    }
    let provenance = match (&piece.origin, piece.provenance.is_unknown()) {
        (_, false) => piece.provenance.clone(),
        (PieceOrigin::User(UserOrigin::Human), true) => words::split(&text, &[]),
        (PieceOrigin::User(UserOrigin::ToolResult), true) => {
            BlockProvenance::whole(Source::Command)
        }
        _ => return,
    };
    testimony.hear(&piece.record, &provenance, &text);
}

/// What the background agent is told besides the conversation.
#[derive(Clone, Copy, Debug)]
pub struct ReviewDirective<'a> {
    /// Where memories of this project go.
    pub dir: &'a Path,
    /// Where memories of the person go that hold in every project.
    pub global_dir: Option<&'a Path>,
    /// Where memories go that the whole team should have (L5.21).
    pub team_dir: Option<&'a Path>,
    /// The memories that there are.
    pub manifest: &'a Manifest,
}

/// What was said by others, each by its start: the agent sees whose words are
/// whose (L5.33).
fn foreign(testimony: &Testimony) -> String {
    let others = testimony.said.iter().filter(|said| said.by.source > Source::Model);
    let pasted = testimony.said.iter().filter(|said| said.by.source == Source::Pasted);
    let lines = pasted.chain(others).take(FOREIGN_PIECES).map(|said| {
        let words: Vec<&str> = said.text.split_whitespace().collect();
        let start: String = words.join(" ").chars().take(START_CHARS).collect();
        format!("- {}: \"{start}\"", said.by)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The directive for a review (L5.9).
///
/// # Errors
/// If the prompt is broken.
pub fn directive(review: &ReviewSpan, told: &ReviewDirective<'_>) -> Result<String, Error> {
    let first = review.testimony.by_person().next().map_or("", |said| said.text.as_str());
    let words: Vec<&str> = first.split_whitespace().collect();
    let start: String = words.join(" ").chars().take(START_CHARS).collect();
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let global_dir = told.global_dir.map(|dir| dir.display().to_string()).unwrap_or_default();
    let team_dir = told.team_dir.map(|dir| dir.display().to_string()).unwrap_or_default();
    let text = environment.render_str(
        include_str!("prompt.md"),
        context! {
            start => start,
            dir => told.dir.display().to_string(),
            global_dir => global_dir,
            team_dir => team_dir,
            foreign => foreign(&review.testimony),
            manifest => told.manifest.render().trim_end(),
        },
    )?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::limits::RecallLimits;
    use everfold_memory_recall::Topic;
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
        let text = "We moved the deploy\nto Thursdays, and here is a long story about how that came to be.";
        let testimony = Testimony::typed(text, "r1".into());
        let review = ReviewSpan { testimony, ..ReviewSpan::default() };
        let told = ReviewDirective {
            dir: Path::new("/home/ada/memory"),
            global_dir: Some(Path::new("/home/ada/global")),
            team_dir: None,
            manifest: &manifest,
        };
        insta::assert_snapshot!(directive(&review, &told).unwrap());
        let bare = ReviewDirective { global_dir: None, manifest: &Manifest::default(), ..told };
        let text = directive(&review, &bare).unwrap();
        assert!(text.contains("There are none yet") && !text.contains("/home/ada/global"));
        assert!(text.len() < 2_400, "{} bytes: it is sent after every turn", text.len());
        assert!(!text.contains("team"), "{text}");
        let team = ReviewDirective { team_dir: Some(Path::new("/home/ada/memory/team")), ..told };
        insta::assert_snapshot!("l5_21_the_prompt_with_a_team", directive(&review, &team).unwrap());
    }
}
