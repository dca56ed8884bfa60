//! When something fails (R17): what a command printed as it failed, or a tool
//! reported, is looked up once. A memory that knows the cause joins at the tool
//! boundary, behind the result, under the gate and the budget of any other.

use super::recall::{self, bring_in};
use crate::session::{Error, Session};
use everfold_kernel::ports::{QueryKind, RecallQuery};
use everfold_memory_recall::{DistinctTokens, budget};

/// Hears of a call that failed. One of which nothing can be looked for, or that
/// failed so before, is let go.
pub(crate) fn hear(session: &mut Session, said: &str) {
    if session.config.memory.recall.on_failure == Some(false) || !session.is_main() {
        return;
    }
    let text = budget::both_ends(said, session.config.limits.recall.failure_bytes);
    let tokens = DistinctTokens::of(&text).joined();
    let failures = &mut session.runtime.branch.failures;
    if !tokens.is_empty() && failures.looked_up.insert(tokens) {
        failures.waiting.push(text);
    }
}

/// Brings in what memories know of the calls that failed.
pub(crate) async fn join_causes(session: &mut Session) -> Result<(), Error> {
    let most = session.config.limits.recall.failures;
    let failures = std::mem::take(&mut session.runtime.branch.failures.waiting);
    for text in failures.into_iter().take(most) {
        let Some(memories) = recall::source(session) else { return Ok(()) };
        let view = recall::recall_view(session);
        if !budget::has_room(view.injected(), view.limits) {
            return Ok(());
        }
        let known = recall::known_memories(session);
        let query = RecallQuery { kind: QueryKind::Output, ..view.query(&text, known) };
        match memories.recall(query).await {
            Ok(found) => bring_in(session, found.shown).await?,
            Err(error) => tracing::info!(%error, "no memories are brought in for a failure"),
        }
    }
    Ok(())
}
