//! One conversation: its log, and the fold of it.
//!
//! The log on disk is the truth. A record is written there first and taken
//! into the fold only then, so that whatever ends the process, a resumed
//! session is the one that was running.

use crate::agents::{Crew, Peek};
use crate::ask::SideBookings;
use crate::background::Background;
use crate::budget::Budget;
use crate::config::{Config, ModelChoice};
use crate::event::Event;
use crate::file_history::FileHistory;
use crate::fork::Thread;
use crate::hooking::Hooking;
use crate::memory_switch::MemorySwitch;
use crate::noting::{KEPT_SEGMENT, Noting};
use crate::permit::{Permit, RuleError};
use crate::queue::Queue;
use crate::recalling::Prefetch;
use crate::remembering::Remembering;
use crate::serving::loaded_tools;
use crate::skilled::LENT;
use crate::status::Live;
use crate::toolbox::Toolbox;
use crate::tools::ToolContext;
use crate::world::World;
use everfold_compact::collapse::Staged;
use everfold_kernel::ports::{Spent, TranscriptError};
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    Attachment, Class, Classify, Decision, Entry, Flag, Ledger, ModelId, Params, Prelude, Record,
    RecordId, SessionId, Timestamp,
};
use everfold_prefix::breaks::Detector;
use everfold_prefix::{Fold, system};
use everfold_rules::{Lazy, Touch};
use everfold_transcript::{Envelope, encode};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

mod looking;
mod parts;
mod resume;

pub use resume::Resumed;

/// Why a session could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The log.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// The system prompt.
    #[error(transparent)]
    System(#[from] system::Error),
    /// A session of this name is there already.
    #[error("session {0} exists already; resume it with --resume {0}, or choose another id")]
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

/// Where events go. A watcher that went away is no reason to stop.
pub type Events = mpsc::UnboundedSender<Event>;

/// A conversation.
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) world: World,
    pub(crate) config: Arc<Config>,
    pub(crate) toolbox: Toolbox,
    pub(crate) context: Arc<ToolContext>,
    pub(crate) fold: Fold,
    pub(crate) envelope: Envelope,
    pub(crate) last: Option<RecordId>,
    ledger: Ledger,
    events: Option<Events>,
    pub(crate) permit: Permit,
    broken_rules: Vec<RuleError>,
    pub(crate) queue: Queue,
    pub(crate) side_bookings: SideBookings,
    pub(crate) budget: Budget,
    /// Watches the prompt cache.
    pub(crate) detector: Detector,
    /// When a fork last read the prefix.
    pub(crate) last_fork: Option<Timestamp>,
    /// The data of attachments in the log, by their records.
    pub(crate) attached: BTreeMap<RecordId, Value>,
    /// Whether it uses memory.
    pub(crate) memory_switch: MemorySwitch,
    /// The search for memories that runs beside the conversation.
    pub(crate) prefetch: Option<Prefetch>,
    /// Instruction files that may still load.
    pub(crate) lazy: Option<Lazy>,
    /// Files that tools touched since the last boundary.
    pub(crate) touched: Vec<(PathBuf, Touch)>,
    /// Spans that have a summary and are not shown by it yet (L4.13).
    pub(crate) staged: Vec<Staged>,
    /// What the person chose, as the log has it.
    pub(crate) choices: Vec<Attachment>,
    /// Parameters that were chosen before there is a prelude.
    pub(crate) first_params: Option<Box<Params>>,
    /// The model to go back to with the person's next words, where a skill
    /// brought another.
    pub(crate) lent: Option<ModelId>,
    /// What can be seen of it while a turn has it.
    pub(crate) live: Live,
    /// Texts of files that the next message names.
    pub(crate) mentioned: Vec<Attachment>,
    /// What the person was told once already.
    pub(crate) said: BTreeSet<&'static str>,
    /// What hooks left for later.
    pub(crate) hooking: Hooking,
    /// Whose conversation it is.
    pub(crate) thread: Thread,
    /// The books of the session that this one was forked from.
    pub(crate) up: Option<SideBookings>,
    /// What goes on beside the conversation.
    pub(crate) background: Background,
    /// Who it is among agents.
    pub(crate) crew: Crew,
    /// Where it shows its conversation to whoever watches it.
    pub(crate) peek: Option<Peek>,
    /// What it knows of its memories.
    pub(crate) remembering: Remembering,
    /// When sessions were last counted for a dream (L6.1).
    pub(crate) counted_sessions: Option<Timestamp>,
    /// The running notes.
    pub(crate) noting: Noting,
}

