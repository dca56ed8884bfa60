//! A mailbox: a directory that outlives sender and receiver.
//!
//! A letter is a file. It is `new` until its receiver takes it, `taken` until
//! it is in the receiver's log, and gone then; each step is one rename or one
//! removal under the mailbox's lock. Whatever ends a process in between, the
//! next one finds every letter in exactly one of these places. A letter that
//! was taken and not settled is looked up in the log that it was taken for: if
//! it is there it is done, else it comes again. So each arrives once.

use everfold_disk::atomic::{self, FileReaders};
use everfold_disk::{Error, Lock, jsonl, read_regular};
use everfold_kernel::LetterId;
use everfold_kernel::ports::{AgentName, Letter, PostError};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a mailbox that is in use is tried again.
const RETRY: Duration = Duration::from_millis(3);
/// Longest line of a log that is looked through.
const MOST_LINE_BYTES: u64 = 256 << 20;
/// Longest file that is read as a letter; what is sent is bounded by a setting.
const MOST_LETTER_BYTES: u64 = 64 << 20;
/// No sender comes to this number: a counter that says more is broken.
const MOST_NUMBER: u64 = 1 << 53;

/// The mailbox of one receiver.
#[derive(Debug)]
pub(crate) struct Mailbox {
    dir: PathBuf,
    wait: Duration,
}

impl Mailbox {
    /// The mailbox in a directory, which is made when the first letter comes.
    /// `wait` is how long it may be in use by another process.
    pub(crate) fn new(dir: PathBuf, wait: Duration) -> Self {
        Self { dir, wait }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Puts a letter in, with the sender's next number. It is there whole and
    /// for good, or not at all.
    pub(crate) fn put(&self, sender: &str, letter: Letter) -> Result<(), PostError> {
        let _lock = self.lock()?;
        let counter = self.dir.join("next").join(sender);
        let seq = match counted(&counter) {
            Some(seq) => seq,
            None => self.highest(sender)? + 1,
        };
        // The number is used up before the letter is there: after a crash in
        // between one is missing, which is better than one that comes twice.
        atomic::write(&counter, (seq + 1).to_string().as_bytes(), FileReaders::Private)
            .map_err(told)?;
        let file = self.dir.join("new").join(format!("{seq:020}.{sender}.json"));
        atomic::write(&file, &crate::written(&Letter { seq, ..letter }), FileReaders::Private)
            .map_err(told)
    }

    /// The highest number of a sender's letters that are here: where there is
    /// no counter to be read, the next one still comes after them.
    fn highest(&self, sender: &str) -> Result<u64, PostError> {
        let names = [listed(&self.dir.join("new"))?, listed(&self.dir.join("taken"))?].concat();
        let numbers = names.iter().filter_map(|name| {
            let (number, rest) = name.split_once('.')?;
            let own = rest.strip_suffix(".json")? == sender;
            number.parse().ok().filter(|number| own && *number < MOST_NUMBER)
        });
        Ok(numbers.max().unwrap_or(0))
    }

    /// The letters that were not taken yet, each with its file and the name that
    /// it was put in under.
    pub(crate) fn queued(&self) -> Result<Vec<(String, AgentName, Letter)>, PostError> {
        let named = |(file, letter): (String, Option<Letter>)| {
            let name = file.strip_suffix(".json")?.split_once('.')?.1;
            Some((file.clone(), AgentName::parse(name).ok()?, letter?))
        };
        Ok(read_all(&self.dir.join("new"))?.into_iter().filter_map(named).collect())
    }

    /// Removes a letter that was handed on.
    pub(crate) fn sent(&self, file: &str) -> Result<(), PostError> {
        remove(&self.dir.join("new").join(file))
    }

    /// Whether a letter is here and was not settled.
    pub(crate) fn holds(&self, id: &LetterId) -> Result<bool, PostError> {
        let both = [read_all(&self.dir.join("new"))?, read_all(&self.dir.join("taken"))?].concat();
        Ok(both.iter().any(|(_, letter)| letter.as_ref().is_some_and(|letter| letter.id == *id)))
    }

    /// How many letters were not taken yet.
    pub(crate) fn waiting(&self) -> usize {
        count(&self.dir.join("new"))
    }

    /// Whether something may wait. Cheap: nothing is locked.
    pub(crate) fn has_mail(&self) -> bool {
        ["new", "taken"].iter().any(|part| count(&self.dir.join(part)) > 0)
    }

    /// Takes what waits, for the log at a path. What was taken before and is
    /// in the log that it was taken for is done and does not come again.
    pub(crate) fn take(&self, log: &Path) -> Result<Vec<Letter>, PostError> {
        let _lock = self.lock()?;
        let (new, taken, pointer) =
            (self.dir.join("new"), self.dir.join("taken"), self.dir.join("log"));
        self.drop_arrived(&taken, &pointer)?;
        atomic::write(&pointer, log.as_os_str().as_encoded_bytes(), FileReaders::Private)
            .map_err(told)?;
        make(&taken)?;
        for name in listed(&new)?.iter().filter(|name| is_letter(name)) {
            fs::rename(new.join(name), taken.join(name))
                .map_err(|error| io(&new.join(name), &error))?;
        }
        self.letters(&taken)
    }

    /// Removes letters that are in the log.
    pub(crate) fn settle(&self, done: &[LetterId]) -> Result<(), PostError> {
        let taken = self.dir.join("taken");
        if count(&taken) == 0 {
            return Ok(());
        }
        let _lock = self.lock()?;
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
        let log = fs::read_to_string(pointer).unwrap_or_default();
        // What cannot be a path is no log that anything could have arrived in.
        let log = PathBuf::from(if log.contains('\0') { String::new() } else { log });
        // And neither is a directory or a device.
        let log = if log.is_file() { log } else { PathBuf::new() };
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
                None => self.put_aside(taken, &name)?,
            }
        }
        Ok(())
    }

    /// The letters that were taken, in order. What is none is put aside.
    fn letters(&self, taken: &Path) -> Result<Vec<Letter>, PostError> {
        let mut letters = Vec::new();
        for (name, letter) in read_all(taken)? {
            match letter {
                Some(letter) => letters.push(letter),
                None => self.put_aside(taken, &name)?,
            }
        }
        Ok(letters)
    }

    /// Puts aside what is no letter: it must not be in the way of others.
    fn put_aside(&self, taken: &Path, name: &str) -> Result<(), PostError> {
        tracing::warn!(mailbox = %self.dir.display(), file = name, "a letter that cannot be read was put aside");
        let bad = self.dir.join("bad");
        make(&bad)?;
        let again = (1_u32..).map(|number| bad.join(format!("{number}.{name}")));
        let mut places = std::iter::once(bad.join(name)).chain(again);
        let free = places.find(|place| place.symlink_metadata().is_err());
        let place = free.unwrap_or_else(|| bad.join(name));
        fs::rename(taken.join(name), place).map_err(|error| io(&bad, &error))
    }

    fn lock(&self) -> Result<Lock, PostError> {
        let path = self.dir.join("lock");
        let until = Instant::now() + self.wait;
        loop {
            match Lock::try_acquire(&path).map_err(told)? {
                Some(lock) => return Ok(lock),
                None if Instant::now() >= until => {
                    return Err(PostError::Busy { path: self.dir.clone() });
                }
                None => std::thread::sleep(RETRY),
            }
        }
    }
}

