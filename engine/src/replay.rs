//! Replay: what a session cost, and what it would have cost (PC7).
//!
//! A transcript is read as it went ([`mnemon_foreign`]), and every policy
//! keeps its own view of it: the same fold, the same layers, the same sums as
//! in a running session. Where the transcript has a request, each policy makes
//! one, and the cache simulator says how it is billed.
//!
//! What this is not: a guess at what a model would have said. The answers are
//! those of the transcript under every policy. Where a policy had taken
//! something away that a later call asks for, that is counted as regret; it
//! is not priced.
//!
//! Pure: no clock, no files, no model. Records go in one at a time, and what
//! is held is the view of each policy: policies that never look at texts hold
//! none.

mod acts;
mod conversation;
mod count;
mod lane;
mod policy;
mod regret;
mod report;
mod weigh;
mod why;

pub use policy::Policy;
pub use report::{
    Before, Breaks, Compared, LaneReport, Outcome, Round, RoundShares, Totals, Truth,
};
pub use why::{Cause, Moment};

use conversation::{Asked, Call, Said};
use lane::{Common, Lane};
use mnemon_foreign::{Thread, Told, What};
use mnemon_kernel::record::CacheTtl;
use mnemon_kernel::window::Overrides;
use mnemon_kernel::{
    Decision, Entry, Flags, Limits, MessageId, ModelId, ModelTable, QuerySource, Record, Timestamp,
    Tokens, Usage,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use weigh::{Hollow, Sampler, Scale};

/// What is asked of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// Under which policies.
    pub policies: Vec<Policy>,
    /// The model by which everything is priced; none is the session's own.
    pub model: Option<ModelId>,
    /// How long prefixes are cached; none is as the session had it.
    pub ttl: Option<CacheTtl>,
    /// Models and prices.
    pub table: ModelTable,
    /// Limits in force.
    pub limits: Arc<Limits>,
    /// Switches, for the policy `settings`.
    pub flags: Flags,
    /// What is set about the window, for the policy `settings`.
    pub window: Overrides,
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
        }
    }
}

/// Replays one session.
#[derive(Debug)]
pub struct Replay {
    common: Arc<Common>,
    lanes: Vec<Lane>,
    heads: BTreeMap<Thread, Head>,
    reported: Totals,
    truth: Truth,
    beside_usd: f64,
    hollow: Hollow,
}

/// One conversation as the transcript has it.
#[derive(Debug, Default)]
struct Head {
    /// What is held back until the count is calibrated.
    waiting: Vec<Step>,
    sampler: Sampler,
    scale: Option<Scale>,
    /// The response that may go on.
    response: Vec<Record>,
    /// When something was last said.
    latest: Timestamp,
    /// The lifetime that its usage shows.
    ttl: CacheTtl,
    prelude: Option<Tokens>,
    salt: String,
    /// Requests that said what they used.
    reported: usize,
}

/// What a conversation did, a response being one step.
#[derive(Debug)]
enum Step {
    Said(Box<Record>),
    Answered { at: Timestamp, response: Vec<Record> },
    Rewound(Vec<mnemon_kernel::RecordId>),
}

