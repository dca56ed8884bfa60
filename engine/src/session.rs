//! One conversation: a log, its projections, and a runtime.
//!
//! The log on disk is the truth. A record is written there first (`log`), and
//! taken into what follows from it only then (`projections`). What lives only
//! while the process does is apart (`runtime`). Features are functions over a
//! session, in the folders beside this one; a session knows none of them.

use crate::background::Background;
use crate::background::budget::Budget;
use crate::config::Config;
use crate::event::Event;
use crate::permit::Permit;
use crate::session::agent_context::Crew;
use crate::session::effects::SideBookings;
use crate::session::file_history::FileHistory;
use crate::session::fork::Thread;
use crate::session::log::Log;
use crate::session::memory_state::{MemoryState, MemorySwitch};
use crate::session::projections::Projections;
use crate::session::runtime::{Branch, Runtime};
use crate::session::toolbox::Toolbox;
use crate::tools::ToolContext;
use everfold_kernel::ports::{Spent, TranscriptError, World};
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    BlockView, Class, Classify, Decision, Entry, Flag, Ledger, QuerySource, Record, RecordId,
    SessionId, ToolUseId,
};
use everfold_prefix::system;
use std::path::PathBuf;
use std::sync::Arc;

pub mod agent_context;
pub mod cache_breaks;
mod converse;
pub(crate) mod economy_state;
pub mod effects;
pub mod file_history;
pub mod fork;
pub(crate) mod lifetime;
pub(crate) mod log;
pub mod lookup;
pub mod memory_keeper;
pub mod memory_state;
pub mod memory_writes;
mod parts;
pub mod prelude;
pub mod projections;
pub mod prompt;
pub mod queue;
pub(crate) mod quiet_lines;
pub mod reload;
pub mod reminder;
pub mod runtime;
pub(crate) mod secrets;
pub(crate) mod small_model;
pub mod status;
pub mod toolbox;
pub(crate) mod turn_guard;
mod view;
pub(crate) mod weighed;

pub(crate) use converse::Converse;

/// Why a session could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    #[error(transparent)]
    System(#[from] system::Error),
    /// A session of this name is there already.
    #[error("session {0} already exists; resume it with --resume {0}, or choose another id")]
    Exists(SessionId),
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::Transcript(error) => error.class(),
            Self::System(error) => error.class(),
            Self::Exists(_) => Class::Refuse,
        }
    }
}

/// A conversation: its log, what follows from it, and what lives beside it.
pub struct Session {
    pub(crate) log: Log,
    pub(crate) state: Projections,
    pub(crate) runtime: Runtime,
    pub(crate) world: World,
    pub(crate) config: Arc<Config>,
    pub(crate) toolbox: Toolbox,
    pub(crate) context: Arc<ToolContext>,
    pub(crate) permit: Permit,
    pub(crate) budget: Budget,
    /// Whose conversation it is.
    pub(crate) thread: Thread,
    /// Who it is among agents.
    pub(crate) crew: Crew,
    /// What it knows of its memories.
    pub(crate) memory: MemoryState,
}

impl Session {
    /// A new conversation. Nothing is written before its first turn.
    #[must_use]
    pub fn new(id: SessionId, world: World, config: Config, toolbox: Toolbox) -> Self {
        let config = Arc::new(config);
        let (mut world, memory) = MemoryState::around(world, &id);
        let books = SideBookings::default();
        let background = Background::new(Arc::clone(&world.clock));
        let log = parts::log(id, &world, &config);
        let id = &log.id;
        let history = FileHistory::new(&log, &world, &config, &background);
        let crew = parts::crew(id, &world, &config, &background, &books, &history);
        // Agents decide for themselves, by the switch as it is when they start.
        if !config.flags.is_on(Flag::PastSearch) {
            world.past = None;
        }
        let permit = parts::permit(id, &world, &config);
        let mut context = parts::context(id, &world, &config, &crew, &books);
        context.confinement = parts::confinement(&config, &permit);
        context.set_guard(permit.guard());
        Self {
            log,
            state: Projections::new(&config.limits),
            runtime: Runtime::new(background, books, &config),
            budget: Budget::new(config.background.budget, &world),
            context: Arc::new(context),
            permit,
            thread: Thread::Main,
            crew,
            memory,
            world,
            config,
            toolbox,
        }
    }

