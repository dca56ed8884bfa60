//! One conversation of a session under one policy: its view, and what the
//! server has of it.

use crate::policy::Boundaries;
use crate::regret::Memory;
use crate::report::Before;
use crate::step::{Asked, Said};
use crate::why::Stays;
use everfold_kernel::record::{Breakpoint, CacheTtl};
use everfold_kernel::{
    Decision, Entry, Limits, ModelId, ModelSpec, Params, Prelude, Record, RecordId, SystemBlock,
    Timestamp, Tokens, ToolUseId, Usage, UserOrigin, Window,
};
use everfold_prefix::measure::Shares;
use everfold_prefix::sim::{Chain, Hash, hash};
use everfold_prefix::{BreakCause, Fold};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// One conversation of a session under one policy.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) fold: Fold,
    pub(crate) chain: Chain,
    pub(crate) memory: Memory,
    /// Results in view, oldest first, where the policy counts them.
    pub(crate) live: VecDeque<ToolUseId>,
    /// Tokens that clearing took out of view.
    pub(crate) cleared: u64,
    pub(crate) model: Option<ModelId>,
    pub(crate) prelude: Tokens,
    salt: Arc<str>,
    /// Whether a boundary that does not count was just passed: what restored
    /// its view is passed over too.
    passing: Passing,
    pub(crate) last_request: Option<Timestamp>,
    pub(crate) requests: u64,
    /// Calls without a result yet, for people.
    pub(crate) calls: BTreeMap<ToolUseId, Arc<str>>,
    pub(crate) stays: Stays,
    pub(crate) last_fork: Option<Timestamp>,
    pub(crate) made: u64,
    rewound: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Passing {
    #[default]
    No,
    /// Everything up to the summary.
    ToSummary,
    /// What is injected again after it.
    ToAnswer,
}

impl Conversation {
    pub(crate) fn new(limits: &Arc<Limits>) -> Self {
        Self {
            fold: Fold::new(Arc::clone(limits)),
            chain: Chain::default(),
            memory: Memory::default(),
            live: VecDeque::new(),
            cleared: 0,
            model: None,
            prelude: Tokens(0),
            salt: Arc::default(),
            passing: Passing::No,
            last_request: None,
            requests: 0,
            calls: BTreeMap::new(),
            stays: Stays::new(),
            last_fork: None,
            made: 0,
            rewound: false,
        }
    }

    /// Whether an entry of the transcript is part of this conversation. What
    /// the session's own policy decided is not, under another one.
    pub(crate) fn wants(&mut self, entry: &Entry, boundaries: Boundaries) -> bool {
        if boundaries == Boundaries::Honoured {
            return !matches!(entry, Entry::Decision(Decision::Prelude(_)));
        }
        match entry {
            Entry::Boundary(_) => {
                self.passing = Passing::ToSummary;
                false
            }
            Entry::User(user) if self.passing == Passing::ToSummary => {
                if user.origin == UserOrigin::CompactSummary {
                    self.passing = Passing::ToAnswer;
                }
                false
            }
            Entry::Attachment(own) if self.passing != Passing::No => {
                !everfold_compact::strip::REINJECTED.contains(&own.kind.as_str())
            }
            Entry::Decision(decision) => matches!(
                decision,
                Decision::Retracted { .. }
                    | Decision::Snipped { .. }
                    | Decision::Pinned { .. }
                    | Decision::Unpinned { .. }
            ),
            _ => true,
        }
    }

    pub(crate) fn push(&mut self, said: &Said, whole: bool) {
        self.fold.push_weighed(said.record(whole).clone(), &said.weights);
    }

    /// Appends an entry that the policy made.
    pub(crate) fn append(&mut self, at: Timestamp, entry: Entry) {
        self.made += 1;
        let id = RecordId::from(format!("replay-{}", self.made));
        self.fold.push(Record { id, parent: None, at, entry });
    }

