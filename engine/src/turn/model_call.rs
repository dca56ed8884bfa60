//! One request and its answer, block by block into the log.
//!
//! A block's line is written when the next event shows what follows it, so
//! that the last line of an answer carries its final usage. A kill at any
//! moment loses at most the block that was being received.

use crate::background::scheduler::PrefixUse;
use crate::event::Event;
use crate::session::fork::{Start, Thread};
use crate::session::{Error, Session, cache_breaks};
use crate::setups::web_search;
use crate::tools::ToolCall;
use everfold_kernel::ports::{BoxFuture, ModelError, ModelEvent, ModelReply, ModelStream};
use everfold_kernel::record::Dialect;
use everfold_kernel::tokens::{estimate_block, estimate_text};
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    AssistantEntry, Block, BlockView, Decision, Entry, MessageId, ModelId, RequestId, Tokens,
    ToolUseId, Usage,
};
use everfold_wire::openai::text_calls;
use futures_util::StreamExt;
use serde_json::Value;
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// What became of a request.
pub(crate) enum Answered {
    /// A whole answer; it is in the log.
    Whole(ModelReply),
    /// No answer, after all retries.
    Failed(ModelError),
    /// The person stopped it; what had come is in the log.
    Cancelled,
}

/// An answer that is being received.
#[derive(Default)]
struct Draft {
    started: Option<Started>,
    /// Blocks in the log.
    written: Vec<Block>,
    /// A whole block that waits for what follows.
    held: Option<(u32, Block)>,
    /// Text of blocks that are not whole yet.
    partial: BTreeMap<u32, String>,
    /// Thinking that is not a whole block yet.
    thought: String,
    /// What the server says that it cleared of the prompt.
    context_edits: Option<Value>,
    /// Why the server says that it did not read its cache.
    cache_miss: Option<String>,
    /// When the server began to search the web.
    searching: Option<tokio::time::Instant>,
}

pub(crate) struct Started {
    message_id: MessageId,
    request_id: Option<RequestId>,
    model: ModelId,
    usage: Usage,
}

/// Makes the next request of the main thread.
pub(crate) async fn ask_model(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<Answered, Error> {
    let Some(mut request) = session.state.fold.request(None) else {
        let message = "there is no prelude to ask with".into();
        return Ok(Answered::Failed(ModelError::Broken { message }));
    };
    if let (true, Some(previous)) =
        (cache_breaks::asks_why(session), session.state.fold.last_message())
    {
        request = request.asking_why(previous);
    }
    let source = session.source();
    cache_breaks::note_request(session, &source, cache_breaks::base(session), &request);
    let call = request.into_call(source);
    let model = std::sync::Arc::clone(&session.world.model);
    let scheduler = session.runtime.cache.scheduler.clone();
    let mut stop = Stop::new(session, cancel);
    if stop.wait_for_turn(session).await == Turn::GaveUp {
        return Ok(Answered::Cancelled);
    }
    let opened = tokio::select! {
        opened = model.call(call) => opened,
        () = stop.stopped() => return Ok(Answered::Cancelled),
    };
    let answered = match opened {
        Ok(stream) => receive(session, stream, &mut stop).await,
        Err(error) => Ok(Answered::Failed(error)),
    };
    if session.is_main() {
        scheduler.rests();
    }
    answered
}

/// Whether a request may be made.
#[derive(PartialEq, Eq)]
enum Turn {
    Comes,
    /// It was stopped before.
    GaveUp,
}

/// What stops a request: the person, and for one in the background also the
/// person's own request where the server answers only one.
struct Stop<'a> {
    cancel: &'a CancellationToken,
    gives_way: BoxFuture<'static, ()>,
}

impl<'a> Stop<'a> {
    fn new(session: &Session, cancel: &'a CancellationToken) -> Self {
        let gives_way: BoxFuture<'static, ()> = match session.thread {
            Thread::Fork { .. } => Box::pin(session.runtime.cache.scheduler.gives_way()),
            Thread::Main | Thread::Agent { .. } => Box::pin(std::future::pending()),
        };
        Self { cancel, gives_way }
    }

    async fn stopped(&mut self) {
        tokio::select! {
            () = self.cancel.cancelled() => {}
            () = &mut self.gives_way => {}
        }
    }

    /// The conversation asks at once; a fork when its parent's request has
    /// begun to answer (E3).
    async fn wait_for_turn(&mut self, session: &Session) -> Turn {
        let scheduler = &session.runtime.cache.scheduler;
        let reads = match session.thread {
            Thread::Main => {
                scheduler.asks();
                return Turn::Comes;
            }
            Thread::Agent { .. } => return Turn::Comes,
            Thread::Fork { start: Start::Parent, .. } => PrefixUse::Cached,
            Thread::Fork { start: Start::Fresh, .. } => PrefixUse::None,
        };
        tokio::select! {
            biased;
            () = scheduler.clear(reads) => Turn::Comes,
            () = self.cancel.cancelled() => Turn::GaveUp,
        }
    }
}

