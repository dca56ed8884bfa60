//! What stays beside the notes when they stand for the rest (L3.6).
//!
//! The newest messages stay: all that the notes do not cover, and before them
//! as many as make up the least that is kept. A cut falls between API rounds,
//! so a result stays with its call and thinking with its message.

use everfold_kernel::{BlockView, Limits, RecordId, Role, Tokens, UserOrigin};
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::{Fold, Message};

/// Why the notes cannot stand for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Nothing {
    /// What they cover is not in view, so it cannot be said what they leave out.
    #[error("the notes are older than what is in view")]
    Unknown,
    /// Messages would be lost that they do not cover.
    #[error("the notes are too far behind: {tokens} tokens since then, more than {most}")]
    Behind {
        /// Tokens that they do not cover.
        tokens: u64,
        /// Most that is kept.
        most: u64,
    },
    #[error("nothing would go")]
    AllStays,
}

/// The first record that stays. All from there on does.
///
/// # Errors
/// If messages would be lost that the notes do not cover, or none would go.
pub fn keep_from(fold: &Fold, through: &RecordId, limits: &Limits) -> Result<RecordId, Nothing> {
    let own = &limits.notes;
    let rounds = rounds(fold);
    let mut first = uncovered(fold, &rounds, through).ok_or(Nothing::Unknown)?;
    let mut kept = Size::default();
    for round in rounds.iter().skip(first) {
        kept.add(round.size);
    }
    let count = |size: Size| fold.calibration().apply(size.tokens).0;
    if count(kept) > own.keep_most_tokens {
        return Err(Nothing::Behind { tokens: count(kept), most: own.keep_most_tokens });
    }
    while count(kept) < own.keep_tokens || kept.texts < own.keep_messages {
        let Some(before) = first.checked_sub(1).and_then(|at| rounds.get(at)) else { break };
        let mut more = kept;
        more.add(before.size);
        if count(more) > own.keep_most_tokens {
            break;
        }
        kept = more;
        first -= 1;
    }
    let start = rounds.get(first).filter(|_| first > 0).ok_or(Nothing::AllStays)?;
    let message = fold.messages().get(start.from).map(Message::pieces);
    message.and_then(<[_]>::first).map(|piece| piece.record.clone()).ok_or(Nothing::AllStays)
}

/// Messages that stay or go together.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The first message.
    from: usize,
    /// The last one.
    to: usize,
    size: Size,
}

#[derive(Clone, Copy, Debug, Default)]
struct Size {
    /// Before calibration.
    tokens: Tokens,
    /// Messages in which somebody says something.
    texts: u64,
}

impl Size {
    fn of(message: &Message) -> Self {
        Self { tokens: message.tokens(), texts: u64::from(has_text(message)) }
    }

    fn add(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.texts += other.texts;
    }
}

/// The first round of which something is not covered: the one after the
/// record, or the one that it is in where more came in that round.
fn uncovered(fold: &Fold, rounds: &[Round], through: &RecordId) -> Option<usize> {
    let pieces = |round: &Round| {
        let messages = fold.messages().get(round.from..=round.to).unwrap_or_default();
        messages.iter().flat_map(Message::pieces).map(|piece| piece.record.clone())
    };
    let at = rounds.iter().rposition(|round| pieces(round).any(|record| record == *through))?;
    let ends = rounds.get(at).and_then(|round| pieces(round).next_back()).as_ref() == Some(through);
    Some(at + usize::from(ends))
}

/// An answer and the results of its calls are one round; any other message is
/// one by itself.
fn rounds(fold: &Fold) -> Vec<Round> {
    let mut rounds: Vec<Round> = Vec::new();
    for (index, message) in fold.messages().iter().enumerate() {
        let size = Size::of(message);
        match rounds.last_mut() {
            Some(last) if answers(message) => {
                last.to = index;
                last.size.add(size);
            }
            _ => rounds.push(Round { from: index, to: index, size }),
        }
    }
    rounds
}

fn answers(message: &Message) -> bool {
    message.role() == Role::User
        && message.pieces().iter().any(|p| matches!(p.block.view(), BlockView::ToolResult { .. }))
}

fn has_text(message: &Message) -> bool {
    message.pieces().iter().any(|piece| {
        let spoken = matches!(
            piece.origin,
            PieceOrigin::Assistant(_)
                | PieceOrigin::User(UserOrigin::Human | UserOrigin::CompactSummary)
        );
        spoken && matches!(piece.block.view(), BlockView::Text(text) if !text.trim().is_empty())
    })
}
