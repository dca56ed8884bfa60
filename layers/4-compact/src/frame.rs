//! The text around a summary: what it is, and how to bring things back.

use crate::RECALL_TOOL;
use crate::apply::Summary;
use crate::past::{Past, Span};
use crate::plan::{Plan, Trigger, Way};
use mnemon_kernel::record::{Keeps, neutralise};
use mnemon_kernel::{Limits, Role};
use mnemon_prefix::Fold;

/// How much the frame says of what is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// The spans by their ids.
    Spans,
    /// The first and the last id.
    Range,
}

const OPEN: &str = "<conversation-summary>";
const CLOSE: &str = "</conversation-summary>";
const GO_ON: &str = "Go on with the work from where it stood. Do not greet, do not repeat the summary, and do not ask what was already answered.";

/// The message that stands for what is gone.
pub(crate) fn render(
    plan: &Plan,
    past: &Past,
    summary: &Summary,
    listing: Listing,
    limits: &Limits,
) -> String {
    let place = match plan.keeps {
        Keeps::Suffix => "The conversation up to here was compacted",
        Keeps::Prefix => "The part of the conversation that followed here was compacted",
    };
    let writer = match summary.way {
        Way::Model => "The summary below was written by the model",
        Way::Notes => "The summary below is the session's running notes",
        Way::Local => "The summary below was put together by the program, without a model",
    };
    let head = format!(
        "{place}: {} messages, about {} tokens. {writer}; it stands for them.",
        past.messages, past.tokens.0
    );
    let body = format!("{OPEN}\n{}\n{CLOSE}", neutralise(summary.text.trim()));
    let tail = (plan.trigger == Trigger::Auto).then(|| GO_ON.to_owned());
    let parts: Vec<String> =
        [head, gone(past, listing, limits), body].into_iter().chain(tail).collect();
    parts.join("\n\n")
}

/// The summary alone, out of the text around it.
pub(crate) fn body(text: &str) -> &str {
    let start = text.split_once(OPEN).map_or(text, |(_, body)| body);
    start.rsplit_once(CLOSE).map_or(start, |(body, _)| body).trim()
}

fn gone(past: &Past, listing: Listing, limits: &Limits) -> String {
    let (Some(first), Some(last)) = (past.spans.first(), past.spans.last()) else {
        return String::new();
    };
    let range = format!(
        "Nothing is lost: the transcript keeps every message, from record {} to record {}. {RECALL_TOOL} with a record id brings one back word for word; do that before you guess at something the summary does not say.",
        first.from, last.to
    );
    if listing == Listing::Range {
        return range;
    }
    let turns = spans(&past.spans, limits.compact.span_items).into_iter().map(|span| {
        let words = neutralise(&span.words);
        format!("- {} to {} ({} tokens): {words}", span.from, span.to, span.tokens)
    });
    let lines: Vec<String> = [format!("{range} By turn:")].into_iter().chain(turns).collect();
    lines.join("\n")
}

/// At most so many spans; the oldest ones become one.
pub(crate) fn spans(all: &[Span], most: usize) -> Vec<Span> {
    let over = all.len().saturating_sub(most.max(1));
    let (old, new) = all.split_at_checked(over + usize::from(over > 0)).unwrap_or((&[], all));
    let merged = old.first().zip(old.last()).map(|(first, last)| Span {
        from: first.from.clone(),
        to: last.to.clone(),
        words: format!("{} turns, the first: {}", old.len(), first.words),
        tokens: old.iter().map(|span| span.tokens).sum(),
    });
    merged.into_iter().chain(new.iter().cloned()).collect()
}

/// What is said last where a request follows and nothing else is the user's.
pub(crate) fn go_on(before: &Fold, after: &Fold) -> Option<String> {
    let speaker = |fold: &Fold| fold.messages().last().map(mnemon_prefix::Message::role);
    let waits = speaker(before) == Some(Role::User) && speaker(after) == Some(Role::Assistant);
    waits.then(|| "Go on from the summary above.".to_owned())
}
