//! The sessions of every agent on this machine, and what they cost (PC10), kept
//! ready: a page is made of what is known, and what has changed is read beside
//! it (W6).

mod book;

pub(crate) use book::{Book, SessionRow};

use book::BookBuilder;

use everfold_agent::Agent;
use everfold_agent::bills::{bill_index, each_bill, read_bills};
use everfold_agent::observed::ObservedBodies;
use everfold_agent::session_files::{SessionFile, SessionPlaces};
use everfold_replay::Options;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How old what is known may be before it is looked again.
const FRESH: Duration = Duration::from_millis(700);
/// How long a page waits for a look; then it shows what is known.
const PATIENCE: Duration = Duration::from_millis(25);
/// How long the first page waits; then it says how far the reading is.
const FIRST_PATIENCE: Duration = Duration::from_millis(1_500);
/// From so many changed files on all are read, with the index.
const MANY: usize = 200;

/// What a page gets.
pub(crate) enum Reading {
    Ready(Arc<Book>),
    /// It is read for the first time: so many bytes of so many.
    Underway(u64, u64),
}

/// The sessions of this machine.
pub(crate) struct Ledger {
    places: SessionPlaces,
    options: Options,
    index: Option<PathBuf>,
    observed: ObservedBodies,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    book: Option<Arc<Book>>,
    looked: Option<Instant>,
    is_busy: bool,
    progress: (u64, u64),
}

impl Ledger {
    pub(crate) fn new(agent: &Agent, places: SessionPlaces) -> Self {
        let config = agent.config();
        let options = Options {
            table: config.models.table.clone(),
            limits: Arc::clone(&config.limits),
            ..Options::default()
        };
        let index = bill_index(agent.home().root());
        let observed = ObservedBodies::of_claude(agent.home().root());
        Self { places, options, index, observed, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Starts to read before anybody asks.
    pub(crate) fn read_ahead(self: &Arc<Self>) {
        self.look(&mut self.lock());
    }

    /// What is known, looked at again where that is some time ago. Blocks.
    pub(crate) fn reading(self: &Arc<Self>) -> Reading {
        let mut state = self.lock();
        if state.looked.is_none_or(|at| at.elapsed() > FRESH) {
            self.look(&mut state);
        }
        let patience = if state.book.is_some() { PATIENCE } else { FIRST_PATIENCE };
        let waited = self.changed.wait_timeout_while(state, patience, |state| state.is_busy);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &state.book {
            Some(book) => Reading::Ready(Arc::clone(book)),
            None => Reading::Underway(state.progress.0, state.progress.1),
        }
    }

    /// What is known once everything was looked at again; for who misses
    /// something that may be new. Blocks.
    pub(crate) fn fresh(self: &Arc<Self>) -> Option<Arc<Book>> {
        let mut state = self.lock();
        let begun = Instant::now();
        self.look(&mut state);
        let is_old = |state: &mut State| state.looked.is_none_or(|at| at < begun);
        let waited = self.changed.wait_timeout_while(state, FIRST_PATIENCE, is_old);
        waited.unwrap_or_else(PoisonError::into_inner).0.book.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks beside, by one thread at a time. It ends with the process; what it
    /// leaves is written whole or not at all.
    fn look(self: &Arc<Self>, state: &mut State) {
        if state.is_busy {
            return;
        }
        let ledger = Arc::clone(self);
        let work = move || {
            let known = ledger.lock().book.clone();
            let book = ledger.read(known.as_deref());
            let mut state = ledger.lock();
            if let Some(book) = book {
                state.book = Some(Arc::new(book));
            }
            (state.is_busy, state.looked) = (false, Some(Instant::now()));
            drop(state);
            ledger.changed.notify_all();
        };
        // Without a thread the next page looks again.
        state.is_busy = std::thread::Builder::new().name("ledger".to_owned()).spawn(work).is_ok();
    }

    /// The sessions as they are now; none where nothing has changed.
    fn read(&self, known: Option<&Book>) -> Option<Book> {
        // What Claude Code left of its requests is taken in on the way (W3).
        if let Err(error) = self.observed.digest(&self.options.limits) {
            tracing::info!(%error, "bodies of requests were not read");
        }
        let files = self.places.files();
        let Some(known) = known else { return Some(self.read_all(&files)) };
        let changed: Vec<SessionFile> =
            files.iter().filter(|file| !known.has(file)).cloned().collect();
        let is_gone =
            known.files() > files.len() - changed.iter().filter(|f| !known.knows(f)).count();
        if changed.is_empty() && !is_gone {
            return None;
        }
        if changed.len() > MANY {
            return Some(self.read_all(&files));
        }
        let bills = read_bills(&changed, &self.options, None, &mut |_, _| {});
        Some(known.with(&files, &changed, bills.sessions))
    }

    fn read_all(&self, files: &[SessionFile]) -> Book {
        let progress = &mut |done, all| self.lock().progress = (done, all);
        let mut builder = BookBuilder::new(files);
        // One by one: all requests of all sessions would be a lot to hold.
        let sink = &mut |bill| builder.add(bill);
        let index = self.index.as_deref();
        each_bill(files, &self.options, index, progress, sink);
        let book = builder.finish();
        // A session that was resumed in another file has its requests in both:
        // they were paid for once, in the first.
        let copies = book.copies(files);
        if copies.is_empty() {
            return book;
        }
        let bills = read_bills(&copies, &self.options, None, &mut |_, _| {});
        book.with(files, &copies, bills.sessions)
    }
}
