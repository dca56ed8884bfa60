//! What is cleared.
//!
//! The newest results stay, and so does every result that the model has not
//! answered yet. Of the others, those whose marker is shorter than they are
//! may go. Where to begin is a matter of the sum: the earlier the first
//! cleared result, the more goes and the more has to be written again. What
//! comes after the first is cleared with it, as it has to be rewritten in any
//! case. So there are as many candidates as results, and one walk from the
//! newest to the oldest weighs them all.
//!
//! A result that the model will ask for again is not worth clearing. The last
//! answer to a question is asked for again in some cases (`Again`); one that
//! a later answer to the same question supersedes is not. Small results are
//! what sessions mostly ask for again, and what they save is little, so they
//! stay. Only after the long pause of L2.2 all go.

use crate::apply::{clear, edit, marker, write_marker};
use crate::policy::{RequestThread, Situation};
use crate::refetch::Again;
use everfold_economy::{CostTerms, pays, spent};
use everfold_kernel::record::{CacheState, CacheTtl, ClearTrigger, ClearedResult, ClearingSum};
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{Decision, Role, Timestamp, Tokens, Usd};
use everfold_prefix::message::{CACHE_EDITS, PieceOrigin};
use everfold_prefix::{Fold, Message, ResultView, Showing};
use std::collections::BTreeSet;

/// Decides what the next request clears: at most one decision, none where
/// nothing pays. A cold cache is cleared on our side; a warm one is edited
/// where the provider takes edits, and else cleared if the sum says so.
#[must_use]
pub fn plan(fold: &Fold, situation: &Situation<'_>) -> Option<Decision> {
    if situation.thread == RequestThread::Fork || !(situation.clears() || situation.edits_cache()) {
        return None;
    }
    let terms = situation.terms(fold);
    if situation.clears() && !can_pay(&terms) && !situation.edits_cache() {
        return None;
    }
    let edits = situation.edits_cache();
    if terms.cache == CacheState::Warm && !edits && !might_pay(fold, &terms, situation) {
        return None;
    }
    let results = fold.results();
    let clearable: Vec<&ResultView<'_>> =
        results.iter().filter(|result| situation.may_clear(result.tool)).collect();
    let edited = edited(fold);
    if terms.cache == CacheState::Warm && situation.edits_cache() {
        return by_cache_edit(fold, &clearable, &edited, situation);
    }
    if !situation.clears() {
        return None;
    }
    let mut layout = Layout::new(fold, situation.now, &terms);
    let mut stale = stale(&clearable, &edited, &layout, situation);
    // Most requests end here: nothing would pay even if nothing were asked
    // again, and nothing stood in place of what goes.
    best_cut(&stale, &layout, fold, &terms, situation)?;
    leave_markers(&mut stale, situation);
    layout.most_to_lose = most_to_lose(fold, &terms, situation);
    if situation.trigger(fold) == ClearTrigger::Economy {
        let again = Again::new(&clearable, &stale, fold, &terms, situation);
        again.weigh(&mut stale);
    }
    let (first, sum) = best_cut(&stale, &layout, fold, &terms, situation)?;
    let results = stale.iter().skip(first).map(|own| ClearedResult {
        tool_use_id: own.result.tool_use_id.into(),
        marker: marker(own.result, &situation.limits.prune),
    });
    Some(clear(results.collect(), situation.trigger(fold), sum))
}

/// A warm cache and no price: nothing that could be found would pay.
fn can_pay(terms: &CostTerms) -> bool {
    terms.cache == CacheState::Cold || terms.prices.is_some()
}

/// Whether a clearing could pay while the cache is warm, taking all but the
/// newest results for ones that may go and leave nothing: one look at each
/// message, as most requests end here.
fn might_pay(fold: &Fold, terms: &CostTerms, situation: &Situation<'_>) -> bool {
    let answered = answered_messages(fold);
    let (messages, unanswered) = fold.messages().split_at_checked(answered).unwrap_or_default();
    let fresh: usize = unanswered.iter().map(results_of).sum();
    let newest = usize::try_from(situation.limits.prune.keep_results.max(1)).unwrap_or(usize::MAX);
    let mut stay = newest.saturating_sub(fresh);
    let whole: Tokens = messages.iter().map(Message::tokens).sum();
    let (mut behind, mut cleared) = (Tokens(0), Tokens(0));
    let mut first = false;
    // From the newest on; a clearing begins in a message whose results may go,
    // and what is written again begins behind the message of the user's before.
    for message in messages.iter().rev() {
        if message.role() == Role::User {
            let kept = is_kept(message, situation.now, terms.ttl, fold.last_break());
            if first && pays_at(fold, terms, cleared, if kept { behind } else { whole }, situation)
            {
                return true;
            }
            for piece in message.pieces().iter().rev().filter(|piece| piece.answers().is_some()) {
                if stay > 0 {
                    stay -= 1;
                } else if piece.shown != Showing::Cleared {
                    cleared += piece.tokens;
                    first = true;
                }
            }
        }
        behind += message.tokens();
    }
    first && pays_at(fold, terms, cleared, whole, situation)
}