    /// Writes a record to the log, then takes it into the conversation.
    ///
    /// # Errors
    /// If the log cannot be written; the conversation is unchanged then.
    pub async fn append(&mut self, entry: Entry) -> Result<RecordId, Error> {
        let id = self.log.fresh_id();
        self.append_as(id, entry).await
    }

    /// Writes several records; what follows a boundary is its summary.
    pub(crate) async fn append_all(&mut self, entries: Vec<Entry>) -> Result<(), Error> {
        let mut next = None;
        let compacts = entries.iter().any(|entry| matches!(entry, Entry::Boundary(_)));
        for mut entry in entries {
            let id = next.take().unwrap_or_else(|| self.log.fresh_id());
            next = self.log.joined(&mut entry);
            self.append_as(id, entry).await?;
        }
        if compacts {
            reload::mark_resume_point(&self.world, &self.log).await?;
        }
        Ok(())
    }

    async fn append_as(&mut self, id: RecordId, entry: Entry) -> Result<RecordId, Error> {
        let record = self.log.append(id, entry).await?;
        let id = record.id.clone();
        self.emit(|| Event::Recorded(Box::new(record.clone())));
        self.take(record);
        Ok(id)
    }

    /// Takes in a record that is on disk, with what follows from it beside the
    /// projections.
    fn take(&mut self, record: Record) {
        remember_reads(&self.context, &record);
        if let Entry::Decision(Decision::Booked(booking)) = &record.entry {
            self.runtime.live.note_hit_rate(booking);
            if booking.source == QuerySource::Compact {
                self.runtime.branch.guard.spend(booking.cost);
            }
            if self.is_main() {
                self.budget.count(&booking.source, Spent::of(booking));
            }
        }
        let switch = self.state.memory_switch;
        self.state.apply(record);
        if self.state.memory_switch != switch {
            open_memories(self);
        }
        if self.is_main() {
            status::show_status(self);
        }
    }

    /// Takes up a log: everything that follows from it is made anew, and what
    /// was begun on another branch is forgotten (Q12).
    pub(crate) fn take_up(&mut self, records: Vec<Record>, books: Ledger) {
        self.context.forget_branch();
        for record in &records {
            remember_reads(&self.context, record);
            remember_background(&self.context, record);
        }
        self.log.last = records.last().map(|record| record.id.clone());
        self.state = Projections::of(records, books, &self.config.limits);
        self.runtime.branch = Branch::default();
        self.memory.extraction.follow(self.state.reviewed.clone(), self.state.unreviewed_turns());
        open_memories(self);
    }

    /// Books a request of any source.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn book(&mut self, booking: Booking) -> Result<(), Error> {
        self.emit(|| Event::Booked(booking.clone()));
        // A fork's parent counts it when it takes it into its own books.
        match fork::parents_books(self) {
            Some(books) => books.add(booking.clone()),
            None => self.budget.spend(&booking).await,
        }
        self.append(Entry::Decision(Decision::Booked(booking))).await?;
        Ok(())
    }

    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        if let Some(events) = &self.runtime.events {
            let _ = events.send(event());
        }
    }
}

/// Files that the model has seen, and whose words results hold, are known by the
/// results of its tools.
fn remember_reads(context: &ToolContext, record: &Record) {
    let Entry::User(user) = &record.entry else { return };
    if let Some(value) = &user.tool_use_result {
        context.restore_reads(value);
    }
    for (at, block) in user.content.iter().enumerate() {
        if let BlockView::ToolResult { id, .. } = block.view()
            && let Some(whose) = user.provenance_of(at).lowest()
        {
            context.brought(&ToolUseId::new(id), whose);
        }
    }
}

/// What ran in the background when a log was left is known by the results that
/// said so.
fn remember_background(context: &ToolContext, record: &Record) {
    if let Entry::User(user) = &record.entry
        && let Some(value) = &user.tool_use_result
    {
        context.restore_background(value);
    }
}

/// Lets tools write memories without asking, or not.
fn open_memories(session: &mut Session) {
    let memories = session.world.memories.iter().flat_map(|memories| memories.places());
    let dirs: Vec<PathBuf> = match session.state.memory_switch {
        MemorySwitch::On => memories.map(|place| place.dir.clone()).collect(),
        MemorySwitch::Off => Vec::new(),
    };
    // What an agent keeps from task to task is its own, whatever the switch says.
    session
        .permit
        .set_writable(dirs.into_iter().chain(session.config.workplace.writable.clone()).collect());
}
