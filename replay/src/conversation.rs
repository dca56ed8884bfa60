//! One conversation of a session under one policy: its view, and what the
//! server has of it.

use crate::anchor::{Hit, Shared};
use crate::bill::BillView;
use crate::policy::Boundaries;
use crate::report::Before;
use crate::step::{Asked, Said};
use crate::steps::UNSEEN;
use crate::went::{Ratio, rewound};
use crate::why::Stays;
use everfold_economy::point::CarryHistory;
use everfold_economy::regret::SeenResults;
use everfold_foreign::Thread;
use everfold_kernel::record::{Breakpoint, CacheTtl};
use everfold_kernel::{
    Decision, Entry, Limits, ModelId, ModelSpec, Params, Prelude, Record, RecordId, SystemBlock,
    Timestamp, Tokens, ToolUseId, Usage, UserOrigin, Window,
};
use everfold_prefix::measure::Shares;
use everfold_prefix::message::PieceOrigin;
use everfold_prefix::sim::{Chain, Hash, hash};
use everfold_prefix::{BreakCause, Fold};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// One conversation of a session under one policy.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) fold: Fold,
    pub(crate) chain: Chain,
    pub(crate) memory: SeenResults,
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
    /// The prompt of the last request.
    sent: Tokens,
    pub(crate) requests: u64,
    /// Calls without a result yet, for people.
    pub(crate) calls: BTreeMap<ToolUseId, Arc<str>>,
    pub(crate) stays: Stays,
    pub(crate) last_fork: Option<Timestamp>,
    /// The prompt that the session's own summary is made of, from the boundary
    /// to the summary, and the seconds since the last request.
    pub(crate) summarised: Option<(Tokens, i64)>,
    pub(crate) made: u64,
    /// How its person comes and goes, and what summing up has brought.
    pub(crate) carried: CarryHistory,
    pub(crate) thread: Thread,
    pub(crate) billed: BillView,
    /// Tokens of prompts and answers that were reviewed.
    reviewed: u64,
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
    pub(crate) fn new(thread: Thread, limits: &Arc<Limits>) -> Self {
        Self {
            fold: Fold::new(Arc::clone(limits)),
            chain: Chain::default(),
            memory: SeenResults::default(),
            live: VecDeque::new(),
            cleared: 0,
            model: None,
            prelude: Tokens(0),
            salt: Arc::default(),
            passing: Passing::No,
            last_request: None,
            sent: Tokens(0),
            requests: 0,
            calls: BTreeMap::new(),
            stays: Stays::new(),
            last_fork: None,
            summarised: None,
            made: 0,
            carried: CarryHistory::default(),
            thread,
            billed: BillView::default(),
            reviewed: 0,
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
                let kind = own.kind.as_str();
                kind != UNSEEN && !everfold_compact::strip::REINJECTED.contains(&kind)
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

    /// Brings something of so many tokens into view again.
    pub(crate) fn push_again(&mut self, at: Timestamp, tokens: Tokens) {
        self.made += 1;
        let said = crate::steps::unseen(at, &format!("again-{}", self.made), tokens);
        self.push(&said, true);
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
        // The same bytes that are known to be fewer tokens break nothing; else
        // the first block is salted, so that all messages differ.
        let is_same_model = self.model.as_ref() == Some(model);
        self.chain.truncate(usize::from(is_same_model && self.prelude == asked.prelude));
        self.sent = self.sent.min(asked.prelude + (self.sent - self.prelude));
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
        (asked, ttl): (&Asked, CacheTtl),
        usage: &Usage,
    ) -> Before {
        let rewound = std::mem::take(&mut self.rewound);
        let Some(last) = self.last_request else { return Before::Start };
        let gap = asked.at.as_second().saturating_sub(last.as_second());
        let is_cut = asked.anchor.is_some_and(|own| matches!(own.hit, Hit::Cut { .. }));
        match declared {
            _ if gap >= ttl.seconds() && usage.cache_read <= self.prelude.0 => Before::Expiry,
            None if is_cut => Before::Break,
            _ if rewound => Before::Rewind,
            Some(BreakCause::Compaction) => Before::Compaction,
            Some(BreakCause::Prelude) => Before::Change,
            Some(_) => Before::Clearing,
            None => Before::Nothing,
        }
    }

    /// What the request that would be sent now shares with those before, of
    /// which the cache simulator finds so much.
    pub(crate) fn shared(&self, simulated: &Usage) -> Shared {
        Shared {
            prompt: simulated.prompt().0,
            prelude: self.prelude.0,
            simulated: simulated.cache_read,
            sent: self.sent.0,
        }
    }

    /// Tokens of the messages in view.
    pub(crate) fn tokens(&self) -> Tokens {
        self.fold.count() - self.prelude
    }

    /// How long requests ask their prefix to be kept.
    pub(crate) fn ttl(&self) -> Option<CacheTtl> {
        self.fold.prelude().and_then(|prelude| prelude.params.cache)
    }

    /// Tokens that person and model said since the last review. The fold is
    /// not measured for it: the chain is brought up to date by what changed
    /// since the last look, and has to have that look itself.
    pub(crate) fn said_since_review(&mut self) -> Tokens {
        let pieces = self.fold.messages().iter().flat_map(everfold_prefix::Message::pieces);
        let said = pieces.filter(|piece| match &piece.origin {
            PieceOrigin::User(origin) => *origin == UserOrigin::Human,
            PieceOrigin::Assistant(_) => true,
            PieceOrigin::Attachment(_) => false,
        });
        let said: Tokens = said.map(|piece| piece.tokens).sum();
        // A summary takes away what was reviewed.
        self.reviewed = self.reviewed.min(said.0);
        said - Tokens(self.reviewed)
    }

    /// All that was said is reviewed.
    pub(crate) fn reviewed(&mut self) {
        self.reviewed += self.said_since_review().0;
    }

    /// Takes note of what the session's own summary is made of.
    pub(crate) fn note_summary(&mut self, at: Timestamp) {
        if let (Some(last), Some(model)) = (self.last_request, self.model.clone()) {
            self.extend(&model);
            self.summarised = Some((self.chain.total(), at.as_second() - last.as_second()));
        }
    }

    /// The prompt of the last request.
    pub(crate) fn sent(&self) -> Tokens {
        self.sent
    }

    /// Takes note of a request that was sent.
    pub(crate) fn sends(&mut self, at: Timestamp) {
        self.last_request = Some(at);
        self.sent = self.chain.total();
        self.requests += 1;
    }

    /// All that is in view weighs so much less.
    pub(crate) fn shrink(&mut self, ratio: Ratio) {
        self.fold.reweigh(0, &mut |piece| Some(ratio.of(piece.tokens)));
        self.sent = self.prelude + ratio.of(self.sent - self.prelude);
    }

    /// Drops records from view, and nothing else.
    pub(crate) fn rewind(&mut self, dropped: &[RecordId]) {
        let boundary = rewound(&self.fold, dropped);
        let at = self.last_request.unwrap_or_default();
        self.append(at, Entry::Boundary(boundary));
        self.rewound = true;
    }

    /// The window of the conversation's model.
    pub(crate) fn window(
        spec: &ModelSpec,
        overrides: &everfold_kernel::window::Overrides,
        limits: &Limits,
    ) -> Window {
        // A window that was set or shown counts, whatever the model is called.
        let model = ModelId::new("");
        Window::resolve(&model, spec, &[], overrides, limits)
    }
}

fn salted(content: &Hash, salt: &str) -> Hash {
    hash(&[content, salt.as_bytes()].concat())
}
