//! Every number that bounds something, with its default (Q3).
//!
//! Settings change them under `mnemon.limits`, the environment as
//! `MNEMON_LIMIT_<NAME>`. A literal number in a layer is a defect: it belongs
//! here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! limits {
    ($(#[$doc:meta])* $struct:ident { $($(#[$field_doc:meta])* $name:ident : $type:ty = $default:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        pub struct $struct { $($(#[$field_doc])* pub $name: $type),+ }

        impl Default for $struct {
            fn default() -> Self {
                Self { $($name: $default),+ }
            }
        }
    };
}

mod beside;
mod layers;

pub use beside::BesideLimits;
pub use layers::{
    AgentLimits, BreakLimits, CompactLimits, ExtractLimits, HookLimits, NotesLimits, OffloadLimits,
    PastLimits, PruneLimits, RecallLimits, RulesLimits,
};

limits! {
    /// The limits in force.
    Limits {
        /// Bytes of plain text in a token, before calibration.
        bytes_per_token_text: u64 = 4,
        /// Bytes of JSON in a token, before calibration.
        bytes_per_token_json: u64 = 2,
        /// Tokens of a picture or a document.
        image_tokens: u64 = 2_000,
        /// Window of a model that nothing is known of.
        default_window_tokens: u64 = 200_000,
        /// Window that the `[1m]` suffix and the 1M beta stand for.
        long_window_tokens: u64 = 1_000_000,
        /// Most tokens kept free for the answer.
        output_reserve_tokens: u64 = 20_000,
        /// Auto-compact runs this far below the effective window.
        auto_compact_buffer_tokens: u64 = 13_000,
        /// The warning comes this far below the auto-compact threshold.
        warning_buffer_tokens: u64 = 20_000,
        /// Without auto-compact, requests are refused this far below the effective window.
        refuse_buffer_tokens: u64 = 3_000,
        /// Most output tokens asked for in one request; the model's own limit caps it.
        max_output_tokens: u64 = 32_000,
        /// Tokens of thinking for models that think on a budget.
        thinking_budget_tokens: u64 = 8_000,
        /// How often one request is tried again after a failure that may pass.
        max_retries: u32 = 10,
        /// First wait before a retry, in milliseconds; it doubles each time.
        retry_base_ms: u64 = 500,
        /// Longest wait before a retry that the server did not ask for, in milliseconds.
        retry_max_ms: u64 = 8_000,
        /// Longest wait that a server may ask for, in seconds; beyond it the turn ends.
        retry_after_max_s: u64 = 120,
        /// A stream silent for this long is cut, in seconds.
        stream_idle_s: u64 = 300,
        /// Longest wait for a connection, in seconds.
        connect_timeout_s: u64 = 30,
        /// Largest event of a stream, in bytes.
        sse_event_bytes: u64 = 16 * 1024 * 1024,
        /// Most model requests of one turn.
        turn_requests: u32 = 500,
        /// Longest wait for background work when a session ends, in seconds.
        drain_s: u64 = 60,
        /// Most read-only tools at once.
        parallel_tools: usize = 10,
        /// Longest a shell command runs where it names no time, in milliseconds.
        shell_timeout_ms: u64 = 120_000,
        /// Longest a shell command may ask for, in milliseconds.
        shell_timeout_max_ms: u64 = 600_000,
        /// Most output of a shell command that is kept, in bytes; the rest is dropped from the middle.
        shell_output_bytes: u64 = 16 * 1024 * 1024,
        /// Lines that Read gives where none are asked for.
        read_lines: u64 = 2_000,
        /// Characters after which Read cuts a line.
        read_line_chars: usize = 2_000,
        /// Most tokens of one Read.
        read_result_tokens: u64 = 25_000,
        /// Largest file that Read opens, in bytes.
        read_file_bytes: u64 = 256 * 1024 * 1024,
        /// Largest picture or PDF that Read gives to a model, in bytes.
        read_media_bytes: u64 = 5 * 1024 * 1024,
        /// Most paths that Glob gives.
        glob_paths: usize = 1_000,
        /// Most lines that Grep gives where none are asked for.
        grep_lines: usize = 2_000,
        /// Largest file that Grep looks into, in bytes.
        grep_file_bytes: u64 = 64 * 1024 * 1024,
        /// Most bytes of a page that WebFetch downloads.
        web_bytes: u64 = 10 * 1024 * 1024,
        /// Most characters of a page that a model is given.
        web_chars: usize = 100_000,
        /// Longest a page may take, in seconds.
        web_timeout_s: u64 = 30,
        /// Seconds between two looks at the flag provider.
        flag_poll_s: u64 = 60,
        /// Longest line of a transcript that is read, in bytes.
        transcript_line_bytes: u64 = 256 * 1024 * 1024,
        /// Layer 1: big tool results.
        offload: OffloadLimits = OffloadLimits::default(),
        /// Layer 2: stale tool results.
        prune: PruneLimits = PruneLimits::default(),
        /// Layer 3: running notes.
        notes: NotesLimits = NotesLimits::default(),
        /// Layer 4: summaries.
        compact: CompactLimits = CompactLimits::default(),
        /// Layer 5: memories after a turn.
        extract: ExtractLimits = ExtractLimits::default(),
        /// Memories that are brought in.
        recall: RecallLimits = RecallLimits::default(),
        /// Searching what was said before.
        past: PastLimits = PastLimits::default(),
        /// Instruction files.
        rules: RulesLimits = RulesLimits::default(),
        /// Programs that are run at events.
        hooks: HookLimits = HookLimits::default(),
        /// What counts as a cache break.
        breaks: BreakLimits = BreakLimits::default(),
        /// Beside other agents.
        beside: BesideLimits = BesideLimits::default(),
        /// Layer 7: agents and their letters.
        agents: AgentLimits = AgentLimits::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q3_one_limit_can_be_set_alone() {
        let limits: Limits = serde_json::from_str(r#"{"max_retries": 2}"#).unwrap();
        assert_eq!(limits.max_retries, 2);
        assert_eq!(limits.image_tokens, Limits::default().image_tokens);
    }
}
