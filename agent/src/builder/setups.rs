//! What people set up around an agent, and what commands are held to.

use super::{Builder, Wanted};
use crate::hook_registry;
use crate::plugins;
use crate::servers::{self, Maker, NamedServers};
use crate::shell;
use crate::skill_files;
use crate::styles;
use everfold_disk::DiskTranscripts;
use everfold_engine::{Config, Tool, World};
use everfold_hooks::{HookEvent, Registry};
use everfold_kernel::ports::{Confinement, Hooks, SandboxProfile, Transcripts};
use everfold_plugdir::Plugin;
use everfold_settings::Resolved;
use everfold_settings::trust::Trust;
use everfold_tools::{server_tools, skill_tool};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where an agent is put together.
pub(super) struct Ground<'a> {
    pub(super) home: &'a Path,
    pub(super) root: &'a Path,
    pub(super) trust: &'a Trust,
    pub(super) resolved: &'a Resolved,
    pub(super) plugins: &'a [Plugin],
}

impl Builder {
    /// Where conversations are kept.
    pub(super) fn logs(&self, dir: &Path, longest: u64) -> Arc<dyn Transcripts> {
        self.transcripts.clone().unwrap_or_else(|| {
            Arc::new(DiskTranscripts::new(dir.to_owned()).with_max_line(longest))
        })
    }

    /// Who runs the handlers of hooks and the status line; nobody where there
    /// are to be none.
    pub(super) fn hook_runner(&self, resolved: &Resolved, trust: &Trust) -> Option<Arc<dyn Hooks>> {
        (self.setups == Wanted::Yes).then(|| {
            let (shell, variables) = (shell::config(resolved), self.variables.clone());
            Arc::new(hook_registry::Runner::new(shell, variables, trust)) as Arc<dyn Hooks>
        })
    }

    /// The handlers of hooks.
    pub(super) fn hook_registry(&self, resolved: &Resolved) -> Arc<Registry> {
        match self.setups {
            Wanted::Yes => Arc::new(hook_registry::registry(resolved)),
            Wanted::No => Arc::default(),
        }
    }

    /// Brings in skills and servers, and gives the tools that they need.
    pub(super) fn set_up(
        &self,
        world: &mut World,
        config: &mut Config,
        ground: &Ground<'_>,
    ) -> (Vec<Arc<dyn Tool>>, NamedServers) {
        let mut extra: Vec<Arc<dyn Tool>> = Vec::new();
        let mut named = NamedServers::default();
        if self.setups == Wanted::Yes {
            let Ground { home, root, trust, resolved, plugins } = *ground;
            config.setups.hooks = Arc::new(config.setups.hooks.and(&plugins::registry(plugins)));
            let bins: Vec<PathBuf> =
                plugins.iter().filter_map(|plugin| plugin.bin.clone()).collect();
            if !bins.is_empty() {
                let path = self.variables.get(shell::PATH).map(String::as_str);
                world.shell = shell::with_path(resolved, path, &bins);
            }
            let limits = &config.limits.skills;
            let places = skill_files::Ground { home, trust, limits, plugins };
            config.setups.skills = Arc::new(skill_files::shelf(&places));
            let known = styles::styles(home, trust, plugins, &config.limits.skills);
            let style = config.surroundings.output_style.take();
            config.surroundings.output_style = style.and_then(|it| styles::resolve(&it, &known));
            named = servers::named(resolved, root, trust, plugins, &self.variables);
            let mut maker =
                Maker::new(&config.workplace.roots, resolved, &self.variables, &config.limits.mcp);
            // Servers hear of somebody who answers only where there is one.
            if self.respondent.is_some() || config.setups.hooks.listens_to(HookEvent::Elicitation) {
                maker = maker.answering();
            }
            if !named.entries.is_empty() {
                world.servers = Some(maker.servers(named.entries.clone(), &config.workplace.roots));
            }
            world.server_maker = Some(Arc::new(maker));
        }
        extra.extend(config.setups.skills.has_for_model().then(skill_tool));
        if world.servers.is_some() {
            extra.extend(server_tools());
        }
        (extra, named)
    }

    /// What the commands of the conversation are held to (S8).
    pub(super) fn confinement(&self, resolved: &Resolved, roots: &[PathBuf]) -> Confinement {
        let sandbox = &resolved.settings.everfold.sandbox;
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
        Confinement::Sandbox(SandboxProfile { writable, ..SandboxProfile::default() })
    }
}
