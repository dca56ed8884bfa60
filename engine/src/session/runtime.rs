//! What lives only while the process does: tasks, channels, what was told, what
//! waits for the next boundary. None of it is needed to go on with a
//! conversation; what is only of the branch that is gone on with is in one
//! struct, which another branch starts anew.

use crate::background::Background;
use crate::background::scheduler::{Scheduler, Slots};
use crate::config::Config;
use crate::event::Events;
use crate::session::agent_context::Peek;
use crate::session::economy_state::EconomyState;
use crate::session::effects::SideBookings;
use crate::session::memory_state::{Failures, Prefetch, Surfaced};
use crate::session::queue::Queue;
use crate::session::status::Live;
use crate::session::turn_guard::TurnGuard;
use everfold_compact::collapse::Staged;
use everfold_hooks::{Handler, HookEvent, Registry};
use everfold_kernel::{Attachment, Decision, Params, RecordId, Timestamp};
use everfold_prefix::breaks::Detector;
use everfold_rules::{Lazy, Touch};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::oneshot;

/// What lives beside the log.
pub(crate) struct Runtime {
    pub(crate) events: Option<Events>,
    /// What can be seen of the session while a turn has it.
    pub(crate) live: Live,
    /// What the person typed meanwhile.
    pub(crate) queue: Queue,
    /// What goes on beside the conversation.
    pub(crate) background: Background,
    /// Requests that tools and tasks made, waiting to be booked.
    pub(crate) books: SideBookings,
    /// The books of the session that this one was forked from.
    pub(crate) parents_books: Option<SideBookings>,
    /// The prompt cache, watched.
    pub(crate) cache: CacheWatch,
    /// What the person was told once already.
    pub(crate) told: BTreeSet<&'static str>,
    /// What hooks left for later.
    pub(crate) hooks: HookState,
    /// Where the conversation is shown to whoever watches it.
    pub(crate) peek: Option<Peek>,
    /// When sessions were last counted for a dream (L6.1).
    pub(crate) counted_sessions: Option<Timestamp>,
    /// What is of this branch of the conversation only.
    pub(crate) branch: Branch,
}

/// The prompt cache, watched.
pub(crate) struct CacheWatch {
    pub(crate) detector: Detector,
    /// When a fork last read the prefix.
    pub(crate) last_fork: Option<Timestamp>,
    /// When work in the background may ask.
    pub(crate) scheduler: Scheduler,
}

/// What was begun on a branch of the conversation. Going back starts anew.
#[derive(Default)]
pub(crate) struct Branch {
    /// The search for memories that runs beside the conversation.
    pub(crate) prefetch: Option<Prefetch>,
    /// Calls that failed, for memories that know why.
    pub(crate) failures: Failures,
    /// Memories that were brought in and not used yet.
    pub(crate) surfaced: Vec<Surfaced>,
    /// Instruction files that may still load.
    pub(crate) lazy: Option<Lazy>,
    /// Files that tools touched since the last boundary.
    pub(crate) touched: Vec<(PathBuf, Touch)>,
    /// Spans that have a summary and are not shown by it yet (L4.13).
    pub(crate) staged: Vec<Staged>,
    /// Texts of files that the next message names.
    pub(crate) mentioned: Vec<Attachment>,
    pub(crate) notes: NotesState,
    /// What keeps a turn from costing without end.
    pub(crate) guard: TurnGuard,
    /// Sums, and what follows from them.
    pub(crate) economy: EconomyState,
    /// What was chosen before the log begins.
    pub(crate) first_params: Option<Box<Params>>,
    /// The style and the language that were.
    pub(crate) first_choices: Vec<Attachment>,
}

impl Runtime {
    pub(crate) fn new(background: Background, books: SideBookings, config: &Config) -> Self {
        let slots = if config.background.slots == Some(1) { Slots::One } else { Slots::Many };
        let detector = Detector::new(config.limits.breaks.clone());
        Self {
            events: None,
            live: Live::default(),
            queue: Queue::default(),
            background,
            books,
            parents_books: None,
            cache: CacheWatch { detector, last_fork: None, scheduler: Scheduler::new(slots) },
            told: BTreeSet::new(),
            hooks: HookState::new(),
            peek: None,
            counted_sessions: None,
            branch: Branch::default(),
        }
    }
}

/// What a session remembers of its notes besides what the log says.
#[derive(Default)]
pub(crate) struct NotesState {
    /// The last record at which an update was tried, whatever came of it.
    pub(crate) tried: Option<RecordId>,
    /// The update that runs. It sends what goes into the log.
    pub(crate) running: Option<oneshot::Receiver<Decision>>,
    /// Whether it has asked a model yet: until then it need not be waited for.
    pub(crate) asked: Arc<AtomicBool>,
}

/// What hooks left for later.
#[derive(Clone, Debug)]
pub(crate) struct HookState {
    /// How the conversation began, as long as nobody was told.
    pub(crate) start: Option<&'static str>,
    /// What the model reads at the next boundary.
    pub(crate) pending: Vec<PendingText>,
    /// The turn is to end, and why.
    pub(crate) stop: Option<String>,
    /// Failures that the person was told of.
    pub(crate) told: BTreeSet<String>,
    /// What is said before the person's first words.
    pub(crate) first_words: Option<String>,
    /// All handlers, where skills brought some.
    pub(crate) registry: Option<Arc<Registry>>,
    /// Skills whose handlers are among them.
    pub(crate) skills: BTreeSet<String>,
    /// Handlers that were called once and are not again.
    pub(crate) done: Vec<(HookEvent, Handler)>,
    /// Calls of the answer that is carried out, with what came of them.
    pub(crate) batch: Vec<Value>,
    /// Where commands ran last.
    pub(crate) cwd: Option<PathBuf>,
    /// Files that are looked at for changes.
    pub(crate) watched: Watched,
}

impl HookState {
    /// Those of a new conversation.
    pub(crate) fn new() -> Self {
        let start = Some("startup");
        Self {
            start,
            pending: Vec::new(),
            stop: None,
            told: BTreeSet::new(),
            first_words: None,
            registry: None,
            skills: BTreeSet::new(),
            done: Vec::new(),
            batch: Vec::new(),
            cwd: None,
            watched: Watched::default(),
        }
    }
}

/// A text of a hook for the model.
#[derive(Clone, Debug)]
pub(crate) struct PendingText {
    pub(crate) kind: &'static str,
    pub(crate) event: HookEvent,
    pub(crate) text: String,
}

/// What is known of files that are watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    /// Those that handlers named.
    pub(crate) named: BTreeSet<PathBuf>,
    /// How each was when it was last looked at; none where it was not there.
    pub(crate) seen: BTreeMap<PathBuf, Option<Stamp>>,
}

/// By what a change is told.
type Stamp = (u64, Option<Timestamp>);
