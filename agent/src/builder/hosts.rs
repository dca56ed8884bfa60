//! Everfold beside other agents: memories without an agent of our own.

use super::{Builder, real_directory};
use crate::error::Error;
use crate::hosts::{HostService, OwnKey};
use crate::memory_location::Named;
use crate::past_sessions::PastSessions;
use crate::repo::Repo;
use everfold_kernel::env::CLAUDE_CONFIG_DIR as CLAUDE_DIR;
use everfold_kernel::settings::ProviderKind;
use everfold_settings::Resolved;
use everfold_settings::provider::choose;
use std::path::PathBuf;

impl Builder {
    /// Everfold beside another agent that works in the working directory; none
    /// where memories are switched off (X1). Needs settings, but no provider
    /// and no key.
    ///
    /// # Errors
    /// As [`Self::memory_dirs`].
    pub fn host_service(&self) -> Result<Option<HostService>, Error> {
        let cwd = real_directory(&self.cwd)?;
        let repo = Repo::around(&cwd);
        let home = self.resolve_home()?;
        let trust = self.look_at_trust(&home, repo.as_ref(), &cwd);
        let resolved = self.load_settings(&home, &trust)?;
        let is_off = resolved.settings.auto_memory_enabled == Some(false);
        if is_off || Named::by(&resolved).is_nowhere() {
            return Ok(None);
        }
        let memories = self.locate_memories(&home, &resolved, repo.as_ref(), &cwd)?;
        let claude = self.variables.get(CLAUDE_DIR).filter(|dir| !dir.is_empty());
        let claude =
            claude.map(PathBuf::from).or_else(|| Some(self.user_home.as_ref()?.join(".claude")));
        let key = self.own_key(&resolved);
        let programs = self.variables.get("PATH").map(std::env::split_paths);
        let programs = programs.into_iter().flatten().filter(|dir| dir.is_absolute()).collect();
        let own = resolved.settings.everfold;
        let slug = everfold_transcript::slug(&cwd.display().to_string());
        let mut dirs = vec![home.project_dir(&slug).root().to_owned()];
        dirs.extend(claude.as_ref().map(|claude| claude.join("projects").join(&slug)));
        dirs.dedup();
        let past = PastSessions {
            dirs,
            line_bytes: own.limits.transcript_line_bytes,
            limits: own.limits.past.clone(),
        };
        Ok(Some(HostService {
            memories,
            home: home.root().to_owned(),
            on_failure: own.recall.on_failure,
            flags: own.flags,
            limits: own.limits,
            claude,
            past,
            key,
            host_review: own.memory.host_review,
            programs,
        }))
    }

    /// A provider that cannot be used is as good as none; so is one of which
    /// nobody said which of its models to ask.
    fn own_key(&self, resolved: &Resolved) -> OwnKey {
        let settings = &resolved.settings;
        let is_named = || settings.model.is_some() || settings.everfold.small_model.is_some();
        match choose(resolved, &self.variables).map(|choice| choice.kind) {
            Ok(ProviderKind::Anthropic) => OwnKey::There,
            Ok(ProviderKind::OpenAi) if is_named() => OwnKey::There,
            _ => OwnKey::Missing,
        }
    }
}
