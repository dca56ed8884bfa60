//! Messages as the model is to see them.
//!
//! A [`Message`] gathers the pieces that records brought, in the order in
//! which the API wants them: tool results first. It is always valid: a call
//! without a result is answered as interrupted, a result without a call is
//! left out, empty texts are left out.

use crate::sim::Hash;
use everfold_kernel::provenance::Source;
use everfold_kernel::{
    Block, BlockProvenance, BlockView, MessageId, RecordId, Role, Timestamp, Tokens, ToolUseId,
    UserOrigin,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a call is answered with when its result never came.
pub const INTERRUPTED: &str = "[No result: the call was interrupted before it finished]";

/// The kind of a block that asks the server to drop results from its cache
/// (L2.3), and of the attachment that carries it.
pub const CACHE_EDITS: &str = "cache_edits";

/// One block of the conversation, with where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// The record that brought it.
    pub record: RecordId,
    pub at: Timestamp,
    pub origin: PieceOrigin,
    pub block: Block,
    /// Whose words it holds (L5.33).
    pub provenance: BlockProvenance,
    /// Its estimate, before calibration.
    pub tokens: Tokens,
    /// Whether the block is what the record brought.
    pub shown: Showing,
    /// What ties a call and its result, read once: layers look at all of them
    /// before every request.
    pub(crate) link: Option<Link>,
    /// The hash of the block where it is known from elsewhere (a replay).
    pub(crate) content: Option<Hash>,
}

impl Piece {
    /// The call that it answers, where it is a tool's result.
    #[must_use]
    pub fn answers(&self) -> Option<&str> {
        match &self.link {
            Some(Link::Result(id)) => Some(id.as_str()),
            _ => None,
        }
    }

    /// Who wrote the least trusted of its words (L5.33). Where it does not say
    /// so, what a tool or a summary brought counts as a program's output, and a
    /// prompt as pasted; nobody outside wrote the rest.
    #[must_use]
    pub fn lowest(&self) -> Option<Source> {
        self.provenance.lowest().map(|own| own.source).or(match &self.origin {
            PieceOrigin::User(UserOrigin::ToolResult | UserOrigin::CompactSummary) => {
                Some(Source::Command)
            }
            PieceOrigin::User(UserOrigin::Human) => Some(Source::Pasted),
            _ => None,
        })
    }
}

/// One end of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Link {
    /// The call of this tool.
    Call(ToolUseId, Arc<str>),
    Result(ToolUseId),
}

impl Link {
    pub(crate) fn of(block: &Block) -> Option<Self> {
        match block.view() {
            BlockView::ToolUse { id, name, .. } => Some(Self::Call(id.into(), name.into())),
            BlockView::ToolResult { id, .. } => Some(Self::Result(id.into())),
            _ => None,
        }
    }
}

/// How a piece is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Showing {
    Whole,
    /// A tool result, by its preview (L1).
    Spilled,
    /// A tool result, by a marker (L2).
    Cleared,
    /// Something that stands for a range of messages (L4.13, L4.14).
    StandsIn,
}

/// Who wrote a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceOrigin {
    /// Somebody on the user's side.
    User(UserOrigin),
    /// An attachment of this kind.
    Attachment(String),
    /// The model, in this response.
    Assistant(MessageId),
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    role: Role,
    pieces: Vec<Piece>,
}

impl Message {
    pub(crate) fn new(role: Role, piece: Piece) -> Self {
        Self { role, pieces: vec![piece] }
    }

    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Gives pieces another weight, and tells whether any has one now.
    pub(crate) fn reweigh(&mut self, weigh: &mut dyn FnMut(&Piece) -> Option<Tokens>) -> bool {
        let mut changed = false;
        for piece in &mut self.pieces {
            if let Some(tokens) = weigh(piece) {
                changed |= tokens != piece.tokens;
                piece.tokens = tokens;
            }
        }
        changed
    }

    /// Its pieces, in the order of the log.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Its estimate, before calibration.
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    /// The record that brought its last piece.
    pub(crate) fn last_record(&self) -> Option<&RecordId> {
        self.pieces.last().map(|piece| &piece.record)
    }

