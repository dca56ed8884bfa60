//! The prefixes of a request: a key and an end for each position.
//!
//! Consecutive requests mostly share their pieces, so a key is only computed
//! where the content differs.

use super::{Hash, SimPiece, hash, short};
use everfold_kernel::Tokens;

/// The prefixes of one request after another of a conversation.
///
/// ```
/// use everfold_kernel::{record::CacheTtl, Timestamp, Tokens};
/// use everfold_prefix::sim::{Chain, SimConfig, Simulator};
///
/// let mut cache = Simulator::new(SimConfig::default());
/// let mut chain = Chain::default();
/// chain.enter("opus");
/// let mut ask = |chain: &Chain, marks: &[usize]| {
///     let minimum = Tokens(1_024);
///     cache.advance(Timestamp::UNIX_EPOCH, chain, minimum, (marks, CacheTtl::FiveMinutes)).unwrap()
/// };
/// chain.push([1; 16], Tokens(5_000));
/// assert_eq!(ask(&chain, &[0]).cache_write_5m, 5_000);
/// chain.push([2; 16], Tokens(70));
/// let second = ask(&chain, &[0, 1]);
/// assert_eq!((second.cache_read, second.cache_write_5m), (5_000, 70));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Chain {
    scope: Option<String>,
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    content: Hash,
    key: Hash,
    /// Tokens up to and with this piece.
    end: Tokens,
}

impl Chain {
    /// Goes to a scope (a model, a workspace). In another one than before
    /// nothing is shared.
    pub fn enter(&mut self, scope: &str) {
        if self.scope.as_deref() != Some(scope) {
            self.scope = Some(scope.to_owned());
            self.links.clear();
        }
    }

    /// How many pieces it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Keeps the first pieces only.
    pub fn truncate(&mut self, count: usize) {
        self.links.truncate(count);
    }

    /// Adds a piece.
    pub fn push(&mut self, content: Hash, tokens: Tokens) {
        let before = match self.links.last() {
            Some(link) => link.key,
            None => hash(self.scope.as_deref().unwrap_or("").as_bytes()),
        };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&before).update(&content);
        let key = short(&hasher.finalize());
        self.links.push(Link { content, key, end: self.total() + tokens });
    }

    /// Tokens of all pieces.
    #[must_use]
    pub fn total(&self) -> Tokens {
        self.links.last().map_or(Tokens(0), |link| link.end)
    }

    /// Makes it the chain of these pieces.
    pub(super) fn extend_to(&mut self, scope: &str, pieces: &[SimPiece]) {
        self.enter(scope);
        let mut end = Tokens(0);
        let same = |(link, piece): &(&Link, &SimPiece)| {
            end += piece.tokens;
            link.content == piece.content && link.end == end
        };
        let same = self.links.iter().zip(pieces).take_while(same).count();
        self.truncate(same);
        for piece in pieces.iter().skip(same) {
            self.push(piece.content, piece.tokens);
        }
    }

    pub(super) fn key(&self, position: usize) -> Option<Hash> {
        self.links.get(position).map(|link| link.key)
    }

    pub(super) fn end(&self, position: usize) -> Option<Tokens> {
        self.links.get(position).map(|link| link.end)
    }
}
