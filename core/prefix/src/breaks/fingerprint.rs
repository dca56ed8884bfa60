//! What makes up the cache key of a request, part by part.
//!
//! A fingerprint is made of what rendering computes anyway: the head once a
//! prelude, a hash for each new block. For a long conversation it is a copy of
//! sixteen bytes a block. Cache markers are in no hash: they move with every
//! request, and are compared by where they stand.

use crate::request::sent_model;
use crate::sim::SimConfig;
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Prelude, Role};
use serde_json::json;
use std::fmt;

/// Bytes of a hash. Nobody attacks a comparison with one's own request.
const PRINT_BYTES: usize = 16;

type Print = [u8; PRINT_BYTES];

/// What makes up the cache key of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    pub(crate) head: HeadPrint,
    /// The blocks of all messages.
    pub(crate) blocks: Vec<BlockPrint>,
    /// For each message, how many blocks stand before it.
    pub(crate) starts: Vec<usize>,
    /// The blocks that close with a breakpoint, in order.
    pub(crate) marks: Vec<usize>,
    pub(crate) ttl: Option<CacheTtl>,
}

/// What stands before the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeadPrint {
    model: Print,
    betas: Print,
    parameters: Print,
    tools: Print,
    system: Print,
    breakpoints: Print,
}

/// One block of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockPrint(Print);

/// A part of the cache key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPart {
    Model,
    Betas,
    /// The form of requests, thinking and effort.
    Parameters,
    Tools,
    System,
    Messages {
        /// The first one that is not the same, counted from 1.
        first: usize,
    },
    /// Where breakpoints stand, and for how long.
    Breakpoints,
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Betas => "betas",
            Self::Parameters => "parameters",
            Self::Tools => "tools",
            Self::System => "system",
            Self::Messages { first } => {
                return write!(f, "messages (first changed message {first})");
            }
            Self::Breakpoints => "breakpoints",
        })
    }
}

impl Fingerprint {
    /// How long its breakpoints live; none where it asks for no cache.
    #[must_use]
    pub fn ttl(&self) -> Option<CacheTtl> {
        self.ttl
    }

    /// The parts of what an earlier request had cached that this one does not
    /// repeat, in the order of the key.
    #[must_use]
    pub fn changed_since(&self, earlier: &Self) -> Vec<KeyPart> {
        let (old, new) = (&earlier.head, &self.head);
        let head = [
            (old.model != new.model, KeyPart::Model),
            (old.betas != new.betas, KeyPart::Betas),
            (old.parameters != new.parameters, KeyPart::Parameters),
            (old.tools != new.tools, KeyPart::Tools),
            (old.system != new.system, KeyPart::System),
        ];
        let mut parts: Vec<KeyPart> =
            head.into_iter().filter_map(|(changed, part)| changed.then_some(part)).collect();
        parts.extend(self.changed_message(earlier).map(|first| KeyPart::Messages { first }));
        if old.breakpoints != new.breakpoints || self.misses_the_end_of(earlier) {
            parts.push(KeyPart::Breakpoints);
        }
        parts
    }

    /// The first message, counted from 1, that is not the same as it was in
    /// what the earlier request had cached.
    fn changed_message(&self, earlier: &Self) -> Option<usize> {
        let cached = earlier.marks.last().map_or(earlier.blocks.len(), |last| last + 1);
        let same = earlier.blocks.iter().zip(&self.blocks).take_while(|(old, new)| old == new);
        let same = same.count();
        // A block's message is the last that starts at it or before.
        (same < cached).then(|| earlier.starts.partition_point(|start| *start <= same))
    }

    /// Whether no breakpoint is near enough to where the earlier request ended
    /// for a server to look there.
    fn misses_the_end_of(&self, earlier: &Self) -> bool {
        let look_back = SimConfig::default().look_back;
        earlier.marks.last().is_some_and(|end| {
            !self.marks.iter().any(|mark| (*end..end + look_back).contains(mark))
        })
    }
}

impl HeadPrint {
    pub(crate) fn new(prelude: &Prelude) -> Self {
        let params = &prelude.params;
        let system = prelude.system.iter();
        let texts: Vec<&str> = system.clone().map(|block| block.text.as_str()).collect();
        let marked: Vec<_> = system.map(|block| block.breakpoint).collect();
        Self {
            model: print(sent_model(params.model.as_str()).as_bytes()),
            betas: json_print(&json!(params.betas)),
            parameters: json_print(&json!([
                params.dialect,
                params.thinking,
                params.effort,
                params.context_management
            ])),
            tools: json_print(&json!(prelude.tools)),
            system: json_print(&json!(texts)),
            breakpoints: json_print(&json!([marked, params.cache])),
        }
    }
}

impl BlockPrint {
    /// The print of a block, written without its cache marker.
    pub(crate) fn new(role: Role, written: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(role.as_str().as_bytes()).update(written);
        Self(shortened(hasher.finalize()))
    }
}

fn json_print(value: &serde_json::Value) -> Print {
    print(value.to_string().as_bytes())
}

fn print(bytes: &[u8]) -> Print {
    shortened(blake3::hash(bytes))
}

fn shortened(hash: blake3::Hash) -> Print {
    let mut print = [0; PRINT_BYTES];
    print.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    print
}
