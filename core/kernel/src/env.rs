//! Every environment variable that Everfold reads, in one place (C5).
//!
//! Only the apps read the environment; everything below them is handed values.

/// The home directory of Everfold; `~/.everfold` where unset.
pub const HOME: &str = "EVERFOLD_HOME";
/// Which kind of provider: `anthropic`, `openai` or `offline`.
pub const PROVIDER: &str = "EVERFOLD_PROVIDER";
/// The model of the conversation.
pub const MODEL: &str = "EVERFOLD_MODEL";
/// The model of side queries.
pub const SMALL_MODEL: &str = "EVERFOLD_SMALL_MODEL";
/// The memory directory, whole path.
pub const MEMORY_DIR: &str = "EVERFOLD_MEMORY_DIR";
/// `1` turns auto memory off.
pub const DISABLE_AUTO_MEMORY: &str = "EVERFOLD_DISABLE_AUTO_MEMORY";
/// `1` is remote mode.
pub const REMOTE: &str = "EVERFOLD_REMOTE";
/// The memory directory of remote mode.
pub const REMOTE_MEMORY_DIR: &str = "EVERFOLD_REMOTE_MEMORY_DIR";
/// Text appended to the memory section of the system prompt.
pub const MEMORY_EXTRA_GUIDELINES: &str = "EVERFOLD_MEMORY_EXTRA_GUIDELINES";
/// What the name of every flag's variable starts with.
pub const FLAG_PREFIX: &str = "EVERFOLD_FLAG_";
/// What the name of every limit's variable starts with, such as
/// `EVERFOLD_LIMIT_MAX_RETRIES` or `EVERFOLD_LIMIT_OFFLOAD_PREVIEW_BYTES`.
pub const LIMIT_PREFIX: &str = "EVERFOLD_LIMIT_";
/// Which log lines go to the log file, as a `tracing` filter.
pub const LOG: &str = "EVERFOLD_LOG";
/// Tokens of the window of a model that the table does not know (T3).
pub const CONTEXT_WINDOW: &str = "EVERFOLD_CONTEXT_WINDOW";
/// Compact as if the window were this large (T5).
pub const AUTO_COMPACT_WINDOW: &str = "EVERFOLD_AUTO_COMPACT_WINDOW";
/// Compact at this percentage of the effective window (T5).
pub const AUTO_COMPACT_PERCENT: &str = "EVERFOLD_AUTO_COMPACT_PERCENT";

/// Set for hooks and servers, not read: the directory of the project.
pub const HOOK_PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
/// Set for hooks at the start of a session, not read: a file to which they
/// append `export` lines for the shell commands to come.
pub const HOOK_ENV_FILE: &str = "CLAUDE_ENV_FILE";

/// Key for the Anthropic API, sent as `x-api-key`.
pub const ANTHROPIC_API_KEY: &str = "ANTHROPIC_API_KEY";
/// Token for the Anthropic API, sent as `Authorization: Bearer`.
pub const ANTHROPIC_AUTH_TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
/// Where the Anthropic API is.
pub const ANTHROPIC_BASE_URL: &str = "ANTHROPIC_BASE_URL";
/// Extra headers, one `Name: Value` a line.
pub const ANTHROPIC_CUSTOM_HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";
/// Extra betas, comma-separated.
pub const ANTHROPIC_BETAS: &str = "ANTHROPIC_BETAS";
/// Key for an OpenAI-compatible server.
pub const OPENAI_API_KEY: &str = "OPENAI_API_KEY";
/// Where an OpenAI-compatible server is.
pub const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";

/// Set where a program of another agent is run to review what was said in it: a
/// hook of ours that sees it keeps still (X7).
pub const INSIDE: &str = "EVERFOLD_INSIDE";

/// Where Claude Code keeps its files; `~/.claude` where unset. It never sets
/// our home; it tells whether a directory is shared with it.
pub const CLAUDE_CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// Names of Claude Code that are honoured where ours is unset: (theirs, ours).
pub const ALIASES: &[(&str, &str)] = &[
    ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", DISABLE_AUTO_MEMORY),
    ("CLAUDE_CODE_REMOTE", REMOTE),
    ("CLAUDE_CODE_REMOTE_MEMORY_DIR", REMOTE_MEMORY_DIR),
    ("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE", MEMORY_DIR),
    ("CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES", MEMORY_EXTRA_GUIDELINES),
    ("CLAUDE_CODE_AUTO_COMPACT_WINDOW", AUTO_COMPACT_WINDOW),
    ("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", AUTO_COMPACT_PERCENT),
    ("CLAUDE_CODE_MAX_CONTEXT_TOKENS", CONTEXT_WINDOW),
    ("CLAUDE_CODE_MAX_RETRIES", "EVERFOLD_LIMIT_MAX_RETRIES"),
    ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "EVERFOLD_LIMIT_MAX_OUTPUT_TOKENS"),
    ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "EVERFOLD_LIMIT_HOOKS_STOP_BLOCKS"),
    ("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "EVERFOLD_LIMIT_HOOKS_SESSION_END_MS"),
    ("MAX_MCP_OUTPUT_TOKENS", "EVERFOLD_LIMIT_OFFLOAD_MCP_TOKENS"),
    ("MCP_TIMEOUT", "EVERFOLD_LIMIT_MCP_START_MS"),
    ("MCP_TOOL_TIMEOUT", "EVERFOLD_LIMIT_MCP_CALL_MS"),
    ("BASH_MAX_OUTPUT_LENGTH", "EVERFOLD_LIMIT_OFFLOAD_BASH_CHARS"),
    ("CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS", "EVERFOLD_LIMIT_READ_RESULT_TOKENS"),
];

/// Claude Code's name for what `--bare` does (any value but `0` or empty).
pub const SIMPLE: &str = "CLAUDE_CODE_SIMPLE";

/// Claude Code's names that turn auto-compact off (any value but `0` or empty).
pub const DISABLE_AUTO_COMPACT: &[&str] = &["DISABLE_AUTO_COMPACT", "DISABLE_COMPACT"];
