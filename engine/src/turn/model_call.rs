//! One request and its answer, block by block into the log.
//!
//! A block's line is written when the next event shows what follows it, so
//! that the last line of an answer carries its final usage. A kill at any
//! moment loses at most the block that was being received.

use crate::event::Event;
use crate::session::{Error, Session, cache_breaks};
use crate::setups::web_search;
use crate::tools::ToolCall;
use everfold_kernel::ports::{ModelError, ModelEvent, ModelReply, ModelStream};
use everfold_kernel::usage::Booking;
use everfold_kernel::{
    AssistantEntry, Block, BlockView, Decision, Entry, MessageId, ModelId, RequestId, ToolUseId,
    Usage,
};
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
    let opened = tokio::select! {
        opened = model.call(call) => opened,
        () = cancel.cancelled() => return Ok(Answered::Cancelled),
    };
    match opened {
        Ok(stream) => receive(session, stream, cancel).await,
        Err(error) => Ok(Answered::Failed(error)),
    }
}

async fn receive(
    session: &mut Session,
    mut stream: ModelStream,
    cancel: &CancellationToken,
) -> Result<Answered, Error> {
    let mut draft = Draft::default();
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            () = cancel.cancelled() => {
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
            draft.started = Some(Started { message_id, request_id, model, usage });
        }
        ModelEvent::Text { index, text } => {
            draft.partial.entry(index).or_default().push_str(&text);
            session.emit(|| Event::Text(text));
        }
        ModelEvent::Thinking { text, .. } => session.emit(|| Event::Thinking(text)),
        ModelEvent::Block { index, block } => {
            draft.partial.remove(&index);
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

async fn book_main(session: &mut Session, model: &ModelId, usage: Usage) -> Result<(), Error> {
    let table = &session.config.models.table;
    let booking = Booking::new(session.source(), model.clone(), usage, table);
    session.book(booking).await
}

/// Takes back what was written of an answer that broke.
async fn retract(session: &mut Session, draft: &mut Draft, reason: &str) -> Result<(), Error> {
    let broken = std::mem::take(draft);
    if let (Some(started), false) = (broken.started, broken.written.is_empty()) {
        let (message_id, reason) = (started.message_id, reason.to_owned());
        session.append(Entry::Decision(Decision::Retracted { message_id, reason })).await?;
    }
    Ok(())
}

/// Keeps what had come of an answer that the person stopped.
async fn keep_partial(session: &mut Session, mut draft: Draft) -> Result<(), Error> {
    let partial = std::mem::take(&mut draft.partial);
    for (index, text) in partial {
        write_held(session, &mut draft, None).await?;
        draft.held = Some((index, Block::text(text)));
    }
    write_held(session, &mut draft, None).await?;
    if let Some(started) = draft.started {
        book_main(session, &started.model, started.usage).await?;
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
