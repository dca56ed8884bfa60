//! The only way in (L5.32): whoever proposes, by whichever door.
//!
//! What becomes of a proposal is the judge's; here it is found out what is known,
//! and done what was decided, in one step for all processes.

use crate::Service;
use crate::tier::Tier;
use everfold_disk::Lock;
use everfold_kernel::ports::{
    Haste, Kept, MemoryAuthor, MemoryBefore, MemoryError, MemoryPlacement, MemoryProposal,
    MemoryRef, MemoryScope, MemoryWriter,
};
use everfold_kernel::settings::{Deed, ReviewMode};
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_file::{Memory, MemoryType};
use everfold_memory_judge::stamp::{self, MemoryOrigin, composed, renamed, stamped};
use everfold_memory_judge::{Case, Known, MemoryStanding, ProposalEffect, Ruling, Target, judge};
use everfold_memory_store::store::inbox::{self, Handed, ProposedChange};
use everfold_memory_store::store::{ExpectedContent, MemoryTarget, Save};
use everfold_memory_store::{By, ContentId, TopicPath};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long to sleep between two tries for a lock.
const PAUSE: Duration = Duration::from_millis(3);
/// How long to wait for others who keep something.
const WAIT: Duration = Duration::from_secs(10);
/// What others are kept out by while memories are compared and written.
const LOCK: &str = ".everfold/keep.lock";
const TURNED_DOWN: &str = "the person rejected the same before; do not propose it again";

/// A memory that a proposal could be about, and where it is.
pub(crate) struct There {
    pub(crate) memory: MemoryRef,
    pub(crate) text: String,
    pub(crate) content: ContentId,
}

impl There {
    pub(crate) fn known(&self) -> Known {
        let read = Memory::parse(&self.text);
        Known {
            file: self.memory.id(),
            name: read.front.name.unwrap_or_default(),
            description: read.front.description.unwrap_or_default(),
            body: read.body.to_owned(),
            basis: read.front.basis,
        }
    }
}

/// A change that was decided on.
struct Deciding<'a> {
    proposal: &'a MemoryProposal,
    ruling: Ruling,
    by: By,
    from: MemoryOrigin,
}

impl Service {
    /// Keeps a memory, if it earns its place.
    ///
    /// # Errors
    /// If the memories cannot be read or written. That something is not kept is
    /// no error, but [`Kept::Refused`].
    pub fn keep(&self, proposal: &MemoryProposal) -> Result<Kept, MemoryError> {
        std::thread::scope(|beside| {
            // The judge needs them soon; meanwhile the store is read.
            let tables = everfold_memory_judge::read_tables;
            let _ = std::thread::Builder::new().spawn_scoped(beside, tables);
            match self.try_keep(proposal).inspect(|kept| self.share(kept)) {
                Err(MemoryError::Refused { reason, .. }) => Ok(Kept::Refused { reason }),
                done => done,
            }
        })
    }

    fn try_keep(&self, proposal: &MemoryProposal) -> Result<Kept, MemoryError> {
        let at = match &proposal.place {
            MemoryPlacement::Anywhere { .. } | MemoryPlacement::In { .. } => None,
            MemoryPlacement::At { path, before } | MemoryPlacement::Exactly { path, before } => {
                Some((self.locate(path)?, before))
            }
        };
        let now = self.clock.now();
        let by = author(&proposal.by, now);
        let _held = self.hold();
        if let Some((index, before)) = &at
            && is_index(&index.file)
        {
            return self.keep_index(index, before, &proposal.text, &by);
        }
        let target = at.as_ref().map(|(memory, _)| memory);
        let only = match &proposal.place {
            MemoryPlacement::In { scope } => Some(*scope),
            _ => None,
        };
        let there = self.there(&proposal.text, target, only)?;
        if let Some((memory, before)) = &at {
            expected(memory, before, &there)?;
        }
        let known: Vec<Known> = there.iter().map(There::known).collect();
        let id = target.map(MemoryRef::id);
        let is_there = id.as_ref().is_some_and(|id| known.iter().any(|known| known.file == *id));
        let case = Case {
            text: &proposal.text,
            target: match (&proposal.place, &id) {
                (MemoryPlacement::Exactly { .. }, Some(id)) => Target::Exactly(id),
                (MemoryPlacement::At { .. }, Some(id)) if is_there => Target::Update(id),
                _ => Target::New,
            },
            known: &known,
            testimony: &proposal.testimony,
            today: self.clock.today(),
            limits: &self.terms.extract,
        };
        let ruling = match judge(&case) {
            Ok(ruling) => ruling,
            Err(refusal) => {
                // Never what was refused, nor what it was called (L5.40).
                tracing::info!(%refusal, door = ?proposal.by.who, "a memory was refused");
                return Ok(Kept::Refused { reason: refusal.to_string() });
            }
        };
        let session = proposal.by.session.clone();
        let from = MemoryOrigin { session, today: self.clock.today(), at: now };
        self.perform(&Deciding { proposal, ruling, by, from }, target, &there)
    }

