//! An answer is complete: what the person asked to keep becomes a memory, by
//! rule and at once (L5.19). A model is asked later, by a worker, where there
//! is one (L5.9).

use super::call::Call;
use super::notes::{Ended, Note, Notes};
use super::reply::Reply;
use super::said::news;
use crate::beside::{Beside, Kept, NotKept, Reviewer, keep};
use crate::error::Error;
use everfold_engine::extract::{
    Ground, Proposal, Provenance, Review, Verdict, by_rule, captured, gate, review,
};
use everfold_kernel::settings::Deed;
use everfold_kernel::{Flag, Record, SessionId};
use everfold_memdir::store::{Expect, Place};
use everfold_memdir::{By, Scope, TopicPath};
use everfold_prefix::Fold;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::path::Path;
use std::sync::Arc;

/// Who made a change, in the history.
const SOURCE: &str = "extract";

impl Beside {
    pub(super) fn stopped(
        &self,
        call: &Call,
        notes: &mut Notes,
        now: Timestamp,
    ) -> Result<Reply, Error> {
        let Some(path) = call.transcript().filter(|_| self.is_on(Flag::Extract)) else {
            return Ok(Reply::nothing());
        };
        let has_news = self.look(&path, call.session(), notes, now)?;
        if !has_news || self.reviewer == Reviewer::None {
            return Ok(Reply::nothing());
        }
        notes.note(Note::Left { transcript: Some(path), ended: Ended::No });
        Ok(Reply::hand_over())
    }

    /// Keeps by rule what the person asked to keep since the last look. Says
    /// whether there was anything new.
    pub(super) fn look(
        &self,
        path: &Path,
        session: &str,
        notes: &mut Notes,
        now: Timestamp,
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
            self.keep_by_rule(&found, session, now)?;
        }
        notes.note(Note::Looked { offset: news.offset });
        Ok(has_news)
    }

    /// What was said, and by whom.
    fn review(&self, records: Vec<Record>) -> Review {
        let mut fold = Fold::new(Arc::new(self.limits.clone()));
        for record in records {
            fold.push(record);
        }
        let memory_dirs = [Scope::Project, Scope::Global].map(|scope| self.memories.dir(scope));
        let ground = Ground { memory_dirs: &memory_dirs, instruction_kinds: &["nested_memory"] };
        review(fold.messages(), None, ground)
    }

    fn keep_by_rule(&self, found: &Review, session: &str, now: Timestamp) -> Result<(), Error> {
        let captured = captured(found, &self.limits.extract);
        if captured.is_empty() {
            return Ok(());
        }
        let session = SessionId::from(session.to_owned());
        let today = now.to_zoned(TimeZone::system()).date();
        let from = Provenance { session: session.clone(), today, at: now };
        let store = self.memories.open(Scope::Project)?;
        let _held = self.hold();
        let known = keep::known(&store)?;
        for one in captured {
            let text = by_rule(&one, &from);
            // It has no name yet: one that says the same counts, whatever it
            // is called.
            let proposal = Proposal { file: "", text: &text };
            let place = match gate(proposal, &known, found, &self.limits.extract) {
                Verdict::Accept(_) => Place::Named(one.name.clone()),
                Verdict::Update { of, .. } => {
                    let same = known.iter().find(|known| known.file == of);
                    if same.is_none_or(|same| same.body.contains(one.body.as_str())) {
                        continue;
                    }
                    match TopicPath::new(&of) {
                        Ok(path) => Place::At(path),
                        Err(_) => continue,
                    }
                }
                Verdict::Refuse(refusal) => {
                    tracing::warn!(%refusal, name = one.name, "a memory was not kept");
                    continue;
                }
            };
            let by = By::agent(SOURCE, "the person asked to keep it", now)
                .from(session.clone(), vec![one.record.clone()]);
            let expect = match place {
                Place::Named(_) => Expect::Nothing,
                Place::At(_) => Expect::Anything,
            };
            let writing = keep::Writing { place, text: &text, expect };
            match keep::write(&store, writing, self.review.review_of(Deed::Usual), &by) {
                Ok(Kept::Saved { path, .. } | Kept::Waiting { path }) => {
                    tracing::info!(%path, rule = one.rule, "a memory was kept by rule");
                }
                Err(NotKept::Memories(error)) => return Err(error),
                Err(refused) => tracing::warn!(%refused, name = one.name, "a memory was not kept"),
            }
        }
        Ok(())
    }
}
