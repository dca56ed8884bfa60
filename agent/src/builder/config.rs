//! From settings to what sessions are started with.

use super::{Builder, real_directory};
use crate::error::Error;
use crate::model_server::Served;
use crate::provider;
use crate::repo::Repo;
use everfold_engine::config::{
    BackgroundSetup, Launch, MemorySetup, ModelSetup, PermissionSetup, SetupFiles, Workplace,
};
use everfold_engine::{Allowed, AutoDream, Config, Offers, Remote, SessionSetting};
use everfold_kernel::settings::{self, ANTHROPIC_URL, PermissionMode, ProviderKind};
use everfold_kernel::{Limits, ModelId, ModelTable};
use everfold_prefix::system::Surroundings;
use everfold_settings::layout::Home;
use everfold_settings::provider::{ProviderChoice, models, window_overrides};
use everfold_settings::{Resolved, RunPlace, Trust};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a provider offers. Searching the web is known of Anthropic's own API;
/// a gateway may not pass it on, so there it has to be set.
fn offers(own: &settings::Provider, choice: &ProviderChoice) -> Offers {
    let at_home =
        choice.kind == ProviderKind::Anthropic && choice.base_url.as_deref() == Some(ANTHROPIC_URL);
    Offers { web_search: own.web_search.unwrap_or(at_home), ..Offers::from(own) }
}

/// What the system prompt says of the repository.
fn told_git(repo: Option<&Repo>) -> String {
    match repo.map(|repo| &repo.branch) {
        None => "no".to_owned(),
        Some(Some(branch)) => format!("yes, on branch {branch}"),
        Some(None) => "yes".to_owned(),
    }
}

/// Most scripts that are guarded one by one.
const GUARDED_SCRIPTS: usize = 100;

/// Rules by which edits of scripts that trusted things run are asked about.
pub(super) fn guarding_rules(trust: &Trust) -> impl Iterator<Item = String> {
    let is_plain =
        |path: &PathBuf| !path.to_string_lossy().contains(['*', '?', '[', '{', '(', ')']);
    let scripts = trust.scripts().into_iter().filter(is_plain);
    scripts.take(GUARDED_SCRIPTS).map(|path| format!("Edit(/{})", path.display()))
}

/// A directory by its real path, as far as there is one.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

impl Builder {
    pub(super) fn config(
        &self,
        resolved: &mut Resolved,
        choice: &ProviderChoice,
        cwd: &Path,
        repo: Option<&Repo>,
        limits: Arc<Limits>,
        home: &Home,
    ) -> Result<Config, Error> {
        let roots = self.roots(resolved, cwd)?;
        let resolved = &*resolved;
        let settings = &resolved.settings;
        let own = &settings.everfold;
        let surroundings = Surroundings {
            cwd: cwd.display().to_string(),
            extra_directories: roots.iter().skip(1).map(|d| d.display().to_string()).collect(),
            git: told_git(repo),
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            output_style: settings.output_style.clone(),
            language: settings.language.clone(),
            appended: self.appended.clone(),
            ..Surroundings::default()
        };
        let usual = Config::new(cwd.to_owned());
        Ok(Config {
            models: self.model_setup(resolved, choice),
            limits,
            memory: MemorySetup {
                guidelines: resolved.ambient.memory_extra_guidelines.clone(),
                keep: own.memory,
                recall: own.recall,
                ..usual.memory
            },
            background: BackgroundSetup {
                budget: own.budget,
                slots: own.provider.slots,
                compact: own.compact,
                extraction: self.extraction(resolved),
                auto_dream: auto_dream(settings.auto_dream_enabled),
            },
            setups: SetupFiles { hooks: self.hook_registry(resolved), ..usual.setups },
            surroundings,
            permissions: PermissionSetup {
                mode: settings.permissions.default_mode.unwrap_or(PermissionMode::Default),
                rules: settings.permissions.clone(),
                confinement: self.confinement(resolved, &roots),
            },
            workplace: Workplace {
                project: repo.map_or(cwd, |repo| &repo.root).to_owned(),
                roots,
                user_home: self.user_home.as_deref().map(real),
                own_home: Some(real(home.root())),
                ..usual.workplace
            },
            launch: Launch {
                max_turns: self.max_turns,
                lean: own.lean,
                git_branch: repo.and_then(|repo| repo.branch.clone()),
                entrypoint: self.entrypoint.clone(),
                ..usual.launch
            },
            flags: usual.flags,
            switches: usual.switches,
            agents: usual.agents,
        })
    }

    /// Where tools work: the working directory, what was given with the start,
    /// and what settings list. One of these that is gone is told, no more.
    fn roots(&self, resolved: &mut Resolved, cwd: &Path) -> Result<Vec<PathBuf>, Error> {
        let mut roots = vec![cwd.to_owned()];
        for directory in &self.extra_directories {
            roots.push(real_directory(&cwd.join(directory))?);
        }
        for directory in &resolved.settings.permissions.additional_directories {
            match real_directory(&cwd.join(directory)) {
                Ok(directory) => roots.push(directory),
                Err(error) => {
                    resolved.problems.push(format!("permissions.additionalDirectories: {error}"));
                }
            }
        }
        Ok(roots)
    }

    fn model_setup(&self, resolved: &Resolved, choice: &ProviderChoice) -> ModelSetup {
        let own = &resolved.settings.everfold;
        let models = models(resolved, choice.kind);
        ModelSetup {
            model: models.main,
            choice: provider::model_choice(resolved),
            small: models.small,
            fallback: models.fallback,
            table: ModelTable::builtin().with_overrides(&own.models, &own.prices),
            window: window_overrides(resolved, choice.kind),
            cache: own.cache.ttl.resolve(self.surface),
            ttl: own.cache.ttl,
            thinking: own.thinking,
            effort: own.effort.clone(),
            betas: choice.betas.clone(),
            offers: offers(&own.provider, choice),
        }
    }

    /// Where sessions run, for what is kept after a turn (L5.13).
    fn extraction(&self, resolved: &Resolved) -> SessionSetting {
        let off = resolved.settings.everfold.memory.extract_headless == Some(false);
        SessionSetting {
            surface: self.surface,
            headless: if off { Allowed::No } else { Allowed::Yes },
            remote: match resolved.ambient.place {
                RunPlace::Remote => Remote::Yes,
                RunPlace::Own => Remote::No,
            },
        }
    }
}

/// Takes over what a server of one's own has, where settings do not say
/// otherwise (Q15).
pub(super) fn take_served(config: &mut Config, resolved: &Resolved, served: &Served) {
    let own = &resolved.settings.everfold;
    config.background.slots = config.background.slots.or(served.slots);
    if served.models.is_empty() {
        return;
    }
    let table = ModelTable::builtin().with_windows(served.windows());
    config.models.table = table.with_overrides(&own.models, &own.prices);
    if let (None, Some(model)) = (&resolved.settings.model, served.only_model()) {
        config.models.model = ModelId::new(model);
        if own.small_model.is_none() {
            config.models.small = ModelId::new(model);
        }
    }
}

/// Whether turns may start dreams (L6.1).
fn auto_dream(enabled: Option<bool>) -> AutoDream {
    match enabled {
        Some(false) => AutoDream::Off,
        Some(true) | None => AutoDream::On,
    }
}