    fn perform(
        &self,
        deciding: &Deciding<'_>,
        target: Option<&MemoryRef>,
        there: &[There],
    ) -> Result<Kept, MemoryError> {
        let of = |file: &str| there.iter().find(|there| there.memory.id() == file);
        match deciding.ruling.change.clone() {
            ProposalEffect::Adds => self.add(deciding, target),
            ProposalEffect::Nothing { of: file } => Ok(match of(&file) {
                Some(old) => {
                    Kept::Merged { kept: old.memory.clone(), changed: Vec::new(), entry: None }
                }
                None => Kept::Refused { reason: "a memory that was there is gone".to_owned() },
            }),
            ProposalEffect::Extends { of: file, changed } => match of(&file) {
                Some(old) => self.update(deciding, old, changed, None),
                None => self.add(deciding, target),
            },
            ProposalEffect::Supersedes { of: file, changed, ended } => match of(&file) {
                Some(old) => self.update(deciding, old, changed, Some(ended)),
                None => self.add(deciding, target),
            },
        }
    }

    /// A memory of its own.
    fn add(
        &self,
        deciding: &Deciding<'_>,
        target: Option<&MemoryRef>,
    ) -> Result<Kept, MemoryError> {
        let Deciding { proposal, ruling, by, from } = deciding;
        let scope = self.scope_for(deciding, target);
        let Some(tier) = self.tier(scope) else {
            let reason = format!("there is no directory for {} memories here", scope.as_str());
            return Ok(Kept::Refused { reason });
        };
        let text = if matches!(proposal.place, MemoryPlacement::Exactly { .. }) {
            proposal.text.clone()
        } else {
            let text = composed(&proposal.text, &ruling.description, &ruling.body);
            stamped(&stamp::named(&text, &ruling.name), &ruling.grounds, from)
        };
        let named = target.filter(|target| target.scope == scope);
        let place = match named {
            Some(target) => {
                MemoryTarget::At(TopicPath::new(&target.file).map_err(|error| tier.failed(&error))?)
            }
            None => MemoryTarget::Named(Memory::parse(&text).front.name.unwrap_or_default()),
        };
        if self.waits(deciding) {
            return propose(tier, ProposedChange { place, text: Some(text), line: None }, deciding);
        }
        let (expect, line) = (ExpectedContent::Nothing, None);
        let save = Save { place, text: &text, expect, line, ended: &[] };
        let saved = tier.store()?.save(&save, by).map_err(|error| tier.failed(&error))?;
        said_again(tier, &text, by)?;
        let entry = saved.entry.map(|entry| entry.0);
        Ok(Kept::Saved { memory: tier.memory(saved.path.as_str()), entry })
    }

