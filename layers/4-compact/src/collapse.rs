//! Context collapse: finished rounds shown by short summaries (L4.13).
//!
//! An alternative to auto-compact. Spans are chosen oldest first and summed up
//! in the background; they wait as [`Staged`] until the conversation is near
//! its limit and are then committed together, so that the cache breaks once.
//! What the person said, pins and the newest rounds are never part of a span.

use crate::error::Error;
use crate::facts::SpanFacts;
use crate::{clip, local_summary, pairs, prompt};
use everfold_kernel::effect::{Ask, AskShape};
use everfold_kernel::{
    BlockView, Decision, Effect, Flag, Flags, Limits, QuerySource, RecordId, Role, Tokens, Window,
};
use everfold_prefix::{Fold, Message, Showing};
use std::collections::BTreeSet;

/// Finished rounds that can be shown by a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollapseCandidate {
    /// The first record.
    pub from: RecordId,
    /// The last record.
    pub to: RecordId,
    /// Their tokens, before calibration.
    pub tokens: Tokens,
}

/// A span with its summary, not yet shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    pub span: CollapseCandidate,
    /// What will stand in its place.
    pub summary: String,
}

/// Where the conversation stands, while collapsing is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressure {
    Off,
    /// There is room: spans may be staged.
    Stage,
    /// What is staged is to be committed.
    Commit,
    /// No request can be made until something goes.
    Refuse,
}

/// How near the limit a conversation is.
#[must_use]
pub fn pressure(fold: &Fold, window: &Window, flags: &Flags, limits: &Limits) -> Pressure {
    if !flags.is_on(Flag::Collapse) {
        return Pressure::Off;
    }
    let count = fold.count().0.saturating_mul(100);
    let at = |percent: u64| window.effective.0.saturating_mul(percent);
    if count > at(limits.compact.collapse_refuse_percent) {
        Pressure::Refuse
    } else if count >= at(limits.compact.collapse_commit_percent) {
        Pressure::Commit
    } else {
        Pressure::Stage
    }
}

/// One finished exchange: a response and all its results, if it has any, and
/// nothing else between.
struct Round {
    from: RecordId,
    to: RecordId,
    tokens: Tokens,
    /// Whether the next round follows without anything in between.
    joins: bool,
}

/// The spans that can be collapsed, oldest first.
#[must_use]
pub fn candidates(fold: &Fold, limits: &Limits) -> Vec<CollapseCandidate> {
    let own = &limits.compact;
    let mut spans: Vec<CollapseCandidate> = Vec::new();
    let mut open = false;
    for round in rounds(fold, own.collapse_keep_rounds) {
        let Some(round) = round else {
            open = false;
            continue;
        };
        match spans.last_mut() {
            Some(last) if open && last.tokens.0 < own.collapse_span_most_tokens => {
                last.to = round.to;
                last.tokens += round.tokens;
            }
            _ => spans.push(CollapseCandidate {
                from: round.from,
                to: round.to,
                tokens: round.tokens,
            }),
        }
        open = round.joins;
    }
    spans.retain(|span| span.tokens.0 >= own.collapse_span_tokens);
    spans
}

/// The rounds but the newest ones; none for one that has to stay as it is.
fn rounds(fold: &Fold, keep: usize) -> Vec<Option<Round>> {
    let pins: BTreeSet<RecordId> =
        pairs::close(fold, &fold.pins().cloned().collect()).into_iter().collect();
    let messages = fold.messages();
    let mut all: Vec<Option<Round>> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.role() == Role::Assistant)
        .map(|(index, response)| round(response, messages.get(index + 1), &pins))
        .collect();
    all.truncate(all.len().saturating_sub(keep));
    all
}

fn round(response: &Message, next: Option<&Message>, pins: &BTreeSet<RecordId>) -> Option<Round> {
    let calls: BTreeSet<&str> = response.tool_calls().collect();
    let after = next.filter(|next| next.role() == Role::User).map_or(&[][..], Message::pieces);
    let is_answer = |piece: &&everfold_prefix::Piece| matches!(piece.block.view(), BlockView::ToolResult { id, .. } if calls.contains(id));
    let answers: Vec<_> = after.iter().take_while(is_answer).collect();
    let own = || response.pieces().iter().chain(answers.iter().copied());
    let stays = own().any(|piece| pins.contains(&piece.record) || piece.shown == Showing::StandsIn);
    // A record that reaches beyond the answers cannot be cut in two.
    let beyond = after.iter().skip(answers.len());
    let torn = beyond.clone().any(|piece| own().any(|inner| inner.record == piece.record));
    if answers.len() != calls.len() || stays || torn {
        return None;
    }
    let last = answers.last().copied().or_else(|| response.pieces().last())?;
    Some(Round {
        from: response.pieces().first()?.record.clone(),
        to: last.record.clone(),
        tokens: own().map(|piece| piece.tokens).sum(),
        joins: beyond.count() == 0,
    })
}

