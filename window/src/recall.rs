//! Which memories a conversation shows, and what is looked up for it (R5, R7).

use everfold_kernel::limits::RecallLimits;
use everfold_kernel::ports::{QueryKind, RecallQuery, Urgency};
use everfold_kernel::{Attachment, RecordId, UserOrigin};
use everfold_memory_recall::budget;
use everfold_memory_recall::inject::{self, KIND};
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::{Fold, Message};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A conversation, and the data of what was attached to it. What a boundary
/// took out of view does not count, so a compaction resets all of it (R7).
#[derive(Clone, Copy)]
pub struct RecallView<'a> {
    pub fold: &'a Fold,
    /// The data of attachments, by their records: the fold keeps their bytes.
    pub attached: &'a BTreeMap<RecordId, Value>,
    pub limits: &'a RecallLimits,
}

/// The data of the attachments of this kind that the model sees.
pub fn shown_data<'a>(
    fold: &'a Fold,
    attached: &'a BTreeMap<RecordId, Value>,
    kind: &'a str,
) -> impl Iterator<Item = &'a Value> {
    let pieces = fold.messages().iter().flat_map(Message::pieces);
    pieces
        .filter(move |p| matches!(&p.origin, PieceOrigin::Attachment(own) if own == kind))
        .filter_map(|piece| attached.get(&piece.record))
}

impl<'a> RecallView<'a> {
    fn shown(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        shown_data(self.fold, self.attached, KIND)
    }

    /// Bytes of memories that the model sees by recall (R5).
    #[must_use]
    pub fn injected(&self) -> usize {
        self.shown().map(inject::bytes).sum()
    }

    /// The memories that a line in view names (R13).
    #[must_use]
    pub fn named(&self) -> BTreeSet<PathBuf> {
        self.shown().flat_map(inject::named).map(PathBuf::from).collect()
    }

    /// The memories that are in view with their text.
    #[must_use]
    pub fn surfaced(&self) -> BTreeSet<PathBuf> {
        self.shown().flat_map(inject::surfaced).map(PathBuf::from).collect()
    }

    /// Whether a person's message is worth a search, and there is room for
    /// what it would find.
    #[must_use]
    pub fn is_wanted(&self, message: &str) -> bool {
        budget::is_worth_recalling(message, UserOrigin::Human)
            && budget::has_room(self.injected(), self.limits)
    }

    /// What is looked up for a person's message, besides what the model knows.
    #[must_use]
    pub fn query(&self, message: &str, known: BTreeSet<PathBuf>) -> RecallQuery {
        RecallQuery {
            text: message.to_owned(),
            kind: QueryKind::Prompt,
            in_view: known,
            named: self.named(),
            injected: self.injected(),
            room: None,
            urgency: Urgency::Prompt,
        }
    }

    /// Whether what was found is still news and still fits.
    #[must_use]
    pub fn takes(&self, found: &Attachment, known: &BTreeSet<PathBuf>) -> bool {
        let mut paths = inject::surfaced(&found.data).map(PathBuf::from);
        let is_news =
            inject::named(&found.data).count() > 0 || paths.any(|path| !known.contains(&path));
        let bytes = inject::bytes(&found.data);
        is_news && budget::fits_session(self.injected(), bytes, self.limits)
    }
}
