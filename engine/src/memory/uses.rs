//! What a session knows of its memories besides the log: who writes them, how
//! far they were reviewed, and which of those that were brought in were of use
//! (L5.29).

use crate::memory::extraction;
use crate::session::Session;
use crate::tools::ToolCall;
use everfold_kernel::ports::MemoryUse;
use everfold_kernel::{BlockView, UserOrigin};
use everfold_memory_recall::{stems, was_used};
use everfold_prefix::Message;
use everfold_prefix::message::{Piece, PieceOrigin};
use std::collections::BTreeSet;

/// Says what a memory can rest on that the main agent is about to write.
pub(crate) fn note_testimony(session: &Session, calls: &[ToolCall]) {
    let Some(memories) = &session.world.memories else { return };
    let writes = |call: &ToolCall| {
        let path = everfold_kernel::call::file_of(&call.input)?;
        let path = session.context.absolute(path);
        memories.places().iter().find(|place| path.starts_with(&place.dir))
    };
    if calls.iter().any(|call| writes(call).is_some()) {
        let found = extraction::everything_said(session);
        session.memory.main.at_work.hear(found);
    }
}

/// Counts memories that were shown, and those of which the answers have
/// words that nobody else had said.
pub(crate) async fn count_uses(session: &mut Session) {
    let Some(memories) = session.world.memories.clone() else { return };
    let mut surfaced = std::mem::take(&mut session.runtime.branch.surfaced);
    let mut uses = Vec::new();
    for memory in surfaced.iter_mut().filter(|memory| !memory.counted) {
        uses.push((memory.path.clone(), MemoryUse::Recalled));
        memory.counted = true;
    }
    let said = if surfaced.is_empty() { LastTurn::default() } else { last_turn(session) };
    surfaced.retain(|memory| {
        let limits = &session.config.limits.recall;
        let of_use = was_used(&memory.words, &said.besides, &said.answer, limits);
        if of_use {
            uses.push((memory.path.clone(), MemoryUse::Used));
        }
        !of_use
    });
    session.runtime.branch.surfaced = surfaced;
    if !uses.is_empty()
        && let Err(error) = memories.count(uses).await
    {
        tracing::info!(%error, "the use of memories is not counted");
    }
}

fn last_turn(session: &Session) -> LastTurn {
    let pieces: Vec<&Piece> =
        session.state.fold.messages().iter().flat_map(Message::pieces).collect();
    let is_prompt = |piece: &&Piece| piece.origin == PieceOrigin::User(UserOrigin::Human);
    let start = pieces.iter().rposition(is_prompt).unwrap_or(0);
    let mut said = LastTurn::default();
    for (at, piece) in pieces.iter().enumerate() {
        match &piece.origin {
            PieceOrigin::Assistant(_) if at >= start => said.answer.extend(stems(&words(piece))),
            PieceOrigin::Attachment(_) => {}
            _ => said.besides.extend(stems(&piece.block.plain_text())),
        }
    }
    said
}

/// The words of a conversation, as stems.
#[derive(Default)]
struct LastTurn {
    /// Of the last turn's answers.
    answer: BTreeSet<String>,
    /// Of all else that was said, memories aside.
    besides: BTreeSet<String>,
}

/// What a model says, in words or in the arguments of a call.
fn words(piece: &Piece) -> String {
    match piece.block.view() {
        BlockView::ToolUse { input, .. } => input.to_string(),
        BlockView::Text(text) => text.to_owned(),
        _ => String::new(),
    }
}
