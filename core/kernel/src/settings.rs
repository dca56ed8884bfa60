//! The settings that a person or an administrator can write (C4, C6).
//!
//! Names that Claude Code users know stay at the top level; everything else
//! is under `everfold`. This struct is the list: the JSON schema and the
//! reference page are generated from it. Reading files, merging and keeping
//! track of origins is `everfold-settings`' business.

use crate::flags::Flags;
use crate::limits::Limits;
use crate::models::{ModelOverride, Prices, Thinking};
use crate::record::CacheTtl;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

mod budget;
mod compact;
mod fleet;
mod memory;
mod provider;
mod reviewer;
mod terminal;

pub use budget::BudgetSettings;
pub use compact::{CompactEconomy, CompactSettings, NotesUse};
pub use fleet::FleetSettings;
pub use memory::{IndexUse, MemorySettings};
pub use provider::{Provider, ProviderKind};
pub use reviewer::{HostReviewer, Reviewer};
pub use terminal::{Bell, TerminalSettings};

/// The merged settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    /// The model of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Variables for the programs that tools run. Ignored in a repository.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What tools may do.
    pub permissions: Permissions,
    /// A command whose output is the API key. Ignored in a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_helper: Option<String>,
    /// Programs run at events.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub hooks: Map<String, Value>,
    /// Servers that bring tools, by name: `command`, `args` and `env`, or `url` and `headers`.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub mcp_servers: Map<String, Value>,
    /// Plugins by `plugin@marketplace`, and whether each is on. A repository's are off until it is trusted.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub enabled_plugins: Map<String, Value>,
    /// A command that prints the status line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_line: Option<Value>,
    /// Whether memories are kept and recalled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_memory_enabled: Option<bool>,
    /// Where memories are kept. Ignored in a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_memory_directory: Option<String>,
    /// Whether memories are consolidated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_dream_enabled: Option<bool>,
    /// Whether a conversation is compacted automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_compact_enabled: Option<bool>,
    /// Compact as if the window were this large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_compact_window: Option<u64>,
    /// Whether files are kept as they were before tools changed them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_checkpointing_enabled: Option<bool>,
    /// Days after which transcripts are removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup_period_days: Option<u64>,
    /// Instruction files to leave out, as globs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub claude_md_excludes: Vec<String>,
    /// How the assistant writes: the name of a style, or a text for the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_style: Option<String>,
    /// The language of answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Everything that is Everfold's own.
    pub everfold: Own,
}

/// What tools may do without asking, after asking, or not at all (Q6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Permissions {
    /// Rules such as `Bash(git status:*)` for what may run without asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Rules for what always asks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Rules for what is never allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// The default mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_mode: Option<PermissionMode>,
    /// More directories in which tools may work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<String>,
}

/// How permissions are decided where no rule speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Reading is allowed, everything else asks.
    #[default]
    Default,
    /// Edits in the working directories are allowed too.
    AcceptEdits,
    /// Only reading.
    Plan,
    /// Everything is allowed except what a rule denies.
    BypassPermissions,
}

impl PermissionMode {
    /// The name in settings and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

/// Everfold's own settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Own {
    /// Kill switches by name.
    #[schemars(with = "BTreeMap<String, bool>")]
    pub flags: Flags,
    /// Every number that bounds something.
    pub limits: Limits,
    /// The prompt cache.
    pub cache: CacheSettings,
    /// What work in the background may spend, and a turn besides its answers.
    pub budget: BudgetSettings,
    /// When a conversation is summed up before it is full.
    pub compact: CompactSettings,
    /// Which provider, and where.
    pub provider: Provider,
    /// How memories are kept.
    pub memory: MemorySettings,
    /// How memories are found.
    pub recall: Recall,
    /// Whose `projects` folder has the memories, such as `~/.claude` to share
    /// them with Claude Code; unset, Everfold's own. Ignored in a repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_home: Option<String>,
    /// The model for side queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small_model: Option<String>,
    /// The model to fall back to when the first is overloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback_model: Option<String>,
    /// How models are asked to think; unset, as each model's entry says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// The effort asked of models that know it: low, medium, high, xhigh, max.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// Whether the fixed prompt is short, with few tools, and extraction and
    /// summaries use the methods for small models; unset, in windows under
    /// `limits.lean_window_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lean: Option<bool>,
    /// Windows and other properties of models, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, ModelOverride>,
    /// Prices in dollars per million tokens, by model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Prices>,
    /// Where kill switches and limits can be changed while sessions run (Q3).
    pub flag_source: FlagSource,
    /// How a fleet is reached.
    pub fleet: FleetSettings,
    /// What the operating system holds shell commands to (S8).
    pub sandbox: Sandbox,
    /// How the interactive terminal behaves.
    pub terminal: TerminalSettings,
    /// Compact at this percentage of the effective window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_compact_percent: Option<u64>,
}

