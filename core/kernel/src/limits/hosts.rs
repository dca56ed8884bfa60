//! Limits of what works beside other agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// What a hook of another agent takes in and gives back (X1).
    BesideLimits {
        /// UTF-16 units of text that a hook gives to its host; hosts cut at 10,000.
        context_units: usize = 9_900,
        /// Bytes of a message that are noted for what a host's model saves.
        prompt_bytes: usize = 4_096,
        /// Messages that such a memory can rest on.
        prompts: usize = 20,
        /// Bytes of input that are read.
        input_bytes: u64 = 64 * 1024 * 1024,
        /// Bytes at the end of a host's transcript that are read at once.
        transcript_bytes: u64 = 8 * 1024 * 1024,
        /// US cents from which a cache break in another agent is reported; 0 never reports it.
        break_cents: u64 = 25,
        /// Changes of memories that the start of a session names.
        changes: usize = 20,
        /// Characters of the person's words that are kept across a summary.
        kept_chars: usize = 4_000,
        /// Characters of one message of the person's that is kept across a summary.
        kept_message_chars: usize = 600,
        /// A message is lost when the summary has less of its words than this percentage.
        kept_percent: usize = 60,
        /// Milliseconds that one hook waits for another that keeps memories.
        lock_wait_ms: u64 = 5_000,
        /// Characters of a tool's result that a review sees of another agent's conversation.
        review_result_chars: usize = 600,
        /// Characters of another agent's conversation, the newest, that one review sees.
        review_chars: usize = 200_000,
        /// Milliseconds that a review waits for the newest answer, which hosts write late.
        answer_wait_ms: u64 = 2_000,
        /// Seconds that another agent's own program may take for a review.
        headless_s: u64 = 90,
        /// Reviews by another agent's own program in a day.
        headless_reviews: u64 = 40,
        /// Times in a session that a host's model is asked to save what was said.
        asks: u64 = 2,
        /// Seconds before a host's hook call is noted again.
        seen_every_s: u64 = 60,
        /// Timeout of a background worker, in seconds.
        worker_s: u64 = 120,
        /// Days after which a session's hook notes are removed.
        notes_days: u64 = 30,
    }
}
