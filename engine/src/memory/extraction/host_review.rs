//! A conversation that another agent had (X1): the same review, by the same
//! prompt, gate and budget.
//!
//! What was said there is folded, never written to a log of ours; the log of
//! this session has what reviews cost and nothing else. There is no cached
//! prefix to share, so the small model is asked, and only about what is new.

use super::Session;
use crate::background::budget::Denied;
use crate::memory::extraction;
use crate::session::{Error, effects, prelude, weighed};
use everfold_economy::Weighing;
use everfold_extract::{Due, Worth, due, worth};
use everfold_kernel::ports::ModelKind;
use everfold_kernel::record::{ActSum, SumVerdict};
use everfold_kernel::settings::Reviewer;
use everfold_kernel::{
    Block, Decision, Entry, QuerySource, Record, RecordId, Tokens, ToolUseId, Usd, UserEntry,
    UserOrigin,
};
use everfold_prefix::message::INTERRUPTED;
use std::collections::BTreeMap;
use std::time::Duration;

/// How often what a review costs is booked while it runs.
const BOOK_EVERY: Duration = Duration::from_millis(500);

/// What came of a review of another agent's conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum HostReview {
    /// It was looked through to its end.
    Over,
    /// Nobody wants a review now: it is switched off, too early, or there is no
    /// model to ask.
    Unwanted,
    /// The budget says no.
    Denied(Denied),
    /// The model does not take it: the same need not be sent again (X11).
    Refused,
    /// It did not come to its end, and is to be tried again.
    Failed,
}

/// Reviews what was said elsewhere, after so many turns, and takes at most
/// so long. What it costs is booked here.
///
/// # Errors
/// If the log cannot be written.
pub async fn review_host_conversation(
    session: &mut Session,
    records: Vec<Record>,
    turns: u64,
    at_most: Duration,
) -> Result<HostReview, Error> {
    let Some(scene) = extraction::scene(session) else { return Ok(HostReview::Unwanted) };
    if let Due::Not(why) =
        due(session.config.background.extraction, turns, &session.config.limits.extract)
    {
        tracing::debug!(?why, "no review");
        return Ok(HostReview::Unwanted);
    }
    // Whoever calls knows by the place in the file what is new. Ids are no help:
    // readers of some transcripts count from where they started.
    session.memory.extraction.follow(None, 0);
    let reviewed = cost_of(session, &records);
    fold_host_conversation(session, records)?;
    let found = extraction::to_review(session, &scene);
    match worth(&found) {
        Worth::Nothing | Worth::Passing => return Ok(HostReview::Over),
        Worth::SavedAlready => scene.passed(&found),
        Worth::Asking if session.world.model.kind() == ModelKind::Rules => {
            return Ok(HostReview::Unwanted);
        }
        Worth::Asking => {
            let sum = review_sum(session, reviewed);
            if let Err(denied) = session.budget.allows_review(sum.cost(), reviewed).await {
                return Ok(HostReview::Denied(denied));
            }
            weighed::note_sum(session, sum).await?;
            // There is no cached prefix that a fork could read.
            match session.config.memory.keep.reviewer {
                Reviewer::Fork => extraction::send_reviewer(session, scene),
                Reviewer::Auto | Reviewer::Small => extraction::send_small(session, scene),
            }
        }
    }
    drain_and_book(session, at_most).await?;
    let (is_over, is_refused) = {
        let state = session.memory.extraction.state();
        (!state.done.is_empty(), state.is_refused)
    };
    extraction::note_reviews(session).await?;
    effects::book_side_queries(session).await?;
    Ok(match (is_over, is_refused) {
        (true, _) => HostReview::Over,
        (false, true) => HostReview::Refused,
        (false, false) => HostReview::Failed,
    })
}

/// Waits for what runs, and books what it costs as it goes: whoever does
/// this may be killed.
async fn drain_and_book(session: &mut Session, at_most: Duration) -> Result<(), Error> {
    let background = session.runtime.background.clone();
    let mut drained = std::pin::pin!(background.drain(at_most));
    while tokio::time::timeout(BOOK_EVERY, &mut drained).await.is_err() {
        effects::book_side_queries(session).await?;
    }
    Ok(())
}

/// Folds a conversation, with a system prompt and tools before it. A call
/// that has no result yet is answered: nothing may be open for a fork.
fn fold_host_conversation(session: &mut Session, records: Vec<Record>) -> Result<(), Error> {
    let prelude = prelude::compose_prelude_for(session, &session.config.models.small)?;
    let at = session.world.clock.now();
    let record = |id: String, entry| Record { id: RecordId::from(id), parent: None, at, entry };
    let prelude = Entry::Decision(Decision::Prelude(Box::new(prelude)));
    session.state.fold.push(record("prelude".into(), prelude));
    for record in records {
        session.state.fold.push(record);
    }
    for id in session.state.fold.open_calls() {
        let content = vec![Block::tool_error(&ToolUseId::new(&id), INTERRUPTED)];
        let origin = UserOrigin::ToolResult;
        let answer = Entry::User(UserEntry {
            content,
            origin,
            tool_use_result: None,
            provenance: Vec::new(),
        });
        session.state.fold.push(record(format!("open-{id}"), answer));
    }
    Ok(())
}

/// What the requests of another agent cost, as far as they say what they used.
fn cost_of(session: &Session, records: &[Record]) -> Usd {
    let mut used = BTreeMap::new();
    for record in records {
        if let Entry::Assistant(answer) = &record.entry {
            used.insert(&answer.message_id, (&answer.model, answer.usage));
        }
    }
    let table = &session.config.models.table;
    let costs = used.into_values().filter_map(|(model, usage)| table.spec(model).cost(&usage));
    Usd(costs.map(|cost| cost.0).sum())
}

/// What a review is taken to cost, beside what it reviews (E1).
fn review_sum(session: &Session, reviewed: Usd) -> ActSum {
    let limits = &session.config.limits.economy;
    let (terms, tokens) = (weighed::cost_terms(session), session.state.fold.count());
    let answer = Tokens(limits.review_output_tokens);
    Weighing::new(QuerySource::Extract, "review another agent's session", &terms)
        .costs("one pass over what was said", tokens, terms.pass(tokens).unwrap_or_default())
        .costs("what it finds", answer, terms.output(answer))
        .saves("what was reviewed had cost", tokens, reviewed)
        .as_decided(SumVerdict::Done)
}
