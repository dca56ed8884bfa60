//! A first look at a transcript: the window that it shows (PC11).

use everfold_foreign::{Thread, TranscriptEvent, What};
use everfold_kernel::{Entry, Limits};

/// What a transcript shows of its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    last: u64,
    largest: u64,
    compacted: Option<u64>,
}

/// How a boundary is named that nobody asked for.
const AUTO: &str = "auto";

impl Glance {
    /// Takes what a transcript tells next.
    pub fn take(&mut self, told: &TranscriptEvent) {
        let (Thread::MAIN, What::Record(record)) = (told.thread, &told.what) else { return };
        match &record.entry {
            Entry::Assistant(entry) => {
                let prompt = entry.usage.prompt().0;
                self.last = if prompt > 0 { prompt } else { self.last };
                self.largest = self.largest.max(prompt);
            }
            Entry::Boundary(boundary) if boundary.trigger == AUTO => {
                let at = if self.last > 0 { self.last } else { boundary.pre_tokens };
                if at > 0 {
                    self.compacted = Some(self.compacted.map_or(at, |own| own.max(at)));
                }
            }
            _ => {}
        }
    }

    /// The window in which our policy would have compacted where the
    /// session's own program did. None where that is not known: where it never
    /// did, and no prompt is over `known`, the window of its model.
    #[must_use]
    pub fn window(&self, known: u64, limits: &Limits) -> Option<u64> {
        let free = limits.output_reserve_tokens + limits.auto_compact_buffer_tokens;
        match self.compacted {
            Some(at) => Some(at.max(self.largest).saturating_add(free)),
            None if self.largest > known => Some(limits.long_window_tokens.max(self.largest)),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::{AssistantEntry, Block, Boundary, Record, Timestamp, Usage};

    fn told(entry: Entry) -> TranscriptEvent {
        let record = Record { id: "1".into(), parent: None, at: Timestamp::default(), entry };
        TranscriptEvent { thread: Thread::MAIN, what: What::Record(Box::new(record)) }
    }

    fn asked(prompt: u64) -> TranscriptEvent {
        told(Entry::Assistant(AssistantEntry {
            message_id: "m".into(),
            request_id: None,
            model: "claude-opus-4-6".into(),
            index: 0,
            block: Block::text("x"),
            usage: Usage { cache_read: prompt, ..Usage::default() },
            stop_reason: None,
        }))
    }

    fn compacted(trigger: &str) -> TranscriptEvent {
        told(Entry::Boundary(Boundary {
            trigger: trigger.to_owned(),
            pre_tokens: 9,
            last_before: None,
            preserved: Vec::new(),
            keeps: everfold_kernel::record::Keeps::Suffix,
            metadata: serde_json::Map::new(),
        }))
    }

    #[test]
    fn pc11_the_window_is_where_the_agent_compacted() {
        let limits = Limits::default();
        let window = |events: &[TranscriptEvent]| {
            let mut glance = Glance::default();
            for own in events {
                glance.take(own);
            }
            glance.window(200_000, &limits)
        };
        assert_eq!(window(&[asked(60_000), asked(166_900), compacted("auto")]), Some(199_900));
        assert_eq!(window(&[asked(60_000), compacted("manual"), asked(9_000)]), None);
        assert_eq!(window(&[asked(260_000)]), Some(1_000_000));
        assert_eq!(window(&[asked(160_000)]), None);
    }
}
