//! What work in the background may spend (L5.27).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What recall, extraction, notes, dreams and summaries of agents may spend
/// beside the conversation. Over it they do without a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BudgetSettings {
    /// Maximum tokens a day, all sessions together. What was read from the prompt cache does not
    /// count here, only in dollars.
    pub daily_tokens: u64,
    /// Maximum dollars a day, all sessions together.
    pub daily_usd: f64,
    /// Maximum tokens of one session, counted the same way.
    pub session_tokens: u64,
    /// Maximum dollars of one session.
    pub session_usd: f64,
    /// Maximum cost of background work, as a share of what the conversations of a day cost; 0 is no
    /// limit.
    pub background_share: f64,
    /// Dollars a day below which that share does not apply.
    pub background_floor_usd: f64,
    /// Dollars that summaries and repeated requests of one turn may cost before
    /// the person is asked; a run without a person ends there. 0 is no limit.
    pub turn_ceiling_usd: f64,
    /// No background requests while less than this percentage of
    /// the provider's rate limit is left.
    pub rate_limit_percent: u64,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self {
            daily_tokens: 10_000_000,
            daily_usd: 10.0,
            session_tokens: 3_000_000,
            session_usd: 3.0,
            background_share: 0.05,
            background_floor_usd: 0.01,
            turn_ceiling_usd: 5.0,
            rate_limit_percent: 10,
        }
    }
}
