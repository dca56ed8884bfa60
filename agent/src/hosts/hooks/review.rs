//! What was said in the host, reviewed by a model (L5.9, X1): by a worker, from
//! where the last review ended, with the same prompt, gate and budget as in a
//! session of our own.

use super::end::Work;
use super::exchange;
use super::host_transcript::{News, news};
use super::notes::{Ended, Note, Notes, RefusedSpan, file_name};
use crate::agent::Agent;
use crate::error::Error;
use crate::hosts::{Delegate, HostService};
use everfold_disk::DiskTranscripts;
use everfold_engine::memory::extraction::host_review;
use everfold_engine::{HostReview, Session, World};
use everfold_kernel::limits::BesideLimits;
use everfold_kernel::ports::{Model, Transcripts};
use everfold_kernel::{Block, BlockView, Entry, Record, SessionId, UserOrigin};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where it is written down what reviews cost, in the folder of hooks.
const BOOKS: &str = "books";
/// How long to wait before a transcript is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

impl HostService {
    /// Whether somebody could review what was said, in the background.
    #[must_use]
    pub fn has_reviewer(&self, work: &Work) -> bool {
        let notes = Notes::open(&self.notes_dir(), &work.session);
        notes.left.transcript.is_some_and(|path| self.delegate_for(&path).is_in_background())
    }
}

impl Agent {
    /// Reviews what is new in the host's transcript, and takes at most so long.
    /// The next review starts where one that came to its end ended.
    ///
    /// # Errors
    /// If the transcript cannot be read, or the books cannot be written.
    pub async fn review_host(
        &self,
        host: &HostService,
        work: &Work,
        at_most: Duration,
    ) -> Result<HostReview, Error> {
        let mut notes = Notes::open(&host.notes_dir(), &work.session);
        let Some(path) = notes.left.transcript.clone() else { return Ok(HostReview::Unwanted) };
        let (limits, delegate) = (&host.limits.beside, host.delegate_for(&path));
        let span = answered(&path, &notes, limits)
            .await
            .map_err(|error| Error::Directory { path, message: error.to_string() })?;
        let is_refused = notes.refused.is_some_and(|refused| refused.to == span.offset);
        let records = tidy(host.unsaved(span.records), limits.review_result_chars);
        let records = exchange::valid(newest(records, limits.review_chars));
        if records.is_empty() || is_refused {
            return Ok(HostReview::Unwanted);
        }
        let model: Arc<dyn Model> = match delegate {
            Delegate::Program(_) if !host.takes_headless_turn() => return Ok(HostReview::Unwanted),
            Delegate::Program(headless) => Arc::new(*headless),
            _ => Arc::clone(&self.world().model),
        };
        let mut session = self.reviewing(&work.session, model).await?;
        let looked =
            host_review::review_host_conversation(&mut session, records, notes.turns(), at_most)
                .await?;
        match looked {
            HostReview::Over => {
                notes.note(Note::Reviewed { offset: span.offset, times: work.times });
            }
            HostReview::Refused => {
                let from = notes.reviewed.unwrap_or_default();
                notes.note(Note::Refused(RefusedSpan { from, to: span.offset }));
            }
            HostReview::Unwanted | HostReview::Denied(_) | HostReview::Failed => {}
        }
        Ok(looked)
    }

    /// What reviews beside other agents cost, for each project.
    ///
    /// # Errors
    /// If the books are there and cannot be read.
    pub fn all_books(&self) -> Result<Vec<Arc<dyn Transcripts>>, Error> {
        self.transcripts_under(&self.books_root())
    }

    /// What they cost in this project.
    #[must_use]
    pub fn books(&self) -> Arc<dyn Transcripts> {
        let cwd = self.config().surroundings.cwd;
        let dir = self.books_root().join(everfold_transcript::slug(&cwd));
        Arc::new(
            DiskTranscripts::new(dir).with_max_line(self.config().limits.transcript_line_bytes),
        )
    }

