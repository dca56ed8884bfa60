//! The text around a summary: what it is, and how to bring things back.

use crate::apply::Summary;
use crate::check::CHANGED_FILE;
use crate::facts::{Span, SpanFacts};
use crate::plan::{Newest, Plan, Summariser, Trigger};
use crate::{RECALL_TOOL, local_summary, user_messages};
use everfold_kernel::record::{Keeps, neutralise};
use everfold_kernel::{Limits, Role, Tokens};
use everfold_prefix::Fold;

/// How much the frame says of what is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    /// The spans by their ids.
    Spans,
    /// The first and the last id.
    Range,
}

const OLDER: &str = "older turns, the first: ";
const RANGE: &str = ", from record ";
const TO: &str = " to record ";
const CHANGED_OPEN: &str = "<changed-files>";
const CHANGED_CLOSE: &str = "</changed-files>";
const OPEN: &str = "<conversation-summary>";
const CLOSE: &str = "</conversation-summary>";
const GO_ON: &str = "Go on with the work from where it stood. Do not greet, do not repeat the summary, and do not ask what was already answered.";

/// The message that stands for what is gone.
pub(crate) fn render(
    plan: &Plan,
    past: &SpanFacts,
    summary: &Summary,
    (listing, room): (Listing, Tokens),
    limits: &Limits,
) -> String {
    let place = match plan.keeps {
        Keeps::Suffix => "The conversation up to here was compacted",
        Keeps::Prefix => "The part of the conversation that followed here was compacted",
    };
    let writer = match summary.way {
        Summariser::Model => "The summary below was written by the model",
        Summariser::Notes => "The summary below is the session's running notes",
        Summariser::Local => "The summary below was put together by the program, without a model",
    };
    let head = format!(
        "{place}: {} messages, about {} tokens. {writer}; it stands for them.",
        past.messages, past.tokens.0
    );
    let body = format!("{OPEN}\n{}\n{CLOSE}", neutralise(summary.text.trim()));
    let stays = (plan.keeps == Keeps::Suffix && !plan.preserved.is_empty())
        .then(|| "After this come, word for word, the messages that stay.".to_owned());
    let tail = (plan.trigger == Trigger::Auto).then(|| GO_ON.to_owned());
    let parts: Vec<String> = [head, gone(past, listing, limits), body]
        .into_iter()
        .chain(newest(plan, past, summary, (room, limits)))
        .chain(changed(past, summary, limits))
        .chain(stays)
        .chain(tail)
        .collect();
    parts.join("\n\n")
}

/// What the person said last, where it goes and the summary has not got it (Q19).
fn newest(
    plan: &Plan,
    past: &SpanFacts,
    summary: &Summary,
    (room, limits): (Tokens, &Limits),
) -> Option<String> {
    let said = past.said.last().filter(|_| plan.newest == Newest::Goes)?;
    if summary.text.contains(said.text.trim()) {
        return None;
    }
    let most = limits.compact.user_message_tokens.min(room.0 / 2);
    let chosen = user_messages::choose(std::slice::from_ref(said), most, limits);
    let said = chosen.first()?.render();
    Some(format!("What the person said last:\n{}", neutralise(&said)))
}

/// The summary alone, out of the text around it.
pub(crate) fn body(text: &str) -> &str {
    let start = text.split_once(OPEN).map_or(text, |(_, body)| body);
    start.rsplit_once(CLOSE).map_or(start, |(body, _)| body).trim()
}

fn gone(past: &SpanFacts, listing: Listing, limits: &Limits) -> String {
    let all: Vec<Span> = past.earlier_spans.iter().chain(&past.spans).cloned().collect();
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        return String::new();
    };
    let range = format!(
        "Nothing is lost: the transcript keeps every message{RANGE}{}{TO}{}. {RECALL_TOOL} with a record id brings one back word for word; do that before you guess at something the summary does not say.",
        first.from, last.to
    );
    if listing == Listing::Range {
        return range;
    }
    let turns = spans(&all, limits.compact.span_items).into_iter().map(|span| {
        let words = neutralise(&span.words);
        format!("- {} to {} ({} tokens): {words}", span.from, span.to, span.tokens)
    });
    let lines: Vec<String> = [format!("{range} By turn:")].into_iter().chain(turns).collect();
    lines.join("\n")
}

