//! One change of the store: whole, or not at all (L5.17).
//!
//! First the contents are kept, then the entry is written as an intent, which
//! is the moment that decides. Then the files take their new contents, the
//! entry joins the history, and the intent goes. Whoever finds an intent ends
//! what it says: a file that holds the old content gets the new one, and one
//! that holds neither was changed by somebody else and is left to them.

use super::steps::ChangeStep;
use super::{By, Store};
use crate::error::Error;
use crate::journal::{Action, ContentId, EntryId, FileChange, Haste, JournalEntry, Known, Seen};
use everfold_disk::{EntryKind, Lock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

const INTENT: &str = "intent.json";
/// An intent that cannot be read is put aside under this name.
const BROKEN_INTENT: &str = "intent.broken.json";
const MAX_INTENT_BYTES: u64 = 64 * 1024 * 1024;
/// Most bytes of contents that an intent carries.
const CARRIED_BYTES: usize = 1024 * 1024;
/// How long to sleep between two tries for the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(3);

/// The right to change the store.
#[derive(Debug)]
pub(super) struct Held {
    _lock: Lock,
    pub(super) known: Known,
    /// A change of somebody else's that was ended first.
    pub(super) mended: Option<EntryId>,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// None: there is no file.
    pub(super) content: Option<ContentId>,
    /// None: there is no file, or it is too large to be kept.
    pub(super) bytes: Option<Vec<u8>>,
}

/// One file of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) before: State,
    pub(super) after: State,
}

impl Edit {
    pub(super) fn write(path: &str, before: State, bytes: Vec<u8>) -> Self {
        let after = State { content: Some(ContentId::of(&bytes)), bytes: Some(bytes) };
        Self { path: path.to_owned(), before, after }
    }

    pub(super) fn remove(path: &str, before: State) -> Self {
        Self { path: path.to_owned(), before, after: State::default() }
    }
}

/// A change that is under way: its entry, and what its files are to hold, so
/// that it can be ended whatever else reached the disk.
#[derive(Debug, Serialize, Deserialize)]
struct Intent {
    #[serde(flatten)]
    entry: JournalEntry,
    #[serde(default, skip_serializing_if = "Contents::is_empty")]
    contents: Contents,
}

/// Contents by their names.
pub(super) type Contents = BTreeMap<ContentId, String>;

/// The contents as an intent carries them; none if they are too large for
/// that, or no text.
fn carried(contents: &[&[u8]]) -> Option<Contents> {
    if contents.iter().map(|bytes| bytes.len()).sum::<usize>() > CARRIED_BYTES {
        return None;
    }
    let one =
        |bytes: &&[u8]| Some((ContentId::of(bytes), std::str::from_utf8(bytes).ok()?.to_owned()));
    contents.iter().map(one).collect()
}

/// What a change is called in the history.
#[derive(Clone, Debug)]
pub(super) struct What {
    pub(super) action: Action,
    pub(super) undoes: Vec<EntryId>,
    pub(super) ended: Vec<String>,
}

impl From<Action> for What {
    fn from(action: Action) -> Self {
        Self { action, undoes: Vec::new(), ended: Vec::new() }
    }
}

impl Store {
    /// Takes the lock and ends what somebody left half done.
    pub(super) fn begin(&self) -> Result<Held, Error> {
        let lock = self.lock()?;
        let mut held = Held { _lock: lock, known: Known::open(self.own()?)?, mended: None };
        held.mended = self.mend(&mut held)?;
        Ok(held)
    }

    /// Takes the lock that all processes share.
    pub(crate) fn lock(&self) -> Result<Lock, Error> {
        let path = self.own()?.path().join("lock");
        let started = Instant::now();
        loop {
            if let Some(lock) = Lock::try_acquire(&path)? {
                return Ok(lock);
            }
            let waited = started.elapsed();
            if waited >= self.options.lock_wait {
                return Err(Error::Busy { path, waited });
            }
            std::thread::sleep(LOCK_PAUSE);
        }
    }

    /// Whether somebody left a change half done.
    pub(super) fn has_intent(&self) -> Result<bool, Error> {
        Ok(self.own()?.stat(Path::new(INTENT))?.is_some())
    }

