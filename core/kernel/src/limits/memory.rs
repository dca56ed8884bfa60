//! The limits of what is remembered: bringing memories in, searching what was
//! said, consolidating.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

limits! {
    /// Layer 5: what is reviewed after a turn, and what earns its place (L5).
    ExtractLimits {
        /// Review every this many turns.
        every_turns: u64 = 1,
        /// Maximum requests of one review.
        rounds: u32 = 5,
        /// Timeout of a review, in seconds.
        deadline_s: u64 = 600,
        /// Largest memory that is written without a person, in bytes: what recall shows of one.
        file_bytes: usize = 4_096,
        /// Percentage of a memory's words that somebody has to have said.
        evidence_percent: u64 = 25,
        /// Percentage of a memory's words that the person has to have said for it to count as stated.
        stated_percent: u64 = 50,
        /// Percentage of a memory's words that only strangers said, from which on it rests on them.
        stranger_percent: u64 = 34,
        /// Percentage of a memory that instruction files may already say.
        instruction_percent: u64 = 60,
        /// Percentage of a memory's words that may be paths.
        path_percent: u64 = 15,
        /// Maximum lines of code in a memory.
        code_lines: usize = 5,
        /// Messages that a memory names as its source.
        source_messages: usize = 5,
        /// Memories of each tier that a new one is compared with.
        near_memories: usize = 12,
        /// Longest sentence that is kept by rule, in characters.
        rule_chars: usize = 400,
        /// Maximum memories that rules keep after one turn.
        rule_memories: usize = 5,
        /// Maximum sentences that a weak model is asked about in one review.
        picked_sentences: usize = 16,
        /// Maximum proposals in an inbox; the oldest make room.
        inbox_entries: usize = 50,
        /// Days after which a proposal expires.
        inbox_days: i64 = 30,
    }
}

limits! {
    /// Layer 6: when memories are consolidated, and what a dream may do (L6).
    DreamLimits {
        /// Hours between two dreams.
        hours: i64 = 24,
        /// Minutes between two checks for sessions that were used.
        scan_minutes: i64 = 10,
        /// Sessions that have to be used since the last dream.
        sessions: usize = 5,
        /// Longest dream, in minutes.
        minutes: u64 = 55,
        /// Maximum model requests of one dream.
        requests: u32 = 60,
        /// A dream starts afresh where the session fills more than this percentage of the window.
        fresh_percent: u64 = 50,
        /// Maximum percentage of the memories that a dream may remove.
        delete_percent: u64 = 30,
        /// Lines of the index that are fixed after an agent's dream; with more faults it is
        /// discarded.
        mend_lines: usize = 10,
        /// Largest memory that a dream may write, in bytes.
        memory_bytes: usize = 65_536,
        /// Bytes by which all memories together may grow in one dream.
        growth_bytes: usize = 262_144,
        /// Percentage of new words in a line from which on it waits for review.
        novel_percent: usize = 40,
        /// Findings of each kind that are handed to a dream.
        findings: usize = 40,
        /// Bytes of a project that are searched for names in code.
        lookup_bytes: u64 = 256 * 1024 * 1024,
        /// Maximum pairs of memories that a weak model is asked about in one dream.
        weak_pairs: usize = 12,
        /// How often a result is merged again because the store changed meanwhile.
        merge_tries: u32 = 8,
    }
}

limits! {
    /// Which memories are brought in, and how much of them (R2 to R5).
    RecallLimits {
        /// Files that are read for the manifest.
        scan_files: usize = 10_000,
        /// Files that the manifest lists.
        manifest_files: usize = 200,
        /// Lines at the start of a file in which its frontmatter is looked for.
        head_lines: usize = 30,
        /// Memories that the side query brings in for one message.
        selected: usize = 5,
        /// Memories that the local ranker brings in with their bodies.
        bodies: usize = 3,
        /// Memories that it names in a line.
        lines: usize = 3,
        /// Bytes of all lines for one message.
        line_bytes: usize = 400,
        /// Tokens of the answer of the model that selects.
        answer_tokens: u64 = 256,
        /// Milliseconds after which that model is late, and the local ranker decides.
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
        /// Milliseconds for which a prompt waits while memories are read that never were;
        /// the others are read in the background.
        look_ms: u64 = 20,
        /// Milliseconds for which `everfold recall` waits for vectors of memories that have none.
        vectors_ms: u64 = 3_000,
        /// Percentage of side queries whose answer helps, where the ranker is unsure.
        helps_percent: u64 = 30,
        /// Tokens of an answer that a memory saves when it helps: a round of looking it up.
        saved_tokens: u64 = 500,
        /// Tokens of a memory's line in the manifest.
        line_tokens: u64 = 40,
        /// Failures for which memories are looked up before the next request.
        failures: usize = 3,
        /// Bytes of a failure that are read: half from its start, half from its end.
        failure_bytes: usize = 8_192,
    }
}

limits! {
    /// Searching what was said before (R10).
    PastLimits {
        /// Places that a search returns by default.
        places: usize = 10,
        /// Maximum places of one search by a model.
        most_places: usize = 50,
        /// Characters of each place.
        excerpt_chars: usize = 300,
        /// Largest spilled result that other agents are given, in bytes.
        result_bytes: u64 = 16 * 1024 * 1024,
        /// Characters of a message or a result that other agents are given at once.
        page_chars: usize = 20_000,
    }
}