async fn receive(
    session: &mut Session,
    mut stream: ModelStream,
    stop: &mut Stop<'_>,
) -> Result<Answered, Error> {
    let mut draft = Draft::default();
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            () = stop.stopped() => {
                keep_partial(session, draft).await?;
                return Ok(Answered::Cancelled);
            }
        };
        match event {
            None => {
                let message = "the stream ended without an answer".into();
                retract(session, &mut draft, "the stream ended early").await?;
                return Ok(Answered::Failed(ModelError::Broken { message }));
            }
            Some(Err(error)) => {
                retract(session, &mut draft, &error.to_string()).await?;
                return Ok(Answered::Failed(error));
            }
            Some(Ok(ModelEvent::Finished { stop_reason, usage })) => {
                return take_whole(session, draft, stop_reason, usage).await;
            }
            Some(Ok(event)) => receive_event(session, &mut draft, event).await?,
        }
    }
}

async fn receive_event(
    session: &mut Session,
    draft: &mut Draft,
    event: ModelEvent,
) -> Result<(), Error> {
    match event {
        ModelEvent::Started { message_id, request_id, model, usage } => {
            if session.is_main() {
                session.runtime.cache.scheduler.is_answered();
            }
            draft.started = Some(Started { message_id, request_id, model, usage });
        }
        ModelEvent::Text { index, text } => {
            draft.partial.entry(index).or_default().push_str(&text);
            session.emit(|| Event::Text(text));
        }
        ModelEvent::Thinking { text, .. } => {
            draft.thought.push_str(&text);
            session.emit(|| Event::Thinking(text));
        }
        ModelEvent::Block { index, block } => {
            draft.partial.remove(&index);
            draft.thought.clear();
            write_held(session, draft, None).await?;
            web_search::show_search(session, &block, &mut draft.searching);
            draft.held = Some((index, block));
        }
        ModelEvent::Waiting { waited, reason } => {
            session.emit(|| Event::Waiting { waited, reason });
        }
        ModelEvent::Retrying { attempt, most, wait, reason } => {
            session.emit(|| Event::Retrying { attempt, most, wait, reason });
        }
        ModelEvent::Restarted { reason } => {
            retract(session, draft, &reason).await?;
            session.emit(|| Event::Restarted { reason });
        }
        ModelEvent::CacheMissed { reason } => draft.cache_miss = Some(reason),
        ModelEvent::ContextEdited { edits } => draft.context_edits = Some(edits),
        ModelEvent::Finished { .. } => {}
    }
    Ok(())
}

/// Writes the block that waits, with the reason why the answer ended if it is the last.
async fn write_held(
    session: &mut Session,
    draft: &mut Draft,
    last: Option<(&str, Usage)>,
) -> Result<(), Error> {
    let (Some((index, block)), Some(started)) = (draft.held.take(), &draft.started) else {
        return Ok(());
    };
    draft.written.push(block.clone());
    session
        .append(Entry::Assistant(AssistantEntry {
            message_id: started.message_id.clone(),
            request_id: started.request_id.clone(),
            model: started.model.clone(),
            index,
            block,
            usage: last.map_or(started.usage, |(_, usage)| usage),
            stop_reason: last.map(|(reason, _)| reason.to_owned()),
        }))
        .await?;
    Ok(())
}

async fn take_whole(
    session: &mut Session,
    mut draft: Draft,
    stop_reason: String,
    usage: Usage,
) -> Result<Answered, Error> {
    take_text_calls(session, &mut draft).await?;
    write_held(session, &mut draft, Some((&stop_reason, usage))).await?;
    let Some(started) = draft.started else {
        let message = "the answer ended before it began".into();
        return Ok(Answered::Failed(ModelError::Broken { message }));
    };
    book_main(session, &started.model, usage).await?;
    let reply = ModelReply {
        message_id: started.message_id,
        request_id: started.request_id,
        model: started.model,
        blocks: draft.written,
        stop_reason,
        usage,
        context_edits: draft.context_edits,
    };
    cache_breaks::note_answer(session, &session.source(), &reply, draft.cache_miss).await?;
    cache_breaks::note_edits(session, &reply).await?;
    Ok(Answered::Whole(reply))
}

