//! A world in memory for tests of tools: files, search, shell and web do what
//! the test says, and keep what they were asked.
#![allow(dead_code, reason = "tests of the engine use it too, each of them a part")]

use everfold_kernel::ports::{
    Approver, BoxFuture, Clock, CommandOutline, Exit, Expect, FileError, FileKind, FileRead,
    FileStat, FileVersion, Files, Glimpse, GlobFound, GlobQuery, GrepFound, GrepQuery, JobInfo,
    JobState, LinesRead, LoadedTranscript, Model, ModelCall, ModelError, ModelStream, Page,
    PermissionAnswer, PermissionAsk, Search, SearchError, Shell, ShellCommand, ShellError,
    ShellOutput, ShellPlace, TranscriptError, Transcripts, Web, WebError, World,
};
use everfold_kernel::record::Dialect;
use everfold_kernel::{Entry, Limits, Record, SessionId, Timestamp, ToolUseId};
use everfold_tools::{Access, Asker, Tool, ToolCall, ToolContext, ToolOutput, standard_tools};
use everfold_transcript::{Envelope, encode};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a test holds in its hands.
pub(crate) struct Bench {
    pub(crate) files: Arc<MemoryFiles>,
    pub(crate) search: Arc<ScriptedSearch>,
    pub(crate) shell: Arc<ScriptedShell>,
    pub(crate) web: Arc<ScriptedWeb>,
    pub(crate) transcripts: Arc<MemoryTranscripts>,
    pub(crate) context: ToolContext,
}

impl Bench {
    /// A session in `/proj` with the usual limits.
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        let files = Arc::new(MemoryFiles::default());
        let search = Arc::new(ScriptedSearch::default());
        let shell = Arc::new(ScriptedShell::default());
        let web = Arc::new(ScriptedWeb::default());
        let transcripts = Arc::new(MemoryTranscripts::default());
        let world = World {
            clock: Arc::new(CountingClock::default()),
            model: Arc::new(Nobody),
            files: files.clone(),
            shell: shell.clone(),
            search: search.clone(),
            web: web.clone(),
            transcripts: transcripts.clone(),
            approver: Arc::new(Nobody),
            servers: None,
            server_maker: None,
            hooks: None,
            past: None,
            memories: None,
            spending: None,
            respondent: None,
            post: None,
            worktrees: None,
            dreams: Vec::new(),
            switches: None,
        };
        let roots = vec![PathBuf::from("/proj"), PathBuf::from("/extra")];
        let context = ToolContext::new(world, "s1".into(), Arc::new(limits), roots);
        files.add_directory("/proj");
        Self { files, search, shell, web, transcripts, context }
    }

    /// Lets a model answer questions over pages.
    pub(crate) fn with_asker(mut self, asker: Arc<dyn Asker>) -> Self {
        self.context.ask = Some(asker);
        self
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> ToolOutput {
        let call = ToolCall { id: ToolUseId::new("t1"), name: name.into(), input };
        tool(name).run(&call, &self.context).await
    }

    pub(crate) fn access(&self, name: &str, input: &Value) -> Access {
        tool(name).access(input, &self.context)
    }

    /// The text of a call that must succeed.
    pub(crate) async fn ok(&self, name: &str, input: Value) -> String {
        let output = self.call(name, input).await;
        assert!(!output.is_error(), "{output:?}");
        text(&output)
    }

    /// The text of a call that must fail.
    pub(crate) async fn error(&self, name: &str, input: Value) -> String {
        let output = self.call(name, input).await;
        assert!(output.is_error(), "{output:?}");
        text(&output)
    }

    /// The structured form of a call that must succeed.
    pub(crate) async fn structured(&self, name: &str, input: Value) -> Value {
        let output = self.call(name, input).await;
        assert!(!output.is_error(), "{output:?}");
        output.structured.unwrap()
    }
}

pub(crate) fn tool(name: &str) -> Arc<dyn Tool> {
    let found = standard_tools().into_iter().find(|tool| tool.spec().name == name);
    found.unwrap()
}

