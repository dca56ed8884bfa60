//! Background agents on the conversation of their parent (L7.1, PC3, PC4).
//!
//! A fork is a session of its own without a person: it starts from a clone of
//! the parent's fold, so that its requests begin with the parent's exact bytes,
//! and goes on from there with a directive. What it changes is its own: nothing
//! that it says or reads is part of the parent's log, but for what it cost. It
//! has the parent's tools, in the same order; what it may not do is refused when
//! it is called ([`Remit`]).

use crate::config::Config;
use crate::event::{EndReason, Events, TurnEnd};
use crate::permit::{Permit, Remit};
use crate::session::effects::SideBookings;
use crate::session::prompt::Prompt;
use crate::session::{Converse, Error, Session, prelude};
use everfold_kernel::ports::{
    BoxFuture, FileError, FileVersion, Files, Glimpse, LoadedTranscript, Search, Shell,
    TranscriptError, Transcripts, World,
};
use everfold_kernel::{
    Block, BlockView, Decision, Entry, QuerySource, Record, SessionId, Timestamp,
};
use everfold_prefix::{Fold, Message, ResultView};
use everfold_rules::Touch;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Whose conversation a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thread {
    Main,
    /// An agent's, with a log, a window and letters of its own (L7.4).
    Agent {
        source: QuerySource,
        start: Start,
    },
    /// A background agent's.
    Fork {
        source: QuerySource,
        start: Start,
        /// When it is done.
        until: Until,
    },
}

/// What a fork starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The whole conversation of its parent, which the server has cached.
    Parent,
    /// System prompt and tools alone.
    Fresh,
}

/// When an errand is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// When the agent calls no more tools.
    #[default]
    Silence,
    /// When all calls of one answer went well. The request in which the agent
    /// would only say so is spared: it is as long as the whole conversation.
    CleanRound,
    /// The same, where the answer wrote something: reading alone is no end.
    CleanWrites,
}

/// What a background agent is sent to do.
#[derive(Clone)]
pub struct Errand {
    /// Who asks, for the books.
    pub source: QuerySource,
    /// What it is told, after the conversation.
    pub directive: String,
    pub start: Start,
    pub remit: Remit,
    /// Most requests.
    pub max_requests: u32,
    /// When it is done.
    pub until: Until,
    /// The files that it sees, where they are not the parent's: ones that keep
    /// its writes inside of where they belong (S1).
    pub files: Option<Arc<dyn Files>>,
    /// The shell that it uses, where it is not the parent's.
    pub shell: Option<Arc<dyn Shell>>,
}

impl Errand {
    /// An errand on the parent's conversation and files.
    #[must_use]
    pub fn new(source: QuerySource, directive: String, remit: Remit, max_requests: u32) -> Self {
        let (start, until) = (Start::Parent, Until::Silence);
        Self { source, directive, start, remit, max_requests, until, files: None, shell: None }
    }
}

/// A background agent that is ready to go.
pub struct Fork {
    session: Session,
    directive: String,
}

/// Where an agent works, in place of where its parent does.
#[derive(Clone)]
pub struct Ground {
    pub files: Arc<dyn Files>,
    /// Glob and grep.
    pub search: Arc<dyn Search>,
    pub shell: Arc<dyn Shell>,
}

/// What became of an errand.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended, with what it used and what was refused.
    pub end: TurnEnd,
    /// Files that it was allowed to write, each once; whether it did is for
    /// those to say who own them.
    pub written: Vec<PathBuf>,
}

impl Session {
    pub(crate) fn source(&self) -> QuerySource {
        match &self.thread {
            Thread::Main => QuerySource::Main,
            Thread::Agent { source, .. } | Thread::Fork { source, .. } => source.clone(),
        }
    }

    /// Whether a person is at the other end.
    pub(crate) fn is_main(&self) -> bool {
        self.thread == Thread::Main
    }

    /// Whether it looks after its own conversation: the main thread and agents
    /// do, forks on an errand do not (L4.9, L7.8).
    pub(crate) fn keeps_itself(&self) -> bool {
        !matches!(self.thread, Thread::Fork { .. })
    }
}

/// Makes an agent for an errand. None before the conversation has begun,
/// while calls are without their results, and in a fork: forks do not fork
/// (L4.9, L7.3).
pub fn fork_off(session: &mut Session, errand: Errand) -> Option<Fork> {
    if session.thread != Thread::Main || !session.state.fold.open_calls().is_empty() {
        return None;
    }
    let fold = match errand.start {
        Start::Parent => {
            session.runtime.cache.last_fork = Some(session.world.clock.now());
            session.state.fold.prelude()?;
            session.state.fold.lent()
        }
        Start::Fresh => prelude_alone(session)?,
    };
    let world = World {
        files: errand.files.unwrap_or_else(|| Arc::clone(&session.world.files)),
        shell: errand.shell.unwrap_or_else(|| Arc::clone(&session.world.shell)),
        transcripts: Arc::new(Unkept(Arc::clone(&session.world.transcripts))),
        ..session.world.clone()
    };
    let mut config = Config::clone(&session.config);
    config.launch.max_turns = Some(errand.max_requests);
    let parent = session;
    let mut session =
        Session::new(parent.log.id.clone(), world.clone(), config, parent.toolbox.clone());
    // It sees the files that it was given, not the main agent's.
    session.world = world;
    let Errand { source, start, until, .. } = errand;
    session.thread = Thread::Fork { source, start, until };
    session.runtime.parents_books = Some(parent.runtime.books.clone());
    session.budget = parent.budget.clone();
    session.runtime.cache.detector = parent.runtime.cache.detector.clone();
    session.runtime.cache.scheduler = parent.runtime.cache.scheduler.clone();
    session.state.fold = fold;
    session.permit = Permit::confined(&parent.permit, errand.remit);
    let held = session.permit.sandbox(Vec::new());
    session.context = Arc::new(parent.context.cloned_for(session.world.clone(), held));
    Some(Fork { session, directive: errand.directive })
}