impl Session {
    /// A new conversation. Nothing is written before its first turn.
    #[must_use]
    pub fn new(id: SessionId, world: World, config: Config, toolbox: Toolbox) -> Self {
        let config = Arc::new(config);
        let (mut world, remembering) = Remembering::around(world, &id);
        if !config.flags.is_on(Flag::PastSearch) {
            world.past = None;
        }
        let side_bookings = SideBookings::default();
        let background = Background::new(Arc::clone(&world.clock));
        let history = FileHistory::new(&id, &world, &config, &background);
        let crew = parts::crew(&id, &world, &config, &background, &side_bookings, &history);
        let context = parts::context(&id, &world, &config, &crew, &side_bookings);
        let context = Arc::new(context);
        let envelope = Envelope {
            git_branch: config.git_branch.clone(),
            entrypoint: config.entrypoint.clone(),
            ..Envelope::new(id.clone(), &config.surroundings.cwd, &config.version)
        };
        let places = parts::places(&id, &world, &config);
        let (permit, broken_rules) =
            Permit::new(config.permission_mode, &config.permissions, places);
        Self {
            permit,
            broken_rules,
            queue: Queue::default(),
            side_bookings,
            budget: Budget::new(config.budget, &world),
            detector: Detector::new(config.limits.breaks.clone()),
            last_fork: None,
            attached: BTreeMap::new(),
            memory_switch: MemorySwitch::On,
            prefetch: None,
            lazy: None,
            touched: Vec::new(),
            staged: Vec::new(),
            choices: Vec::new(),
            first_params: None,
            lent: None,
            live: Live::default(),
            mentioned: Vec::new(),
            said: BTreeSet::new(),
            hooking: Hooking::new(),
            thread: Thread::Main,
            up: None,
            background,
            crew,
            peek: None,
            remembering,
            counted_sessions: None,
            noting: Noting::default(),
            id,
            world,
            toolbox,
            context,
            fold: Fold::new(Arc::clone(&config.limits)),
            config,
            envelope,
            last: None,
            ledger: Ledger::default(),
            events: None,
        }
    }

