//! What follows from the log: each a fold over its records, and nothing that
//! could not be computed from them again.
//!
//! A live session applies one record after the other; resume, rewind and fork
//! build all of it anew from the records. Both go through `Projections::apply`,
//! so that a projection cannot be forgotten in one of them.

use crate::session::memory_state::{MemorySwitch, SWITCH};
use everfold_economy::point::CarryHistory;
use everfold_economy::regret::{SeenResults, wish};
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::{
    Attachment, BlockView, Decision, Entry, Ledger, Limits, ModelId, QuerySource, Record, RecordId,
    Tokens, ToolUseId, UserOrigin,
};
use everfold_prefix::Fold;
use everfold_prefix::message::{Message, PieceOrigin};
use everfold_window::RecallView;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of the reminder that tells of a style.
pub const OUTPUT_STYLE: &str = "output_style";
/// The kind of the reminder that tells of a language.
pub const LANGUAGE: &str = "language";
/// The field of an attachment's data that names the model to go back to.
pub(crate) const LENT: &str = "modelBefore";
/// The field of a boundary's metadata that says how carrying the past went.
pub(crate) const CARRIED: &str = "carried";

/// What a session knows by its log.
#[derive(Clone)]
pub(crate) struct Projections {
    /// The conversation as the model sees it.
    pub(crate) fold: Fold,
    pub(crate) ledger: Ledger,
    /// The data of attachments, by their records: the fold keeps their bytes.
    pub(crate) attached: BTreeMap<RecordId, Value>,
    /// The style and the language that the person chose.
    pub(crate) choices: Vec<Attachment>,
    /// The model to go back to with the person's next words, where a skill
    /// brought another.
    pub(crate) lent: Option<ModelId>,
    /// Whether memory is used.
    pub(crate) memory_switch: MemorySwitch,
    /// The last record that was reviewed for memories (L5.10).
    pub(crate) reviewed: Option<RecordId>,
    /// How the person comes and goes, and what summing up has brought (E4).
    pub(crate) carried: CarryHistory,
    /// What the model has seen, for what it asks for again.
    seen: SeenResults,
}

impl Projections {
    /// Those of an empty log.
    pub(crate) fn new(limits: &Arc<Limits>) -> Self {
        Self {
            fold: Fold::new(Arc::clone(limits)),
            ledger: Ledger::default(),
            attached: BTreeMap::new(),
            choices: Vec::new(),
            lent: None,
            memory_switch: MemorySwitch::On,
            reviewed: None,
            carried: CarryHistory::default(),
            seen: SeenResults::default(),
        }
    }

    /// Those of a log. What was voided later does not count from the start.
    /// The books are of the whole log, also where records are left out.
    pub(crate) fn of(records: Vec<Record>, books: Ledger, limits: &Arc<Limits>) -> Self {
        let voided = records.iter().filter_map(|record| match &record.entry {
            Entry::Decision(Decision::Voided { decision }) => Some(decision.clone()),
            _ => None,
        });
        let mut own = Self::new(limits);
        own.fold = own.fold.without(voided.collect());
        for record in records {
            own.apply(record);
        }
        own.ledger = books;
        own
    }

    /// Takes in a record that is on disk.
    pub(crate) fn apply(&mut self, record: Record) {
        match &record.entry {
            Entry::Decision(Decision::Prelude(_)) => self.lent = None,
            Entry::Decision(Decision::Booked(booking)) => {
                self.ledger.book(booking);
                if booking.source == QuerySource::Main {
                    self.carried.asked(&booking.usage);
                }
            }
            Entry::Decision(Decision::Extracted(review)) if review.put_off.is_none() => {
                self.reviewed = Some(review.through.clone());
            }
            Entry::Attachment(attachment) if !attachment.data.is_null() => {
                self.attach(&record.id, attachment);
            }
            _ => {}
        }
        self.carry(&record);
        let is_result =
            matches!(&record.entry, Entry::User(user) if user.origin == UserOrigin::ToolResult);
        let is_boundary = matches!(record.entry, Entry::Boundary(_));
        self.fold.push(record);
        if is_result {
            for result in self.fold.last_results() {
                self.seen.came(&ToolUseId::new(result.tool_use_id), result.piece.tokens);
            }
        }
        if is_boundary {
            let results = self.fold.results();
            let shown = results.iter().map(|result| result.tool_use_id).collect();
            self.seen.keeps(&shown);
        }
    }