pub(crate) fn text(output: &ToolOutput) -> String {
    output.content.as_str().unwrap().to_owned()
}

/// Waits for a future in a test that is not asynchronous.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

enum Thing {
    File(Vec<u8>),
    Directory,
    Special,
    Link(PathBuf),
}

#[derive(Default)]
pub(crate) struct MemoryFiles {
    things: Mutex<BTreeMap<PathBuf, Thing>>,
}

impl MemoryFiles {
    pub(crate) fn add(&self, path: &str, bytes: impl AsRef<[u8]>) {
        self.put(path, Thing::File(bytes.as_ref().to_vec()));
    }

    pub(crate) fn add_directory(&self, path: &str) {
        self.put(path, Thing::Directory);
    }

    pub(crate) fn add_special(&self, path: &str) {
        self.put(path, Thing::Special);
    }

    pub(crate) fn add_link(&self, path: &str, target: &str) {
        self.put(path, Thing::Link(target.into()));
    }

    pub(crate) fn get(&self, path: &str) -> Option<Vec<u8>> {
        self.bytes(Path::new(path)).ok()
    }

    fn put(&self, path: &str, thing: Thing) {
        self.things.lock().unwrap().insert(path.into(), thing);
    }

    fn target(&self, path: &Path) -> PathBuf {
        match self.things.lock().unwrap().get(path) {
            Some(Thing::Link(target)) => target.clone(),
            _ => path.to_owned(),
        }
    }

    fn bytes(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let target = self.target(path);
        let path = path.to_owned();
        match self.things.lock().unwrap().get(&target) {
            Some(Thing::File(bytes)) => Ok(bytes.clone()),
            Some(Thing::Directory) => Err(FileError::IsDirectory { path }),
            Some(Thing::Special) => Err(FileError::Special { path }),
            _ => Err(FileError::NotFound { path }),
        }
    }
}

fn version(bytes: &[u8]) -> FileVersion {
    FileVersion(blake3::hash(bytes).to_string())
}

impl Files for MemoryFiles {
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileStat, FileError>> {
        let result = match self.bytes(path) {
            Ok(bytes) => Ok((FileKind::File, bytes.len() as u64)),
            Err(FileError::IsDirectory { .. }) => Ok((FileKind::Directory, 0)),
            Err(FileError::Special { .. }) => Ok((FileKind::Special, 0)),
            Err(error) => Err(error),
        };
        let result = result.map(|(kind, bytes)| FileStat { kind, bytes, modified: None });
        Box::pin(async move { result })
    }

    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, PathBuf> {
        Box::pin(async move { self.target(path) })
    }

    fn read<'a>(&'a self, path: &'a Path, max: u64) -> BoxFuture<'a, Result<FileRead, FileError>> {
        Box::pin(async move {
            let bytes = self.bytes(path)?;
            let length = bytes.len() as u64;
            if length > max {
                return Err(FileError::TooLarge { path: path.into(), bytes: length, max });
            }
            Ok(FileRead { version: version(&bytes), bytes: bytes.into() })
        })
    }

    fn read_lines<'a>(
        &'a self,
        path: &'a Path,
        first: u64,
        count: u64,
        _max_bytes: u64,
    ) -> BoxFuture<'a, Result<LinesRead, FileError>> {
        Box::pin(async move {
            let bytes = self.bytes(path)?;
            let all: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
            let some: Vec<&[u8]> = all
                .iter()
                .skip(usize::try_from(first).unwrap() - 1)
                .take(usize::try_from(count).unwrap())
                .copied()
                .collect();
            Ok(LinesRead {
                bytes: some.concat().into(),
                lines: some.len() as u64,
                total_lines: all.len() as u64,
                version: version(&bytes),
                binary: bytes.iter().take(8_000).any(|byte| *byte == 0),
            })
        })
    }

    fn write<'a>(
        &'a self,
        path: &'a Path,
        bytes: &'a [u8],
        expect: Expect,
    ) -> BoxFuture<'a, Result<FileVersion, FileError>> {
        Box::pin(async move {
            let now = self.bytes(path).ok().map(|bytes| version(&bytes));
            let fits = match expect {
                Expect::Anything => true,
                Expect::Absent => now.is_none(),
                Expect::Version(version) => now == Some(version),
            };
            if !fits {
                return Err(FileError::Changed { path: path.into() });
            }
            self.things.lock().unwrap().insert(path.into(), Thing::File(bytes.to_vec()));
            Ok(version(bytes))
        })
    }
}

