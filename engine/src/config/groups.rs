//! What a session is started with, by what it is about.

use super::{AutoDream, InstructionSources, ModelChoice, Offers};
use everfold_hooks::Registry;
use everfold_kernel::models::Thinking;
use everfold_kernel::ports::Confinement;
use everfold_kernel::record::CacheTtl;
use everfold_kernel::settings::{self, PermissionMode, Permissions};
use everfold_kernel::window::Overrides;
use everfold_kernel::{ModelId, ModelTable, Secret};
use everfold_skills::Shelf;
use std::path::PathBuf;
use std::sync::Arc;

/// Which models answer, and how they are asked.
#[derive(Clone, Debug)]
pub struct ModelSetup {
    /// The model of the conversation.
    pub model: ModelId,
    /// Whether a person named it; a resumed session keeps its own otherwise.
    pub choice: ModelChoice,
    /// The model of side queries.
    pub small: ModelId,
    /// The model that answers when the first is overloaded.
    pub fallback: Option<ModelId>,
    pub table: ModelTable,
    /// What a person set about the window.
    pub window: Overrides,
    /// How long cached prefixes live at first; none turns caching off.
    pub cache: Option<CacheTtl>,
    /// How that was chosen: `auto` follows the pace of the person (E5).
    pub ttl: settings::TtlSetting,
    /// How the model is asked to think; none is as its entry says.
    pub thinking: Option<Thinking>,
    /// The effort asked for.
    pub effort: Option<String>,
    pub betas: Vec<String>,
    /// What the provider offers beyond what every one does.
    pub offers: Offers,
}

impl Default for ModelSetup {
    fn default() -> Self {
        Self {
            model: ModelId::new(settings::DEFAULT_MODEL),
            choice: ModelChoice::Default,
            small: ModelId::new(settings::DEFAULT_SMALL_MODEL),
            fallback: None,
            table: ModelTable::builtin(),
            window: Overrides::default(),
            cache: Some(CacheTtl::FiveMinutes),
            ttl: settings::TtlSetting::Auto,
            thinking: None,
            effort: None,
            betas: Vec::new(),
            offers: Offers::default(),
        }
    }
}

/// How memories are kept and found.
#[derive(Clone, Debug)]
pub struct MemorySetup {
    /// More guidelines for memory, by the environment (L5.8).
    pub guidelines: Option<String>,
    /// How memories are kept.
    pub keep: settings::MemorySettings,
    /// How memories are found.
    pub recall: settings::Recall,
    /// Where a person's own template and prompt for notes are (L3.5).
    pub notes_dir: Option<PathBuf>,
}

/// What may go on beside the conversation.
#[derive(Clone, Debug)]
pub struct BackgroundSetup {
    /// What work in the background may spend.
    pub budget: settings::BudgetSettings,
    /// How many requests the server answers at once; none where nobody knows.
    pub slots: Option<u32>,
    /// When a conversation is summed up before it is full.
    pub compact: settings::CompactSettings,
    /// Where the session runs, for what is kept after a turn.
    pub extraction: everfold_extract::SessionSetting,
    /// Whether the end of a turn may start a dream.
    pub auto_dream: AutoDream,
}

/// What people bring to their agents.
#[derive(Clone, Debug)]
pub struct SetupFiles {
    /// Where instruction files are; none leaves them out.
    pub instructions: Option<InstructionSources>,
    /// Skills that can be taken up.
    pub skills: Arc<Shelf>,
    /// What is run at events.
    pub hooks: Arc<Registry>,
    /// The files that settings were read from, each with whose it is.
    pub settings_files: Vec<(&'static str, PathBuf)>,
}

#[derive(Clone, Debug)]
pub struct Workplace {
    /// The root of the project: what paths in memories are seen from.
    pub project: PathBuf,
    /// Where tools work; the first is the working directory.
    pub roots: Vec<PathBuf>,
    /// Directories in which Markdown may be written besides: what an agent
    /// keeps from task to task.
    pub writable: Vec<PathBuf>,
    /// The home directory of the person, for `~/` in rules.
    pub user_home: Option<PathBuf>,
    /// Our own home, where settings and records of trust are.
    pub own_home: Option<PathBuf>,
}

/// How permissions are decided.
#[derive(Clone, Debug)]
pub struct PermissionSetup {
    /// How permissions are decided.
    pub mode: PermissionMode,
    pub rules: Permissions,
    /// What commands are held to by the operating system (S8).
    pub confinement: Confinement,
}

/// How the session was started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The version that writes the log.
    pub version: String,
    /// The branch, for the transcript.
    pub git_branch: Option<String>,
    /// How the session was started: `cli`, `sdk-cli`, `sdk-rs`.
    pub entrypoint: String,
    /// Most requests of one turn, by the person.
    pub max_turns: Option<u32>,
    /// Keys, which must never be written down (S5).
    pub secrets: Vec<Secret>,
    /// Whether the fixed prompt is short and work beside the conversation goes
    /// the simple ways; unset, where the window is small (Q16, Q18).
    pub lean: Option<bool>,
}
