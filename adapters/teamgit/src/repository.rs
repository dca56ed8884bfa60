//! The repository of a team, as the port sees it.

use crate::address::GitAddress;
use crate::program::{Answer, Git, Prompts};
use everfold_kernel::limits::TeamLimits;
use everfold_kernel::ports::{
    TeamChange, TeamError, TeamFile, TeamFileKind, TeamHead, TeamMaker, TeamPublished, TeamRemote,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The branch that a team meets on.
const BRANCH: &str = "refs/heads/main";
/// Where the newest state of the others is kept.
const THEIRS: &str = "refs/remotes/origin/main";
/// Where a commit of ours is until the others have it.
const OURS: &str = "refs/everfold/next";
/// Who commits where the person never told git their name.
const NOBODY: &str = "everfold <everfold@localhost>";
/// How old a lock is that nobody holds.
const STALE: Duration = Duration::from_secs(3);
/// What files that are only ever looked at are.
const PLAIN_MODES: [&str; 2] = ["100644", "100755"];

/// How a team's repository is used.
#[derive(Clone, Debug)]
pub struct GitTeamOptions {
    /// Where our copy is: a bare repository, made as needed.
    pub dir: PathBuf,
    /// Where the others meet.
    pub remote: GitAddress,
    /// Whether git may ask for a password.
    pub prompts: Prompts,
    /// How long all calls together may take.
    pub patience: Duration,
    pub limits: TeamLimits,
}

/// A team that meets in a git repository.
#[derive(Debug)]
pub struct GitTeam {
    git: Git,
    options: GitTeamOptions,
}

impl GitTeam {
    /// Opens our copy, making it as needed.
    ///
    /// # Errors
    /// If git is not there, or our copy cannot be made.
    pub fn open(options: GitTeamOptions) -> Result<Self, TeamError> {
        let seconds = options.patience.as_secs().max(1);
        let git = Git {
            dir: options.dir.clone(),
            prompts: options.prompts,
            deadline: Instant::now() + options.patience,
            seconds,
        };
        if !options.dir.join("HEAD").is_file() {
            let failed = |error: std::io::Error| TeamError::Damaged { message: error.to_string() };
            std::fs::create_dir_all(&options.dir).map_err(failed)?;
            let quiet = ["init", "--bare", "--quiet", "--template=", "--initial-branch=main"];
            git.ask(&quiet, b"")?;
        }
        clear_locks(&options.dir.join("refs"));
        Ok(Self { git, options })
    }

    fn place(&self) -> String {
        self.options.remote.to_string()
    }

    /// Brings what the others have, and says whether they have anything.
    fn fetch(&self) -> Result<Presence, TeamError> {
        let spec = format!("+{BRANCH}:{THEIRS}");
        let flags =
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
        let mut args: Vec<&str> = flags.to_vec();
        args.extend(["--", self.options.remote.as_str(), spec.as_str()]);
        let answer =
            self.git.reach(&self.options.remote, &args, self.options.limits.fetch_bytes)?;
        if answer.status.success() {
            return Ok(Presence::There);
        }
        if answer.told.contains("couldn't find remote ref") {
            return Ok(Presence::Empty);
        }
        Err(TeamError::Unreachable { place: self.place(), message: answer.why() })
    }

    fn state(&self, revision: &str) -> Result<TeamHead, TeamError> {
        let listed = self.git.ask(&["ls-tree", "-r", "-z", "-l", "--full-tree", revision], b"")?;
        let mut files = BTreeMap::new();
        for entry in listed.out.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            // A name that is not text is passed over here, and stays where it is.
            let Ok(entry) = std::str::from_utf8(entry) else { continue };
            let Some((path, file)) = listed_file(entry) else { continue };
            files.insert(path, file);
            if files.len() > self.options.limits.files {
                let most = self.options.limits.files as u64;
                return Err(TeamError::TooMuch { what: "the number of files".into(), most });
            }
        }
        Ok(TeamHead { revision: revision.to_owned(), files })
    }

    /// Who writes, as git has it.
    fn committer(&self) -> String {
        let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = seconds.map_or(0, |since| since.as_secs());
        let own = self.git.ask(&["var", "GIT_COMMITTER_IDENT"], b"").ok();
        let own = own.map(|answer| answer.text());
        let name = own.as_deref().and_then(|own| own.rsplit_once("> "));
        let name = name.map_or_else(|| NOBODY.to_owned(), |(name, _)| format!("{name}>"));
        format!("{name} {now} +0000")
    }

    /// Makes a commit on a state, and says which.
    fn commit(
        &self,
        on: &TeamHead,
        changes: &[TeamChange],
        note: &str,
    ) -> Result<String, TeamError> {
        let mut stream = format!("commit {OURS}\ncommitter {}\n", self.committer()).into_bytes();
        put_data(&mut stream, note.as_bytes());
        if on.revision.is_empty() {
            // Whatever an earlier try left there is no parent of this one.
            self.git.ask(&["update-ref", "-d", OURS], b"")?;
        } else {
            stream.extend(format!("from {}\n", on.revision).into_bytes());
        }
        for change in changes {
            let path = quoted(&change.path);
            if let Some(content) = &change.content {
                stream.extend(format!("M 100644 inline {path}\n").into_bytes());
                put_data(&mut stream, content);
            } else {
                stream.extend(format!("D {path}\n").into_bytes());
            }
        }
        stream.extend(b"done\n");
        self.git.ask(&["fast-import", "--quiet", "--force", "--done"], &stream)?;
        Ok(self.git.ask(&["rev-parse", "--verify", OURS], b"")?.text())
    }

    fn pushed(&self, answer: &Answer) -> Result<Push, TeamError> {
        if answer.status.success() {
            return Ok(Push::Taken);
        }
        let said = answer.text();
        let refused = said.lines().find(|line| line.starts_with('!'));
        let Some(refused) = refused else {
            return Err(TeamError::Unreachable { place: self.place(), message: answer.why() });
        };
        let races =
            ["(fetch first)", "(non-fast-forward)", "lock", "incorrect old value", "exists"];
        if races.iter().any(|race| refused.contains(race)) {
            return Ok(Push::Overtaken);
        }
        let message = refused.rsplit('\t').next().unwrap_or(refused).to_owned();
        Err(TeamError::Denied { place: self.place(), message })
    }
}

