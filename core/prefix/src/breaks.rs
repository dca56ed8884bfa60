//! Break detection (PC6): a prefix that should have been read from the cache
//! and was not.
//!
//! A [`Detector`] is told of every request of a session before it is sent and
//! of its usage when it is answered. What the request before it had read and
//! written at its breakpoints is what this one should read. If much of that is
//! missing, it reports the part of the key that changed, or that none did.
//!
//! Nothing is expected, and so nothing reported,
//!
//! - after a declared break ([`BreakCause`]), whoever's request carries it:
//!   all sources of a session share the conversation that it changed;
//! - once the cached prefix is older than its TTL, or the clock went back;
//! - of the first request of a conversation ([`RequestBase::Nothing`]);
//! - after a request that asked for no cache;
//! - of an answer that reports no usage.
//!
//! A break is reported once: the next request is compared with this one. A
//! false alarm is worse than a missed one, so every doubt is silence.
//!
//! Not here: keeping the report (it is a decision of the log), and asking the
//! server for its reason.

mod fingerprint;

pub(crate) use fingerprint::{BlockPrint, HeadPrint};
pub use fingerprint::{Fingerprint, KeyPart};

use crate::fold::BreakCause;
use everfold_kernel::limits::BreakLimits;
use everfold_kernel::record::{BreakSeen, CacheTtl};
use everfold_kernel::{Prices, QuerySource, Timestamp, Usage, Usd};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is said when the key is the same and the server read less all the same.
pub const NOTHING_CHANGED: &str = "nothing changed here (evicted by the server?)";

/// Whose request a request continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestBase {
    /// Nobody's: it starts a conversation of its own.
    Nothing,
    /// The one before of its own source.
    Own,
    /// The last one of the main thread: it is the first of a fork.
    Main,
}

/// A request that is about to be sent.
#[derive(Clone, Debug)]
pub struct Sent {
    pub source: QuerySource,
    /// Whose request it continues.
    pub base: RequestBase,
    /// What makes up its key.
    pub fingerprint: Fingerprint,
    pub at: Timestamp,
    /// Why it breaks with the requests before, where that was announced.
    pub declared: Option<BreakCause>,
}

/// What an answer says.
#[derive(Clone, Debug, Default)]
pub struct Answered {
    /// Its tokens.
    pub usage: Usage,
    /// The prices of that request, if known.
    pub prices: Option<Prices>,
    /// The server's own reason for a miss, where it was asked and gave one.
    pub server_reason: Option<String>,
}

/// Notices cache breaks of one session.
///
/// ```
/// use everfold_kernel::{QuerySource, Timestamp, Usage, limits::BreakLimits, record::CacheTtl};
/// # use everfold_kernel::{Block, Decision, Entry, Limits, Params, Prelude, Record, UserEntry, UserOrigin};
/// use everfold_prefix::breaks::{Answered, RequestBase, Detector, NOTHING_CHANGED, Sent};
/// # use everfold_prefix::Fold;
/// # let record = |id: &str, entry| Record { id: id.into(), parent: None, at: Default::default(), entry };
/// # let prelude = Prelude { system: vec![], tools: vec![], params: Params::new("claude-sonnet-5-5", 1_000) };
/// # let mut fold = Fold::new(Limits::default().into());
/// # fold.push(record("1", Entry::Decision(Decision::Prelude(Box::new(prelude)))));
/// # fold.push(record("2", Entry::User(UserEntry {
/// #     content: vec![Block::text("hello")], origin: UserOrigin::Human, tool_use_result: None,
/// #     provenance: Vec::new(),
/// # })));
///
/// let mut detector = Detector::new(BreakLimits::default());
/// let mut ask = |usage| {
///     let fingerprint = fold.request(None).unwrap().fingerprint;
///     let (source, at) = (QuerySource::Main, Timestamp::UNIX_EPOCH);
///     detector.sent(Sent { source, base: RequestBase::Own, fingerprint, at, declared: None });
///     detector.answered(&QuerySource::Main, Answered { usage, ..Answered::default() })
/// };
/// assert_eq!(ask(Usage { cache_write_5m: 50_000, ..Usage::default() }), None);
/// let seen = ask(Usage { cache_write_5m: 50_000, ..Usage::default() }).unwrap();
/// assert_eq!((seen.tokens, seen.part.as_str()), (50_000, NOTHING_CHANGED));
/// ```
#[derive(Clone, Debug)]
pub struct Detector {
    limits: BreakLimits,
    /// Counts declared breaks: what was cached before one is not expected after it.
    epoch: u64,
    sent: BTreeMap<QuerySource, Waiting>,
    cached: BTreeMap<QuerySource, Arc<Cached>>,
}

