//! The agents of a session: who there is, what waits for them, and how they
//! are started and end (L7.4, L7.5).
//!
//! An agent is a session of its own with its own log, window and permissions.
//! All of them are tasks of the parent's [`Background`], in the foreground too:
//! they are seen, stopped and drained in one place, and none of them runs
//! inside of the parent's turn, so neither can wait for the other's lock.

use crate::background::Background;
use crate::config::Config;
use crate::permit::Permit;
use crate::session::effects::SideBookings;
use crate::session::file_history::FileHistory;
use crate::session::queue::Queue;
use crate::session::toolbox::Toolbox;
use crate::tools::{MAIN, ToolContext};
use everfold_kernel::ports::{AgentName, Letter, LetterDraft, World};
use everfold_kernel::{Attachment, LetterId, ModelId, RecordId, SessionId, Timestamp};
use everfold_mail::{Inbox, Roster};
use everfold_prefix::Fold;
use everfold_prefix::breaks::Detector;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The agents of a session. Clones are the same agents.
#[derive(Clone)]
pub struct Agents(pub(crate) Arc<Hub>);

pub(crate) struct Hub {
    pub(crate) seat: Seat,
    pub(crate) state: Mutex<AgentState>,
    /// Something waits for the main thread.
    pub(crate) news: Notify,
}

/// What every agent of a session is given.
pub(crate) struct Seat {
    pub(crate) session: SessionId,
    pub(crate) world: World,
    pub(crate) config: Arc<Config>,
    pub(crate) background: Background,
    pub(crate) books: SideBookings,
    pub(crate) history: FileHistory,
}

pub(crate) struct AgentState {
    /// What agents are started with, flags and limits as they are now.
    pub(crate) config: Arc<Config>,
    pub(crate) roster: Arc<Roster>,
    /// Kinds that the tool's description does not have, as lines.
    pub(crate) late: Vec<String>,
    /// Those that run, by their ids.
    pub(crate) members: BTreeMap<String, Member>,
    /// What waits for the main thread.
    pub(crate) main: Inbox<Letter>,
    /// Ends of background agents that nobody was told of.
    pub(crate) ended: Vec<Attachment>,
    /// The parent as it was when it made the calls that run now.
    pub(crate) parent: Option<Arc<Parent>>,
    pub(crate) letters: u64,
    /// Who said that it ends.
    pub(crate) leaving: BTreeSet<String>,
}

/// An agent that runs.
pub(crate) struct Member {
    pub(crate) name: Option<AgentName>,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) inbox: SharedInbox,
    /// What the person says to it.
    pub(crate) queue: Queue,
}

/// What waits for an agent. Its session and its hub share it.
pub(crate) type SharedInbox = Arc<Mutex<Inbox<Letter>>>;

/// What an agent takes over from its parent.
pub(crate) struct Parent {
    /// The conversation, where a fork was asked for.
    pub(crate) fold: Option<Fold>,
    pub(crate) last: Option<RecordId>,
    pub(crate) attached: BTreeMap<RecordId, Value>,
    pub(crate) detector: Detector,
    pub(crate) context: Arc<ToolContext>,
    pub(crate) permit: Permit,
    pub(crate) toolbox: Toolbox,
    pub(crate) model: ModelId,
}

/// Whose a tool context or a session is, among the agents.
#[derive(Clone)]
pub struct Crew {
    pub(crate) agents: Agents,
    pub(crate) me: Me,
}

#[derive(Clone)]
pub(crate) enum Me {
    /// The conversation with the person.
    Main,
    Agent {
        id: String,
        /// What it is called.
        label: String,
        /// What waits for it.
        inbox: SharedInbox,
    },
}

impl Agents {
    pub(crate) fn new(seat: Seat) -> Self {
        let state = AgentState {
            config: Arc::clone(&seat.config),
            roster: Arc::clone(&seat.config.agents.roster),
            late: Vec::new(),
            members: BTreeMap::new(),
            main: Inbox::default(),
            ended: Vec::new(),
            parent: None,
            letters: 0,
            leaving: BTreeSet::new(),
        };
        Self(Arc::new(Hub { seat, state: Mutex::new(state), news: Notify::new() }))
    }

    pub(crate) fn seat(&self) -> &Seat {
        &self.0.seat
    }

