//! Git, run for a repository of ours: with the person's own configuration and
//! credentials, without anything that a repository could have it start, and
//! with an end.

use crate::address::{GitAddress, PROTOCOLS};
use everfold_kernel::ports::TeamError;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What is set for every call, whatever anybody says.
const ALWAYS: [(&str, &str); 12] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.symlinks", "false"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    // Larger files are not held in memory to be looked at.
    ("core.bigFileThreshold", "1m"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "no"),
    ("transfer.fsckObjects", "true"),
    ("transfer.bundleURI", "false"),
    ("maintenance.auto", "false"),
    ("gc.auto", "0"),
];
/// Variables of ours that would lead git elsewhere.
const FORGOTTEN: [&str; 9] = [
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_TRACE",
];
/// What a repository on this machine is served by: git leaves its own settings
/// behind there, so what that repository configures would be run.
const SERVED: &str = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false \
    -c core.alternateRefsCommand=true -c receive.autogc=false";
/// How long to sleep between two looks at a process.
const PAUSE: Duration = Duration::from_millis(2);
/// How long the longest of these pauses is.
const LONG_PAUSE: Duration = Duration::from_millis(50);
/// Most bytes of what git says of an error.
const TOLD_BYTES: u64 = 64 * 1024;
/// Most bytes of any other answer.
const ANSWER_BYTES: u64 = 512 * 1024 * 1024;

/// Whether git may ask the person for a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompts {
    /// They wait for it at a terminal.
    Allowed,
    /// It is in the background: what has no key fails.
    Never,
}

/// Git for one repository of ours.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    pub(crate) dir: PathBuf,
    pub(crate) prompts: Prompts,
    pub(crate) deadline: Instant,
    pub(crate) seconds: u64,
}

/// What a call gave.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: ExitStatus,
    pub(crate) out: Vec<u8>,
    pub(crate) told: String,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).trim_end().to_owned()
    }

    /// The last line of what went wrong, in git's words.
    pub(crate) fn why(&self) -> String {
        let mut lines = self.told.lines().map(str::trim).filter(|line| !line.is_empty());
        let told = lines.clone().find(|line| line.starts_with("fatal:") || line.contains("error:"));
        let told = told.or_else(|| lines.next_back());
        let told = told.map(|line| line.trim_start_matches("fatal: ").to_owned());
        told.unwrap_or_else(|| format!("it ended with {}", self.status))
    }
}

impl Git {
    /// Asks git; where it fails, that is an error.
    pub(crate) fn ask(&self, args: &[&str], input: &[u8]) -> Result<Answer, TeamError> {
        let answer = self.run(args, input, None)?;
        if answer.status.success() {
            return Ok(answer);
        }
        let command = args.first().copied().unwrap_or_default();
        Err(TeamError::Damaged { message: format!("git {command}: {}", answer.why()) })
    }

    /// Talks to a remote. What comes in is stopped where it is too much.
    pub(crate) fn reach(
        &self,
        remote: &GitAddress,
        args: &[&str],
        most: u64,
    ) -> Result<Answer, TeamError> {
        let verb = args.first().copied().unwrap_or_default();
        let mut all: Vec<&str> = vec![verb];
        let service = match verb {
            "push" => format!("--receive-pack={SERVED} receive-pack"),
            _ => format!("--upload-pack={SERVED} upload-pack"),
        };
        if remote.is_here() {
            all.push(&service);
        }
        all.extend(args.iter().skip(1));
        self.run(&all, b"", Some((remote, most)))
    }

