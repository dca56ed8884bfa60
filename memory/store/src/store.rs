//! A memory directory, opened.
//!
//! Everything is done through a handle on the directory that cannot be left
//! (S1). Opening ends what a crash left half done, and notices what was
//! changed from outside. Reading takes no lock; every change holds one that
//! all processes share.

mod apply;
mod change;
mod commit;
mod dream_input;
mod history;
pub mod inbox;
mod indexes;
mod near_copies;
mod outside_changes;
mod read;
mod save;
mod shared;
mod steps;
mod swap;
mod two_steps;

pub(crate) use dream_input::LOGS;
pub use history::{Blame, FileDiff, Keep, OnConflict, Pruned};
pub use read::{Note, StoredText, TopicHead};
pub use save::{ExpectedContent, MemoryTarget, Save, Saved};
pub use shared::TakenIn;
pub use steps::{AllSteps, ChangeObserver, ChangeStep};
pub use swap::Replacement;

use crate::error::Error;
use crate::journal::{Author, Blobs, EntryId, Journal};
use crate::path::OWN_DIR;
use everfold_disk::{EntryKind, Root};
use everfold_kernel::ids::{RecordId, SessionId};
use everfold_kernel::limits::{ExtractLimits, RecallLimits};
use everfold_memory_file::index::Caps;
use everfold_memory_judge::secrets;
use jiff::Timestamp;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Whose memories a store holds (L5.21, L5.25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreScope {
    /// The person's, in one project.
    Project,
    Global,
    Team,
}

/// How much of what was changed from outside is noticed when a store is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notice {
    /// All of it: every file is looked at.
    #[default]
    All,
    /// What a change of ours touches, when it does. For a process that makes
    /// one change and goes (R16).
    Touched,
}

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Whose memories it holds.
    pub scope: StoreScope,
    /// How much of the index is loaded.
    pub caps: Caps,
    /// The largest memory, in bytes; of a larger file only the start is read.
    pub topic_bytes: u64,
    /// Lines at the start of a memory from which a list is made (R2).
    pub head_lines: usize,
    /// How long to wait while another process makes a change.
    pub lock_wait: Duration,
    /// Most proposals that wait (L5.46).
    pub inbox_entries: usize,
    /// Days for which a proposal waits.
    pub inbox_days: i64,
    /// How much is noticed when it is opened.
    pub notice: Notice,
    /// Who watches the steps of a change.
    pub steps: Arc<dyn ChangeObserver>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        let ExtractLimits { inbox_entries, inbox_days, .. } = ExtractLimits::default();
        Self {
            inbox_entries,
            inbox_days,
            scope: StoreScope::Project,
            caps: Caps::default(),
            topic_bytes: 1024 * 1024,
            head_lines: RecallLimits::default().head_lines,
            lock_wait: Duration::from_mins(1),
            notice: Notice::All,
            steps: Arc::new(AllSteps),
        }
    }
}

/// Who makes a change, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    pub author: Author,
    pub reason: String,
    pub session: Option<SessionId>,
    pub messages: Vec<RecordId>,
    pub at: Timestamp,
}

impl By {
    #[must_use]
    pub fn person(reason: &str, at: Timestamp) -> Self {
        let reason = reason.to_owned();
        Self { author: Author::Person, reason, session: None, messages: Vec::new(), at }
    }

    /// An agent of ours, now.
    #[must_use]
    pub fn agent(source: &str, reason: &str, at: Timestamp) -> Self {
        let author = Author::Agent { source: source.to_owned() };
        Self { author, ..Self::person(reason, at) }
    }

    /// The reason as it is written down: one that holds a secret is left out
    /// (L5.40).
    fn told_reason(&self) -> String {
        let reason = Some(&self.reason).filter(|reason| secrets::find(reason).is_empty());
        reason.cloned().unwrap_or_default()
    }

    /// From this session and these messages.
    #[must_use]
    pub fn from(mut self, session: SessionId, messages: Vec<RecordId>) -> Self {
        self.session = Some(session);
        self.messages = messages;
        self
    }
}

