//! One policy over one session: its conversations, its cache, its sums.

use crate::acts;
use crate::bill::Bill;
use crate::conversation::Conversation;
use crate::policy::{Policy, Rules};
use crate::report::{Before, LaneReport, Round, RoundShares, Totals, small};
use crate::rest;
use crate::step::{Asked, Said};
use crate::went::Ratio;
use crate::why::{Stay, Watch};
use everfold_foreign::Thread;
use everfold_kernel::record::CacheTtl;
use everfold_kernel::settings::CompactEconomy;
use everfold_kernel::{
    BlockView, Decision, Entry, Flags, Limits, ModelId, ModelSpec, ModelTable, RecordId, Timestamp,
    Tokens, ToolUseId, Usage, UserOrigin,
};
use everfold_prefix::sim::{SimConfig, Simulator};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is the same for all policies.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub(crate) table: ModelTable,
    pub(crate) limits: Arc<Limits>,
    pub(crate) flags: Flags,
    /// The model by which everything is priced, if not by its own.
    pub(crate) model: Option<ModelId>,
    pub(crate) ttl: Option<CacheTtl>,
    /// The window of the session, if not that of its model.
    pub(crate) window: Option<u64>,
    /// The model that reviews what was said.
    pub(crate) small_model: ModelId,
}

impl Common {
    /// What is known of a model, with the window of the session.
    pub(crate) fn spec(&self, model: &ModelId) -> Cow<'_, ModelSpec> {
        let spec = self.table.spec(model);
        match self.window {
            None => Cow::Borrowed(spec),
            Some(_) => Cow::Owned(ModelSpec { window: self.window, ..spec.clone() }),
        }
    }
}

/// Whether a person speaks.
fn is_prompt(entry: &Entry) -> bool {
    matches!(entry, Entry::User(user) if user.origin == UserOrigin::Human)
}

/// So many tokens written to the cache.
pub(crate) fn written(tokens: u64, ttl: CacheTtl) -> Usage {
    match ttl {
        CacheTtl::FiveMinutes => Usage { cache_write_5m: tokens, ..Usage::default() },
        CacheTtl::OneHour => Usage { cache_write_1h: tokens, ..Usage::default() },
    }
}

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) policy: Policy,
    pub(crate) rules: Rules,
    pub(crate) common: Arc<Common>,
    pub(crate) cache: Simulator,
    conversations: BTreeMap<Thread, Box<Conversation>>,
    pub(crate) totals: Totals,
    rounds: Vec<Round>,
    window: u64,
    pub(crate) watch: Watch,
    /// The real bill, where the session is replayed as it went.
    pub(crate) bill: Option<Bill>,
}

impl Lane {
    pub(crate) fn new(policy: Policy, rules: Rules, common: Arc<Common>) -> Self {
        let watch = Watch::new(common.limits.replay.moments);
        Self {
            policy,
            rules,
            common,
            cache: Simulator::new(SimConfig::default()),
            conversations: BTreeMap::new(),
            totals: Totals::default(),
            rounds: Vec::new(),
            window: 0,
            watch,
            bill: (policy == Policy::Recorded).then(Bill::default),
        }
    }

    /// Whether it does something between turns.
    fn rests(&self) -> bool {
        self.rules.economy != CompactEconomy::Off
    }

    pub(crate) fn said(&mut self, thread: Thread, said: &Said) {
        let mut own = self.take(thread);
        if own.wants(said.entry(), self.rules.boundaries) {
            if self.rests() && thread == Thread::MAIN && is_prompt(said.entry()) {
                rest::end(self, &mut own, said.record.at);
            }
            if let Entry::Boundary(_) = said.entry() {
                own.note_summary(said.record.at);
            }
            own.push(said, self.rules.reads());
            self.look(&mut own, said);
        }
        self.conversations.insert(thread, own);
    }

    /// Makes the request, and takes its answer.
    pub(crate) fn asked(&mut self, thread: Thread, asked: &Asked) {
        let mut own = self.take(thread);
        let common = Arc::clone(&self.common);
        let model = common.model.as_ref().unwrap_or(&asked.model);
        let ttl = common.ttl.unwrap_or(asked.ttl);
        own.set_prelude(model, ttl, asked);
        let spec = &*common.spec(model);
        let spent = self.reread(&mut own, asked, (spec, ttl));
        let spent = spent + acts::climb(self, &mut own, asked, spec);
        self.request(&mut own, asked, (model, spec, ttl), spent);
        let missed = own.memory.called(&asked.wishes);
        own.carried.missed(missed.iter().copied().sum());
        self.totals.regrets += missed.len() as u64;
        self.conversations.insert(thread, own);
    }

