//! How decisions change what is shown.

use super::{Brought, Fold, SummaryRecord};
use crate::message::{CACHE_EDITS, Link, Message, Piece, PieceOrigin, Showing};
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_kernel::tokens::estimate_block;
use everfold_kernel::{
    Block, BlockProvenance, Decision, MessageId, RecordId, Role, Timestamp, Tokens, ToolUseId,
    UserOrigin,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Why bytes that were already sent are no longer sent the same. Such a break
/// is declared: it is expected, and not reported as a fault (PC6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakCause {
    /// Another model, system prompt or tool list.
    Prelude,
    /// A summary took the place of messages.
    Compaction,
    /// Old results were cleared.
    Clearing,
    /// A range was taken out or collapsed.
    Range,
    /// A decision was taken back.
    Voided,
    /// The server was asked to drop results from its cache: the bytes are the
    /// same, and less of them is read.
    CacheEdit,
    /// The person went back: less is sent, and all of it was sent before (Q12).
    Rewind,
}

impl Fold {
    /// Records that are kept through every compaction.
    pub fn pins(&self) -> impl Iterator<Item = &RecordId> {
        self.pins.iter()
    }

    /// Who wrote the least trusted of the words in view (L5.33).
    #[must_use]
    pub fn lowest(&self) -> Option<Source> {
        self.messages.iter().flat_map(Message::pieces).filter_map(Piece::lowest).max()
    }

    /// What became of the summaries that were asked for.
    #[must_use]
    pub fn summaries(&self) -> &SummaryRecord {
        &self.summaries
    }

    /// The last record that the running notes cover (L3.6).
    #[must_use]
    pub fn noted(&self) -> Option<&RecordId> {
        self.noted.as_ref()
    }

    /// The last record that notes were tried for, whatever came of it (E3).
    #[must_use]
    pub fn notes_tried(&self) -> Option<&RecordId> {
        self.notes_tried.as_ref()
    }

    /// Whether a decision was voided whose effect is still in this fold: it
    /// has to be folded anew from the log, without the decisions of [`Self::voided`].
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// The decisions that hold no more.
    pub fn voided(&self) -> impl Iterator<Item = &RecordId> {
        self.voided.iter()
    }

    pub(super) fn retract(&mut self, id: &MessageId) {
        let Some(at) = self.messages.iter().rposition(|message| message.is_response(id)) else {
            return;
        };
        let mut tail = self.messages.split_off(at).into_iter();
        let Some(mut own) = tail.next() else { return };
        let before = own.tokens();
        // A response that went on with a paused one shares its message.
        if own.without_response(id) {
            self.raw = self.raw - (before - own.tokens());
            self.messages.push(own);
        } else {
            self.raw = self.raw - before;
        }
        self.rendered.truncate(at.saturating_sub(1));
        self.carried = self.messages.last().and_then(Message::last_record).cloned();
        for message in tail {
            self.readmit(message);
        }
        if self.reported.as_ref().is_some_and(|reported| reported.message_id == *id) {
            self.reported = self.reported.take().and_then(|r| r.earlier.map(|earlier| *earlier));
        }
    }

    /// Somebody speaks after the model: what it was searching for is not waited for.
    pub(super) fn give_up_searches(&mut self) {
        let Some(last) = self.messages.last_mut() else { return };
        let before = last.tokens();
        if last.give_up_searches() {
            self.raw = self.raw - (before - last.tokens());
            self.rendered.truncate(self.messages.len().saturating_sub(1));
        }
    }

    /// Why the next request breaks with the one before, once.
    pub fn take_break(&mut self) -> Option<BreakCause> {
        self.declared.take()
    }

    /// When bytes that were already sent last changed: of what was cached
    /// before, only what stands before that change is still of use.
    #[must_use]
    pub fn last_break(&self) -> Option<Timestamp> {
        self.last_break
    }

    pub(super) fn declare(&mut self, cause: BreakCause, at: Timestamp) {
        self.declared = Some(cause);
        self.last_break = Some(at);
    }