/// The spans that the text around a summary names.
pub(crate) fn spans_in(text: &str) -> Vec<Span> {
    let head = text.split_once(OPEN).map_or("", |(head, _)| head);
    let spans: Vec<Span> = head.lines().filter_map(span_in).collect();
    if !spans.is_empty() {
        return spans;
    }
    let range = head.split_once(RANGE).and_then(|(_, range)| range.split_once(". "));
    let ends = range.and_then(|(range, _)| range.split_once(TO));
    let whole = ends.map(|(from, to)| Span {
        from: from.into(),
        to: to.into(),
        words: "compacted before".to_owned(),
        tokens: 0,
    });
    whole.into_iter().collect()
}

fn span_in(line: &str) -> Option<Span> {
    let (ends, rest) = line.strip_prefix("- ")?.split_once(" (")?;
    let (from, to) = ends.split_once(" to ")?;
    let (tokens, words) = rest.split_once(" tokens): ")?;
    let tokens = tokens.parse().ok()?;
    Some(Span { from: from.into(), to: to.into(), words: words.to_owned(), tokens })
}

/// The changed files, where the summary does not list them one to a line: so
/// the next compaction still knows them.
fn changed(past: &SpanFacts, summary: &Summary, limits: &Limits) -> Option<String> {
    let listed = changed_in(&summary.text);
    let mut missing: Vec<&str> = past
        .files
        .iter()
        .rev()
        .filter(|file| file.is_changed() && !listed.contains(&file.path))
        .take(limits.compact.list_items)
        .map(|file| file.path.as_str())
        .collect();
    missing.reverse();
    let wanted = summary.way != Summariser::Local && !missing.is_empty();
    wanted.then(|| {
        format!("Files changed so far:\n{CHANGED_OPEN}\n{}\n{CHANGED_CLOSE}", missing.join("\n"))
    })
}

/// The files that a summary, or the text around it, names as changed.
pub(crate) fn changed_in(text: &str) -> Vec<String> {
    let block = text.rsplit_once(CHANGED_OPEN).and_then(|(_, tail)| tail.split_once(CHANGED_CLOSE));
    let bare = block.map_or("", |(block, _)| block).trim().lines();
    let carried = text.lines().filter_map(|line| line.strip_prefix(CHANGED_FILE));
    let mut found: Vec<String> = Vec::new();
    for path in local_summary::changed_in(text).into_iter().chain(carried).chain(bare) {
        if !found.iter().any(|own| own == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// At most so many spans; the oldest ones become one.
pub(crate) fn spans(all: &[Span], most: usize) -> Vec<Span> {
    let over = all.len().saturating_sub(most.max(1));
    let (old, new) = all.split_at_checked(over + usize::from(over > 0)).unwrap_or((&[], all));
    let merged = old.first().zip(old.last()).map(|(first, last)| Span {
        from: first.from.clone(),
        to: last.to.clone(),
        words: format!("{OLDER}{}", first.words.trim_start_matches(OLDER)),
        tokens: old.iter().map(|span| span.tokens).sum(),
    });
    merged.into_iter().chain(new.iter().cloned()).collect()
}

/// What is said last where a request follows and nothing else is the user's.
pub(crate) fn go_on(before: &Fold, after: &Fold) -> Option<String> {
    let speaker = |fold: &Fold| fold.messages().last().map(everfold_prefix::Message::role);
    let waits = speaker(before) == Some(Role::User) && speaker(after) == Some(Role::Assistant);
    waits.then(|| "Go on from the summary above.".to_owned())
}
