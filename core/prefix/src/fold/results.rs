//! The tool results of a conversation, as layers look at them.

use super::Fold;
use crate::message::{Message, Piece};
use mnemon_kernel::{BlockView, Role};
use serde_json::Value;
use std::collections::BTreeMap;

/// One tool result with the call that it answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultView<'a> {
    /// The call.
    pub tool_use_id: &'a str,
    /// The tool; empty where the call is not in the message before, and the
    /// result is therefore not shown.
    pub tool: &'a str,
    /// Its arguments, where the call is there.
    pub input: Option<&'a Value>,
    /// The result.
    pub piece: &'a Piece,
    /// The message that it is in.
    pub message: usize,
    /// Whether no request has carried it yet.
    pub freshness: Freshness,
}

/// Whether a result has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Not yet: how it is shown can still be decided for free.
    Fresh,
    /// It has: showing it differently breaks the prefix.
    Sent,
}

impl Fold {
    /// Every tool result, oldest first.
    #[must_use]
    pub fn results(&self) -> Vec<ResultView<'_>> {
        let mut found = Vec::new();
        for message in 0..self.messages.len() {
            self.collect_results(message, &mut found);
        }
        found
    }

    /// The tool results of the last message: all that can be fresh.
    #[must_use]
    pub fn last_results(&self) -> Vec<ResultView<'_>> {
        let mut found = Vec::new();
        if let Some(last) = self.messages.len().checked_sub(1) {
            self.collect_results(last, &mut found);
        }
        found
    }

    fn collect_results<'a>(&'a self, message: usize, found: &mut Vec<ResultView<'a>>) {
        let Some(own) = self.messages.get(message).filter(|own| own.role() == Role::User) else {
            return;
        };
        let before = message.checked_sub(1).and_then(|before| self.messages.get(before));
        let mut calls = None;
        let sent = self.sent_pieces(message, own);
        for (index, piece) in own.pieces().iter().enumerate() {
            if piece.block.kind() == "tool_result" {
                let map = piece.block.as_map();
                let id = map.get("tool_use_id").and_then(Value::as_str).unwrap_or("");
                let call = calls.get_or_insert_with(|| calls_of(before)).get(id);
                found.push(ResultView {
                    tool_use_id: id,
                    tool: call.map_or("", |(name, _)| *name),
                    input: call.map(|(_, input)| *input),
                    piece,
                    message,
                    freshness: if index < sent { Freshness::Sent } else { Freshness::Fresh },
                });
            }
        }
    }

    /// How many pieces of a message a request has carried: all of every
    /// message but the last; of that, what a response had answered that was
    /// taken back since.
    fn sent_pieces(&self, message: usize, own: &Message) -> usize {
        if message + 1 < self.messages.len() {
            return own.pieces().len();
        }
        let carried = self.carried.as_ref();
        let last = own.pieces().iter().rposition(|piece| carried == Some(&piece.record));
        last.map_or(0, |last| last + 1)
    }
}

fn calls_of(message: Option<&Message>) -> BTreeMap<&str, (&str, &Value)> {
    let mut calls = BTreeMap::new();
    for piece in message.into_iter().flat_map(Message::pieces) {
        if let BlockView::ToolUse { id, name, input } = piece.block.view() {
            calls.insert(id, (name, input));
        }
    }
    calls
}
