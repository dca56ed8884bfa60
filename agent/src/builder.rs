//! Putting an agent together.

use crate::agent::{Agent, Parts};
use crate::approvers::RefuseAll;
use crate::error::Error;
use crate::memory;
use crate::recorded_files::RecordedFiles;
use crate::repo::Repo;
use crate::shell;
use crate::team::{ProjectTeam, TeamGround};
use everfold_clock::SystemClock;
use everfold_disk::{DiskFiles, DiskSpending};
use everfold_engine::agents::Definition;
use everfold_engine::{Delegation, Tool, Toolbox, World};
use everfold_kernel::Limits;
use everfold_kernel::ports::{
    AgentName, Approver, Clock, Files, Memories, Model, Respondent, Search, Transcripts, Web,
};
use everfold_kernel::settings::Surface;
use everfold_search::{TranscriptSearch, TreeSearch};
use everfold_settings::{BrokenFiles, Extra, Home, Layer, Resolved, Trust};
use everfold_web::WebReader;
use everfold_worktree::GitWorktrees;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod agents;
mod config;
mod hosts;
mod inspection;
mod plugins;
mod setups;
pub(crate) mod switches;

use setups::Ground;
use switches::LiveSettings;

/// What an agent is made from. Everything but the working directory has a
/// default; every port can be replaced.
pub struct Builder {
    cwd: PathBuf,
    home: Option<PathBuf>,
    user_home: Option<PathBuf>,
    variables: BTreeMap<String, String>,
    extra_settings: Option<Extra>,
    flags: Vec<Layer>,
    managed: Option<PathBuf>,
    surface: Surface,
    extra_directories: Vec<PathBuf>,
    appended: Option<String>,
    max_turns: Option<u32>,
    entrypoint: String,
    tools: Vec<Arc<dyn Tool>>,
    model: Option<Arc<dyn Model>>,
    approver: Arc<dyn Approver>,
    respondent: Option<Arc<dyn Respondent>>,
    clock: Arc<dyn Clock>,
    files: Arc<dyn Files>,
    transcripts: Option<Arc<dyn Transcripts>>,
    memories: Option<Arc<dyn Memories>>,
    instructions: Wanted,
    team: Option<(AgentName, AgentName)>,
    delegation: Delegation,
    agents: Vec<Definition>,
    setups: Wanted,
    plugin_dirs: Vec<PathBuf>,
    broken: BrokenFiles,
    purpose: Purpose,
}

/// What an agent is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Conversations.
    Talking,
    /// To look at what is there.
    Looking,
}

/// Whether something is brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
}

impl Builder {
    pub(crate) fn new(cwd: PathBuf) -> Self {
        Self {
            cwd,
            home: None,
            user_home: None,
            variables: BTreeMap::new(),
            extra_settings: None,
            flags: Vec::new(),
            managed: None,
            surface: Surface::Headless,
            extra_directories: Vec::new(),
            appended: None,
            max_turns: None,
            entrypoint: "sdk-rs".into(),
            tools: Vec::new(),
            model: None,
            approver: Arc::new(RefuseAll),
            respondent: None,
            clock: Arc::new(SystemClock),
            files: Arc::new(DiskFiles),
            transcripts: None,
            memories: None,
            instructions: Wanted::Yes,
            team: None,
            delegation: Delegation::AsNeeded,
            agents: Vec::new(),
            setups: Wanted::Yes,
            plugin_dirs: Vec::new(),
            broken: BrokenFiles::Refused,
            purpose: Purpose::Talking,
        }
    }

    /// Where Everfold keeps its files; else `EVERFOLD_HOME` or `~/.everfold` of what
    /// [`Self::environment`] was given.
    #[must_use]
    pub fn home(mut self, path: impl Into<PathBuf>) -> Self {
        self.home = Some(path.into());
        self
    }

    /// The environment: variables, and the person's home directory.
    #[must_use]
    pub fn environment(
        mut self,
        variables: BTreeMap<String, String>,
        user_home: Option<PathBuf>,
    ) -> Self {
        self.variables = variables;
        self.user_home = user_home;
        self
    }

