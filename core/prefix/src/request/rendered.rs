//! The messages of a request, rendered once; a request shares their bytes, and
//! has the breakpoints between them.

use super::{Frame, PrefixHash, cache_control};
use crate::breaks::{BlockPrint, Fingerprint};
use crate::measure::Measured;
use crate::message::{Message, ShownBlock};
use crate::pictures::described;
use bytes::Bytes;
use everfold_kernel::ports::RequestBody;
use everfold_kernel::record::{CacheTtl, CallForm, Dialect, Pictures};
use everfold_kernel::{Block, Role};
use everfold_wire::openai;

/// Where a rendered message stands in the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    start: usize,
    /// How many blocks stand before it.
    first_block: usize,
    hash: [u8; 32],
}

/// Where a breakpoint stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockMark {
    /// The closing brace, in the buffer.
    brace: usize,
    /// The block, counted over all messages.
    block: usize,
}

/// From so many bytes on, messages that were written are closed: they are shared
/// from then on, and the ones to come are written anew.
const CLOSED_BYTES: usize = 64 << 10;

/// Messages rendered one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rendered {
    /// What was written before the open part.
    closed: RequestBody,
    /// The newest messages, whole ones.
    open: Vec<u8>,
    spans: Vec<Span>,
    /// A hash for each block of all messages.
    prints: Vec<BlockPrint>,
    /// For each block its closing brace, where it may carry a breakpoint.
    braces: Vec<Option<usize>>,
    /// The same messages as the cache simulator sees them.
    pub(crate) measured: Measured,
}

impl Rendered {
    /// How many messages are rendered.
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Forgets the messages from this one on.
    pub(crate) fn truncate(&mut self, count: usize) {
        if let Some(span) = self.spans.get(count) {
            self.open.truncate(span.start.saturating_sub(self.closed.len()));
            self.closed.truncate(span.start);
            self.prints.truncate(span.first_block);
            self.braces.truncate(span.first_block);
            self.spans.truncate(count);
        }
        self.measured.truncate(count);
    }

    /// Renders the next message.
    pub(crate) fn push(&mut self, frame: &Frame, message: &Message, before: Option<&Message>) {
        let mut blocks = message.blocks(before);
        if frame.pictures == Pictures::Told {
            blocks = blocks.into_iter().map(described).collect();
        }
        self.push_blocks(frame, message.role(), &blocks);
    }

