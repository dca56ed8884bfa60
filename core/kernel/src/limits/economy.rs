//! The numbers of what is weighed before it is spent (E).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// What is expected of requests, and from when on something is worth its price (E1).
    EconomyLimits {
        /// Tokens that came since the last request, from which on a summary is asked of the cached prefix alone.
        jump_tokens: u64 = 20_000,
        /// A view that is full again within this many requests of a summary has refilled.
        refill_rounds: u32 = 3,
        /// Refills in one turn after which no more summaries are made in it.
        refills: u32 = 2,
        /// Characters of a result that repeats an earlier call, once no more summaries are made.
        excerpt_chars: usize = 8_000,
        /// Windows over this many tokens are large: notes and summaries are made where they pay.
        large_window_tokens: u64 = 400_000,
        /// Percentage of its cost that a summary between turns has to save.
        carry_gain_percent: u64 = 150,
        /// Maximum loss if the session ends right after it, as a percentage of what the session has
        /// cost.
        carry_loss_percent: u64 = 1,
        /// Percentage of what a summary drops that is expected to be needed again.
        regret_percent: u64 = 10,
        /// Dropped tokens for which that expectation counts as evidence.
        regret_prior_tokens: u64 = 100_000,
        /// Maximum turns that a session is expected to continue.
        turns_ahead: u64 = 10,
        /// Seconds before the cache expires at which a pause is considered.
        pause_margin_s: u64 = 20,
        /// Seconds that a summary between turns may take.
        summary_s: u64 = 300,
        /// Tokens that a model writes for a summary, draft included.
        summary_output_tokens: u64 = 4_000,
        /// Tokens in view after a summary, besides system prompt and tools.
        summary_view_tokens: u64 = 15_000,
        /// Maximum tokens of the last turn kept word for word by a summary between turns.
        kept_turn_tokens: u64 = 50_000,
        /// Tokens below the threshold at which a compaction is in sight.
        sight_tokens: u64 = 30_000,
        /// Tokens that a model writes to update the notes.
        notes_output_tokens: u64 = 2_000,
        /// Notes may cost this percentage of the summary that they save.
        notes_cost_percent: u64 = 120,
        /// Maximum characters of new messages that one review by the small model is shown.
        review_chars: usize = 60_000,
        /// Maximum tokens of its answer.
        review_answer_tokens: u64 = 2_000,
        /// Tokens that it is expected to write.
        review_output_tokens: u64 = 300,
        /// Pauses as which the time to live in use counts.
        pace_pauses: u64 = 3,
    }
}