    /// Changes the model for the rest of the conversation: a declared break.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn switch_model(&mut self, model: &ModelId) -> Result<(), Error> {
        let params = self.params_for(model);
        let Some(prelude) = self.fold.prelude().cloned() else {
            self.first_params = None;
            let mut config = Config::clone(&self.config);
            config.model = model.clone();
            config.model_choice = ModelChoice::Named;
            self.config = Arc::new(config);
            return Ok(());
        };
        let prelude = self.config.managed(Prelude { params, ..prelude });
        self.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
        Ok(())
    }

    /// Writes a record to the log, then takes it into the conversation.
    ///
    /// # Errors
    /// If the log cannot be written; the conversation is unchanged then.
    pub async fn append(&mut self, entry: Entry) -> Result<RecordId, Error> {
        let id = RecordId::from(self.world.clock.fresh_uuid());
        self.append_as(id, entry).await
    }

    /// Writes several records. A boundary names the record that follows it,
    /// by which other programs find its summary, and the one before it, from
    /// which decisions that outlive it are found: a pin may be newer than the
    /// last message.
    pub(crate) async fn append_all(&mut self, entries: Vec<Entry>) -> Result<(), Error> {
        let mut next = None;
        for mut entry in entries {
            let id = next.take().unwrap_or_else(|| self.world.clock.fresh_uuid());
            if let Entry::Boundary(boundary) = &mut entry {
                let summary = self.world.clock.fresh_uuid();
                let key = everfold_transcript::line::ANCHOR;
                boundary.metadata.insert(key.into(), summary.clone().into());
                let segment = boundary.metadata.get_mut(KEPT_SEGMENT);
                if let Some(segment) = segment.and_then(Value::as_object_mut) {
                    segment.insert(key.into(), summary.clone().into());
                }
                next = Some(summary);
                boundary.last_before = self.last.clone();
            }
            self.append_as(id.into(), entry).await?;
        }
        Ok(())
    }

    async fn append_as(&mut self, id: RecordId, entry: Entry) -> Result<RecordId, Error> {
        let parent = match &entry {
            Entry::Boundary(_) => None,
            _ => self.last.clone(),
        };
        let record = Record { id: id.clone(), parent, at: self.world.clock.now(), entry };
        let line = encode(&record, &self.envelope);
        self.world.transcripts.append(&self.id, line.as_bytes()).await?;
        self.emit(|| Event::Recorded(Box::new(record.clone())));
        self.take(record);
        Ok(id)
    }

    /// Books a request of any source.
    ///
    /// # Errors
    /// If the log cannot be written.
    pub async fn book(&mut self, booking: Booking) -> Result<(), Error> {
        self.emit(|| Event::Booked(booking.clone()));
        // A fork's parent counts it when it takes it into its own books.
        match self.parents_books() {
            Some(books) => books.add(booking.clone()),
            None => self.budget.spend(&booking).await,
        }
        self.append(Entry::Decision(Decision::Booked(booking))).await?;
        Ok(())
    }

    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        if let Some(events) = &self.events {
            let _ = events.send(event());
        }
    }

    /// Makes sure that the log has a beginning: the prelude, and what stands
    /// at the head of the first message.
    pub(crate) async fn ensure_beginning(&mut self) -> Result<(), Error> {
        let begun = self.fold.prelude().is_some();
        if !begun {
            let prelude = self.compose_prelude()?;
            self.append(Entry::Decision(Decision::Prelude(Box::new(prelude)))).await?;
        }
        if self.keeps_itself() && (!begun || self.fold.messages().is_empty()) {
            self.attach_standing().await?;
            self.attach_choices().await?;
        }
        Ok(())
    }

    fn compose_prelude(&self) -> Result<Prelude, Error> {
        self.compose_prelude_for(&self.config.model)
    }

    pub(crate) fn compose_prelude_for(&self, model: &ModelId) -> Result<Prelude, Error> {
        let config = &self.config;
        let surroundings = system::Surroundings {
            model: model.to_string(),
            date: self.world.clock.today().to_string(),
            memory: self.memory_surroundings(),
            ..config.surroundings.clone()
        };
        Ok(config.managed(Prelude {
            system: system::compose(&surroundings)?,
            tools: self.definitions(),
            params: self.params_for(model),
        }))
    }

    /// The tools of the list, the provider's own, and those of servers that
    /// want to be in it, last.
    fn definitions(&self) -> Vec<Value> {
        let mut tools = self.toolbox.definitions();
        tools.extend(self.web_search());
        tools.extend(self.world.servers.iter().flat_map(|own| loaded_tools(&**own)));
        tools
    }

    /// The fold keeps the bytes of an attachment; what programs want to know
    /// of it is kept here.
    fn keep_data(&mut self, record: &Record) {
        if let Entry::Decision(Decision::Prelude(_)) = &record.entry {
            self.lent = None;
        }
        if let Entry::Attachment(attachment) = &record.entry
            && !attachment.data.is_null()
        {
            if let Some(own) = attachment.data.get(LENT).and_then(Value::as_str) {
                self.lent = Some(ModelId::new(own));
            }
            self.attached.insert(record.id.clone(), attachment.data.clone());
            self.keep_choice(attachment);
            self.follow_switch(&attachment.kind, &attachment.data);
        }
    }

    fn take(&mut self, record: Record) {
        self.last = Some(record.id.clone());
        self.keep_data(&record);
        if let Entry::Decision(Decision::Booked(booking)) = &record.entry {
            self.ledger.book(booking);
            self.note_hit_rate(booking);
            if self.is_main() {
                self.budget.count(&booking.source, Spent::of(booking));
            }
        }
        self.fold.push(record);
        if self.is_main() {
            self.show_status();
        }
    }
}
