//! The messages that the model sees, one by one, for a person to point at
//! (L4.7, L4.14, L4.16).
//!
//! Each entry is one record of the log that brings at least one block. Its
//! number is its place, from 1; it changes when something before it goes, its
//! record does not.

use crate::session::Session;
use crate::window::context_view::category;
use everfold_kernel::{Block, BlockView, RecordId, Tokens};
use everfold_prefix::Showing;
use serde::Serialize;
use std::collections::BTreeSet;

/// Characters of the first words.
const WORDS_CHARS: usize = 200;

/// One record that the model sees.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InView {
    /// Its place, from 1.
    pub number: usize,
    pub record: RecordId,
    /// What it is: the id of a category of [`crate::window::context_view`].
    pub category: &'static str,
    /// Its first words, on one line.
    pub words: String,
    pub tokens: Tokens,
    #[serde(skip)]
    pub shown: Showing,
    /// Whether a person pinned it.
    pub pinned: bool,
}

/// What the model sees, oldest first.
#[must_use]
pub fn in_view(session: &Session) -> Vec<InView> {
    let pins: BTreeSet<&RecordId> = session.state.fold.pins().collect();
    let mut found: Vec<InView> = Vec::new();
    for message in session.state.fold.messages() {
        for piece in message.pieces() {
            let tokens = session.state.fold.calibration().apply(piece.tokens);
            match found.last_mut() {
                Some(last) if last.record == piece.record => {
                    last.tokens += tokens;
                    if last.words.is_empty() {
                        last.words = words(&piece.block);
                    }
                }
                _ => found.push(InView {
                    number: found.len() + 1,
                    record: piece.record.clone(),
                    category: category(message.role(), piece),
                    words: words(&piece.block),
                    tokens,
                    shown: piece.shown,
                    pinned: pins.contains(&piece.record),
                }),
            }
        }
    }
    found
}

fn words(block: &Block) -> String {
    let text = match block.view() {
        BlockView::ToolUse { name, input, .. } => format!("{name} {input}"),
        BlockView::Image => "[picture]".to_owned(),
        BlockView::Document => "[document]".to_owned(),
        _ => block.plain_text(),
    };
    let mut out = String::new();
    for word in text.split_whitespace() {
        if out.chars().count() >= WORDS_CHARS {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out.chars().take(WORDS_CHARS).collect()
}
