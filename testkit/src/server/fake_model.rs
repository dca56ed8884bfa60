//! The model without HTTP: a port that answers by the same scenarios, rules,
//! cache and gates as the server, in the process of the test.
//!
//! What it does not have is what lies below the port: connections, retries,
//! headers that no caller set. A failure is final at once.

use super::answer::{Api, refusal_body, request_id};
use super::anthropic::{MESSAGES_PATH, acts, answer};
use super::delivery::{Act, next};
use super::state::{Brain, Script, Shared};
use super::{Error, by};
use crate::check::Refusal;
use crate::clock::FakeClock;
use crate::received::{Received, SOURCE_HEADER};
use crate::scenario::{Reply, Scenario, ServerFault, ServerRules};
use axum::http::{HeaderMap, HeaderValue};
use everfold_kernel::RequestId;
use everfold_kernel::ports::{
    BoxFuture, Headroom, Model, ModelCall, ModelError, ModelEvent, ModelStream,
};
use everfold_kernel::record::Dialect;
use everfold_wire::anthropic::Assembler;
use everfold_wire::classify;
use everfold_wire::sse::Decoder;
use futures_util::stream;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A model for tests. Clones are the same model.
#[derive(Clone, Debug)]
pub struct FakeModel {
    shared: Arc<Shared>,
    clock: FakeClock,
}

impl FakeModel {
    /// A model that follows a scenario.
    #[must_use]
    pub fn new(scenario: Scenario) -> Self {
        let rules = scenario.server.clone();
        Self::of(rules, Brain::script(Script::new(scenario)))
    }

    /// A model that asks a function for every answer.
    pub fn with_handler(
        rules: ServerRules,
        handler: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::of(rules, Brain::Handler(Box::new(handler)))
    }

    fn of(rules: ServerRules, brain: Brain) -> Self {
        let clock = FakeClock::default();
        Self { shared: Arc::new(Shared::new(rules, brain, by(&clock), None)), clock }
    }

    /// Every request so far, in their order.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.shared.requests()
    }

    /// The requests of this source, refused ones included.
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

    /// Waits until `count` requests were made, for ten seconds at most.
    ///
    /// # Errors
    ///
    /// [`Error::TooFew`].
    pub async fn wait_for_requests(&self, count: usize) -> Result<Vec<Received>, Error> {
        self.shared.wait_for(count).await
    }

    /// Opens a gate, for every answer that waits at it or will.
    pub fn release(&self, name: &str) {
        self.shared.release(name);
    }

    /// Moves the model's clock, so that cached prefixes expire.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// Loses every cached prefix, as a server does that restarts.
    pub fn lose_cache(&self) {
        self.shared.lose_cache();
    }

    /// The model's clock; a test may give the same one to what it tests.
    #[must_use]
    pub fn clock(&self) -> FakeClock {
        self.clock.clone()
    }
}

impl Model for FakeModel {
    /// The request is made when the stream is polled, as a provider does.
    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let telling = Telling {
            shared: Arc::clone(&self.shared),
            call: Some(call),
            body: None,
            told: VecDeque::new(),
        };
        let events = stream::unfold(telling, |mut telling| async move {
            telling.next().await.map(|item| (item, telling))
        });
        Box::pin(async move { Ok(Box::pin(events) as ModelStream) })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn headroom(&self) -> Option<Headroom> {
        self.shared.headroom()
    }
}

/// One answer, as far as it was told.
struct Telling {
    shared: Arc<Shared>,
    /// The request, until it is made.
    call: Option<ModelCall>,
    body: Option<Streamed>,
    told: VecDeque<Result<ModelEvent, ModelError>>,
}

/// What is left of an answer that has begun.
struct Streamed {
    acts: VecDeque<Act>,
    gates: watch::Receiver<BTreeSet<String>>,
    decoder: Decoder,
    assembler: Assembler,
}

impl Telling {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        if let Some(call) = self.call.take() {
            match begin(&self.shared, &call) {
                Ok(body) => self.body = Some(body),
                Err(error) => return Some(Err(error)),
            }
        }
        loop {
            if let Some(item) = self.told.pop_front() {
                return Some(item);
            }
            let body = self.body.as_mut()?;
            let (events, error) = body.read().await;
            let ended = events.iter().any(|event| matches!(event, ModelEvent::Finished { .. }));
            if ended || error.is_some() {
                self.body = None;
            }
            self.told.extend(events.into_iter().map(Ok).chain(error.map(Err)));
        }
    }
}

/// Makes the request: the answer, or why there is none.
fn begin(shared: &Shared, call: &ModelCall) -> Result<Streamed, ModelError> {
    let request = shared.receive("POST", MESSAGES_PATH, &headers(call), call.body.whole());
    let answered = answer(shared, &request).map_err(|refusal| {
        shared.refused(&request, &refusal);
        refused(&request, &refusal)
    })?;
    if answered.faults().contains(&ServerFault::CloseBeforeHeaders) {
        return Err(broken("the connection failed"));
    }
    shared.note_headers(answered.headers());
    let id = RequestId::from(request_id(&request));
    Ok(Streamed {
        acts: acts(shared, &request, &answered),
        gates: shared.gates(),
        decoder: Decoder::new(usize::MAX),
        assembler: Assembler::new(call.cache.unwrap_or_default(), Some(id)),
    })
}

/// What the API asks of every request, and what the caller says.
fn headers(call: &ModelCall) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", HeaderValue::from_static("fake"));
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    if let Ok(betas) = HeaderValue::from_str(&call.betas.join(","))
        && !call.betas.is_empty()
    {
        headers.insert("anthropic-beta", betas);
    }
    if let Ok(source) = HeaderValue::from_str(&call.source.to_string()) {
        headers.insert(SOURCE_HEADER, source);
    }
    headers
}

fn refused(request: &Received, refusal: &Refusal) -> ModelError {
    let body = refusal_body(request, refusal, Api::Anthropic).to_string();
    let mut error = classify(refusal.status, body.as_bytes());
    if let ModelError::RateLimited { retry_after, .. } = &mut error {
        let seconds = refusal.headers.get("retry-after").and_then(|value| value.parse().ok());
        *retry_after = seconds.map(Duration::from_secs);
    }
    error
}

fn broken(message: &str) -> ModelError {
    ModelError::Broken { message: message.to_owned() }
}

impl Streamed {
    /// The events of the next bytes, and how the answer broke if it did.
    async fn read(&mut self) -> (Vec<ModelEvent>, Option<ModelError>) {
        let bytes = match next(&mut self.acts, &mut self.gates).await {
            Some(Ok(bytes)) => bytes,
            Some(Err(error)) => return (Vec::new(), Some(broken(&error.to_string()))),
            None => {
                return match self.assembler.finish() {
                    Ok(events) if events.is_empty() => (events, Some(broken("it ended early"))),
                    Ok(events) => (events, None),
                    Err(error) => (Vec::new(), Some(error)),
                };
            }
        };
        let mut told = Vec::new();
        let heard = match self.decoder.push(&bytes) {
            Ok(heard) => heard,
            Err(error) => return (told, Some(broken(&error.to_string()))),
        };
        for event in heard {
            match self.assembler.push(&event) {
                Ok(events) => told.extend(events),
                Err(error) => return (told, Some(error)),
            }
        }
        (told, None)
    }
}
