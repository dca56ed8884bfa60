//! Letters between machines (F2).

use super::{AgentName, BoxFuture, Letter, PostError};

/// What carries letters between machines (F2).
pub trait MailCarrier: Send + Sync {
    /// Hands a letter over. When the future is done, it survives the end of any
    /// one machine. The same letter handed over again arrives once.
    fn carry<'a>(
        &'a self,
        to: &'a AgentName,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<(), PostError>>;

    /// The first letter for us after a place in the order of all; none where
    /// none waits. Nothing is taken away: who reads keeps the place.
    fn next<'a>(
        &'a self,
        own: &'a AgentName,
        after: u64,
    ) -> BoxFuture<'a, Result<Option<CarriedLetter>, PostError>>;

    /// Done when a letter for us may have come; it need not ever be.
    fn nudge<'a>(&'a self, own: &'a AgentName) -> BoxFuture<'a, ()>;

    /// Says that we are there, until that expires.
    fn appear<'a>(&'a self, own: &'a AgentName) -> BoxFuture<'a, Result<(), PostError>>;

    /// Who is there now.
    fn present(&self) -> BoxFuture<'_, Result<Vec<AgentName>, PostError>>;
}

/// A letter that was carried, and its place in the order of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedLetter {
    pub place: u64,
    /// The letter. Who it is from is what the carrier vouches for.
    pub letter: Letter,
}
