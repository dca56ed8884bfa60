//! What bounds what people set up: skills, servers, hooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// How much of skills is shown (Q5, L4.5).
    SkillLimits {
        /// Characters of the list that the model is shown.
        listing_chars: usize = 8_000,
        /// Characters of one description in it.
        description_chars: usize = 1_536,
        /// Largest file of a skill, in bytes.
        file_bytes: u64 = 1024 * 1024,
        /// Maximum skills of one directory.
        per_directory: usize = 500,
        /// Tokens of each skill that comes back after a compaction.
        restore_each_tokens: u64 = 5_000,
        /// Tokens of all skills that come back.
        restore_tokens: u64 = 25_000,
    }
}

limits! {
    /// What servers that bring tools may take (CONTRACTS 5).
    McpLimits {
        /// Milliseconds that a server has to answer its first message.
        start_ms: u64 = 30_000,
        /// Milliseconds that the first message of a session waits for servers.
        first_wait_ms: u64 = 5_000,
        /// Default timeout of a call, in milliseconds.
        call_ms: u64 = 600_000,
        /// Characters of a description or of instructions that are shown.
        text_chars: usize = 2_048,
        /// Maximum tools of one server that are used.
        tools: usize = 1_000,
        /// Tools whose schemas are given at once.
        found_tools: usize = 10,
        /// Largest answer of a server, in bytes.
        result_bytes: usize = 16 * 1024 * 1024,
        /// Maximum resources that are listed at once.
        resources: usize = 200,
        /// Maximum resources that one message may attach by mentioning them.
        mentions: usize = 5,
        /// Maximum prompts of one server that are used.
        prompts: usize = 200,
        /// Timeout of a command that prints headers, in milliseconds.
        headers_ms: u64 = 10_000,
        /// How often in a row a server that died is restarted.
        restarts: u32 = 3,
    }
}

limits! {
    /// How long hooks may take, and how much they may say (Q7).
    HookLimits {
        /// Default timeout of a handler, in seconds.
        timeout_s: u64 = 600,
        /// Seconds that one may take before a person's message goes on.
        prompt_timeout_s: u64 = 30,
        /// Seconds that a model may take to judge.
        judge_timeout_s: u64 = 30,
        /// Seconds that an agent may take to judge.
        agent_timeout_s: u64 = 60,
        /// Maximum tokens of a model's judgement.
        judge_tokens: u64 = 1_024,
        /// Maximum requests of an agent that judges.
        agent_requests: u32 = 20,
        /// Milliseconds that all handlers together have when a session ends.
        session_end_ms: u64 = 1_500,
        /// Characters of one text of a handler; what is longer goes to a file.
        output_chars: usize = 10_000,
        /// Bytes of a handler's output that are read.
        output_bytes: u64 = 1024 * 1024,
        /// How often in a row a hook may keep the model at work when it would stop.
        stop_blocks: u32 = 8,
    }
}
