//! One policy over one session: its conversations, its cache, its sums.

use crate::acts;
use crate::conversation::Conversation;
use crate::policy::{Policy, Rules};
use crate::report::{Before, LaneReport, Round, RoundShares, Totals, small};
use crate::step::{Asked, Said};
use crate::why::{Stay, Watch};
use everfold_foreign::Thread;
use everfold_kernel::record::CacheTtl;
use everfold_kernel::{
    BlockView, Decision, Entry, Flags, Limits, ModelId, ModelSpec, ModelTable, RecordId, Tokens,
    ToolUseId, Usage, UserOrigin,
};
use everfold_prefix::sim::{SimConfig, Simulator};
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
}

/// One policy.
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
        }
    }

    /// Takes something said.
    pub(crate) fn said(&mut self, thread: Thread, said: &Said) {
        let mut own = self.take(thread);
        if own.wants(said.entry(), self.rules.boundaries) {
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
        let spec = common.table.spec(model);
        let spent = acts::climb(self, &mut own, asked.at, spec);
        self.request(&mut own, asked, (model, spec, ttl), spent);
        for said in &asked.answer {
            own.push(said, self.rules.reads());
        }
        let missed = own.memory.called(&asked.wishes);
        self.totals.regrets += missed;
        self.conversations.insert(thread, own);
    }

    /// Takes back what was said after the place that a conversation went back to.
    pub(crate) fn rewound(&mut self, thread: Thread, dropped: &[RecordId]) {
        let mut own = self.take(thread);
        own.rewind(dropped);
        self.forget_all_but_shown(&mut own);
        self.conversations.insert(thread, own);
    }

    pub(crate) fn finish(self) -> LaneReport {
        let Self { policy, totals, rounds, window, mut watch, conversations, .. } = self;
        for mut own in conversations.into_values() {
            for id in own.stays.keys().cloned().collect::<Vec<_>>() {
                watch.goes(&mut own.stays, &id, own.requests);
            }
        }
        LaneReport { policy, totals, window, moments: watch.finish(), rounds }
    }

    fn take(&mut self, thread: Thread) -> Box<Conversation> {
        let limits = &self.common.limits;
        self.conversations.remove(&thread).unwrap_or_else(|| Box::new(Conversation::new(limits)))
    }

    /// Looks at a result or a boundary that came in.
    fn look(&mut self, own: &mut Conversation, said: &Said) {
        match said.entry() {
            Entry::User(user) if user.origin == UserOrigin::ToolResult => {
                for (block, weight) in user.content.iter().zip(&said.weights) {
                    let BlockView::ToolResult { id, .. } = block.view() else { continue };
                    let id = ToolUseId::new(id);
                    let label = own.calls.remove(&id).unwrap_or_default();
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
        self.watch.goes(&mut own.stays, id, own.requests);
    }

    /// After a boundary: only results that are still there are in view.
    pub(crate) fn forget_all_but_shown(&mut self, own: &mut Conversation) {
        let results = own.fold.results();
        let shown: BTreeSet<&str> = results.iter().map(|result| result.tool_use_id).collect();
        own.memory.keeps(&shown);
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
        let minimum = Tokens(spec.cache_minimum);
        let billed = self.cache.advance(asked.at, &own.chain, minimum, (&marks, ttl));
        let usage = Usage { output: asked.output, ..billed.unwrap_or_default() };
        let prompt = usage.prompt().0;
        let before = own.before(declared, asked.at, ttl, &usage);
        let usd = spec.cost(&usage).map(|usd| usd.0);
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
            let gap = own.last_request.map_or(0, |last| asked.at.as_second() - last.as_second());
            let round = (&round, self.rounds.len());
            self.watch.request(round, (&usage, ttl), prices, (spent, gap));
        }
        self.rounds.push(round);
        own.last_request = Some(asked.at);
        own.requests += 1;
        own.calls.extend(asked.calls.iter().map(|call| (call.id.clone(), call.label.clone())));
    }

    /// The last request that was priced.
    pub(crate) fn last_round(&self) -> Option<&Round> {
        self.rounds.last()
    }
}