impl Replay {
    /// A replay that has seen nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let Options { policies, model, ttl, table, limits, flags, window } = options;
        let common = Arc::new(Common { table, limits, flags: Flags::default(), model, ttl });
        let lane = |policy: Policy| {
            let rules = policy.rules(&flags, &common.limits, window);
            Lane::new(policy, rules, Arc::clone(&common))
        };
        let lanes = policies.into_iter().map(lane).collect();
        Self {
            lanes,
            heads: BTreeMap::new(),
            reported: Totals::default(),
            truth: Truth::default(),
            beside_usd: 0.0,
            hollow: Hollow::default(),
            common,
        }
    }

    /// Takes what a transcript tells next.
    pub fn take(&mut self, told: Told) {
        let Told { thread, what } = told;
        let mut head = self.heads.remove(&thread).unwrap_or_default();
        match what {
            What::Record(record) => {
                if let Entry::Assistant(entry) = &record.entry {
                    if message_of(&head.response).is_some_and(|id| *id != entry.message_id) {
                        self.answered(thread, &mut head);
                    }
                    head.response.push(*record);
                } else {
                    self.answered(thread, &mut head);
                    self.step(thread, &mut head, Step::Said(record));
                }
            }
            What::Rewound { dropped } => {
                self.answered(thread, &mut head);
                self.step(thread, &mut head, Step::Rewound(dropped));
            }
        }
        self.heads.insert(thread, head);
    }

    /// What was found.
    #[must_use]
    pub fn finish(mut self) -> Outcome {
        let heads = std::mem::take(&mut self.heads);
        let threads = heads.len();
        for (thread, mut head) in heads {
            self.answered(thread, &mut head);
            self.calibrate(thread, &mut head);
        }
        let compared = self.common.model.is_none() && self.common.ttl.is_none();
        let truth = self.truth;
        let lanes = self.lanes.into_iter().map(Lane::finish);
        Outcome {
            lanes: lanes.collect(),
            reported: (self.reported.requests > 0).then_some(self.reported),
            truth: (compared && truth.requests > 0).then_some(truth),
            beside_usd: self.beside_usd,
            threads,
        }
    }

    /// A response is complete.
    fn answered(&mut self, thread: Thread, head: &mut Head) {
        if head.response.is_empty() {
            return;
        }
        let response = std::mem::take(&mut head.response);
        let at = head.latest;
        self.step(thread, head, Step::Answered { at, response });
    }

    /// Takes a step, or holds it until the count is calibrated.
    fn step(&mut self, thread: Thread, head: &mut Head, step: Step) {
        let limits = Arc::clone(&self.common.limits);
        let last = match &step {
            Step::Said(record) => Some(record.at),
            Step::Answered { response, .. } => response.last().map(|record| record.at),
            Step::Rewound(_) => None,
        };
        head.latest = last.map_or(head.latest, |at| at.max(head.latest));
        if head.scale.is_some() {
            return self.perform(thread, head, step);
        }
        match &step {
            Step::Said(record) => head.sampler.said(record, &limits),
            Step::Answered { response, .. } => head.sampler.answered(response, &limits),
            Step::Rewound(_) => {}
        }
        head.waiting.push(step);
        if head.sampler.samples() >= limits.replay.calibrate_requests {
            self.calibrate(thread, head);
        }
    }

    /// Makes the scale of a conversation, and takes what was held back.
    fn calibrate(&mut self, thread: Thread, head: &mut Head) {
        if head.scale.is_some() {
            return;
        }
        let limits = Arc::clone(&self.common.limits);
        for step in &head.waiting {
            match step {
                Step::Said(record) => {
                    if let Entry::Decision(Decision::Prelude(prelude)) = &record.entry {
                        head.prelude = Some(weigh::prelude_tokens(prelude, &limits));
                    }
                }
                Step::Answered { response, .. } if weigh::usage_of(response).cache_write_1h > 0 => {
                    head.ttl = CacheTtl::OneHour;
                }
                _ => {}
            }
        }
        head.scale = Some(head.sampler.scale(head.prelude, &limits.replay));
        for step in std::mem::take(&mut head.waiting) {
            self.perform(thread, head, step);
        }
    }

    fn perform(&mut self, thread: Thread, head: &mut Head, step: Step) {
        let Some(scale) = head.scale else { return };
        match step {
            Step::Said(record) => {
                self.note(head, &record.entry);
                let weights = scale.weigh(&record, &self.common.limits);
                let hollow = self.hollow.of(&record);
                let said = Said { record: &record, hollow: &hollow, weights: &weights };
                self.lanes.iter_mut().for_each(|lane| lane.said(thread, &said));
            }
            Step::Answered { at, response } => self.answer(thread, head, scale, at, &response),
            Step::Rewound(dropped) => {
                self.lanes.iter_mut().for_each(|lane| lane.rewound(thread, &dropped));
            }
        }
    }

    /// What a decision of the transcript says to the replay itself.
    fn note(&mut self, head: &mut Head, entry: &Entry) {
        match entry {
            Entry::Decision(Decision::Prelude(prelude)) => {
                let params = &prelude.params;
                let parts = [&params.thinking, &params.schema];
                let parts: Vec<String> =
                    parts.into_iter().flatten().map(ToString::to_string).collect();
                head.salt = parts.join("\n") + params.effort.as_deref().unwrap_or("");
            }
            Entry::Decision(Decision::Booked(booking)) if booking.source != QuerySource::Main => {
                let spec = self.common.table.spec(&booking.model);
                let cost = booking.cost.or_else(|| spec.cost(&booking.usage));
                self.beside_usd += cost.map_or(0.0, |usd| usd.0);
            }
            _ => {}
        }
    }

    /// Every policy makes the request, and takes the answer.
    fn answer(
        &mut self,
        thread: Thread,
        head: &mut Head,
        scale: Scale,
        at: Timestamp,
        response: &[Record],
    ) {
        let limits = Arc::clone(&self.common.limits);
        let usage = weigh::usage_of(response);
        let weights = scale.weigh_response(response, &limits);
        let hollows: Vec<Record> = response.iter().map(|own| self.hollow.of(own)).collect();
        let said: Vec<Said<'_>> = response
            .iter()
            .zip(&hollows)
            .zip(weights.chunks(1))
            .map(|((record, hollow), weights)| Said { record, hollow, weights })
            .collect();
        let wishes = regret::wishes(response);
        let calls = Call::all(response);
        let written: u64 = weights.iter().map(|weight| weight.tokens.0).sum();
        let model = model_of(response);
        let asked = Asked {
            at,
            model: &model,
            ttl: head.ttl,
            prelude: scale.prelude,
            salt: &head.salt,
            output: usage.output.max(written),
            wishes: &wishes,
            calls: &calls,
        };
        self.lanes.iter_mut().for_each(|lane| lane.asked(thread, &asked, &said));
        self.compare(head, &model, &usage);
    }

    /// Compares what a request used with what was predicted for it.
    fn compare(&mut self, head: &mut Head, model: &ModelId, usage: &Usage) {
        if usage.prompt().0 == 0 {
            return;
        }
        head.reported += 1;
        let spec = self.common.table.spec(model);
        let cost = spec.cost(usage);
        let own = &mut self.reported;
        own.requests += 1;
        own.usage.add(usage);
        own.usd += cost.map_or(0.0, |usd| usd.0);
        own.unpriced += u64::from(cost.is_none());
        own.largest = own.largest.max(usage.prompt().0);
        if head.reported <= self.common.limits.replay.calibrate_requests {
            return;
        }
        let recorded = self.lanes.iter_mut().find(|lane| lane.policy == Policy::Recorded);
        let Some(recorded) = recorded else { return };
        let Some(round) = recorded.last_round().copied() else { return };
        self.truth.requests += 1;
        self.truth.prompt.add(usage.prompt().0, round.prompt());
        self.truth.cache_read.add(usage.cache_read, u64::from(round.read));
        let missing = u64::from(round.read).saturating_sub(usage.cache_read);
        // Less than half of it: the prediction itself is off by some percent.
        if missing > self.common.limits.breaks.slack_tokens.max(u64::from(round.read) / 2) {
            recorded.totals.breaks.unexplained += 1;
            own.breaks.unexplained += 1;
        }
    }
}

fn message_of(response: &[Record]) -> Option<&MessageId> {
    match &response.first()?.entry {
        Entry::Assistant(entry) => Some(&entry.message_id),
        _ => None,
    }
}

fn model_of(response: &[Record]) -> ModelId {
    let model = response.first().and_then(|record| match &record.entry {
        Entry::Assistant(entry) => Some(entry.model.clone()),
        _ => None,
    });
    model.unwrap_or_else(|| ModelId::new("unknown"))
}
