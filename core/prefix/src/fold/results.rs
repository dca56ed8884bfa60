//! The tool results of a conversation, as layers look at them.

use super::Fold;
use crate::message::{Message, Piece};
use mnemon_kernel::{BlockView, Role};
use std::collections::BTreeMap;

/// One tool result with the call that it answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultView<'a> {
    /// The call.
    pub tool_use_id: &'a str,
    /// The tool; empty where the call is not there.
    pub tool: &'a str,
    /// Its arguments, where the call is there.
    pub input: Option<&'a serde_json::Value>,
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
        let mut calls: BTreeMap<&str, (&str, &serde_json::Value)> = BTreeMap::new();
        let mut found = Vec::new();
        let last = self.messages.len().saturating_sub(1);
        for (message, own) in self.messages.iter().enumerate() {
            for piece in own.pieces() {
                match piece.block.view() {
                    BlockView::ToolUse { id, name, input } => {
                        calls.insert(id, (name, input));
                    }
                    BlockView::ToolResult { id, .. } => {
                        let call = calls.get(id);
                        found.push(ResultView {
                            tool_use_id: id,
                            tool: call.map_or("", |(name, _)| *name),
                            input: call.map(|(_, input)| *input),
                            piece,
                            message,
                            freshness: freshness(own, message == last),
                        });
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

fn freshness(message: &Message, is_last: bool) -> Freshness {
    if is_last && message.role() == Role::User { Freshness::Fresh } else { Freshness::Sent }
}
