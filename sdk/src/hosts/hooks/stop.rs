//! An answer is complete: what the person asked to keep becomes a memory, by
//! rule and at once (L5.19). A model is asked later, by a worker, where there
//! is one (L5.9).

use super::call::{HostCall, HostEvent};
use super::host_transcript::news;
use super::notes::{Ended, Note, Notes};
use super::reply::HostReply;
use crate::error::Error;
use crate::hosts::{HostService, Reviewer};
use everfold_engine::extract::{ReviewContext, ReviewSpan, proposal, review};
use everfold_kernel::ports::{MemoryAuthor, MemoryWriter};
use everfold_kernel::{Flag, Record, SessionId};
use everfold_memory_judge::wish::{WishRules, wishes};
use everfold_memory_store::StoreScope;
use everfold_prefix::Fold;
use std::path::Path;
use std::sync::Arc;

/// Who made a change, in the history.
const SOURCE: &str = "extract";

impl HostService {
    pub(super) fn stopped(&self, call: &HostCall, notes: &mut Notes) -> Result<HostReply, Error> {
        if call.event == HostEvent::Stop {
            notes.note(Note::Answered);
        }
        let Some(path) = call.transcript().filter(|_| self.is_on(Flag::Extract)) else {
            return Ok(HostReply::nothing());
        };
        let has_news = self.look(&path, call.session(), notes)?;
        if !has_news || self.reviewer == Reviewer::None {
            return Ok(HostReply::nothing());
        }
        notes.note(Note::Left { transcript: Some(path), ended: Ended::No });
        Ok(HostReply::hand_over())
    }

    /// Keeps by rule what the person asked to keep since the last look. Says
    /// whether there was anything new.
    pub(super) fn look(
        &self,
        path: &Path,
        session: &str,
        notes: &mut Notes,
    ) -> Result<bool, Error> {
        let news = match news(path, notes.looked, self.limits.beside.transcript_bytes) {
            Ok(news) => news,
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "a transcript cannot be read");
                return Ok(false);
            }
        };
        let has_news = !news.records.is_empty();
        let found = self.review(news.records);
        // What the model saved by itself is not saved again (L5.11).
        if !found.saved_by_main() {
            self.keep_by_rule(&found, session)?;
        }
        notes.note(Note::Looked { offset: news.offset });
        Ok(has_news)
    }

    /// What was said, and by whom.
    fn review(&self, records: Vec<Record>) -> ReviewSpan {
        let mut fold = Fold::new(Arc::new(self.limits.clone()));
        for record in records {
            fold.push(record);
        }
        let memory_dirs =
            [StoreScope::Project, StoreScope::Global].map(|scope| self.memories.dir(scope));
        let ground =
            ReviewContext { memory_dirs: &memory_dirs, instruction_kinds: &["nested_memory"] };
        review(fold.messages(), None, ground)
    }

    fn keep_by_rule(&self, found: &ReviewSpan, session: &str) -> Result<(), Error> {
        // Where a model reviews what was said, rules keep only what the person
        // asked for in so many words (L5.37).
        let rules = match self.reviewer {
            Reviewer::Model => WishRules::ExplicitOnly,
            Reviewer::None => WishRules::Standing,
        };
        let wishes = wishes(&found.testimony, rules, &self.limits.extract);
        if wishes.is_empty() {
            return Ok(());
        }
        let service = self.service();
        for wish in wishes {
            let by = MemoryAuthor {
                who: MemoryWriter::Agent(SOURCE.to_owned()),
                reason: "the person asked to keep it".to_owned(),
                session: Some(SessionId::from(session.to_owned())),
                messages: vec![wish.record.clone()],
            };
            let kept = service.keep(&proposal(&wish, &found.testimony, by))?;
            if let Some(notice) = kept.notice() {
                tracing::info!(notice, rule = wish.rule, "a memory was kept by rule");
            }
        }
        Ok(())
    }
}
