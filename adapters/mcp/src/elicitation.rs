//! What servers want to know of the person while they are called.
//!
//! A server asks over its connection, and does not say for which call: so a
//! question is put to whoever called, and declined where that is nobody, or
//! where one of several callers is. The time in which a question is open does
//! not count for the call that waits for it.

use crate::content::cut;
use everfold_kernel::ports::question::{self, Wants};
use everfold_kernel::ports::{Respondent, ServerAnswer, ServerQuestion};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Whether servers are told that somebody answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Announced {
    Yes,
    #[default]
    No,
}

/// The questions of one connection.
pub(crate) struct Asking {
    server: String,
    pub(crate) announced: Announced,
    /// Most characters of the server's words.
    chars: usize,
    callers: Mutex<Callers>,
    /// How many questions are open.
    open: watch::Sender<usize>,
}

#[derive(Default)]
struct Callers {
    next: u64,
    here: BTreeMap<u64, Caller>,
}

struct Caller {
    who: Option<Arc<dyn Respondent>>,
    /// The call is over, or was given up.
    gone: CancellationToken,
}

/// A call that runs.
pub(crate) struct Calling<'a> {
    asking: &'a Asking,
    id: u64,
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        if let Some(caller) = self.asking.callers().here.remove(&self.id) {
            caller.gone.cancel();
        }
    }
}

impl Asking {
    pub(crate) fn new(server: &str, announced: Announced, chars: usize) -> Self {
        let server = server.to_owned();
        Self { server, announced, chars, callers: Mutex::default(), open: watch::Sender::new(0) }
    }

    fn callers(&self) -> MutexGuard<'_, Callers> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins; it ends when what is given back is dropped.
    pub(crate) fn begin(&self, who: Option<Arc<dyn Respondent>>) -> Calling<'_> {
        let mut callers = self.callers();
        let id = callers.next;
        callers.next += 1;
        callers.here.insert(id, Caller { who, gone: CancellationToken::new() });
        Calling { asking: self, id }
    }

    /// Who is asked now, and how long.
    fn who(&self) -> Option<(Arc<dyn Respondent>, CancellationToken)> {
        let callers = self.callers();
        if callers.here.values().any(|caller| caller.who.is_none()) {
            return None;
        }
        let last = callers.here.values().next_back()?;
        Some((last.who.clone()?, last.gone.clone()))
    }

    /// Waits for something, but no longer than this, not counting the time in
    /// which questions are open.
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut open = self.open.subscribe();
        let mut left = limit;
        tokio::pin!(work);
        loop {
            let counts = *open.borrow_and_update() == 0;
            let since = Instant::now();
            tokio::select! {
                done = &mut work => return Some(done),
                () = tokio::time::sleep(left), if counts => return None,
                _ = open.changed() => {}
            }
            if counts {
                left = left.saturating_sub(since.elapsed());
            }
        }
    }

    /// Answers a question of the server.
    pub(crate) async fn answer(&self, params: &ElicitRequestParams) -> ElicitResult {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let (Some(question), Some((who, gone))) = (self.question(params), self.who()) else {
            return declined();
        };
        self.open.send_modify(|open| *open += 1);
        let closing = Closing(&self.open);
        let answer = tokio::select! {
            answer = who.respond(question) => answer,
            () = gone.cancelled() => ServerAnswer::Cancel,
        };
        drop(closing);
        match answer {
            ServerAnswer::Accept(content) => match params {
                ElicitRequestParams::FormElicitationParams { .. } => {
                    ElicitResult::new(ElicitationAction::Accept)
                        .with_content(Value::Object(content))
                }
                _ => ElicitResult::new(ElicitationAction::Accept),
            },
            ServerAnswer::Decline => declined(),
            ServerAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        }
    }

    /// The question as a person can be asked; none where it cannot be.
    fn question(&self, params: &ElicitRequestParams) -> Option<ServerQuestion> {
        let (message, id, wants) = match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                let schema = serde_json::to_value(requested_schema).ok()?;
                let fields = question::fields(&schema)?;
                (message, None, Wants::Form { fields, schema })
            }
            ElicitRequestParams::UrlElicitationParams { message, url, elicitation_id, .. } => {
                let known = url.starts_with("https://") || url.starts_with("http://");
                let url = Some(question::plain(url)).filter(|_| known)?;
                (message, Some(elicitation_id.clone()), Wants::Visit(url))
            }
            _ => return None,
        };
        let lines: Vec<String> = message.lines().map(question::plain).collect();
        let message = cut(&lines.join("\n"), self.chars);
        Some(ServerQuestion { server: self.server.clone(), message, id, wants })
    }
}

/// Counts a question that is open, until it is not.
struct Closing<'a>(&'a watch::Sender<usize>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open = open.saturating_sub(1));
    }
}
