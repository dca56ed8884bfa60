//! Requests of Claude Code as they were sent (W3): it writes the body of each
//! into a folder where it is told to (CONTRACTS 7.1), about 100 kB a request,
//! with the person's account in it, and never removes one.
//!
//! What is kept of a body is how much of it is what, under the id of its answer:
//! numbers, and no text. Then it is removed, and so is what nobody can use.

mod shares;

pub use shares::BodyShares;

use crate::error::Error;
use everfold_disk::atomic::{self, FileReaders};
use everfold_disk::{Lock, jsonl, read_regular};
use everfold_kernel::Limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Largest body that is read, in bytes.
const BODY_BYTES: u64 = 64 * 1024 * 1024;
/// Longest line of ours and of the index, in bytes.
const LINE_BYTES: u64 = 64 * 1024;
/// A body without an answer is removed after this time.
const UNANSWERED: Duration = Duration::from_hours(1);
/// An index is removed when nothing was added to it for so long.
const IDLE: Duration = Duration::from_mins(10);
const INDEX: &str = "index.jsonl";

/// A line of what is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    session: String,
    message: String,
    shares: BodyShares,
}

/// A line of the index of newer versions.
#[derive(Debug, Deserialize)]
struct Indexed {
    message_id: Option<String>,
    request_file: String,
    response_file: Option<String>,
}

/// The bodies that Claude Code leaves, and what is kept of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedBodies {
    folder: PathBuf,
}

impl ObservedBodies {
    /// Those under a home of ours.
    #[must_use]
    pub fn of_claude(home: &Path) -> Self {
        Self { folder: home.join("observed").join("claude") }
    }

    /// Where bodies are left.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.folder.join("bodies")
    }

    fn figures(&self) -> PathBuf {
        self.folder.join("figures.jsonl")
    }

    /// Takes the figures of what was left since, and removes it. Says how many
    /// requests that were. Nothing is done where somebody else does it.
    ///
    /// # Errors
    /// If figures cannot be written; then the bodies stay.
    pub fn digest(&self, limits: &Limits) -> Result<usize, Error> {
        let folder = self.folder();
        if !folder.is_dir() {
            return Ok(0);
        }
        let Some(_lock) = Lock::try_acquire(&self.folder.join("lock"))? else { return Ok(0) };
        // What is too old to be answered would leave it open whose answer comes.
        sweep(&folder);
        let pairs = pairs(&folder);
        let mut taken = Vec::new();
        for (request, response, message) in &pairs {
            taken.extend(kept(&folder.join(request), response.as_deref(), message, limits));
        }
        if !taken.is_empty() {
            let mut figures = jsonl::Appender::open(&self.figures())?;
            for own in &taken {
                figures.append(&serde_json::to_vec(own).unwrap_or_default())?;
            }
        }
        for (request, response, _) in &pairs {
            remove(&folder.join(request));
            if let Some(response) = response {
                remove(response);
            }
        }
        sweep(&folder);
        Ok(taken.len())
    }

    /// The requests of a session, by the ids of their answers.
    #[must_use]
    pub fn session(&self, id: &str) -> BTreeMap<String, BodyShares> {
        let mut found = BTreeMap::new();
        // Without figures there are none.
        let _ = jsonl::read(&self.figures(), LINE_BYTES, &mut |line| {
            if let Ok(own) = serde_json::from_slice::<Kept>(line)
                && own.session == id
            {
                found.insert(own.message, own.shares);
            }
        });
        found
    }

    /// Removes bodies and figures.
    ///
    /// # Errors
    /// If they are there and cannot be removed.
    pub fn remove(&self) -> Result<(), Error> {
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let message = error.to_string();
                Err(Error::Directory { path: self.folder.clone(), message })
            }
            _ => Ok(()),
        }
    }

    /// Makes the folder, which nobody else may read.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make(&self) -> Result<(), Error> {
        // A private file makes private folders around it.
        let note = self.folder().join(".everfold");
        Ok(atomic::write(&note, b"bodies are read and removed\n", FileReaders::Private)?)
    }
}

type Pair = (String, Option<PathBuf>, String);

/// Requests with their answers: as the index says, else an answer belongs to the
/// request before it where only one was open.
fn pairs(folder: &Path) -> Vec<Pair> {
    let mut found = Vec::new();
    // Older versions have none.
    let _ = jsonl::read(&folder.join(INDEX), LINE_BYTES, &mut |line| {
        let Ok(own) = serde_json::from_slice::<Indexed>(line) else { return };
        let names = [Some(&own.request_file), own.response_file.as_ref()];
        // A name that leads elsewhere is none of ours.
        if names.into_iter().flatten().any(|name| name.contains(['/', '\\'])) {
            return;
        }
        if let Some(message) = own.message_id
            && folder.join(&own.request_file).is_file()
        {
            let response = own.response_file.map(|name| folder.join(name));
            found.push((own.request_file, response, message));
        }
    });
    if folder.join(INDEX).is_file() {
        return found;
    }
    let mut open: Vec<String> = Vec::new();
    for (_, name) in bodies(folder) {
        if name.ends_with(".request.json") {
            open.push(name);
            continue;
        }
        let path = folder.join(&name);
        let Some(message) = answer_id(&path) else { continue };
        if let [request] = open.as_slice() {
            found.push((request.clone(), Some(path), message));
        }
        // Of several that were open at once nobody can tell whose answer it is.
        open.clear();
    }
    found
}