/// Asks a small model to sum a span up.
///
/// # Errors
/// If the span is not in view, or the prompt of this version does not fit.
pub fn ask(fold: &Fold, span: &CollapseCandidate, limits: &Limits) -> Result<Effect, Error> {
    let own = &limits.compact;
    let part = part(fold, span)?;
    let said = |(role, piece): (Role, &everfold_prefix::Piece)| {
        let shown = crate::facts::shown(&piece.block);
        let text = clip::tokens(&shown, own.collapse_span_tokens, limits);
        let thinks =
            matches!(piece.block.view(), BlockView::Thinking(_) | BlockView::RedactedThinking);
        (!thinks).then(|| format!("[{}] {text}", role.as_str()))
    };
    let text = pairs::pieces(&part).filter_map(said).collect::<Vec<_>>().join("\n");
    let prompt = prompt::span(&text, own.collapse_summary_tokens / 2)?;
    Ok(Effect::Ask(Ask {
        source: QuerySource::Compact,
        shape: AskShape::Side { model: None, system: String::new(), prompt, schema: None },
        max_tokens: own.collapse_summary_tokens,
    }))
}

/// Stages a span with a model's answer; without one, with a summary of our own.
///
/// # Errors
/// If the span is not in view.
pub fn stage(
    fold: &Fold,
    span: CollapseCandidate,
    answer: Option<&str>,
    limits: &Limits,
) -> Result<Staged, Error> {
    let most = limits.compact.collapse_summary_tokens;
    let body = match answer.map(str::trim).filter(|answer| !answer.is_empty()) {
        Some(answer) => clip::tokens_by_line(answer, most, limits).to_owned(),
        None => local_summary::write(&SpanFacts::of(&part(fold, &span)?, limits), most, limits),
    };
    let summary = format!(
        "[Finished rounds, records {} to {}, in short; they are in the transcript and can be shown again.]\n{}",
        span.from,
        span.to,
        everfold_kernel::record::neutralise(&body)
    );
    Ok(Staged { span, summary })
}

/// What goes into the log once the conversation is near its limit: as many of
/// the staged spans, oldest first, as are still in view and get smaller.
#[must_use]
pub fn commit(
    fold: &Fold,
    window: &Window,
    flags: &Flags,
    staged: &[Staged],
    limits: &Limits,
) -> Vec<Decision> {
    if matches!(pressure(fold, window, flags, limits), Pressure::Off | Pressure::Stage) {
        return Vec::new();
    }
    let current = candidates(fold, limits);
    let smaller = |staged: &&Staged| {
        let size = everfold_kernel::tokens::estimate_text(&staged.summary, limits);
        let inside = current.iter().any(|span| covers(fold, span, &staged.span));
        inside && size < staged.span.tokens
    };
    staged
        .iter()
        .filter(smaller)
        .map(|staged| Decision::Collapsed {
            from: staged.span.from.clone(),
            to: staged.span.to.clone(),
            summary: staged.summary.clone(),
        })
        .collect()
}

/// Whether a span still lies within what can be collapsed: nothing in it was
/// pinned or collapsed since.
fn covers(fold: &Fold, outer: &CollapseCandidate, inner: &CollapseCandidate) -> bool {
    let at = |record: &RecordId| pairs::position(fold, record);
    match (at(&outer.from), at(&inner.from), at(&inner.to), at(&outer.to)) {
        (Some(a), Some(b), Some(c), Some(d)) => a.0 <= b.0 && c.1 <= d.1,
        _ => false,
    }
}

fn part(fold: &Fold, span: &CollapseCandidate) -> Result<Fold, Error> {
    let at = |record: &RecordId| {
        pairs::position(fold, record).ok_or_else(|| Error::UnknownRecord { record: record.clone() })
    };
    let (first, last) = (at(&span.from)?.0, at(&span.to)?.1);
    let records: BTreeSet<RecordId> = pairs::pieces(fold)
        .skip(first)
        .take((last + 1).saturating_sub(first))
        .map(|(_, piece)| piece.record.clone())
        .collect();
    Ok(pairs::only(fold, &pairs::in_order(fold, |record| records.contains(record))))
}
