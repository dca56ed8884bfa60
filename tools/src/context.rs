//! What a tool may use while it runs, and what tools remember from call to
//! call: the working directory, the versions of files that the model has seen,
//! its to-do list, its commands. Nothing here survives the process.

mod heard;

use everfold_kernel::ports::{
    Confinement, FileVersion, JobInfo, JobState, PastSearch, PathGuard, PermissionAnswer,
    SandboxProfile, World,
};
use everfold_kernel::provenance::{Provenance, Source};
use everfold_kernel::settings::PermissionMode;
use everfold_kernel::{Limits, SessionId, ToolUseId};
use everfold_memory_judge::secrets::KnownSecrets;
use everfold_skills::Shelf;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::checkpoints::FileCheckpoints;
use crate::delegation::AgentDesk;
use crate::foreground::RunningCommands;
use crate::hooks::{ENV_FILE, ToolHooks};
use crate::lookup::Lookup;
use crate::outcome::BackgroundWork;
use crate::skill::SkillRequest;
use crate::snip::{SnipRequest, Snipping};
use crate::{Asker, Todo};

/// The field of a result's structured form that names versions of files.
pub const SEEN_FIELD: &str = "everfoldSeen";

/// What a tool may use while it runs.
pub struct ToolContext {
    pub world: World,
    pub session: SessionId,
    /// The limits of this session.
    pub limits: Arc<Limits>,
    /// Where the session keeps its own files (spills, job output).
    pub session_dir: PathBuf,
    /// Variables that hooks left for commands, where the file is there.
    pub env_file: PathBuf,
    /// Directories in which files may be touched; the first is where it started.
    pub roots: Vec<PathBuf>,
    /// Who answers questions over a page; without one the page itself is given.
    pub ask: Option<Arc<dyn Asker>>,
    /// Whether the model may take ranges out of its view.
    pub snipping: Snipping,
    /// Skills that can be taken up.
    pub skills: Arc<Shelf>,
    /// The agents of the session; none where it has none.
    pub agents: Option<Arc<dyn AgentDesk>>,
    /// Hooks that speak in the person's place; none where nobody asks them.
    pub hooks: Option<Arc<dyn ToolHooks>>,
    /// Where what is out of view is found.
    pub lookup: Option<Arc<dyn Lookup>>,
    /// What commands are held to by the operating system (S8).
    pub confinement: Confinement,
    /// Keeps files as they were before tools changed them; none where nothing
    /// is to be gone back to (Q12).
    pub history: Option<Arc<dyn FileCheckpoints>>,
    /// Commands that run in the foreground.
    pub running: RunningCommands,
    state: Arc<Mutex<ToolState>>,
}

/// What tools remember from call to call.
#[derive(Clone, Debug, Default)]
struct ToolState {
    cwd: PathBuf,
    reads: BTreeMap<PathBuf, FileVersion>,
    /// Those of them that are not in the log yet.
    fresh_reads: BTreeMap<PathBuf, FileVersion>,
    todos: Vec<Todo>,
    /// Whose words results hold, by the names that they have as files.
    results: BTreeMap<String, Provenance>,
    /// Who wrote the least trusted words that the model had in view.
    heard: Option<Source>,
    /// Keys that were said in the conversation.
    secrets: KnownSecrets,
    /// What the log of a resumed session says was started in the background.
    restored_background: BTreeSet<String>,
    /// Background commands whose end nobody was told of.
    untold_jobs: BTreeSet<String>,
    /// Ranges that the model wants out of view before the next request.
    snips: Vec<SnipRequest>,
    /// Skills that the model wants to take up.
    skills: Vec<SkillRequest>,
    /// The plan file, while in plan mode.
    plan: Option<PathBuf>,
    /// The mode that follows plan mode, once the person agreed.
    left_plan: Option<PermissionMode>,
    /// Which files searches leave out (S10, S11).
    guard: PathGuard,
}

