//! Dreams (L6): considered at the end of each turn, or started by a person, and
//! run as a task in the background.
//!
//! What a dream decides is `everfold-dream`'s; here its steps are performed: the
//! gates, the lock, the agent on a copy, the swap. Whatever goes wrong, the
//! memories are as they were, and the time of the last dream with them.

pub(crate) mod night;
mod pairs;
pub(crate) mod progress;
pub(crate) mod workspace;

pub use everfold_dream::policy::{NoDreamReason, Starter};
pub use everfold_dream::report::DreamReport;

use crate::background::TaskStatus;
use crate::background::budget::Denied;
use crate::config::AutoDream;
use crate::event::Event;
use crate::permit::{Remit, Room};
use crate::session::fork::{self, Errand, Fork, Start};
use crate::session::memory_state::MemorySwitch;
use crate::session::small_model::SmallModel;
use crate::session::{Error, Session, quiet_lines, weighed};
use everfold_dream::policy;
use everfold_economy::Weighing;
use everfold_kernel::ports::{Dreams, FileError, Holder, MemoryScope, ModelKind, World};
use everfold_kernel::record::SumVerdict;
use everfold_kernel::{Flag, QuerySource, SessionId, Timestamp, Tokens, Usage, Usd};
use everfold_prefix::system::Profile;
use night::Night;
use pairs::DreamReader;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How a person wants a dream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DreamWish {
    /// Whose memories: the project's, or its team's.
    pub scope: MemoryScope,
    /// Whether the gates count.
    pub gates: Gates,
    /// Whether anything is changed.
    pub mode: Mode,
}

