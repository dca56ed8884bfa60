//! When the notes are made and brought up to date (L3.2, L3.8).

use everfold_economy::{CostTerms, Weighing};
use everfold_kernel::record::ActSum;
use everfold_kernel::{
    BlockView, Flag, Flags, Limits, QuerySource, RecordId, Role, Tokens, Window,
};
use everfold_prefix::{Fold, Message, Piece};

/// Whether the notes are to be looked at now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// They are not.
    No,
    /// They are to be made, or brought up to date.
    Yes,
}

/// Whether notes are kept at all: they are for compaction, so only where that
/// happens by itself (L3.8).
#[must_use]
pub fn is_kept(flags: &Flags) -> bool {
    flags.is_on(Flag::SessionMemory)
        && flags.is_on(Flag::AutoCompact)
        && !flags.is_on(Flag::Collapse)
}

/// Whether the conversation has come far enough since the notes were last
/// tried: `since` is the last record that this was about. Where that record is
/// out of view, all that is in view counts, so a compaction starts it anew.
#[must_use]
pub fn due(fold: &Fold, since: Option<&RecordId>, limits: &Limits) -> Due {
    let own = &limits.notes;
    let Some(since) = since else {
        return if fold.count() >= Tokens(own.first_tokens) { Due::Yes } else { Due::No };
    };
    let new = after(fold, since);
    let grown: Tokens = new.iter().map(|piece| piece.tokens).sum();
    if fold.calibration().apply(grown) < Tokens(own.growth_tokens) {
        return Due::No;
    }
    let calls = new.iter().filter(|piece| matches!(piece.block.view(), BlockView::ToolUse { .. }));
    let last = fold.messages().iter().rev().find(|message| message.role() == Role::Assistant);
    let at_rest = last.is_some_and(|message| message.tool_calls().next().is_none());
    if at_rest || calls.count() as u64 >= own.tool_calls { Due::Yes } else { Due::No }
}

/// The sum of notes that are made now (E3): they are there for the next
/// compaction, so they are worth something once it is in sight and they would
/// still cover enough when it comes. None where it is not, or where what there
/// is already will do.
#[must_use]
pub fn weigh(fold: &Fold, window: &Window, terms: &CostTerms, limits: &Limits) -> Option<ActSum> {
    let own = &limits.economy;
    let threshold =
        if window.auto_compact == Tokens(0) { window.effective } else { window.auto_compact };
    let left = threshold - fold.count();
    if left > Tokens(own.sight_tokens.min(threshold.0 / SIGHT_SHARE)) {
        return None;
    }
    if let Some(noted) = fold.noted() {
        let open: Tokens = after(fold, noted).iter().map(|piece| piece.tokens).sum();
        if fold.calibration().apply(open) + left <= Tokens(limits.notes.keep_most_tokens) {
            return None;
        }
    }
    let (view, told) = (fold.count(), Tokens(limits.notes.file_tokens / 2));
    let (written, summary) = (Tokens(own.notes_output_tokens), Tokens(own.summary_output_tokens));
    let pass = terms.pass(view).unwrap_or_default();
    let weighing = Weighing::new(QuerySource::SessionMemory, "bring the notes up to date", terms)
        .costs("one pass over the conversation", view, pass)
        .costs("the notes as they are", told, terms.input(told))
        .costs("what is written", written, terms.output(written))
        .saves("one pass at the compaction", threshold, terms.read(threshold))
        .saves("a summary by a model", summary, terms.output(summary));
    // What they cost more than the summary is paid for its being there at once.
    Some(weighing.decided(PERCENT * PERCENT / own.notes_cost_percent.max(1)))
}

const PERCENT: u64 = 100;
/// In a small window a compaction is in sight at this share of its threshold.
const SIGHT_SHARE: u64 = 5;

/// The pieces after a record; all of them where it is not in view.
fn after<'a>(fold: &'a Fold, record: &RecordId) -> Vec<&'a Piece> {
    let pieces: Vec<&Piece> = fold.messages().iter().flat_map(Message::pieces).collect();
    let last = pieces.iter().rposition(|piece| piece.record == *record);
    pieces.into_iter().skip(last.map_or(0, |last| last + 1)).collect()
}
