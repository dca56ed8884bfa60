//! Where agents keep their sessions, and which there are (PC10).
//!
//! Nothing is opened here but directories. Files of sub-agents belong to the
//! session beside them and are not listed by themselves.

use crate::error::Error;
use everfold_disk::jsonl::{self, LinesSeen};
use everfold_foreign::{TranscriptEvent, What};
use everfold_kernel::phrase::cut;
use everfold_kernel::{BlockView, Entry, UserOrigin};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Whose session a file is, by where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SessionOwner {
    /// Everfold.
    Everfold,
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// pi.
    Pi,
    /// opencode.
    Opencode,
    /// Whoever a file says itself.
    Unknown,
}

/// A file that may be a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFile {
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub owner: SessionOwner,
    /// Its length.
    pub bytes: u64,
    /// When it was last written, in milliseconds since 1970.
    pub modified: i64,
}

/// Where sessions lie on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPlaces(Vec<(SessionOwner, PathBuf)>);

/// Folders that hold no session of their own.
const ASIDE: [&str; 4] = ["subagents", "tool-results", "memory", "session-memory"];
/// How deep folders are looked into.
const DEPTH: usize = 8;

impl SessionPlaces {
    /// The usual places under a person's home, and those that the environment
    /// names.
    #[must_use]
    pub fn of(
        own_home: &Path,
        user_home: Option<&Path>,
        variables: &BTreeMap<String, String>,
    ) -> Self {
        let set = |name: &str| variables.get(name).filter(|text| !text.is_empty());
        let under = |path: &str| user_home.map(|home| home.join(path));
        let named =
            |name: &str, otherwise: &str| set(name).map(PathBuf::from).or_else(|| under(otherwise));
        let claude = match set("CLAUDE_CONFIG_DIR") {
            Some(list) => list.split(',').map(|path| PathBuf::from(path.trim())).collect(),
            None => [under(".config/claude"), under(".claude")].into_iter().flatten().collect(),
        };
        let claude: Vec<PathBuf> = claude;
        let mut places = vec![(SessionOwner::Everfold, own_home.join("projects"))];
        places.extend(claude.iter().map(|at| (SessionOwner::ClaudeCode, at.join("projects"))));
        if let Some(codex) = named("CODEX_HOME", ".codex") {
            let folders = ["sessions", "archived_sessions"];
            places.extend(folders.map(|folder| (SessionOwner::Codex, codex.join(folder))));
        }
        places.extend(under(".gemini/tmp").map(|at| (SessionOwner::Gemini, at)));
        places.extend(under(".pi/agent/sessions").map(|at| (SessionOwner::Pi, at)));
        let data = named("XDG_DATA_HOME", ".local/share").map(|data| data.join("opencode"));
        let database = data.map(|at| at.join(everfold_opencode::DATABASE));
        places.extend(database.map(|at| (SessionOwner::Opencode, at)));
        // One place may be both ours and another agent's (X5).
        let mut known: Vec<(SessionOwner, PathBuf)> = Vec::new();
        for (owner, at) in places {
            let real = fs::canonicalize(&at).unwrap_or(at);
            if known.iter().all(|(_, other)| *other != real) {
                known.push((owner, real));
            }
        }
        Self(known)
    }

    /// Every session that lies there, the oldest first.
    #[must_use]
    pub fn files(&self) -> Vec<SessionFile> {
        let mut found = Vec::new();
        for (owner, at) in &self.0 {
            match owner {
                SessionOwner::Opencode => found.extend(in_database(at)),
                owner => walk(at, *owner, DEPTH, &mut found),
            }
        }
        found.sort_by(|one, other| (one.modified, &one.path).cmp(&(other.modified, &other.path)));
        found
    }
}

