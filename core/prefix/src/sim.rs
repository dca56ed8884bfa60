//! The cache simulator (PC7): what a prompt cache would have read and written.
//!
//! A request is a list of [`SimPiece`]s in the order of the prefix: tools, system
//! blocks, message blocks. [`Simulator::request`] answers with the split of
//! its tokens, which [`ModelSpec::cost`](everfold_kernel::ModelSpec::cost)
//! prices. The test server bills with it, and a replay compares policies.
//!
//! # The model
//!
//! - The key of an entry is the chain of all pieces up to it and the scope
//!   (model, workspace, whatever else keeps caches apart).
//! - Entries are made at breakpoints only, and only where the prefix has at
//!   least the model's minimum.
//! - A read looks back from each breakpoint over [`SimConfig::look_back`]
//!   positions, the breakpoint counted as one. The longest prefix found by any
//!   breakpoint is what is read.
//! - With A the end of what is read, B the last 1-hour breakpoint and C the
//!   last breakpoint: A is read, A to B is written for an hour, B to C for
//!   five minutes, and the rest is plain input.
//! - An entry lives for its TTL from the start of the request that made it or
//!   last found it. It keeps its TTL when it is found by a marker with
//!   another one: what was not paid for is not upgraded.
//! - A marker inside what was read makes an entry at no charge, with the
//!   shorter of its own TTL and that of the entry that was read.
//! - More than [`SimConfig::max_breakpoints`] markers, or a longer TTL after
//!   a shorter one, is an error, as it is on the server.
//!
//! # Not modelled
//!
//! - Requests at the same time: an entry is readable by the next call of
//!   [`Simulator::request`], as if the response had begun.
//! - Eviction before the TTL is over, and hits by luck beyond the look-back.
//! - The automatic breakpoint after a server tool's result.

mod chain;
mod pieces;
#[cfg(test)]
mod properties;

pub use chain::Chain;
pub use pieces::pieces_of;

use everfold_kernel::record::CacheTtl;
use everfold_kernel::{Class, Classify, Timestamp, Tokens, Usage};
use std::collections::BTreeMap;

/// A hash of 128 bits: none of a session's pieces is taken for another, and
/// hundreds of thousands of them are held.
pub type Hash = [u8; 16];

/// The hash of some bytes.
#[must_use]
pub fn hash(bytes: &[u8]) -> Hash {
    short(&blake3::hash(bytes))
}

/// The first half of a hash.
pub(crate) fn short(hash: &blake3::Hash) -> Hash {
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

/// One position of the prefix: a tool, a system block, a block of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimPiece {
    /// The hash of its content, without its cache marker.
    pub content: Hash,
    /// How many tokens it has.
    pub tokens: Tokens,
    pub breakpoint: Option<CacheTtl>,
}

impl SimPiece {
    /// A piece without a marker, hashed here.
    ///
    /// ```
    /// use everfold_kernel::Tokens;
    /// use everfold_prefix::sim::SimPiece;
    ///
    /// let piece = SimPiece::new(b"hello", Tokens(2));
    /// assert_eq!(piece, SimPiece::new(b"hello", Tokens(2)));
    /// ```
    #[must_use]
    pub fn new(content: &[u8], tokens: Tokens) -> Self {
        Self { content: hash(content), tokens, breakpoint: None }
    }

    /// The same piece with a cache marker.
    #[must_use]
    pub fn with_breakpoint(mut self, ttl: CacheTtl) -> Self {
        self.breakpoint = Some(ttl);
        self
    }
}

/// The rules that a server could change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimConfig {
    /// How many positions a read looks back from a breakpoint, itself included.
    pub look_back: usize,
    /// Most breakpoints of one request.
    pub max_breakpoints: usize,
}

impl Default for SimConfig {
    fn default() -> Self {
        Self { look_back: 20, max_breakpoints: 4 }
    }
}

