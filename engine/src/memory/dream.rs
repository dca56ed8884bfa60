//! Dreams (L6): considered at the end of each turn, or started by a person, and
//! run as a task in the background.
//!
//! What a dream decides is `everfold-dream`'s; here its steps are performed: the
//! gates, the lock, the agent on a copy, the swap. Whatever goes wrong, the
//! memories are as they were, and the time of the last dream with them.

pub(crate) mod night;
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
use crate::session::{Error, Session, quiet_lines, weighed};
use everfold_dream::policy;
use everfold_economy::Weighing;
use everfold_kernel::ports::{Dreams, FileError, Holder, ModelKind, World};
use everfold_kernel::record::SumVerdict;
use everfold_kernel::{Flag, QuerySource, Timestamp, Tokens, Usage, Usd};
use night::Night;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How a person wants a dream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DreamWish {
    /// Whether the gates count.
    pub gates: Gates,
    /// Whether anything is changed.
    pub mode: Mode,
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
    /// Nothing was changed, and why.
    Failed(String),
    /// It was stopped; nothing was changed.
    Stopped,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Dreamt {
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

/// Looks at the end of a turn whether it is time, the cheapest gate first
/// (L6.1), and starts a dream if it is.
pub(crate) async fn consider_dream(session: &mut Session) {
    let Some(dreams) = session.world.dreams.clone() else { return };
    if session.config.background.auto_dream == AutoDream::Off
        || !session.config.flags.is_on(Flag::Dream)
        || session.state.memory_switch == MemorySwitch::Off
        || has_dreamt_in_vain(session)
    {
        return;
    }
    match gates(session, &*dreams).await {
        Ok(_) => {}
        Err(closed) => {
            tracing::trace!(%closed, "no dream");
            return;
        }
    }
    if let Err(denied) = session.budget.allows(&QuerySource::Dream).await {
        quiet_lines::denied(session, "memories are not consolidated", Usd(0.0), &denied);
        return;
    }
    if let Err(error) = note_dream(session).await {
        tracing::warn!(%error, "what a dream costs is not in the log");
    }
    let night = night(session, dreams, Starter::Turn, Mode::Apply).await;
    start_night(session, night, |task, end| {
        if let Some(text) = night::notice(&end) {
            task.tell(Event::Notice(text));
        }
    });
}

/// Whether a dream runs, or one of this session came to nothing: what
/// failed once would fail again and again, and what a person stopped stays
/// stopped.
fn has_dreamt_in_vain(session: &Session) -> bool {
    let tasks = session.runtime.background.list();
    let mut dreams = tasks.iter().filter(|task| task.source == QuerySource::Dream);
    dreams.any(|task| task.status != TaskStatus::Completed)
}

/// Starts a dream as a person asks for it.
///
/// # Errors
/// How it ended already: there are no memories, or one runs in this session.
pub async fn dream(session: &mut Session, wish: DreamWish) -> Result<Dreaming, DreamEnd> {
    let nothing = |why: &str| DreamEnd::Nothing(why.to_owned());
    let dreams = session.world.dreams.clone();
    let dreams = dreams.ok_or_else(|| nothing("memory is off"))?;
    if session.runtime.background.is_running(&QuerySource::Dream) {
        return Err(nothing("this session is already dreaming"));
    }
    let keeps = wish.gates == Gates::Kept && wish.mode == Mode::Apply;
    if keeps && !session.config.flags.is_on(Flag::Dream) {
        return Err(nothing(&NoDreamReason::Off.to_string()));
    }
    let mut night = night(session, Arc::clone(&dreams), Starter::Hand, wish.mode).await;
    if keeps {
        // What is plainly wrong is mended all the same.
        night.unless_tidy = open_gates(session, &*dreams).await.err();
    }
    let (sender, end) = oneshot::channel();
    let task = start_night(session, night, |_, end| drop(sender.send(end)));
    Ok(Dreaming { task, end })
}

async fn open_gates(session: &mut Session, dreams: &dyn Dreams) -> Result<usize, NoDreamReason> {
    // Somebody waits for the answer: sessions are counted anew.
    session.runtime.counted_sessions = None;
    gates(session, dreams).await
}

async fn gates(session: &mut Session, dreams: &dyn Dreams) -> Result<usize, NoDreamReason> {
    let now = session.world.clock.now();
    let limits = Arc::clone(&session.config.limits);
    let last = last_dream(session, dreams).await;
    policy::time(last, now, &limits.dream)?;
    policy::scan(session.runtime.counted_sessions, now, &limits.dream)?;
    session.runtime.counted_sessions = Some(now);
    let touched = session.world.transcripts.touched().await.unwrap_or_else(|error| {
        tracing::warn!(%error, "sessions cannot be counted");
        Vec::new()
    });
    policy::sessions(&touched, &session.log.id, last, now, &limits.dream)
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
        "dream",
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
async fn note_dream(session: &mut Session) -> Result<(), Error> {
    let limits = &session.config.limits.dream;
    let (used, window) = (session.state.fold.count(), session.window().size);
    let start = policy::start(Starter::Turn, used.0, window.0, limits);
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
    let fork = match session.world.model.kind() {
        ModelKind::Rules => None,
        ModelKind::Language => match session.budget.allows(&QuerySource::Dream).await {
            Ok(()) => dreamer(session, &*dreams, starter),
            // The share is for what nobody asked for.
            Err(Denied::Share(_)) if starter == Starter::Hand => {
                dreamer(session, &*dreams, starter)
            }
            Err(denied) => {
                note = Some(format!("no model was asked: {denied}"));
                None
            }
        },
    };
    let past = session.config.flags.is_on(Flag::PastSearch);
    let transcripts = session.world.transcripts.path(&session.log.id);
    let transcripts = transcripts.parent().filter(|_| past).map(|dir| dir.display().to_string());
    Night {
        dreams,
        fork,
        mode,
        note,
        // The copy lies inside of the directory, and is nobody's memory yet.
        world: World { files: Arc::clone(&session.memory.plain_files), ..session.world.clone() },
        session: session.log.id.clone(),
        limits: Arc::clone(&session.config.limits),
        memory: session.config.memory.keep,
        project: session.config.workplace.project.clone(),
        transcripts: transcripts.unwrap_or_default(),
        unless_tidy: None,
    }
}

/// The agent of a dream: its directive and its ground follow.
fn dreamer(session: &mut Session, dreams: &dyn Dreams, starter: Starter) -> Option<Fork> {
    let limits = &session.config.limits.dream;
    let window = session.window().size.0;
    let used = session.state.fold.count().0;
    let start = match policy::start(starter, used, window, limits) {
        policy::DreamStart::Parent => Start::Parent,
        policy::DreamStart::Fresh => Start::Fresh,
    };
    let remit = Remit::writing_in(vec![Room::Markdown(dreams.dir().to_owned())]);
    let errand = Errand::new(QuerySource::Dream, String::new(), remit, limits.requests);
    fork::fork_off(session, Errand { start, ..errand })
}