/// Takes away the locks of who was killed: a caller has the copy to itself, so a
/// lock that is there for a while is nobody's.
fn clear_locks(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            clear_locks(&path);
        } else if path.extension().is_some_and(|ending| ending == "lock") {
            let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
            // A program whose caller was killed may still be about to end.
            std::thread::sleep(STALE.saturating_sub(age().unwrap_or_default()));
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Whether the others have anything.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    There,
    Empty,
}

/// What became of a push.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Push {
    Taken,
    Overtaken,
}

impl TeamRemote for GitTeam {
    fn newest(&self) -> Result<TeamHead, TeamError> {
        if self.fetch()? == Presence::Empty {
            return Ok(TeamHead::default());
        }
        let revision = self.git.ask(&["rev-parse", "--verify", THEIRS], b"")?.text();
        self.state(&revision)
    }

    fn contents(&self, versions: &[String]) -> Result<Vec<Vec<u8>>, TeamError> {
        if versions.is_empty() {
            return Ok(Vec::new());
        }
        let asked = versions.join("\n") + "\n";
        let answer = self.git.ask(&["cat-file", "--batch"], asked.as_bytes())?;
        let mut rest = answer.out.as_slice();
        let mut contents = Vec::with_capacity(versions.len());
        for _ in versions {
            let (content, after) = one_object(rest)
                .ok_or_else(|| TeamError::Damaged { message: "an object is missing".into() })?;
            contents.push(content.to_owned());
            rest = after;
        }
        Ok(contents)
    }

    fn publish(
        &self,
        on: &TeamHead,
        changes: &[TeamChange],
        note: &str,
    ) -> Result<TeamPublished, TeamError> {
        let commit = self.commit(on, changes, note)?;
        let spec = format!("{commit}:{BRANCH}");
        let args = ["push", "--quiet", "--porcelain", "--no-verify", "--recurse-submodules=no"];
        let mut args: Vec<&str> = args.to_vec();
        args.extend(["--no-signed", "--", self.options.remote.as_str(), spec.as_str()]);
        let answer = self.git.reach(&self.options.remote, &args, u64::MAX)?;
        match self.pushed(&answer)? {
            Push::Overtaken => Ok(TeamPublished::Behind),
            Push::Taken => {
                self.git.ask(&["update-ref", THEIRS, &commit], b"")?;
                // What it does is good to have, and nothing rests on it.
                let tidy = ["-c", "gc.auto=2000", "-c", "gc.autoDetach=false", "gc", "--auto"];
                let _ = self.git.ask(&tidy, b"");
                Ok(TeamPublished::Done(self.state(&commit)?))
            }
        }
    }

    fn makers(&self, from: &str, to: &TeamHead, most: usize) -> Result<Vec<TeamMaker>, TeamError> {
        if to.revision.is_empty() {
            return Ok(Vec::new());
        }
        let range = match from {
            "" => to.revision.clone(),
            from => format!("{from}..{}", to.revision),
        };
        let most = format!("--max-count={most}");
        let args = ["log", &most, "--no-show-signature", "--format=%h%x00%an", &range, "--"];
        let said = self.git.ask(&args, b"")?.text();
        let one = |line: &str| {
            let (revision, name) = line.split_once('\0')?;
            Some(TeamMaker { revision: revision.to_owned(), name: name.to_owned() })
        };
        Ok(said.lines().filter_map(one).collect())
    }
}

/// A file as `ls-tree -l` tells it: mode, kind, object and size, then its path.
fn listed_file(entry: &str) -> Option<(String, TeamFile)> {
    let (about, path) = entry.split_once('\t')?;
    let mut about = about.split_ascii_whitespace();
    let (mode, kind, object) = (about.next()?, about.next()?, about.next()?);
    let is_plain = kind == "blob" && PLAIN_MODES.contains(&mode);
    let file = TeamFile {
        version: object.to_owned(),
        bytes: about.next().and_then(|size| size.parse().ok()).unwrap_or(0),
        kind: if is_plain { TeamFileKind::Plain } else { TeamFileKind::Other },
    };
    Some((path.to_owned(), file))
}

/// The first object of what `cat-file --batch` gave, and what comes after it.
fn one_object(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(bytes.get(..end)?).ok()?;
    let mut head = head.split(' ');
    let size: usize = head.nth(2)?.parse().ok()?;
    let content = bytes.get(end + 1..end + 1 + size)?;
    Some((content, bytes.get(end + size + 2..)?))
}

fn put_data(stream: &mut Vec<u8>, bytes: &[u8]) {
    stream.extend(format!("data {}\n", bytes.len()).into_bytes());
    stream.extend(bytes);
    stream.push(b'\n');
}

/// A path as the stream of an import has it.
fn quoted(path: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(char::from(byte));
            }
            b' '..=b'~' => quoted.push(char::from(byte)),
            // Writing to a string cannot fail.
            other => drop(write!(quoted, "\\{other:03o}")),
        }
    }
    quoted.push('"');
    quoted
}
