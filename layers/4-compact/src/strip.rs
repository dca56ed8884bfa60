//! The conversation without what a summary does not need (L4.3), and smaller
//! still when even that is too long (L4.8).

use crate::error::Error;
use crate::plan::{Guidance, Plan, Sending, ask};
use everfold_kernel::effect::AskShape;
use everfold_kernel::tokens::estimate_block;
use everfold_kernel::{Block, BlockView, Effect, Limits, Role, Tokens};
use everfold_prefix::Fold;
use everfold_prefix::message::{CACHE_EDITS, Message, PieceOrigin};
use serde_json::{Value, json};

/// Kinds of attachments that come back after a compaction by themselves (L4.5).
pub const REINJECTED: [&str; 13] = [
    "agent_listing_delta",
    "compact_file_reference",
    "deferred_tools_delta",
    "deferred_tools_record",
    "hook_additional_context",
    "instructions",
    "invoked_skills",
    "mcp_instructions_delta",
    "memory_index",
    "nested_memory",
    "plan_file_reference",
    "plan_mode",
    "skill_listing",
];

const LEFT_OUT: &str = "[The oldest part of the conversation was too long and is left out here.]";
const START: &str = "[The part of the conversation that is to be summed up starts here.]";

/// A conversation in groups, one for each API round.
#[derive(Clone, Debug, PartialEq)]
pub struct Stripped {
    groups: Vec<Group>,
    /// Tokens of the whole conversation that are not in it.
    saved: Tokens,
    left_out: usize,
    tries: u32,
}

#[derive(Clone, Debug, PartialEq)]
struct Group {
    messages: Vec<(Role, Vec<Block>)>,
    tokens: Tokens,
}

/// What a server said of a request that was too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TooLong {
    /// Tokens of the request, where it said so.
    pub actual: Option<u64>,
    /// Tokens that are allowed, where it said so.
    pub maximum: Option<u64>,
}

impl TooLong {
    /// By how much, where the server said so.
    fn gap(self) -> Option<u64> {
        let (actual, maximum) = self.actual.zip(self.maximum)?;
        (actual > maximum).then(|| actual - maximum)
    }

    fn by(gap: u64) -> Self {
        Self { actual: Some(gap), maximum: Some(0) }
    }
}

impl Stripped {
    /// The part of the conversation that goes.
    #[must_use]
    pub fn of(fold: &Fold, plan: &Plan, limits: &Limits) -> Self {
        let part = plan.dropped_part(fold);
        let mut groups: Vec<Group> = Vec::new();
        let mut before: Option<&Message> = None;
        for message in part.messages() {
            let blocks = strip(message, before);
            before = Some(message);
            if blocks.is_empty() {
                continue;
            }
            let tokens = blocks.iter().map(|block| estimate_block(block, limits)).sum();
            match groups.last_mut() {
                Some(group) if message.role() == Role::User => {
                    group.messages.push((Role::User, blocks));
                    group.tokens += tokens;
                }
                _ => groups.push(Group { messages: vec![(message.role(), blocks)], tokens }),
            }
        }
        let kept = groups.iter().map(|group| group.tokens).sum();
        let saved = estimate_messages(fold.messages(), limits) - kept;
        Self { groups, saved, left_out: 0, tries: 0 }
    }

