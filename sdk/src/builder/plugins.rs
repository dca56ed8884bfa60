//! The plugins of an agent.

use super::{Builder, Wanted};
use crate::plugins;
use everfold_kernel::Limits;
use everfold_kernel::env::CLAUDE_CONFIG_DIR;
use everfold_plugdir::{Found, PluginDirs, find};
use everfold_settings::{Home, Resolved};
use std::path::{Path, PathBuf};

impl Builder {
    /// A plugin by its folder, whatever settings say. Of one name it stands
    /// over those that are installed.
    #[must_use]
    pub fn plugin(mut self, folder: impl Into<PathBuf>) -> Self {
        self.plugin_dirs.push(folder.into());
        self
    }

    /// Looks for plugins, and takes in the kinds of agents that they bring.
    pub(super) fn find_plugins(
        &mut self,
        home: &Home,
        root: &Path,
        resolved: &Resolved,
        limits: &Limits,
    ) -> Found {
        if self.setups == Wanted::No {
            return Found::default();
        }
        let claude = self.variables.get(CLAUDE_CONFIG_DIR).filter(|dir| !dir.is_empty());
        let claude =
            claude.map(PathBuf::from).or_else(|| Some(self.user_home.as_ref()?.join(".claude")));
        let mut homes = vec![home.root().to_owned()];
        homes.extend(claude.filter(|claude| claude != home.root()));
        let mut found = find(&PluginDirs {
            given: self.plugin_dirs.clone(),
            homes,
            data: home.root().join("plugins").join("data"),
            project: root.to_owned(),
            enabled: resolved.settings.enabled_plugins.clone(),
        });
        // Those of the start come last, and stand over them.
        let kinds = plugins::agents(&mut found, limits);
        self.agents.splice(0..0, kinds);
        found
    }
}
