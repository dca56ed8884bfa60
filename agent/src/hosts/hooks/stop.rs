//! An answer is complete: what the person asked to keep becomes a memory, by
//! rule and at once (L5.19). A model is asked later, by a worker, where there
//! is one (L5.9).

use super::call::{HostCall, HostEvent};
use super::exchange;
use super::host_transcript::news;
use super::notes::{Ended, Note, Notes};
use super::reply::HostReply;
use crate::error::Error;
use crate::hosts::{Delegate, HostKind, HostService};
use everfold_engine::extract::{ReviewContext, ReviewSpan, Worth, proposal, review, worth};
use everfold_kernel::ports::{MemoryAuthor, MemoryWriter};
use everfold_kernel::{Flag, Record, SessionId, Testimony};
use everfold_memory_judge::wish::{WishRules, wishes};
use everfold_memory_store::StoreScope;
use everfold_prefix::Fold;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// What a host's model is told where nobody else can look through what was said.
const ASK: &str = "Before you stop: the person said something that later sessions may need to know. \
    If it is worth keeping (who they are, how they want work done, decisions and dates that code \
    does not show, where things are kept), save it now with the tool memory_save of the MCP server \
    everfold: one fact each, in their own words, with why it holds. If not, stop. Do not tell the \
    person of this note.";

/// Words of a message for which the host's model is asked to go on: what asks a
/// model of ours lets more through, but costs the person no turn.
const ASK_WORDS: usize = 6;

/// What was found since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    /// Nothing is new.
    NoNews,
    /// Something is, that needs nobody else to look at it.
    News,
    /// Something is that could last and was not kept.
    WorthAsking,
}

/// Who made a change, in the history.
const SOURCE: &str = "extract";

impl HostService {
    pub(super) fn stopped(&self, call: &HostCall, notes: &mut Notes) -> Result<HostReply, Error> {
        if call.event == HostEvent::Stop {
            notes.note(Note::Answered);
        }
        let notice = self.break_notice(call);
        if !self.is_on(Flag::Extract) {
            return Ok(HostReply::nothing().with_notice(notice));
        }
        let Some(path) = call.transcript() else {
            return Ok(HostReply::nothing().with_notice(notice));
        };
        let delegate = self.delegate(call.host(self.claude.as_ref()));
        let looked = self.look(&path, call.session(), &delegate, notes)?;
        let reply = match (delegate, looked) {
            (Delegate::Ask, Looked::WorthAsking) if self.may_ask(call, notes) => {
                notes.note(Note::Asked);
                HostReply::go_on(ASK)
            }
            (Delegate::Model | Delegate::Program(_), Looked::News | Looked::WorthAsking) => {
                notes.note(Note::Left { transcript: Some(path), ended: Ended::No });
                HostReply::hand_over()
            }
            _ => HostReply::nothing(),
        };
        Ok(reply.with_notice(notice))
    }

    /// A word about a broken cache, for the one host that shows it to the person
    /// and tells what its requests read (PC12); once for a turn.
    fn break_notice(&self, call: &HostCall) -> Option<String> {
        let is_claude = call.host(self.claude.as_ref()) == Some(HostKind::Claude);
        let is_end = call.event == HostEvent::Stop && !is_asked(call);
        if is_claude && is_end { self.told_of_breaks(&call.transcript()?) } else { None }
    }

    /// Whether the host's model is asked to save (X7): now and then, never because
    /// it was, and not where it saves by itself.
    fn may_ask(&self, call: &HostCall, notes: &Notes) -> bool {
        call.event == HostEvent::Stop && !is_asked(call) && notes.asked < self.limits.beside.asks
    }

    /// Keeps by rule what the person asked to keep since the last look. Says
    /// what was found.
    pub(super) fn look(
        &self,
        path: &Path,
        session: &str,
        delegate: &Delegate,
        notes: &mut Notes,
    ) -> Result<Looked, Error> {
        let news = match news(path, notes.looked, self.limits.beside.transcript_bytes) {
            Ok(news) => news,
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "a transcript cannot be read");
                return Ok(Looked::NoNews);
            }
        };
        if news.records.is_empty() {
            notes.note(Note::Looked { offset: news.offset });
            return Ok(Looked::NoNews);
        }
        let found = self.review(&self.unsaved(news.records));
        let is_kept = self.keep_by_rule(&found.testimony, session, delegate)?;
        notes.note(Note::Looked { offset: news.offset });
        let mut said = found.testimony.by_person();
        let says_much = said.any(|said| said.text.split_whitespace().count() >= ASK_WORDS);
        let is_worth_it = !is_kept && says_much && worth(&found) == Worth::Asking;
        Ok(if is_worth_it { Looked::WorthAsking } else { Looked::News })
    }

    /// What was said where the model saved nothing by itself: what it saved is not
    /// saved again (L5.11), and what was said in other turns is not lost for it.
    pub(super) fn unsaved(&self, records: Vec<Record>) -> Vec<Record> {
        exchange::without_saved(records, |records| self.review(records).saved_by_main())
    }

    /// What was said, and by whom.
    fn review(&self, records: &[Record]) -> ReviewSpan {
        let mut fold = Fold::new(Arc::new(self.limits.clone()));
        for record in records {
            fold.push(record.clone());
        }
        let memory_dirs =
            [StoreScope::Project, StoreScope::Global].map(|scope| self.memories.dir(scope));
        let ground =
            ReviewContext { memory_dirs: &memory_dirs, instruction_kinds: &["nested_memory"] };
        review(fold.messages(), None, ground)
    }

    /// Says whether there was anything to keep.
    fn keep_by_rule(
        &self,
        testimony: &Testimony,
        session: &str,
        delegate: &Delegate,
    ) -> Result<bool, Error> {
        // Where a model reviews what was said, rules keep only what the person
        // asked for in so many words (L5.37).
        let rules = match delegate {
            Delegate::Model | Delegate::Program(_) => WishRules::ExplicitOnly,
            Delegate::Ask | Delegate::Rules => WishRules::Standing,
        };
        let wishes = wishes(testimony, rules, &self.limits.extract);
        if wishes.is_empty() {
            return Ok(false);
        }
        let service = self.service();
        for wish in wishes {
            let by = MemoryAuthor {
                who: MemoryWriter::Agent(SOURCE.to_owned()),
                reason: "the person asked to keep it".to_owned(),
                session: Some(SessionId::from(session.to_owned())),
                messages: vec![wish.record.clone()],
            };
            let kept = service.keep(&proposal(&wish, testimony, by))?;
            if let Some(notice) = kept.notice() {
                tracing::info!(notice, rule = wish.rule, "a memory was kept by rule");
            }
        }
        Ok(true)
    }
}

/// Whether the host goes on because a hook asked it to.
fn is_asked(call: &HostCall) -> bool {
    call.field("stop_hook_active") == Some(&Value::Bool(true))
}
