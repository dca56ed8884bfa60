//! A home, a project and an agent in it, with a model that a test scripts.
//!
//! Everything but the model and the web is real where that is cheap: files and
//! transcripts in a temporary directory, the memory service, search, the shell.
//! There is no HTTP. What a test sets, it sets by the pointer of the setting, or
//! in the settings file of the home.

mod ports;
mod setups;
mod turn;

pub(crate) use ports::{AllowAll, PAGE, RefuseAll};
pub(crate) use turn::{Turn, say, say_ok};

use everfold_disk::{DiskFiles, DiskSpending, DiskTranscripts};
use everfold_engine::agents::{MemoryPlaces, coordinator, load};
use everfold_engine::config::{
    BackgroundSetup, Launch, MemorySetup, ModelSetup, PermissionSetup, Workplace,
};
use everfold_engine::{
    AgentSetup, Allowed, AutoDream, Config, Delegation, Error, KindDirs, ModelChoice, Offers,
    Remote, Resumed, Session, SessionSetting, Tool, Toolbox, World,
};
use everfold_kernel::ports::{
    Approver, Clock, Dreams, Files, Memories, MemoryPlace, MemoryScope, Model, SandboxState,
    Servers,
};
use everfold_kernel::settings::{PermissionMode, ProviderKind, Settings, Surface};
use everfold_kernel::window::Overrides;
use everfold_kernel::{Flag, ModelId, ModelTable, Secret, SessionId, TreeBounds};
use everfold_memory_service::{Here, Service, ServiceConfig};
use everfold_memory_store::DirDreams;
use everfold_memory_store::location::{global_dir, project_slug, team_dir};
use everfold_prefix::system::Surroundings;
use everfold_process::{BashShell, ShellConfig};
use everfold_search::{TranscriptSearch, TreeSearch};
use everfold_testkit::{FakeClock, FakeModel, TempHome};
use everfold_tools::{AgentTool, server_tools};
use everfold_transcript::{Listed, Side};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Place {
    pub(crate) dirs: TempHome,
    pub(crate) model: FakeModel,
    pub(crate) clock: FakeClock,
    settings: Value,
}

/// A key that nobody may write down.
pub(crate) const KEY: &str = "sk-test-0123456789";

impl Place {
    pub(crate) fn new(model: FakeModel) -> Self {
        // Requests beside the conversation are for the tests that are about them, and so is
        // whether they are worth it.
        let settings = json!({"everfold": {
            "flags": {"session_memory": false, "extract": false},
            "memory": {"reviewer": "fork"},
            "compact": {"notes": "always", "economy": "off"},
            "budget": {"background_share": 0.0},
        }});
        let clock = model.clock();
        Self { dirs: TempHome::new().unwrap(), model, clock, settings }
    }

    /// A place whose sessions have the small model pick memories for every message.
    pub(crate) fn asking(model: FakeModel) -> Self {
        let mut place = Self::new(model);
        set(&mut place.settings, "/everfold/recall/by", json!("model"));
        place
    }

    /// The same place with another model.
    pub(crate) fn with_model(self, model: FakeModel) -> Self {
        let clock = model.clock();
        Self { model, clock, ..self }
    }

    pub(crate) fn builder(&self) -> Builder {
        let real = |path: PathBuf| path.canonicalize().unwrap();
        let mut settings = self.settings.clone();
        if let Ok(text) = std::fs::read_to_string(self.dirs.home().join("settings.json")) {
            merge(&mut settings, &serde_json::from_str(&text).unwrap());
        }
        Builder {
            root: real(self.dirs.root().to_owned()),
            home: real(self.dirs.home()),
            cwd: real(self.dirs.project()),
            model: Arc::new(self.model.clone()),
            clock: Arc::new(self.clock.clone()),
            settings,
            choice: ModelChoice::Default,
            approver: Arc::new(AllowAll),
            files: Arc::new(DiskFiles),
            remote: Remote::No,
            guidelines: None,
            max_turns: None,
            tools: Vec::new(),
            servers: None,
            instructions: Instructions::Read,
            delegation: Delegation::AsNeeded,
        }
    }

