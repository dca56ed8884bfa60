//! What a session is started with.

mod groups;

pub use groups::{
    BackgroundSetup, Launch, MemorySetup, ModelSetup, PermissionSetup, SetupFiles, Workplace,
};

use everfold_kernel::models::{LONG_WINDOW_SUFFIX, Thinking};
use everfold_kernel::ports::{Confinement, SwitchReading};
use everfold_kernel::settings::{self, PermissionMode, Permissions};
use everfold_kernel::window::LONG_WINDOW_BETA;
use everfold_kernel::{Flag, Flags, Limits, ModelId, Params, Prelude, TreeBounds, Window};
use everfold_mail::memory::MemoryPlaces;
use everfold_mail::{Definition, Roster};
use everfold_prefix::system::{Profile, Surroundings};
use everfold_rules::InstructionDirs;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use everfold_kernel::record::{CallForm, Delivery, Dialect, Pictures, Sampling};

/// Everything that a session is given besides its [`crate::World`]. It is read
/// once, but for flags and limits, which follow their source from turn to turn
/// where no bytes depend on them (Q3).
#[derive(Clone, Debug)]
pub struct Config {
    /// Which models answer, and how they are asked.
    pub models: ModelSetup,
    pub limits: Arc<Limits>,
    /// Kill switches.
    pub flags: Flags,
    /// What their source said of both when they were last taken from it; none
    /// before it was asked. What was set here besides stays while that is so.
    pub switches: Option<Arc<SwitchReading>>,
    /// How memories are kept and found.
    pub memory: MemorySetup,
    /// What may go on beside the conversation.
    pub background: BackgroundSetup,
    /// What people bring to their agents.
    pub setups: SetupFiles,
    /// What agents are started with.
    pub agents: AgentSetup,
    /// What the system prompt says of the surroundings.
    pub surroundings: Surroundings,
    pub workplace: Workplace,
    /// How permissions are decided.
    pub permissions: PermissionSetup,
    /// How the session was started.
    pub launch: Launch,
}

/// What the agents of a session are started with.
#[derive(Clone, Debug)]
pub struct AgentSetup {
    /// The kinds that there are when the session starts.
    pub roster: Arc<Roster>,
    /// Where kinds are defined, for those that come later.
    pub dirs: KindDirs,
    /// Where kinds keep what they learned (L5.20).
    pub memory: MemoryPlaces,
    /// Whether the main thread delegates and watches.
    pub delegation: Delegation,
}

impl Default for AgentSetup {
    fn default() -> Self {
        Self {
            roster: Arc::new(Roster::new(Vec::new(), Vec::new())),
            dirs: KindDirs::default(),
            memory: MemoryPlaces::default(),
            delegation: Delegation::AsNeeded,
        }
    }
}

/// How much of the work the main thread leaves to agents (L7.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delegation {
    /// What it chooses to.
    #[default]
    AsNeeded,
    /// All of it: it divides, watches and puts together.
    Coordinator,
}

/// What a provider offers beyond what every one does, by its settings.
#[expect(clippy::struct_excessive_bools, reason = "each is an offer of its own")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// It clears old results by itself (`context_management`, L2.4).
    pub context_management: bool,
    /// It takes blocks that edit its cache (L2.3).
    pub cache_edits: bool,
    /// Its cache knows scopes (PC5).
    pub cache_scopes: bool,
    /// It says why a prompt was not read from its cache (PC6).
    pub cache_diagnostics: bool,
    /// It searches the web when a model asks it to (Q14).
    pub web_search: bool,
}

impl From<&settings::Provider> for Offers {
    fn from(provider: &settings::Provider) -> Self {
        Self {
            context_management: provider.context_management == Some(true),
            cache_edits: provider.cache_edits == Some(true),
            cache_scopes: provider.cache_scopes == Some(true),
            cache_diagnostics: provider.cache_diagnostics == Some(true),
            web_search: provider.web_search == Some(true),
        }
    }
}

/// Whether the end of a turn may start a dream (L6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoDream {
    On,
    /// Only a person starts one.
    Off,
}

/// The beta under which the API clears by itself.
const CONTEXT_MANAGEMENT_BETA: &str = "context-management-2025-06-27";

/// The beta under which a breakpoint may say for whom it is.
const CACHE_SCOPE_BETA: &str = "prompt-caching-scope-2026-01-05";

