//! Files that a person names in a message: `@src/main.rs`, `@"my notes.md"`,
//! `@src/main.rs#L10-20` (Q13).
//!
//! Text comes in as Read shows it, in a reminder behind the message; a
//! directory as a list of its files; pictures and PDFs as blocks of the
//! message. What is outside of the places where tools work is asked for, as it
//! is for Read. A name that is not a file stays a word.

mod parse;

use crate::event::{Event, TurnEnd};
use crate::session::prompt::Prompt;
use crate::session::{Error, Session};
use crate::tools::read::{Read, media};
use crate::tools::{Tool as _, ToolCall};
use crate::turn::{driver, tool_calls};
use everfold_kernel::ports::{FileKind, GlobQuery};
use everfold_kernel::provenance::{Provenance, Source};
use everfold_kernel::record::reminder;
use everfold_kernel::{Attachment, Block, Class, Classify, Entry, Limits, ToolUseId};
use parse::{Mention, mentions};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// A message, ready for a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mentioned {
    /// Its text, and the pictures and documents that it names.
    pub prompt: Prompt,
    /// What the person should know: what came in, and what could not.
    pub notes: Vec<String>,
}

/// Looks for files that a message names. Their texts join the conversation
/// with the next message.
pub async fn with_mentions(
    session: &mut Session,
    prompt: impl Into<Prompt>,
    cancel: &CancellationToken,
) -> Mentioned {
    session.runtime.branch.mentioned.clear();
    let mut out = Mentioned { prompt: prompt.into(), notes: Vec::new() };
    let most = session.config.limits.mention_files;
    let found = mentions(&out.prompt.text());
    for mention in found.iter().take(most) {
        bring(session, mention, &mut out, cancel).await;
    }
    if found.len() > most {
        let more = found.len().saturating_sub(most);
        out.notes.push(format!("{more} more mentions were not read (limit mention_files)"));
    }
    out
}

/// Runs a turn as [`crate::turn()`] does, with the files that the message
/// names. What was read or could not be is told as notices.
///
/// # Errors
/// If the log cannot be written.
pub async fn say(
    session: &mut Session,
    prompt: impl Into<Prompt>,
    cancel: &CancellationToken,
) -> Result<TurnEnd, Error> {
    let Mentioned { prompt, notes } = with_mentions(session, prompt, cancel).await;
    for note in notes {
        session.emit(|| Event::Notice(note));
    }
    driver::turn(session, prompt, cancel).await
}

async fn bring(
    session: &mut Session,
    mention: &Mention,
    out: &mut Mentioned,
    cancel: &CancellationToken,
) {
    let Some((path, kind)) = named_file(session, mention).await else { return };
    let shown = path.display().to_string();
    let call = read_call(&shown, mention.lines);
    if let Err(reason) = tool_calls::may_read(session, &call, path.clone(), cancel).await {
        out.notes.push(format!("{shown} was not read: {reason}"));
        return;
    }
    if kind == FileKind::Directory {
        mention_directory(session, &path, out).await;
        return;
    }
    let output = Read.run(&call, &session.context).await;
    match output.content {
        Value::String(text) if output.is_error() => out.notes.push(text),
        Value::String(text) => {
            let text = session.config.redact(&text);
            let text = format!("The message names {shown}. It says:\n\n{text}");
            keep_mentioned(session, output.provenance, "file", &text, &shown);
            out.notes.push(format!("read {shown}"));
        }
        Value::Array(blocks) => {
            let blocks = blocks.into_iter().filter_map(Block::from_value).collect();
            let prompt = std::mem::take(&mut out.prompt);
            out.prompt = prompt.and(Prompt::of(output.provenance, blocks));
            out.notes.push(format!("took {shown}"));
        }
        _ => {}
    }
}

/// The file or directory that a mention means; none where there is none.
async fn named_file(session: &Session, mention: &Mention) -> Option<(PathBuf, FileKind)> {
    for name in &mention.names {
        let path = match (name.strip_prefix("~/"), &session.config.workplace.user_home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => session.context.absolute(name),
        };
        if let Ok(stat) = session.world.files.stat(&path).await {
            return Some((path, stat.kind));
        }
    }
    None
}

async fn mention_directory(session: &mut Session, dir: &Path, out: &mut Mentioned) {
    let shown = dir.display().to_string();
    let limit = session.config.limits.mention_paths;
    let guard = session.permit.guard();
    let query = GlobQuery { pattern: "**/*".to_owned(), root: dir.to_owned(), limit, guard };
    let found = match session.world.search.glob(query).await {
        Ok(found) => found,
        Err(error) => {
            out.notes.push(format!("{shown} was not listed: {error}"));
            return;
        }
    };
    let mut lines = vec![format!("The message names the directory {shown}. Files in it:\n")];
    let inside = |path: &PathBuf| path.strip_prefix(dir).unwrap_or(path).display().to_string();
    lines.extend(found.paths.iter().map(inside));
    if found.total > found.paths.len() {
        let more = found.total.saturating_sub(found.paths.len());
        lines.push(format!("\n[{more} more; use Glob to find them.]"));
    }
    let whose = Source::Repository.into();
    keep_mentioned(session, whose, "directory", &lines.join("\n"), &shown);
    out.notes.push(format!("listed {shown}"));
}

fn keep_mentioned(session: &mut Session, whose: Provenance, kind: &str, text: &str, path: &str) {
    let data = json!({"filename": path});
    let (kind, rendered, provenance) = (kind.to_owned(), reminder(text), Some(whose));
    session.runtime.branch.mentioned.push(Attachment { kind, rendered, data, provenance });
}

/// Brings in the texts of files that the message before named.
pub(crate) async fn attach_named_files(session: &mut Session) -> Result<(), Error> {
    for attachment in std::mem::take(&mut session.runtime.branch.mentioned) {
        session.append(Entry::Attachment(attachment)).await?;
    }
    Ok(())
}

/// Why a paste cannot be given to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasteError {
    /// Too many bytes.
    #[error("it has {has} bytes, more than the {most} that can be shown (limit read_media_bytes)")]
    TooLarge { has: u64, most: u64 },
    /// Of no kind that models take.
    #[error("it is neither a picture (PNG, JPEG, GIF, WebP) nor a PDF")]
    Unknown,
}

impl Classify for PasteError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

/// A picture or a PDF that was pasted, as a block. The kind is told by its
/// bytes, whatever somebody says that it is.
///
/// # Errors
/// If it cannot be given to a model.
pub fn pasted(bytes: &[u8], limits: &Limits) -> Result<Block, PasteError> {
    let most = limits.read_media_bytes;
    let has = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if has > most {
        return Err(PasteError::TooLarge { has, most });
    }
    media::block(bytes).ok_or(PasteError::Unknown)
}

fn read_call(path: &str, lines: Option<(u64, u64)>) -> ToolCall {
    let mut input = Map::new();
    input.insert("file_path".into(), path.into());
    if let Some((first, last)) = lines {
        input.insert("offset".into(), first.into());
        input.insert("limit".into(), last.saturating_sub(first).saturating_add(1).into());
    }
    let id = ToolUseId::new("mention");
    ToolCall { id, name: "Read".to_owned(), input: Value::Object(input) }
}
