//! Every number that bounds something, with its default (Q3).
//!
//! Settings change them under `everfold.limits`, the environment as
//! `EVERFOLD_LIMIT_<NAME>`. A literal number in a layer is a defect: it belongs
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

mod economy;
mod hosts;
mod memory;
mod replay;
mod results;
mod rewind;
mod setups;
mod team;

pub use economy::EconomyLimits;
pub use hosts::BesideLimits;
pub use memory::{DreamLimits, ExtractLimits, PastLimits, RecallLimits};
pub use replay::ReplayLimits;
pub use results::{OffloadLimits, PruneLimits};
pub use rewind::RewindLimits;
pub use setups::{HookLimits, McpLimits, SkillLimits};
pub use team::{FleetLimits, TeamLimits};

limits! {
    /// The limits in force.
    Limits {
        /// Bytes of plain text in a token, before calibration.
        bytes_per_token_text: u64 = 4,
        /// Bytes of JSON in a token, before calibration.
        bytes_per_token_json: u64 = 2,
        /// Tokens of a picture or a document.
        image_tokens: u64 = 2_000,
        /// Window of an unknown model.
        default_window_tokens: u64 = 200_000,
        /// Window that the `[1m]` suffix and the 1M beta stand for.
        long_window_tokens: u64 = 1_000_000,
        /// Maximum tokens kept free for the answer.
        output_reserve_tokens: u64 = 20_000,
        /// Auto-compact runs this far below the effective window.
        auto_compact_buffer_tokens: u64 = 13_000,
        /// The warning comes this far below the auto-compact threshold.
        warning_buffer_tokens: u64 = 20_000,
        /// Without auto-compact, requests are refused this far below the effective window.
        refuse_buffer_tokens: u64 = 3_000,
        /// Windows under this many tokens keep shares of themselves free instead.
        small_window_tokens: u64 = 100_000,
        /// Percent of a small window kept free for the answer, at most.
        small_output_percent: u64 = 15,
        /// Percent of a small window between auto-compact and the effective window, at most.
        small_buffer_percent: u64 = 8,
        /// Percent of a small window between the warning and auto-compact, at most.
        small_warning_percent: u64 = 10,
        /// Percent of a small window for a summary, and for what the person said in it, at most.
        small_summary_percent: u64 = 20,
        /// Percent of a small window for files and skills that come back, at most.
        small_restored_percent: u64 = 15,
        /// `compact.user_message_percent` in a small window, at most.
        small_user_message_percent: u64 = 50,
        /// In a small window, a summary lists one dropped span for so many tokens of its room.
        small_span_tokens: u64 = 400,
        /// Windows under this many tokens get the lean prompt.
        lean_window_tokens: u64 = 32_000,
        /// Maximum output tokens of one request; the model's own limit caps it.
        max_output_tokens: u64 = 32_000,
        /// Tokens of thinking for models that think on a budget.
        thinking_budget_tokens: u64 = 8_000,
        /// How often a request is retried after a transient failure.
        max_retries: u32 = 10,
        /// How often a background request is retried.
        background_retries: u32 = 2,
        /// First wait before a retry, in milliseconds; it doubles each time.
        retry_base_ms: u64 = 500,
        /// Longest wait before a retry that the server did not ask for, in milliseconds.
        retry_max_ms: u64 = 8_000,
        /// Longest wait that a server may ask for, in seconds; beyond it the turn ends.
        retry_after_max_s: u64 = 120,
        /// How long a server that never answered is retried, in milliseconds.
        unreachable_ms: u64 = 4_000,
        /// No retry starts this long after the first attempt, in seconds.
        retry_total_s: u64 = 600,
        /// A stream silent for this long is cut, in seconds; comments are silence.
        stream_idle_s: u64 = 300,
        /// A stream of nothing but pings is cut after this long, in seconds.
        stream_ping_s: u64 = 1_800,
        /// How slowly a server of your own may read a prompt, in tokens a second: the start
        /// of its answer is waited for as long as the prompt takes at that pace.
        slowest_prompt_tokens_per_s: u64 = 10,
        /// Longest wait for a connection, in seconds.
        connect_timeout_s: u64 = 10,
        /// A wait for a server is reported after this long, in milliseconds, then less and less
        /// often.
        wait_notice_ms: u64 = 4_000,
        /// How long a server of your own is asked for its models at startup, in milliseconds.
        server_question_ms: u64 = 300,
        /// Largest event of a stream, in bytes.
        sse_event_bytes: u64 = 16 * 1024 * 1024,
        /// Stop a turn after this many model requests.
        turn_requests: u32 = 500,
        /// Longest wait for background work when a session ends, in seconds.
        drain_s: u64 = 60,
        /// Longest wait of a headless run for a session that is open elsewhere, in seconds.
        session_wait_s: u64 = 10,
        /// Maximum read-only tools at once.
        parallel_tools: usize = 10,
        /// Default timeout of a shell command, in milliseconds.
        shell_timeout_ms: u64 = 120_000,
        /// Longest timeout that a shell command may ask for, in milliseconds.
        shell_timeout_max_ms: u64 = 600_000,
        /// Maximum output of a shell command that is kept, in bytes; the rest is dropped from the
        /// middle.
        shell_output_bytes: u64 = 16 * 1024 * 1024,
        /// Lines that Read returns by default.
        read_lines: u64 = 2_000,
        /// Characters after which Read cuts off a line.
        read_line_chars: usize = 2_000,
        /// Maximum tokens of one Read.
        read_result_tokens: u64 = 25_000,
        /// Largest file that Read opens, in bytes.
        read_file_bytes: u64 = 256 * 1024 * 1024,
        /// Largest picture or PDF that Read gives to a model, in bytes.
        read_media_bytes: u64 = 5 * 1024 * 1024,
        /// Maximum files that one message may attach by mentioning them.
        mention_files: usize = 20,
        /// Maximum paths listed of a directory that a message mentions.
        mention_paths: usize = 200,
        /// Maximum paths that Glob returns.
        glob_paths: usize = 1_000,
        /// Maximum entries of a directory that are checked for files that
        /// may not be read, before a command goes through it.
        walked_entries: usize = 500_000,
        /// Lines that Grep returns by default.
        grep_lines: usize = 2_000,
        /// Largest file that Grep searches, in bytes.
        grep_file_bytes: u64 = 64 * 1024 * 1024,
        /// Maximum bytes of a page that WebFetch downloads.
        web_bytes: u64 = 10 * 1024 * 1024,
        /// Maximum characters of a page that a model is given.
        web_chars: usize = 100_000,
        /// Timeout of a page, in seconds.
        web_timeout_s: u64 = 30,
        /// Maximum web searches that a provider makes for one request.
        web_search_uses: u32 = 8,
        /// Seconds between two reads of the flag provider.
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
        /// Layer 6: consolidation.
        dream: DreamLimits = DreamLimits::default(),
        /// Memories that are brought in.
        recall: RecallLimits = RecallLimits::default(),
        /// Searching what was said before.
        past: PastLimits = PastLimits::default(),
        /// Instruction files.
        rules: RulesLimits = RulesLimits::default(),
        /// Skills and custom commands.
        skills: SkillLimits = SkillLimits::default(),
        /// Servers that bring tools.
        mcp: McpLimits = McpLimits::default(),
        /// Programs that are run at events.
        hooks: HookLimits = HookLimits::default(),
        /// What is weighed before it is spent.
        economy: EconomyLimits = EconomyLimits::default(),
        /// What counts as a cache break.
        breaks: BreakLimits = BreakLimits::default(),
        /// Beside other agents.
        beside: BesideLimits = BesideLimits::default(),
        /// Replaying sessions under other policies.
        replay: ReplayLimits = ReplayLimits::default(),
        /// Going back to an earlier point.
        rewind: RewindLimits = RewindLimits::default(),
        /// Layer 7: agents and their letters.
        agents: AgentLimits = AgentLimits::default(),
        /// What a team shares.
        team: TeamLimits = TeamLimits::default(),
        /// Agents on many machines.
        fleet: FleetLimits = FleetLimits::default(),
    }
}