/// Whether a person named the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// By flag or environment.
    Named,
    /// By settings or default.
    Default,
}

impl Config {
    /// A configuration with every default, for work in `cwd`.
    #[must_use]
    pub fn new(cwd: PathBuf) -> Self {
        Self {
            models: ModelSetup::default(),
            limits: Arc::default(),
            flags: Flags::default(),
            switches: None,
            memory: MemorySetup {
                guidelines: None,
                keep: settings::MemorySettings::default(),
                recall: settings::Recall::default(),
                notes_dir: None,
            },
            background: BackgroundSetup {
                budget: settings::BudgetSettings::default(),
                slots: None,
                compact: settings::CompactSettings::default(),
                extraction: everfold_extract::SessionSetting {
                    surface: settings::Surface::Headless,
                    headless: everfold_extract::Allowed::Yes,
                    remote: everfold_extract::Remote::No,
                },
                auto_dream: AutoDream::Off,
            },
            setups: SetupFiles {
                instructions: None,
                skills: Arc::default(),
                hooks: Arc::default(),
                settings_files: Vec::new(),
            },
            agents: AgentSetup::default(),
            surroundings: Surroundings {
                cwd: cwd.display().to_string(),
                git: "no".into(),
                ..Surroundings::default()
            },
            workplace: Workplace {
                project: cwd.clone(),
                roots: vec![cwd],
                writable: Vec::new(),
                user_home: None,
                own_home: None,
            },
            permissions: PermissionSetup {
                mode: PermissionMode::Default,
                rules: Permissions::default(),
                confinement: Confinement::Free,
            },
            launch: Launch {
                version: env!("CARGO_PKG_VERSION").into(),
                git_branch: None,
                entrypoint: "sdk-rs".into(),
                max_turns: None,
                secrets: Vec::new(),
                lean: None,
            },
        }
    }

    /// A text without the keys that must never be written down (S5).
    pub(crate) fn redact(&self, text: &str) -> String {
        self.launch.secrets.iter().fold(text.to_owned(), |text, secret| secret.scrub(text))
    }

    /// The parameters of requests to this model.
    #[must_use]
    pub fn params(&self, model: &ModelId, dialect: Dialect) -> Params {
        let spec = self.models.table.spec(model);
        let max_tokens = self.most_output(model);
        Params {
            dialect,
            model: model.clone(),
            max_tokens,
            thinking: self
                .thinking_param(self.models.thinking.unwrap_or(spec.thinking), max_tokens),
            effort: self.models.effort.clone(),
            schema: None,
            betas: self.betas(model, dialect),
            cache: self.models.cache,
            context_management: None,
            pictures: if spec.images { Pictures::Taken } else { Pictures::Told },
            calls: CallForm::Declared,
            sampling: Sampling::Usual,
            delivery: Delivery::Streamed,
        }
    }

    /// The window of a model.
    #[must_use]
    pub fn window(&self, model: &ModelId) -> Window {
        let spec = self.models.table.spec(model);
        Window::resolve(model, spec, &self.models.betas, &self.models.window, &self.limits)
    }

    /// How much the fixed prompt of a model says: little in a small window, and
    /// where a person wants it so (Q16).
    #[must_use]
    pub fn profile(&self, model: &ModelId) -> Profile {
        let is_small = self.window(model).size.0 < self.limits.lean_window_tokens;
        if self.launch.lean.unwrap_or(is_small) { Profile::Lean } else { Profile::Full }
    }

    /// Most tokens that one answer may have: in a small window what is kept
    /// free for it (T8).
    fn most_output(&self, model: &ModelId) -> u64 {
        let window = self.window(model);
        let most = self.models.table.spec(model).max_output.min(self.limits.max_output_tokens);
        if window.size.0 < self.limits.small_window_tokens {
            most.min(window.output.0)
        } else {
            most
        }
    }

    /// Beta names of requests to a model: a window that a person asked for by
    /// its suffix has to be asked of the server too (T3), and so have scopes of
    /// the cache (PC5).
    fn betas(&self, model: &ModelId, dialect: Dialect) -> Vec<String> {
        let mut betas = self.models.betas.clone();
        if dialect != Dialect::Anthropic {
            return betas;
        }
        let spec = self.models.table.spec(model);
        let is_long = spec.window.is_some_and(|own| own >= self.limits.long_window_tokens);
        let asks = model.as_str().ends_with(LONG_WINDOW_SUFFIX) && !is_long;
        let scopes = self.models.offers.cache_scopes;
        for (wanted, beta) in [(asks, LONG_WINDOW_BETA), (scopes, CACHE_SCOPE_BETA)] {
            if wanted && !betas.iter().any(|own| own == beta) {
                betas.push(beta.to_owned());
            }
        }
        betas
    }

