//! The inbox: changes that wait for a person's word (L5.24).
//!
//! A proposal is a file `inbox/<number>.json` of the store, which recall, lists
//! and Claude Code pass over. It says what files would hold, line by line, so
//! that a person can read it as it is, and what they held when it was made.
//! Accepting makes it one change of the history like any other. A file that was
//! changed since is a conflict: it is told, and the proposal stays.
//!
//! What was decided is remembered, so that who proposes the same again hears
//! that the answer was no.

mod decide;
mod offer;
mod wait;

use super::history::FileDiff;
use super::save::MemoryTarget;
use super::{By, Store};
use crate::error::Error;
use crate::journal::{Author, ContentId, EntryId};
use crate::path::TopicPath;
use everfold_kernel::ids::{RecordId, SessionId};
use everfold_kernel::provenance::Provenance;
use everfold_memory_judge::secrets;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

const DIR: &str = "inbox";
/// What was decided, one JSON object a line.
const DECIDED: &str = "inbox/decided.jsonl";
/// Largest file of an inbox that is read, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Decisions that are remembered.
const DECISIONS: usize = 2_000;

/// The number of a proposal in its store; none is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProposalId(pub u64);

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What somebody would like to do to one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedChange {
    pub place: MemoryTarget,
    /// What it is to hold; none: it is to be forgotten.
    pub text: Option<String>,
    /// What the index is to say: title and hook. Unset, its name and description.
    pub line: Option<(String, String)>,
}

impl ProposedChange {
    /// A memory is to hold this, new or not.
    #[must_use]
    pub fn write(path: TopicPath, text: String) -> Self {
        Self { place: MemoryTarget::At(path), text: Some(text), line: None }
    }

    /// A new memory, called after a title.
    #[must_use]
    pub fn add(title: &str, text: String) -> Self {
        Self { place: MemoryTarget::Named(title.to_owned()), text: Some(text), line: None }
    }

    /// A memory is to go.
    #[must_use]
    pub fn forget(path: TopicPath) -> Self {
        Self { place: MemoryTarget::At(path), text: None, line: None }
    }
}

/// What a proposal rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProposalGrounds {
    pub provenance: Option<Provenance>,
    pub evidence: Option<String>,
}

/// What became of a proposal that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    New(ProposalId),
    /// The same waits already, or nearly the same, which it joined.
    Waiting(ProposalId),
    /// A person said no to the same before; it was not put there again.
    RejectedBefore(ProposalId),
    /// It would change nothing.
    Nothing,
}

/// One file of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    pub path: TopicPath,
    /// What it held when this was proposed; none if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ContentId>,
    /// What it is to hold, in lines; none if it is to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<String>>,
    /// What the index is to say: title and hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<(String, String)>,
}

impl Proposed {
    /// What the file is to hold; none if it is to go.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        self.lines.as_ref().map(|lines| lines.join("\n"))
    }

    fn set_text(&mut self, text: &str) {
        self.lines = Some(lines(text));
    }

    fn after(&self) -> Option<ContentId> {
        self.text().map(|text| ContentId::of(text.as_bytes()))
    }
}

fn lines(text: &str) -> Vec<String> {
    text.split('\n').map(str::to_owned).collect()
}

/// A change that waits for a person's word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    pub id: ProposalId,
    /// When it was made.
    pub at: Timestamp,
    pub author: Author,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<RecordId>,
    /// Whose words it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The words that it rests on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
    /// When a person changed it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<Timestamp>,
    pub changes: Vec<Proposed>,
}

impl Proposal {
    /// What it would do, in a line.
    #[must_use]
    pub fn summary(&self) -> String {
        let one = |change: &Proposed| {
            let verb = match (&change.before, change.text()) {
                (_, None) => "forget",
                (None, Some(_)) => "add",
                (Some(_), Some(_)) => "change",
            };
            format!("{verb} {}", change.path)
        };
        self.changes.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// What it comes to, whoever proposes it and why.
    fn gist(&self) -> ContentId {
        let part = |change: &Proposed| {
            let [before, after] = [&change.before, &change.after()]
                .map(|content| content.as_ref().map(|id| id.as_str().to_owned()));
            format!("{}\0{before:?}\0{after:?}", change.path)
        };
        let mut parts: Vec<String> = self.changes.iter().map(part).collect();
        parts.sort();
        ContentId::of(parts.join("\n").as_bytes())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub id: ProposalId,
    pub at: Timestamp,
    pub verdict: ProposalVerdict,
    /// The entry of the history that accepting it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    gist: ContentId,
}

/// What became of a proposal: what a person said to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalVerdict {
    Accepted,
    Rejected,
    /// Nothing, for too long, or while too many others came (L5.46).
    Expired,
}

/// A file of a proposal beside what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalPreview {
    /// What would change: what was there when it was proposed, and what would be.
    pub diff: FileDiff,
    /// Whether the file was changed since.
    pub is_stale: bool,
    /// Whose words the proposal rests on.
    pub provenance: Option<Provenance>,
    pub evidence: Option<String>,
}

