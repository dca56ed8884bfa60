//! The tool results of a conversation, as layers look at them.

use super::Fold;
use crate::message::{Link, Message, Piece};
use everfold_kernel::Role;
use serde_json::Value;
use std::collections::BTreeMap;

/// One tool result with the call that it answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultView<'a> {
    pub tool_use_id: &'a str,
    /// The tool; empty where the call is not in the message before, and the
    /// result is therefore not shown.
    pub tool: &'a str,
    /// Its arguments, where the call is there.
    pub input: Option<&'a Value>,
    pub piece: &'a Piece,
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
        let mut calls = Calls::of(before);
        let sent = self.sent_pieces(message, own);
        for (index, piece) in own.pieces().iter().enumerate() {
            if let Some(Link::Result(id)) = &piece.link {
                let (tool, call) = calls.find(id.as_str()).unzip();
                found.push(ResultView {
                    tool_use_id: id.as_str(),
                    tool: tool.unwrap_or(""),
                    input: call.and_then(|call| call.block.as_map().get("input")),
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

/// The calls of a message, for finding those that results answer. Results
/// mostly come in the order of their calls, which takes no index.
struct Calls<'a> {
    pieces: &'a [Piece],
    next: usize,
    by_id: Option<BTreeMap<&'a str, (&'a str, &'a Piece)>>,
}

impl<'a> Calls<'a> {
    fn of(message: Option<&'a Message>) -> Self {
        Self { pieces: message.map_or(&[], Message::pieces), next: 0, by_id: None }
    }

    fn find(&mut self, wanted: &str) -> Option<(&'a str, &'a Piece)> {
        let ahead = self.pieces.iter().enumerate().skip(self.next);
        let mut ahead = ahead.filter_map(|(at, piece)| Some((at, call(piece)?)));
        if let Some((at, (id, found))) = ahead.next()
            && id == wanted
        {
            self.next = at + 1;
            return Some(found);
        }
        let by_id = self.by_id.get_or_insert_with(|| self.pieces.iter().filter_map(call).collect());
        by_id.get(wanted).copied()
    }
}

fn call(piece: &Piece) -> Option<(&str, (&str, &Piece))> {
    match &piece.link {
        Some(Link::Call(id, tool)) => Some((id.as_str(), (tool, piece))),
        _ => None,
    }
}