    /// Takes back what was said after the place that a conversation went back to.
    pub(crate) fn rewound(&mut self, thread: Thread, dropped: &[RecordId]) {
        let mut own = self.take(thread);
        own.rewind(dropped);
        self.forget_all_but_shown(&mut own);
        self.conversations.insert(thread, own);
    }

    /// What was said weighs less than it did.
    pub(crate) fn shrunk(&mut self, thread: Thread, ratio: Ratio) {
        if let Some(own) = self.conversations.get_mut(&thread) {
            own.shrink(ratio);
        }
    }

    /// How a request is billed: as the simulator says, where the transcript
    /// does not tell what the server still had.
    pub(crate) fn billed(
        &mut self,
        own: &Conversation,
        asked: &Asked,
        (spec, marks, ttl): (&ModelSpec, &[usize], CacheTtl),
    ) -> Usage {
        let minimum = Tokens(spec.cache_minimum);
        let anchor = asked.anchor.map(|anchor| anchor.under(asked.ttl, ttl));
        // Where the transcript tells what expired, nothing does by itself.
        let at = if anchor.is_some() { Timestamp::UNIX_EPOCH } else { asked.at };
        let simulated = self.cache.advance(at, &own.chain, minimum, (marks, ttl));
        let simulated = simulated.unwrap_or_default();
        anchor.map_or(simulated, |anchor| anchor.bill(&own.shared(&simulated), ttl))
    }

    pub(crate) fn finish(mut self) -> LaneReport {
        if self.rests()
            && let Some(mut own) = self.conversations.remove(&Thread::MAIN)
        {
            rest::over(&mut self, &mut own);
            self.conversations.insert(Thread::MAIN, own);
        }
        let Self { policy, totals, rounds, window, mut watch, conversations, bill, .. } = self;
        for mut own in conversations.into_values() {
            for id in own.stays.keys().cloned().collect::<Vec<_>>() {
                watch.goes(&mut own.stays, &id, own.requests);
            }
        }
        LaneReport { policy, totals, window, moments: watch.finish(), rounds, bill }
    }

    fn take(&mut self, thread: Thread) -> Box<Conversation> {
        let limits = &self.common.limits;
        let new = || Box::new(Conversation::new(thread, limits));
        self.conversations.remove(&thread).unwrap_or_else(new)
    }

    /// Looks at a result or a boundary that came in.
    fn look(&mut self, own: &mut Conversation, said: &Said) {
        match said.entry() {
            Entry::User(user) if user.origin == UserOrigin::ToolResult => {
                for (block, weight) in user.content.iter().zip(&said.weights) {
                    let BlockView::ToolResult { id, .. } = block.view() else { continue };
                    let id = ToolUseId::new(id);
                    let label = own.calls.remove(&id).unwrap_or_default();
                    own.memory.came(&id, weight.tokens);
                    if self.bill.is_some() {
                        own.billed.came(&id, &label, weight.tokens.0);
                    }
                    let place = (said.record.at, self.rounds.len(), own.requests);
                    let stay = Stay::new(label, weight.tokens.0, place);
                    own.stays.extend(stay.map(|stay| (id.clone(), stay)));
                    own.live.push_back(id);
                }
            }
            Entry::Boundary(_) => {
                self.totals.compactions += 1;
                self.forget_all_but_shown(own);
            }
            Entry::User(user) if user.origin == UserOrigin::CompactSummary => {
                let tokens: Tokens = said.weights.iter().map(|weight| weight.tokens).sum();
                acts::book_summary(self, own, tokens);
            }
            Entry::Decision(Decision::Cleared(cleared)) => {
                self.totals.clearings += 1;
                for result in &cleared.results {
                    self.takes(own, &result.tool_use_id);
                }
            }
            Entry::Decision(Decision::Spilled(spilled)) => {
                self.totals.spilled += 1;
                self.takes(own, &spilled.tool_use_id);
            }
            _ => {}
        }
    }

    /// A result goes out of view.
    pub(crate) fn takes(&mut self, own: &mut Conversation, id: &ToolUseId) {
        own.memory.takes(id);
        own.billed.goes(id);
        self.watch.goes(&mut own.stays, id, own.requests);
    }

