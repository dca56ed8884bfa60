//! The mailboxes of a team: directories that outlive sender and receiver.
//!
//! A letter is a file. It is `new` until its receiver takes it, `taken` until
//! it is in the receiver's log, and gone then; each step is one rename or one
//! removal under the mailbox's lock. Whatever ends a process in between, the
//! next one finds every letter in exactly one of these places. A letter that
//! was taken and not settled is looked up in the log that it was taken for: if
//! it is there it is done, else it comes again. So each arrives once.

use mnemon_disk::atomic::{self, Audience};
use mnemon_disk::{Error, Lock, jsonl};
use mnemon_kernel::ports::{AgentName, Letter, PostError};
use mnemon_kernel::{LetterId, SessionId, Timestamp};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a mailbox that is in use is tried again.
const RETRY: Duration = Duration::from_millis(3);
/// Longest line of a log that is looked through.
const MOST_LINE_BYTES: u64 = 256 << 20;

/// The team as one member sees it.
#[derive(Debug)]
pub struct Team {
    dir: PathBuf,
    name: AgentName,
    wait: Duration,
    /// Held as long as we run: nobody else has our name.
    held: Mutex<Option<Lock>>,
}

impl Team {
    /// Joins a team.
    ///
    /// # Errors
    /// If the name is taken, or the directory cannot be used.
    pub fn join(
        home: &Path,
        team: &AgentName,
        name: &AgentName,
        wait: Duration,
    ) -> Result<Self, PostError> {
        let dir = home.join("teams").join(team.as_str());
        let lock = dir.join("members").join(format!("{name}.lock"));
        let held = Lock::try_acquire(&lock).map_err(told)?;
        if held.is_none() {
            let (name, team) = (name.to_string(), team.to_string());
            return Err(PostError::NameTaken { name, team });
        }
        Ok(Self { dir, name: name.clone(), wait, held: Mutex::new(held) })
    }

    /// Our name.
    #[must_use]
    pub fn name(&self) -> &AgentName {
        &self.name
    }

    /// The team's directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Makes us known to the others.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn enter(&self, session: &SessionId, now: Timestamp) -> Result<(), PostError> {
        let about = json!({
            "name": self.name, "session": session, "pid": std::process::id(), "started": now,
        });
        let path = self.dir.join("members").join(format!("{}.json", self.name));
        atomic::write(&path, about.to_string().as_bytes(), Audience::Private).map_err(told)
    }

    /// Lets go of the name. The mailbox stays, and what comes waits in it.
    pub fn leave(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Everybody who was ever in the team, us aside.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn members(&self) -> Result<Vec<AgentName>, PostError> {
        let names = listed(&self.dir.join("members"))?;
        let names = names.iter().filter_map(|file| file.strip_suffix(".json"));
        let known = names.filter_map(|name| AgentName::parse(name).ok());
        Ok(known.filter(|name| *name != self.name).collect())
    }

    /// Puts a letter into a member's mailbox. It is there whole and for good,
    /// or not at all.
    ///
    /// # Errors
    /// If there is no such member, or the disk refuses.
    pub fn put(&self, to: &AgentName, letter: Letter) -> Result<(), PostError> {
        let members = self.members()?;
        if !members.contains(to) {
            let known = members.iter().map(ToString::to_string).collect();
            return Err(PostError::Unknown { name: to.to_string(), known });
        }
        let mailbox = self.mailbox(to);
        let _lock = self.lock(&mailbox)?;
        let counter = mailbox.join("next").join(self.name.as_str());
        let seq = fs::read_to_string(&counter)
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(1_u64);
        // The number is used up before the letter is there: after a crash in
        // between one is missing, which is better than one that comes twice.
        atomic::write(&counter, (seq + 1).to_string().as_bytes(), Audience::Private)
            .map_err(told)?;
        let file = mailbox.join("new").join(format!("{seq:020}.{}.json", self.name));
        atomic::write(&file, &crate::written(&Letter { seq, ..letter }), Audience::Private)
            .map_err(told)
    }

    /// Puts a letter into the mailbox of everybody who runs, and says who.
    ///
    /// # Errors
    /// If nobody could be given it.
    pub fn put_all(&self, letter: &Letter) -> Result<Vec<String>, PostError> {
        let (mut reached, mut failed) = (Vec::new(), None);
        for name in self.members()? {
            if self.runs(&name) {
                match self.put(&name, letter.clone()) {
                    Ok(()) => reached.push(name.to_string()),
                    Err(error) => failed = Some(error),
                }
            }
        }
        match failed {
            Some(error) if reached.is_empty() => Err(error),
            _ => Ok(reached),
        }
    }

    fn runs(&self, name: &AgentName) -> bool {
        let lock = self.dir.join("members").join(format!("{name}.lock"));
        matches!(Lock::try_acquire(&lock), Ok(None))
    }

    /// Whether something may wait for us. Cheap: nothing is locked.
    #[must_use]
    pub fn has_mail(&self) -> bool {
        let mailbox = self.mailbox(&self.name);
        ["new", "taken"].iter().any(|part| {
            listed(&mailbox.join(part)).is_ok_and(|names| names.iter().any(|name| is_letter(name)))
        })
    }

    /// Takes what waits for us, for the log at a path. What was taken before
    /// and is in the log that it was taken for is done and does not come again.
    ///
    /// # Errors
    /// If the mailbox cannot be used.
    pub fn take(&self, log: &Path) -> Result<Vec<Letter>, PostError> {
        let mailbox = self.mailbox(&self.name);
        let _lock = self.lock(&mailbox)?;
        let (new, taken, pointer) =
            (mailbox.join("new"), mailbox.join("taken"), mailbox.join("log"));
        self.drop_arrived(&taken, &pointer)?;
        atomic::write(&pointer, log.as_os_str().as_encoded_bytes(), Audience::Private)
            .map_err(told)?;
        make(&taken)?;
        for name in listed(&new)?.iter().filter(|name| is_letter(name)) {
            fs::rename(new.join(name), taken.join(name))
                .map_err(|error| io(&new.join(name), &error))?;
        }
        letters(&taken)
    }

    /// Removes letters that are in the log.
    ///
    /// # Errors
    /// If the mailbox cannot be used.
    pub fn settle(&self, done: &[LetterId]) -> Result<(), PostError> {
        let mailbox = self.mailbox(&self.name);
        let _lock = self.lock(&mailbox)?;
        let taken = mailbox.join("taken");
        for (name, letter) in read_all(&taken)? {
            if letter.is_some_and(|letter| done.contains(&letter.id)) {
                remove(&taken.join(name))?;
            }
        }
        Ok(())
    }

    /// After a crash: what is in the log arrived.
    fn drop_arrived(&self, taken: &Path, pointer: &Path) -> Result<(), PostError> {
        let left = read_all(taken)?;
        if left.is_empty() {
            return Ok(());
        }
        let log = fs::read_to_string(pointer).map(PathBuf::from).unwrap_or_default();
        let ids: BTreeSet<LetterId> = left
            .iter()
            .filter_map(|(_, letter)| letter.as_ref())
            .map(|letter| letter.id.clone())
            .collect();
        let arrived = in_log(&log, &ids)?;
        for (name, letter) in left {
            match letter {
                Some(letter) if !arrived.contains(&letter.id) => {}
                Some(_) => remove(&taken.join(name))?,
                None => {
                    tracing::warn!(member = %self.name, file = name, "a letter that cannot be read was put aside");
                    let bad = taken.with_file_name("bad");
                    make(&bad)?;
                    fs::rename(taken.join(&name), bad.join(&name))
                        .map_err(|error| io(&bad, &error))?;
                }
            }
        }
        Ok(())
    }

    fn mailbox(&self, of: &AgentName) -> PathBuf {
        self.dir.join("mail").join(of.as_str())
    }

    fn lock(&self, mailbox: &Path) -> Result<Lock, PostError> {
        let path = mailbox.join("lock");
        let until = Instant::now() + self.wait;
        loop {
            match Lock::try_acquire(&path).map_err(told)? {
                Some(lock) => return Ok(lock),
                None if Instant::now() >= until => {
                    return Err(PostError::Busy { path: mailbox.to_path_buf() });
                }
                None => std::thread::sleep(RETRY),
            }
        }
    }
}

