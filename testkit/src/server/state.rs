//! What all requests of a server share: the script, the book of requests, the
//! cache, the gates.

use super::{Error, Now, Observer, WAIT};
use crate::check::edits::Sent;
use crate::check::scopes;
use crate::check::{Endpoint, Issued, Refusal, anthropic};
use crate::received::Received;
use crate::scenario::{Reply, Scenario, ScenarioStep, ServerRules};
use axum::http::HeaderMap;
use bytes::Bytes;
use everfold_kernel::ports::Headroom;
use everfold_kernel::{ModelId, ModelTable, Tokens, Usage};
use everfold_prefix::sim::{SimConfig, SimError, SimPiece, Simulator, hash};
use everfold_wire::headroom;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Who decides on the answers.
pub(super) enum Brain {
    Script(Box<Mutex<Script>>),
    Handler(Box<dyn Fn(&Received) -> Reply + Send + Sync>),
}

impl Brain {
    pub(super) fn script(script: Script) -> Self {
        Self::Script(Box::new(Mutex::new(script)))
    }
}

/// A scenario and how far it got.
pub(super) struct Script {
    steps: Vec<Option<ScenarioStep>>,
    default: Option<Reply>,
}

impl Script {
    pub(super) fn new(scenario: Scenario) -> Self {
        Self { steps: scenario.steps.into_iter().map(Some).collect(), default: scenario.default }
    }

    fn next(&mut self, request: &Received, nth: u64) -> Reply {
        let fits = |slot: &&mut Option<ScenarioStep>| {
            slot.as_ref().is_some_and(|step| step.when.holds(request, nth))
        };
        let Some(slot) = self.steps.iter_mut().find(fits) else {
            let default = self.default.clone();
            return default.unwrap_or_else(|| Reply::echo(request));
        };
        match slot {
            Some(step) if step.repeat => step.reply.clone(),
            other => other.take().map(|step| step.reply).unwrap_or_default(),
        }
    }
}

/// The state of a server.
pub(crate) struct Shared {
    pub(super) rules: ServerRules,
    pub(super) models: ModelTable,
    brain: Brain,
    now: Now,
    book: Mutex<Book>,
    released: watch::Sender<BTreeSet<String>>,
    arrived: watch::Sender<usize>,
    observer: Option<Observer>,
}

struct Book {
    received: Vec<Received>,
    cache: Simulator,
    issued: Issued,
    edits: Sent,
    answers: u64,
    headroom: Option<Headroom>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(
        rules: ServerRules,
        brain: Brain,
        now: Now,
        observer: Option<Observer>,
    ) -> Self {
        Self {
            rules,
            models: ModelTable::builtin(),
            brain,
            now,
            book: Mutex::new(Book {
                received: Vec::new(),
                cache: Simulator::new(SimConfig::default()),
                issued: Issued::default(),
                edits: Sent::default(),
                answers: 0,
                headroom: None,
            }),
            released: watch::Sender::new(BTreeSet::new()),
            arrived: watch::Sender::new(0),
            observer,
        }
    }

    /// Writes a request down as it arrives.
    pub(super) fn receive(
        &self,
        method: &str,
        path: &str,
        headers: &HeaderMap,
        raw: Bytes,
    ) -> Received {
        let headers = headers
            .iter()
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect();
        let body = serde_json::from_slice(&raw).unwrap_or(Value::Null);
        let mut book = self.book();
        let received = Received {
            index: book.received.len(),
            method: method.to_owned(),
            path: path.to_owned(),
            headers,
            raw,
            body: Arc::new(body),
            at: (self.now)(),
            usage: None,
            cost: None,
            refused: None,
        };
        book.received.push(received.clone());
        self.arrived.send_replace(book.received.len());
        received
    }

    /// Checks a request of the Anthropic API against all that was issued.
    pub(super) fn check(&self, request: &Received, endpoint: Endpoint) -> Result<(), Refusal> {
        let book = self.book();
        anthropic(request, endpoint, &self.models, &self.rules, &book.issued)?;
        book.edits.check(&request.body)
    }

    /// The next answer, and its number, from 1.
    pub(super) fn decide(&self, request: &Received) -> (Reply, u64) {
        let number = {
            let mut book = self.book();
            book.answers += 1;
            book.answers
        };
        let reply = match &self.brain {
            Brain::Script(script) => lock(script).next(request, number),
            Brain::Handler(handler) => handler(request),
        };
        (reply, number)
    }

