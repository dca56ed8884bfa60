//! The work between a tool's result and the next request, on a conversation
//! of a million tokens.

use crate::conversation::{RecordWriter, rounds};
use everfold_economy::point::{CarriedView, CarryHistory, CompactionPoint};
use everfold_economy::{CostTerms, expected_rounds, spent};
use everfold_kernel::record::{ActSum, CacheState};
use everfold_kernel::{Decision, Flags, Limits, ModelTable, Record, Timestamp, Usd};
use everfold_offload::plan::Spill;
use everfold_prefix::{Fold, Message, Request};
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
            clearable: &[],
            flags: &self.flags,
            limits: &self.limits,
        };
        everfold_prune::plan(&self.fold, &situation)
    }

    /// The sum that says whether the past is summed up between turns (E4).
    #[must_use]
    pub fn sum(&self, cache: CacheAge) -> Option<(ActSum, Usd)> {
        let (moment, state) = match cache {
            CacheAge::Warm => (CompactionPoint::BackInTime, CacheState::Warm),
            CacheAge::Cold => (CompactionPoint::BackLate, CacheState::Cold),
        };
        let (fold, limits) = (&self.fold, &self.limits);
        let rounds = expected_rounds(fold, limits.prune.expected_rounds);
        let terms = CostTerms {
            prices: self.table.spec(&MODEL.into()).prices_for(fold.count().0).copied(),
            ttl: fold.cached_for(),
            cache: state,
            rounds,
        };
        let (_, turn) = everfold_compact::plan::between_turns(fold, limits);
        let said = fold.messages().iter().map(Message::tokens).sum();
        let view = CarriedView {
            view: fold.count(),
            kept: (fold.count() - fold.calibration().apply(said)) + turn,
            rounds,
            spent: spent(fold, &terms).unwrap_or_default(),
            beside: Usd(0.0),
        };
        CarryHistory::default().weigh(moment, &view, &terms, &limits.economy)
    }

    pub fn request(&mut self) -> Option<Request> {
        self.fold.request(None)
    }
}
