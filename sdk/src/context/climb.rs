//! The ladder around somebody else's loop: the same rungs and decisions as in
//! a session of ours, as steps that whoever has the loop performs.

use super::{Context, ContextOutcome, ContextStep, ContextWork};
use everfold_compact::apply::Extras;
use everfold_compact::{AppliedCompaction, CompactionScope, Due, Guidance, Plan, Trigger, files};
use everfold_kernel::ports::ModelError;
use everfold_kernel::record::{Delivery, FailedSummary, Sampling};
use everfold_kernel::{
    Attachment, Class, Classify, Decision, Effect, EffectOutcome, Entry, Flag, Params, RecordId,
    Tokens, Usd,
};
use everfold_memory_recall::inject;
use everfold_offload::{Pending, Spill};
use everfold_prefix::system::Profile;
use everfold_window::{
    LayerAct, RecallView, Rung, SummaryBrief, SummaryFailure, SummaryRequest, SummaryStep, Writer,
    conclude, question,
};
use std::path::Path;

/// How far the next request is prepared.
pub(super) enum Phase {
    /// Nothing is done yet.
    Start,
    /// This rung is next.
    Rung(usize),
    /// Something is performed; then it goes on.
    Waiting(ContextWork, Then),
    Ready,
}

/// What goes on once something was performed.
pub(super) enum Then {
    Recalled,
    /// Notes up to this record.
    Noted(RecordId),
    Spilled(Box<Spilling>),
    Summary(Box<Summing>),
    Restored(Box<Summing>),
}

/// Large results on their way to disk.
pub(super) struct Spilling {
    pending: Pending,
    left: Vec<Spill>,
    before: Tokens,
    results: usize,
}

/// A compaction on its way.
pub(super) struct Summing {
    plan: Plan,
    writer: Writer,
    request: Option<SummaryRequest>,
    written: Option<String>,
    cost: f64,
}

/// The place of layer 4 among the rungs.
const COMPACT: usize = 2;

/// The rung after which everything was tried.
const LAST: usize = Rung::OF_OTHER_LOOPS.len();

impl Context {
    /// What comes next before a request. Until its outcome is
    /// [resolved](Context::resolve), the answer stays the same.
    pub fn step(&mut self) -> ContextStep {
        loop {
            match &self.phase {
                Phase::Waiting(work, _) => return ContextStep::Perform(work.clone()),
                Phase::Ready => return ContextStep::Ready,
                Phase::Start => self.recall(),
                Phase::Rung(LAST) => self.phase = Phase::Ready,
                Phase::Rung(at) => {
                    let at = *at;
                    self.phase = Phase::Rung(at + 1);
                    match Rung::OF_OTHER_LOOPS.get(at) {
                        Some(Rung::Offload) => self.offload(),
                        Some(Rung::Prune) => self.prune(),
                        Some(Rung::Compact) => self.compact(),
                        Some(Rung::Window) => {
                            if let Err(refusal) = self.view().check_window() {
                                return ContextStep::Full(refusal);
                            }
                        }
                        // Those that other loops do not have.
                        Some(Rung::Snip | Rung::Collapse) | None => {}
                    }
                }
            }
        }
    }

    /// Takes what came of the last step. Without one, nothing happens.
    pub fn resolve(&mut self, outcome: ContextOutcome) {
        match std::mem::replace(&mut self.phase, Phase::Start) {
            Phase::Waiting(_, Then::Recalled) => self.recalled(outcome),
            Phase::Waiting(_, Then::Noted(through)) => {
                self.phase = Phase::Rung(COMPACT);
                self.noted(through, outcome);
            }
            Phase::Waiting(_, Then::Spilled(spilling)) => self.spilled(*spilling, outcome),
            Phase::Waiting(_, Then::Summary(summing)) => self.answered(*summing, outcome),
            Phase::Waiting(_, Then::Restored(summing)) => self.settle(*summing, outcome),
            other => self.phase = other,
        }
    }

    /// The server counts more than we do, or has a smaller window.
    pub(super) fn too_long(&mut self, maximum: Option<u64>) {
        let spec = self.spec().clone();
        let count = self.fold.count().0;
        let most = maximum.map_or(count, |maximum| maximum.min(count));
        let overrides = self.setup.overrides();
        self.window = self.window.at_most(most, &spec, &overrides, &self.setup.limits);
        self.phase = Phase::Start;
    }