    /// A memory that is there becomes another.
    fn update(
        &self,
        deciding: &Deciding<'_>,
        old: &There,
        changed: Vec<String>,
        ended: Option<Vec<String>>,
    ) -> Result<Kept, MemoryError> {
        let Deciding { proposal, ruling, by, from } = deciding;
        let Some(tier) = self.tier(old.memory.scope) else {
            return Ok(Kept::Refused { reason: "its directory is gone".to_owned() });
        };
        let text = match &proposal.place {
            MemoryPlacement::Exactly { .. } => proposal.text.clone(),
            // Somebody rewrote the file: its own frontmatter is what they wrote.
            MemoryPlacement::At { path, .. } if *path == old.memory.path => {
                let text = composed(&proposal.text, &ruling.description, &ruling.body);
                stamped(&text, &ruling.grounds, from)
            }
            _ => {
                let text = composed(&old.text, &ruling.description, &ruling.body);
                let text = renamed(&text, ended.as_deref().unwrap_or_default());
                stamped(&text, &ruling.grounds, from)
            }
        };
        let path = TopicPath::found(old.memory.file.clone());
        let place = MemoryTarget::At(path);
        if self.waits(deciding) {
            return propose(tier, ProposedChange { place, text: Some(text), line: None }, deciding);
        }
        let expect = ExpectedContent::Content(old.content.clone());
        let ends = ended.as_deref().unwrap_or_default();
        let save = Save { place, text: &text, expect, line: None, ended: ends };
        let saved = tier.store()?.save(&save, by).map_err(|error| tier.failed(&error))?;
        let (memory, entry) = (old.memory.clone(), saved.entry.map(|entry| entry.0));
        Ok(match ended {
            Some(ended) => Kept::Superseded { memory, changed, ended, entry },
            None if target_of(proposal) == Some(old.memory.path.as_path()) => {
                Kept::Saved { memory, entry }
            }
            None => Kept::Merged { kept: memory, changed, entry },
        })
    }

    /// Whether a person is asked first.
    fn waits(&self, deciding: &Deciding<'_>) -> bool {
        let is_persons = deciding.proposal.by.who == MemoryWriter::Person;
        deciding.proposal.haste == Haste::Waits
            || deciding.ruling.grounds.standing == MemoryStanding::Waiting
            || !is_persons && self.terms.review.review_of(Deed::Usual) == ReviewMode::Inbox
    }

    /// The tier of a new memory: where it was asked for, else where what it is
    /// about belongs (L5.38).
    fn scope_for(&self, deciding: &Deciding<'_>, target: Option<&MemoryRef>) -> MemoryScope {
        let wished = match &deciding.proposal.place {
            MemoryPlacement::Anywhere { scope } => *scope,
            MemoryPlacement::In { scope } => Some(*scope),
            // Who sees memories as files finds them where they were put.
            MemoryPlacement::Exactly { .. } => target.map(|target| target.scope),
            MemoryPlacement::At { .. } => {
                target.map(|target| target.scope).filter(|scope| *scope != MemoryScope::Project)
            }
        };
        let kind = Memory::parse(&deciding.proposal.text).front.kind;
        let is_about_person = kind == Some(MemoryType::User);
        wished.unwrap_or(if is_about_person && self.tier(MemoryScope::Global).is_some() {
            MemoryScope::Global
        } else {
            MemoryScope::Project
        })
    }

    /// The memories that a text could be about, and the one that is meant.
    pub(crate) fn there(
        &self,
        text: &str,
        target: Option<&MemoryRef>,
        only: Option<MemoryScope>,
    ) -> Result<Vec<There>, MemoryError> {
        let mut found: Vec<There> = Vec::new();
        let meant = |tier: &&Arc<Tier>| only.is_none_or(|scope| scope == tier.scope());
        for tier in self.tiers.iter().filter(meant).filter(|tier| tier.is_there()) {
            let store = tier.store()?;
            let most = self.terms.extract.near_memories;
            let mut paths = store.candidates(text, most).map_err(|error| tier.failed(&error))?;
            if let Some(target) = target.filter(|target| target.scope == tier.scope()) {
                let path = TopicPath::found(target.file.clone());
                paths.retain(|other| *other != path);
                paths.insert(0, path);
            }
            // One that is gone meanwhile is no longer known.
            found.extend(paths.iter().filter_map(|path| read(tier, path)));
        }
        Ok(found)
    }

    /// Holds the others back. Nobody waits for ever.
    fn hold(&self) -> Vec<Lock> {
        let there = self.tiers.iter().filter(|tier| tier.is_there());
        there.filter_map(|tier| hold(&tier.dir().join(LOCK))).collect()
    }
}

