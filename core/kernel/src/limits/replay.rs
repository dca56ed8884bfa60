//! What bounds a replay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// How a session is replayed (PC7).
    ReplayLimits {
        /// Tokens of system prompt and tools where the transcript does not say.
        prelude_tokens: u64 = 15_000,
        /// Maximum tokens that count as system prompt and tools; a session whose first request has
        /// more was begun elsewhere.
        prelude_most_tokens: u64 = 60_000,
        /// Percentage of system prompt and tools that is read from the cache where all else is new
        /// and the transcript does not say.
        prelude_cached_percent: u64 = 60,
        /// Percentage by which estimates are corrected where the transcript does not say.
        factor_percent: u64 = 100,
        /// Tokens for which that percentage counts as evidence.
        factor_tokens: u64 = 2_000,
        /// Tokens of a summary that a model would write; its draft takes as many again.
        summary_tokens: u64 = 2_000,
        /// Tokens that a model writes to read something again that was taken out of view.
        call_tokens: u64 = 150,
        /// Tokens that a reviewer of a turn is told besides what was said in it.
        review_tokens: u64 = 3_000,
        /// Maximum tokens of what was said that a reviewer is told.
        review_most_tokens: u64 = 20_000,
        /// Minimum tokens of a turn for it to be reviewed.
        review_least_tokens: u64 = 6_000,
        /// Percentage of what a conversation costs that work in the background may cost.
        background_percent: u32 = 5,
        /// Input tokens over which the API clears results by its own default.
        api_trigger_tokens: u64 = 100_000,
        /// Newest results that the API keeps by its own default.
        api_keep_results: u64 = 3,
        /// Moments of a session that are explained.
        moments: usize = 10,
        /// Newest sessions of a directory that `everfold doctor` replays.
        doctor_sessions: usize = 5,
        /// Maximum bytes of a transcript that `everfold doctor` replays.
        doctor_bytes: u64 = 20_000_000,
        /// Minimum waste of a session to be named, in US cents.
        waste_cents: u32 = 50,
        /// Minimum waste of a session to be named, as a percentage of its cost.
        waste_percent: u32 = 25,
    }
}
