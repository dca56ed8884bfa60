//! How decisions change what is shown.

use super::Fold;
use crate::message::{Message, Origin, Piece, Showing};
use mnemon_kernel::tokens::estimate_block;
use mnemon_kernel::{Block, Decision, RecordId, Role, Timestamp, Tokens, ToolUseId, UserOrigin};
use serde_json::{Value, json};

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
}

impl Fold {
    /// Records that are kept through every compaction.
    pub fn pins(&self) -> impl Iterator<Item = &RecordId> {
        self.pins.iter()
    }

    /// Compactions that failed since the last one that did not.
    #[must_use]
    pub fn compaction_failures(&self) -> u32 {
        self.compaction_failures
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

    /// Why the next request breaks with the one before, once.
    pub fn take_break(&mut self) -> Option<BreakCause> {
        self.declared.take()
    }

    pub(super) fn decide(&mut self, id: RecordId, at: Timestamp, decision: Decision) {
        if self.voided.contains(&id) {
            return;
        }
        match decision {
            Decision::Prelude(prelude) => self.push_prelude(prelude),
            Decision::Retracted { message_id, .. } => self.retract(&message_id),
            Decision::Spilled(spilled) => {
                self.replace(&spilled.tool_use_id, spilled.replacement, Showing::Spilled);
            }
            Decision::Cleared(cleared) => {
                for result in cleared.results {
                    self.replace(&result.tool_use_id, result.marker, Showing::Cleared);
                }
                self.declared = Some(BreakCause::Clearing);
            }
            Decision::CacheEdited { tool_use_ids } => {
                let origin = Origin::Attachment("cache_edits".into());
                self.push_piece(Role::User, id, at, origin, cache_edits(&tool_use_ids));
            }
            Decision::Snipped { from, to, marker: text }
            | Decision::Collapsed { from, to, summary: text } => {
                self.stand_in(&from, &to, (id, at, text));
            }
            Decision::Voided { decision } => {
                self.voided.insert(decision);
                self.stale = true;
                self.declared = Some(BreakCause::Voided);
            }
            Decision::Pinned { record } => {
                self.pins.insert(record);
            }
            Decision::Unpinned { record } => {
                self.pins.remove(&record);
            }
            Decision::CompactionFailed { .. } => self.compaction_failures += 1,
            Decision::Booked(_) | Decision::BreakSeen(_) => {}
        }
    }

    /// Shows another text in place of a tool result. The result itself leaves
    /// memory; the log has it. After a boundary, a decision may come before the
    /// result that was kept: it waits for it.
    fn replace(&mut self, id: &ToolUseId, text: String, shown: Showing) {
        let found = self.messages.iter_mut().enumerate().rev().find_map(|(index, message)| {
            let piece = message.pieces_mut().iter_mut().find(|piece| answers(piece, id))?;
            Some((index, piece))
        });
        let Some((index, piece)) = found else {
            self.waiting.insert(id.as_str().to_owned(), (text, shown));
            return;
        };
        let before = piece.tokens;
        piece.block = piece.block.with_result_content(Value::String(text));
        piece.tokens = estimate_block(&piece.block, &self.limits);
        piece.shown = shown;
        self.raw = (self.raw + piece.tokens) - before;
        self.rendered.truncate(index);
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
        let origin = Origin::User(UserOrigin::Meta);
        let shown = Showing::StandsIn;
        let marker = (Role::User, Piece { record, at, origin, block, tokens, shown });
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
        self.declared = Some(BreakCause::Range);
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

fn answers(piece: &Piece, id: &ToolUseId) -> bool {
    let map = piece.block.as_map();
    piece.block.kind() == "tool_result"
        && map.get("tool_use_id").and_then(Value::as_str) == Some(id.as_str())
}

fn cache_edits(ids: &[ToolUseId]) -> Block {
    let edits: Vec<Value> =
        ids.iter().map(|id| json!({"type": "delete", "cache_reference": id.as_str()})).collect();
    let mut block = Block::text("");
    *block.as_map_mut() = serde_json::Map::from_iter([
        ("type".to_owned(), json!("cache_edits")),
        ("edits".to_owned(), Value::Array(edits)),
    ]);
    block
}