/// Gives the answers that a test put in, and keeps the questions.
#[derive(Default)]
pub(crate) struct ScriptedSearch {
    pub(crate) globs: Mutex<Vec<GlobQuery>>,
    pub(crate) greps: Mutex<Vec<GrepQuery>>,
    pub(crate) glob_found: Mutex<GlobFound>,
    pub(crate) grep_found: Mutex<GrepFound>,
    pub(crate) failure: Mutex<Option<SearchError>>,
}

impl ScriptedSearch {
    fn answer<T>(&self, found: T) -> BoxFuture<'_, Result<T, SearchError>>
    where
        T: Send + 'static,
    {
        let failure = self.failure.lock().unwrap().clone();
        Box::pin(async move { failure.map_or(Ok(found), Err) })
    }
}

impl Search for ScriptedSearch {
    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobFound, SearchError>> {
        self.globs.lock().unwrap().push(query);
        self.answer(self.glob_found.lock().unwrap().clone())
    }

    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepFound, SearchError>> {
        self.greps.lock().unwrap().push(query);
        self.answer(self.grep_found.lock().unwrap().clone())
    }
}

/// Answers commands in turn; without a script each prints nothing.
#[derive(Default)]
pub(crate) struct ScriptedShell {
    pub(crate) commands: Mutex<Vec<ShellCommand>>,
    pub(crate) script: Mutex<VecDeque<Result<ShellOutput, ShellError>>>,
    pub(crate) jobs: Mutex<Vec<JobInfo>>,
}

impl ScriptedShell {
    /// The next command prints this and ends so, in that directory.
    pub(crate) fn will(&self, text: &str, exit: Exit, cwd: Option<&str>) {
        self.script.lock().unwrap().push_back(Ok(output(text, exit, cwd)));
    }

    /// A background command ends.
    pub(crate) fn end(&self, id: &str, exit: Exit) {
        let mut jobs = self.jobs.lock().unwrap();
        let job = jobs.iter_mut().find(|job| job.id == id).unwrap();
        job.state = JobState::Ended(exit);
    }
}

pub(crate) fn output(text: &str, exit: Exit, cwd: Option<&str>) -> ShellOutput {
    ShellOutput {
        text: text.into(),
        dropped_bytes: 0,
        exit,
        cwd: cwd.map(PathBuf::from),
        duration: Duration::from_millis(5),
    }
}

impl Shell for ScriptedShell {
    fn outline(&self, command: &str, _: &ShellPlace) -> CommandOutline {
        CommandOutline::of_words(command)
    }