    fn push_blocks(&mut self, frame: &Frame, role: Role, blocks: &[ShownBlock<'_>]) {
        let (start, first_block) = (self.open.len(), self.prints.len());
        let before = self.closed.len();
        if !blocks.is_empty() {
            if before + start > 0 || frame.follows_message {
                self.open.push(b',');
            }
            match frame.dialect {
                Dialect::Anthropic => self.write_anthropic(role, blocks),
                Dialect::OpenAi => self.write_openai(role, blocks, (start, frame.calls)),
            }
        }
        let hash = blake3::hash(self.open.get(start..).unwrap_or_default()).into();
        self.spans.push(Span { start: before + start, first_block, hash });
        if self.open.len() >= CLOSED_BYTES {
            self.closed.push(Bytes::copy_from_slice(&self.open));
            self.open.clear();
        }
    }

    fn write_anthropic(&mut self, role: Role, blocks: &[ShownBlock<'_>]) {
        self.open.extend_from_slice(b"{\"role\":\"");
        self.open.extend_from_slice(role.as_str().as_bytes());
        self.open.extend_from_slice(b"\",\"content\":[");
        for (index, shown) in blocks.iter().enumerate() {
            if index > 0 {
                self.open.push(b',');
            }
            let start = self.open.len();
            write_block(&mut self.open, shown.block());
            let brace = (self.closed.len() + self.open.len()).checked_sub(1);
            self.braces.push(brace.filter(|_| shown.is_cacheable()));
            let written = self.open.get(start..).unwrap_or_default();
            self.prints.push(BlockPrint::new(role, written));
        }
        self.open.extend_from_slice(b"]}");
    }

    fn write_openai(
        &mut self,
        role: Role,
        blocks: &[ShownBlock<'_>],
        (start, calls): (usize, CallForm),
    ) {
        let shown = |shown: &ShownBlock<'_>| match calls {
            CallForm::Declared => shown.block().clone(),
            CallForm::Text => openai::text_calls::as_text(shown.block()),
        };
        let blocks: Vec<Block> = blocks.iter().map(shown).collect();
        for block in &blocks {
            let mut written = Vec::new();
            write_block(&mut written, block);
            self.prints.push(BlockPrint::new(role, &written));
            self.braces.push(None);
        }
        let text = openai::message_json(role, &blocks);
        if text.is_empty() {
            self.open.truncate(start);
        } else {
            self.open.extend_from_slice(text.as_bytes());
        }
    }

    /// How many blocks stand before a message.
    pub(crate) fn blocks_before(&self, message: usize) -> usize {
        self.spans.get(message).map_or(self.prints.len(), |span| span.first_block)
    }

    /// The last blocks of these messages that may carry a breakpoint, none
    /// behind the first `most` blocks.
    pub(crate) fn marks(&self, messages: &[usize], most: usize) -> Vec<BlockMark> {
        let mark = |message: &usize| {
            let start = self.spans.get(*message)?.first_block;
            let end = self.blocks_before(message.saturating_add(1)).min(most);
            let own = self.braces.get(start..end)?;
            let at = own.iter().rposition(Option::is_some)?;
            Some(BlockMark { brace: own.get(at).copied().flatten()?, block: start + at })
        };
        messages.iter().filter_map(mark).collect()
    }

    /// The request's body, with breakpoints at `marks`.
    pub(crate) fn body(
        &self,
        frame: &Frame,
        marks: &[BlockMark],
        ttl: Option<CacheTtl>,
    ) -> RequestBody {
        let marker = ttl.map(|ttl| format!(",\"cache_control\":{}", cache_control(ttl)));
        let marker = Bytes::from(marker.unwrap_or_default());
        let mut written = self.closed.clone();
        written.push(Bytes::copy_from_slice(&self.open));
        let mut body = RequestBody::from(Bytes::copy_from_slice(&frame.before));
        let mut shared = 0;
        for place in marks.iter().map(|mark| mark.brace).filter(|_| !marker.is_empty()) {
            body.push_range(&written, shared..place);
            body.push(marker.clone());
            shared = place;
        }
        body.push_range(&written, shared..written.len());
        body.push(Bytes::copy_from_slice(&frame.after));
        body
    }

    /// What makes up the cache key of a request with these breakpoints.
    pub(crate) fn fingerprint(
        &self,
        frame: &Frame,
        marks: &[BlockMark],
        ttl: Option<CacheTtl>,
    ) -> Fingerprint {
        Fingerprint {
            head: frame.head.clone(),
            blocks: self.prints.clone(),
            starts: self.spans.iter().map(|span| span.first_block).collect(),
            marks: marks.iter().filter(|_| ttl.is_some()).map(|mark| mark.block).collect(),
            ttl,
        }
    }

    /// The hash of what is rendered, head included.
    pub(crate) fn prefix_hash(&self, frame: &Frame) -> PrefixHash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&frame.before);
        for span in &self.spans {
            hasher.update(&span.hash);
        }
        PrefixHash(hasher.finalize().into())
    }
}

/// Writes a block without a breakpoint that somebody else may have left on it.
fn write_block(out: &mut Vec<u8>, block: &Block) {
    let map = block.as_map();
    let written = if map.contains_key("cache_control") {
        let mut plain = map.clone();
        plain.shift_remove("cache_control");
        serde_json::to_writer(&mut *out, &plain)
    } else {
        serde_json::to_writer(&mut *out, map)
    };
    debug_assert!(written.is_ok(), "JSON values always write into memory");
}