    /// Takes note of what tells whether summing up between turns pays (E4).
    fn carry(&mut self, record: &Record) {
        match &record.entry {
            Entry::User(user) if user.origin == UserOrigin::Human && is_turn_over(&self.fold) => {
                let away = |last: i64| record.at.as_second().saturating_sub(last);
                self.carried.prompted(self.carried.answered_s.map(away));
            }
            Entry::Assistant(answer) => {
                self.carried.answered_s = Some(record.at.as_second());
                let BlockView::ToolUse { id, name, input } = answer.block.view() else { return };
                let Some(wish) = wish(name, input) else { return };
                let missed = self.seen.called(&[(ToolUseId::new(id), wish)]);
                self.carried.missed(missed.into_iter().sum());
            }
            Entry::Decision(Decision::Cleared(cleared)) => {
                let tokens = Tokens(cleared.sum.cleared_tokens);
                self.carried.cleared(tokens, cleared.sum.costs);
                cleared.results.iter().for_each(|result| self.seen.takes(&result.tool_use_id));
            }
            Entry::Decision(Decision::Spilled(spilled)) => self.seen.takes(&spilled.tool_use_id),
            Entry::Attachment(attachment) => {
                if let Some(path) = attachment.data.get("path").and_then(Value::as_str) {
                    self.seen.brings_back("Read", path);
                }
            }
            Entry::Boundary(boundary) => {
                let known = boundary.metadata.get(CARRIED).cloned();
                match known.and_then(|own| serde_json::from_value(own).ok()) {
                    Some(own) => self.carried = own,
                    None => self.carried.starts_over(),
                }
            }
            _ => {}
        }
    }

    /// Turns in view that were not reviewed for memories: all, where the last
    /// record that was is gone (L5.10).
    pub(crate) fn unreviewed_turns(&self) -> u64 {
        let mut turns = 0;
        for message in self.fold.messages() {
            let pieces = message.pieces();
            let of_person = PieceOrigin::User(UserOrigin::Human);
            turns += u64::from(pieces.iter().any(|piece| piece.origin == of_person));
            if pieces.iter().any(|piece| Some(&piece.record) == self.reviewed.as_ref()) {
                turns = 0;
            }
        }
        turns
    }

    /// The data of the attachments of this kind that the model sees.
    pub(crate) fn shown_data<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        everfold_window::shown_data(&self.fold, &self.attached, kind)
    }

    /// The memories that the conversation shows.
    pub(crate) fn recall_view<'a>(&'a self, limits: &'a RecallLimits) -> RecallView<'a> {
        RecallView { fold: &self.fold, attached: &self.attached, limits }
    }

    fn attach(&mut self, record: &RecordId, attachment: &Attachment) {
        let (kind, data) = (attachment.kind.as_str(), &attachment.data);
        self.attached.insert(record.clone(), data.clone());
        if let Some(own) = data.get(LENT).and_then(Value::as_str) {
            self.lent = Some(ModelId::new(own));
        }
        if [OUTPUT_STYLE, LANGUAGE].contains(&kind) {
            self.choices.retain(|choice| choice.kind != kind);
            self.choices.push(attachment.clone());
        }
        if let (SWITCH, Some(on)) = (kind, data.get("on").and_then(Value::as_bool)) {
            self.memory_switch = if on { MemorySwitch::On } else { MemorySwitch::Off };
        }
    }
}

/// Whether the model has said its last word, so that what comes is a new turn.
fn is_turn_over(fold: &Fold) -> bool {
    let since = fold.last_answer().and_then(|at| fold.messages().get(at + 1..)).unwrap_or_default();
    let of_tools = PieceOrigin::User(UserOrigin::ToolResult);
    !since.iter().flat_map(Message::pieces).any(|piece| piece.origin == of_tools)
}

#[cfg(test)]
mod tests;
