//! Replay: what a session cost, and what it would have cost (PC7).
//!
//! A transcript is read as it went ([`everfold_foreign`]), and every policy
//! keeps its own view of it: the same fold, the same layers, the same sums as
//! in a running session. Where the transcript has a request, each policy makes
//! one, and the cache simulator says how it is billed.
//!
//! What this is not: a guess at what a model would have said. The answers are
//! those of the transcript under every policy. Where a policy had taken
//! something away that a later call asks for, that is counted as regret: the
//! call and its result are in every row. Where a later call could not have
//! been made without it, it is read again, at the policy's own cost.
//!
//! What the transcript reports is taken as it is (PC8): sizes of prompts, what
//! was read, where the cache was lost. Only what a policy would have done
//! otherwise is simulated.
//!
//! Pure: no clock, no files, no model. Records go in one at a time, and what
//! is held is the view of each policy: policies that never look at texts hold
//! none. [`Steps`] does what is the same for all policies, [`Lanes`] what each
//! does for itself, so that policies can go on beside each other on threads of
//! their own; [`Replay`] is the two together.

mod acts;
mod anchor;
mod bill;
mod causes;
mod conversation;
mod count;

mod glance;
mod lane;
mod policy;
mod regret;
mod report;
mod rest;
pub mod scale;
mod step;
mod steps;
pub mod svg;
mod weigh;
mod went;
mod why;

pub use bill::{
    Bill, BillCause, BilledBreak, BilledRequest, CauseCost, LARGE_TOKENS, LONG_TOKENS,
    OtherLifetime,
};
pub use causes::Causes;
pub use glance::Glance;
pub use policy::Policy;
pub use report::{
    Before, Breaks, Compared, LaneReport, Outcome, Round, RoundShares, Totals, Truth,
};
pub use step::Step;
pub use steps::Steps;
pub use why::{Cause, Moment};

use everfold_foreign::{Thread, TranscriptEvent};
use everfold_kernel::record::CacheTtl;
use everfold_kernel::settings::CompactEconomy;
use everfold_kernel::window::Overrides;
use everfold_kernel::{
    Decision, Entry, Flags, Limits, ModelId, ModelTable, QuerySource, Timestamp, Usage,
};
use lane::{Common, Lane};
use std::collections::BTreeSet;
use std::sync::Arc;
use step::{Asked, Stepped};

/// What is asked of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    pub policies: Vec<Policy>,
    /// The model by which everything is priced; none is the session's own.
    pub model: Option<ModelId>,
    /// How long prefixes are cached; none is as the session had it.
    pub ttl: Option<CacheTtl>,
    pub table: ModelTable,
    pub limits: Arc<Limits>,
    /// Switches, for the policy `settings`.
    pub flags: Flags,
    /// What is set about the window, for the policy `settings`.
    pub window: Overrides,
    /// Where the past is summed up between turns, for the policy `settings`.
    pub economy: CompactEconomy,
    /// The window of the session; none is that of each request's model.
    /// [`Glance`] tells which one a transcript shows.
    pub window_tokens: Option<u64>,
    /// The model that reviews what was said.
    pub small_model: ModelId,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policies: Policy::PRESETS.to_vec(),
            model: None,
            ttl: None,
            table: ModelTable::builtin(),
            limits: Arc::default(),
            flags: Flags::default(),
            window: Overrides::default(),
            economy: CompactEconomy::default(),
            window_tokens: None,
            small_model: ModelId::new("claude-haiku-4-5"),
        }
    }
}

#[derive(Debug)]
pub struct Replay {
    steps: Steps,
    lanes: Lanes,
}

impl Replay {
    /// A replay that has seen nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self { steps: Steps::new(&options), lanes: Lanes::new(options) }
    }

    /// Takes what a transcript tells next.
    pub fn take(&mut self, told: TranscriptEvent) {
        let Self { steps, lanes } = self;
        steps.take(told, &mut |step| lanes.take(&step));
    }

    #[must_use]
    pub fn finish(self) -> Outcome {
        let Self { steps, mut lanes } = self;
        steps.finish(&mut |step| lanes.take(&step));
        lanes.finish()
    }
}

