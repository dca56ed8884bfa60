//! What the agents of a session are started with: kinds, memory, post.

use super::{Builder, Wanted};
use crate::error::Error;
use crate::memory_place::Named;
use crate::repo::Repo;
use mnemon_engine::agents::{KindDirs, MemoryPlaces, coordinator, load};
use mnemon_engine::tools::AgentTool;
use mnemon_engine::{AgentSetup, Config, Delegation, Tool};
use mnemon_kernel::Limits;
use mnemon_kernel::ports::{AgentName, Post};
use mnemon_mailbox::DiskPost;
use mnemon_memdir::location::git_root;
use mnemon_settings::{Home, Resolved};
use std::path::Path;
use std::sync::Arc;

impl Builder {
    /// Joins a team: other members write to this one by its name.
    #[must_use]
    pub fn team(mut self, team: AgentName, name: AgentName) -> Self {
        self.team = Some((team, name));
        self
    }

    /// Lets the main thread delegate and watch (L7.7).
    #[must_use]
    pub fn coordinator(mut self) -> Self {
        self.delegation = Delegation::Coordinator;
        self
    }

    /// Letters from and to other processes.
    pub(super) fn post(&self, home: &Home, limits: &Limits) -> Result<Arc<dyn Post>, Error> {
        let post = DiskPost::new(home.root(), Arc::clone(&self.clock), limits.agents.clone());
        Ok(match &self.team {
            Some((team, name)) => Arc::new(post.join(home.root(), team, name)?),
            None => Arc::new(post),
        })
    }

    /// Puts agents into the configuration, and gives the tool that starts them.
    pub(super) async fn equip(
        &self,
        config: &mut Config,
        home: &Home,
        repo: Option<&Repo>,
        cwd: &Path,
        resolved: &Resolved,
    ) -> Arc<dyn Tool> {
        let root = repo.map_or(cwd, |repo| repo.root.as_path());
        let dirs = match self.instructions {
            Wanted::Yes => KindDirs {
                person: Some(home.agents()),
                repository: Some(root.join(".claude/agents")),
            },
            Wanted::No => KindDirs::default(),
        };
        let limits = &config.limits.agents;
        let roster = Arc::new(load(&*self.files, &dirs, limits).await);
        let tool = AgentTool::new(&roster, limits);
        if self.delegation == Delegation::Coordinator {
            let own = config.surroundings.appended.take();
            let texts = [Some(coordinator().to_owned()), own];
            let text: Vec<String> = texts.into_iter().flatten().collect();
            config.surroundings.appended = Some(text.join("\n\n"));
        }
        config.agents = AgentSetup {
            roster,
            dirs,
            memory: memory(home, cwd, resolved),
            delegation: self.delegation,
        };
        Arc::new(tool)
    }
}

/// Where kinds of agents keep what they learned (L5.20); nowhere where memory
/// is off.
fn memory(home: &Home, cwd: &Path, resolved: &Resolved) -> MemoryPlaces {
    if resolved.settings.auto_memory_enabled == Some(false) {
        return MemoryPlaces::default();
    }
    let root = git_root(cwd).unwrap_or_else(|| cwd.to_owned());
    let remote = resolved.ambient.remote_memory_dir.as_deref().map(Path::new);
    let local = if Named::by(resolved).is_remote() {
        remote.map(|dir| dir.join("agent-memory-local"))
    } else {
        Some(root.join(".claude/agent-memory-local"))
    };
    MemoryPlaces {
        user: Some(home.root().join("agent-memory")),
        project: Some(root.join(".claude/agent-memory")),
        local,
    }
}
