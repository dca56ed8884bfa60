//! What can be had without a provider and a key: places, settings, trust.

use super::{Builder, Purpose, real_directory};
use crate::error::Error;
use crate::instructions;
use crate::memory;
use crate::memory_dirs::{self, MemoryDirs};
use crate::provider;
use crate::repo::Repo;
use crate::repository::{Repository, Seen};
use everfold_engine::config::InstructionSources;
use everfold_kernel::Limits;
use everfold_kernel::ports::Memories;
use everfold_settings::layout::{Platform, local_settings, project_settings};
use everfold_settings::provider::{ProviderChoice, choose};
use everfold_settings::{Home, Resolved, TreeInputs, Trust};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Builder {
    /// The memory directories of the working directory. Needs settings, but no
    /// provider and no key.
    ///
    /// # Errors
    /// If the directory cannot be used, settings are broken, or they put the
    /// memories where they may not be.
    pub fn memory_dirs(&self) -> Result<MemoryDirs, Error> {
        let cwd = real_directory(&self.cwd)?;
        let repo = Repo::around(&cwd);
        let home = self.resolve_home()?;
        let trust = self.look_at_trust(&home, repo.as_ref(), &cwd);
        let resolved = self.load_settings(&home, &trust)?;
        self.locate_memories(&home, &resolved, repo.as_ref(), &cwd)
    }

    pub(super) fn locate_memories(
        &self,
        home: &Home,
        resolved: &Resolved,
        repo: Option<&Repo>,
        cwd: &Path,
    ) -> Result<MemoryDirs, Error> {
        let user_home = self.user_home.as_deref();
        let clock = &self.clock;
        MemoryDirs::locate(&memory_dirs::Ground { user_home, home, resolved, repo, cwd, clock })
    }

    /// The memories of the directories that settings name.
    pub(super) async fn directories(
        &self,
        home: &Home,
        repo: Option<&Repo>,
        cwd: &Path,
        resolved: &Resolved,
    ) -> Result<Option<Arc<dyn Memories>>, Error> {
        let ground = memory::Ground {
            home: home.root(),
            user_home: self.user_home.as_deref(),
            cwd,
            repo,
            files: &*self.files,
            clock: &self.clock,
            sync: match self.purpose {
                Purpose::Talking => memory::StartSync::Wanted,
                Purpose::Looking => memory::StartSync::Left,
            },
        };
        memory::open(&ground, resolved).await
    }

    /// The repository of the working directory: whether it is trusted, and
    /// what instructions it has. Needs settings, but no provider and no key.
    ///
    /// # Errors
    /// If the directory cannot be used, or settings are broken.
    pub fn repository(&self) -> Result<Repository, Error> {
        let cwd = real_directory(&self.cwd)?;
        let repo = Repo::around(&cwd);
        let home = self.resolve_home()?;
        let trust = self.look_at_trust(&home, repo.as_ref(), &cwd);
        let mut resolved = self.load_settings(&home, &trust)?;
        let sources = self.instruction_sources(&home, &resolved, &cwd, &trust);
        let memories = self.locate_memories(&home, &resolved, repo.as_ref(), &cwd);
        let memories = self.or_told(memories, &mut resolved)?;
        let files = Arc::clone(&self.files);
        let clock = Arc::clone(&self.clock);
        Ok(Repository::new(Seen { home, trust, resolved, sources, memories, files, clock }))
    }

    /// Where instruction files are looked for.
    pub(super) fn instruction_sources(
        &self,
        home: &Home,
        resolved: &Resolved,
        cwd: &Path,
        trust: &Trust,
    ) -> InstructionSources {
        instructions::sources(&instructions::Ground {
            home: home.root(),
            user_home: self.user_home.as_deref(),
            managed_settings: self.managed.as_deref(),
            cwd,
            resolved,
            trust,
        })
    }

    /// The files that settings are read from, as hooks name them.
    pub(super) fn settings_files(&self, home: &Home, root: &Path) -> Vec<(&'static str, PathBuf)> {
        let platform = Platform::current().managed_settings();
        vec![
            ("user_settings", home.settings()),
            ("project_settings", project_settings(root)),
            ("local_settings", local_settings(root)),
            ("policy_settings", self.managed.clone().unwrap_or(platform)),
        ]
    }

    pub(super) fn resolve_home(&self) -> Result<Home, Error> {
        Ok(match &self.home {
            Some(path) => Home::at(path),
            None => Home::resolve(&self.variables, self.user_home.as_deref())?,
        })
    }

    pub(super) fn load_settings(&self, home: &Home, trust: &Trust) -> Result<Resolved, Error> {
        self.settings_source(home, trust).load(trust)
    }

    /// The provider that settings choose.
    pub(super) fn choice(&self, resolved: &mut Resolved) -> Result<ProviderChoice, Error> {
        let choice = choose(resolved, &self.variables).map_err(Error::from);
        let choice = self.or_told(choice, resolved)?;
        Ok(choice.unwrap_or_else(|| ProviderChoice::offline("settings name none that can be used")))
    }

    /// The provider that answers; nobody where one only looks.
    pub(super) async fn make_provider(
        &self,
        choice: &ProviderChoice,
        limits: &Limits,
        home: &Home,
        resolved: &Resolved,
    ) -> Result<provider::Made, Error> {
        match &self.model {
            Some(model) => Ok(provider::Made::of(Arc::clone(model))),
            None if self.purpose == Purpose::Looking => Ok(provider::Made::none()),
            None => {
                let named = resolved.settings.model.as_deref();
                provider::make(choice, limits, home.root(), named).await
            }
        }
    }

    /// What went wrong, as a problem to tell of where one only looks.
    pub(super) fn or_told<T>(
        &self,
        outcome: Result<T, Error>,
        resolved: &mut Resolved,
    ) -> Result<Option<T>, Error> {
        match (outcome, self.purpose) {
            (Ok(value), _) => Ok(Some(value)),
            (Err(error), Purpose::Looking) => {
                resolved.problems.push(error.to_string());
                Ok(None)
            }
            (Err(error), Purpose::Talking) => Err(error),
        }
    }

    /// What the tree brings that could act, and what a person said of it.
    pub(super) fn look_at_trust(&self, home: &Home, repo: Option<&Repo>, cwd: &Path) -> Trust {
        let root = repo.map_or(cwd, |repo| repo.root.as_path());
        Trust::look(&TreeInputs { home, user_home: self.user_home.as_deref(), root, cwd })
    }
}