    /// What agents are started with now.
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.state().config)
    }

    /// Flags and limits have changed, for agents that start from here on.
    pub(crate) fn follow(&self, config: Arc<Config>) {
        self.state().config = config;
    }

    /// The kinds that there are.
    #[must_use]
    pub fn roster(&self) -> Arc<Roster> {
        Arc::clone(&self.state().roster)
    }

    /// Those that run: id, kind, what for.
    #[must_use]
    pub fn running(&self) -> Vec<(String, String, String)> {
        let state = self.state();
        let row = |(id, member): (&String, &Member)| {
            (id.clone(), member.kind.clone(), member.description.clone())
        };
        state.members.iter().map(row).collect()
    }

    /// Says something to an agent as the person. False where none of this id
    /// or name runs.
    #[must_use]
    pub fn say(&self, to: &str, text: &str) -> bool {
        let state = self.state();
        let Some(member) = state.find(to) else { return false };
        member.queue.push(text);
        true
    }

    /// Ends an agent that runs, by its id or name.
    #[must_use]
    pub fn stop(&self, who: &str) -> bool {
        let id = {
            let state = self.state();
            let found = state.members.iter().find(|(id, member)| member.is(id, who));
            found.map(|(id, _)| id.clone())
        };
        id.is_some_and(|id| self.seat().background.stop(&id))
    }

    /// Puts something that the main thread is to be told at its next boundary,
    /// and that wakes it.
    pub(crate) fn tell_main(&self, told: Attachment) {
        self.state().ended.push(told);
        self.0.news.notify_one();
    }

    /// Somebody said that it ends.
    pub(crate) fn leaves(&self, me: &Me) {
        let who = match me {
            Me::Main => MAIN.to_owned(),
            Me::Agent { id, .. } => id.clone(),
        };
        self.state().leaving.insert(who);
    }

    pub(crate) fn is_leaving(&self, who: &str) -> bool {
        self.state().leaving.contains(who)
    }

    pub(crate) fn brief(&self, parent: Parent) {
        self.state().parent = Some(Arc::new(parent));
    }

    pub(crate) fn parent(&self) -> Option<Arc<Parent>> {
        self.state().parent.clone()
    }

    /// Puts a letter into the inbox of whoever is in this process. None where
    /// nobody of this name is.
    pub(crate) fn post(&self, from: &str, to: &str, draft: &LetterDraft) -> Option<String> {
        let mut state = self.state();
        let letter = self.letter(&mut state, from, draft);
        if to == MAIN {
            let put = state.main.put(letter).is_ok();
            self.0.news.notify_one();
            return put.then(|| MAIN.to_owned());
        }
        let (id, member) = state.members.iter().find(|(id, member)| member.is(id, to))?;
        let label = member.label(id);
        locked(&member.inbox).put(letter).is_ok().then_some(label)
    }

    /// Puts a letter into every inbox but the sender's, and says whose.
    pub(crate) fn post_all(&self, me: &Me, draft: &LetterDraft) -> Vec<String> {
        let others: Vec<String> = {
            let state = self.state();
            let mine = match me {
                Me::Main => None,
                Me::Agent { id, .. } => Some(id),
            };
            state.members.keys().filter(|id| Some(*id) != mine).cloned().collect()
        };
        let main = matches!(me, Me::Agent { .. }).then(|| MAIN.to_owned());
        let to = main.into_iter().chain(others);
        to.filter_map(|to| self.post(&me.label(), &to, draft)).collect()
    }

    /// Who can be written to in this process.
    pub(crate) fn known(&self) -> Vec<String> {
        self.state().members.iter().map(|(id, member)| member.label(id)).collect()
    }

    fn letter(&self, state: &mut AgentState, from: &str, draft: &LetterDraft) -> Letter {
        state.letters += 1;
        let clock = &self.seat().world.clock;
        Letter {
            id: LetterId::from(clock.fresh_uuid()),
            from: from.to_owned(),
            seq: state.letters,
            sent: clock.now(),
            summary: draft.summary.clone(),
            body: draft.body.clone(),
            provenance: draft.provenance,
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, AgentState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AgentState {
    pub(crate) fn find(&self, who: &str) -> Option<&Member> {
        self.members.iter().find(|(id, member)| member.is(id, who)).map(|(_, member)| member)
    }
}

impl Member {
    fn is(&self, id: &str, who: &str) -> bool {
        id == who || self.name.as_ref().is_some_and(|name| name.as_str() == who)
    }

    fn label(&self, id: &str) -> String {
        self.name.as_ref().map_or_else(|| id.to_owned(), ToString::to_string)
    }
}

impl Me {
    /// What one is called in letters.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Main => MAIN.to_owned(),
            Self::Agent { label, .. } => label.clone(),
        }
    }
}

pub(crate) fn locked(inbox: &SharedInbox) -> MutexGuard<'_, Inbox<Letter>> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An agent's conversation as of its last answer, for whoever watches it.
#[derive(Clone, Default)]
pub(crate) struct Peek(Arc<Mutex<Option<(Fold, Timestamp)>>>);

impl Peek {
    pub(crate) fn show(&self, fold: &Fold, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((fold.clone(), now));
    }

    pub(crate) fn look(&self) -> Option<(Fold, Timestamp)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