/// A conversation that has not begun, with the parent's system prompt and
/// tools as they were rendered, or would be.
fn prelude_alone(session: &Session) -> Option<Fold> {
    let composed = || prelude::compose_prelude_for(session, &session.config.models.model).ok();
    let prelude = Box::new(session.state.fold.prelude().cloned().or_else(composed)?);
    let mut fold = Fold::new(Arc::clone(&session.config.limits));
    let (id, at) = ("prelude".into(), Timestamp::UNIX_EPOCH);
    fold.push(Record { id, parent: None, at, entry: Entry::Decision(Decision::Prelude(prelude)) });
    Some(fold)
}

/// Whether a fork has done what it was sent for: its last calls went well.
pub(crate) fn is_errand_done(session: &Session) -> bool {
    let failed = |result: &ResultView<'_>| {
        matches!(result.piece.block.view(), BlockView::ToolResult { is_error: true, .. })
    };
    let Thread::Fork { until, .. } = session.thread else { return false };
    let results = session.state.fold.last_results();
    let wrote = || results.iter().any(|result| matches!(result.tool, "Write" | "Edit"));
    match until {
        Until::Silence => false,
        Until::CleanRound => !results.iter().any(failed),
        Until::CleanWrites => !results.iter().any(failed) && wrote(),
    }
}

/// Where the bookings of this session go besides its own log.
pub(crate) fn parents_books(session: &Session) -> Option<&SideBookings> {
    session.runtime.parents_books.as_ref()
}

impl Fork {
    /// The conversation that it starts from.
    pub(crate) fn messages(&self) -> &[Message] {
        self.session.state.fold.messages()
    }

    /// The same agent, told something else.
    #[must_use]
    pub(crate) fn directed(self, directive: String) -> Self {
        Self { directive, ..self }
    }

    /// Says what it is told and where it works, for an errand of which that is
    /// known only later.
    #[must_use]
    pub fn sent(self, directive: String, ground: Ground) -> Self {
        let Self { mut session, .. } = self;
        let Ground { files, search, shell } = ground;
        session.world = World { files, shell, search, ..session.world };
        let held = session.permit.sandbox(Vec::new());
        session.context = Arc::new(session.context.cloned_for(session.world.clone(), held));
        Self { session, directive }
    }

    /// Sends what happens to a watcher.
    pub fn watch(&mut self, events: Events) {
        self.session.watch(events);
    }

    /// Counts a file as read: what it says is in the directive.
    pub(crate) fn saw(&self, path: PathBuf, version: FileVersion) {
        self.session.context.saw(path, version);
    }

    /// Goes on the errand. Whatever goes wrong is in the report: a background
    /// agent never ends a turn of its parent (Q2).
    ///
    /// Boxed: a turn starts forks, and a fork is a turn.
    #[must_use]
    pub fn run(self, cancel: CancellationToken) -> BoxFuture<'static, Report> {
        Box::pin(self.run_to_the_end(cancel))
    }

    async fn run_to_the_end(self, cancel: CancellationToken) -> Report {
        let Self { mut session, directive } = self;
        let directed = Prompt::of_program(vec![Block::text(directive)]);
        let end = match session.converse(directed, &cancel).await {
            Ok(end) => end,
            Err(error) => failed(&error),
        };
        let source = session.source();
        tracing::info!(
            %source,
            requests = end.requests,
            prompt = end.usage.prompt().0,
            cache_read = end.usage.cache_read,
            output = end.usage.output,
            reason = ?end.reason,
            "a background agent ended"
        );
        let mut written: Vec<PathBuf> = Vec::new();
        for (path, touch) in std::mem::take(&mut session.runtime.branch.touched) {
            if touch == Touch::Write && !written.contains(&path) {
                written.push(path);
            }
        }
        Report { end, written }
    }
}

fn failed(error: &Error) -> TurnEnd {
    TurnEnd { reason: EndReason::Failed(error.to_string()), ..TurnEnd::default() }
}

/// A log that is not kept: a fork lives as long as its errand. Files beside
/// the log (spilled results) are kept as the parent's are.
struct Unkept(Arc<dyn Transcripts>);

impl Transcripts for Unkept {
    fn append<'a>(
        &'a self,
        _: &'a SessionId,
        _: &'a [u8],
    ) -> BoxFuture<'a, Result<(), TranscriptError>> {
        Box::pin(async { Ok(()) })
    }

    fn load<'a>(
        &'a self,
        session: &'a SessionId,
        _: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> BoxFuture<'a, Result<LoadedTranscript, TranscriptError>> {
        let (session, path) = (session.clone(), self.path(session));
        Box::pin(async move { Err(TranscriptError::NotFound { session, path }) })
    }

    fn glimpse(&self) -> BoxFuture<'_, Result<Vec<Glimpse>, TranscriptError>> {
        self.0.glimpse()
    }

    fn keep<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        bytes: &'a [u8],
    ) -> BoxFuture<'a, Result<PathBuf, FileError>> {
        self.0.keep(session, place, bytes)
    }

    fn session_dir(&self, session: &SessionId) -> PathBuf {
        self.0.session_dir(session)
    }

    fn path(&self, session: &SessionId) -> PathBuf {
        self.0.path(session)
    }
}
