//! What is in view while a bill is made.

use super::{BillCause, LARGE_TOKENS};
use crate::report::RoundShares;
use everfold_economy::regret::ResultWish;
use everfold_kernel::ToolUseId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Tokens by cause and tool.
pub(super) type BilledPart = (BillCause, Arc<str>, u64);

/// What a conversation has in view, by what it costs for.
#[derive(Clone, Debug, Default)]
pub(crate) struct BillView {
    pub(crate) prelude: u32,
    pub(crate) requests: u64,
    /// The prompt of the request before.
    pub(crate) sent: u64,
    shares: RoundShares,
    before: RoundShares,
    results: BTreeMap<ToolUseId, (BillCause, Arc<str>, u64)>,
    /// Results since the last request.
    fresh: Vec<BilledPart>,
    /// What was asked for so far, and by which calls for the second time.
    asked: BTreeSet<ResultWish>,
    repeated: BTreeSet<ToolUseId>,
}

impl BillView {
    /// Takes note of the calls of a response.
    pub(crate) fn called(&mut self, wishes: &[(ToolUseId, ResultWish)]) {
        for (id, wish) in wishes {
            if !self.asked.insert(*wish) {
                self.repeated.insert(id.clone());
            }
        }
    }

    /// A result came; `label` tells its tool and target.
    pub(crate) fn came(&mut self, id: &ToolUseId, label: &Arc<str>, tokens: u64) {
        let cause = if self.repeated.contains(id) {
            BillCause::RepeatedReads
        } else if tokens > LARGE_TOKENS {
            BillCause::LargeResults
        } else {
            BillCause::SmallResults
        };
        let tool: Arc<str> = label.split(' ').next().unwrap_or("").into();
        self.fresh.push((cause, Arc::clone(&tool), tokens));
        self.results.insert(id.clone(), (cause, tool, tokens));
    }

    /// Only these results are still in view.
    pub(crate) fn keeps(&mut self, shown: &dyn Fn(&ToolUseId) -> bool) {
        self.results.retain(|id, _| shown(id));
    }

    /// A result went out of view.
    pub(crate) fn goes(&mut self, id: &ToolUseId) {
        self.results.remove(id);
    }

    /// What is in view at a request.
    pub(crate) fn looks(&mut self, prelude: u32, shares: RoundShares) {
        self.prelude = prelude;
        self.before = std::mem::replace(&mut self.shares, shares);
    }

    /// A request was made.
    pub(crate) fn sends(&mut self, prompt: u64) {
        self.fresh.clear();
        self.requests += 1;
        self.sent = prompt;
    }

    pub(super) fn carried(&self) -> Vec<BilledPart> {
        let none: Arc<str> = "".into();
        let own = &self.shares;
        let mut by_tool: BTreeMap<(BillCause, Arc<str>), u64> = BTreeMap::new();
        for (cause, tool, tokens) in self.results.values() {
            *by_tool.entry((*cause, Arc::clone(tool))).or_default() += tokens;
        }
        let results = by_tool.into_iter().map(|((cause, tool), tokens)| (cause, tool, tokens));
        let mut parts: Vec<_> = results.collect();
        parts.push((BillCause::SystemPrompt, none.clone(), u64::from(self.prelude)));
        parts.push((
            BillCause::Dialogue,
            none.clone(),
            u64::from(own.said) + u64::from(own.written),
        ));
        parts.push((BillCause::Injections, none, u64::from(own.injected)));
        parts
    }

    pub(super) fn added(&self) -> Vec<BilledPart> {
        let none: Arc<str> = "".into();
        let more = |now: u32, before: u32| u64::from(now.saturating_sub(before));
        let (now, before) = (&self.shares, &self.before);
        let said = more(now.said, before.said) + more(now.written, before.written);
        let mut parts = self.fresh.clone();
        parts.push((BillCause::Dialogue, none.clone(), said));
        parts.push((BillCause::Injections, none, more(now.injected, before.injected)));
        parts
    }
}
