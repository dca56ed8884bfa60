//! The session as it went: how many tokens its texts had, and what the server
//! still knew of it, by what was reported (PC8).
//!
//! A request's usage tells how many tokens are new in it. They are shared out
//! among what was said since the request before, in proportion to what the
//! texts are estimated at. What cannot be in those texts is kept apart: a
//! reminder that the transcript does not have, or something that went.

use crate::anchor::{Anchor, Caching, Hit};
use crate::count::Factor;
use crate::step::Said;
use everfold_kernel::record::{CacheTtl, Keeps};
use everfold_kernel::{
    Boundary, Decision, Entry, Limits, ModelId, Record, RecordId, Timestamp, Tokens, Usage,
};
use everfold_prefix::{Fold, Message, Piece};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A conversation as it went.
#[derive(Debug)]
pub(crate) struct Went {
    fold: Fold,
    limits: Arc<Limits>,
    prelude: Option<Tokens>,
    /// What the prelude was estimated at, where the transcript has it.
    estimated: Option<Tokens>,
    pub(crate) factor: Factor,
    /// What was read of the prelude where nothing else was.
    floor: Option<u64>,
    model: Option<ModelId>,
    last: Option<Timestamp>,
}

/// What the transcript tells of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told<'a> {
    pub(crate) at: Timestamp,
    pub(crate) model: &'a ModelId,
    pub(crate) usage: &'a Usage,
    /// The lifetime until now.
    pub(crate) ttl: CacheTtl,
}

/// What became known with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled {
    pub(crate) prelude: Tokens,
    /// None where nothing was ever reported of the conversation.
    pub(crate) anchor: Option<Anchor>,
    /// By what texts since the last request weigh more or less.
    pub(crate) scale: Ratio,
    /// Tokens that came in and are in no text.
    pub(crate) unseen: Tokens,
    /// By what all that stood before weighs less.
    pub(crate) shrunk: Option<Ratio>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ratio {
    pub(crate) part: u64,
    pub(crate) whole: u64,
}

impl Ratio {
    pub(crate) const ONE: Self = Self { part: 1, whole: 1 };

    pub(crate) fn of(self, tokens: Tokens) -> Tokens {
        let own = u128::from(tokens.0) * u128::from(self.part) / u128::from(self.whole.max(1));
        Tokens(u64::try_from(own).unwrap_or(u64::MAX))
    }
}

/// What was said since the last request.
struct New {
    /// The first message that may have it.
    from: usize,
    records: BTreeSet<RecordId>,
    change: Change,
}

/// What the session's own policy changed of what it had sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    None,
    Results,
    Boundary,
}

impl Change {
    /// How far texts may be from their estimate, in percent; what is beyond
    /// is something else. Files that come back with a summary are in none.
    fn plausible(self) -> (u64, u64) {
        match self {
            Self::None | Self::Results => (40, 250),
            Self::Boundary => (80, 120),
        }
    }
}

impl Went {
    pub(crate) fn new(limits: &Arc<Limits>) -> Self {
        Self {
            fold: Fold::new(Arc::clone(limits)),
            limits: Arc::clone(limits),
            prelude: None,
            estimated: None,
            factor: Factor::new(&limits.replay),
            floor: None,
            model: None,
            last: None,
        }
    }

    /// A prelude that the transcript has, by its estimate.
    pub(crate) fn prelude(&mut self, estimate: Tokens) {
        let (before, now) = (self.estimated.replace(estimate), estimate);
        if let (Some(before), Some(own)) = (before, self.prelude) {
            self.prelude = Some((own + now) - before);
        }
    }

    /// Drops records from view.
    pub(crate) fn rewind(&mut self, dropped: &[RecordId]) {
        let entry = Entry::Boundary(rewound(&self.fold, dropped));
        let at = self.last.unwrap_or_default();
        self.fold.push(Record { id: "rewound".into(), parent: None, at, entry });
    }

    /// Takes what was said since the last request, and what the request used.
    pub(crate) fn settle(&mut self, said: &[Said], told: Told<'_>) -> Settled {
        let new = self.push(said);
        let gap = self.last.map_or(0, |last| told.at.as_second() - last.as_second());
        let is_fresh = self.model.replace(told.model.clone()).as_ref() != Some(told.model);
        self.last = Some(told.at);
        let measure = self.fold.measure(false);
        let (kept, total) = (measure.kept, measure.shares.total());
        let prompt = told.usage.prompt().0;
        if prompt == 0 {
            return self.unreported(total, gap);
        }
        let mut settled = self.share_out(&new, prompt, total);
        self.reweigh(&new, &settled);
        let blocks = self.fold.measure(false).blocks.iter().take(kept);
        let could = settled.prelude.0 + blocks.map(|block| block.weight.tokens.0).sum::<u64>();
        let hit = if is_fresh {
            Hit::Fresh(told.usage.cache_read)
        } else {
            self.hit(&new, (told, gap), could)
        };
        settled.anchor = Some(self.anchor(hit, told.usage, (settled.prelude, gap)));
        settled
    }

    /// Takes what was said as it is estimated.
    pub(crate) fn absorb(&mut self, said: &[Said]) {
        self.push(said);
        self.fold.measure(false);
    }

