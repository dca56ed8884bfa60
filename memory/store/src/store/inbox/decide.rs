//! Handing proposals in, and deciding about them.

use super::wait::joined;
use super::{
    DECIDED, DECISIONS, Decided, Handed, Proposal, ProposalGrounds, ProposalId, ProposalVerdict,
    Proposed, ProposedChange, file_of, frame, lines,
};
use crate::error::Error;
use crate::journal::{Action, EntryId, Haste};
use crate::path::TopicPath;
use crate::store::commit::{Edit, Held};
use crate::store::history::OnConflict;
use crate::store::save::{ExpectedContent, MemoryTarget, Save, Written};
use crate::store::{By, Store};
use std::path::Path;

impl Store {
    /// Puts a change into the inbox instead of making it: all of the wishes
    /// together are one proposal.
    ///
    /// # Errors
    /// What could not be saved cannot be proposed either: secrets, names that
    /// lead elsewhere, texts that are too long. And if the inbox cannot be
    /// written.
    pub fn propose(&self, wishes: &[ProposedChange], by: &By) -> Result<Handed, Error> {
        self.propose_on(&ProposalGrounds::default(), wishes, by)
    }

    /// The same, with what it rests on, which the person is shown.
    ///
    /// # Errors
    /// As [`Store::propose`].
    pub fn propose_on(
        &self,
        grounds: &ProposalGrounds,
        wishes: &[ProposedChange],
        by: &By,
    ) -> Result<Handed, Error> {
        let held = self.begin()?;
        let waiting = self.still_waiting(by.at)?;
        let mut changes = Vec::new();
        for wish in wishes {
            self.screen_wish(wish)?;
            let path = match &wish.place {
                MemoryTarget::At(path) => path.clone(),
                MemoryTarget::Named(title) => {
                    let planned = waiting.iter().flat_map(|proposal| &proposal.changes);
                    let taken: Vec<&TopicPath> =
                        planned.chain(&changes).map(|change| &change.path).collect();
                    self.free_path(title, |path| taken.iter().any(|other| other.as_str() == path))?
                }
            };
            changes.extend(self.proposed(path, wish)?);
        }
        self.hand_in(&held, &waiting, grounds, changes, by)
    }

    /// Before anything is called after it.
    fn screen_wish(&self, wish: &ProposedChange) -> Result<(), Error> {
        let (place, text) = (wish.place.clone(), wish.text.as_deref().unwrap_or_default());
        let line = wish.line.as_ref().map(|(title, hook)| (title.as_str(), hook.as_str()));
        self.screen(&Save { place, text, expect: ExpectedContent::Anything, line, ended: &[] })
    }

    /// One wish against what is there; none if it would change nothing.
    fn proposed(&self, path: TopicPath, wish: &ProposedChange) -> Result<Option<Proposed>, Error> {
        let now = self.state(path.as_str())?;
        if let Some(bytes) = &now.bytes {
            self.blobs()?.keep(&[bytes], Haste::Now)?;
        }
        let change = Proposed {
            path,
            before: now.content,
            lines: wish.text.as_deref().map(lines),
            line: wish.line.clone(),
        };
        Ok((change.before != change.after()).then_some(change))
    }

    fn hand_in(
        &self,
        _held: &Held,
        waiting: &[Proposal],
        grounds: &ProposalGrounds,
        changes: Vec<Proposed>,
        by: &By,
    ) -> Result<Handed, Error> {
        if changes.is_empty() {
            return Ok(Handed::Nothing);
        }
        let decided = self.decided()?;
        let numbers = waiting.iter().map(|p| p.id).chain(decided.iter().map(|d| d.id));
        let id = ProposalId(numbers.max().map_or(1, |last| last.0.saturating_add(1)));
        let proposal = frame(id, changes, grounds, by);
        let gist = proposal.gist();
        if let Some(same) = waiting.iter().find(|other| other.gist() == gist) {
            return Ok(Handed::Waiting(same.id));
        }
        let no = |d: &&Decided| d.verdict == ProposalVerdict::Rejected && d.gist == gist;
        if let Some(before) = decided.iter().rev().find(no) {
            return Ok(Handed::RejectedBefore(before.id));
        }
        if let Some(both) = joined(waiting, &proposal) {
            self.store_proposal(&both)?;
            return Ok(Handed::Waiting(both.id));
        }
        self.make_room(waiting, by.at)?;
        self.store_proposal(&proposal)?;
        Ok(Handed::New(id))
    }

