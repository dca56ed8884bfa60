//! The numbers of what stays of tool results (L1, L2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// Layer 1: what goes to disk (L1).
    OffloadLimits {
        /// Characters of a shell command's output that stay.
        bash_chars: u64 = 30_000,
        /// Characters of a Grep that stay.
        grep_chars: u64 = 20_000,
        /// Characters of any other tool's result that stay; no tool's own cap is above it.
        default_chars: u64 = 50_000,
        /// Tokens of the result of a server's tool that stay, where that is less.
        mcp_tokens: u64 = 25_000,
        /// Characters that count as a token for that.
        mcp_token_chars: u64 = 4,
        /// Caps by tool, over the ones above.
        tool_chars: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new(),
        /// Characters of all results of one message that stay.
        message_chars: u64 = 200_000,
        /// Bytes of the preview that stays.
        preview_bytes: u64 = 2_000,
        /// Characters shown of a message, or of a paste in it, that fits in no request.
        paste_preview_chars: u64 = 4_000,
        /// Characters that the tool for spilled results brings back at once.
        recall_chars: u64 = 20_000,
    }
}

limits! {
    /// Layer 2: what is cleared (L2).
    PruneLimits {
        /// Minutes since the last answer after which the cache is taken for cold.
        idle_minutes: u64 = 60,
        /// Newest results that stay, by time.
        keep_results: u64 = 5,
        /// Results that may be live before cache edits are sent.
        edit_live_results: u64 = 20,
        /// Newest results that stay, by cache edit.
        edit_keep_results: u64 = 5,
        /// Results over this many characters can be brought back by their id.
        restorable_chars: u64 = 1_000,
        /// Input tokens at which the API clears; a smaller window lowers it.
        api_trigger_tokens: u64 = 180_000,
        /// Minimum tokens that the API has to clear; a smaller window lowers it.
        api_clear_tokens: u64 = 140_000,
        /// Turns of thinking that the API keeps; 0 keeps all.
        api_keep_thinking_turns: u64 = 1,
        /// Requests that are expected to follow before the session's own pace is known.
        expected_rounds: u64 = 10,
        /// A clearing has to save this percentage of what it costs.
        gain_percent: u64 = 110,
        /// Maximum cost of a clearing, as a percentage of what the conversation has cost so far.
        loss_percent: u64 = 1,
        /// Percentage of cleared results that the model is expected to ask for again.
        ask_again_percent: u64 = 3,
        /// The same for answers to questions that came up more than once.
        ask_repeated_percent: u64 = 40,
        /// The same for recent results.
        ask_recent_percent: u64 = 80,
        /// Newest results that count as recent.
        recent_results: u64 = 25,
    }
}