    /// The calls of tools in it, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match &piece.link {
            Some(Link::Call(id, _)) => Some(id.as_str()),
            _ => None,
        })
    }

    /// Whether a piece belongs into this message rather than into the next one.
    pub(crate) fn takes(&self, role: Role, origin: &PieceOrigin) -> bool {
        if self.role != role {
            return false;
        }
        match (origin, self.pieces.last().map(|piece| &piece.origin)) {
            (PieceOrigin::Assistant(new), Some(PieceOrigin::Assistant(old))) => {
                new == old || self.searches().next().is_some()
            }
            _ => true,
        }
    }

    /// Positions of calls that the server makes itself and that have no result
    /// yet: it paused there, and the next response goes on with them.
    fn searches(&self) -> impl Iterator<Item = usize> {
        let answered = |id: &Value| {
            self.pieces.iter().any(|piece| piece.block.as_map().get("tool_use_id") == Some(id))
        };
        self.pieces.iter().enumerate().filter_map(move |(at, piece)| {
            let is_call = piece.block.kind() == "server_tool_use";
            let id = piece.block.as_map().get("id")?;
            (is_call && !answered(id)).then_some(at)
        })
    }

    /// Leaves out calls of the server's that will never have a result, since
    /// somebody else speaks next: the API refuses them. Says whether there were.
    pub(crate) fn give_up_searches(&mut self) -> bool {
        let open: Vec<usize> = self.searches().collect();
        for at in open.iter().rev() {
            self.pieces.remove(*at);
        }
        !open.is_empty()
    }

    /// Takes out what one response brought. Says whether anything is left.
    pub(crate) fn without_response(&mut self, id: &MessageId) -> bool {
        self.pieces
            .retain(|piece| !matches!(&piece.origin, PieceOrigin::Assistant(own) if own == id));
        !self.pieces.is_empty()
    }

    pub(crate) fn pieces_mut(&mut self) -> &mut [Piece] {
        &mut self.pieces
    }

    pub(crate) fn push(&mut self, piece: Piece) {
        self.pieces.push(piece);
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.pieces.append(&mut other.pieces);
    }

    /// What a boundary keeps of the message. A response is kept whole, so that
    /// thinking stays with what it led to; on the user's side each record
    /// stands for itself.
    pub(crate) fn preserved(mut self, records: &BTreeSet<&RecordId>) -> Option<Self> {
        match self.role {
            Role::Assistant if self.pieces.iter().any(|piece| records.contains(&piece.record)) => {}
            Role::Assistant => self.pieces.clear(),
            Role::User => self.pieces.retain(|piece| records.contains(&piece.record)),
        }
        (!self.pieces.is_empty()).then_some(self)
    }

    /// Whether the message is part of this response.
    pub(crate) fn is_response(&self, id: &MessageId) -> bool {
        self.pieces.iter().any(|p| matches!(&p.origin, PieceOrigin::Assistant(own) if own == id))
    }

    /// The blocks as the API takes them; `before` is the message before this one.
    #[must_use]
    pub fn blocks(&self, before: Option<&Self>) -> Vec<ShownBlock<'_>> {
        self.shown(before).into_iter().map(|(shown, _)| shown).collect()
    }

    /// The same with the piece that each came from; none where it was made up.
    pub(crate) fn shown(&self, before: Option<&Self>) -> Vec<(ShownBlock<'_>, Option<&Piece>)> {
        match self.role {
            Role::Assistant => self.assistant_blocks(),
            Role::User => self.user_blocks(before),
        }
    }

    fn assistant_blocks(&self) -> Vec<(ShownBlock<'_>, Option<&Piece>)> {
        let shown: Vec<&Piece> =
            self.pieces.iter().filter(|piece| !is_empty_text(&piece.block)).collect();
        let only_thinking = shown.iter().all(|piece| is_thinking(&piece.block));
        if only_thinking {
            return Vec::new();
        }
        shown.into_iter().map(kept).collect()
    }

    fn user_blocks(&self, before: Option<&Self>) -> Vec<(ShownBlock<'_>, Option<&Piece>)> {
        let calls = before.filter(|message| message.role == Role::Assistant);
        let mut results: BTreeMap<&str, &Piece> = BTreeMap::new();
        let mut rest = Vec::new();
        for piece in &self.pieces {
            match &piece.link {
                Some(Link::Result(id)) => {
                    results.entry(id.as_str()).or_insert(piece);
                }
                _ if is_empty_text(&piece.block) => {}
                _ => rest.push(kept(piece)),
            }
        }
        let made = |id| (ShownBlock::Made(interrupted(id)), None);
        let answers = calls.into_iter().flat_map(Self::tool_calls);
        let answers =
            answers.map(|id| results.get(id).map_or_else(|| made(id), |piece| kept(piece)));
        answers.chain(rest).collect()
    }
}

fn kept(piece: &Piece) -> (ShownBlock<'_>, Option<&Piece>) {
    (ShownBlock::Kept(&piece.block), Some(piece))
}

/// A block in a request: one of the log's, or one that the rules of the API ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum ShownBlock<'a> {
    Kept(&'a Block),
    /// Made up, the same way every time.
    Made(Block),
}

impl ShownBlock<'_> {
    #[must_use]
    pub fn block(&self) -> &Block {
        match self {
            Self::Kept(block) => block,
            Self::Made(block) => block,
        }
    }

    /// Whether a cache breakpoint may stand on it.
    #[must_use]
    pub fn is_cacheable(&self) -> bool {
        !is_thinking(self.block()) && self.block().kind() != CACHE_EDITS
    }
}

/// The answer to a call whose result never came.
pub(crate) fn interrupted(id: &str) -> Block {
    Block::tool_error(&id.into(), INTERRUPTED)
}

fn is_thinking(block: &Block) -> bool {
    matches!(block.view(), BlockView::Thinking(_) | BlockView::RedactedThinking)
}

fn is_empty_text(block: &Block) -> bool {
    matches!(block.view(), BlockView::Text(text) if text.trim().is_empty())
}
