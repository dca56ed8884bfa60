//! What the page is about, and what it keeps between two looks.

use crate::error::Error;
use crate::ledger::Ledger;
use crate::token::Token;
use crate::transcript::Transcripts;
use everfold_agent::Agent;
use everfold_agent::memory_dirs::MemoryDirs;
use everfold_agent::session_files::SessionPlaces;
use everfold_memory_service::Service;
use everfold_memory_store::{By, Store, StoreScope};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Whether the page can change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAccess {
    /// Memories can be edited, and the inbox decided.
    Full,
    /// There are no buttons.
    ReadOnly,
}

/// Where the page looks.
pub struct PageSources {
    /// Settings, prices and our own sessions.
    pub agent: Agent,
    /// The memories of the working directory and of the person.
    pub memories: MemoryDirs,
    /// The sessions of every agent.
    pub places: SessionPlaces,
}

/// What lets people in.
pub(crate) struct Gate {
    port: u16,
    /// The word in the address.
    pub(crate) door: Token,
    /// The word that it becomes.
    pub(crate) cookie: Token,
    /// The word of our own forms.
    pub(crate) form: Token,
}

impl Gate {
    /// The names under which we are called.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = String> {
        let port = self.port;
        ["127.0.0.1", "localhost"].into_iter().map(move |name| format!("{name}:{port}"))
    }

    /// The origins of our own pages.
    pub(crate) fn origins(&self) -> impl Iterator<Item = String> {
        self.hosts().map(|host| format!("http://{host}"))
    }

    /// Cookies do not know of ports; two pages on one machine must not share one.
    pub(crate) fn cookie_name(&self) -> String {
        format!("everfold_{}", self.port)
    }
}

/// All that handlers work with.
pub(crate) struct Site {
    pub(crate) gate: Gate,
    access: PageAccess,
    pub(crate) agent: Agent,
    pub(crate) memories: MemoryDirs,
    /// Held, so that cards of memories are read once.
    pub(crate) service: Service,
    stores: Mutex<BTreeMap<&'static str, Arc<Store>>>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) transcripts: Transcripts,
}

impl Site {
    pub(crate) fn new(sources: PageSources, access: PageAccess, port: u16) -> Result<Self, Error> {
        let PageSources { agent, memories, places } = sources;
        let gate = Gate { port, door: Token::new()?, cookie: Token::new()?, form: Token::new()? };
        Ok(Self {
            gate,
            access,
            service: memories.service(),
            ledger: Arc::new(Ledger::new(&agent, places)),
            transcripts: Transcripts::new(&agent),
            agent,
            memories,
            stores: Mutex::default(),
        })
    }

    pub(crate) fn access(&self) -> PageAccess {
        self.access
    }

    /// Whether there are buttons.
    pub(crate) fn can_change(&self) -> bool {
        self.access == PageAccess::Full
    }

    /// Now, where the person is.
    pub(crate) fn now(&self) -> Zoned {
        let clock = self.memories.clock();
        clock.now().to_zoned(clock.zone())
    }

    pub(crate) fn zone(&self) -> TimeZone {
        self.memories.clock().zone()
    }

    pub(crate) fn at(&self) -> Timestamp {
        self.memories.clock().now()
    }

    /// The person, on the page.
    pub(crate) fn person(&self, reason: &str) -> By {
        By::person(reason, self.at())
    }

    /// The memories of a scope, if there are any. Looking makes no directory.
    pub(crate) fn store(&self, scope: StoreScope) -> Result<Option<Arc<Store>>, Error> {
        let name = scope_name(scope);
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.get(name).filter(|store| store.dir().is_dir()) {
            return Ok(Some(Arc::clone(store)));
        }
        stores.remove(name);
        let Some(store) = self.memories.existing(scope)? else { return Ok(None) };
        let store = Arc::new(store);
        stores.insert(name, Arc::clone(&store));
        Ok(Some(store))
    }

    /// The same by the word in an address.
    pub(crate) fn named_store(&self, scope: &str) -> Result<(StoreScope, Arc<Store>), Error> {
        let scope = named_scope(scope)?;
        let store = self.store(scope)?.ok_or_else(|| Error::none("memory"))?;
        Ok((scope, store))
    }

    pub(crate) fn stores(&self) -> Result<Vec<(StoreScope, Arc<Store>)>, Error> {
        let mut found = Vec::new();
        for scope in SCOPES {
            found.extend(self.store(scope)?.map(|store| (scope, store)));
        }
        Ok(found)
    }

    /// Does what blocks beside the server.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        tokio::task::spawn_blocking(move || work(&self)).await.unwrap_or(Err(Error::Lost))
    }
}

pub(crate) const SCOPES: [StoreScope; 3] =
    [StoreScope::Project, StoreScope::Global, StoreScope::Team];

/// The word for a scope.
pub(crate) fn scope_name(scope: StoreScope) -> &'static str {
    match scope {
        StoreScope::Project => "project",
        StoreScope::Global => "global",
        StoreScope::Team => "team",
    }
}

/// The scope of a word.
pub(crate) fn named_scope(word: &str) -> Result<StoreScope, Error> {
    let found = SCOPES.into_iter().find(|scope| scope_name(*scope) == word);
    found.ok_or_else(|| Error::none("such place for memories"))
}