    fn mend(&self, held: &mut Held) -> Result<Option<EntryId>, Error> {
        let own = self.own()?;
        let bytes = match own.read(Path::new(INTENT), MAX_INTENT_BYTES) {
            Ok(bytes) => bytes,
            Err(everfold_disk::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Ok(intent) = serde_json::from_slice::<Intent>(&bytes) else {
            own.rename(Path::new(INTENT), Path::new(BROKEN_INTENT))?;
            return Ok(None);
        };
        let contents: Vec<&[u8]> = intent.contents.values().map(String::as_bytes).collect();
        self.blobs()?.keep(&contents, Haste::Now)?;
        self.finish(held, &intent)?;
        Ok(Some(intent.entry.id))
    }

    /// Makes a change; nothing that stays as it is becomes part of it. `None`
    /// if nothing is left.
    pub(super) fn commit(
        &self,
        held: &mut Held,
        what: What,
        mut edits: Vec<Edit>,
        by: &By,
    ) -> Result<Option<EntryId>, Error> {
        edits.retain(|edit| edit.before.content != edit.after.content);
        if edits.is_empty() {
            return Ok(None);
        }
        self.step(ChangeStep::Keep)?;
        let contents = edits.iter().flat_map(|edit| [&edit.before.bytes, &edit.after.bytes]);
        let contents: Vec<&[u8]> = contents.filter_map(Option::as_deref).collect();
        let carried = carried(&contents);
        // What the intent carries itself need not be found elsewhere after the
        // power failed.
        let haste = if carried.is_some() { Haste::Later } else { Haste::Now };
        self.blobs()?.keep(&contents, haste)?;
        let change = |edit: Edit| FileChange {
            path: edit.path,
            before: edit.before.content,
            after: edit.after.content,
        };
        let entry = JournalEntry {
            id: EntryId(self.journal().last()?.0 + 1),
            at: by.at,
            author: by.author.clone(),
            action: what.action,
            reason: by.told_reason(),
            session: by.session.clone(),
            messages: by.messages.clone(),
            undoes: what.undoes,
            ended: what.ended,
            changes: edits.into_iter().map(change).collect(),
        };
        self.step(ChangeStep::Intend)?;
        let intent = Intent { entry, contents: carried.unwrap_or_default() };
        let bytes = serde_json::to_vec(&intent).map_err(|source| Error::Encode { source })?;
        self.own()?.write(Path::new(INTENT), &bytes)?;
        self.finish(held, &intent)?;
        Ok(Some(intent.entry.id))
    }

    /// Does what an intent says, from wherever it was left.
    fn finish(&self, held: &mut Held, intent: &Intent) -> Result<(), Error> {
        let entry = &intent.entry;
        for change in &entry.changes {
            self.apply(change, &intent.contents)?;
        }
        // What others wrote is theirs to bring to the disk.
        if entry.action != Action::Foreign {
            self.root.settle(entry.changes.iter().map(|change| Path::new(&change.path)))?;
        }
        let journal = self.journal();
        if journal.last()? < entry.id {
            self.step(ChangeStep::Record)?;
            journal.append(entry)?;
        }
        self.step(ChangeStep::Learn)?;
        let news =
            entry.changes.iter().map(|change| self.seen(change)).collect::<Result<Vec<_>, _>>()?;
        held.known.learn(self.own()?, &news)?;
        self.step(ChangeStep::Liken)?;
        self.note_likeness(&entry.changes);
        self.step(ChangeStep::Finish)?;
        // One that is there again after the power failed finds all of it done.
        Ok(self.own()?.remove_lazily(Path::new(INTENT))?)
    }

    /// What is known of a file after a change. If somebody changed it since,
    /// its size or time tells the next look.
    fn seen(&self, change: &FileChange) -> Result<Seen, Error> {
        let there = self.root.stat(Path::new(&change.path))?;
        Ok(match (&change.after, there) {
            (Some(after), Some(there)) => Seen::file(&change.path, after.clone(), &there),
            _ => Seen::gone(&change.path),
        })
    }

    /// What a file holds now.
    pub(super) fn state(&self, path: &str) -> Result<State, Error> {
        let name = Path::new(path);
        let Some(there) = self.root.stat(name)? else {
            return Ok(State::default());
        };
        if there.kind == EntryKind::Link {
            let why = "it is a link; memories are plain files";
            return Err(Error::BadPath { path: path.to_owned(), why });
        }
        match self.root.read(name, self.options.topic_bytes) {
            Ok(bytes) => Ok(State { content: Some(ContentId::of(&bytes)), bytes: Some(bytes) }),
            Err(everfold_disk::Error::TooLarge { bytes, .. }) => {
                let modified = crate::journal::nanoseconds(there.modified);
                Ok(State { content: Some(ContentId::of_large(bytes, modified)), bytes: None })
            }
            // Gone since it was looked at.
            Err(everfold_disk::Error::NotFound { .. }) => Ok(State::default()),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn step(&self, step: ChangeStep<'_>) -> Result<(), Error> {
        if self.options.steps.before(step).is_break() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }
}
