//! A turn that fills its view again and again (L4.15), and the ceiling of what
//! that may cost (E7).

use crate::event::Event;
use crate::session::{Error, Session};
use crate::setups::hooks::tool_events::ask_person;
use crate::window::ladder::Climbed;
use everfold_kernel::Tokens;
use everfold_kernel::ports::{PermissionAnswer, PermissionAsk};
use everfold_kernel::settings::Surface;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio_util::sync::CancellationToken;

/// The kind of the reminder that names the cause to the model.
const KIND: &str = "window_refills";
/// Causes that are named.
const MOST_CAUSES: usize = 5;
/// Characters of a command or pattern that is named.
const TARGET_CHARS: usize = 80;

/// What fills the view, the largest first.
pub(crate) fn causes(session: &Session) -> String {
    let mut sizes: BTreeMap<String, Tokens> = BTreeMap::new();
    for result in session.state.fold.results() {
        let target = result.input.map(target).unwrap_or_default();
        *sizes.entry(format!("{} {target}", result.tool)).or_default() += result.piece.tokens;
    }
    let mut sizes: Vec<(String, Tokens)> = sizes.into_iter().collect();
    sizes.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    let named = sizes.iter().take(MOST_CAUSES);
    let named = named.map(|(call, tokens)| format!("{call} ({} tokens)", tokens.0));
    named.collect::<Vec<_>>().join(", ")
}

fn target(input: &Value) -> String {
    let keys = ["file_path", "command", "pattern", "url", "id"];
    let found = keys.iter().find_map(|key| input.get(key)?.as_str());
    found.unwrap_or_default().chars().take(TARGET_CHARS).collect()
}

/// Tells the person and the model why no more summaries are bought.
pub(crate) async fn tell(session: &mut Session, causes: &str) -> Result<(), Error> {
    let spent = session.runtime.branch.guard.spent();
    let repeats = session.runtime.branch.guard.repeats();
    let notice = format!(
        "the window fills up again right after each summary: {causes}; {repeats} calls were \
         repeated, and summaries have cost ${:.2} in this turn. No more are made in it, and \
         repeated results come as excerpts",
        spent.0
    );
    session.emit(|| Event::Notice(notice));
    let text = format!(
        "The conversation had to be summed up several times in a row, because the same large \
         results were fetched again after every summary: {causes}. Until this turn ends, a call \
         that repeats an earlier one is answered with an excerpt. Read only the part that you \
         need (offset and limit, or Grep), write down what you learn from it, and go on."
    );
    session.attach(KIND, &text, json!({ "causes": causes })).await
}

/// What is left of a result that repeats an earlier call while the view thrashes.
pub(crate) fn excerpt(session: &mut Session, tool: &str, input: &Value, content: Value) -> Value {
    let repeats = session.runtime.branch.guard.called(tool, input);
    let limits = &session.config.limits.economy;
    if !repeats || !session.runtime.branch.guard.is_thrashing(limits) {
        return content;
    }
    let Value::String(text) = &content else { return content };
    match text.char_indices().nth(limits.excerpt_chars) {
        None => content,
        Some((end, _)) => {
            let start = text.get(..end).unwrap_or_default();
            let left = text.len().saturating_sub(end);
            Value::String(format!(
                "{start}\n[Excerpt: {left} more bytes are left out, because this call repeats an \
                 earlier one and the window keeps filling up. Ask for the part that you need.]"
            ))
        }
    }
}

/// Whether summaries and repeated requests of this turn cost as much as they
/// may: the person is asked, and without one the turn ends (E7).
pub(crate) async fn check_ceiling(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<Climbed, Error> {
    let ceiling = session.config.background.budget.turn_ceiling_usd;
    if !session.runtime.branch.guard.is_over(ceiling) {
        return Ok(Climbed::Done);
    }
    let spent = session.runtime.branch.guard.spent();
    let is_headless = session.config.background.extraction.surface == Surface::Headless;
    if is_headless || !session.is_main() {
        return Ok(Climbed::OverCeiling(spent));
    }
    let summary = format!(
        "This turn has spent ${:.2} on summaries and retries; the ceiling is \
         ${ceiling:.2} (everfold.budget.turn_ceiling_usd). Continue for as much again?",
        spent.0
    );
    let input = json!({ "spent_usd": spent.0, "ceiling_usd": ceiling });
    let ask = PermissionAsk { tool: "Spending".into(), input, summary, rule: "Spending".into() };
    Ok(match ask_person(session, ask, cancel).await? {
        PermissionAnswer::Allow => {
            session.runtime.branch.guard.raise(ceiling);
            Climbed::Done
        }
        PermissionAnswer::AllowAlways => {
            session.runtime.branch.guard.raise(f64::INFINITY);
            Climbed::Done
        }
        PermissionAnswer::Deny { .. } => Climbed::OverCeiling(spent),
    })
}
