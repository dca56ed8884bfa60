//! A home, a project, a model server and the program.

use everfold_testkit::{Scenario, TempHome, TestServer};
use serde_json::Value;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a run may take.
const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// Where the program is run.
pub(crate) struct Desk {
    pub(crate) files: TempHome,
    pub(crate) server: Option<TestServer>,
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
}

impl Desk {
    /// A desk with a model that follows a scenario.
    pub(crate) fn with(scenario: Scenario) -> Self {
        let server = TestServer::start(scenario).unwrap();
        Self { files: TempHome::new().unwrap(), server: Some(server) }
    }

    /// A desk without key and network.
    pub(crate) fn offline() -> Self {
        Self { files: TempHome::new().unwrap(), server: None }
    }

    pub(crate) fn server(&self) -> &TestServer {
        self.server.as_ref().unwrap()
    }

    /// The command, ready to be changed.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everfold"));
        command
            .env_clear()
            .env("HOME", self.files.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("EVERFOLD_LIMIT_RETRY_BASE_MS", "1")
            .env("EVERFOLD_LIMIT_RETRY_MAX_MS", "2")
            // Requests beside the conversation are for the tests that are about them.
            .env("EVERFOLD_FLAG_SESSION_MEMORY", "0")
            .env("EVERFOLD_FLAG_EXTRACT", "0")
            .current_dir(self.files.project())
            .args(args)
            .stdin(Stdio::null());
        if let Some(server) = &self.server {
            command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", server.base_url());
        }
        command
    }

    /// Runs it to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Running::start(&mut self.command(args), None).end()
    }

    /// The same with something on standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: impl Into<Vec<u8>>) -> Ran {
        Running::start(&mut self.command(args), Some(input.into())).end()
    }

    /// The directory of the project under the home.
    pub(crate) fn project_dir(&self) -> PathBuf {
        let projects = self.files.home().join(".everfold").join("projects");
        std::fs::read_dir(projects).unwrap().next().unwrap().unwrap().path()
    }

    /// The transcripts, by name.
    pub(crate) fn transcripts(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.project_dir()).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        paths.sort();
        paths
    }
}

impl Ran {
    /// That it went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// That it ended with a code.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Its output as one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Its output as one JSON value a line.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A run that is going on.
pub(crate) struct Running {
    child: Child,
    out: std::thread::JoinHandle<String>,
    err: std::thread::JoinHandle<String>,
}

impl Running {
    pub(crate) fn start(command: &mut Command, input: Option<Vec<u8>>) -> Self {
        if input.is_some() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let Some(input) = input {
            let mut pipe = child.stdin.take().unwrap();
            std::thread::spawn(move || {
                // The program may not want all of it.
                let _ = pipe.write_all(&input);
            });
        }
        let out = collect(child.stdout.take().unwrap());
        let err = collect(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    /// Starts it with an input that stays open.
    pub(crate) fn typing(command: &mut Command) -> (Self, ChildStdin) {
        let mut running = Self::start(command.stdin(Stdio::piped()), None);
        let input = running.child.stdin.take().unwrap();
        (running, input)
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, such as `-INT`.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
    }

    /// Kills it, as nothing can be prepared for.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end, for a time.
    pub(crate) fn end(self) -> Ran {
        self.end_within(DEADLINE)
    }

    /// The same for a time that somebody else has set.
    pub(crate) fn end_within(mut self, most: Duration) -> Ran {
        let deadline = Instant::now() + most;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                let (out, err) = (self.out.join().unwrap(), self.err.join().unwrap());
                panic!("the program did not end: {out}\n{err}");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let (out, err) = (self.out.join().unwrap(), self.err.join().unwrap());
        Ran { out, err, code: status.code() }
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