    /// A settings file or JSON object besides the usual ones.
    #[must_use]
    pub fn settings(mut self, extra: Extra) -> Self {
        self.extra_settings = Some(extra);
        self
    }

    /// One setting by its JSON pointer, over files and environment.
    #[must_use]
    pub fn set(mut self, name: &str, pointer: &str, value: impl Into<serde_json::Value>) -> Self {
        self.flags.push(Layer::flag(name, pointer, value));
        self
    }

    /// Managed settings elsewhere than where the platform has them.
    #[must_use]
    pub fn managed_settings(mut self, path: impl Into<PathBuf>) -> Self {
        self.managed = Some(path.into());
        self
    }

    /// Whether a person sits in front of it.
    #[must_use]
    pub fn surface(mut self, surface: Surface) -> Self {
        self.surface = surface;
        self
    }

    /// A further directory in which tools may work.
    #[must_use]
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.extra_directories.push(path.into());
        self
    }

    /// Text at the end of the system prompt.
    #[must_use]
    pub fn append_system_prompt(mut self, text: impl Into<String>) -> Self {
        self.appended = Some(text.into());
        self
    }

    /// Most requests of one turn.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// How the transcript names the program.
    #[must_use]
    pub fn entrypoint(mut self, name: impl Into<String>) -> Self {
        self.entrypoint = name.into();
        self
    }

    /// A tool of your own, after the standard ones.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// A model of your own, in place of the one that settings choose.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// Who says yes or no to tool calls; else nobody does.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Who answers what servers want to know; else it is declined.
    #[must_use]
    pub fn respondent(mut self, respondent: Arc<dyn Respondent>) -> Self {
        self.respondent = Some(respondent);
        self
    }

    /// Another clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Other files.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn Files>) -> Self {
        self.files = files;
        self
    }

    /// Another place for transcripts.
    #[must_use]
    pub fn transcripts(mut self, transcripts: Arc<dyn Transcripts>) -> Self {
        self.transcripts = Some(transcripts);
        self
    }

    /// Leaves instruction files out.
    #[must_use]
    pub fn without_instructions(mut self) -> Self {
        self.instructions = Wanted::No;
        self
    }

    /// Leaves out what people set up around an agent: hooks, skills, servers.
    #[must_use]
    pub fn without_setups(mut self) -> Self {
        self.setups = Wanted::No;
        self
    }

    /// Makes an agent that only looks at what is there (S14): no key is asked
    /// for and no model reached, and settings that are broken are passed over
    /// and told by [`Agent::settings`], as is what they name wrongly.
    #[must_use]
    pub fn only_looking(mut self) -> Self {
        self.purpose = Purpose::Looking;
        self.broken = BrokenFiles::PassedOver;
        self
    }

    /// Memories of your own, in place of the directories that settings name.
    #[must_use]
    pub fn memories(mut self, memories: Arc<dyn Memories>) -> Self {
        self.memories = Some(memories);
        self
    }

    /// Reads the settings and makes the agent.
    ///
    /// # Errors
    /// If the directory cannot be used, settings are broken, or the provider
    /// cannot be made.
    pub async fn build(mut self) -> Result<Agent, Error> {
        let cwd = real_directory(&self.cwd)?;
        let repo = Repo::around(&cwd);
        let home = self.resolve_home()?;
        let trust = self.look_at_trust(&home, repo.as_ref(), &cwd);
        let LiveSettings { mut resolved, live, poller, switches } =
            self.follow_settings(&home, &trust)?;
        let choice = self.choice(&mut resolved)?;
        let (_, limits) = live.current();
        let root = repo.as_ref().map_or_else(|| cwd.clone(), |repo| repo.root.clone());
        let plugins = self.find_plugins(&home, &trust, &resolved, &limits);
        let made = Box::pin(self.make_provider(&choice, &limits, &home, &resolved)).await?;
        let limits = Arc::new(limits);
        let mut world = self.world(&home, &trust, &resolved, made.model, &limits)?;
        let found = match &self.memories {
            Some(own) => Ok(Some(Arc::clone(own))),
            None => self.directories(&home, repo.as_ref(), &cwd, &resolved).await,
        };
        world.memories = self.or_told(found, &mut resolved)?.flatten();
        if let (Some(found), None) = (&world.memories, &self.memories) {
            // Consolidation is for the directories that are ours to know.
            let ground = TeamGround::of(home.root(), &cwd, &resolved, &self.clock);
            world.dreams = memory::dreams(&**found, ProjectTeam::usable(&ground), &self.clock);
        }
        world.switches = Some(switches);
        let mut config = self.config(&mut resolved, &choice, &cwd, repo.as_ref(), limits, &home)?;
        config::take_served(&mut config, &resolved, &made.served);
        // Changing what acts by itself is never free, whatever the mode (S9).
        config.permissions.rules.ask.extend(config::guarding_rules(&trust));
        config.setups.instructions = (self.instructions == Wanted::Yes)
            .then(|| self.instruction_sources(&home, &resolved, &cwd, &trust));
        config.memory.notes_dir = Some(home.root().join("session-memory").join("config"));
        config.launch.secrets = made.key.into_iter().collect();
        let kinds = self.equip(&mut config, &home, &cwd, (&resolved, &trust));
        let agents = Box::pin(kinds).await;
        config.setups.settings_files = self.settings_files(&home, &root);
        let ground = Ground {
            home: home.root(),
            root: &root,
            trust: &trust,
            resolved: &resolved,
            plugins: &plugins.plugins,
        };
        let (setups, servers) = self.set_up(&mut world, &mut config, &ground);
        let toolbox = Toolbox::with_extra([vec![agents], setups, self.tools].concat());
        let parts = Parts {
            world,
            config,
            toolbox,
            home,
            repo,
            trust,
            servers,
            plugins,
            resolved,
            choice,
            served: made.served,
            live,
            _poller: poller,
        };
        Ok(Agent::new(parts))
    }

    /// The outside world, but for memories and what people set up.
    fn world(
        &self,
        home: &Home,
        trust: &Trust,
        resolved: &Resolved,
        model: Arc<dyn Model>,
        limits: &Limits,
    ) -> Result<World, Error> {
        let cwd = trust.cwd().display().to_string();
        let project = home.project_dir(&everfold_transcript::slug(&cwd));
        let longest = limits.transcript_line_bytes;
        let transcripts = self.logs(project.root(), longest);
        let past = TranscriptSearch::new(vec![project.root().to_owned()], longest);
        let files = RecordedFiles::new(&self.files, trust.clone(), &self.clock);
        Ok(World {
            clock: Arc::clone(&self.clock),
            model,
            files: Arc::new(files),
            shell: shell::make(resolved),
            search: Arc::new(TreeSearch) as Arc<dyn Search>,
            web: Arc::new(WebReader::new(limits)) as Arc<dyn Web>,
            transcripts,
            approver: Arc::clone(&self.approver),
            respondent: self.respondent.clone(),
            servers: None,
            server_maker: None,
            hooks: self.hook_runner(resolved, trust),
            past: Some(Arc::new(past)),
            memories: None,
            dreams: Vec::new(),
            switches: None,
            spending: Some(Arc::new(DiskSpending::new(home.root().join("budget")))),
            post: Some(self.post(home, limits, (trust.cwd(), resolved))?),
            worktrees: Some(Arc::new(GitWorktrees::new(home.root().join("worktrees")))),
        })
    }
}

fn real_directory(path: &Path) -> Result<PathBuf, Error> {
    let broken = |message: String| Error::Directory { path: path.to_owned(), message };
    let real = path.canonicalize().map_err(|error| broken(error.to_string()))?;
    if real.is_dir() { Ok(real) } else { Err(broken("it is not a directory".into())) }
}