/// The id of an answer.
fn answer_id(path: &Path) -> Option<String> {
    let body: Value = serde_json::from_slice(&read_regular(path, BODY_BYTES).ok()?).ok()?;
    body.get("id")?.as_str().map(str::to_owned)
}

/// What is kept of a request: none where it is no body, or has no session.
fn kept(path: &Path, response: Option<&Path>, message: &str, limits: &Limits) -> Option<Kept> {
    let body: Value = serde_json::from_slice(&read_regular(path, BODY_BYTES).ok()?).ok()?;
    // An answer that was cut off was not paid for as a whole.
    response.is_none_or(Path::is_file).then_some(())?;
    let user = body.get("metadata")?.get("user_id")?.as_str()?;
    let user: Value = serde_json::from_str(user).ok()?;
    let session = user.get("session_id")?.as_str()?.to_owned();
    Some(Kept { session, message: message.to_owned(), shares: BodyShares::of(&body, limits) })
}

/// Bodies by the time at which they were written.
fn bodies(folder: &Path) -> Vec<(SystemTime, String)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(SystemTime, String)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_body = name.ends_with(".request.json") || name.ends_with(".response.json");
            let at = entry.metadata().ok()?.modified().ok()?;
            is_body.then_some((at, name))
        })
        .collect();
    found.sort();
    found
}

/// Removes what nobody can use any more.
fn sweep(folder: &Path) {
    let is_old = |at: SystemTime, age: Duration| at.elapsed().is_ok_and(|own| own > age);
    for (at, name) in bodies(folder) {
        if is_old(at, UNANSWERED) {
            remove(&folder.join(name));
        }
    }
    let index = folder.join(INDEX);
    let written = index.metadata().and_then(|about| about.modified());
    if bodies(folder).is_empty() && written.is_ok_and(|at| is_old(at, IDLE)) {
        remove(&index);
    }
}

/// What cannot be removed now is removed by the next look.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(session: &str) -> Value {
        let user =
            json!({"device_id": "d", "account_uuid": "person@example.com", "session_id": session});
        json!({
            "model": "m",
            "system": [{"type": "text", "text": "s".repeat(4_000)}],
            "tools": [],
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "<system-reminder>today</system-reminder>"},
                    {"type": "text", "text": "fix the login, please"},
                ]},
                {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t", "content": "r".repeat(8_000)},
                ]},
            ],
            "metadata": {"user_id": user.to_string()},
        })
    }

    fn write(folder: &Path, name: &str, value: &Value) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(name), value.to_string()).unwrap();
    }

    #[test]
    fn w3_bodies_become_figures_and_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let observed = ObservedBodies::of_claude(home.path());
        let limits = Limits::default();
        assert_eq!(observed.digest(&limits).unwrap(), 0);
        assert!(!home.path().join("observed").exists(), "looking makes nothing");
        let folder = observed.folder();
        write(&folder, "a.request.json", &request("s1"));
        write(&folder, "b.response.json", &json!({"id": "msg_1", "usage": {}}));
        let line = json!({"session_id": "s1", "message_id": "msg_1",
            "request_file": "a.request.json", "response_file": "b.response.json"});
        let outside = json!({"message_id": "msg_2", "request_file": "../../../etc/passwd"});
        std::fs::write(folder.join(INDEX), format!("{line}\nbroken\n{outside}\n")).unwrap();
        // One that is still being answered stays.
        write(&folder, "c.request.json", &request("s1"));
        assert_eq!(observed.digest(&limits).unwrap(), 1);
        let names: Vec<String> = bodies(&folder).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["c.request.json"]);
        assert_eq!(observed.digest(&limits).unwrap(), 0);
        let found = observed.session("s1");
        let shares = found.get("msg_1").unwrap();
        assert!(shares.results > shares.prelude && shares.prelude > 900, "{shares:?}");
        assert!(shares.said > 0 && shares.injected > 0 && shares.written > 0, "{shares:?}");
        assert!(observed.session("s2").is_empty());
        // Numbers and ids, nothing of what was said or who said it.
        let kept = std::fs::read_to_string(observed.figures()).unwrap();
        assert!(!kept.contains("login") && !kept.contains("example.com"), "{kept}");
        observed.remove().unwrap();
        assert!(!home.path().join("observed/claude").exists());
        observed.remove().unwrap();
    }

    #[test]
    fn w3_without_an_index_an_answer_belongs_to_the_one_open_request() {
        let home = tempfile::tempdir().unwrap();
        let observed = ObservedBodies::of_claude(home.path());
        let folder = observed.folder();
        let now = SystemTime::now();
        let put = |name: &str, value: &Value, ago: u64| {
            write(&folder, name, value);
            let file = std::fs::File::options().write(true).open(folder.join(name)).unwrap();
            file.set_modified(now - Duration::from_secs(ago)).unwrap();
        };
        put("1.request.json", &request("s1"), 50);
        put("2.response.json", &json!({"id": "msg_1"}), 40);
        // Two at once: nobody can tell whose answer comes first.
        put("3.request.json", &request("s1"), 30);
        put("4.request.json", &request("s1"), 29);
        put("5.response.json", &json!({"id": "msg_2"}), 20);
        put("6.request.json", &request("s1"), 4_000);
        assert_eq!(observed.digest(&Limits::default()).unwrap(), 1);
        assert_eq!(observed.session("s1").keys().collect::<Vec<_>>(), ["msg_1"]);
        assert!(!folder.join("6.request.json").exists(), "too old to be answered");
    }
}