/// Takes calls that the last block writes as text for what they are, where the
/// server did not (Q18).
async fn take_text_calls(session: &mut Session, draft: &mut Draft) -> Result<(), Error> {
    let is_call = |block: &Block| matches!(block.view(), BlockView::ToolUse { .. });
    let (Some((index, block)), Some(started)) = (&draft.held, &draft.started) else {
        return Ok(());
    };
    let by_server = draft.written.iter().any(is_call);
    if session.world.model.dialect() != Dialect::OpenAi || by_server {
        return Ok(());
    }
    let BlockView::Text(text) = block.view() else { return Ok(()) };
    let names: Vec<_> = session.toolbox.names().collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let Some(found) = text_calls::find(text, &names) else { return Ok(()) };
    let first = *index;
    let message = started.message_id.clone();
    let rest = (!found.rest.is_empty()).then(|| Block::text(found.rest));
    let calls = found.calls.into_iter().zip(1..).map(|((name, input), number)| {
        Block::tool_use(&ToolUseId::from(format!("call_{message}_{number}")), &name, input)
    });
    for (at, block) in (first..).zip(rest.into_iter().chain(calls)) {
        // The first takes the place of the text; the last waits for its end.
        if at > first {
            write_held(session, draft, None).await?;
        }
        draft.held = Some((at, block));
    }
    Ok(())
}

async fn book_main(session: &mut Session, model: &ModelId, usage: Usage) -> Result<(), Error> {
    let table = &session.config.models.table;
    let booking = Booking::new(session.source(), model.clone(), usage, table);
    session.book(booking).await
}

/// Takes back what was written of an answer that broke.
async fn retract(session: &mut Session, draft: &mut Draft, reason: &str) -> Result<(), Error> {
    let broken = std::mem::take(draft);
    let came = broken.came(session);
    let Some(started) = broken.started else { return Ok(()) };
    if !broken.written.is_empty() {
        let (message_id, reason) = (started.message_id, reason.to_owned());
        session.append(Entry::Decision(Decision::Retracted { message_id, reason })).await?;
    }
    // It was paid for, and will be again (E7).
    let usage = Usage { output: started.usage.output.max(came.all), ..started.usage };
    if usage != Usage::default() {
        let cost = session.config.models.table.spec(&started.model).cost(&usage);
        session.runtime.branch.guard.spend(cost);
        book_main(session, &started.model, usage).await?;
    }
    Ok(())
}

/// Tokens of an answer that was cut off, by what came of it (E8).
struct Came {
    /// Of what stays in view.
    kept: u64,
    /// With the thinking that does not.
    all: u64,
}

impl Draft {
    fn came(&self, session: &Session) -> Came {
        let limits = &session.config.limits;
        let whole = self.written.iter().chain(self.held.as_ref().map(|(_, block)| block));
        let whole: Tokens = whole.map(|block| estimate_block(block, limits)).sum();
        let partial: Tokens = self.partial.values().map(|text| estimate_text(text, limits)).sum();
        let apply = |tokens| session.state.fold.calibration().apply(tokens).0;
        let thought = estimate_text(&self.thought, limits);
        Came { kept: apply(whole + partial), all: apply(whole + partial + thought) }
    }
}

/// Keeps what had come of an answer that the person stopped.
async fn keep_partial(session: &mut Session, mut draft: Draft) -> Result<(), Error> {
    let came = draft.came(session);
    // The server tells what it wrote only at the end, which never came.
    let reported = draft.started.as_ref().map(|started| started.usage);
    if let Some(started) = draft.started.as_mut().filter(|own| own.usage != Usage::default()) {
        started.usage.output = started.usage.output.max(came.kept);
    }
    let partial = std::mem::take(&mut draft.partial);
    for (index, text) in partial {
        write_held(session, &mut draft, None).await?;
        draft.held = Some((index, Block::text(text)));
    }
    write_held(session, &mut draft, None).await?;
    if let (Some(started), Some(usage)) = (draft.started, reported) {
        let usage = Usage { output: usage.output.max(came.all), ..usage };
        book_main(session, &started.model, usage).await?;
    }
    Ok(())
}

/// The calls of an answer.
pub(crate) fn calls_of(blocks: &[Block]) -> Vec<ToolCall> {
    blocks
        .iter()
        .filter_map(|block| match block.view() {
            BlockView::ToolUse { id, name, input } => Some(ToolCall {
                id: ToolUseId::new(id),
                name: name.to_owned(),
                input: input.clone(),
            }),
            _ => None,
        })
        .collect()
}
