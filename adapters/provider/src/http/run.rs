//! One call: tries until there is an answer or no hope.
//!
//! The stream is lazy: nothing is sent before it is polled, and dropping it
//! closes the connection. Every failure and every wait is an event, so that a
//! person sees why nothing happens.

use super::answer::{Dialogue, Reader, chance, whole};
use super::client::Transport;
use bytes::Bytes;
use everfold_kernel::ports::{ModelError, ModelEvent, ModelStream};
use everfold_kernel::{RequestId, Timestamp};
use everfold_wire::errors::{classify, is_spent};
use everfold_wire::headroom;
use everfold_wire::retry::{Failure, Retry, RetryInput, ServerWish, decide};
use futures_util::stream;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Most bytes of an error's body that are read.
const ERROR_BYTES: u64 = 64 * 1024;

/// How long the end of a stream is waited for once the answer is whole: read
/// to its end, the connection serves the next request.
const DRAIN: Duration = Duration::from_millis(100);

/// The events of one call.
pub(crate) fn stream(
    transport: Arc<Transport>,
    dialogue: Dialogue,
    headers: HeaderMap,
    body: Bytes,
) -> ModelStream {
    let run = Run {
        transport,
        dialogue,
        headers,
        body,
        attempt: 0,
        started: false,
        pending: VecDeque::new(),
        state: State::Send,
    };
    Box::pin(stream::unfold(run, |mut run| async move { run.next().await.map(|item| (item, run)) }))
}

struct Run {
    transport: Arc<Transport>,
    dialogue: Dialogue,
    headers: HeaderMap,
    body: Bytes,
    /// How often the request was tried again.
    attempt: u32,
    /// Whether events of the current try were given out.
    started: bool,
    pending: VecDeque<Result<ModelEvent, ModelError>>,
    state: State,
}

enum State {
    Send,
    Wait(Duration),
    Read(Box<(Response, Reader)>),
    Drain(Box<Response>),
    Done,
}

/// A try that failed.
struct Failed {
    error: ModelError,
    failure: Failure,
    wish: ServerWish,
}

impl Failed {
    fn transport(error: ModelError) -> Self {
        Self { error, failure: Failure::Transport, wish: ServerWish::default() }
    }

    /// A failure that a server told within its answer.
    fn told(error: ModelError) -> Self {
        let failure = match &error {
            ModelError::Overloaded { .. } => Failure::Status(529),
            ModelError::RateLimited { .. } => Failure::Status(429),
            ModelError::Server { status, .. } | ModelError::Refused { status, .. } => {
                Failure::Status(*status)
            }
            _ => Failure::Transport,
        };
        Self { error, failure, wish: ServerWish::default() }
    }
}