    fn books_root(&self) -> PathBuf {
        self.home().root().join(super::DIR).join(BOOKS)
    }

    /// A session that has what reviews of a host's session cost, and nothing
    /// else: the host's own file is never written.
    async fn reviewing(&self, session: &str, model: Arc<dyn Model>) -> Result<Session, Error> {
        let id = SessionId::from(file_name(session).replace('_', "-"));
        let transcripts = self.books();
        let is_known = transcripts.path(&id).exists();
        let world = World {
            transcripts,
            model,
            past: None,
            dreams: Vec::new(),
            post: None,
            ..self.world().clone()
        };
        let (config, toolbox) = (self.config(), self.toolbox().clone());
        if is_known {
            return Ok(everfold_engine::resume(id, world, config, toolbox).await?.0);
        }
        Ok(Session::new(id, world, config, toolbox))
    }
}

/// What is new, up to the newest answer. Hosts write behind: one that is not
/// there yet is waited for, and a message without an answer is left for the next
/// time, unless there is none.
async fn answered(path: &Path, notes: &Notes, limits: &BesideLimits) -> std::io::Result<News> {
    let until = Instant::now() + Duration::from_millis(limits.answer_wait_ms);
    loop {
        let mut news = news(path, notes.reviewed, limits.transcript_bytes)?;
        let ends = exchange::end(&news.records);
        if ends == news.records.len() {
            return Ok(news);
        }
        if Instant::now() >= until {
            if notes.left.ended == Ended::No {
                let offset = news.starts.get(ends).copied();
                news.offset = offset.unwrap_or(news.offset);
                news.records.truncate(ends);
            }
            return Ok(news);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// A conversation as a review needs it: what was said and done. Thinking is
/// valid for its own model only, summaries and what programs put in repeat what
/// was said, pictures say nothing here, and of long results the start is enough.
fn tidy(records: Vec<Record>, result_chars: usize) -> Vec<Record> {
    let kept = |record: Record| {
        let Record { id, parent, at, entry } = record;
        let entry = match entry {
            Entry::User(mut user) if is_said(user.origin) => {
                user.content = user
                    .content
                    .into_iter()
                    .filter_map(|block| shortened(block, result_chars))
                    .collect();
                user.tool_use_result = None;
                (!user.content.is_empty()).then_some(Entry::User(user))
            }
            Entry::Assistant(mut answer) => {
                let block = shortened(answer.block, result_chars)?;
                answer.block = block;
                Some(Entry::Assistant(answer))
            }
            _ => None,
        };
        Some(Record { id, parent, at, entry: entry? })
    };
    records.into_iter().filter_map(kept).collect()
}

fn is_said(origin: UserOrigin) -> bool {
    matches!(origin, UserOrigin::Human | UserOrigin::ToolResult)
}

fn shortened(block: Block, result_chars: usize) -> Option<Block> {
    match block.view() {
        BlockView::Text(_) | BlockView::ToolUse { .. } => Some(block),
        BlockView::ToolResult { .. } => {
            let text = block.plain_text();
            let start: String = text.chars().take(result_chars).collect();
            let cut = if start.len() < text.len() { " […]" } else { "" };
            Some(block.with_result_content(Value::String(format!("{start}{cut}"))))
        }
        _ => None,
    }
}

/// The newest records that fit, in their order.
fn newest(mut records: Vec<Record>, chars: usize) -> Vec<Record> {
    let mut left = chars;
    let fits = |record: &&Record| {
        let length = match &record.entry {
            Entry::User(user) => user.content.iter().map(length).sum(),
            Entry::Assistant(answer) => length(&answer.block),
            _ => 0,
        };
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    };
    let from = records.len() - records.iter().rev().take_while(fits).count();
    records.split_off(from)
}

fn length(block: &Block) -> usize {
    match block.view() {
        BlockView::ToolUse { input, .. } => input.to_string().len(),
        _ => block.plain_text().len(),
    }
}
