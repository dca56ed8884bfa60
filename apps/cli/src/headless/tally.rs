//! What a turn used, gathered from its events.

use everfold_agent::Event;
use everfold_kernel::{Entry, Ledger, ToolUseId};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Sums over the events of a turn.
#[derive(Debug)]
pub(super) struct Tally {
    started: Instant,
    /// Every request that was paid for, side queries included.
    pub(super) ledger: Ledger,
    /// Why the last answer ended.
    pub(super) stop_reason: Option<String>,
    running: BTreeSet<ToolUseId>,
    tools_since: Option<Instant>,
    in_tools: Duration,
}

impl Tally {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            ledger: Ledger::default(),
            stop_reason: None,
            running: BTreeSet::new(),
            tools_since: None,
            in_tools: Duration::ZERO,
        }
    }

    /// Takes in an event.
    pub(super) fn observe(&mut self, event: &Event) {
        match event {
            Event::Booked(booking) => self.ledger.book(booking),
            Event::Recorded(record) => {
                if let Entry::Assistant(entry) = &record.entry {
                    self.stop_reason.clone_from(&entry.stop_reason);
                }
            }
            Event::ToolStarted { id, .. } => {
                self.tools_since.get_or_insert_with(Instant::now);
                self.running.insert(id.clone());
            }
            Event::ToolEnded { id, .. } => {
                self.running.remove(id);
                if self.running.is_empty()
                    && let Some(since) = self.tools_since.take()
                {
                    self.in_tools += since.elapsed();
                }
            }
            _ => {}
        }
    }

    /// How long the turn ran.
    pub(super) fn duration(&self) -> Duration {
        self.started.elapsed()
    }

    /// How long of that no tool ran: the model was waited for.
    pub(super) fn duration_waiting(&self) -> Duration {
        self.duration().saturating_sub(self.in_tools)
    }
}