    pub(super) fn decide(&mut self, id: RecordId, at: Timestamp, decision: Decision) {
        if self.voided.contains(&id) {
            return;
        }
        match decision {
            Decision::Prelude(prelude) => self.push_prelude(at, prelude),
            Decision::Retracted { message_id, .. } => self.retract(&message_id),
            Decision::Spilled(spilled) => {
                let texts = BTreeMap::from([(spilled.tool_use_id, spilled.replacement)]);
                self.replace(texts, Showing::Spilled);
            }
            Decision::Cleared(cleared) => {
                let texts = cleared.results.into_iter();
                let texts = texts.map(|result| (result.tool_use_id, result.marker)).collect();
                let first = self.replace(texts, Showing::Cleared);
                self.cleared_from = self.cleared_from.into_iter().chain(first).min();
                self.declare(BreakCause::Clearing, at);
            }
            Decision::CacheEdited { tool_use_ids } => {
                let origin = PieceOrigin::Attachment(CACHE_EDITS.into());
                let words = BlockProvenance::default();
                let block = Brought { block: cache_edits(&tool_use_ids), words };
                self.push_piece(Role::User, id, at, origin, block, None);
                // No byte that was sent changes, so this is not `last_break`.
                self.declared = Some(BreakCause::CacheEdit);
            }
            Decision::Snipped { from, to, marker: text }
            | Decision::Collapsed { from, to, summary: text } => {
                self.stand_in(&from, &to, (id, at, text));
            }
            Decision::Voided { decision } => {
                self.voided.insert(decision);
                self.stale = true;
                self.declare(BreakCause::Voided, at);
            }
            Decision::Pinned { record } => {
                self.pins.insert(record);
            }
            Decision::Unpinned { record } => {
                self.pins.remove(&record);
            }
            Decision::CompactionFailed { by, .. } => self.summaries.fail(by),
            Decision::Noted { through, .. } => {
                self.notes_tried = Some(through.clone());
                self.noted = Some(through);
            }
            Decision::NotesTried { through, .. } => self.notes_tried = Some(through),
            // The branch ends before the point, so there is nothing to take away.
            Decision::Rewound(rewound) if rewound.what.conversation() => {
                self.declare(BreakCause::Rewind, at);
            }
            Decision::Rewound(_)
            | Decision::Booked(_)
            | Decision::BreakSeen(_)
            | Decision::Extracted(_)
            | Decision::HookFailed { .. }
            | Decision::Weighed(_)
            | Decision::ServerCleared { .. } => {}
        }
    }

    /// Shows other texts in place of tool results, and tells the first
    /// message that changed. The results themselves leave memory; the log has
    /// them. One walk from the end, however many there are. After a boundary, a
    /// decision may come before a result that was kept: it waits for it.
    fn replace(&mut self, mut texts: BTreeMap<ToolUseId, String>, shown: Showing) -> Option<usize> {
        let mut first = None;
        for (index, message) in self.messages.iter_mut().enumerate().rev() {
            if texts.is_empty() {
                break;
            }
            for piece in message.pieces_mut() {
                let Some(Link::Result(id)) = &piece.link else { continue };
                let Some(text) = texts.remove(id) else { continue };
                let before = piece.tokens;
                piece.block = piece.block.with_result_content(Value::String(text));
                piece.tokens = estimate_block(&piece.block, &self.limits);
                piece.shown = shown;
                piece.content = None;
                self.raw = (self.raw + piece.tokens) - before;
                first = Some(index);
            }
        }
        let early = texts.into_iter().map(|(id, text)| (id.to_string(), (text, shown)));
        self.waiting.extend(early);
        if let Some(index) = first {
            self.rendered.truncate(index);
        }
        first
    }

    /// Takes the pieces from one record to another out of view.
    fn stand_in(&mut self, from: &RecordId, to: &RecordId, marker: (RecordId, Timestamp, String)) {
        let pieces: Vec<(Role, Piece)> = self
            .messages
            .iter()
            .flat_map(|message| {
                message.pieces().iter().map(|piece| (message.role(), piece.clone()))
            })
            .collect();
        let first = pieces.iter().position(|(_, piece)| piece.record == *from);
        let last = pieces.iter().rposition(|(_, piece)| piece.record == *to);
        let (Some(first), Some(last)) = (first, last) else { return };
        if last < first {
            return;
        }
        let (record, at, text) = marker;
        let block = Block::text(text);
        let tokens = estimate_block(&block, &self.limits);
        let origin = PieceOrigin::User(UserOrigin::Meta);
        let (shown, link, content) = (Showing::StandsIn, None, None);
        let hidden = pieces.get(first..=last).unwrap_or_default();
        let lowest = hidden.iter().filter_map(|(_, piece)| piece.lowest()).max();
        let whole = |source| BlockProvenance::whole(Provenance::through(Carrier::Summary, source));
        let provenance = lowest.map(whole).unwrap_or_default();
        let marker = Piece { record, at, origin, block, provenance, tokens, shown, link, content };
        let marker = (Role::User, marker);
        let mut kept = Vec::with_capacity(pieces.len());
        let mut marker = Some(marker);
        for (index, piece) in pieces.into_iter().enumerate() {
            if index < first || index > last {
                kept.push(piece);
            } else {
                kept.extend(marker.take());
            }
        }
        self.regroup(kept);
        self.declare(BreakCause::Range, at);
    }

    /// Gathers pieces into messages again.
    fn regroup(&mut self, pieces: Vec<(Role, Piece)>) {
        self.messages.clear();
        self.rendered.truncate(0);
        self.raw = Tokens(0);
        for (role, piece) in pieces {
            self.raw += piece.tokens;
            match self.messages.last_mut() {
                Some(last) if last.takes(role, &piece.origin) => last.push(piece),
                _ => self.messages.push(Message::new(role, piece)),
            }
        }
    }
}

fn cache_edits(ids: &[ToolUseId]) -> Block {
    let edits: Vec<Value> =
        ids.iter().map(|id| json!({"type": "delete", "cache_reference": id.as_str()})).collect();
    let mut block = Block::text("");
    *block.as_map_mut() = serde_json::Map::from_iter([
        ("type".to_owned(), json!(CACHE_EDITS)),
        ("edits".to_owned(), Value::Array(edits)),
    ]);
    block
}
