//! Every line of the chain by id, and the bodies of those that may be shown.

use super::Half;
use crate::line::Packed;
use everfold_kernel::ports::LineSpan;
use everfold_kernel::{
    AssistantEntry, Block, BlockView, Decision, Entry, MessageId, Record, RecordId, RequestId,
    UserOrigin,
};
use std::collections::{BTreeMap, BTreeSet};

/// What of a line stays for good, and its body while that is held.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: RecordId,
    pub(super) parent: Option<RecordId>,
    pub(super) half: Half,
    pub(super) form: Form,
    /// The record before lines that could not be read, which stood before this one.
    pub(super) after_gap: Option<usize>,
    /// Where its line stands, where that is known.
    pub(super) span: Option<LineSpan>,
    pub(super) body: Option<Body>,
}

/// The records of a line.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) records: Vec<Record>,
    /// Whether the line said the position of its block.
    pub(super) numbered: bool,
    /// All of what the first record has in short.
    pub(super) packed: Option<Packed>,
}

/// What a line is to the walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// Said by the person, a tool or the model: a conversation can end here.
    Message,
    /// A boundary: the walk ends here.
    Boundary,
    Other,
    Link,
}

/// What the blocks of one response share.
pub(super) type MessageKey = (MessageId, Option<RequestId>);

impl Form {
    pub(super) fn of(entry: &Entry) -> Self {
        match entry {
            Entry::Assistant(_) => Self::Message,
            Entry::User(user) if user.origin != UserOrigin::Meta => Self::Message,
            // A step back is where a conversation ends until it goes on.
            Entry::Decision(Decision::Rewound(rewound)) if rewound.what.conversation() => {
                Self::Message
            }
            Entry::Boundary(_) => Self::Boundary,
            _ => Self::Other,
        }
    }
}

impl Node {
    pub(super) fn entry(&self) -> Option<&Entry> {
        Some(&self.body.as_ref()?.records.first()?.entry)
    }

    fn assistant(&self) -> Option<&AssistantEntry> {
        match self.entry()? {
            Entry::Assistant(entry) => Some(entry),
            _ => None,
        }
    }

    /// The response that the line is a part of.
    pub(super) fn message(&self) -> Option<MessageKey> {
        let entry = self.assistant()?;
        Some((entry.message_id.clone(), entry.request_id.clone()))
    }

    /// The calls in the line.
    pub(super) fn calls(&self) -> impl Iterator<Item = &str> {
        let records = self.body.iter().flat_map(|body| &body.records);
        records.filter_map(|record| match &record.entry {
            Entry::Assistant(entry) => match entry.block.view() {
                BlockView::ToolUse { id, .. } => Some(id),
                _ => None,
            },
            _ => None,
        })
    }

    /// The calls that the line answers.
    pub(super) fn answers(&self) -> impl Iterator<Item = &str> {
        let content = match self.entry() {
            Some(Entry::User(user)) => user.content.as_slice(),
            _ => &[],
        };
        content.iter().filter_map(answers)
    }
}

/// The call that a block answers.
pub(super) fn answers(block: &Block) -> Option<&str> {
    match block.view() {
        BlockView::ToolResult { id, .. } => Some(id),
        _ => None,
    }
}

/// The nodes in file order; a position is a place in that order.
#[derive(Debug, Default)]
pub(super) struct Index {
    nodes: Vec<Node>,
    by_id: BTreeMap<RecordId, usize>,
    /// Positions whose bodies are held, in order.
    held: BTreeSet<usize>,
}

impl Index {
    /// Adds a node; none where its id is taken.
    pub(super) fn insert(&mut self, node: Node) -> Option<usize> {
        let at = self.nodes.len();
        if self.by_id.contains_key(&node.id) {
            return None;
        }
        self.by_id.insert(node.id.clone(), at);
        self.nodes.push(node);
        Some(at)
    }

    /// Keeps the body of a node.
    pub(super) fn hold(&mut self, at: usize, body: Body) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.body = Some(body);
            self.held.insert(at);
        }
    }

    /// Hands out a body, which is then no longer held.
    pub(super) fn take(&mut self, at: usize) -> Option<Body> {
        self.held.remove(&at);
        self.nodes.get_mut(at)?.body.take()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Node> {
        self.nodes.get(at)
    }

    pub(super) fn position(&self, id: &RecordId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The id as it is held, so that a line and those that name it share it.
    pub(super) fn shared(&self, id: RecordId) -> RecordId {
        let held = self.by_id.get_key_value(&id).map(|(held, _)| held.clone());
        held.unwrap_or(id)
    }

    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = (usize, &Node)> {
        self.nodes.iter().enumerate()
    }

    /// Nodes with a body, in file order.
    pub(super) fn held(&self) -> impl DoubleEndedIterator<Item = (usize, &Node)> {
        self.held.iter().filter_map(|at| Some((*at, self.get(*at)?)))
    }

    /// The node before this one. Where the parent is not in the file and lines
    /// before this one could not be read, it was one of them: the walk goes on
    /// with what stood before them, so that one torn line does not cost the
    /// conversation its start (S6).
    pub(super) fn parent(&self, at: usize) -> Option<usize> {
        let node = self.get(at)?;
        self.position(node.parent.as_ref()?).or(node.after_gap)
    }

    /// Lets go of all bodies of one half.
    pub(super) fn release_half(&mut self, half: Half) {
        self.release_before(self.nodes.len(), half, &BTreeSet::new());
    }

    /// Lets go of the bodies of one half before a position, except for some.
    pub(super) fn release_before(&mut self, end: usize, half: Half, keep: &BTreeSet<usize>) {
        let nodes = &mut self.nodes;
        self.held.retain(|at| {
            let Some(node) = nodes.get_mut(*at) else {
                return false;
            };
            if *at >= end || node.half != half || keep.contains(at) {
                return true;
            }
            node.body = None;
            false
        });
    }
}