limits! {
    /// Layer 3: when notes are kept, and what they may hold (L3).
    NotesLimits {
        /// Tokens of the conversation at which notes are first made.
        first_tokens: u64 = 10_000,
        /// Tokens by which it has to grow before they are updated.
        growth_tokens: u64 = 5_000,
        /// Tool calls since the last update that make one due in mid-turn.
        tool_calls: u64 = 3,
        /// Tokens of one section.
        section_tokens: u64 = 2_000,
        /// Tokens of the file.
        file_tokens: u64 = 12_000,
        /// Largest file, template or prompt that is read, in bytes.
        file_bytes: u64 = 1024 * 1024,
        /// Maximum model requests of one update.
        requests: u32 = 3,
        /// Timeout of an update, in seconds.
        update_s: u64 = 120,
        /// Longest wait of a compaction for a running update, in seconds.
        wait_s: u64 = 15,
        /// Tokens of the newest messages that stay beside the notes at least.
        keep_tokens: u64 = 10_000,
        /// Messages with text that stay beside the notes at least.
        keep_messages: u64 = 5,
        /// Tokens of messages that stay beside the notes at most.
        keep_most_tokens: u64 = 40_000,
    }
}

limits! {
    /// Layer 4: what a summary keeps and restores (L4).
    CompactLimits {
        /// Failures in a row after which automatic compaction stops.
        breaker_failures: u32 = 3,
        /// How often a compaction request that is itself too long is cut and retried.
        shrink_tries: u32 = 3,
        /// Percentage of the rounds dropped where the server names no gap.
        shrink_percent: u64 = 20,
        /// Maximum tokens of a summary.
        summary_tokens: u64 = 20_000,
        /// Maximum tokens of a summary by a model with a small window.
        lean_summary_tokens: u64 = 700,
        /// Recently read files that come back.
        restore_files: usize = 5,
        /// Tokens of each file that comes back.
        restore_file_tokens: u64 = 5_000,
        /// Tokens of all files that come back.
        restore_tokens: u64 = 50_000,
        /// Tokens of user messages that stay word for word.
        user_message_tokens: u64 = 20_000,
        /// Percent of them for one message word for word, where not all fit.
        user_message_percent: u64 = 100,
        /// Tokens of all pins.
        pin_tokens: u64 = 20_000,
        /// A compaction has to make the conversation smaller by this percentage.
        least_gain_percent: u64 = 20,
        /// Tokens of the last answer that a local summary repeats.
        last_answer_tokens: u64 = 2_000,
        /// Tokens of an earlier summary that a local summary repeats.
        earlier_summary_tokens: u64 = 8_000,
        /// Files, commands or errors of each kind that a local summary lists.
        list_items: usize = 40,
        /// Dropped spans that a summary lists by their ids.
        span_items: usize = 20,
        /// Characters of one line about a command, an error or a span.
        line_chars: usize = 200,
        /// Characters of an excerpt of a user message that does not stay whole.
        excerpt_chars: usize = 400,
        /// Newest rounds that are never collapsed.
        collapse_keep_rounds: usize = 4,
        /// Tokens that a span has to hold to be collapsed.
        collapse_span_tokens: u64 = 4_000,
        /// Tokens at which a span is long enough and the next one begins.
        collapse_span_most_tokens: u64 = 20_000,
        /// Maximum tokens of the summary of a collapsed span.
        collapse_summary_tokens: u64 = 500,
        /// Percentage of the effective window at which collapsed spans are committed.
        collapse_commit_percent: u64 = 90,
        /// Percentage of the effective window over which requests are refused while collapsing.
        collapse_refuse_percent: u64 = 95,
    }
}