/// How memories are found for a message (R3, R8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Recall {
    /// Who picks memories: `auto` the local ranker, and the small model where the
    /// ranker is unsure and an answer can be worth its price; `model` the small
    /// model for every message, the ranker where that fails or is late; `local`
    /// the ranker alone, which costs nothing.
    pub by: Picker,
    /// Whether memories are looked up for a command that failed or a tool that
    /// reported an error; unset, they are (R17).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<bool>,
}

/// Who picks memories for a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Picker {
    /// The local ranker, and the small model where that is unsure (R18).
    #[default]
    Auto,
    /// The small model.
    Model,
    /// The local ranker.
    Local,
}

/// What becomes of changes that background agents make to memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewMode {
    /// They are made, and can be undone.
    Auto,
    /// They wait for review.
    Inbox,
}

/// What a background agent wants to do to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Add one, change one, or delete what an agent wrote.
    Usual,
    /// Delete what a person wrote.
    DeletesPersons,
}

/// A sandbox for the commands of the conversation; those of background agents
/// always have one. Ignored in a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sandbox {
    /// Commands reach no network, and write only in the working directories
    /// and the folder for temporary files. Where that cannot be enforced, they are refused.
    pub enabled: bool,
    /// More directories in which they may write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<String>,
}

/// The prompt cache (PC5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheSettings {
    /// How long cached prefixes live.
    pub ttl: TtlSetting,
}

/// `cache.ttl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TtlSetting {
    /// An hour for an interactive conversation and five minutes otherwise to
    /// begin with, then by the pace of the person.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// Five minutes.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// An hour.
    #[serde(rename = "1h")]
    OneHour,
    /// No breakpoints.
    #[serde(rename = "off")]
    Off,
}

/// Whether a person sits in front of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// A person does.
    Interactive,
    /// A program does, or nobody.
    Headless,
}

impl TtlSetting {
    /// The time to live of a main thread on this surface; none turns caching off.
    #[must_use]
    pub fn resolve(self, surface: Surface) -> Option<CacheTtl> {
        match (self, surface) {
            (Self::OneHour, _) | (Self::Auto, Surface::Interactive) => Some(CacheTtl::OneHour),
            (Self::FiveMinutes, _) | (Self::Auto, Surface::Headless) => Some(CacheTtl::FiveMinutes),
            (Self::Off, _) => None,
        }
    }
}

/// A file or a URL that is read in the background (Q3). Its JSON has the
/// form `{"flags": {…}, "limits": {…}}`. Ignored in a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FlagSource {
    /// A file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Where Anthropic's API is.
pub const ANTHROPIC_URL: &str = "https://api.anthropic.com";
/// Where OpenAI's API is.
pub const OPENAI_URL: &str = "https://api.openai.com/v1";
/// The model where nobody names one.
pub const DEFAULT_MODEL: &str = "claude-sonnet-5-5";
/// The model of side queries where nobody names one.
pub const DEFAULT_SMALL_MODEL: &str = "claude-haiku-5-5";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pc5_the_time_to_live_follows_the_surface() {
        assert_eq!(TtlSetting::Auto.resolve(Surface::Interactive), Some(CacheTtl::OneHour));
        assert_eq!(TtlSetting::Auto.resolve(Surface::Headless), Some(CacheTtl::FiveMinutes));
        assert_eq!(TtlSetting::Off.resolve(Surface::Interactive), None);
    }

    #[test]
    fn l5_24_what_is_reviewed_follows_the_setting() {
        let memory = |review| MemorySettings { review, ..MemorySettings::default() };
        assert_eq!(memory(None).review_of(Deed::Usual), ReviewMode::Auto);
        assert_eq!(memory(None).review_of(Deed::DeletesPersons), ReviewMode::Inbox);
        assert_eq!(
            memory(Some(ReviewMode::Auto)).review_of(Deed::DeletesPersons),
            ReviewMode::Auto
        );
        assert_eq!(memory(Some(ReviewMode::Inbox)).review_of(Deed::Usual), ReviewMode::Inbox);
    }

    #[test]
    fn c6_known_names_are_at_the_top_level() {
        let settings: Settings = serde_json::from_str(
            r#"{"autoMemoryEnabled": false, "cleanupPeriodDays": 7, "claudeMdExcludes": ["**/x.md"],
                "permissions": {"defaultMode": "acceptEdits"}, "everfold": {"cache": {"ttl": "1h"}}}"#,
        )
        .unwrap();
        assert_eq!(settings.auto_memory_enabled, Some(false));
        assert_eq!(settings.permissions.default_mode, Some(PermissionMode::AcceptEdits));
        assert_eq!(settings.everfold.cache.ttl, TtlSetting::OneHour);
    }
}