    /// How many rounds there are.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.groups.len()
    }

    /// How many rounds were left out.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// What is sent after the whole conversation was refused: without its oldest
    /// rounds, as far as what was taken out already does not cover the gap.
    #[must_use]
    pub fn in_place_of_all(self, refused: TooLong, limits: &Limits) -> Option<Self> {
        match refused.gap() {
            Some(gap) if gap <= self.saved.0 => Some(Self { tries: self.tries + 1, ..self }),
            Some(gap) => self.shrink(TooLong::by(gap - self.saved.0), limits),
            None => self.shrink(refused, limits),
        }
    }

    /// The same without its oldest rounds: as many as cover the gap that the
    /// server named, or a share of them. None once that was tried often
    /// enough, or nothing would be left.
    #[must_use]
    pub fn shrink(&self, refused: TooLong, limits: &Limits) -> Option<Self> {
        let limits = &limits.compact;
        let count = if let Some(gap) = refused.gap() {
            self.covering(gap)
        } else {
            let share = (self.groups.len() as u64).saturating_mul(limits.shrink_percent);
            usize::try_from(share.div_ceil(100)).unwrap_or(usize::MAX)
        };
        let count = count.max(1);
        if self.tries >= limits.shrink_tries || count >= self.groups.len() {
            return None;
        }
        let groups = self.groups.iter().skip(count).cloned().collect();
        let (left_out, tries) = (self.left_out + count, self.tries + 1);
        Some(Self { groups, saved: self.saved, left_out, tries })
    }

    fn covering(&self, gap: u64) -> usize {
        let mut covered = 0_u64;
        let needed = self.groups.iter().take_while(|group| {
            let open = covered < gap;
            covered = covered.saturating_add(group.tokens.0);
            open
        });
        needed.count()
    }

    /// The messages as a request takes them: the first is the user's.
    #[must_use]
    pub fn messages(&self) -> Vec<(Role, Vec<Block>)> {
        let mut messages: Vec<(Role, Vec<Block>)> =
            self.groups.iter().flat_map(|group| group.messages.iter().cloned()).collect();
        let note = if self.left_out > 0 { LEFT_OUT } else { START };
        match messages.first_mut() {
            Some((Role::User, blocks)) if self.left_out > 0 => blocks.insert(0, Block::text(note)),
            Some((Role::User, _)) => {}
            _ => messages.insert(0, (Role::User, vec![Block::text(note)])),
        }
        messages
    }

    /// Asks for the summary of this.
    ///
    /// # Errors
    /// If the prompt of this version does not fit its values.
    pub fn ask(
        &self,
        fold: &Fold,
        plan: &Plan,
        guidance: Guidance<'_>,
        limits: &Limits,
    ) -> Result<Effect, Error> {
        let directive = plan.directive(fold, Sending::Stripped, guidance, limits)?;
        Ok(ask(AskShape::Conversation { messages: self.messages(), directive }, limits))
    }
}

fn estimate_messages(messages: &[Message], limits: &Limits) -> Tokens {
    let before = std::iter::once(None).chain(messages.iter().map(Some));
    let blocks = messages.iter().zip(before).flat_map(|(message, before)| message.blocks(before));
    blocks.map(|shown| estimate_block(shown.block(), limits)).sum()
}

/// The blocks of a message without pictures, documents and what comes back.
fn strip(message: &Message, before: Option<&Message>) -> Vec<Block> {
    let comes_back = |block: &Block| {
        message.pieces().iter().any(|piece| {
            let kind = match &piece.origin {
                PieceOrigin::Attachment(kind) => kind.as_str(),
                _ => return false,
            };
            // An edit is about a cache that this request does not read.
            let goes = REINJECTED.contains(&kind) || kind == CACHE_EDITS;
            goes && piece.block == *block
        })
    };
    let blocks = message.blocks(before);
    blocks
        .iter()
        .map(everfold_prefix::message::ShownBlock::block)
        .filter(|b| !comes_back(b))
        .map(plain)
        .collect()
}

/// A block with words in place of pictures and documents.
fn plain(block: &Block) -> Block {
    match block.view() {
        BlockView::Image => Block::text("[image]"),
        BlockView::Document => Block::text("[document]"),
        BlockView::ToolResult { content: Value::Array(parts), .. } => {
            let parts = parts.iter().map(|part| match part.get("type").and_then(Value::as_str) {
                Some(kind @ ("image" | "document")) => {
                    json!({"type": "text", "text": format!("[{kind}]")})
                }
                _ => part.clone(),
            });
            block.with_result_content(Value::Array(parts.collect()))
        }
        _ => block.clone(),
    }
}
