//! One call: tries until there is an answer or no hope.
//!
//! The stream is lazy: nothing is sent before it is polled, and dropping it
//! closes the connection. Every failure and every wait is an event, so that a
//! person sees why nothing happens.

use super::answer::{Dialogue, Heard, Reader, chance, whole};
use super::client::Transport;
use super::failure::{Failed, is_final, tried};
use super::patience::Patience;
use super::response::{header_text, refused, whole_body};
use everfold_kernel::phrase::grouped;
use everfold_kernel::ports::{ModelCall, ModelError, ModelEvent, ModelStream, RequestBody};
use everfold_kernel::{RequestId, Timestamp};
use everfold_wire::headroom;
use everfold_wire::retry::{Retry, RetryInput, decide};
use futures_util::stream;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use reqwest::{Body, Response};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long the end of a stream is waited for once the answer is whole: read
/// to its end, the connection serves the next request.
const DRAIN: Duration = Duration::from_millis(100);

/// An answer that has begun is told to be silent only after this many times as
/// long: models think.
const STARTED_FACTOR: u32 = 8;

/// A request on its way.
type Sending = Pin<Box<dyn Future<Output = Result<Response, reqwest::Error>> + Send>>;

/// The events of one call.
pub(crate) fn stream(
    transport: Arc<Transport>,
    dialogue: Dialogue,
    headers: HeaderMap,
    call: ModelCall,
) -> ModelStream {
    let limits = &transport.limits;
    let retries = if call.source.is_metered() {
        limits.background_retries.min(limits.max_retries)
    } else {
        limits.max_retries
    };
    let run = Run {
        retries,
        transport,
        dialogue,
        headers,
        body: call.body,
        attempt: 0,
        began: None,
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
    body: RequestBody,
    /// How often it may be tried again: nobody waits for most of what is done in
    /// the background, and it is done later.
    retries: u32,
    /// How often it was.
    attempt: u32,
    /// When the first try began.
    began: Option<Instant>,
    /// Whether events of the current try were given out.
    started: bool,
    pending: VecDeque<Result<ModelEvent, ModelError>>,
    state: State,
}

enum State {
    Send,
    Connect(Sending, Patience),
    Wait(Duration),
    Read(Box<Reading>),
    Drain(Box<Response>),
    Done,
}

/// An answer that is being read.
struct Reading {
    response: Response,
    reader: Reader,
    /// With a server that sends nothing.
    silence: Patience,
    /// With one that sends nothing of the answer.
    pings: Patience,
}

impl Run {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(item) = self.pending.pop_front() {
                return Some(item);
            }
            match std::mem::replace(&mut self.state, State::Done) {
                State::Send => self.state = self.send(),
                State::Connect(sending, patience) => self.connect(sending, patience).await,
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

    fn send(&mut self) -> State {
        self.began.get_or_insert_with(Instant::now);
        let transport = &self.transport;
        let parts = self.body.parts().to_vec().into_iter().map(Ok::<_, Infallible>);
        let request = transport
            .client
            .post(transport.url.clone())
            .headers(transport.headers.clone())
            .headers(self.headers.clone())
            // In parts, which are shared with whoever made them (E11).
            .header(CONTENT_LENGTH, self.body.len())
            .body(Body::wrap_stream(stream::iter(parts)));
        let patience = Patience::new(self.first_answer(), self.notice());
        State::Connect(Box::pin(request.send()), patience)
    }

    /// The longest that the server may take to begin its answer.
    fn first_answer(&self) -> Duration {
        match self.dialogue {
            Dialogue::Anthropic(_) => self.transport.idle(),
            Dialogue::OpenAi => self.transport.first_answer(self.tokens()),
        }
    }

    /// About how long the prompt is.
    fn tokens(&self) -> u64 {
        let bytes = u64::try_from(self.body.len()).unwrap_or(u64::MAX);
        bytes / self.transport.limits.bytes_per_token_text.max(1)
    }

    /// After how long a wait is told.
    fn notice(&self) -> Duration {
        Duration::from_millis(self.transport.limits.wait_notice_ms)
    }

    /// How many tries there are at most.
    fn most(&self) -> u32 {
        self.retries.saturating_add(1)
    }

    /// What is said while there is no answer: a server of one's own may still
    /// be reading, and how long that takes goes by the prompt.
    fn no_answer_yet(&self) -> String {
        match self.dialogue {
            Dialogue::Anthropic(_) => "no answer yet".to_owned(),
            Dialogue::OpenAi => {
                format!("no answer yet to some {} tokens", grouped(self.tokens()))
            }
        }
    }

    fn tell_wait(&mut self, waited: Duration, what: &str) {
        let (attempt, most) = (self.attempt + 1, self.most());
        let reason =
            format!("{what} from {} (attempt {attempt} of {most})", self.transport.shown_url());
        self.pending.push_back(Ok(ModelEvent::Waiting { waited, reason }));
    }

    async fn connect(&mut self, mut sending: Sending, mut patience: Patience) {
        let opened = match timeout_at(patience.due(), &mut sending).await {
            Ok(Ok(response)) => self.open(response).await,
            Ok(Err(error)) => Err(Failed::transport(self.transport.unreachable(error))),
            Err(_) if patience.is_over() => {
                Err(Failed::transport(self.transport.silent(patience.most_s())))
            }
            Err(_) => {
                if let Some(waited) = patience.notice() {
                    self.tell_wait(waited, &self.no_answer_yet());
                }
                Ok(State::Connect(sending, patience))
            }
        };
        match opened {
            Ok(state) => self.state = state,
            Err(failed) => self.fail(failed),
        }
    }

    async fn open(&mut self, response: Response) -> Result<State, Failed> {
        let transport = Arc::clone(&self.transport);
        transport.note_reached();
        let header = |name: &str| header_text(response.headers(), name);
        transport.note_headroom(headroom(header, Timestamp::now()));
        let request_id = ["request-id", "x-request-id"]
            .iter()
            .find_map(|name| header_text(response.headers(), name))
            .map(RequestId::from);
        if !response.status().is_success() {
            return Err(refused(response, transport.idle()).await);
        }
        let content_type =
            header_text(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default();
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
        let silence = Patience::new(self.first_answer(), self.notice());
        let most = Duration::from_secs(transport.limits.stream_ping_s);
        let pings = Patience::new(most, self.notice());
        Ok(State::Read(Box::new(Reading { response, reader, silence, pings })))
    }

    async fn whole(
        &mut self,
        response: Response,
        request_id: Option<RequestId>,
    ) -> Result<State, Failed> {
        let limit = self.transport.limits.sse_event_bytes;
        let (bytes, problem) = whole_body(response, limit, self.transport.idle()).await;
        if let Some(message) = problem {
            return Err(Failed::transport(ModelError::Broken { message }));
        }
        let events = whole(self.dialogue, &bytes, request_id).map_err(Failed::told)?;
        self.pending.extend(events.into_iter().map(Ok));
        Ok(State::Done)
    }

    async fn read(&mut self, mut reading: Reading) {
        let broken = |message: String| Failed::transport(ModelError::Broken { message });
        let due = reading.silence.due().min(reading.pings.due());
        let (events, mut end) = match timeout_at(due, reading.response.chunk()).await {
            Ok(Ok(Some(bytes))) => self.hear(&mut reading, &bytes),
            Ok(ended) => match (reading.reader.finish(), ended) {
                (Ok(events), _) => (events, Ok(())),
                (Err(error), Ok(_)) => (Vec::new(), Err(Failed::transport(error))),
                (Err(_), Err(error)) => {
                    let message = format!("the connection failed ({})", error.without_url());
                    (Vec::new(), Err(broken(message)))
                }
            },
            Err(_) => (Vec::new(), Ok(())),
        };
        let finished = events.iter().any(|event| matches!(event, ModelEvent::Finished { .. }));
        self.started |= !events.is_empty();
        self.pending.extend(events.into_iter().map(Ok));
        if end.is_ok() && !finished {
            end = match self.bear(&mut reading) {
                None => Ok(()),
                Some(flaw) => Err(broken(flaw)),
            };
        }
        match end {
            _ if finished => self.state = State::Drain(Box::new(reading.response)),
            Ok(()) => self.state = State::Read(Box::new(reading)),
            Err(failed) => self.fail(failed),
        }
    }

    /// Takes bytes of an answer; what says nothing does not end a silence.
    fn hear(&self, reading: &mut Reading, bytes: &[u8]) -> (Vec<ModelEvent>, Result<(), Failed>) {
        let (heard, result) = reading.reader.push(bytes);
        let later = self.notice().saturating_mul(STARTED_FACTOR);
        let events = match heard {
            Heard::Events(events) => {
                reading.silence = Patience::new(self.transport.idle(), later);
                reading.pings.restart(later);
                events
            }
            Heard::Ping => {
                reading.silence.restart(later);
                Vec::new()
            }
            Heard::Silence => Vec::new(),
        };
        (events, result.map_err(Failed::told))
    }

    /// Bears a silence, and tells of it; what is wrong once it is too long.
    fn bear(&mut self, reading: &mut Reading) -> Option<String> {
        if reading.silence.is_over() {
            return Some(format!("no data for {} s", reading.silence.most_s()));
        }
        if reading.pings.is_over() {
            return Some(format!("only pings for {} s", reading.pings.most_s()));
        }
        // The silence is told as well by the second, which is never shorter.
        reading.silence.notice();
        if let Some(waited) = reading.pings.notice() {
            self.tell_wait(waited, &reading.reader.standstill());
        }
        None
    }

    /// Goes on after a failed try: with a wait and another one, or not at all.
    fn fail(&mut self, failed: Failed) {
        let error = self.transport.clean(failed.error);
        let decision = decide(
            &RetryInput {
                attempt: self.attempt,
                most: self.retries,
                failure: failed.failure,
                wish: failed.wish,
                now: Timestamp::now(),
                random: fraction(chance()),
            },
            &self.transport.limits,
        );
        let took = self.began.map(|began| began.elapsed()).unwrap_or_default();
        let total = self.transport.retry_time(&error);
        let wait = match decision {
            Retry::After(wait) if !is_final(&error) && took + wait < total => wait,
            _ => {
                tracing::debug!(attempt = self.attempt, %error, "the model call failed");
                self.pending.push_back(Err(tried(error, self.attempt + 1, took)));
                return;
            }
        };
        let reason = error.to_string();
        tracing::debug!(attempt = self.attempt, ?wait, reason, "the model call is retried");
        if std::mem::take(&mut self.started) {
            self.pending.push_back(Ok(ModelEvent::Restarted { reason: reason.clone() }));
        }
        self.attempt += 1;
        let (attempt, most) = (self.attempt, self.most());
        self.pending.push_back(Ok(ModelEvent::Retrying { attempt, most, wait, reason }));
        self.state = State::Wait(wait);
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number of chance needs no precision")]
fn fraction(number: u64) -> f64 {
    number as f64 / u64::MAX as f64
}
