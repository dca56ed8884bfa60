//! What a session knows of its memories besides the log: who writes them, how
//! far they were reviewed, and which of those that were brought in were of use
//! (L5.29).

use crate::background::budget::Budget;
use crate::session::fork::Fork;
use crate::session::memory_keeper::Keeper;
use crate::session::memory_writes::{AtWork, Main, MemoryFiles, Writer};
use crate::session::small_model::SmallModel;
use everfold_extract::{ReviewQueue, ReviewSpan, put_off};
use everfold_kernel::ports::{Files, Memories, PastSearch, World};
use everfold_kernel::record::Extracted;
use everfold_kernel::{Attachment, Limits, RecordId, SessionId};
use everfold_memory_file::Memory;
use everfold_memory_recall::stems;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::task::AbortOnDropHandle;

/// What a session knows of its memories.
pub(crate) struct MemoryState {
    /// How far the conversation was reviewed.
    pub(crate) extraction: Extraction,
    /// Files as they are, without the care for memories.
    pub(crate) plain_files: Arc<dyn Files>,
    /// The search of past conversations, also while it is switched off.
    pub(crate) past: Option<Arc<dyn PastSearch>>,
    /// Who writes memories in front of the person.
    pub(crate) main: Main,
}

/// A memory that was brought in.
pub(crate) struct Surfaced {
    pub(crate) path: PathBuf,
    /// Its words, as stems.
    pub(crate) words: BTreeSet<String>,
    /// Whether it was counted as shown.
    pub(crate) counted: bool,
}

impl Surfaced {
    /// A memory with this text.
    pub(crate) fn new(path: PathBuf, text: &str) -> Self {
        let memory = Memory::parse(text);
        let mut words = stems(memory.body);
        words.extend(stems(&memory.front.description.unwrap_or_default()));
        Self { path, words, counted: false }
    }
}

impl MemoryState {
    /// A world whose files take care of its memories.
    pub(crate) fn around(world: World, session: &SessionId) -> (World, Self) {
        let own = Self {
            extraction: Extraction::default(),
            plain_files: Arc::clone(&world.files),
            past: world.past.clone(),
            main: Main { session: session.clone(), at_work: AtWork::default() },
        };
        let Some(memories) = world.memories.clone() else { return (world, own) };
        let writer = Writer::Main(own.main.clone());
        let files = Arc::new(MemoryFiles::new(Arc::clone(&world.files), memories, writer));
        (World { files, ..world }, own)
    }
}

/// What a session knows of its reviews. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Extraction(Arc<Mutex<ReviewState>>);

#[derive(Default)]
pub(crate) struct ReviewState {
    pub(crate) desk: ReviewQueue<Job>,
    /// The last message that was considered (L5.10).
    pub(crate) cursor: Option<RecordId>,
    /// Turns since the last review.
    pub(crate) turns: u64,
    /// Reviews that are not in the log yet.
    pub(crate) done: Vec<Extracted>,
    /// Whether the person was told that a review is put off (L5.42).
    pub(crate) told: Told,
    /// Whether one is put off now.
    pub(crate) is_put_off: bool,
    /// Whether the small model answered with something else than a list: a
    /// fork reviews from then on.
    pub(crate) is_small_unfit: bool,
    /// Whether the last review was refused, rather than not brought to its end.
    pub(crate) is_refused: bool,
}

/// Whether the person was told of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Told {
    #[default]
    No,
    Yes,
}

impl Extraction {
    /// Takes the cursor from a log, and how many turns are behind it (L5.13).
    pub(crate) fn follow(&self, reviewed: Option<RecordId>, turns: u64) {
        let mut state = self.state();
        state.cursor = reviewed;
        state.turns = turns;
    }

    /// Reviews that are not in the log yet.
    pub(crate) fn take_done(&self) -> Vec<Extracted> {
        std::mem::take(&mut self.state().done)
    }

    pub(crate) fn moved(&self, extracted: Extracted) {
        let mut state = self.state();
        state.cursor = Some(extracted.through.clone());
        state.done.push(extracted);
        state.is_put_off = false;
    }

    /// Nothing of this could last: it is not looked at again. The log need not
    /// say so; whoever resumes it comes to the same answer.
    pub(crate) fn skip(&self, found: &ReviewSpan) {
        let mut state = self.state();
        if let (Some(last), false) = (&found.last, state.is_put_off) {
            state.cursor = Some(last.clone());
        }
    }

    /// The small model gave no list: another way is gone.
    pub(crate) fn small_is_unfit(&self) {
        let mut state = self.state();
        (state.is_put_off, state.is_small_unfit) = (true, true);
    }

    /// A review is still to come.
    pub(crate) fn owe(&self) {
        self.state().is_put_off = true;
    }

    /// Whether a review is put off.
    pub(crate) fn is_pending(&self) -> bool {
        self.state().is_put_off
    }

    /// A review is put off: how far it came stays. Says whether the person is
    /// to be told, which is once in a session (L5.42).
    pub(crate) fn put_off(&self, why: &str) -> bool {
        let mut state = self.state();
        state.is_put_off = true;
        if std::mem::replace(&mut state.told, Told::Yes) == Told::Yes {
            return false;
        }
        let note = put_off(state.cursor.as_ref(), why);
        state.done.push(note);
        true
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ReviewState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The context of a turn that ended.
pub(crate) struct Job {
    pub(crate) reader: JobReader,
    pub(crate) scene: Scene,
}

/// Who looks at it.
pub(crate) enum JobReader {
    /// A fork of the conversation, and the gate before what it writes.
    Fork { fork: Box<Fork>, keeper: Arc<Keeper> },
    /// The small model, on what is new.
    Small(Box<SmallReview>),
}

/// What a review by the small model needs of the session.
pub(crate) struct SmallReview {
    /// The conversation when it was sent.
    pub(crate) messages: Vec<everfold_prefix::Message>,
    pub(crate) model: SmallModel,
}

impl JobReader {
    pub(crate) fn messages(&self) -> &[everfold_prefix::Message] {
        match self {
            Self::Fork { fork, .. } => fork.messages(),
            Self::Small(review) => &review.messages,
        }
    }
}

/// What a review needs besides the conversation.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) memories: Arc<dyn Memories>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) budget: Budget,
    pub(crate) session: SessionId,
    pub(crate) state: Extraction,
}

/// A search for memories that runs. It ends with the session, with the turn's
/// cancellation, or when it is late.
pub(crate) struct Prefetch(pub(crate) AbortOnDropHandle<Found>);

impl Prefetch {
    /// Whether it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_finished()
    }
}

/// Calls that failed (R17).
#[derive(Default)]
pub(crate) struct Failures {
    /// What was said of those that are not looked up yet.
    pub(crate) waiting: Vec<String>,
    /// What was looked for, so that it is looked for once.
    pub(crate) looked_up: BTreeSet<String>,
}

/// What was found, as it is shown.
pub(crate) type Found = Option<Attachment>;

/// Whether a session uses memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MemorySwitch {
    #[default]
    On,
    /// It does not.
    Off,
}

/// The kind of the attachment that says which.
pub(crate) const SWITCH: &str = "memory_switch";
