//! What was said in earlier conversations.

use super::{BoxFuture, SearchError};
use crate::ids::{RecordId, SessionId};
use jiff::Timestamp;
use std::path::PathBuf;

/// Searching transcripts, which are never read whole (R10).
pub trait PastSearch: Send + Sync {
    /// What has all the words of a query, newest first.
    fn search(&self, query: PastQuery) -> BoxFuture<'_, Result<PastFound, SearchError>>;
}

/// A search in earlier conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastQuery {
    /// Words, and phrases in double quotes. All have to be there.
    pub words: String,
    /// Most places to give.
    pub most: usize,
    /// Characters of each.
    pub excerpt_chars: usize,
    /// A session to leave out: the one that asks.
    pub except: Option<SessionId>,
}

/// A place where the words stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastHit {
    pub session: SessionId,
    /// The record, by which the rest of it is found.
    pub record: RecordId,
    /// When it was said.
    pub at: Timestamp,
    /// Who said it: `person`, `assistant`, `tool`, `summary`.
    pub who: String,
    /// The words and what stands around them.
    pub excerpt: String,
    pub path: PathBuf,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastFound {
    /// Places, newest first.
    pub hits: Vec<PastHit>,
    /// Further lines that may have the words.
    pub more: usize,
    /// Transcripts that were looked at.
    pub sessions: usize,
    /// Transcripts that could not be read.
    pub unreadable: Vec<PathBuf>,
}