    /// Makes an entry of the history a proposal: it is taken back, and waits.
    /// For agents that have written with their own tools already.
    ///
    /// # Errors
    /// If there is no such entry, or what it changed was changed again since;
    /// then everything is as it was.
    pub fn set_aside(&self, entry: EntryId, by: &By) -> Result<Handed, Error> {
        let mut changes = Vec::new();
        for change in self.entry(entry)?.changes.into_iter().filter(|c| !self.is_list(c)) {
            let after = match &change.after {
                None => None,
                Some(id) => {
                    let kept = self.blobs()?.get(id)?;
                    let bytes = kept.ok_or_else(|| Error::NotKept { path: change.path.clone() })?;
                    let text = String::from_utf8(bytes);
                    Some(text.map_err(|_| Error::NotText { path: change.path.clone() })?)
                }
            };
            if let Some(text) = &after {
                let place = MemoryTarget::At(TopicPath::found(change.path.clone()));
                let expect = ExpectedContent::Anything;
                self.screen(&Save { place, text, expect, line: None, ended: &[] })?;
            }
            changes.push(Proposed {
                path: TopicPath::found(change.path),
                before: change.before,
                lines: after.as_deref().map(lines),
                line: None,
            });
        }
        let handed = {
            let held = self.begin()?;
            self.hand_in(
                &held,
                &self.still_waiting(by.at)?,
                &ProposalGrounds::default(),
                changes,
                by,
            )?
        };
        if let Err(error) = self.undo(entry, OnConflict::Refuse, by) {
            if let Handed::New(id) = handed {
                self.root.remove(&file_of(id))?;
            }
            return Err(error);
        }
        Ok(handed)
    }

    /// Makes the change that a proposal asks for, as one entry of the history.
    ///
    /// # Errors
    /// [`Error::Stale`] if a file was changed since it was proposed, unless
    /// that is forced. Then, and where it cannot be written, the proposal
    /// stays.
    pub fn accept(
        &self,
        id: ProposalId,
        on_conflict: OnConflict,
        by: &By,
    ) -> Result<Option<EntryId>, Error> {
        let mut held = self.begin()?;
        let proposal = self.proposal(id)?;
        let by = signed(&proposal, by);
        let mut written = Written::start(self)?;
        let mut removed = Vec::new();
        for change in &proposal.changes {
            // A person may have changed the file by hand: names are checked anew.
            let path = TopicPath::new(change.path.as_str())?;
            self.notice_some(&mut held, &[path.as_str()], &by)?;
            let now = self.state(path.as_str())?;
            if now.content == change.after() {
                continue;
            }
            if now.content != change.before && on_conflict == OnConflict::Refuse {
                return Err(Error::Stale { path: path.to_string(), id });
            }
            if let Some(text) = change.text() {
                let line = change.line.as_ref().map(|(title, hook)| (title.as_str(), &**hook));
                let place = MemoryTarget::At(path.clone());
                let save = Save {
                    place,
                    text: &text,
                    expect: ExpectedContent::Anything,
                    line,
                    ended: &[],
                };
                self.screen(&save)?;
                written.put(&path, &save, now)?;
            } else {
                written.indexes.remove(path.as_str())?;
                removed.push(Edit::remove(path.as_str(), now));
            }
        }
        let action = action_of(&proposal);
        let (edits, _) = written.finish(&mut held, removed, &by)?;
        let entry = self.commit(&mut held, action.into(), edits, &by)?;
        self.close(&proposal, ProposalVerdict::Accepted, entry, &by)?;
        Ok(entry)
    }

