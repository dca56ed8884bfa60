//! The work between a tool's result and the next request, on a conversation
//! of a million tokens.

use crate::conversation::{RecordWriter, rounds};
use everfold::kernel::{Decision, Flags, Limits, ModelTable, Record, Timestamp};
use everfold::prefix::{Fold, Request};
use everfold_offload::plan::Spill;
use everfold_prune::{CacheEdits, Prefix, RequestThread, Situation};
use std::sync::Arc;

/// A model with a window of a million tokens and a price.
pub const MODEL: &str = "claude-sonnet-5-5";

/// The conversation, and what the layers need to know.
#[derive(Debug)]
pub struct StepBench {
    /// The conversation as the model sees it.
    pub fold: Fold,
    writer: RecordWriter,
    next: usize,
    limits: Arc<Limits>,
    flags: Flags,
    table: ModelTable,
}

/// How long ago the model answered last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAge {
    /// A moment: the prefix is cached.
    Warm,
    /// Two hours: it is not, and what is stale may go.
    Cold,
}

impl Default for StepBench {
    fn default() -> Self {
        Self::new()
    }
}

impl StepBench {
    /// The whole conversation, rendered once.
    #[must_use]
    pub fn new() -> Self {
        let limits = Arc::new(Limits::default());
        let mut writer = RecordWriter::new(MODEL, Timestamp::UNIX_EPOCH);
        let mut fold = Fold::new(Arc::clone(&limits));
        fold.push(writer.prelude());
        for number in 0..rounds() {
            for record in writer.round(number) {
                fold.push(record);
            }
        }
        let (flags, table) = (Flags::default(), ModelTable::builtin());
        let mut desk = Self { fold, writer, next: rounds(), limits, flags, table };
        desk.request();
        desk
    }

    /// The model calls a tool; answers with the result, which is not taken in yet.
    pub fn call(&mut self) -> Record {
        let number = self.next;
        self.next += 1;
        for record in self.writer.call(number) {
            self.fold.push(record);
        }
        self.writer.result(number)
    }

    /// Layer 1.
    #[must_use]
    pub fn offload(&self) -> Vec<Spill> {
        everfold_offload::plan(&self.fold, &self.limits.offload)
    }

    /// Layer 2.
    #[must_use]
    pub fn prune(&self, cache: CacheAge) -> Option<Decision> {
        let last = self.fold.last_response().unwrap_or(Timestamp::UNIX_EPOCH);
        let idle = match cache {
            CacheAge::Warm => 1,
            CacheAge::Cold => 2 * 3_600,
        };
        let now = Timestamp::from_second(last.as_second() + idle).unwrap_or(last);
        let situation = Situation {
            thread: RequestThread::Main,
            now,
            last_fork: None,
            prefix: Prefix::Kept,
            model: self.table.spec(&MODEL.into()),
            cache_edits: CacheEdits::NotOffered,
            flags: &self.flags,
            limits: &self.limits,
        };
        everfold_prune::plan(&self.fold, &situation)
    }

    /// The next request.
    pub fn request(&mut self) -> Option<Request> {
        self.fold.request(None)
    }
}
