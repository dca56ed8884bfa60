//! Questions to a model outside the conversation: forks and side queries.

use crate::config::Config;
use crate::session::{Session, cache_breaks, weighed};
use crate::tools::{AskError, Asker};
use everfold_kernel::effect::{Ask, AskShape};
use everfold_kernel::ports::{BoxFuture, Model, ModelError, ModelReply, World};
use everfold_kernel::record::ActSum;
use everfold_kernel::usage::Booking;
use everfold_kernel::{Class, Classify, Effect, EffectOutcome, ModelId, Params, QuerySource};
use everfold_prefix::Request;
use everfold_prefix::breaks::RequestBase;
use everfold_window::question;
use everfold_wire::ReplyBuilder;
use futures_util::StreamExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Requests made by tools and tasks, and the sums by which they were made,
/// waiting to be written to the log.
#[derive(Clone, Debug, Default)]
pub(crate) struct SideBookings(Arc<Mutex<SideEntries>>);

#[derive(Debug, Default)]
struct SideEntries {
    bookings: Vec<Booking>,
    sums: Vec<ActSum>,
}

impl SideBookings {
    pub(crate) fn add(&self, booking: Booking) {
        self.entries().bookings.push(booking);
    }

    /// Takes note of the sum by which something is done (E1).
    pub(crate) fn weighed(&self, sum: ActSum) {
        self.entries().sums.push(sum);
    }

    pub(crate) fn take(&self) -> Vec<Booking> {
        std::mem::take(&mut self.entries().bookings)
    }

    fn take_sums(&self) -> Vec<ActSum> {
        std::mem::take(&mut self.entries().sums)
    }

    fn entries(&self) -> MutexGuard<'_, SideEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Books what was asked beside the conversation so far.
///
/// # Errors
/// If the log cannot be written.
pub async fn book_side_queries(session: &mut Session) -> Result<(), crate::session::Error> {
    for sum in session.runtime.books.take_sums() {
        weighed::note_sum(session, sum).await?;
    }
    for booking in session.runtime.books.take() {
        session.book(booking).await?;
    }
    Ok(())
}

/// Does what a layer wants done outside, and books what it cost.
///
/// # Errors
/// If the log cannot be written. That the effect itself failed is an outcome.
pub async fn perform(
    session: &mut Session,
    effect: Effect,
    cancel: &CancellationToken,
) -> Result<EffectOutcome, crate::session::Error> {
    match effect {
        Effect::Ask(ask) => perform_ask(session, ask, cancel).await,
        Effect::Spill { file, content } => Ok(perform_spill(session, &file, &content).await),
        Effect::ReadFiles { paths, max_bytes } => Ok(perform_read(session, paths, max_bytes).await),
    }
}

/// Writes a result beside the transcript. One that is there already stays
/// as it is: a spill is written once (L1.7).
async fn perform_spill(session: &Session, file: &str, content: &str) -> EffectOutcome {
    let place = Path::new(RESULTS_DIR).join(file);
    match session.world.transcripts.keep(&session.log.id, &place, content.as_bytes()).await {
        Ok(path) => EffectOutcome::Spilled { path },
        Err(error) => EffectOutcome::Failed { class: error.class(), reason: error.to_string() },
    }
}

async fn perform_read(session: &Session, paths: Vec<PathBuf>, max_bytes: u64) -> EffectOutcome {
    let mut read = Vec::new();
    for path in paths {
        // A model may have named it by where it works.
        let whole = session.context.cwd().join(&path);
        let lines = session.world.files.read_lines(&whole, 1, u64::MAX, max_bytes).await;
        if let Ok(lines) = lines
            && !lines.binary
        {
            read.push((path, String::from_utf8_lossy(&lines.bytes).into_owned()));
        }
    }
    EffectOutcome::Files(read)
}

async fn perform_ask(
    session: &mut Session,
    ask: Ask,
    cancel: &CancellationToken,
) -> Result<EffectOutcome, crate::session::Error> {
    let (config, dialect) = (Arc::clone(&session.config), session.world.model.dialect());
    let (source, is_fork) =
        (ask.source.clone(), matches!(ask.shape, AskShape::Fork { .. } | AskShape::Cached { .. }));
    if is_fork {
        session.runtime.cache.last_fork = Some(session.world.clock.now());
    }
    let request =
        question::request(&mut session.state.fold, &ask, &config.limits, |model, max_tokens| {
            config.side_params(model.unwrap_or(&config.models.small), dialect, max_tokens)
        });
    let Some(request) = request else {
        let reason = "no conversation to fork yet".to_owned();
        return Ok(EffectOutcome::Failed { class: Class::Refuse, reason });
    };
    let base = if is_fork { RequestBase::Main } else { RequestBase::Nothing };
    cache_breaks::note_request(session, &source, base, &request);
    let asked = tokio::select! {
        asked = collect(&*session.world.model, request, source.clone()) => asked,
        () = cancel.cancelled() => {
            let reason = "it was stopped".to_owned();
            return Ok(EffectOutcome::Failed { class: Class::Refuse, reason });
        }
    };
    match asked {
        Ok(reply) => {
            cache_breaks::note_answer(session, &source, &reply, None).await?;
            let table = &session.config.models.table;
            session.book(Booking::new(source, reply.model, reply.usage, table)).await?;
            let text = crate::session::prompt::text_of(&reply.blocks);
            Ok(EffectOutcome::Answered { text, usage: reply.usage })
        }
        Err(ModelError::PromptTooLong { actual, maximum, .. }) => {
            Ok(EffectOutcome::TooLong { actual, maximum })
        }
        Err(error) => Ok(EffectOutcome::Failed { class: error.class(), reason: error.to_string() }),
    }
}

/// Answers tools' questions with the small model.
pub(crate) struct SideAsker {
    pub(crate) world: World,
    pub(crate) config: Arc<Config>,
    pub(crate) bookings: SideBookings,
}

impl Asker for SideAsker {
    fn ask(
        &self,
        system: String,
        prompt: String,
        max_tokens: u64,
    ) -> BoxFuture<'_, Result<String, AskError>> {
        Box::pin(async move {
            let model: &ModelId = &self.config.models.small;
            let params = self.config.side_params(model, self.world.model.dialect(), max_tokens);
            let request =
                side_request(&self.config, params, &system, &prompt).ok_or(AskError::NoRequest)?;
            let source = QuerySource::Agent("web_fetch".into());
            let reply = collect(&*self.world.model, request, source.clone()).await?;
            let text = crate::session::prompt::text_of(&reply.blocks);
            self.bookings.add(Booking::new(
                source,
                reply.model,
                reply.usage,
                &self.config.models.table,
            ));
            Ok(text)
        })
    }
}

/// A small request of its own.
pub(crate) fn side_request(
    config: &Config,
    params: Params,
    system: &str,
    prompt: &str,
) -> Option<Request> {
    question::side(params, system, prompt, &config.limits)
}

/// Makes a request and waits for the whole answer.
pub(crate) async fn collect(
    model: &dyn Model,
    request: Request,
    source: QuerySource,
) -> Result<ModelReply, ModelError> {
    let mut stream = model.call(request.into_call(source)).await?;
    let mut reply = ReplyBuilder::default();
    while let Some(event) = stream.next().await {
        if let Some(whole) = reply.push(event?) {
            return Ok(whole);
        }
    }
    Err(ModelError::Broken { message: "the stream ended without an answer".into() })
}

/// Where a session keeps spilled results, in its own directory.
pub(crate) const RESULTS_DIR: &str = "tool-results";