    fn command(&self, args: &[&str], remote: Option<&GitAddress>) -> Command {
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.dir).env("GIT_DIR", &self.dir);
        for name in FORGOTTEN {
            command.env_remove(name);
        }
        command.env("GIT_CONFIG_COUNT", ALWAYS.len().to_string());
        for (at, (key, value)) in ALWAYS.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        command.envs([
            ("GIT_ALLOW_PROTOCOL", PROTOCOLS),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("LC_ALL", "C"),
        ]);
        if self.prompts == Prompts::Never {
            command.envs([("GIT_TERMINAL_PROMPT", "0"), ("SSH_ASKPASS_REQUIRE", "never")]);
            if remote.is_some_and(GitAddress::is_ssh) && self.has_plain_ssh() {
                command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
            }
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Whether nobody chose another ssh, which would be left as it is.
    fn has_plain_ssh(&self) -> bool {
        let named = ["GIT_SSH", "GIT_SSH_COMMAND"];
        let chosen = named.iter().any(|name| std::env::var_os(name).is_some());
        let set = || self.run(&["config", "--get", "core.sshCommand"], b"", None);
        !chosen && set().is_ok_and(|answer| !answer.status.success())
    }

    fn run(
        &self,
        args: &[&str],
        input: &[u8],
        reach: Option<(&GitAddress, u64)>,
    ) -> Result<Answer, TeamError> {
        let failed = |message: String| TeamError::Program { program: "git", message };
        let mut command = self.command(args, reach.map(|(remote, _)| remote));
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let out = collected(child.stdout.take(), ANSWER_BYTES);
        let told = collected(child.stderr.take(), TOLD_BYTES);
        let fed = child.stdin.take().map(|mut pipe| {
            let input = input.to_owned();
            // A program that has enough closes its end.
            std::thread::spawn(move || drop(pipe.write_all(&input)))
        });
        let ended = self.wait(&mut child, reach);
        if ended.is_err() {
            self.kill(&mut child);
        }
        let joined = |pipe: JoinHandle<Vec<u8>>| pipe.join().unwrap_or_default();
        let (out, told) = match &ended {
            Ok(_) => (joined(out), joined(told)),
            // Somebody else may hold the pipes still.
            Err(_) => (Vec::new(), Vec::new()),
        };
        drop(fed);
        Ok(Answer { status: ended?, out, told: String::from_utf8_lossy(&told).into_owned() })
    }

    fn wait(
        &self,
        child: &mut Child,
        reach: Option<(&GitAddress, u64)>,
    ) -> Result<ExitStatus, TeamError> {
        let (mut pause, mut looked) = (PAUSE, Instant::now());
        let before = reach.map_or(0, |_| bytes_below(&self.dir.join("objects")));
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => {}
                Err(error) => {
                    let message = error.to_string();
                    return Err(TeamError::Program { program: "git", message });
                }
            }
            if Instant::now() >= self.deadline {
                let place =
                    reach.map_or_else(|| "git".to_owned(), |(remote, _)| remote.to_string());
                return Err(TeamError::Late { place, seconds: self.seconds });
            }
            if let Some((_, most)) = reach.filter(|_| looked.elapsed() >= LONG_PAUSE * 4) {
                looked = Instant::now();
                let came = bytes_below(&self.dir.join("objects")).saturating_sub(before);
                if came > most {
                    return Err(TeamError::TooMuch { what: "what the team sends".into(), most });
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONG_PAUSE);
        }
    }

    /// Ends a program, and in the background those that it started.
    fn kill(&self, child: &mut Child) {
        #[cfg(unix)]
        if self.prompts == Prompts::Never
            && let Some(id) =
                i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn collected(pipe: Option<impl Read + Send + 'static>, most: u64) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(most).read_to_end(&mut bytes);
            // What is over that is not kept; the program must not wait for it.
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        bytes
    })
}

/// The sizes of all files below a folder, two levels deep: what objects are in.
fn bytes_below(dir: &Path) -> u64 {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    let size = |entry: &std::fs::DirEntry| entry.metadata().map_or(0, |about| about.len());
    let below = |entry: std::fs::DirEntry| -> u64 {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => entries(&entry.path()).map(|entry| size(&entry)).sum(),
            _ => size(&entry),
        }
    };
    entries(dir).map(below).sum()
}