    fn run(&self, command: ShellCommand) -> BoxFuture<'_, Result<ShellOutput, ShellError>> {
        self.commands.lock().unwrap().push(command);
        let next = self.script.lock().unwrap().pop_front();
        Box::pin(async move { next.unwrap_or_else(|| Ok(output("", Exit::Code(0), None))) })
    }

    fn start(
        &self,
        command: ShellCommand,
        output: PathBuf,
    ) -> BoxFuture<'_, Result<JobInfo, ShellError>> {
        let mut jobs = self.jobs.lock().unwrap();
        let number = u32::try_from(jobs.len()).unwrap() + 1;
        let job = JobInfo {
            id: format!("b{number}"),
            pid: 4_000 + number,
            command: command.command.clone(),
            output,
            state: JobState::Running,
        };
        jobs.push(job.clone());
        self.commands.lock().unwrap().push(command);
        Box::pin(async move { Ok(job) })
    }

    fn jobs(&self) -> Vec<JobInfo> {
        self.jobs.lock().unwrap().clone()
    }

    fn stop<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<JobInfo, ShellError>> {
        Box::pin(async move { Err(ShellError::NoSuchJob { id: id.into() }) })
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// Pages by URL.
#[derive(Default)]
pub(crate) struct ScriptedWeb {
    pub(crate) pages: Mutex<BTreeMap<String, Result<Page, WebError>>>,
}

impl ScriptedWeb {
    pub(crate) fn add(&self, url: &str, status: u16, text: &str) {
        let bytes = text.len() as u64;
        let page = Page { url: url.into(), status, bytes, text: text.into() };
        self.pages.lock().unwrap().insert(url.into(), Ok(page));
    }
}

impl Web for ScriptedWeb {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, WebError>> {
        let page = self.pages.lock().unwrap().get(url).cloned();
        let none = || Err(WebError::Failed { url: url.into(), message: "no such page".into() });
        Box::pin(async move { page.unwrap_or_else(none) })
    }
}

/// A millisecond goes by with every look.
#[derive(Default)]
struct CountingClock(AtomicU64);

impl Clock for CountingClock {
    fn now(&self) -> Timestamp {
        let milliseconds = self.0.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_millisecond(i64::try_from(milliseconds).unwrap()).unwrap()
    }

    fn fresh_uuid(&self) -> String {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        format!("00000000-0000-7000-8000-{number:012}")
    }
}

/// Ports that tools do not use.
struct Nobody;

impl Model for Nobody {
    fn call(&self, _: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async { Err(ModelError::Broken { message: "nobody is there".into() }) })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }
}

impl Approver for Nobody {
    fn ask(&self, _: PermissionAsk) -> BoxFuture<'_, PermissionAnswer> {
        Box::pin(async { PermissionAnswer::Allow })
    }
}

#[derive(Default)]
pub(crate) struct MemoryTranscripts {
    pub(crate) lines: Mutex<Vec<Vec<u8>>>,
    pub(crate) failure: Mutex<Option<TranscriptError>>,
}

impl MemoryTranscripts {
    /// Writes a record as the engine does.
    pub(crate) fn record(&self, id: &str, entry: Entry) {
        let at = Timestamp::from_second(1_700_000_000).unwrap();
        let record = Record { id: id.into(), parent: None, at, entry };
        let envelope = Envelope::new("s1".into(), "/proj", "0");
        self.lines.lock().unwrap().push(encode(&record, &envelope).into_bytes());
    }
}

impl Transcripts for MemoryTranscripts {
    fn append<'a>(
        &'a self,
        _: &'a SessionId,
        line: &'a [u8],
    ) -> BoxFuture<'a, Result<(), TranscriptError>> {
        self.lines.lock().unwrap().push(line.to_vec());
        Box::pin(async { Ok(()) })
    }

    fn load<'a>(
        &'a self,
        _: &'a SessionId,
        sink: &'a mut (dyn FnMut(&[u8]) + Send),
    ) -> BoxFuture<'a, Result<LoadedTranscript, TranscriptError>> {
        let lines = self.lines.lock().unwrap().clone();
        let failure = self.failure.lock().unwrap().clone();
        Box::pin(async move {
            for line in &lines {
                sink(line);
            }
            failure.map_or(
                Ok(LoadedTranscript { lines: lines.len() as u64, ..LoadedTranscript::default() }),
                Err,
            )
        })
    }

    fn glimpse(&self) -> BoxFuture<'_, Result<Vec<Glimpse>, TranscriptError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn keep<'a>(
        &'a self,
        session: &'a SessionId,
        place: &'a Path,
        _: &'a [u8],
    ) -> BoxFuture<'a, Result<PathBuf, FileError>> {
        Box::pin(async move { Ok(self.session_dir(session).join(place)) })
    }

    fn session_dir(&self, _: &SessionId) -> PathBuf {
        "/session".into()
    }

    fn path(&self, _: &SessionId) -> PathBuf {
        "/session.jsonl".into()
    }
}