limits! {
    /// What instruction files may be and pull in (I2 to I4).
    RulesLimits {
        /// How deep imports go.
        import_depth: usize = 5,
        /// Files that one chain may pull in by import.
        import_files: usize = 1_000,
        /// Largest instruction file that is read, in bytes.
        file_bytes: u64 = 4 * 1024 * 1024,
        /// Characters of an instruction file over which there is a warning.
        warn_chars: usize = 40_000,
        /// Percentage of the effective window that instruction files may take; longer ones are cut.
        window_percent: u64 = 50,
        /// Patterns that the braces of one rule's `paths` may expand to.
        brace_patterns: usize = 1_000,
        /// Bytes of all patterns that the braces of one rule's `paths` expand to.
        brace_bytes: usize = 4 * 1024 * 1024,
    }
}

limits! {
    /// When missing cache reads are reported as a break (PC6). Both have to be passed.
    BreakLimits {
        /// Expected tokens that may be missing.
        slack_tokens: u64 = 2_000,
        /// Percentage of the expected tokens that may be missing.
        slack_percent: u64 = 5,
    }
}

limits! {
    /// Layer 7: what agents may spend, and how letters travel (L7).
    AgentLimits {
        /// Maximum model requests of one agent, unless its definition sets them.
        requests: u32 = 200,
        /// Maximum tokens that one agent may use, cache reads aside; 0 is no limit.
        budget_tokens: u64 = 2_000_000,
        /// Maximum background agents at once.
        background: usize = 64,
        /// Timeout of a background agent, in seconds.
        deadline_s: u64 = 3_600,
        /// Longest wait for background agents when a session ends, in seconds.
        drain_s: u64 = 600,
        /// Largest file that defines an agent, in bytes.
        definition_bytes: u64 = 256 * 1024,
        /// Maximum files that define agents in one directory.
        definitions: usize = 200,
        /// Characters of a kind's description in the list of kinds.
        description_chars: usize = 400,
        /// Longest message between agents, in bytes.
        message_bytes: u64 = 256 * 1024,
        /// Seconds between two summaries of what an agent does.
        summary_s: u64 = 30,
        /// Newest messages from which the small model writes a summary.
        summary_messages: usize = 6,
        /// Characters of each of those messages.
        summary_chars: usize = 600,
        /// Maximum tokens of a summary.
        summary_tokens: u64 = 60,
        /// Milliseconds between two checks of a mailbox.
        mail_poll_ms: u64 = 1_000,
        /// Longest wait for a mailbox that another process uses, in milliseconds.
        mail_wait_ms: u64 = 10_000,
        /// Lines of an agent's memory index that are loaded.
        memory_lines: usize = 200,
        /// Bytes of an agent's memory index that are loaded.
        memory_bytes: usize = 25_000,
        /// Tokens of a plan that come back after a compaction.
        plan_tokens: u64 = 10_000,
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
