//! What follows from the log: each a fold over its records, and nothing that
//! could not be computed from them again.
//!
//! A live session applies one record after the other; resume, rewind and fork
//! build all of it anew from the records. Both go through `Projections::apply`,
//! so that a projection cannot be forgotten in one of them.

use crate::session::memory_state::{MemorySwitch, SWITCH};
use everfold_kernel::{Attachment, Decision, Entry, Ledger, Limits, ModelId, Record, RecordId};
use everfold_prefix::Fold;
use everfold_prefix::message::{Message, PieceOrigin};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of the reminder that tells of a style.
pub const OUTPUT_STYLE: &str = "output_style";
/// The kind of the reminder that tells of a language.
pub const LANGUAGE: &str = "language";
/// The field of an attachment's data that names the model to go back to.
pub(crate) const LENT: &str = "modelBefore";

/// What a session knows by its log.
#[derive(Clone)]
pub(crate) struct Projections {
    /// The conversation as the model sees it.
    pub(crate) fold: Fold,
    /// What was used.
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
            Entry::Decision(Decision::Booked(booking)) => self.ledger.book(booking),
            Entry::Decision(Decision::Extracted(review)) if review.put_off.is_none() => {
                self.reviewed = Some(review.through.clone());
            }
            Entry::Attachment(attachment) if !attachment.data.is_null() => {
                self.attach(&record.id, attachment);
            }
            _ => {}
        }
        self.fold.push(record);
    }

    /// The data of the attachments of this kind that the model sees.
    pub(crate) fn shown_data<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        let pieces = self.fold.messages().iter().flat_map(Message::pieces);
        pieces
            .filter(move |p| matches!(&p.origin, PieceOrigin::Attachment(own) if own == kind))
            .filter_map(|piece| self.attached.get(&piece.record))
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

#[cfg(test)]
mod tests;