    pub(crate) fn set_prelude(&mut self, model: &ModelId, ttl: CacheTtl, asked: &Asked) {
        self.passing = Passing::No;
        let same = self.model.as_ref() == Some(model) && self.salt == asked.salt;
        if same && self.prelude == asked.prelude {
            return;
        }
        // Its first block is salted, so that all messages differ.
        self.chain.truncate(usize::from(self.model.as_ref() == Some(model)));
        self.model = Some(model.clone());
        self.prelude = asked.prelude;
        self.salt = Arc::clone(&asked.salt);
        let limits = everfold_kernel::Limits::default();
        let bytes = self.prelude.0.saturating_mul(limits.bytes_per_token_text);
        let text = " ".repeat(usize::try_from(bytes).unwrap_or(0));
        let mut params = Params::new(model.clone(), 0);
        params.cache = Some(ttl);
        let system = vec![SystemBlock { text, breakpoint: Breakpoint::Here }];
        let prelude = Prelude { system, tools: Vec::new(), params };
        self.append(asked.at, Entry::Decision(Decision::Prelude(Box::new(prelude))));
    }

    /// Brings the chain up to what would be sent now, and tells where its
    /// breakpoints are: the first closes the prelude.
    pub(crate) fn extend(&mut self, model: &ModelId) -> (Vec<usize>, Shares) {
        self.chain.enter(model.as_str());
        let measure = self.fold.measure(false);
        // The prelude is the first piece.
        if self.chain.is_empty() {
            self.chain.push(hash(b"prelude"), self.prelude);
        }
        let known = measure.kept.min(self.chain.len() - 1);
        self.chain.truncate(known + 1);
        for (index, own) in measure.blocks.iter().enumerate().skip(known) {
            let content = match index {
                0 => salted(&own.weight.content, &self.salt),
                _ => own.weight.content,
            };
            self.chain.push(content, own.weight.tokens);
        }
        let marks: BTreeSet<usize> = measure.marks.iter().map(|mark| mark + 1).chain([0]).collect();
        (marks.into_iter().collect(), measure.shares)
    }

    /// What made the cache of less use to a request than to the one before.
    pub(crate) fn before(
        &mut self,
        declared: Option<BreakCause>,
        at: Timestamp,
        ttl: CacheTtl,
        usage: &Usage,
    ) -> Before {
        let rewound = std::mem::take(&mut self.rewound);
        let Some(last) = self.last_request else { return Before::Start };
        let expired = at.as_second().saturating_sub(last.as_second()) >= ttl.seconds();
        match declared {
            _ if expired && usage.cache_read <= self.prelude.0 => Before::Expiry,
            _ if rewound => Before::Rewind,
            Some(BreakCause::Compaction) => Before::Compaction,
            Some(BreakCause::Prelude) => Before::Change,
            Some(_) => Before::Clearing,
            None => Before::Nothing,
        }
    }

    /// Drops records from view, and nothing else.
    pub(crate) fn rewind(&mut self, dropped: &[RecordId]) {
        let dropped: BTreeSet<&RecordId> = dropped.iter().collect();
        let pieces = self.fold.messages().iter().flat_map(everfold_prefix::Message::pieces);
        let preserved = pieces.map(|piece| piece.record.clone()).filter(|id| !dropped.contains(id));
        let boundary = everfold_kernel::Boundary {
            trigger: "rewind".to_owned(),
            pre_tokens: 0,
            last_before: None,
            preserved: preserved.collect(),
            keeps: everfold_kernel::record::Keeps::Prefix,
            metadata: serde_json::Map::new(),
        };
        let at = self.last_request.unwrap_or_default();
        self.append(at, Entry::Boundary(boundary));
        self.rewound = true;
    }

    /// The window of the conversation's model.
    pub(crate) fn window(
        &self,
        spec: &ModelSpec,
        overrides: &everfold_kernel::window::Overrides,
        limits: &Limits,
    ) -> Window {
        let unknown = ModelId::new("");
        let model = self.model.as_ref().unwrap_or(&unknown);
        Window::resolve(model, spec, &[], overrides, limits)
    }
}

fn salted(content: &Hash, salt: &str) -> Hash {
    hash(&[content, salt.as_bytes()].concat())
}
