//! What the agents of a session are started with: kinds, memory, post.

use super::{Builder, Wanted};
use crate::error::Error;
use crate::memory_location::Named;
use crate::team::{self, TeamGround};
use everfold_engine::agents::{Definition, DefinitionError, MemoryPlaces, coordinator, load};
use everfold_engine::{AgentSetup, Config, Delegation, KindDirs, Tool};
use everfold_kernel::Limits;
use everfold_kernel::ports::{AGENT_MEMORY_LOCAL, AgentName, Post};
use everfold_mailbox::DiskPost;
use everfold_memory_store::location::git_root;
use everfold_settings::layout::Platform;
use everfold_settings::trust::{Trust, TrustSubject};
use everfold_settings::{Home, Resolved};
use everfold_tools::AgentTool;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

impl Builder {
    /// Joins a team: other members write to this one by its name.
    #[must_use]
    pub fn team(mut self, team: AgentName, name: AgentName) -> Self {
        self.team = Some((team, name));
        self
    }

    /// Kinds of agents besides those of files, as `{"name": {"description",
    /// "prompt", …}}` with the fields of a file.
    ///
    /// # Errors
    /// If one of them defines no agent.
    pub fn agents(mut self, kinds: &Map<String, Value>) -> Result<Self, DefinitionError> {
        for (name, value) in kinds {
            self.agents.push(Definition::of_json(name, value)?);
        }
        Ok(self)
    }

    /// Where whoever manages the machine defines kinds: beside their settings.
    fn managed_agents(&self) -> Option<PathBuf> {
        let platform = Platform::current().managed_settings();
        let settings = self.managed.as_deref().unwrap_or(&platform);
        settings.parent().map(|dir| dir.join("agents"))
    }

    /// Lets the main thread delegate and watch (L7.7).
    #[must_use]
    pub fn coordinator(mut self) -> Self {
        self.delegation = Delegation::Coordinator;
        self
    }

    /// Letters from and to other processes.
    pub(super) fn post(
        &self,
        home: &Home,
        limits: &Limits,
        (cwd, resolved): (&Path, &Resolved),
    ) -> Result<Arc<dyn Post>, Error> {
        let post = DiskPost::new(home.root(), Arc::clone(&self.clock), limits.agents.clone());
        let Some((team, name)) = &self.team else { return Ok(Arc::new(post)) };
        let post = post.join(home.root(), team, name)?;
        // Members on other machines, where the team is a fleet's (F2).
        let ground = TeamGround::of(home.root(), cwd, resolved, &self.clock);
        let Some(carrier) = team::carrier(&ground, team) else { return Ok(Arc::new(post)) };
        let poll = Duration::from_millis(limits.fleet.mail_poll_ms.max(1));
        Ok(Arc::new(post.carried_by(carrier, poll)?))
    }

    /// Puts agents into the configuration, and gives the tool that starts them.
    pub(super) async fn equip(
        &self,
        config: &mut Config,
        home: &Home,
        cwd: &Path,
        (resolved, trust): (&Resolved, &Trust),
    ) -> Arc<dyn Tool> {
        let dirs = match self.instructions {
            Wanted::Yes => KindDirs {
                person: Some(home.agents()),
                repository: trust.agent_dir().map(|dir| dir.join("agents")),
                tree: trust.bounds(),
                acting: trust.acting(TrustSubject::Agents),
                managed: self.managed_agents(),
                given: self.agents.clone(),
            },
            Wanted::No => KindDirs { given: self.agents.clone(), ..KindDirs::default() },
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
    // A link there would make elsewhere part of what an agent may write (S9).
    let in_tree = |name: &str| {
        let dir = root.join(".claude").join(name);
        let there = dir.ancestors().find_map(|dir| dir.canonicalize().ok());
        there.is_some_and(|real| real.starts_with(&root)).then_some(dir)
    };
    let remote = resolved.ambient.remote_memory_dir.as_deref().map(Path::new);
    let local = if Named::by(resolved).is_remote() {
        remote.map(|dir| dir.join(AGENT_MEMORY_LOCAL))
    } else {
        in_tree(AGENT_MEMORY_LOCAL)
    };
    MemoryPlaces {
        user: Some(home.root().join("agent-memory")),
        project: in_tree("agent-memory"),
        local,
    }
}