    /// A builder with more settings, each by its pointer and as JSON.
    pub(crate) fn builder_with(&self, more: &[(&str, &str)]) -> Builder {
        more.iter().fold(self.builder(), |builder, (pointer, value)| {
            let text = || Value::String((*value).to_owned());
            builder.set(pointer, serde_json::from_str(value).unwrap_or_else(|_| text()))
        })
    }

    pub(crate) async fn agent(&self) -> Agent {
        self.builder().build().await
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        self.dirs.write(self.dirs.project().join(name), text).unwrap().display().to_string()
    }

    /// The lines of a session's transcript.
    pub(crate) fn transcript_of(&self, session: &SessionId) -> Vec<Value> {
        let name = format!("{session}.jsonl");
        let mut files = walk(&self.dirs.home().join("projects")).into_iter();
        lines(&files.find(|path| path.file_name().is_some_and(|own| own == name.as_str())).unwrap())
    }

    /// The lines of the only transcript.
    pub(crate) fn transcript(&self) -> Vec<Value> {
        let mut files = walk(&self.dirs.home().join("projects")).into_iter();
        lines(&files.find(|path| path.extension().is_some_and(|end| end == "jsonl")).unwrap())
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

/// Sets one value of a JSON object by its pointer, making what is above it.
fn set(settings: &mut Value, pointer: &str, value: Value) {
    let mut at = settings;
    for key in pointer.split('/').skip(1) {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[key];
    }
    *at = value;
}

/// Puts one object over another.
fn merge(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => under.clone_from(over),
    }
}

/// What an agent is made from.
pub(crate) struct Builder {
    root: PathBuf,
    home: PathBuf,
    cwd: PathBuf,
    model: Arc<dyn Model>,
    clock: Arc<dyn Clock>,
    settings: Value,
    choice: ModelChoice,
    approver: Arc<dyn Approver>,
    files: Arc<dyn Files>,
    remote: Remote,
    guidelines: Option<String>,
    max_turns: Option<u32>,
    tools: Vec<Arc<dyn Tool>>,
    servers: Option<Arc<dyn Servers>>,
    instructions: Instructions,
    delegation: Delegation,
}

/// Whether instruction files are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Read,
    Left,
}

impl Builder {
    /// One setting by its JSON pointer.
    pub(crate) fn set(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        if pointer == "/model" {
            self.choice = ModelChoice::Named;
        }
        set(&mut self.settings, pointer, value.into());
        self
    }

    /// Settings of a JSON object, over those that are set.
    pub(crate) fn settings(mut self, more: &Value) -> Self {
        merge(&mut self.settings, more);
        self
    }

