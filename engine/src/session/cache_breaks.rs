//! Watching the prompt cache: a break that nothing announced is said once, with
//! the part that changed and what it cost (PC6).

use crate::event::Event;
use crate::session::fork::{Start, Thread};
use crate::session::{Error, Session};
use everfold_kernel::ports::ModelReply;
use everfold_kernel::record::Dialect;
use everfold_kernel::{Decision, Entry, QuerySource, Tokens};
use everfold_prefix::Request;
use everfold_prefix::breaks::{Answered, RequestBase, Sent};

/// Takes note of a request that is about to be sent. A break that was
/// declared is announced with it.
pub(crate) fn note_request(
    session: &mut Session,
    source: &QuerySource,
    base: RequestBase,
    request: &Request,
) {
    let declared = match base {
        RequestBase::Nothing => None,
        RequestBase::Own | RequestBase::Main => session.state.fold.take_break(),
    };
    session.runtime.cache.detector.sent(Sent {
        source: source.clone(),
        base,
        fingerprint: request.fingerprint.clone(),
        at: session.world.clock.now(),
        declared,
    });
}

/// Whose request the next one continues.
pub(crate) fn base(session: &Session) -> RequestBase {
    let asked_before = session.ledger().total().requests > 0;
    match &session.thread {
        Thread::Agent { start: Start::Parent, .. } | Thread::Fork { start: Start::Parent, .. }
            if !asked_before =>
        {
            RequestBase::Main
        }
        _ => RequestBase::Own,
    }
}

/// Whether the server is asked why it did not read its cache.
pub(crate) fn asks_why(session: &Session) -> bool {
    session.config.models.offers.cache_diagnostics
        && session.world.model.dialect() == Dialect::Anthropic
}

/// Looks at what an answer says it read from the cache. Where the server
/// cleared something by itself, less is read and that is no fault (L2.4).
pub(crate) async fn note_answer(
    session: &mut Session,
    source: &QuerySource,
    reply: &ModelReply,
    server_reason: Option<String>,
) -> Result<(), Error> {
    let usage = reply.usage;
    let prices =
        session.config.models.table.spec(&reply.model).prices_for(usage.prompt().0).copied();
    let answer = Answered { usage, prices, server_reason };
    let seen = session.runtime.cache.detector.answered(source, answer);
    let Some(seen) = seen.filter(|_| reply.context_edits.is_none()) else { return Ok(()) };
    let cost = seen.cost.map_or_else(String::new, |cost| format!(", ${:.4}", cost.0));
    let server = seen.server_reason.as_ref();
    let server = server.map_or_else(String::new, |reason| format!(" (the server: {reason})"));
    let text = format!(
        "the prompt cache broke: {}{server}; {} tokens were paid for again{cost}",
        seen.part, seen.tokens
    );
    session.append(Entry::Decision(Decision::BreakSeen(seen))).await?;
    session.emit(|| Event::Notice(text));
    Ok(())
}

/// Books what the server says that it cleared by itself (L2.4), and tells it.
pub(crate) async fn note_edits(session: &mut Session, reply: &ModelReply) -> Result<(), Error> {
    let edits = reply.context_edits.as_ref().map(everfold_prune::applied_edits);
    let Some(edits) = edits.filter(|edits| !edits.is_empty()) else { return Ok(()) };
    let tokens: Tokens = edits.iter().map(|edit| edit.cleared_input_tokens).sum();
    let results: u64 = edits.iter().filter_map(|edit| edit.cleared_tool_uses).sum();
    let text = format!(
        "the server cleared {} tokens of the prompt ({results} tool results); \
         the transcript keeps them",
        tokens.0
    );
    session.append(Entry::Decision(Decision::ServerCleared { edits })).await?;
    session.emit(|| Event::Notice(text));
    Ok(())
}