    /// The same prelude, asking the server to clear by itself where it offers
    /// that (L2.4). It is decided here, once: requests repeat it.
    #[must_use]
    pub fn managed(&self, mut prelude: Prelude) -> Prelude {
        let wanted = self.flags.is_on(Flag::PruneApi) && self.models.offers.context_management;
        if !wanted || prelude.params.dialect != Dialect::Anthropic {
            return prelude;
        }
        let model = &prelude.params.model;
        let (spec, window) = (self.models.table.spec(model), self.window(model));
        let asked = everfold_prune::context_management(&prelude, spec, &window, &self.limits.prune);
        prelude.params.context_management = Some(asked);
        if !prelude.params.betas.iter().any(|beta| beta == CONTEXT_MANAGEMENT_BETA) {
            prelude.params.betas.push(CONTEXT_MANAGEMENT_BETA.to_owned());
        }
        prelude
    }

    /// The parameters of a side query: no thinking, nothing cached.
    #[must_use]
    pub fn side_params(&self, model: &ModelId, dialect: Dialect, max_tokens: u64) -> Params {
        Params {
            max_tokens: max_tokens.min(self.most_output(model)),
            thinking: None,
            effort: None,
            cache: None,
            sampling: Sampling::Greedy,
            ..self.params(model, dialect)
        }
    }

    fn thinking_param(&self, thinking: Thinking, max_tokens: u64) -> Option<Value> {
        /// The least that the API takes.
        const LEAST_BUDGET: u64 = 1_024;
        match thinking {
            Thinking::Off => None,
            Thinking::Adaptive => Some(json!({"type": "adaptive"})),
            Thinking::Budget => {
                let budget = self.limits.thinking_budget_tokens.min(max_tokens.saturating_sub(1));
                (budget >= LEAST_BUDGET)
                    .then(|| json!({"type": "enabled", "budget_tokens": budget}))
            }
        }
    }
}

/// Where kinds of agents are defined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindDirs {
    pub person: Option<PathBuf>,
    pub repository: Option<PathBuf>,
    /// What belongs to the repository: a file elsewhere is not taken for its own.
    pub tree: TreeBounds,
    /// Files of the repository that may run things, as they were at the start.
    pub acting: BTreeSet<PathBuf>,
    /// Those of whoever manages the machine, which stand over all others.
    pub managed: Option<PathBuf>,
    /// Those that were given with the start.
    pub given: Vec<Definition>,
}

/// Where instruction files are looked for, and what may be taken from where.
#[derive(Clone, Debug)]
pub struct InstructionSources {
    /// The places that a session looks at.
    pub places: InstructionDirs,
    /// The working tree, and what from outside of it the person approved (I5).
    pub tree: TreeBounds,
    /// The directory that `~/` stands for.
    pub user_dir: PathBuf,
    /// `claudeMdExcludes`.
    pub excludes: Vec<String>,
    /// Those of them that the working tree did not set.
    pub own_excludes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l2_4_only_a_provider_that_offers_it_is_asked_and_only_in_its_dialect() {
        let managed = |on, offered, dialect| {
            let mut config = Config::new("/proj".into());
            config.flags = Flags::default().with(Flag::PruneApi, on);
            config.models.offers = Offers { context_management: offered, ..Offers::default() };
            let params = config.params(&config.models.model, dialect);
            let prelude = config.managed(Prelude { system: vec![], tools: vec![], params });
            let again = config.managed(prelude.clone());
            assert_eq!(again, prelude, "deciding again changes nothing");
            (prelude.params.context_management.is_some(), prelude.params.betas.len())
        };
        assert_eq!(managed(true, true, Dialect::Anthropic), (true, 1));
        assert_eq!(managed(true, true, Dialect::OpenAi), (false, 0));
        assert_eq!(managed(false, true, Dialect::Anthropic), (false, 0));
        assert_eq!(managed(true, false, Dialect::Anthropic), (false, 0));
    }
}
