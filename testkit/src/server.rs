//! The server: binding, waiting for requests, time, gates, and its end.
//!
//! It runs on a thread and runtime of its own, so that it works from any test
//! and a test that blocks does not block it. Dropping it ends everything,
//! stalled streams included.

mod answer;
mod anthropic;
mod chat;
mod delivery;
mod fake_model;
mod local;
mod prompt;
mod state;

pub use fake_model::FakeModel;

use crate::clock::FakeClock;
use crate::received::Received;
use crate::scenario::{Reply, Scenario, ServerRules};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::routing::{get, post};
use everfold_kernel::ports::Clock;
use everfold_kernel::{Class, Classify};
use jiff::Timestamp;
use state::{Brain, Script, Shared};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long a wait for requests lasts at most.
const WAIT: Duration = Duration::from_secs(10);

/// How often a blocking wait looks.
const POLL: Duration = Duration::from_millis(2);

/// Why the server failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No port on loopback.
    #[error("port {port} on loopback could not be bound; choose another")]
    Bind {
        /// Which port; 0 is any.
        port: u16,
        source: std::io::Error,
    },
    /// No runtime or thread.
    #[error("the server's thread could not be started")]
    Start { source: std::io::Error },
    /// Requests did not arrive in time.
    #[error("{arrived} of {wanted} requests arrived in time; the last ones were {last:?}")]
    TooFew {
        /// How many were waited for.
        wanted: usize,
        arrived: usize,
        /// The paths of the last ones.
        last: Vec<String>,
    },
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Stop
    }
}

/// Called with every request once it is answered or refused.
type Observer = Box<dyn Fn(&Received) + Send + Sync>;

type Now = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// A model server on loopback.
#[derive(Debug)]
pub struct TestServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    clock: FakeClock,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    /// Starts a server that follows a scenario.
    ///
    /// # Errors
    ///
    /// No port or thread is to be had.
    pub fn start(scenario: Scenario) -> Result<Self, Error> {
        let rules = scenario.server.clone();
        let clock = FakeClock::default();
        let brain = Brain::script(Script::new(scenario));
        let shared = Shared::new(rules, brain, by(&clock), None);
        Self::launch(shared, clock, 0)
    }

    /// Starts a server that asks a function for every answer.
    ///
    /// # Errors
    ///
    /// No port or thread is to be had.
    pub fn with_handler(
        rules: ServerRules,
        handler: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let clock = FakeClock::default();
        let brain = Brain::Handler(Box::new(handler));
        let shared = Shared::new(rules, brain, by(&clock), None);
        Self::launch(shared, clock, 0)
    }

    /// Starts a server for a person: on a port of choice (0 is any), by the
    /// time that `now` tells, with `observer` told of every request.
    /// [`TestServer::advance`] does not move that time.
    ///
    /// # Errors
    ///
    /// The port is taken, or there is no thread.
    pub fn serve(
        scenario: Scenario,
        port: u16,
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        observer: impl Fn(&Received) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let rules = scenario.server.clone();
        let brain = Brain::script(Script::new(scenario));
        let shared = Shared::new(rules, brain, Box::new(now), Some(Box::new(observer)));
        Self::launch(shared, FakeClock::default(), port)
    }

    fn launch(shared: Shared, clock: FakeClock, port: u16) -> Result<Self, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .map_err(|source| Error::Bind { port, source })?;
        let start = |source| Error::Start { source };
        listener.set_nonblocking(true).map_err(start)?;
        let address = listener.local_addr().map_err(start)?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(start)?;
        let shared = Arc::new(shared);
        let router = router(Arc::clone(&shared));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("testkit-server".into())
            .spawn(move || {
                runtime.block_on(async move {
                    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else {
                        return;
                    };
                    // Whichever ends first: dropping the runtime ends the rest.
                    tokio::select! {
                        _ = axum::serve(listener, router) => {}
                        _ = stopped => {}
                    }
                });
            })
            .map_err(start)?;
        Ok(Self { address, shared, clock, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it is, such as `http://127.0.0.1:40123`. An OpenAI client adds
    /// `/v1` to it.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.shared.requests()
    }

    /// The requests for answers of this source, refused ones included.
    #[must_use]
    pub fn requests_of(&self, source: &str) -> Vec<Received> {
        self.shared.requests_of(source)
    }

    /// How many steps of the scenario were not used yet; repeating ones do
    /// not count.
    #[must_use]
    pub fn unused_steps(&self) -> usize {
        self.shared.unused_steps()
    }

    /// Waits until `count` requests arrived, for ten seconds at most.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`].
    pub async fn wait_for_requests(&self, count: usize) -> Result<Vec<Received>, Error> {
        self.shared.wait_for(count).await
    }

    /// The same for tests without a runtime.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`].
    pub fn wait_for_requests_blocking(&self, count: usize) -> Result<Vec<Received>, Error> {
        let deadline = Instant::now() + WAIT;
        while self.shared.arrived() < count && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        self.shared.at_least(count)
    }

    /// Opens a gate, for every stream that waits at it or will.
    pub fn release(&self, name: &str) {
        self.shared.release(name);
    }

    /// Moves the server's clock, so that cached prefixes expire.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// The server's clock; a test may give the same one to what it tests.
    #[must_use]
    pub fn clock(&self) -> FakeClock {
        self.clock.clone()
    }

    /// Blocks until the server ends by itself, which it does not: for the
    /// binary.
    pub fn join(mut self) {
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already said so.
            let _ = thread.join();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn by(clock: &FakeClock) -> Now {
    let clock = clock.clone();
    Box::new(move || clock.now())
}

/// `POST /testkit/release/{name}`, for a test in another process.
async fn release(State(shared): State<Arc<Shared>>, Path(name): Path<String>) {
    shared.release(&name);
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/messages", post(anthropic::messages))
        .route("/v1/messages/count_tokens", post(anthropic::count_tokens))
        .route("/v1/models", get(anthropic::models))
        .route("/v1/chat/completions", post(chat::completions))
        .route("/props", get(local::props))
        .route("/api/ps", get(local::ps))
        .route("/api/show", post(local::show))
        .route("/api/v0/models", get(local::studio))
        .route("/api/hello", get(|| async { "hello" }))
        .route("/testkit/release/{name}", post(release))
        .layer(DefaultBodyLimit::disable())
        .with_state(shared)
}