    pub(crate) fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    pub(crate) fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = model;
        self
    }

    pub(crate) fn files(mut self, files: Arc<dyn Files>) -> Self {
        self.files = files;
        self
    }

    /// On a machine that goes away.
    pub(crate) fn remote(mut self) -> Self {
        self.remote = Remote::Yes;
        self
    }

    /// More guidelines for memory.
    pub(crate) fn guidelines(mut self, text: &str) -> Self {
        self.guidelines = Some(text.to_owned());
        self
    }

    /// Lets the main thread delegate and watch.
    pub(crate) fn coordinator(mut self) -> Self {
        self.delegation = Delegation::Coordinator;
        self
    }

    pub(crate) fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Leaves instruction files out.
    pub(crate) fn without_instructions(mut self) -> Self {
        self.instructions = Instructions::Left;
        self
    }

    /// A server `s` with a tool `echo`.
    pub(crate) fn echo_server(mut self) -> Self {
        self.servers = Some(Arc::new(ports::EchoServer));
        self.tools.extend(server_tools());
        self
    }

    pub(crate) async fn build(self) -> Agent {
        let settings: Settings = serde_json::from_value(self.settings.clone()).unwrap();
        let world = self.world(&settings);
        let mut config = self.config(&settings);
        let dirs = KindDirs {
            person: Some(self.home.join("agents")),
            repository: Some(self.cwd.join(".claude/agents")),
            tree: self.tree(),
            ..KindDirs::default()
        };
        let limits = Arc::clone(&config.limits);
        let roster = Arc::new(load(&*self.files, &dirs, &limits.agents).await);
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(AgentTool::new(&roster, &limits.agents))];
        let memory = self.agent_memory(&settings);
        config.agents = AgentSetup { roster, dirs, memory, delegation: self.delegation };
        if self.delegation == Delegation::Coordinator {
            config.surroundings.appended = Some(coordinator().to_owned());
        }
        tools.extend(self.set_up(&settings, &mut config));
        tools.extend(self.tools);
        Agent { world, config, toolbox: Toolbox::with_extra(tools) }
    }

    fn world(&self, settings: &Settings) -> World {
        let project = self.home.join("projects").join(project_slug(&self.cwd));
        let longest = settings.everfold.limits.transcript_line_bytes;
        let memories = self.memories(settings, &project);
        let dreams = memories.iter().map(|_| {
            let (dir, scope) = (project.join("memory"), MemoryScope::Project);
            Arc::new(DirDreams::new(dir, scope, &self.clock)) as Arc<dyn Dreams>
        });
        let dreams = dreams.collect();
        World {
            clock: Arc::clone(&self.clock),
            model: match settings.everfold.provider.kind {
                Some(ProviderKind::Offline) => Arc::new(ports::Rules),
                _ => Arc::clone(&self.model),
            },
            files: Arc::clone(&self.files),
            shell: Arc::new(BashShell::new(ShellConfig::default())),
            search: Arc::new(TreeSearch),
            web: Arc::new(ports::OnePage),
            transcripts: Arc::new(DiskTranscripts::new(project.clone()).with_max_line(longest)),
            approver: Arc::clone(&self.approver),
            servers: self.servers.clone(),
            server_maker: None,
            hooks: Some(Arc::new(setups::Programs::default())),
            past: Some(Arc::new(TranscriptSearch::new(vec![project], longest))),
            memories,
            spending: Some(Arc::new(DiskSpending::new(self.home.join("budget")))),
            respondent: None,
            post: None,
            worktrees: None,
            dreams,
            switches: None,
        }
    }

    fn memories(&self, settings: &Settings, project: &Path) -> Option<Arc<dyn Memories>> {
        let named = settings.auto_memory_directory.as_deref().map(PathBuf::from);
        let nowhere = self.remote == Remote::Yes && named.is_none();
        if settings.auto_memory_enabled == Some(false) || nowhere {
            return None;
        }
        let dir = named.unwrap_or_else(|| project.join("memory"));
        let mut places = vec![
            MemoryPlace { scope: MemoryScope::Global, dir: global_dir(&self.home) },
            MemoryPlace { scope: MemoryScope::Project, dir: dir.clone() },
        ];
        if settings.everfold.flags.is_on(Flag::TeamMemory) {
            places.push(MemoryPlace { scope: MemoryScope::Team, dir: team_dir(&dir) });
        }
        let here = Here { branch: None, worktree: Some(self.cwd.clone()) };
        let terms = ServiceConfig {
            extract: settings.everfold.limits.extract.clone(),
            recall: settings.everfold.limits.recall.clone(),
            review: settings.everfold.memory,
            cache: Some(self.home.join("cache/catalogues")),
            ..ServiceConfig::default()
        };
        Some(Arc::new(Service::new(places, here, terms, &self.clock)))
    }

    fn agent_memory(&self, settings: &Settings) -> MemoryPlaces {
        if settings.auto_memory_enabled == Some(false) {
            return MemoryPlaces::default();
        }
        MemoryPlaces {
            user: Some(self.home.join("agent-memory")),
            project: Some(self.cwd.join(".claude/agent-memory")),
            local: Some(self.cwd.join(".claude/agent-memory-local")),
        }
    }

    fn tree(&self) -> TreeBounds {
        TreeBounds {
            root: self.cwd.clone(),
            user_home: Some(self.root.clone()),
            ..TreeBounds::default()
        }
    }

    fn config(&self, settings: &Settings) -> Config {
        let own = &settings.everfold;
        let usual = Config::new(self.cwd.clone());
        let (mut flags, mut limits) = (own.flags.clone(), own.limits.clone());
        if settings.file_checkpointing_enabled == Some(false) {
            limits.rewind.file_bytes = 0;
        }
        if settings.auto_compact_enabled == Some(false) {
            flags.set(Flag::AutoCompact, false);
        }
        let off = own.memory.extract_headless == Some(false);
        Config {
            models: self.models(settings, usual.models),
            limits: Arc::new(limits),
            flags,
            memory: MemorySetup {
                guidelines: self.guidelines.clone(),
                keep: own.memory,
                recall: own.recall,
                notes_dir: Some(self.home.join("session-memory/config")),
            },
            background: BackgroundSetup {
                budget: own.budget,
                slots: own.provider.slots,
                compact: own.compact,
                extraction: SessionSetting {
                    surface: Surface::Headless,
                    headless: if off { Allowed::No } else { Allowed::Yes },
                    remote: self.remote,
                },
                auto_dream: match settings.auto_dream_enabled {
                    Some(false) => AutoDream::Off,
                    Some(true) | None => AutoDream::On,
                },
            },
            surroundings: Surroundings {
                output_style: settings.output_style.clone(),
                language: settings.language.clone(),
                platform: "test".into(),
                ..usual.surroundings
            },
            permissions: PermissionSetup {
                mode: settings.permissions.default_mode.unwrap_or(PermissionMode::Default),
                rules: settings.permissions.clone(),
                ..usual.permissions
            },
            workplace: Workplace {
                user_home: Some(self.root.clone()),
                own_home: Some(self.home.clone()),
                ..usual.workplace
            },
            launch: Launch {
                max_turns: self.max_turns,
                lean: own.lean,
                secrets: vec![Secret::new(KEY)],
                ..usual.launch
            },
            ..usual
        }
    }

    fn models(&self, settings: &Settings, usual: ModelSetup) -> ModelSetup {
        let own = &settings.everfold;
        ModelSetup {
            model: settings.model.as_deref().map_or(usual.model, ModelId::new),
            choice: self.choice,
            small: own.small_model.as_deref().map_or(usual.small, ModelId::new),
            fallback: own.fallback_model.as_deref().map(ModelId::new),
            table: ModelTable::builtin().with_overrides(&own.models, &own.prices),
            window: Overrides {
                auto_compact_window: settings.auto_compact_window,
                auto_compact_percent: own.auto_compact_percent,
                ..Overrides::default()
            },
            cache: own.cache.ttl.resolve(Surface::Headless),
            ttl: own.cache.ttl,
            thinking: own.thinking,
            effort: own.effort.clone(),
            betas: Vec::new(),
            offers: Offers::from(&own.provider),
        }
    }
}

