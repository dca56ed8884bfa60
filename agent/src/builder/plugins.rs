//! The plugins of an agent.

use super::{Builder, Wanted};
use crate::plugins;
use everfold_kernel::Limits;
use everfold_kernel::env::CLAUDE_CONFIG_DIR;
use everfold_plugdir::{Found, Plugin, PluginDirs, find};
use everfold_settings::{Home, Resolved, Trust};
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
        trust: &Trust,
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
            project: trust.root().to_owned(),
            enabled: resolved.settings.enabled_plugins.clone(),
        });
        self.leave_out_those_of_the_tree(&mut found, trust);
        // Those of the start come last, and stand over them.
        let kinds = plugins::agents(&mut found, limits);
        self.agents.splice(0..0, kinds);
        found
    }

    /// A list under a home may name a plugin that lies in the working tree,
    /// where anybody may have changed it (S9). Given with the start it is the
    /// person's word.
    fn leave_out_those_of_the_tree(&self, found: &mut Found, trust: &Trust) {
        let is_given = |root: &Path| {
            let mut given = self.plugin_dirs.iter().filter_map(|dir| dir.canonicalize().ok());
            given.any(|dir| dir == root)
        };
        let stays =
            |plugin: &Plugin| !plugin.root.starts_with(trust.root()) || is_given(&plugin.root);
        let (kept, left) = std::mem::take(&mut found.plugins).into_iter().partition(stays);
        found.plugins = kept;
        let left: Vec<Plugin> = left;
        found.problems.extend(left.iter().map(|plugin| {
            format!(
                "the plugin {} is not used: it is in the working tree; to use it, give its folder \
                 with --plugin-dir",
                plugin.id
            )
        }));
    }
}
