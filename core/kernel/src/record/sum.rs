//! The sums by which something was done or left (E1), as the log keeps them.

use crate::models::Usd;
use crate::usage::QuerySource;
use serde::{Deserialize, Serialize};

/// The sum by which a clearing was decided (L2.7).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClearingSum {
    /// Whether the prefix was still cached.
    pub cache: CacheState,
    /// Tokens that go.
    pub cleared_tokens: u64,
    /// Tokens that have to be written to the cache again.
    pub rewritten_tokens: u64,
    /// Requests that are expected to follow.
    pub rounds: f64,
    pub saves: Usd,
    pub costs: Usd,
}

/// Whether the server still has the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    Warm,
    /// It has not: everything is paid for again anyway.
    Cold,
}

/// What an act was taken to cost, and to save or bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ActSum {
    pub source: QuerySource,
    /// What was to be done.
    pub act: String,
    /// Whether the prefix was still cached.
    pub cache: CacheState,
    /// What it costs, term by term.
    #[serde(default)]
    pub costs: Vec<SumTerm>,
    /// What it saves or brings.
    #[serde(default)]
    pub saves: Vec<SumTerm>,
    pub verdict: SumVerdict,
}

impl ActSum {
    #[must_use]
    pub fn cost(&self) -> Usd {
        total(&self.costs)
    }

    /// What it saves or brings in all.
    #[must_use]
    pub fn saving(&self) -> Usd {
        total(&self.saves)
    }
}

fn total(terms: &[SumTerm]) -> Usd {
    Usd(terms.iter().map(|term| term.usd.0).sum())
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SumTerm {
    /// What it stands for.
    pub what: String,
    /// Tokens that it is about.
    pub tokens: u64,
    /// Dollars.
    pub usd: Usd,
}

/// What was decided by a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SumVerdict {
    Done,
    Left,
}
