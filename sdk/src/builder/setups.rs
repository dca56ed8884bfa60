//! What people set up around an agent, and what commands are held to.

use super::{Builder, Wanted};
use crate::hooks;
use crate::shell;
use mnemon_hooks::Registry;
use mnemon_kernel::ports::{Confinement, Hooks};
use mnemon_settings::Resolved;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Builder {
    /// Who runs the handlers of hooks; nobody where there are none.
    pub(super) fn hook_runner(&self, resolved: &Resolved) -> Option<Arc<dyn Hooks>> {
        let wanted = self.setups == Wanted::Yes && !resolved.settings.hooks.is_empty();
        wanted.then(|| {
            let runner = hooks::Runner::new(shell::config(resolved), self.variables.clone());
            Arc::new(runner) as Arc<dyn Hooks>
        })
    }

    /// The handlers of hooks.
    pub(super) fn hook_registry(&self, resolved: &Resolved) -> Arc<Registry> {
        match self.setups {
            Wanted::Yes => Arc::new(hooks::registry(resolved)),
            Wanted::No => Arc::default(),
        }
    }

    /// What the commands of the conversation are held to (S8).
    pub(super) fn confinement(&self, resolved: &Resolved, roots: &[PathBuf]) -> Confinement {
        let sandbox = &resolved.settings.mnemon.sandbox;
        if !sandbox.enabled {
            return Confinement::Free;
        }
        let home = self.user_home.as_deref();
        let full = |path: &String| match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        };
        let temporary = self.variables.get("TMPDIR").filter(|dir| !dir.is_empty());
        let temporary = temporary.map_or_else(|| Path::new("/tmp"), |dir| Path::new(dir));
        let mut writable = roots.to_vec();
        writable.push(temporary.to_owned());
        writable.extend(sandbox.writable.iter().map(full));
        Confinement::Sandbox { writable }
    }
}