/// How many letters are in a directory.
fn count(dir: &Path) -> usize {
    listed(dir).map_or(0, |names| names.iter().filter(|name| is_letter(name)).count())
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

/// The number that a counter holds; none before the first letter, and where it
/// cannot be right.
fn counted(counter: &Path) -> Option<u64> {
    let text = fs::read_to_string(counter).ok()?;
    text.trim().parse().ok().filter(|number| *number < MOST_NUMBER)
}

/// The letters of a directory by their file names, in order; none for a file
/// that is not a letter.
fn read_all(dir: &Path) -> Result<Vec<(String, Option<Letter>)>, PostError> {
    let mut names = listed(dir)?;
    names.retain(|name| is_letter(name));
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let path = dir.join(&name);
        let letter = match read_regular(&path, MOST_LETTER_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).ok(),
            Err(error @ Error::Io { .. }) => return Err(told(error)),
            Err(_) => None,
        };
        found.push((name, letter));
    }
    Ok(found)
}

/// The names in a directory; none where it is not there. Names that are no
/// text are none of ours.
pub(crate) fn listed(dir: &Path) -> Result<Vec<String>, PostError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(dir, &error)),
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().into_string().ok()));
    let names = names.collect::<Result<Vec<_>, _>>().map_err(|error| io(dir, &error))?;
    Ok(names.into_iter().flatten().collect())
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

pub(crate) fn io(path: &Path, error: &std::io::Error) -> PostError {
    let path = path.to_path_buf();
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            PostError::NoSpace { path }
        }
        _ => PostError::Io { path, message: error.to_string() },
    }
}

pub(crate) fn told(error: Error) -> PostError {
    match error {
        Error::NoSpace { path } => PostError::NoSpace { path },
        Error::Io { path, source } => io(&path, &source),
        other => PostError::Io { path: PathBuf::new(), message: other.to_string() },
    }
}