    /// Takes a proposal out of the inbox because the same was said again, and
    /// stands elsewhere by now (L5.46).
    ///
    /// # Errors
    /// If none of this number waits, or the inbox cannot be written.
    pub fn overtaken(&self, id: ProposalId, by: &By) -> Result<(), Error> {
        let _held = self.begin()?;
        self.close(&self.proposal(id)?, ProposalVerdict::Accepted, None, by)
    }

    /// Takes a proposal out of the inbox without making its change.
    ///
    /// # Errors
    /// If none of this number waits, or the inbox cannot be written.
    pub fn reject(&self, id: ProposalId, by: &By) -> Result<(), Error> {
        let _held = self.begin()?;
        self.close(&self.proposal(id)?, ProposalVerdict::Rejected, None, by)
    }

    /// Changes what a proposal says of one file. It then stands against what
    /// the file holds now.
    ///
    /// # Errors
    /// If none of this number waits, it does not write this file, or the text
    /// could not be saved.
    pub fn amend(
        &self,
        id: ProposalId,
        path: &TopicPath,
        text: &str,
        by: &By,
    ) -> Result<(), Error> {
        let _held = self.begin()?;
        let mut proposal = self.proposal(id)?;
        let found = proposal.changes.iter_mut().find(|change| change.path == *path);
        let Some(change) = found else {
            return Err(Error::NotFound { path: path.to_string() });
        };
        let place = MemoryTarget::At(path.clone());
        self.screen(&Save {
            place,
            text,
            expect: ExpectedContent::Anything,
            line: None,
            ended: &[],
        })?;
        let now = self.state(path.as_str())?;
        if let Some(bytes) = &now.bytes {
            self.blobs()?.keep(&[bytes], Haste::Now)?;
        }
        change.before = now.content;
        change.set_text(text);
        proposal.edited = Some(by.at);
        self.store_proposal(&proposal)
    }

    pub(super) fn close(
        &self,
        proposal: &Proposal,
        verdict: ProposalVerdict,
        entry: Option<EntryId>,
        by: &By,
    ) -> Result<(), Error> {
        let mut decided = self.decided()?;
        let (id, at) = (proposal.id, by.at);
        decided.push(Decided { id, at, verdict, entry, gist: proposal.gist() });
        let first = decided.len().saturating_sub(DECISIONS);
        let mut text = Vec::new();
        for decision in decided.get(first..).unwrap_or_default() {
            serde_json::to_writer(&mut text, decision)
                .map_err(|source| Error::Encode { source })?;
            text.push(b'\n');
        }
        self.root.write(Path::new(DECIDED), &text)?;
        Ok(self.root.remove(&file_of(proposal.id))?)
    }
}

/// The change is its proposer's, unless a person rewrote it; who said yes to
/// it stands beside the reason.
fn signed(proposal: &Proposal, by: &By) -> By {
    let because = |reason: &str| {
        if reason.is_empty() { by.reason.clone() } else { format!("{reason} ({})", by.reason) }
    };
    let author =
        if proposal.edited.is_some() { by.author.clone() } else { proposal.author.clone() };
    By {
        author,
        reason: because(&proposal.reason),
        session: proposal.session.clone(),
        messages: proposal.messages.clone(),
        at: by.at,
    }
}

fn action_of(proposal: &Proposal) -> Action {
    let mut actions = proposal.changes.iter().map(|change| match (&change.before, &change.lines) {
        (_, None) => Action::Forget,
        (None, Some(_)) => Action::Add,
        (Some(_), Some(_)) => Action::Update,
    });
    let first = actions.next().unwrap_or(Action::Update);
    if actions.all(|action| action == first) { first } else { Action::Update }
}