fn results_of(message: &Message) -> usize {
    message.pieces().iter().filter(|piece| piece.answers().is_some()).count()
}

fn pays_at(
    fold: &Fold,
    terms: &CostTerms,
    cleared: Tokens,
    behind: Tokens,
    situation: &Situation<'_>,
) -> bool {
    let apply = |tokens| fold.calibration().apply(tokens);
    let sum = terms.sum(apply(cleared), apply(behind - cleared));
    pays(&sum, situation.limits.prune.gain_percent)
}

/// The results that the server was asked to drop before.
fn edited(fold: &Fold) -> BTreeSet<&str> {
    let pieces = fold.messages().iter().flat_map(Message::pieces);
    pieces
        .filter(
            |piece| matches!(&piece.origin, PieceOrigin::Attachment(kind) if kind == CACHE_EDITS),
        )
        .filter_map(|piece| piece.block.as_map().get("edits")?.as_array())
        .flatten()
        .filter_map(|edit| edit.get("cache_reference")?.as_str())
        .collect()
}

fn by_cache_edit(
    fold: &Fold,
    clearable: &[&ResultView<'_>],
    edited: &BTreeSet<&str>,
    situation: &Situation<'_>,
) -> Option<Decision> {
    let limits = &situation.limits.prune;
    let last = fold.messages().last().filter(|message| message.role() == Role::User);
    last?;
    let answered = answered_messages(fold);
    let live: Vec<&ResultView<'_>> = clearable
        .iter()
        .filter(|result| result.piece.shown != Showing::Cleared)
        .filter(|result| !edited.contains(result.tool_use_id))
        .copied()
        .collect();
    if live.len() as u64 <= limits.edit_live_results {
        return None;
    }
    let chosen: Vec<&ResultView<'_>> = all_but_newest(&live, limits.edit_keep_results)
        .iter()
        .filter(|result| result.message < answered)
        .copied()
        .collect();
    (!chosen.is_empty()).then(|| edit(&chosen))
}

/// All but the newest; at least one stays.
fn all_but_newest<T>(items: &[T], keep: u64) -> &[T] {
    let keep = usize::try_from(keep.max(1)).unwrap_or(usize::MAX);
    items.get(..items.len().saturating_sub(keep)).unwrap_or_default()
}

/// Messages before the last answer: the model has seen them.
fn answered_messages(fold: &Fold) -> usize {
    fold.messages().iter().rposition(|message| message.role() == Role::Assistant).unwrap_or(0)
}

/// A result that may go.
pub(crate) struct Stale<'a> {
    pub(crate) result: &'a ResultView<'a>,
    /// What it takes now, less what its marker takes once that is known.
    pub(crate) gain: Tokens,
    /// What it costs, on average, that the model asks for it again.
    pub(crate) again: f64,
}

fn stale<'a>(
    clearable: &[&'a ResultView<'a>],
    edited: &BTreeSet<&str>,
    layout: &Layout,
    situation: &Situation<'_>,
) -> Vec<Stale<'a>> {
    let limits = &situation.limits.prune;
    all_but_newest(clearable, limits.keep_results)
        .iter()
        .filter(|result| result.message < layout.answered)
        .filter(|result| result.piece.shown != Showing::Cleared)
        // While the cache is warm, what the server dropped costs nothing more.
        .filter(|result| layout.cache == CacheState::Cold || !edited.contains(result.tool_use_id))
        .map(|result| Stale { result, gain: result.piece.tokens, again: 0.0 })
        .filter(|own| own.gain > Tokens(0))
        .collect()
}

