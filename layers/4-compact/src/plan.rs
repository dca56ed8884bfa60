//! What a compaction does: what goes, what stays, and what a model is asked.
//!
//! Splits fall between API rounds: a result stays with its call, thinking
//! with its message. Pins always stay; so does a prompt that waits for its
//! answer, because a request follows.

use crate::error::Error;
use crate::facts::SpanFacts;
use crate::policy::threshold;
use crate::{clip, pairs, prompt};
use everfold_kernel::effect::{Ask, AskShape};
use everfold_kernel::record::{CacheState, Keeps};
use everfold_kernel::{Effect, Limits, QuerySource, RecordId, Role, Tokens, UserOrigin, Window};
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::{Fold, Message};
use std::collections::BTreeSet;

/// Which part of the conversation is summarised (L4.7). The message that is
/// named stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactionScope {
    All,
    /// What comes after this record; the earlier prefix stays, and its cache.
    From(RecordId),
    /// What comes before this record; the later messages stay.
    UpTo(RecordId),
}

/// Who asked for a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The threshold, or a request that was refused as too long.
    Auto,
    Manual,
}

impl Trigger {
    /// Its name in the boundary.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
        }
    }
}

/// Who writes the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summariser {
    Model,
    /// It is there already: the running notes (L3.6).
    Notes,
    /// This crate, without a model (L4.11).
    Local,
}

impl Summariser {
    /// Its name in the boundary.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Notes => "notes",
            Self::Local => "local",
        }
    }
}

/// In which form the conversation goes to the model that sums it up (L4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// The parent's bytes, which the cache has.
    Fork,
    /// Those of its last request, without what came since (E9).
    Cached,
    /// Without pictures, documents and what comes back anyway.
    Stripped,
}

/// What is to be kept in mind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guidance<'a> {
    /// What the person said with `/compact`.
    pub person: Option<&'a str>,
    /// What instruction files say under `# Compact instructions`.
    pub standing: Option<&'a str>,
}

/// A compaction that has been thought through.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Which part is summarised.
    pub scope: CompactionScope,
    pub trigger: Trigger,
    /// Records that stay, in order.
    pub preserved: Vec<RecordId>,
    /// Records that go, in order.
    pub dropped: Vec<RecordId>,
    /// On which side of the summary the preserved ones stand.
    pub keeps: Keeps,
    /// The prompt that waits for its answer, where it stays.
    pub waiting: Vec<RecordId>,
    /// What becomes of what the person said last.
    pub newest: Newest,
}

/// What becomes of what the person said last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newest {
    /// It goes while the work on it goes on: the summary has to have it (Q19).
    Goes,
    /// It stays, or it was answered.
    Stays,
}

impl Plan {
    /// Plans a compaction.
    ///
    /// # Errors
    /// If the scope names a record that is not in view, or nothing would go.
    pub fn new(fold: &Fold, scope: CompactionScope, trigger: Trigger) -> Result<Self, Error> {
        let waiting = match scope {
            CompactionScope::All => waiting(fold),
            CompactionScope::From(_) | CompactionScope::UpTo(_) => Vec::new(),
        };
        Self::keeping(fold, scope, trigger, waiting)
    }

    fn keeping(
        fold: &Fold,
        scope: CompactionScope,
        trigger: Trigger,
        waiting: Vec<RecordId>,
    ) -> Result<Self, Error> {
        let mut wanted: BTreeSet<RecordId> = fold.pins().cloned().collect();
        wanted.extend(waiting.iter().cloned());
        let mut keeps = Keeps::Suffix;
        let at = |record: &RecordId| {
            pairs::position(fold, record)
                .ok_or_else(|| Error::UnknownRecord { record: record.clone() })
        };
        let all = || pairs::pieces(fold).map(|(_, piece)| piece.record.clone());
        match &scope {
            CompactionScope::All => {}
            CompactionScope::From(pivot) => {
                wanted.extend(all().take(at(pivot)?.1 + 1));
                keeps = Keeps::Prefix;
            }
            CompactionScope::UpTo(pivot) => wanted.extend(all().skip(at(pivot)?.0)),
        }
        let preserved = pairs::close(fold, &wanted);
        let kept: BTreeSet<&RecordId> = preserved.iter().collect();
        let dropped = pairs::in_order(fold, |record| !kept.contains(record));
        if dropped.is_empty() {
            return Err(Error::NothingToSummarise);
        }
        let newest = match said_last(fold) {
            Some(record) if !kept.contains(record) => Newest::Goes,
            _ => Newest::Stays,
        };
        Ok(Self { scope, trigger, preserved, dropped, keeps, waiting, newest })
    }

    /// What goes, as facts.
    #[must_use]
    pub fn past(&self, fold: &Fold, limits: &Limits) -> SpanFacts {
        SpanFacts::of(&self.dropped_part(fold), limits)
    }

    /// What goes, as a conversation of its own.
    pub(crate) fn dropped_part(&self, fold: &Fold) -> Fold {
        pairs::only(fold, &self.dropped)
    }

    /// What the model that sums up is told.
    ///
    /// # Errors
    /// If the prompt of this version does not fit its values.
    pub fn directive(
        &self,
        fold: &Fold,
        sending: Sending,
        guidance: Guidance<'_>,
        limits: &Limits,
    ) -> Result<String, Error> {
        let words = |record: &RecordId| {
            let piece = pairs::pieces(fold).find(|(_, piece)| piece.record == *record);
            piece.map_or_else(String::new, |(_, piece)| {
                clip::line(&piece.block.plain_text(), limits.compact.line_chars)
            })
        };
        let part = match (&self.scope, sending) {
            (CompactionScope::All, _) | (_, Sending::Stripped | Sending::Cached) => String::new(),
            (CompactionScope::From(pivot), Sending::Fork) => format!(
                "Sum up only what came after the message that begins with \"{}\". That message and all before it stay as they are.",
                words(pivot)
            ),
            (CompactionScope::UpTo(pivot), Sending::Fork) => format!(
                "Sum up only what came before the message that begins with \"{}\". That message and all after it stay as they are.",
                words(pivot)
            ),
        };
        prompt::summary(&part, guidance)
    }