/// Which of these letters a log has.
fn in_log(log: &Path, ids: &BTreeSet<LetterId>) -> Result<BTreeSet<LetterId>, PostError> {
    let keys: Vec<(String, &LetterId)> =
        ids.iter().map(|id| (format!("\"letter\":{}", json!(id)), id)).collect();
    let mut found = BTreeSet::new();
    let read = jsonl::read(log, MOST_LINE_BYTES, &mut |line| {
        let line = String::from_utf8_lossy(line);
        found
            .extend(keys.iter().filter(|(key, _)| line.contains(key)).map(|(_, id)| (*id).clone()));
    });
    match read {
        // A log that is gone holds nothing.
        Ok(_) | Err(Error::NotFound { .. }) => Ok(found),
        Err(error) => Err(told(error)),
    }
}

fn is_letter(name: &str) -> bool {
    let ending = Path::new(name).extension();
    ending.is_some_and(|ending| ending == "json") && !name.starts_with('.')
}

fn letters(dir: &Path) -> Result<Vec<Letter>, PostError> {
    Ok(read_all(dir)?.into_iter().filter_map(|(_, letter)| letter).collect())
}

/// The letters of a directory by their file names, in order; none for a file
/// that is no letter.
fn read_all(dir: &Path) -> Result<Vec<(String, Option<Letter>)>, PostError> {
    let mut names = listed(dir)?;
    names.retain(|name| is_letter(name));
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let path = dir.join(&name);
        let bytes = fs::read(&path).map_err(|error| io(&path, &error))?;
        found.push((name, serde_json::from_slice(&bytes).ok()));
    }
    Ok(found)
}

/// The names in a directory; none where it is not there.
fn listed(dir: &Path) -> Result<Vec<String>, PostError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(dir, &error)),
    };
    let names = entries.map(|entry| entry.map(|e| e.file_name().to_string_lossy().into_owned()));
    names.collect::<Result<_, _>>().map_err(|error| io(dir, &error))
}

fn make(dir: &Path) -> Result<(), PostError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|error| io(dir, &error))
}

fn remove(path: &Path) -> Result<(), PostError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(path, &error)),
        _ => Ok(()),
    }
}

fn io(path: &Path, error: &std::io::Error) -> PostError {
    let path = path.to_path_buf();
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            PostError::NoSpace { path }
        }
        _ => PostError::Io { path, message: error.to_string() },
    }
}

fn told(error: Error) -> PostError {
    match error {
        Error::NoSpace { path } => PostError::NoSpace { path },
        Error::Io { path, source } => io(&path, &source),
        other => PostError::Io { path: PathBuf::new(), message: other.to_string() },
    }
}