/// A request without an answer yet.
#[derive(Clone, Debug)]
struct Waiting {
    fingerprint: Fingerprint,
    at: Timestamp,
    epoch: u64,
    base: Option<Arc<Cached>>,
}

/// What the server has of a source's last answered request.
#[derive(Debug)]
struct Cached {
    fingerprint: Fingerprint,
    tokens: u64,
    /// When it was last used.
    at: Timestamp,
    ttl: Option<CacheTtl>,
}

impl Cached {
    fn is_alive(&self, now: Timestamp) -> bool {
        let age = now.as_second() - self.at.as_second();
        self.ttl.is_some_and(|ttl| (0..ttl.seconds()).contains(&age))
    }
}

impl Detector {
    /// A detector that knows of no request yet.
    #[must_use]
    pub fn new(limits: BreakLimits) -> Self {
        Self { limits, epoch: 0, sent: BTreeMap::new(), cached: BTreeMap::new() }
    }

    /// Judges by other limits from here on.
    pub fn set_limits(&mut self, limits: BreakLimits) {
        self.limits = limits;
    }

    /// Takes a request that is about to be sent. One that was sent before by
    /// the same source and never answered is forgotten.
    pub fn sent(&mut self, request: Sent) {
        let Sent { source, base, fingerprint, at, declared } = request;
        if declared.is_some() {
            self.epoch += 1;
            self.cached.clear();
        }
        let base = match base {
            RequestBase::Nothing => None,
            RequestBase::Own => self.cached.get(&source),
            RequestBase::Main => self.cached.get(&QuerySource::Main),
        };
        let base = base.filter(|cached| cached.is_alive(at)).cloned();
        self.sent.insert(source, Waiting { fingerprint, at, epoch: self.epoch, base });
    }

    /// Takes the answer to the last request of a source, and tells of a break.
    pub fn answered(&mut self, source: &QuerySource, answer: Answered) -> Option<BreakSeen> {
        let waiting = self.sent.remove(source)?;
        let Answered { usage, prices, server_reason } = answer;
        if usage == Usage::default() {
            return None;
        }
        let seen = waiting.base.as_deref().and_then(|base| {
            let tokens = self.missing(base, &usage)?;
            let ttl = waiting.fingerprint.ttl();
            Some(BreakSeen {
                source: source.clone(),
                part: part(&waiting.fingerprint, &base.fingerprint),
                tokens,
                cost: prices.map(|prices| lost(tokens, &usage, ttl, &prices)),
                server_reason,
            })
        });
        self.keep(source, waiting, &usage);
        seen
    }

    /// Tokens that should have been read and were not, if they are many.
    fn missing(&self, base: &Cached, usage: &Usage) -> Option<u64> {
        let missing = base.tokens.saturating_sub(usage.cache_read);
        let percent = base.tokens.saturating_mul(self.limits.slack_percent) / 100;
        (missing > self.limits.slack_tokens.max(percent)).then_some(missing)
    }

    fn keep(&mut self, source: &QuerySource, waiting: Waiting, usage: &Usage) {
        if waiting.epoch != self.epoch {
            self.cached.remove(source);
            return;
        }
        let Waiting { fingerprint, at, base, .. } = waiting;
        // What is only read keeps the life that it was written with.
        let written_with = base.filter(|_| usage.cache_write() == 0).and_then(|base| base.ttl);
        let ttl = fingerprint.ttl().map(|own| written_with.map_or(own, |ttl| ttl.min(own)));
        let tokens = usage.cache_read.saturating_add(usage.cache_write());
        self.cached.insert(source.clone(), Arc::new(Cached { fingerprint, tokens, at, ttl }));
    }
}

fn part(now: &Fingerprint, before: &Fingerprint) -> String {
    let parts: Vec<String> = now.changed_since(before).iter().map(KeyPart::to_string).collect();
    if parts.is_empty() { NOTHING_CHANGED.to_owned() } else { parts.join(", ") }
}

/// What the missing tokens cost over reading them: those that were written
/// again at the price of that, the rest at that of plain input.
fn lost(missing: u64, usage: &Usage, ttl: Option<CacheTtl>, prices: &Prices) -> Usd {
    let written = missing.min(usage.cache_write());
    let mut paid = Usage { input: missing - written, ..Usage::default() };
    match ttl {
        Some(CacheTtl::OneHour) => paid.cache_write_1h = written,
        Some(CacheTtl::FiveMinutes) | None => paid.cache_write_5m = written,
    }
    let expected = Usage { cache_read: missing, ..Usage::default() };
    Usd((prices.cost(&paid).0 - prices.cost(&expected).0).max(0.0))
}