/// Why the server would refuse a request's cache markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    #[error("a request may have {max} cache markers and this one has {found}; remove some")]
    TooManyBreakpoints {
        /// How many there are.
        found: usize,
        /// How many there may be.
        max: usize,
    },
    /// A longer TTL after a shorter one.
    #[error("the 1h cache marker at position {position} comes after a 5m one; put it before")]
    TtlOrder { position: usize },
    /// The top-level marker and the last block's marker differ.
    #[error("the automatic cache marker and that of the last block differ in ttl; use one ttl")]
    AutomaticTtl,
}

impl Classify for SimError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}

/// One cached prefix.
#[derive(Clone, Copy, Debug)]
struct Entry {
    ttl: CacheTtl,
    /// The second from which on it is gone.
    expires: i64,
}

/// A prompt cache.
///
/// ```
/// use everfold_kernel::{record::CacheTtl, Timestamp, Tokens};
/// use everfold_prefix::sim::{SimPiece, SimConfig, Simulator};
///
/// let mut cache = Simulator::new(SimConfig::default());
/// let pieces = [SimPiece::new(b"system", Tokens(5_000)).with_breakpoint(CacheTtl::FiveMinutes)];
/// let first = cache.request(Timestamp::UNIX_EPOCH, "opus", Tokens(1_024), &pieces).unwrap();
/// let second = cache.request(Timestamp::UNIX_EPOCH, "opus", Tokens(1_024), &pieces).unwrap();
/// assert_eq!((first.cache_write_5m, second.cache_read), (5_000, 5_000));
/// ```
#[derive(Clone, Debug)]
pub struct Simulator {
    config: SimConfig,
    entries: BTreeMap<Hash, Entry>,
    /// When the map is larger than this, expired entries are dropped.
    sweep_above: usize,
    last: Chain,
}

/// The smallest map that is worth sweeping.
const SWEEP_ENTRIES: usize = 4_096;

impl Simulator {
    /// An empty cache.
    #[must_use]
    pub fn new(config: SimConfig) -> Self {
        Self {
            config,
            entries: BTreeMap::new(),
            sweep_above: SWEEP_ENTRIES,
            last: Chain::default(),
        }
    }

    /// Takes a request that starts at `at`, and says how its tokens are billed
    /// (`output` is 0). Only pieces that differ from the last request of the
    /// simulator are hashed, so a long conversation costs a comparison a piece.
    ///
    /// # Errors
    ///
    /// Markers that the server refuses; nothing is cached then.
    pub fn request(
        &mut self,
        at: Timestamp,
        scope: &str,
        minimum: Tokens,
        pieces: &[SimPiece],
    ) -> Result<Usage, SimError> {
        let marks = marks(pieces);
        check(&marks, &self.config)?;
        let mut chain = std::mem::take(&mut self.last);
        chain.extend_to(scope, pieces);
        let usage = self.bill(at, &chain, minimum, &marks);
        self.last = chain;
        Ok(usage)
    }

    /// The same for a request that its caller keeps as a chain: the work is in
    /// proportion to what was added to it, however long it is. `marks` are the
    /// positions of its breakpoints, in order, all of one lifetime.
    ///
    /// # Errors
    ///
    /// Markers that the server refuses; nothing is cached then.
    pub fn advance(
        &mut self,
        at: Timestamp,
        chain: &Chain,
        minimum: Tokens,
        (marks, ttl): (&[usize], CacheTtl),
    ) -> Result<Usage, SimError> {
        let mark =
            |position: &usize| Some(Mark { position: *position, ttl, end: chain.end(*position)? });
        let marks: Vec<Mark> = marks.iter().filter_map(mark).collect();
        check(&marks, &self.config)?;
        Ok(self.bill(at, chain, minimum, &marks))
    }

    fn bill(&mut self, at: Timestamp, chain: &Chain, minimum: Tokens, marks: &[Mark]) -> Usage {
        let now = at.as_second();
        let usable: Vec<Mark> = marks.iter().copied().filter(|mark| mark.end >= minimum).collect();
        let read = self.read(now, chain, &usable);
        let usage = split(chain, &usable, read);
        self.write(now, chain, &usable, read);
        self.sweep(now);
        usage
    }