/// What happened when a store was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// A change that a crash had left half done, and that was ended.
    pub mended: Option<EntryId>,
    /// The entry for what was changed from outside.
    pub noticed: Option<EntryId>,
    /// Why the store can be read but not changed.
    pub read_only: Option<String>,
}

/// An open memory directory.
#[derive(Debug)]
pub struct Store {
    root: Root,
    own: Option<Root>,
    options: StoreOptions,
    opening: Opening,
}

impl Store {
    /// Opens a directory, making it (0700) as needed, with what is usual.
    ///
    /// # Errors
    /// If it cannot be made or read.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        Self::open_with(dir, StoreOptions::default(), Timestamp::now())
    }

    /// Opens a directory. What was changed from outside is entered under `at`.
    ///
    /// # Errors
    /// If it cannot be made or read, or somebody else keeps it locked.
    pub fn open_with(dir: &Path, options: StoreOptions, at: Timestamp) -> Result<Self, Error> {
        let root = Root::create(dir)?;
        let mut store = Self { root, own: None, options, opening: Opening::default() };
        let done = store.prepare().and_then(|()| store.settle(at));
        match done {
            Ok(opening) => store.opening = opening,
            // Somebody else's directory can still be read.
            Err(Error::Disk(error @ everfold_disk::Error::Denied { .. })) => {
                store.opening.read_only = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(store)
    }

    /// What happened when it was opened.
    #[must_use]
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    #[must_use]
    pub fn dir(&self) -> &Path {
        self.root.path()
    }

    /// Whose memories it holds.
    #[must_use]
    pub fn scope(&self) -> StoreScope {
        self.options.scope
    }

    pub(crate) fn caps(&self) -> Caps {
        self.options.caps
    }

    /// Makes our own folder, if it is not there.
    fn prepare(&mut self) -> Result<(), Error> {
        let own = Path::new(OWN_DIR);
        match self.root.stat(own)? {
            Some(there) if there.kind != EntryKind::Directory => {
                return Err(Error::HistoryPlace { path: self.root.path().join(own) });
            }
            Some(_) => self.own = Some(self.root.sub(own)?),
            None => {
                let made = self.root.sub(own)?;
                // A directory that git watches stays as clean as it was.
                made.write(Path::new(".gitignore"), b"*\n")?;
                self.own = Some(made);
            }
        }
        for name in ["lock", "journal.jsonl", "known.jsonl"] {
            self.must_be_plain(Path::new(name))?;
        }
        Ok(())
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// Files that are appended to are opened by their path; a link there could
    /// lead anywhere.
    pub(crate) fn must_be_plain(&self, name: &Path) -> Result<(), Error> {
        let own = self.own()?;
        match own.stat(name)? {
            Some(there) if there.kind != EntryKind::File => {
                Err(Error::HistoryPlace { path: own.path().join(name) })
            }
            _ => Ok(()),
        }
    }

    /// Ends what was left half done and notices what was changed from outside.
    fn settle(&self, at: Timestamp) -> Result<Opening, Error> {
        crate::dream::lock::recover(self)?;
        // A history begins with all that is there.
        let is_new = self.journal().last()? == EntryId(0);
        if self.options.notice == Notice::Touched && !is_new {
            let mended = if self.has_intent()? { self.begin()?.mended } else { None };
            return Ok(Opening { mended, ..Opening::default() });
        }
        let mut held = self.begin()?;
        let noticed = self.notice_all(&mut held, &outside_changes::foreign(at))?;
        // What it does is good to have, and nothing rests on it.
        let _ = self.keep_again();
        // An inbox that cannot be read is no reason not to open the rest.
        let _ = self.still_waiting(at);
        Ok(Opening { mended: held.mended, noticed, read_only: None })
    }

    pub(crate) fn own(&self) -> Result<&Root, Error> {
        let path = self.root.path().join(OWN_DIR);
        self.own.as_ref().ok_or(Error::Disk(everfold_disk::Error::Denied { path }))
    }

    fn journal(&self) -> Journal {
        Journal::at(&self.root.path().join(OWN_DIR))
    }

    fn blobs(&self) -> Result<Blobs<'_>, Error> {
        Ok(Blobs { own: self.own()?, max_bytes: self.options.topic_bytes })
    }
}