/// What waited and is said again by the person waits no more (L5.46): it is
/// active, in their newer words.
fn said_again(tier: &Tier, text: &str, by: &By) -> Result<(), MemoryError> {
    let store = tier.store()?;
    let waiting = store.waiting_like(text).map_err(|error| tier.failed(&error))?;
    match waiting {
        Some(id) => store.overtaken(id, by).map_err(|error| tier.failed(&error)),
        None => Ok(()),
    }
}

fn hold(path: &Path) -> Option<Lock> {
    let started = Instant::now();
    loop {
        match Lock::try_acquire(path) {
            Ok(Some(lock)) => return Some(lock),
            Ok(None) if started.elapsed() < WAIT => std::thread::sleep(PAUSE),
            Ok(None) => {
                tracing::warn!("the lock for keeping memories was not available");
                return None;
            }
            // Nothing was kept here yet, or nothing can be written: the store
            // says so itself.
            Err(_) => return None,
        }
    }
}

fn read(tier: &Tier, path: &TopicPath) -> Option<There> {
    let read = tier.store().ok()?.read(path).ok()?;
    let memory = tier.memory(path.as_str());
    Some(There { memory, text: read.text, content: read.content })
}

fn propose(
    tier: &Tier,
    wish: ProposedChange,
    deciding: &Deciding<'_>,
) -> Result<Kept, MemoryError> {
    let file = match &wish.place {
        MemoryTarget::At(path) => path.to_string(),
        MemoryTarget::Named(name) => format!("{}.md", everfold_memory_file::slug::slugify(name)),
    };
    let grounds = &deciding.ruling.grounds;
    let rests_on = inbox::ProposalGrounds {
        provenance: Some(grounds.provenance),
        evidence: Some(grounds.evidence.clone()).filter(|words| !words.is_empty()),
    };
    let handed = tier.store()?.propose_on(&rests_on, &[wish], &deciding.by);
    let handed = handed.map_err(|error| tier.failed(&error))?;
    // What it joined may wait under another name, and is found there.
    let joined = match handed {
        Handed::Waiting(id) => tier.store()?.proposal(id).ok(),
        _ => None,
    };
    let file = joined
        .and_then(|proposal| Some(proposal.changes.first()?.path.to_string()))
        .unwrap_or(file);
    Ok(self::handed(handed, tier.memory(&file)))
}

/// What became of a proposal.
pub(crate) fn handed(handed: Handed, memory: MemoryRef) -> Kept {
    match handed {
        Handed::New(id) | Handed::Waiting(id) => Kept::Proposed { memory, id: id.0 },
        Handed::Nothing => Kept::Merged { kept: memory, changed: Vec::new(), entry: None },
        Handed::RejectedBefore(_) => Kept::Refused { reason: TURNED_DOWN.to_owned() },
    }
}

/// What a caller expects to be there.
fn expected(memory: &MemoryRef, before: &MemoryBefore, there: &[There]) -> Result<(), MemoryError> {
    let now = there.iter().find(|there| there.memory == *memory);
    let as_expected = match before {
        MemoryBefore::Anything => true,
        MemoryBefore::Absent => now.is_none(),
        MemoryBefore::Text(text) => now.is_some_and(|now| now.text == *text),
    };
    if as_expected {
        return Ok(());
    }
    let reason = format!("{} has changed since; read it again", memory.id());
    Err(MemoryError::Refused { path: memory.path.clone(), reason })
}

fn target_of(proposal: &MemoryProposal) -> Option<&Path> {
    match &proposal.place {
        MemoryPlacement::Anywhere { .. } | MemoryPlacement::In { .. } => None,
        MemoryPlacement::At { path, .. } | MemoryPlacement::Exactly { path, .. } => Some(path),
    }
}

pub(crate) fn is_index(file: &str) -> bool {
    file.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(INDEX_FILE))
}

/// Who writes, as the history names them.
pub(crate) fn author(by: &MemoryAuthor, at: everfold_kernel::Timestamp) -> By {
    let own = match &by.who {
        MemoryWriter::Person => By::person(&by.reason, at),
        MemoryWriter::Agent(source) => By::agent(source, &by.reason, at),
    };
    By { session: by.session.clone(), messages: by.messages.clone(), ..own }
}