impl Default for DreamWish {
    fn default() -> Self {
        Self { scope: MemoryScope::Project, gates: Gates::Kept, mode: Mode::Apply }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gates {
    #[default]
    Kept,
    /// They do not; the lock does.
    Skipped,
}

/// Whether a dream changes anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Apply,
    /// It only shows what it would.
    Show,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DreamEnd {
    Done(Box<Dreamt>),
    /// There was nothing to do, and why.
    Nothing(String),
    Locked(Holder),
    /// Those who share the memories cannot be asked now, and why.
    Waits(String),
    /// Nothing was changed, and why.
    Failed(String),
    /// It was stopped; nothing was changed.
    Stopped,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Dreamt {
    pub scope: MemoryScope,
    pub by: Dreamer,
    /// What was done, and why.
    pub report: DreamReport,
    /// What changed, file by file.
    pub changes: Vec<Change>,
    /// The entry of the history, by which it can be undone.
    pub entry: Option<u64>,
    /// What the model used.
    pub usage: Usage,
    pub cost: Usd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dreamer {
    /// Rules alone (L6.9).
    Rules,
    /// Rules, and then a model.
    Model,
    /// Rules, and a weak model that was asked about pairs (Q18).
    WeakModel,
}

/// What changed in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub path: String,
    /// What it held; none: it is new.
    pub before: Option<String>,
    /// What it holds; none: it is gone.
    pub after: Option<String>,
}

/// A dream that runs.
#[derive(Debug)]
pub struct Dreaming {
    pub task: String,
    pub end: oneshot::Receiver<DreamEnd>,
}

/// What is told once when a team's dream has to wait.
const WAITS: &str = "the team's memories are not consolidated yet";

/// Looks at the end of a turn whether it is time, the cheapest gate first
/// (L6.1), and starts the dreams that are due.
pub(crate) async fn consider_dream(session: &mut Session) {
    if session.config.background.auto_dream == AutoDream::Off
        || !session.config.flags.is_on(Flag::Dream)
        || session.state.memory_switch == MemorySwitch::Off
    {
        return;
    }
    for dreams in due(session).await {
        if let Err(denied) = session.budget.allows(&QuerySource::Dream).await {
            quiet_lines::denied(session, "memories are not consolidated", Usd(0.0), &denied);
            return;
        }
        if let Err(error) = note_dream(session, dreams.scope()).await {
            tracing::warn!(%error, "what a dream costs is not in the log");
        }
        let is_teams = dreams.scope() == MemoryScope::Team;
        let mut night = night(session, dreams, Starter::Turn, Mode::Apply).await;
        night.gates = Gates::Kept;
        let is_first = is_teams && session.runtime.told.insert(WAITS);
        start_night(session, night, move |task, end| {
            let is_news = is_first || !matches!(end, DreamEnd::Waits(_));
            if let Some(text) = night::notice(&end).filter(|_| is_news) {
                task.tell(Event::Notice(text));
            }
        });
    }
}

/// Those for which it is time.
async fn due(session: &mut Session) -> Vec<Arc<dyn Dreams>> {
    let (now, limits) = (session.world.clock.now(), Arc::clone(&session.config.limits));
    let mut open = Vec::new();
    for dreams in session.world.dreams.clone() {
        if has_dreamt_in_vain(session, dreams.scope()) {
            continue;
        }
        let last = last_dream(session, &*dreams).await;
        match policy::time(last, now, &limits.dream) {
            Ok(()) => open.push((dreams, last)),
            Err(closed) => tracing::trace!(%closed, "no dream"),
        }
    }
    if open.is_empty() {
        return Vec::new();
    }
    let touched = match touched_sessions(session).await {
        Ok(touched) => touched,
        Err(closed) => {
            tracing::trace!(%closed, "no dream");
            return Vec::new();
        }
    };
    let id = &session.log.id;
    let is_due = |last| match policy::sessions(&touched, id, last, now, &limits.dream) {
        Ok(_) => true,
        Err(closed) => {
            tracing::trace!(%closed, "no dream");
            false
        }
    };
    open.into_iter().filter(|(_, last)| is_due(*last)).map(|(dreams, _)| dreams).collect()
}

/// What its task is called.
fn task_name(scope: MemoryScope) -> &'static str {
    match scope {
        MemoryScope::Team => "team dream",
        MemoryScope::Project | MemoryScope::Global => "dream",
    }
}

/// Whether a dream runs, or one of this session came to nothing: what
/// failed once would fail again and again, and what a person stopped stays
/// stopped.
fn has_dreamt_in_vain(session: &Session, scope: MemoryScope) -> bool {
    let tasks = session.runtime.background.list();
    let is_one = |task: &&crate::event::TaskView| {
        task.source == QuerySource::Dream && task.name == task_name(scope)
    };
    tasks.iter().filter(is_one).any(|task| task.status != TaskStatus::Completed)
}

/// Starts a dream as a person asks for it.
///
/// # Errors
/// How it ended already: there are no memories, or one runs in this session.
pub async fn dream(session: &mut Session, wish: DreamWish) -> Result<Dreaming, DreamEnd> {
    let nothing = |why: &str| DreamEnd::Nothing(why.to_owned());
    let mut all = session.world.dreams.iter();
    let dreams = all.find(|dreams| dreams.scope() == wish.scope).cloned();
    let dreams = dreams.ok_or_else(|| match wish.scope {
        MemoryScope::Team => nothing("this project has no team, or memory is off"),
        MemoryScope::Project | MemoryScope::Global => nothing("memory is off"),
    })?;
    if session.runtime.background.is_running(&QuerySource::Dream) {
        return Err(nothing("this session is already dreaming"));
    }
    let keeps = wish.gates == Gates::Kept && wish.mode == Mode::Apply;
    if keeps && !session.config.flags.is_on(Flag::Dream) {
        return Err(nothing(&NoDreamReason::Off.to_string()));
    }
    let mut night = night(session, Arc::clone(&dreams), Starter::Hand, wish.mode).await;
    if keeps {
        match open_gates(session, &*dreams).await {
            Ok(_) => night.gates = Gates::Kept,
            // What is plainly wrong is mended all the same.
            Err(closed) => night.unless_tidy = Some(closed),
        }
    }
    let (sender, end) = oneshot::channel();
    let task = start_night(session, night, |_, end| drop(sender.send(end)));
    Ok(Dreaming { task, end })
}

async fn open_gates(session: &mut Session, dreams: &dyn Dreams) -> Result<usize, NoDreamReason> {
    // Somebody waits for the answer: sessions are counted anew.
    session.runtime.counted_sessions = None;
    let now = session.world.clock.now();
    let limits = Arc::clone(&session.config.limits);
    let last = last_dream(session, dreams).await;
    policy::time(last, now, &limits.dream)?;
    let touched = touched_sessions(session).await?;
    policy::sessions(&touched, &session.log.id, last, now, &limits.dream)
}

/// The sessions with the times of their last words, if they may be counted now.
async fn touched_sessions(
    session: &mut Session,
) -> Result<Vec<(SessionId, Timestamp)>, NoDreamReason> {
    let now = session.world.clock.now();
    policy::scan(session.runtime.counted_sessions, now, &session.config.limits.dream)?;
    session.runtime.counted_sessions = Some(now);
    Ok(session.world.transcripts.touched().await.unwrap_or_else(|error| {
        tracing::warn!(%error, "sessions cannot be counted");
        Vec::new()
    }))
}

/// When memories were last consolidated: one `stat`.
async fn last_dream(session: &Session, dreams: &dyn Dreams) -> Option<Timestamp> {
    let lock = dreams.lock_file();
    let mut found = session.world.files.stat(&lock).await;
    // Whoever holds it now may be dead, and its time is then that of a dream
    // that never was. Opening the store puts the time back.
    if found.as_ref().is_ok_and(|found| found.bytes > 0) && dreams.look().await.is_ok() {
        found = session.world.files.stat(&lock).await;
    }
    match found {
        Ok(found) => found.modified,
        Err(FileError::NotFound { .. }) => None,
        Err(error) => {
            tracing::warn!(%error, "the time of the last dream cannot be read");
            None
        }
    }
}

fn start_night(
    session: &Session,
    night: Night,
    tell: impl FnOnce(&crate::background::TaskHandle, DreamEnd) + Send + 'static,
) -> String {
    let deadline = Duration::from_mins(session.config.limits.dream.minutes);
    session.runtime.background.start(
        task_name(night.dreams.scope()),
        QuerySource::Dream,
        deadline,
        move |task| async move {
            let end = Box::pin(night.run(&task)).await;
            let told = match &end {
                DreamEnd::Failed(why) => Err(why.clone()),
                _ => Ok(()),
            };
            tell(&task, end);
            told
        },
    )
}

/// Writes to the log what a dream is taken to cost (E1): its gates say that it
/// is due, and no sum can say what tidy memories are worth.
async fn note_dream(session: &mut Session, scope: MemoryScope) -> Result<(), Error> {
    let limits = &session.config.limits.dream;
    let (used, window) = (session.state.fold.count(), session.window().size);
    let start = policy::start(Starter::Turn, scope, (used.0, window.0), limits);
    let terms = weighed::cost_terms(session);
    let answers = Tokens(session.config.limits.economy.notes_output_tokens);
    let weighing = Weighing::new(QuerySource::Dream, "consolidate memories", &terms);
    let weighing = match start {
        policy::DreamStart::Parent => {
            weighing.costs("one pass over the conversation", used, terms.read(used))
        }
        policy::DreamStart::Fresh => weighing,
    };
    let sum = weighing.costs("what it writes", answers, terms.output(answers));
    weighed::note_sum(session, sum.as_decided(SumVerdict::Done)).await
}

/// What a dream needs of the session.
async fn night(
    session: &mut Session,
    dreams: Arc<dyn Dreams>,
    starter: Starter,
    mode: Mode,
) -> Night {
    let mut note = None;
    let reader = match session.world.model.kind() {
        ModelKind::Rules => None,
        ModelKind::Language => match session.budget.allows(&QuerySource::Dream).await {
            Ok(()) => reader(session, &*dreams, starter),
            // The share is for what nobody asked for.
            Err(Denied::Share(_)) if starter == Starter::Hand => reader(session, &*dreams, starter),
            Err(denied) => {
                note = Some(format!("no model was asked: {denied}"));
                None
            }
        },
    };
    // What was said here is not for the others of a team.
    let past = session.config.flags.is_on(Flag::PastSearch) && dreams.scope() != MemoryScope::Team;
    let transcripts = session.world.transcripts.path(&session.log.id);
    let transcripts = transcripts.parent().filter(|_| past).map(|dir| dir.display().to_string());
    Night {
        dreams,
        reader,
        mode,
        note,
        // The copy lies inside of the directory, and is nobody's memory yet.
        world: World { files: Arc::clone(&session.memory.plain_files), ..session.world.clone() },
        session: session.log.id.clone(),
        limits: Arc::clone(&session.config.limits),
        memory: session.config.memory.keep,
        project: session.config.workplace.project.clone(),
        transcripts: transcripts.unwrap_or_default(),
        gates: Gates::Skipped,
        unless_tidy: None,
    }
}

/// Who tells what rules cannot: a weak model is asked about pairs (Q18).
fn reader(session: &mut Session, dreams: &dyn Dreams, starter: Starter) -> Option<DreamReader> {
    match session.config.profile(session.model()) {
        Profile::Lean => Some(DreamReader::Pairs(SmallModel::of(session))),
        Profile::Full => {
            dreamer(session, dreams, starter).map(|fork| DreamReader::Agent(Box::new(fork)))
        }
    }
}

/// The agent of a dream: its directive and its ground follow.
fn dreamer(session: &mut Session, dreams: &dyn Dreams, starter: Starter) -> Option<Fork> {
    let limits = &session.config.limits.dream;
    let window = session.window().size.0;
    let used = session.state.fold.count().0;
    let start = match policy::start(starter, dreams.scope(), (used, window), limits) {
        policy::DreamStart::Parent => Start::Parent,
        policy::DreamStart::Fresh => Start::Fresh,
    };
    let remit = Remit::writing_in(vec![Room::Markdown(dreams.dir().to_owned())]);
    let errand = Errand::new(QuerySource::Dream, String::new(), remit, limits.requests);
    fork::fork_off(session, Errand { start, ..errand })
}