    /// After a boundary: only results that are still there are in view.
    pub(crate) fn forget_all_but_shown(&mut self, own: &mut Conversation) {
        let results = own.fold.results();
        let shown: BTreeSet<&str> = results.iter().map(|result| result.tool_use_id).collect();
        own.memory.keeps(&shown);
        own.billed.keeps(&|id| shown.contains(id.as_str()));
        own.live.retain(|id| shown.contains(id.as_str()));
        let gone = own.stays.keys().filter(|id| !shown.contains(id.as_str())).cloned();
        for id in gone.collect::<Vec<_>>() {
            self.watch.goes(&mut own.stays, &id, own.requests);
        }
    }

    /// Prices the request that a conversation makes now.
    fn request(
        &mut self,
        own: &mut Conversation,
        asked: &Asked,
        (model, spec, ttl): (&ModelId, &ModelSpec, CacheTtl),
        spent: f64,
    ) {
        let declared = own.fold.take_break();
        let measure = own.extend(model);
        let (marks, shares) = measure;
        let billed = self.billed(own, asked, (spec, &marks, ttl));
        let usage = Usage { output: asked.output, ..billed };
        let prompt = usage.prompt().0;
        let before = own.before(declared, (asked, ttl), &usage);
        let usd = spec.cost(&usage).map(|usd| usd.0);
        self.book_bill(own, asked, RoundShares::of(&shares));
        let totals = &mut self.totals;
        totals.requests += 1;
        totals.usage.add(&usage);
        totals.usd += usd.unwrap_or(0.0);
        totals.unpriced += u64::from(usd.is_none());
        totals.largest = totals.largest.max(prompt);
        let window = spec.window.unwrap_or(self.common.limits.default_window_tokens);
        totals.over_window += u64::from(prompt > window);
        self.window = window;
        match before {
            Before::Expiry => totals.breaks.expired += 1,
            Before::Break => totals.breaks.unexplained += 1,
            Before::Nothing | Before::Start => {}
            _ => totals.breaks.declared += 1,
        }
        #[expect(clippy::cast_possible_truncation, reason = "cents of a request")]
        let round = Round {
            at: asked.at,
            prelude: small(own.prelude.0),
            shares: RoundShares::of(&shares),
            read: small(usage.cache_read),
            written: small(usage.cache_write()),
            output: small(usage.output),
            usd: (usd.unwrap_or(0.0) + spent) as f32,
            before,
        };
        if let Some(prices) = spec.prices_for(prompt) {
            own.carried.asked(&usage);
            let gap = own.last_request.map_or(0, |last| asked.at.as_second() - last.as_second());
            let round = (&round, self.rounds.len());
            self.watch.request(round, (&usage, ttl), prices, (spent, gap));
        }
        self.rounds.push(round);
        own.sends(asked.at);
        own.calls.extend(asked.calls.iter().map(|call| (call.id.clone(), call.label.clone())));
    }

    /// Gives what was reported of a request to its causes.
    fn book_bill(&mut self, own: &mut Conversation, asked: &Asked, shares: RoundShares) {
        let Some(bill) = &mut self.bill else { return };
        own.billed.looks(small(own.prelude.0), shares);
        if asked.usage.prompt().0 > 0 || asked.usage.output > 0 {
            let spec = self.common.table.spec(&asked.model);
            match own.thread {
                Thread::MAIN => bill.main(asked, &own.billed, spec),
                _ => bill.sidechain(asked, spec),
            }
        }
        own.billed.sends(asked.usage.prompt().0);
        own.billed.called(&asked.wishes);
    }

    /// What this response needs that was taken out of view is read again
    /// first, by a request more.
    fn reread(
        &mut self,
        own: &mut Conversation,
        asked: &Asked,
        (spec, ttl): (&ModelSpec, CacheTtl),
    ) -> f64 {
        let mut usd = 0.0;
        // As it went, nothing was but what the transcript has.
        let needs = asked.needs.iter().filter(|_| self.policy != Policy::Recorded);
        for wish in needs {
            let Some(tokens) = own.memory.needed(wish) else { continue };
            let output = self.common.limits.replay.call_tokens;
            let prompt = own.chain.total().0;
            let usage = Usage { cache_read: prompt, output, ..Usage::default() };
            let cost = spec.cost(&usage).map_or(0.0, |usd| usd.0);
            own.push_again(asked.at, tokens);
            let written = Usage { output: 0, ..written(tokens.0, ttl) };
            usd += cost;
            let all = cost + spec.cost(&written).map_or(0.0, |usd| usd.0);
            own.carried.missed(tokens);
            self.totals.rereads += 1;
            self.totals.rereads_usd += all;
            self.totals.usage.add(&usage);
        }
        self.totals.usd += usd;
        usd
    }

    /// The last request that was priced.
    pub(crate) fn last_round(&self) -> Option<&Round> {
        self.rounds.last()
    }
}
