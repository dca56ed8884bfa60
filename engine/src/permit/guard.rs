//! What searches leave out, as permissions stand now.

use super::{Permit, Places, Rule, credentials};
use everfold_kernel::ports::{PathGuard, ReadGuard, SandboxProfile};
use everfold_kernel::settings::PermissionMode;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether credentials are among what is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secrets {
    /// Unless a rule of the person names them.
    UnlessNamed,
    /// Whatever rules say: nobody watches.
    Always,
    /// They are not.
    Open,
}

struct Guard {
    places: Places,
    deny: Vec<Rule>,
    allow: Vec<Rule>,
    secrets: Secrets,
}

impl ReadGuard for Guard {
    fn bars(&self, path: &Path) -> bool {
        let named = || self.allow.iter().any(|rule| rule.opens(path));
        let secret = || credentials::is_credential(path, self.places.homes());
        self.deny.iter().any(|rule| rule.bars(path))
            || match self.secrets {
                Secrets::Open => false,
                Secrets::Always => secret(),
                Secrets::UnlessNamed => secret() && !named(),
            }
    }
}

impl Permit {
    /// What commands in a sandbox may touch: they write in these directories,
    /// our own home stays as it is, and places of credentials are hidden (S12).
    /// What is to be hidden in the working directories is looked for before
    /// each command.
    #[must_use]
    pub(crate) fn sandbox(&self, writable: Vec<PathBuf>) -> SandboxProfile {
        SandboxProfile {
            writable,
            read_only: self.places.own_home.iter().cloned().collect(),
            masked: credentials::known_places(self.places.homes()),
        }
    }

    /// Whether commands are held to the sandbox that the person wants.
    pub(crate) fn is_held(&self) -> bool {
        self.places.unheld.is_none()
    }

    /// What searches leave out.
    #[must_use]
    pub fn guard(&self) -> PathGuard {
        let secrets = match (self.is_watched(), self.mode()) {
            (false, _) => Secrets::Always,
            (true, PermissionMode::BypassPermissions) => Secrets::Open,
            (true, _) => Secrets::UnlessNamed,
        };
        let is_about_files = |rule: &&Rule| rule.is_about_files();
        let deny = self.deny.iter().chain(&self.deny_now);
        let guard = Guard {
            places: self.places.clone(),
            deny: deny.filter(is_about_files).cloned().collect(),
            allow: self.allow.iter().filter(is_about_files).cloned().collect(),
            secrets,
        };
        if guard.deny.is_empty() && secrets == Secrets::Open {
            return PathGuard::default();
        }
        PathGuard::new(Arc::new(guard))
    }
}
