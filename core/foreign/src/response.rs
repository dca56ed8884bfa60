//! One response, gathered from its lines.
//!
//! Agents write a block when it is complete, and run a tool while the model
//! still writes: so a response's blocks may have results between them. Blocks
//! are held until something else is said, and told together and in order,
//! with the usage that the last of them knew; what came between follows.

use crate::reader::{Sink, Thread, TranscriptEvent, What};
use everfold_kernel::{AssistantEntry, Entry, MessageId, Record, Usage};

/// A response that may go on.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) id: MessageId,
    blocks: Vec<Record>,
    /// Whether every line said the position of its block.
    numbered: bool,
    held: Vec<Record>,
}

impl Open {
    pub(crate) fn new(id: MessageId) -> Self {
        Self { id, blocks: Vec::new(), numbered: true, held: Vec::new() }
    }

    /// Adds a block. One with the position of an earlier one takes its place:
    /// it is the same block, written again when more of it was there.
    pub(crate) fn add(&mut self, record: Record, numbered: bool) {
        let index = |record: &Record| match &record.entry {
            Entry::Assistant(entry) => entry.index,
            _ => u32::MAX,
        };
        let own = index(&record);
        let same = self.blocks.iter().position(|block| numbered && index(block) == own);
        self.numbered &= numbered;
        match same.filter(|_| self.numbered).and_then(|at| self.blocks.get_mut(at)) {
            Some(earlier) => *earlier = record,
            None => self.blocks.push(record),
        }
    }

    /// Holds something that comes after the blocks.
    pub(crate) fn hold(&mut self, record: Record) {
        self.held.push(record);
    }

    /// Gives the response the id by which the server knows it.
    pub(crate) fn rename(&mut self, id: MessageId) {
        for entry in self.entries() {
            entry.message_id = id.clone();
        }
        self.id = id;
    }

    /// Whether something was held.
    pub(crate) fn is_answered(&self) -> bool {
        !self.held.is_empty()
    }

    /// Gives every block this usage.
    pub(crate) fn set_usage(&mut self, usage: Usage) {
        for entry in self.entries() {
            entry.usage = usage;
        }
    }

    /// What the response used, as far as it is known.
    pub(crate) fn usage(&self) -> Usage {
        let usages = self.blocks.iter().filter_map(|block| match &block.entry {
            Entry::Assistant(entry) => Some(entry.usage),
            _ => None,
        });
        usages.max_by_key(|usage| (usage.output, usage.prompt())).unwrap_or_default()
    }

    /// Tells the blocks and what was held.
    pub(crate) fn tell(mut self, thread: Thread, sink: Sink<'_>) {
        let usage = self.usage();
        self.set_usage(usage);
        if self.numbered {
            self.blocks.sort_by_key(|block| match &block.entry {
                Entry::Assistant(entry) => entry.index,
                _ => u32::MAX,
            });
        } else {
            for (entry, number) in self.entries().zip(0..) {
                entry.index = number;
            }
        }
        for record in self.blocks.into_iter().chain(self.held) {
            sink(TranscriptEvent { thread, what: What::Record(Box::new(record)) });
        }
    }

    fn entries(&mut self) -> impl Iterator<Item = &mut AssistantEntry> {
        self.blocks.iter_mut().filter_map(|block| match &mut block.entry {
            Entry::Assistant(entry) => Some(entry),
            _ => None,
        })
    }
}