    fn recall(&mut self) {
        self.phase = Phase::Rung(0);
        let Some(said) = self.said.take() else { return };
        let view = self.recall_view();
        if self.setup.flags.is_on(Flag::Recall) && view.is_wanted(&said) {
            let query = view.query(&said, view.surfaced());
            self.phase = Phase::Waiting(ContextWork::Recall(query), Then::Recalled);
        }
    }

    fn recalled(&mut self, outcome: ContextOutcome) {
        self.phase = Phase::Rung(0);
        let ContextOutcome::Recalled(Some(found)) = outcome else { return };
        let view = self.recall_view();
        if !view.takes(&found, &view.surfaced()) {
            return;
        }
        let (before, files) = (self.fold.count(), names(&found));
        self.append(Entry::Attachment(found));
        let after = self.fold.count();
        self.acts.push(LayerAct::recalled(&files, before, after, &self.view().terms()));
    }

    fn recall_view(&self) -> RecallView<'_> {
        let limits = &self.setup.limits.recall;
        RecallView { fold: &self.fold, attached: &self.attached, limits }
    }

    fn offload(&mut self) {
        let spills = everfold_offload::plan(&self.fold, &self.setup.limits.offload);
        self.spill(spills, self.fold.count(), 0);
    }

    /// Hands out the next result that goes to disk.
    fn spill(&mut self, mut left: Vec<Spill>, before: Tokens, results: usize) {
        if left.is_empty() {
            let after = self.fold.count();
            if results > 0 && after < before {
                let terms = self.view().terms();
                self.acts.push(LayerAct::spilled(results, before, after, &terms));
            }
            return;
        }
        let Spill { effect, pending } = left.remove(0);
        if let Effect::Spill { file, content } = effect {
            let then = Then::Spilled(Box::new(Spilling { pending, left, before, results }));
            self.phase = Phase::Waiting(ContextWork::Write { file, content }, then);
        }
    }

    fn spilled(&mut self, spilling: Spilling, outcome: ContextOutcome) {
        let Spilling { pending, left, before, mut results } = spilling;
        let applied = everfold_offload::apply(pending, self.effect_outcome(outcome));
        if let Some(decision) = applied.decision {
            self.append(Entry::Decision(decision));
            results += 1;
        }
        // The rung after the first.
        self.phase = Phase::Rung(1);
        self.spill(left, before, results);
    }

    fn prune(&mut self) {
        let before = self.fold.count();
        let Some(decision) = self.view().clearing() else { return };
        if let Decision::Cleared(cleared) = &decision {
            self.acts.push(LayerAct::cleared(cleared, before));
        }
        self.append(Entry::Decision(decision));
    }

    fn compact(&mut self) {
        if self.asks_for_notes() {
            return;
        }
        let view = self.view();
        let (writer, scope) = match view.due() {
            Due::No => return,
            Due::Yes => view.writer(),
            Due::BreakerOpen => (Writer::Nobody, CompactionScope::All),
        };
        if let Some(applied) = self.compacted_from_notes() {
            return self.put_in_place(applied, 0.0);
        }
        let Ok(plan) = Plan::new(&self.fold, scope, Trigger::Auto) else { return };
        let summing = Summing { plan, writer, request: None, written: None, cost: 0.0 };
        if writer == Writer::Nobody {
            return self.restore(summing);
        }
        match SummaryRequest::new(self.view(), self.brief(&summing)) {
            Ok(request) => self.ask(summing, request),
            Err(failure) => self.fail(summing, &failure),
        }
    }

    fn brief<'a>(&'a self, summing: &'a Summing) -> SummaryBrief<'a> {
        let is_small = self.window.size.0 < self.setup.limits.lean_window_tokens;
        SummaryBrief {
            plan: &summing.plan,
            guidance: Guidance { person: None, standing: self.setup.guidance.as_deref() },
            model: &self.setup.params.model,
            profile: if is_small { Profile::Lean } else { Profile::Full },
            writer: summing.writer,
        }
    }

    /// Hands out the question for a summary.
    fn ask(&mut self, mut summing: Summing, request: SummaryRequest) {
        let Effect::Ask(ask) = &request.effect else { return self.restore(summing) };
        let own = &self.setup;
        let side = |_: Option<&_>, max_tokens| side_params(&own.params, max_tokens);
        let Some(asked) = question::request(&mut self.fold, ask, &own.limits, side) else {
            return self.restore(summing);
        };
        self.last_fork = Some(self.setup.clock.now());
        summing.request = Some(request);
        let work = ContextWork::Ask { body: asked.body.whole() };
        self.phase = Phase::Waiting(work, Then::Summary(Box::new(summing)));
    }

    fn answered(&mut self, mut summing: Summing, outcome: ContextOutcome) {
        self.phase = Phase::Rung(LAST - 1);
        let spent = self.books.asked;
        let outcome = self.effect_outcome(outcome);
        summing.cost += self.books.asked - spent;
        let Some(request) = summing.request.take() else { return };
        match request.answered(self.view(), self.brief(&summing), outcome) {
            SummaryStep::Ask(next) => self.ask(summing, next),
            SummaryStep::Failed(failure) => self.fail(summing, &failure),
            SummaryStep::Written(text) => {
                summing.written = Some(text);
                self.restore(summing);
            }
        }
    }

    /// There is no summary to be had of a model: ours has to do.
    fn fail(&mut self, summing: Summing, failure: &SummaryFailure) {
        self.append(Entry::Decision(failure.decision()));
        self.restore(summing);
    }

    /// Asks for the files that come back after the summary, if there are any.
    fn restore(&mut self, summing: Summing) {
        let past = summing.plan.past(&self.fold, &self.setup.limits);
        match files::wanted(&past, &self.setup.limits) {
            Some(Effect::ReadFiles { paths, max_bytes }) => {
                let work = ContextWork::Read { paths, max_bytes };
                self.phase = Phase::Waiting(work, Then::Restored(Box::new(summing)));
            }
            _ => self.settle(summing, ContextOutcome::Read(Vec::new())),
        }
    }

    fn settle(&mut self, summing: Summing, outcome: ContextOutcome) {
        self.phase = Phase::Rung(LAST - 1);
        let mut extras = Extras::default();
        if let ContextOutcome::Read(read) = outcome {
            let view = self.view();
            extras.restored = files::attach(&read, &view.limits.within(view.window));
        }
        let Summing { plan, written, cost, .. } = summing;
        let concluded = conclude(self.view(), &plan, written.as_deref(), &extras);
        if let Some(decision) = concluded.rejected {
            self.append(Entry::Decision(decision));
        }
        match concluded.settled {
            Ok(applied) => self.put_in_place(applied, cost),
            Err(rejection) => {
                self.append(Entry::Decision(rejection.decision(FailedSummary::Local)));
            }
        }
    }

    fn put_in_place(&mut self, applied: AppliedCompaction, cost: f64) {
        for entry in applied.entries {
            self.append(entry);
        }
        let terms = self.view().terms();
        self.acts.push(LayerAct::compacted(&applied.report, Usd(cost), &terms));
    }

    /// What an outcome is to a layer; what a model was asked is booked.
    pub(super) fn effect_outcome(&mut self, outcome: ContextOutcome) -> EffectOutcome {
        let failed = |class: Class, reason: String| EffectOutcome::Failed { class, reason };
        match outcome {
            ContextOutcome::Written(path) => EffectOutcome::Spilled { path },
            ContextOutcome::Read(files) => EffectOutcome::Files(files),
            ContextOutcome::Failed(reason) => failed(Class::Degrade, reason),
            ContextOutcome::Recalled(_) => {
                failed(Class::Bug, "memories are no answer to this".to_owned())
            }
            ContextOutcome::Answered(body) => match self.read(&body) {
                Ok(reply) => {
                    let cost = self.cost(&reply.usage);
                    self.books.asked += cost;
                    self.books.spent += cost;
                    let texts: Vec<String> =
                        reply.blocks.iter().map(everfold_kernel::Block::plain_text).collect();
                    EffectOutcome::Answered { text: texts.concat(), usage: reply.usage }
                }
                Err(ModelError::PromptTooLong { actual, maximum, .. }) => {
                    EffectOutcome::TooLong { actual, maximum }
                }
                Err(error) => failed(error.class(), error.to_string()),
            },
        }
    }
}

/// The parameters of a request beside the conversation.
fn side_params(own: &Params, max_tokens: u64) -> Params {
    let mut params = Params::new(own.model.clone(), max_tokens);
    params.dialect = own.dialect;
    params.sampling = Sampling::Greedy;
    params.delivery = Delivery::Whole;
    params
}

/// The names of the files of memories that are shown.
fn names(found: &Attachment) -> Vec<String> {
    let paths = inject::surfaced(&found.data).chain(inject::named(&found.data));
    let name = |path: &str| Path::new(path).file_name()?.to_str().map(str::to_owned);
    paths.filter_map(name).collect()
}