    /// Checks the markers of a request, and caches nothing.
    ///
    /// # Errors
    ///
    /// Markers that the server refuses.
    pub fn check(&self, pieces: &[SimPiece]) -> Result<(), SimError> {
        check(&marks(pieces), &self.config)
    }

    /// Looks back from every mark and refreshes what it finds. The longest
    /// find is what is read.
    fn read(&mut self, now: i64, chain: &Chain, marks: &[Mark]) -> Option<Found> {
        let mut longest: Option<Found> = None;
        for mark in marks {
            let first = (mark.position + 1).saturating_sub(self.config.look_back);
            for position in (first..=mark.position).rev() {
                let Some(entry) = self.live(now, chain, position) else {
                    continue;
                };
                entry.expires = entry.expires.max(now + entry.ttl.seconds());
                let found = Found { position, ttl: entry.ttl };
                if longest.is_none_or(|other| other.position < position) {
                    longest = Some(found);
                }
                break;
            }
        }
        longest
    }

    /// Makes an entry at every mark that has none.
    fn write(&mut self, now: i64, chain: &Chain, marks: &[Mark], read: Option<Found>) {
        for mark in marks {
            if self.live(now, chain, mark.position).is_some() {
                continue;
            }
            let ttl = match read {
                Some(found) if mark.position <= found.position => mark.ttl.min(found.ttl),
                _ => mark.ttl,
            };
            if let Some(key) = chain.key(mark.position) {
                let expires = now + ttl.seconds();
                self.entries.insert(key, Entry { ttl, expires });
            }
        }
    }

    fn live(&mut self, now: i64, chain: &Chain, position: usize) -> Option<&mut Entry> {
        let key = chain.key(position)?;
        self.entries.get_mut(&key).filter(|entry| now < entry.expires)
    }

    fn sweep(&mut self, now: i64) {
        if self.entries.len() > self.sweep_above {
            self.entries.retain(|_, entry| now < entry.expires);
            self.sweep_above = SWEEP_ENTRIES.max(self.entries.len() * 2);
        }
    }
}

/// A breakpoint of a request.
#[derive(Clone, Copy, Debug)]
struct Mark {
    position: usize,
    ttl: CacheTtl,
    /// Tokens of the prefix that it closes.
    end: Tokens,
}

/// A prefix that was found in the cache.
#[derive(Clone, Copy, Debug)]
struct Found {
    position: usize,
    ttl: CacheTtl,
}

/// The breakpoints of a request, in order.
fn marks(pieces: &[SimPiece]) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut end = Tokens(0);
    for (position, piece) in pieces.iter().enumerate() {
        end += piece.tokens;
        marks.extend(piece.breakpoint.map(|ttl| Mark { position, ttl, end }));
    }
    marks
}

/// Whether a server takes these markers.
fn check(marks: &[Mark], config: &SimConfig) -> Result<(), SimError> {
    let later = marks.iter().skip(1);
    let mut wrong = marks.iter().zip(later).filter(|(before, own)| before.ttl < own.ttl);
    if let Some((_, Mark { position, .. })) = wrong.next() {
        return Err(SimError::TtlOrder { position: *position });
    }
    let (found, max) = (marks.len(), config.max_breakpoints);
    if found > max { Err(SimError::TooManyBreakpoints { found, max }) } else { Ok(()) }
}

fn split(chain: &Chain, marks: &[Mark], read: Option<Found>) -> Usage {
    let total = chain.total();
    let read_end = read.and_then(|found| chain.end(found.position)).unwrap_or_default();
    let last_end = |wanted: &dyn Fn(&Mark) -> bool| {
        let mark = marks.iter().rev().find(|mark| wanted(mark));
        mark.map_or(Tokens(0), |mark| mark.end)
    };
    let hour_end = last_end(&|mark| mark.ttl == CacheTtl::OneHour).max(read_end);
    let cached_end = last_end(&|_| true).max(hour_end);
    Usage {
        input: (total - cached_end).0,
        cache_read: read_end.0,
        cache_write_5m: (cached_end - hour_end).0,
        cache_write_1h: (hour_end - read_end).0,
        ..Usage::default()
    }
}
