//! A conversation as plain text, for a weak model that is asked about it and is
//! shown nothing else (Q18).

use crate::message::Message;
use everfold_kernel::{Block, BlockView, Role, Tokens, Window};

/// Characters of a call or a result that are shown.
const RESULT_CHARS: usize = 400;
/// The share of the window, in hundredths, that the text may take.
const SHOWN_PERCENT: u64 = 50;

/// Who said what, a line each; the end of it where it is too long for half of
/// the window.
#[must_use]
pub fn plain_text(messages: &[Message], window: &Window, bytes_per_token: u64) -> String {
    let Tokens(room) = window.effective;
    let most = room.saturating_mul(SHOWN_PERCENT) / 100 * bytes_per_token;
    let lines = messages.iter().flat_map(|message| {
        let role = message.role();
        message.pieces().iter().filter_map(move |piece| line(role, &piece.block))
    });
    let text: String = lines.collect();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let start = text.ceil_char_boundary(text.len().saturating_sub(most));
    text.get(start..).unwrap_or_default().to_owned()
}

fn line(role: Role, block: &Block) -> Option<String> {
    match block.view() {
        BlockView::Text(text) if !text.trim().is_empty() => {
            let who = if role == Role::User { "person" } else { "assistant" };
            Some(format!("{who}: {}\n", text.trim()))
        }
        BlockView::ToolUse { name, input, .. } => {
            Some(format!("assistant calls {name}: {}\n", clipped(&input.to_string())))
        }
        BlockView::ToolResult { .. } => Some(format!("result: {}\n", clipped(&block.plain_text()))),
        _ => None,
    }
}

/// The start of a text, on one line.
fn clipped(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut start = words.next().unwrap_or_default().to_owned();
    while let Some(word) = words.next().filter(|_| start.len() < RESULT_CHARS * 4) {
        start.push(' ');
        start.push_str(word);
    }
    match start.char_indices().nth(RESULT_CHARS) {
        Some((end, _)) => format!("{}…", start.get(..end).unwrap_or_default().trim_end()),
        None => start,
    }
}