    fn push(&mut self, said: &[Said]) -> New {
        let from = self.fold.messages().len().saturating_sub(1);
        let mut new = New { from, records: BTreeSet::new(), change: Change::None };
        for own in said {
            match own.entry() {
                Entry::Boundary(_) => (new.change, new.from) = (Change::Boundary, 0),
                Entry::Decision(Decision::Prelude(_)) => continue,
                Entry::Decision(Decision::Cleared(_) | Decision::Spilled(_)) => {
                    new.change = new.change.max(Change::Results);
                }
                Entry::User(_) | Entry::Assistant(_) | Entry::Attachment(_) => {
                    new.records.insert(own.record.id.clone());
                }
                Entry::Decision(_) | Entry::Opaque(_) => {}
            }
            self.fold.push_weighed(own.record(false).clone(), &own.weights);
        }
        new
    }

    /// Shares a prompt out among what is known of it.
    fn share_out(&mut self, new: &New, prompt: u64, total: u64) -> Settled {
        let messages = self.fold.messages().iter().skip(new.from).flat_map(Message::pieces);
        let added = messages.filter(|piece| new.records.contains(&piece.record));
        let added: u64 = added.map(|piece| piece.tokens.0).sum();
        let old = total.saturating_sub(added);
        let (least, most) = new.change.plausible();
        let prelude = self.prelude_of(prompt, total, added * least / 100);
        self.prelude = Some(Tokens(prelude));
        let (least, most) = (added * least / 100, added * most / 100);
        let room = (prompt - prelude).saturating_sub(old);
        let now = room.clamp(least, most.max(least));
        if new.change == Change::None && now == room {
            self.factor.learn(added, now);
        }
        let behind = (prompt - prelude).saturating_sub(now);
        Settled {
            prelude: Tokens(prelude),
            anchor: None,
            scale: if added > 0 { Ratio { part: now, whole: added } } else { Ratio::ONE },
            unseen: Tokens(room.saturating_sub(now)),
            shrunk: (behind < old).then_some(Ratio { part: behind, whole: old }),
        }
    }

    /// The tokens before the messages: what the first request has besides
    /// them, and less where a later one has no room for it. A session that was
    /// taken up in another file has its past there, and no prelude so large.
    fn prelude_of(&self, prompt: u64, total: u64, added: u64) -> u64 {
        let limits = &self.limits.replay;
        match self.prelude {
            None => {
                let unseen = prompt.saturating_sub(total);
                unseen
                    .clamp(limits.prelude_tokens / 2, limits.prelude_most_tokens)
                    .min(prompt / 2 + unseen / 2)
            }
            Some(prelude) => prelude.0.min(prompt.saturating_sub(added).max(prompt / 2)),
        }
    }

    fn reweigh(&mut self, new: &New, settled: &Settled) {
        let is_new = |record: &RecordId| new.records.contains(record);
        if let Some(shrunk) = settled.shrunk {
            let weigh =
                &mut |piece: &Piece| (!is_new(&piece.record)).then(|| shrunk.of(piece.tokens));
            self.fold.reweigh(0, weigh);
        }
        let scale = settled.scale;
        if scale != Ratio::ONE {
            let weigh = &mut |piece: &Piece| is_new(&piece.record).then(|| scale.of(piece.tokens));
            self.fold.reweigh(new.from, weigh);
        }
    }

    /// What the server still had of a conversation of which it `could` have
    /// had so much.
    fn hit(&self, new: &New, (told, gap): (Told<'_>, i64), could: u64) -> Hit {
        let read = told.usage.cache_read;
        let slack = self.limits.breaks.slack_tokens;
        let has_expired = gap >= told.ttl.seconds();
        match new.change {
            Change::Boundary | Change::Results if !has_expired => Hit::Silent,
            _ if read.saturating_add(slack) >= could => {
                Hit::Kept(read.cast_signed().saturating_sub(could.cast_signed()))
            }
            _ => Hit::Cut { at: read, of: could },
        }
    }

    fn anchor(&mut self, hit: Hit, usage: &Usage, (prelude, gap): (Tokens, i64)) -> Anchor {
        // What was read of nothing but the prelude is what sessions share.
        let read = usage.cache_read;
        if !matches!(hit, Hit::Kept(_)) && (1..=prelude.0).contains(&read) {
            self.floor = Some(read);
        }
        let share = prelude.0.saturating_mul(self.limits.replay.prelude_cached_percent) / 100;
        let is_plain = usage.cache_write() == 0 && usage.input > self.limits.breaks.slack_tokens;
        Anchor {
            hit,
            floor: self.floor.unwrap_or(share),
            prompt: usage.prompt().0,
            input: usage.input,
            caching: if is_plain { Caching::Off } else { Caching::On },
            gap,
        }
    }

    /// A request that says nothing of what it used.
    fn unreported(&self, total: u64, gap: i64) -> Settled {
        let known = self.prelude.or(self.estimated);
        let prelude = known.unwrap_or(Tokens(self.limits.replay.prelude_tokens));
        let anchor = self.prelude.map(|prelude| Anchor {
            hit: Hit::Kept(0),
            floor: self.floor.unwrap_or(prelude.0),
            prompt: prelude.0 + total,
            input: 0,
            caching: Caching::On,
            gap,
        });
        Settled { prelude, anchor, scale: Ratio::ONE, unseen: Tokens(0), shrunk: None }
    }
}

/// A boundary that takes these records out of view, and nothing else.
pub(crate) fn rewound(fold: &Fold, dropped: &[RecordId]) -> Boundary {
    let dropped: BTreeSet<&RecordId> = dropped.iter().collect();
    let pieces = fold.messages().iter().flat_map(Message::pieces);
    let preserved = pieces.map(|piece| piece.record.clone()).filter(|id| !dropped.contains(id));
    Boundary {
        trigger: "rewind".to_owned(),
        pre_tokens: 0,
        last_before: None,
        preserved: preserved.collect(),
        keeps: Keeps::Prefix,
        metadata: serde_json::Map::new(),
    }
}
