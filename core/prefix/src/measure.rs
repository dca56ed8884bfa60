//! A request as the cache simulator sees it: a hash and the tokens of each
//! block, and where the breakpoints stand. Nothing is written for it, and only
//! what is new since the last look is measured, so that thousands of requests
//! of a long session can be priced (PC7).

use crate::fold::Fold;
use crate::message::{Link, Message, Piece, PieceOrigin};
use crate::sim::{Hash, short};
use everfold_kernel::tokens::estimate_block;
use everfold_kernel::{Block, Limits, Role, Tokens, UserOrigin};
use serde::Serialize;
use std::io::{BufWriter, Write};

/// What a block weighs, known from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weight {
    /// The hash of its content.
    pub content: Hash,
    /// Its tokens.
    pub tokens: Tokens,
}

/// Bytes of a block that are hashed at once.
const HASHED_BYTES: usize = 1 << 13;

impl Weight {
    /// A block with so many tokens, hashed here.
    #[must_use]
    pub fn of(block: &Block, tokens: Tokens) -> Self {
        let mut hasher = blake3::Hasher::new();
        // A value is written in parts of a few bytes; hashing many at once
        // takes a fraction of the time. Writing into a hasher does not fail.
        let mut parts = BufWriter::with_capacity(HASHED_BYTES, &mut hasher);
        let _ = serde_json::to_writer(&mut parts, block.as_map());
        let _ = parts.flush();
        drop(parts);
        Self { content: short(&hasher.finalize()), tokens }
    }
}

/// Tokens of a request by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Shares {
    /// What the person said.
    pub said: u64,
    /// What the model wrote, its thinking included.
    pub written: u64,
    pub calls: u64,
    pub results: u64,
    pub injected: u64,
    pub summaries: u64,
}

impl Shares {
    #[must_use]
    pub fn total(&self) -> u64 {
        self.said + self.written + self.calls + self.results + self.injected + self.summaries
    }

    fn of(&mut self, part: Part) -> &mut u64 {
        match part {
            Part::Said => &mut self.said,
            Part::Written => &mut self.written,
            Part::Call => &mut self.calls,
            Part::Result => &mut self.results,
            Part::Injected => &mut self.injected,
            Part::Summary => &mut self.summaries,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Said,
    Written,
    Call,
    Result,
    Injected,
    Summary,
}

/// One block of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighed {
    pub weight: Weight,
    part: Part,
    is_cacheable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Measure<'a> {
    /// Blocks at the start that are as they were at the last look.
    pub kept: usize,
    pub blocks: &'a [Weighed],
    /// Positions of blocks with a breakpoint, in order.
    pub marks: Vec<usize>,
    /// Its tokens by what they are.
    pub shares: Shares,
}

/// The messages that were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    blocks: Vec<Weighed>,
    /// How many blocks there are up to the end of each message.
    ends: Vec<usize>,
    shares: Shares,
    /// Blocks at the start that are as they were at the last look.
    kept: usize,
}

impl Measured {
    /// Forgets the messages from this one on.
    pub(crate) fn truncate(&mut self, messages: usize) {
        if messages >= self.ends.len() {
            return;
        }
        self.ends.truncate(messages);
        let blocks = self.ends.last().copied().unwrap_or(0);
        for own in self.blocks.drain(blocks..) {
            let share = self.shares.of(own.part);
            *share = share.saturating_sub(own.weight.tokens.0);
        }
        self.kept = self.kept.min(blocks);
    }

    fn push(&mut self, message: &Message, before: Option<&Message>, limits: &Limits) {
        for (shown, piece) in message.shown(before) {
            let block = shown.block();
            let tokens = piece.map_or_else(|| estimate_block(block, limits), |own| own.tokens);
            let known = piece.and_then(|piece| piece.content);
            let weight = known
                .map_or_else(|| Weight::of(block, tokens), |content| Weight { content, tokens });
            let part = part(message.role(), piece);
            *self.shares.of(part) += tokens.0;
            self.blocks.push(Weighed { weight, part, is_cacheable: shown.is_cacheable() });
        }
        self.ends.push(self.blocks.len());
    }

    /// The last block of a message on which a breakpoint may stand.
    fn mark(&self, message: usize) -> Option<usize> {
        let end = *self.ends.get(message)?;
        let start = message.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let own = self.blocks.get(start.unwrap_or(0)..end)?;
        Some(start.unwrap_or(0) + own.iter().rposition(|block| block.is_cacheable)?)
    }
}

impl Fold {
    /// The next request as the cache simulator sees it, without its prelude;
    /// for a fork, without its directive.
    pub fn measure(&mut self, forked: bool) -> Measure<'_> {
        let marks = self.marks(forked);
        let mut measured = std::mem::take(&mut self.rendered.measured);
        for index in measured.ends.len()..self.messages().len() {
            let before = index.checked_sub(1).and_then(|before| self.messages().get(before));
            if let Some(message) = self.messages().get(index) {
                measured.push(message, before, self.limits());
            }
        }
        let kept = measured.kept;
        measured.kept = measured.blocks.len();
        let marks = marks.into_iter().filter_map(|message| measured.mark(message)).collect();
        self.rendered.measured = measured;
        let measured = &self.rendered.measured;
        Measure { kept, blocks: &measured.blocks, marks, shares: measured.shares }
    }
}

fn part(role: Role, piece: Option<&Piece>) -> Part {
    // What was made up answers a call.
    let Some(piece) = piece else { return Part::Result };
    match (role, &piece.link, &piece.origin) {
        (Role::Assistant, Some(Link::Call(..)), _) => Part::Call,
        (Role::Assistant, ..) => Part::Written,
        (Role::User, Some(Link::Result(_)), _) => Part::Result,
        (Role::User, _, PieceOrigin::User(UserOrigin::Human)) => Part::Said,
        (Role::User, _, PieceOrigin::User(UserOrigin::CompactSummary)) => Part::Summary,
        (Role::User, ..) => Part::Injected,
    }
}