impl Run {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(item) = self.pending.pop_front() {
                return Some(item);
            }
            match std::mem::replace(&mut self.state, State::Done) {
                State::Send => match self.send().await {
                    Ok(state) => self.state = state,
                    Err(failed) => self.fail(failed),
                },
                State::Wait(wait) => {
                    tokio::time::sleep(wait).await;
                    self.state = State::Send;
                }
                State::Read(reading) => self.read(*reading).await,
                State::Drain(mut response) => {
                    let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
                    timeout(DRAIN, rest).await.ok();
                }
                State::Done => return None,
            }
        }
    }

    async fn send(&mut self) -> Result<State, Failed> {
        let transport = Arc::clone(&self.transport);
        let request = transport
            .client
            .post(transport.url.clone())
            .headers(transport.headers.clone())
            .headers(self.headers.clone())
            .body(self.body.clone());
        let response = match timeout(transport.idle(), request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Failed::transport(transport.unreachable(error))),
            Err(_) => return Err(Failed::transport(transport.silent())),
        };
        let header = |name: &str| text(response.headers(), name);
        transport.note_headroom(headroom(header, Timestamp::now()));
        let request_id = ["request-id", "x-request-id"]
            .iter()
            .find_map(|name| text(response.headers(), name))
            .map(RequestId::from);
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let content_type = text(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
        if content_type.starts_with("text/html") {
            return Err(Failed::told(ModelError::Refused {
                status: response.status().as_u16(),
                message: "it answered with a web page; check the base URL".into(),
            }));
        }
        if content_type.starts_with("application/json") {
            return self.whole(response, request_id).await;
        }
        let limit = transport.limits.sse_event_bytes;
        let reader = Reader::new(self.dialogue, request_id, limit);
        Ok(State::Read(Box::new((response, reader))))
    }

    async fn whole(
        &mut self,
        response: Response,
        request_id: Option<RequestId>,
    ) -> Result<State, Failed> {
        let limit = self.transport.limits.sse_event_bytes;
        let (bytes, problem) = body(response, limit, self.transport.idle()).await;
        if let Some(message) = problem {
            return Err(Failed::transport(ModelError::Broken { message }));
        }
        let events = whole(self.dialogue, &bytes, request_id).map_err(Failed::told)?;
        self.pending.extend(events.into_iter().map(Ok));
        Ok(State::Done)
    }

    async fn refused(&self, response: Response) -> Failed {
        let status = response.status().as_u16();
        let headers = response.headers();
        let wish = ServerWish {
            should_retry: text(headers, "x-should-retry"),
            retry_after_ms: text(headers, "retry-after-ms"),
            retry_after: text(headers, "retry-after"),
        };
        let location = text(headers, LOCATION.as_str());
        let (bytes, _) = body(response, ERROR_BYTES, self.transport.idle()).await;
        let mut error = classify(status, &bytes);
        if let (300..400, Some(to)) = (status, location) {
            error = ModelError::Refused {
                status,
                message: format!("it redirects to {to}; set that as the base URL if you trust it"),
            };
        }
        if let ModelError::RateLimited { retry_after, .. } = &mut error {
            *retry_after = wish.wait(Timestamp::now());
        }
        Failed {
            error,
            failure: if is_spent(&bytes) { Failure::Spent } else { Failure::Status(status) },
            wish,
        }
    }

    async fn read(&mut self, (mut response, mut reader): (Response, Reader)) {
        let broken = |message: String| Failed::transport(ModelError::Broken { message });
        let (events, end) = match timeout(self.transport.idle(), response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let (events, result) = reader.push(&bytes);
                (events, result.map_err(Failed::told))
            }
            Ok(ended) => match (reader.finish(), ended) {
                (Ok(events), _) => (events, Ok(())),
                (Err(error), Ok(_)) => (Vec::new(), Err(Failed::transport(error))),
                (Err(_), Err(error)) => {
                    let message = format!("the connection failed ({})", error.without_url());
                    (Vec::new(), Err(broken(message)))
                }
            },
            Err(_) => {
                let message = format!("nothing came for {} s", self.transport.limits.stream_idle_s);
                (Vec::new(), Err(broken(message)))
            }
        };
        let finished = events.iter().any(|event| matches!(event, ModelEvent::Finished { .. }));
        self.started |= !events.is_empty();
        self.pending.extend(events.into_iter().map(Ok));
        match end {
            _ if finished => self.state = State::Drain(Box::new(response)),
            Ok(()) => self.state = State::Read(Box::new((response, reader))),
            Err(failed) => self.fail(failed),
        }
    }

    /// Goes on after a failed try: with a wait and another one, or not at all.
    fn fail(&mut self, failed: Failed) {
        let error = self.transport.clean(failed.error);
        let decision = decide(
            &RetryInput {
                attempt: self.attempt,
                failure: failed.failure,
                wish: failed.wish,
                now: Timestamp::now(),
                random: fraction(chance()),
            },
            &self.transport.limits,
        );
        let wait = match decision {
            Retry::After(wait) if !is_final(&error) => wait,
            _ => {
                tracing::debug!(attempt = self.attempt, %error, "the model call failed");
                self.pending.push_back(Err(error));
                return;
            }
        };
        let reason = error.to_string();
        tracing::debug!(attempt = self.attempt, ?wait, reason, "the model call is retried");
        if std::mem::take(&mut self.started) {
            self.pending.push_back(Ok(ModelEvent::Restarted { reason: reason.clone() }));
        }
        self.attempt += 1;
        self.pending.push_back(Ok(ModelEvent::Retrying { attempt: self.attempt, wait, reason }));
        self.state = State::Wait(wait);
    }
}

/// Errors that another try meets again, whatever the server wishes.
fn is_final(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::PromptTooLong { .. }
            | ModelError::RequestTooLarge { .. }
            | ModelError::Authentication { .. }
    )
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// The first `limit` bytes of a body, and what kept it from being whole.
async fn body(mut response: Response, limit: u64, idle: Duration) -> (Vec<u8>, Option<String>) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut held = Vec::new();
    let problem = loop {
        match timeout(idle, response.chunk()).await {
            Ok(Ok(Some(bytes))) if held.len() + bytes.len() > limit => {
                held.extend(bytes.iter().take(limit - held.len()));
                break format!("the answer is larger than {limit} bytes");
            }
            Ok(Ok(Some(bytes))) => held.extend_from_slice(&bytes),
            Ok(Ok(None)) => return (held, None),
            Ok(Err(error)) => break format!("the connection failed ({})", error.without_url()),
            Err(_) => break format!("nothing came for {} s", idle.as_secs()),
        }
    };
    (held, Some(problem))
}

#[expect(clippy::cast_precision_loss, reason = "a number of chance needs no precision")]
fn fraction(number: u64) -> f64 {
    number as f64 / u64::MAX as f64
}
