//! The limits of each layer, and of what it works with.

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
        /// Caps by tool, over the ones above.
        tool_chars: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new(),
        /// Characters of all results of one message that stay.
        message_chars: u64 = 200_000,
        /// Bytes of the preview that stays.
        preview_bytes: u64 = 2_000,
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
        /// Tokens that the API has to clear at least; a smaller window lowers it.
        api_clear_tokens: u64 = 140_000,
        /// Turns of thinking that the API keeps; 0 keeps all.
        api_keep_thinking_turns: u64 = 1,
        /// Requests that are expected to follow where the session's own pace says nothing yet.
        expected_rounds: u64 = 10,
        /// A clearing has to save this percentage of what it costs.
        gain_percent: u64 = 110,
    }
}

limits! {
    /// Layer 3: when notes are kept, and what they may hold (L3).
    NotesLimits {
        /// Tokens of the conversation at which notes are first made.
        first_tokens: u64 = 10_000,
        /// Tokens by which it has to grow before they are brought up to date.
        growth_tokens: u64 = 5_000,
        /// Tool calls since the last update that make one due in mid-turn.
        tool_calls: u64 = 3,
        /// Tokens of one section.
        section_tokens: u64 = 2_000,
        /// Tokens of the file.
        file_tokens: u64 = 12_000,
        /// Largest file, template or prompt that is read, in bytes.
        file_bytes: u64 = 1024 * 1024,
        /// Most model requests of one update.
        requests: u32 = 3,
        /// Longest an update may take, in seconds.
        update_s: u64 = 120,
        /// Longest a compaction waits for an update that is running, in seconds.
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
        /// Failures in a row after which no more automatic tries are made.
        breaker_failures: u32 = 3,
        /// How often a compaction request that is itself too long is cut and tried again.
        shrink_tries: u32 = 3,
        /// Percentage of the rounds dropped where the server names no gap.
        shrink_percent: u64 = 20,
        /// Most tokens of a summary.
        summary_tokens: u64 = 20_000,
        /// Files read last that come back.
        restore_files: usize = 5,
        /// Tokens of each file that comes back.
        restore_file_tokens: u64 = 5_000,
        /// Tokens of all files that come back.
        restore_tokens: u64 = 50_000,
        /// Tokens of user messages that stay word for word.
        user_message_tokens: u64 = 20_000,
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
        /// Most tokens of the summary of a collapsed span.
        collapse_summary_tokens: u64 = 500,
        /// Percentage of the effective window at which collapsed spans are committed.
        collapse_commit_percent: u64 = 90,
        /// Percentage of the effective window over which requests are refused while collapsing.
        collapse_refuse_percent: u64 = 95,
    }
}

limits! {
    /// Layer 5: what is reviewed after a turn, and what earns its place (L5).
    ExtractLimits {
        /// A review takes place every so many turns.
        every_turns: u64 = 1,
        /// Most requests of one review.
        rounds: u32 = 5,
        /// Longest a review may take, in seconds.
        deadline_s: u64 = 600,
        /// Largest memory that is written without a person, in bytes: what recall shows of one.
        file_bytes: usize = 4_096,
        /// Percentage of a memory's words that somebody has to have said.
        evidence_percent: u64 = 25,
        /// Percentage of a memory's words that the person has to have said for it to count as stated.
        stated_percent: u64 = 50,
        /// Percentage of a memory's words that only strangers said, from which on it rests on them.
        stranger_percent: u64 = 34,
        /// Percentage of a memory that instruction files may say already.
        instruction_percent: u64 = 60,
        /// Percentage of a memory's words that may be paths.
        path_percent: u64 = 15,
        /// Most lines of code in a memory.
        code_lines: usize = 5,
        /// Messages that a memory names as its source.
        source_messages: usize = 5,
        /// Longest sentence that is kept by rule, in characters.
        rule_chars: usize = 400,
        /// Most memories that rules keep after one turn.
        rule_memories: usize = 5,
    }
}

limits! {
    /// Which memories are brought in, and how much of them (R2 to R5).
    RecallLimits {
        /// Files that are looked at for the manifest.
        scan_files: usize = 10_000,
        /// Files that the manifest lists.
        manifest_files: usize = 200,
        /// Lines at the start of a file in which its frontmatter is looked for.
        head_lines: usize = 30,
        /// Memories brought in for one message.
        selected: usize = 5,
        /// Tokens of the answer of the model that selects.
        answer_tokens: u64 = 256,
        /// Milliseconds after which that model is late, and the local ranker serves.
        wait_ms: u64 = 10_000,
        /// Messages back to which tools count as in use.
        tool_messages: usize = 10,
        /// Lines of one memory that are shown.
        file_lines: usize = 200,
        /// Bytes of one memory that are shown.
        file_bytes: usize = 4_096,
        /// Bytes of all memories of a session.
        session_bytes: usize = 61_440,
        /// Percentage of a memory's own words in an answer from which on it was of use.
        used_percent: usize = 25,
        /// Own words of a memory that are enough for that in any case.
        used_words: usize = 4,
    }
}

limits! {
    /// Searching what was said before (R10).
    PastLimits {
        /// Places that a search gives where none are asked for.
        places: usize = 10,
        /// Most places of one search by a model.
        most_places: usize = 50,
        /// Characters of each place.
        excerpt_chars: usize = 300,
        /// Largest spilled result that other agents are given, in bytes.
        result_bytes: u64 = 16 * 1024 * 1024,
        /// Characters of a message or a result that other agents are given at once.
        page_chars: usize = 20_000,
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
        /// Patterns that the braces of one rule's `paths` may expand to.
        brace_patterns: usize = 1_000,
        /// Bytes of all patterns that the braces of one rule's `paths` expand to.
        brace_bytes: usize = 4 * 1024 * 1024,
    }
}

limits! {
    /// How long hooks may take, and how much they may say (Q7).
    HookLimits {
        /// Seconds that a handler may take where it names no time.
        timeout_s: u64 = 600,
        /// Seconds that one may take before a person's message goes on.
        prompt_timeout_s: u64 = 30,
        /// Milliseconds that all handlers together have when a session ends.
        session_end_ms: u64 = 1_500,
        /// Characters of one text of a handler; what is longer goes to a file.
        output_chars: usize = 10_000,
        /// Bytes of a handler's output that are read.
        output_bytes: u64 = 1024 * 1024,
        /// How often in a row the model is kept at work by a hook when it would stop.
        stop_blocks: u32 = 8,
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
        /// Most model requests of one agent, where its definition names none.
        requests: u32 = 200,
        /// Most tokens that one agent may use, cache reads aside; 0 is no limit.
        budget_tokens: u64 = 2_000_000,
        /// Most background agents at once.
        background: usize = 64,
        /// Longest a background agent may run, in seconds.
        deadline_s: u64 = 3_600,
        /// Longest that background agents are waited for when a session ends, in seconds.
        drain_s: u64 = 600,
        /// Largest file that defines an agent, in bytes.
        definition_bytes: u64 = 256 * 1024,
        /// Most files that define agents in one directory.
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
        /// Most tokens of a summary.
        summary_tokens: u64 = 60,
        /// Milliseconds between two looks into a mailbox.
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