    /// Sends a prompt through the cache.
    pub(super) fn cached(
        &self,
        request: &Received,
        pieces: &[SimPiece],
    ) -> Result<Usage, SimError> {
        let own = self.rules.cache_scopes.then(|| apart(request, pieces));
        let pieces = own.as_deref().unwrap_or(pieces);
        let minimum = self.rules.cache_minimum.unwrap_or_else(|| {
            let model = ModelId::new(request.model());
            self.models.spec(&model).cache_minimum
        });
        let cache = &mut self.book().cache;
        cache.request(request.at, request.model(), Tokens(minimum), pieces)
    }

    pub(super) fn lose_cache(&self) {
        self.book().cache = Simulator::new(SimConfig::default());
    }

    /// Takes what an answer's headers say of the rate limit.
    pub(super) fn note_headers(&self, headers: &BTreeMap<String, String>) {
        let said = headroom(|name| headers.get(name).cloned(), (self.now)());
        if said.is_some() {
            self.book().headroom = said;
        }
    }

    pub(super) fn headroom(&self) -> Option<Headroom> {
        self.book().headroom
    }

    /// Whether the markers of a prompt are valid; nothing is cached.
    pub(super) fn markers(&self, pieces: &[SimPiece]) -> Result<(), SimError> {
        self.book().cache.check(pieces)
    }

    /// Writes down what an answer was and cost.
    pub(super) fn answered(&self, request: &Received, blocks: &[Value], usage: Usage) {
        let cost = self.models.spec(&ModelId::new(request.model())).cost(&usage);
        let mut book = self.book();
        book.issued.remember(blocks);
        if self.rules.cache_edits {
            book.edits.remember(&request.body);
        }
        self.update(book, request.index, |received| {
            received.usage = Some(usage);
            received.cost = cost;
        });
    }

    /// Writes down that a request was refused.
    pub(super) fn refused(&self, request: &Received, refusal: &Refusal) {
        let reason = (refusal.status, refusal.message.clone());
        self.update(self.book(), request.index, |received| {
            received.refused = Some(reason);
        });
    }

    fn update(
        &self,
        mut book: MutexGuard<'_, Book>,
        index: usize,
        change: impl FnOnce(&mut Received),
    ) {
        let updated = book.received.get_mut(index).map(|received| {
            change(received);
            received.clone()
        });
        drop(book);
        if let (Some(observer), Some(received)) = (&self.observer, updated) {
            observer(&received);
        }
    }

    pub(super) fn requests(&self) -> Vec<Received> {
        self.book().received.clone()
    }

    pub(super) fn requests_of(&self, source: &str) -> Vec<Received> {
        let mut requests = self.requests();
        requests.retain(|request| request.source() == source);
        requests
    }

    /// Waits until so many requests arrived, as long as a wait lasts at most.
    pub(super) async fn wait_for(&self, count: usize) -> Result<Vec<Received>, Error> {
        let mut arrived = self.arrived.subscribe();
        let enough = arrived.wait_for(|arrived| *arrived >= count);
        // Too few by then are told below.
        drop(tokio::time::timeout(WAIT, enough).await);
        self.at_least(count)
    }

    pub(super) fn at_least(&self, wanted: usize) -> Result<Vec<Received>, Error> {
        let requests = self.requests();
        if requests.len() >= wanted {
            return Ok(requests);
        }
        let last = requests.iter().rev().take(3);
        Err(Error::TooFew {
            wanted,
            arrived: requests.len(),
            last: last.map(|request| request.path.clone()).collect(),
        })
    }

    pub(super) fn unused_steps(&self) -> usize {
        match &self.brain {
            Brain::Script(script) => {
                let steps = &lock(script).steps;
                steps.iter().flatten().filter(|step| !step.repeat).count()
            }
            Brain::Handler(_) => 0,
        }
    }

    pub(super) fn arrived(&self) -> usize {
        *self.arrived.borrow()
    }

    pub(super) fn release(&self, name: &str) {
        self.released.send_modify(|released| {
            released.insert(name.to_owned());
        });
    }

    pub(super) fn gates(&self) -> watch::Receiver<BTreeSet<String>> {
        self.released.subscribe()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        lock(&self.book)
    }
}

/// A prompt whose prefix is one person's own from where it is not for everybody
/// on: what differs there differs in all that follows.
fn apart(request: &Received, pieces: &[SimPiece]) -> Vec<SimPiece> {
    let key = request.header("x-api-key").or(request.header("authorization")).unwrap_or("");
    let mut own = pieces.to_vec();
    if let Some(piece) = own.get_mut(scopes::shared(&request.body)) {
        piece.content = hash(&[piece.content.as_slice(), key.as_bytes()].concat());
    }
    own
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