impl ToolContext {
    /// A context whose working directory is the first root.
    #[must_use]
    pub fn new(world: World, session: SessionId, limits: Arc<Limits>, roots: Vec<PathBuf>) -> Self {
        let session_dir = world.transcripts.session_dir(&session);
        let cwd = roots.first().cloned().unwrap_or_default();
        let state = ToolState { cwd, ..ToolState::default() };
        Self {
            world,
            session,
            limits,
            env_file: session_dir.join(ENV_FILE),
            session_dir,
            roots,
            ask: None,
            snipping: Snipping::On,
            skills: Arc::default(),
            agents: None,
            hooks: None,
            lookup: None,
            confinement: Confinement::Free,
            history: None,
            running: RunningCommands::default(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The same for a background agent: what was read and noted so far is
    /// cloned, and what it does to it stays its own (L7.1).
    #[must_use]
    pub fn cloned_for(&self, world: World, held: SandboxProfile) -> Self {
        let state = self.state();
        let state = ToolState {
            cwd: state.cwd.clone(),
            reads: state.reads.clone(),
            todos: state.todos.clone(),
            results: state.results.clone(),
            heard: state.heard,
            guard: state.guard.clone(),
            ..ToolState::default()
        };
        Self {
            world,
            session: self.session.clone(),
            limits: Arc::clone(&self.limits),
            session_dir: self.session_dir.clone(),
            env_file: self.env_file.clone(),
            roots: self.roots.clone(),
            ask: self.ask.clone(),
            snipping: Snipping::Off,
            skills: Arc::clone(&self.skills),
            agents: None,
            hooks: None,
            lookup: self.lookup.clone(),
            // Commands of background agents only read (S3), and are held to it.
            confinement: Confinement::Sandbox(held),
            history: None,
            running: RunningCommands::default(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// The same context under other limits and switches. What tools remember is
    /// the same too, also for a tool that still runs under the old ones.
    #[must_use]
    pub fn under(
        &self,
        limits: Arc<Limits>,
        snipping: Snipping,
        past: Option<Arc<dyn PastSearch>>,
    ) -> Self {
        Self {
            world: World { past, ..self.world.clone() },
            session: self.session.clone(),
            limits,
            session_dir: self.session_dir.clone(),
            env_file: self.env_file.clone(),
            roots: self.roots.clone(),
            ask: self.ask.clone(),
            snipping,
            skills: Arc::clone(&self.skills),
            agents: self.agents.clone(),
            hooks: self.hooks.clone(),
            lookup: self.lookup.clone(),
            confinement: self.confinement.clone(),
            history: self.history.clone(),
            running: self.running.clone(),
            state: Arc::clone(&self.state),
        }
    }

    /// Which files searches leave out, and sandboxes hide.
    #[must_use]
    pub fn guard(&self) -> PathGuard {
        self.state().guard.clone()
    }

    /// Says which files searches leave out from now on.
    pub fn set_guard(&self, guard: PathGuard) {
        self.state().guard = guard;
    }

    /// The working directory of the shell.
    #[must_use]
    pub fn cwd(&self) -> PathBuf {
        self.state().cwd.clone()
    }

    /// Moves the working directory.
    pub fn set_cwd(&self, cwd: PathBuf) {
        self.state().cwd = cwd;
    }

    /// A path as the model gave it, made absolute by the working directory.
    #[must_use]
    pub fn absolute(&self, path: &str) -> PathBuf {
        let path = path.trim();
        if path.is_empty() {
            // Joining an empty path would leave a slash at the end.
            return self.cwd();
        }
        self.cwd().join(path)
    }

    /// Remembers that the model has seen this version of a file. The path is
    /// the resolved one, so that two names of a file are one file.
    pub fn saw(&self, path: PathBuf, version: FileVersion) {
        let mut state = self.state();
        state.fresh_reads.insert(path.clone(), version.clone());
        state.reads.insert(path, version);
    }

    /// Takes the versions that were seen since this was last asked, as the
    /// log keeps them: with them a resumed session knows what was read.
    #[must_use]
    pub fn with_reads(&self, structured: Option<Value>) -> Option<Value> {
        let seen = std::mem::take(&mut self.state().fresh_reads);
        if seen.is_empty() {
            return structured;
        }
        let mut fields = match structured {
            Some(Value::Object(fields)) => fields,
            Some(other) => Map::from_iter([("result".to_owned(), other)]),
            None => Map::new(),
        };
        let seen = seen
            .into_iter()
            .map(|(path, version)| (path.display().to_string(), Value::String(version.0)));
        fields.insert(SEEN_FIELD.to_owned(), Value::Object(seen.collect()));
        Some(Value::Object(fields))
    }

    /// Takes over the versions that a result in the log names.
    pub fn restore_reads(&self, structured: &Value) {
        let seen = structured.get(SEEN_FIELD).and_then(Value::as_object);
        let mut state = self.state();
        for (path, version) in seen.into_iter().flatten() {
            if let Some(version) = version.as_str() {
                state.reads.insert(PathBuf::from(path), FileVersion(version.to_owned()));
            }
        }
    }

    /// Takes over what a result in the log says was started in the background.
    pub fn restore_background(&self, structured: &Value) {
        if let Some(work) = BackgroundWork::named_in(structured) {
            self.state().restored_background.insert(work.id().to_owned());
        }
    }

    /// Takes the ids of what the log says was started in the background.
    #[must_use]
    pub fn take_restored_background(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.state().restored_background)
    }

    /// The version of a file that the model has seen.
    #[must_use]
    pub fn seen(&self, path: &Path) -> Option<FileVersion> {
        self.state().reads.get(path).cloned()
    }

    /// Remembers whose words the result of a call holds (L5.33).
    pub fn brought(&self, call: &ToolUseId, provenance: Provenance) {
        self.state().results.insert(everfold_offload::stem(call.as_str()).into_owned(), provenance);
    }

    /// Whose words the result of a call holds, by its id or its file's name.
    #[must_use]
    pub fn result_origin(&self, call: &ToolUseId) -> Option<Provenance> {
        let state = self.state();
        let stem = everfold_offload::stem(call.as_str());
        state.results.get(&*stem).or_else(|| state.results.get(call.as_str())).copied()
    }

    /// Remembers who wrote the least trusted of what the model has in view.
    pub fn hears(&self, lowest: Option<Source>) {
        self.state().heard = lowest;
    }

    /// The to-do list as the model last wrote it.
    #[must_use]
    pub fn todos(&self) -> Vec<Todo> {
        self.state().todos.clone()
    }

    /// Puts another to-do list in place, and gives back the one before.
    #[must_use]
    pub fn set_todos(&self, todos: Vec<Todo>) -> Vec<Todo> {
        std::mem::replace(&mut self.state().todos, todos)
    }

    /// Background commands of this context that ended since this was last
    /// asked, each once, in the order in which they were started.
    #[must_use]
    pub fn finished_jobs(&self) -> Vec<JobInfo> {
        let jobs = self.world.shell.jobs();
        let mut state = self.state();
        jobs.into_iter()
            .filter(|job| matches!(job.state, JobState::Ended(_)))
            .filter(|job| state.untold_jobs.remove(&job.id))
            .collect()
    }

    /// Remembers a background command whose end is to be told.
    pub(crate) fn started_job(&self, id: String) {
        self.state().untold_jobs.insert(id);
    }

    /// Asks for a range to be taken out of view before the next request.
    pub fn request_snip(&self, request: SnipRequest) {
        self.state().snips.push(request);
    }

    /// Asks for a skill to be brought in.
    pub fn request_skill(&self, request: SkillRequest) {
        self.state().skills.push(request);
    }

    /// Takes the skills that were asked for since this was last asked.
    #[must_use]
    pub fn take_skills(&self) -> Vec<SkillRequest> {
        std::mem::take(&mut self.state().skills)
    }

    /// Takes the ranges that were asked for since this was last asked.
    #[must_use]
    pub fn take_snips(&self) -> Vec<SnipRequest> {
        std::mem::take(&mut self.state().snips)
    }

    /// The plan file, while in plan mode.
    #[must_use]
    pub fn plan_file(&self) -> Option<PathBuf> {
        self.state().plan.clone()
    }

    /// Plan mode has begun.
    pub fn start_plan(&self, file: PathBuf) {
        self.state().plan = Some(file);
    }

    /// Plan mode has ended without a plan.
    pub fn end_plan(&self) {
        self.state().plan = None;
    }

    /// The person agreed to the plan, once or for all edits.
    pub(crate) fn leave_plan(&self, answer: &PermissionAnswer) {
        self.state().left_plan = Some(match answer {
            PermissionAnswer::AllowAlways => PermissionMode::AcceptEdits,
            _ => PermissionMode::Default,
        });
    }

    /// The mode to go on with, where the plan was agreed to since this was
    /// last asked.
    #[must_use]
    pub fn left_plan(&self) -> Option<PermissionMode> {
        let mut state = self.state();
        let mode = state.left_plan.take()?;
        state.plan = None;
        Some(mode)
    }

    /// Forgets what was read and asked for on a branch of the conversation
    /// that was left; what was read on the other one follows from the log.
    pub fn forget_branch(&self) {
        let mut state = self.state();
        state.reads.clear();
        state.fresh_reads.clear();
        state.restored_background.clear();
        state.snips.clear();
        state.skills.clear();
    }

    fn state(&self) -> MutexGuard<'_, ToolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