    /// Asks for the summary by a fork that shares the parent's prefix (L4.4).
    ///
    /// # Errors
    /// If the prompt of this version does not fit its values.
    pub fn ask(
        &self,
        fold: &Fold,
        guidance: Guidance<'_>,
        limits: &Limits,
    ) -> Result<Effect, Error> {
        let directive = self.directive(fold, Sending::Fork, guidance, limits)?;
        Ok(ask(AskShape::Fork { directive }, limits))
    }

    /// Asks for the summary of what the last request held (E9).
    ///
    /// # Errors
    /// If the prompt of this version does not fit its values.
    pub fn ask_cached(
        &self,
        fold: &Fold,
        guidance: Guidance<'_>,
        limits: &Limits,
    ) -> Result<Effect, Error> {
        let directive = self.directive(fold, Sending::Cached, guidance, limits)?;
        Ok(ask(AskShape::Cached { directive }, limits))
    }
}

/// In which form to send the conversation: as it is while the cache has it
/// and it fits, stripped otherwise.
#[must_use]
pub fn sending(fold: &Fold, window: &Window, cache: CacheState, limits: &Limits) -> Sending {
    let room = Tokens(limits.within(window).compact.summary_tokens);
    let fits = fold.count() + room <= window.size;
    if cache == CacheState::Warm && fits { Sending::Fork } else { Sending::Stripped }
}

/// What is summed up where a batch of results jumped over the threshold: what
/// came before the last answer, which the cache has. The answer and its results
/// stay if there is room for them under the threshold. None where there was no
/// jump (E9).
#[must_use]
pub fn jump(
    fold: &Fold,
    window: &Window,
    uncached: Tokens,
    limits: &Limits,
) -> Option<CompactionScope> {
    let last = fold.last_answer().filter(|at| *at > 0)?;
    if uncached < Tokens(limits.economy.jump_tokens) {
        return None;
    }
    let (earlier, batch) = fold.messages().split_at_checked(last)?;
    let kept: Tokens = batch.iter().map(Message::tokens).sum();
    let before: Tokens = earlier.iter().map(Message::tokens).sum();
    let frame = fold.count() - fold.calibration().apply(kept + before);
    let summary = Tokens(limits.within(window).compact.summary_tokens);
    let after = frame + fold.calibration().apply(kept) + summary;
    let first = batch.first()?.pieces().first()?.record.clone();
    // Where hardly anything stands before the batch, nothing is gained by keeping it.
    let is_gain = before.0.saturating_mul(GAIN_SHARE) >= kept.0;
    if is_gain && after <= threshold(window) {
        Some(CompactionScope::UpTo(first))
    } else {
        Some(CompactionScope::All)
    }
}

/// A batch is kept where what goes before it is at least this part of it.
const GAIN_SHARE: u64 = 4;

/// What is summed up between two turns (E4): all but the last turn, where that
/// is short. There is room for it, and it is what the next one goes on from.
/// With the tokens that stay.
#[must_use]
pub fn between_turns(fold: &Fold, limits: &Limits) -> (CompactionScope, Tokens) {
    let is_prompt = |message: &Message| {
        let human = PieceOrigin::User(UserOrigin::Human);
        message.pieces().iter().any(|piece| piece.origin == human)
    };
    let last = fold.messages().iter().rposition(is_prompt).filter(|at| *at > 0);
    let turn = last.and_then(|at| fold.messages().get(at..)).unwrap_or_default();
    let tokens = fold.calibration().apply(turn.iter().map(Message::tokens).sum());
    let first = turn.first().and_then(|message| message.pieces().first());
    match first.filter(|_| tokens <= Tokens(limits.economy.kept_turn_tokens)) {
        Some(piece) => (CompactionScope::UpTo(piece.record.clone()), tokens),
        None => (CompactionScope::All, Tokens(0)),
    }
}

/// A question on behalf of this layer.
pub(crate) fn ask(shape: AskShape, limits: &Limits) -> Effect {
    Effect::Ask(Ask {
        source: QuerySource::Compact,
        shape,
        max_tokens: limits.compact.summary_tokens,
    })
}

/// What the person said last, where the work on it goes on.
fn said_last(fold: &Fold) -> Option<&RecordId> {
    fold.messages().last().filter(|message| message.role() == Role::User)?;
    let mut said = pairs::pieces(fold)
        .filter(|(_, piece)| piece.origin == PieceOrigin::User(UserOrigin::Human));
    said.next_back().map(|(_, piece)| &piece.record)
}

/// The person's words that no answer followed yet. No summary takes their place
/// (Q19); whoever sends what is too long for any request has it shortened before.
fn waiting(fold: &Fold) -> Vec<RecordId> {
    let last = fold.messages().last().filter(|message| message.role() == Role::User);
    let pieces = last.map_or(&[][..], |message| message.pieces());
    let said = pieces.iter().filter(|piece| piece.origin == PieceOrigin::User(UserOrigin::Human));
    let mut records: Vec<RecordId> = said.map(|piece| piece.record.clone()).collect();
    records.dedup();
    records
}