/// An agent for the project.
pub(crate) struct Agent {
    world: World,
    config: Config,
    toolbox: Toolbox,
}

impl Agent {
    pub(crate) fn start(&self) -> Session {
        self.start_as(SessionId::from(self.world.clock.fresh_uuid()))
    }

    pub(crate) fn start_as(&self, id: SessionId) -> Session {
        Session::new(id, self.world.clone(), self.config(), self.toolbox.clone())
    }

    pub(crate) async fn resume(&self, id: SessionId) -> Result<(Session, Resumed), Error> {
        let (world, toolbox) = (self.world.clone(), self.toolbox.clone());
        everfold_engine::resume(id, world, self.config(), toolbox).await
    }

    pub(crate) async fn fork(&self, from: &SessionId) -> Result<(Session, Resumed), Error> {
        let id = SessionId::from(self.world.clock.fresh_uuid());
        let (world, toolbox) = (self.world.clone(), self.toolbox.clone());
        everfold_engine::fork(from, id, world, self.config(), toolbox).await
    }

    /// The conversations of this project, newest first.
    pub(crate) async fn sessions(&self) -> Vec<Listed> {
        let glimpses = self.world.transcripts.glimpse().await.unwrap();
        let listed = glimpses.iter().map(everfold_transcript::list);
        listed.filter(|entry| entry.side == Side::Main).collect()
    }

    /// Whether background agents cannot run commands here (S12). A test that needs
    /// them says so and does without.
    #[expect(clippy::print_stderr, reason = "who runs the tests should know")]
    pub(crate) fn is_without_sandbox(&self) -> bool {
        let SandboxState::Missing(why) = self.world.shell.sandbox() else { return false };
        eprintln!("skipped: there is no sandbox here ({why}); bubblewrap would do");
        true
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    pub(crate) fn config(&self) -> Config {
        self.config.clone()
    }

    pub(crate) async fn shutdown(&self) {
        self.world.shell.shutdown().await;
        if let Some(hooks) = &self.world.hooks {
            hooks.shutdown().await;
        }
    }
}
