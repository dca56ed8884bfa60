//! Memories without an agent: for commands, and beside other agents. Needs
//! settings, but no provider and no key.

use super::{Builder, real_directory};
use crate::beside::Beside;
use crate::error::Error;
use crate::memory_dirs::{self, MemoryDirs};
use crate::memory_place::Named;
use crate::past::Past;
use crate::repo::Repo;
use mnemon_kernel::env::CLAUDE_CONFIG_DIR as CLAUDE_DIR;
use std::path::PathBuf;

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
        let resolved = self.load_settings(&home, repo.as_ref(), &cwd)?;
        MemoryDirs::locate(&memory_dirs::Ground {
            user_home: self.user_home.as_deref(),
            home: &home,
            resolved: &resolved,
            repo: repo.as_ref(),
            cwd: &cwd,
        })
    }

    /// Mnemon beside another agent that works in the working directory; none
    /// where memories are switched off (X1). Needs settings, but no provider
    /// and no key.
    ///
    /// # Errors
    /// As [`Self::memory_dirs`].
    pub fn beside(&self) -> Result<Option<Beside>, Error> {
        let cwd = real_directory(&self.cwd)?;
        let repo = Repo::around(&cwd);
        let home = self.resolve_home()?;
        let resolved = self.load_settings(&home, repo.as_ref(), &cwd)?;
        let is_off = resolved.settings.auto_memory_enabled == Some(false);
        if is_off || Named::by(&resolved).is_nowhere() {
            return Ok(None);
        }
        let memories = MemoryDirs::locate(&memory_dirs::Ground {
            user_home: self.user_home.as_deref(),
            home: &home,
            resolved: &resolved,
            repo: repo.as_ref(),
            cwd: &cwd,
        })?;
        let claude = self.variables.get(CLAUDE_DIR).filter(|dir| !dir.is_empty());
        let claude =
            claude.map(PathBuf::from).or_else(|| Some(self.user_home.as_ref()?.join(".claude")));
        let own = resolved.settings.mnemon;
        let slug = mnemon_transcript::slug(&cwd.display().to_string());
        let mut dirs = vec![home.project_dir(&slug).root().to_owned()];
        dirs.extend(claude.as_ref().map(|claude| claude.join("projects").join(&slug)));
        dirs.dedup();
        let past = Past { dirs, limits: own.limits.past.clone() };
        Ok(Some(Beside {
            memories,
            home: home.root().to_owned(),
            flags: own.flags,
            limits: own.limits,
            review: own.memory,
            claude,
            past,
        }))
    }
}