/// Takes off what the markers have, and leaves out what is no longer than its own.
fn leave_markers(stale: &mut Vec<Stale<'_>>, situation: &Situation<'_>) {
    let mut marker = String::new();
    stale.retain_mut(|own| {
        write_marker(&mut marker, own.result, &situation.limits.prune);
        own.gain = own.result.piece.tokens - estimate_text(&marker, situation.limits);
        own.gain > Tokens(0)
    });
}

/// Weighs every place to begin, and takes the one that brings most.
fn best_cut(
    stale: &[Stale<'_>],
    layout: &Layout,
    fold: &Fold,
    terms: &CostTerms,
    situation: &Situation<'_>,
) -> Option<(usize, ClearingSum)> {
    let calibration = fold.calibration();
    let (mut cleared, mut again) = (Tokens(0), 0.0);
    let mut best: Option<(usize, f64, ClearingSum)> = None;
    for (first, own) in stale.iter().enumerate().rev() {
        cleared += own.gain;
        again += own.again;
        let behind = layout.behind(own.result.message) - cleared;
        let sum = terms.sum(calibration.apply(cleared), calibration.apply(behind));
        let brings = sum.saves.0 - sum.costs.0 - again;
        let is_better = |(_, most, other): &(usize, f64, ClearingSum)| {
            (brings, sum.cleared_tokens) > (*most, other.cleared_tokens)
        };
        if pays(&sum, situation.limits.prune.gain_percent)
            && layout.most_to_lose.is_none_or(|most| sum.costs <= most)
            && (again == 0.0 || brings > 0.0)
            && best.as_ref().is_none_or(is_better)
        {
            best = Some((first, brings, sum));
        }
    }
    best.map(|(first, _, sum)| (first, sum))
}

/// What a clearing may cost at most: a session that ends right after it is
/// not to be noticeably dearer for it.
#[expect(clippy::cast_precision_loss, reason = "a percentage is far below 2^52")]
fn most_to_lose(fold: &Fold, terms: &CostTerms, situation: &Situation<'_>) -> Option<Usd> {
    let percent = situation.limits.prune.loss_percent as f64;
    spent(fold, terms).map(|spent| Usd(spent.0 * percent / 100.0))
}

/// Where tokens stand in the prefix, and what the server has of it.
struct Layout {
    /// What a clearing may cost at most, once that is known.
    most_to_lose: Option<Usd>,
    cache: CacheState,
    /// Messages before the last answer.
    answered: usize,
    /// Tokens up to the end of each message.
    ends: Vec<Tokens>,
    /// For each message, the tokens before it that can still be read: up to
    /// the end of the newest request that ended before it, if the server can
    /// still have that.
    readable: Vec<Tokens>,
}

impl Layout {
    fn new(fold: &Fold, now: Timestamp, terms: &CostTerms) -> Self {
        let count = fold.messages().len();
        let mut layout = Self {
            most_to_lose: None,
            cache: terms.cache,
            answered: answered_messages(fold),
            ends: Vec::with_capacity(count),
            readable: Vec::with_capacity(count),
        };
        let (mut end, mut readable) = (Tokens(0), Tokens(0));
        for message in fold.messages() {
            layout.readable.push(readable);
            end += message.tokens();
            layout.ends.push(end);
            if message.role() == Role::User {
                let is_kept = is_kept(message, now, terms.ttl, fold.last_break());
                readable = if is_kept { end } else { Tokens(0) };
            }
        }
        layout
    }

    /// Tokens that are written again if a result of this message is changed:
    /// from the last readable end before it to the end of the last request.
    fn behind(&self, message: usize) -> Tokens {
        let cached = self.answered.checked_sub(1).and_then(|last| self.ends.get(last));
        let readable = self.readable.get(message);
        *cached.unwrap_or(&Tokens(0)) - *readable.unwrap_or(&Tokens(0))
    }
}

/// Whether the server can still have the prefix of a request that ended with
/// this message. An entry lives from the request on, which came after the
/// message; that later requests may have refreshed it is not counted on. What
/// was sent before the last break was sent with other bytes, or may have been.
fn is_kept(
    message: &Message,
    now: Timestamp,
    ttl: Option<CacheTtl>,
    last_break: Option<Timestamp>,
) -> bool {
    let (Some(last), Some(ttl)) = (message.pieces().last(), ttl) else { return false };
    let age = now.as_second().saturating_sub(last.at.as_second());
    age < ttl.seconds() && last_break.is_none_or(|broken| broken < last.at)
}
