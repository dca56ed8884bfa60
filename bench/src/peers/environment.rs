//! Where peers are installed, and how they are run.

use anyhow::{Context, Result};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A peer that takes longer than this is given up.
const PATIENCE: Duration = Duration::from_mins(5);
/// How often one is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What keeps peers from telling anybody, and from fetching anything.
const QUIET: [(&str, &str); 16] = [
    ("DO_NOT_TRACK", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("MEM0_TELEMETRY", "False"),
    ("ANONYMIZED_TELEMETRY", "False"),
    ("LANGSMITH_TRACING", "false"),
    ("LANGCHAIN_TRACING_V2", "false"),
    ("HF_HUB_OFFLINE", "1"),
    ("BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED", "false"),
    ("BASIC_MEMORY_NO_PROMOS", "1"),
    // Made to be wrong: a client that is only constructed wants one.
    ("OPENAI_API_KEY", "none"),
    ("HTTP_PROXY", "http://127.0.0.1:9"),
    ("HTTPS_PROXY", "http://127.0.0.1:9"),
    ("ALL_PROXY", "http://127.0.0.1:9"),
];

/// The folder of the peers.
pub(crate) struct Place {
    root: PathBuf,
}

impl Place {
    /// Makes it, where it is not there: outside of the tree, so that nothing
    /// of a peer is taken for a part of it.
    pub(crate) fn new() -> Result<Self> {
        let root = std::env::temp_dir().join("everfold-peers");
        std::fs::create_dir_all(root.join("home")).context("no room for peers")?;
        Ok(Self { root: root.canonicalize()? })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A script of ours that drives one.
    pub(crate) fn script(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
    }

    /// A Python of a folder of its own that has these packages; else why not.
    pub(crate) fn python(&self, folder: &str, packages: &[&str]) -> Result<PathBuf, String> {
        let venv = self.root.join(folder);
        let python = venv.join("bin/python");
        if !python.exists() {
            self.install(Command::new(newest_python()).args(["-m", "venv"]).arg(&venv))?;
        }
        for package in packages {
            let known = Command::new(&python).args(["-m", "pip", "show", "-q", package]).output();
            if !known.is_ok_and(|out| out.status.success()) {
                let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
                self.install(Command::new(&python).args(pip).arg(package))?;
            }
        }
        Ok(python)
    }

    /// A program of a package of npm; else why not.
    pub(crate) fn npm(&self, package: &str, program: &str) -> Result<PathBuf, String> {
        let folder = self.root.join(program);
        let path = folder.join("node_modules/.bin").join(program);
        if !path.exists() {
            let options = ["install", "--silent", "--no-audit", "--no-fund", "--prefix"];
            self.install(Command::new("npm").args(options).arg(&folder).arg(package))?;
        }
        if path.exists() { Ok(path) } else { Err(format!("{package} has no {program}")) }
    }

    fn install(&self, command: &mut Command) -> Result<(), String> {
        wait(command, "", &self.root.join("install.log")).map(drop)
    }

    /// Takes the environment from a program but for what it needs to start.
    pub(crate) fn quiet<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", self.root.join("home")).envs(QUIET)
    }

    /// Runs one, and gives what it wrote; else why it failed.
    pub(crate) fn run(&self, command: &mut Command, input: &str) -> Result<Vec<u8>, String> {
        wait(self.quiet(command), input, &self.root.join("run.log"))
    }
}

/// The newest Python of the path: not all packages are there for older ones.
fn newest_python() -> &'static str {
    let runs = |name: &&str| {
        let mut ran = Command::new(name);
        ran.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        ran.status().is_ok_and(|status| status.success())
    };
    ["python3.14", "python3.13", "python3.12"].into_iter().find(runs).unwrap_or("python3")
}

/// Runs a command to its end, its output going into a file.
fn wait(command: &mut Command, input: &str, log: &Path) -> Result<Vec<u8>, String> {
    let told = |error: std::io::Error| error.to_string();
    let errors = log.with_extension("err");
    let out = std::fs::File::create(log).map_err(told)?;
    let err = std::fs::File::create(&errors).map_err(told)?;
    let mut child = command.stdin(Stdio::piped()).stdout(out).stderr(err).spawn().map_err(told)?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read is found out by its end.
        let _ = stdin.write_all(input.as_bytes());
    }
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(told)? {
            if status.success() {
                return std::fs::read(log).map_err(told);
            }
            let text = std::fs::read_to_string(errors).unwrap_or_default();
            return Err(format!("{}\n{status}", text.trim().lines().next_back().unwrap_or("")));
        }
        if began.elapsed() > PATIENCE {
            child.kill().map_err(told)?;
            child.wait().map_err(told)?;
            return Err(format!("not done after {} s", PATIENCE.as_secs()));
        }
        std::thread::sleep(LOOK);
    }
}