impl Store {
    /// The proposals that wait, oldest first. A file that is none is passed over.
    ///
    /// # Errors
    /// If the inbox cannot be read.
    pub fn inbox(&self) -> Result<Vec<Proposal>, Error> {
        let entries = match self.root.list(Path::new(DIR)) {
            Ok(entries) => entries,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut found: Vec<Proposal> = Vec::new();
        for entry in entries.iter().filter(|entry| entry.kind == everfold_disk::EntryKind::File) {
            let Some(id) = number(&entry.path) else { continue };
            found.extend(self.load(id)?);
        }
        found.sort_by_key(|proposal| proposal.id);
        Ok(found)
    }

    /// One proposal.
    ///
    /// # Errors
    /// [`Error::NoProposal`] if none of this number waits, or if it cannot be read.
    pub fn proposal(&self, id: ProposalId) -> Result<Proposal, Error> {
        self.load(id)?.ok_or(Error::NoProposal { id })
    }

    /// What a proposal would change, file by file.
    ///
    /// # Errors
    /// If none of this number waits, or files cannot be read.
    pub fn preview(&self, id: ProposalId) -> Result<Vec<ProposalPreview>, Error> {
        let proposal = self.proposal(id)?;
        let one = |change: &Proposed| {
            let now = self.state(change.path.as_str())?;
            let is_stale = now.content != change.before && now.content != change.after();
            let kept = match &change.before {
                None => None,
                Some(before) if now.content.as_ref() == Some(before) => now.bytes,
                Some(before) => self.blobs()?.get(before)?,
            };
            let before = kept.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let diff = FileDiff { path: change.path.to_string(), before, after: change.text() };
            let evidence = proposal.evidence.clone();
            Ok(ProposalPreview { diff, is_stale, provenance: proposal.provenance, evidence })
        };
        proposal.changes.iter().map(one).collect()
    }

    /// What was decided before, oldest first.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn decided(&self) -> Result<Vec<Decided>, Error> {
        let bytes = match self.root.read(Path::new(DECIDED), MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Whether a person wrote a memory, or had a hand in it: said so
    /// themselves, or changed it in an editor. Where that cannot be told, yes.
    ///
    /// # Errors
    /// If there is no such memory, or the history cannot be read.
    pub fn is_persons(&self, path: &TopicPath) -> Result<bool, Error> {
        use everfold_memory_file::frontmatter::Basis;
        let blame = self.blame(path)?;
        Ok(blame.front.basis == Some(Basis::Stated)
            || blame.entries.is_empty()
            || blame.entries.iter().any(|entry| super::dream_input::is_by_hand(&entry.author)))
    }

    fn load(&self, id: ProposalId) -> Result<Option<Proposal>, Error> {
        match self.root.read(&file_of(id), MAX_BYTES) {
            Ok(bytes) => {
                let read = serde_json::from_slice::<Proposal>(&bytes).ok();
                // Somebody may have copied one under another name.
                Ok(read.map(|proposal| Proposal { id, ..proposal }))
            }
            Err(everfold_disk::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn store_proposal(&self, proposal: &Proposal) -> Result<(), Error> {
        let bytes =
            serde_json::to_vec_pretty(proposal).map_err(|source| Error::Encode { source })?;
        Ok(self.root.write(&file_of(proposal.id), &bytes)?)
    }

    /// The contents that proposals were made against, so that pruning keeps them.
    pub(super) fn proposed_against(&self) -> Result<Vec<ContentId>, Error> {
        let proposals = self.inbox()?.into_iter();
        Ok(proposals.flat_map(|p| p.changes).filter_map(|change| change.before).collect())
    }
}

/// Who proposes, and why.
fn frame(id: ProposalId, changes: Vec<Proposed>, grounds: &ProposalGrounds, by: &By) -> Proposal {
    Proposal {
        provenance: grounds.provenance,
        // Words that hold a secret are not kept, whatever they prove.
        evidence: grounds.evidence.clone().filter(|words| secrets::find(words).is_empty()),
        id,
        at: by.at,
        author: by.author.clone(),
        reason: by.told_reason(),
        session: by.session.clone(),
        messages: by.messages.clone(),
        edited: None,
        changes,
    }
}

fn file_of(id: ProposalId) -> PathBuf {
    Path::new(DIR).join(format!("{id}.json"))
}

fn number(path: &Path) -> Option<ProposalId> {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let stem = path.file_stem()?.to_str()?;
    is_json.then(|| stem.parse().ok().map(ProposalId)).flatten()
}