/// Hands every line of a session to `sink`, whatever it lies in: a file, or
/// opencode's database.
///
/// # Errors
/// If it cannot be read.
pub fn read_lines(
    path: &Path,
    max_line: u64,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<LinesSeen, Error> {
    match everfold_opencode::named_by(path) {
        Some((database, id)) => {
            let lines = everfold_opencode::read(database, id, sink)?;
            Ok(LinesSeen { lines, ..LinesSeen::default() })
        }
        None => Ok(jsonl::read(path, max_line, sink)?),
    }
}

/// Whether a session is still there.
pub(crate) fn is_there(path: &Path) -> bool {
    path.exists() || everfold_opencode::named_by(path).is_some()
}

/// Every session in a directory and those below it, by their names.
#[must_use]
pub fn sessions_below(directory: &Path) -> Vec<SessionFile> {
    let mut found = Vec::new();
    walk(directory, SessionOwner::Unknown, DEPTH, &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// The sessions of opencode. A database that cannot be read has none to show.
fn in_database(database: &Path) -> Vec<SessionFile> {
    if !database.is_file() {
        return Vec::new();
    }
    let found = everfold_opencode::sessions(database).unwrap_or_else(|error| {
        tracing::warn!(%error, "sessions of opencode are skipped");
        Vec::new()
    });
    let file = |own: everfold_opencode::OpencodeSession| SessionFile {
        path: own.path,
        owner: SessionOwner::Opencode,
        bytes: own.bytes,
        modified: own.modified,
    };
    found.into_iter().map(file).collect()
}

fn walk(directory: &Path, owner: SessionOwner, depth: usize, found: &mut Vec<SessionFile>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let (path, name) = (entry.path(), entry.file_name());
        if kind.is_dir() {
            let aside = name.to_str().is_some_and(|name| ASIDE.contains(&name));
            if depth > 0 && !aside {
                walk(&path, owner, depth - 1, found);
            }
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "jsonl") {
            found.extend(file(path, owner));
        }
    }
}

/// Bytes of a file in which it says where it was started.
const HEAD_BYTES: u64 = 256 * 1_024;

/// What the first lines of a session say of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionHead {
    /// The directory that it was started in.
    pub cwd: Option<String>,
    /// How the person's first message begins.
    pub title: Option<String>,
}

/// Characters of a title.
const TITLE_CHARS: usize = 120;

/// What the first lines of a session say of it.
#[must_use]
pub fn head_of(path: &Path) -> SessionHead {
    let mut head = Vec::new();
    // One that cannot be read says nothing.
    if everfold_opencode::named_by(path).is_some() {
        let _ = read_lines(path, HEAD_BYTES, &mut |line| {
            if (head.len() as u64) < HEAD_BYTES {
                head.extend_from_slice(line);
                head.push(b'\n');
            }
        });
    } else {
        let _ = fs::File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    }
    let mut reader = everfold_foreign::Reader::new();
    let mut title = None;
    let mut take = |told: TranscriptEvent| {
        if let What::Record(record) = &told.what
            && title.is_none()
        {
            title = title_of(&record.entry);
        }
    };
    for line in head.split(|byte| *byte == b'\n') {
        reader.push(line, &mut take);
    }
    let cwd = reader.finish(&mut take).cwd;
    SessionHead { cwd, title }
}

/// The start of what a person said; what programs put before it is none.
fn title_of(entry: &Entry) -> Option<String> {
    let Entry::User(user) = entry else { return None };
    if user.origin != UserOrigin::Human {
        return None;
    }
    let mut texts = user.content.iter().filter_map(|block| match block.view() {
        BlockView::Text(text) => Some(text.trim()),
        _ => None,
    });
    let text = texts.find(|text| !text.is_empty() && !text.starts_with('<'))?;
    Some(cut(text, TITLE_CHARS))
}

/// What is known of one file.
fn file(path: PathBuf, owner: SessionOwner) -> Option<SessionFile> {
    let data = fs::metadata(&path).ok()?;
    let since = data.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let modified = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    Some(SessionFile { path, owner, bytes: data.len(), modified })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pc10_sessions_of_every_agent_are_found_where_they_lie() {
        let home = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}\n").unwrap();
        };
        put(".everfold/projects/-p/a.jsonl");
        put(".everfold/projects/-p/a/subagents/agent-1.jsonl");
        put(".claude/projects/-p/b.jsonl");
        put(".codex/sessions/2026/11/16/rollout-1.jsonl");
        put(".gemini/tmp/x/chats/session-1.jsonl");
        put(".pi/agent/sessions/--p--/c.jsonl");
        put(".claude/history.jsonl");
        // Nothing of opencode's can be read here, and the others are there.
        put(".local/share/opencode/opencode.db");
        let own = home.path().join(".everfold");
        let places = SessionPlaces::of(&own, Some(home.path()), &BTreeMap::new());
        let mut owners: Vec<SessionOwner> = places.files().iter().map(|own| own.owner).collect();
        owners.sort();
        let all = [
            SessionOwner::Everfold,
            SessionOwner::ClaudeCode,
            SessionOwner::Codex,
            SessionOwner::Gemini,
            SessionOwner::Pi,
        ];
        assert_eq!(owners, all);
        assert_eq!(sessions_below(&home.path().join(".claude")).len(), 2);
        // Where both share a directory, its sessions are there once.
        let shared = home.path().join(".claude");
        let places = SessionPlaces::of(&shared, Some(home.path()), &BTreeMap::new());
        assert_eq!(places.files().len(), 4);
    }
}