/// Policies over the steps of one session.
#[derive(Debug)]
pub struct Lanes {
    common: Arc<Common>,
    all: Vec<Lane>,
    threads: BTreeSet<Thread>,
    reported: Totals,
    truth: Truth,
    beside_usd: f64,
}

impl Lanes {
    /// Policies that have seen nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let Options {
            policies,
            model,
            ttl,
            table,
            limits,
            flags,
            window,
            economy,
            window_tokens,
            small_model,
        } = options;
        let flags_of_lanes = Flags::default();
        let common = Arc::new(Common {
            table,
            limits,
            flags: flags_of_lanes,
            model,
            ttl,
            window: window_tokens,
            small_model,
        });
        let lane = |policy: Policy| {
            let rules = policy.rules(&flags, &common.limits, (window, economy));
            Lane::new(policy, rules, Arc::clone(&common))
        };
        Self {
            all: policies.into_iter().map(lane).collect(),
            threads: BTreeSet::new(),
            reported: Totals::default(),
            truth: Truth::default(),
            beside_usd: 0.0,
            common,
        }
    }

    /// Takes the next step.
    pub fn take(&mut self, step: &Step) {
        let Step { thread, what } = step;
        self.threads.insert(*thread);
        match what {
            Stepped::Said(said) => {
                self.book(said.entry(), said.record.at);
                self.all.iter_mut().for_each(|lane| lane.said(*thread, said));
            }
            Stepped::Asked(asked) => {
                self.all.iter_mut().for_each(|lane| lane.asked(*thread, asked));
                self.compare(asked);
            }
            Stepped::Rewound(dropped) => {
                self.all.iter_mut().for_each(|lane| lane.rewound(*thread, dropped));
            }
            Stepped::Shrunk(ratio) => {
                self.all.iter_mut().for_each(|lane| lane.shrunk(*thread, *ratio));
            }
        }
    }

    #[must_use]
    pub fn finish(self) -> Outcome {
        let compared = self.common.model.is_none() && self.common.ttl.is_none();
        let truth = self.truth;
        Outcome {
            lanes: self.all.into_iter().map(Lane::finish).collect(),
            reported: (self.reported.requests > 0).then_some(self.reported),
            truth: (compared && truth.requests > 0).then_some(truth),
            beside_usd: self.beside_usd,
            threads: self.threads.len(),
        }
    }

    /// Takes note of what was booked beside the conversation.
    fn book(&mut self, entry: &Entry, at: Timestamp) {
        let Entry::Decision(Decision::Booked(booking)) = entry else { return };
        if booking.source != QuerySource::Main {
            let spec = self.common.table.spec(&booking.model);
            let cost = booking.cost.or_else(|| spec.cost(&booking.usage));
            let usd = cost.map_or(0.0, |usd| usd.0);
            self.beside_usd += usd;
            let bills = self.all.iter_mut().filter_map(|lane| lane.bill.as_mut());
            bills.for_each(|bill| bill.beside(at, usd));
        }
    }

    /// Compares what a request used with what was predicted for it.
    fn compare(&mut self, asked: &Asked) {
        let usage = &asked.usage;
        if usage.prompt().0 == 0 {
            return;
        }
        let cost = self.common.table.spec(&asked.model).cost(usage);
        let own = &mut self.reported;
        own.requests += 1;
        own.usage.add(usage);
        own.usd += cost.map_or(0.0, |usd| usd.0);
        own.unpriced += u64::from(cost.is_none());
        own.largest = own.largest.max(usage.prompt().0);
        let recorded = self.all.iter_mut().find(|lane| lane.policy == Policy::Recorded);
        let Some(recorded) = recorded else { return };
        let Some(round) = recorded.last_round().copied() else { return };
        let spec = self.common.table.spec(&asked.model);
        let truth = &mut self.truth;
        truth.requests += 1;
        truth.prompt.add(usage.prompt().0, round.prompt());
        truth.cache_read.add(usage.cache_read, u64::from(round.read));
        truth.cache_write.add(usage.cache_write(), u64::from(round.written));
        let input_side = |usage: &Usage| {
            let input = Usage { output: 0, web_searches: 0, ..*usage };
            spec.cost(&input).map_or(0.0, |usd| usd.0)
        };
        truth.usd.add(input_side(usage), input_side(&round.prompt_usage(asked.ttl)));
    }
}
