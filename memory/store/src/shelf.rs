//! The memories of a directory, whole, for a single look (R2).
//!
//! A new process that answers one question has no use for a history, a lock or
//! a list of what changed since; it reads each file once. It writes nothing, so it does for any directory of Markdown files. Links are
//! not followed, and of a huge file only the start is read.

use crate::path::{NO_TOPICS, OWN_DIR};
use everfold_kernel::limits::RecallLimits;
use everfold_memory_file::frontmatter::{Basis, Fence, fence};
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_file::{Frontmatter, Memory, MemoryType};
use jiff::Timestamp;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How much of a file is read, in bytes.
const FILE_BYTES: u64 = 1024 * 1024;
/// How many files are read.
const MAX_FILES: usize = 200_000;
/// How deep folders are looked into.
const MAX_DEPTH: usize = 16;

/// A memory that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Shelved {
    /// Its path from the top of the directory, with `/`.
    pub path: String,
    pub file: PathBuf,
    /// Its text, frontmatter included.
    pub text: String,
    /// When the file was last written.
    pub modified: Timestamp,
    /// What it says about itself, as far as ranking needs it.
    pub(crate) front: Frontmatter,
    body_start: usize,
}

impl Shelved {
    /// What it says about itself.
    #[must_use]
    pub fn front(&self) -> Frontmatter {
        Memory::parse(&self.text).front
    }

    /// The text behind the frontmatter.
    #[must_use]
    pub fn body(&self) -> &str {
        self.text.get(self.body_start..).unwrap_or_default()
    }
}

/// What ranking needs of a frontmatter, where it is as plain as nearly all are:
/// reading YAML takes five times as long as reading the file.
fn quick(yaml: &str) -> Option<Frontmatter> {
    let mut front = Frontmatter::default();
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        let (key, value) = line.split_once(':')?;
        match key.trim() {
            "branch" | "worktree" => return None,
            "date" => front.date = value.trim().parse().ok(),
            "type" => front.kind = front.kind.or(MemoryType::by_name(value.trim())),
            "basis" => front.basis = Basis::by_name(value.trim()),
            "name" | "description" => {
                let folded = lines.peek().is_some_and(|next| next.starts_with([' ', '\t']));
                let value = value.trim();
                let plain = value.starts_with(char::is_alphanumeric)
                    && !value.contains(": ")
                    && !value.contains(" #");
                if folded || !plain || key.starts_with([' ', '\t']) {
                    return None;
                }
                let field = if key == "name" { &mut front.name } else { &mut front.description };
                *field = Some(value.to_owned());
            }
            _ => {}
        }
    }
    Some(front)
}

/// Reads every memory of a directory, by path.
///
/// # Errors
/// If the directory cannot be listed. A file that cannot be read is left out.
pub fn shelf(dir: &Path) -> io::Result<Vec<Shelved>> {
    let mut paths: Vec<String> = list(dir, |_| ())?.into_iter().map(|(path, _)| path).collect();
    paths.sort_unstable();
    let lines = RecallLimits::default().head_lines;
    Ok(paths.iter().filter_map(|path| read(dir, path, lines)).collect())
}

/// The memories of a directory, unread: their paths from its top, and entries.
/// Each folder is told of before it is looked into.
pub(crate) fn list(
    dir: &Path,
    mut enter: impl FnMut(&Path),
) -> io::Result<Vec<(String, DirEntry)>> {
    let mut found = Vec::new();
    walk(dir, ("", 0), &mut found, &mut enter)?;
    Ok(found)
}

fn walk(
    dir: &Path,
    (prefix, depth): (&str, usize),
    found: &mut Vec<(String, DirEntry)>,
    enter: &mut impl FnMut(&Path),
) -> io::Result<()> {
    enter(dir);
    let mut folders = Vec::new();
    let mut files = Vec::new();
    let (mut has_index, mut has_history) = (false, false);
    for entry in fs::read_dir(dir)? {
        let Ok(entry) = entry else { continue };
        let (Ok(kind), Some(name)) =
            (entry.file_type(), entry.file_name().to_str().map(str::to_owned))
        else {
            continue;
        };
        if name.starts_with('.') {
            has_history |= name == OWN_DIR;
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH {
            folders.push(name);
        } else if kind.is_file() && name.eq_ignore_ascii_case(INDEX_FILE) {
            has_index = true;
        } else if kind.is_file() && is_markdown(&name) {
            files.push((format!("{prefix}{name}"), entry));
        }
    }
    // A team's memories are a store of their own.
    if depth == 1 && prefix == "team/" && (has_index || has_history) {
        return Ok(());
    }
    found.extend(files);
    for name in folders {
        if depth == 0 && NO_TOPICS.contains(&name.as_str()) || found.len() >= MAX_FILES {
            continue;
        }
        // One folder that is closed or gone must not hide the others.
        let place = (&*format!("{prefix}{name}/"), depth + 1);
        let _ = walk(&dir.join(&name), place, found, enter);
    }
    found.truncate(MAX_FILES);
    Ok(())
}

fn is_markdown(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

/// Reads a memory; what it says about itself, from its first lines (R2).
pub(crate) fn read(dir: &Path, path: &str, head_lines: usize) -> Option<Shelved> {
    let file = dir.join(path);
    let open = File::open(&file).ok()?;
    let about = open.metadata().ok()?;
    let modified = about.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    let mut bytes = Vec::with_capacity(usize::try_from(about.len().min(FILE_BYTES)).ok()? + 1);
    open.take(FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    let plain = match fence(&text) {
        Fence::Closed { yaml, body } => text.get(yaml).and_then(quick).map(|front| (front, body)),
        _ => None,
    };
    let (front, body_start) = plain.unwrap_or_else(|| {
        let memory = Memory::parse(&text);
        (memory.front, text.len() - memory.body.len())
    });
    let is_long = text.get(..body_start)?.lines().nth(head_lines).is_some();
    let front = if is_long { first_lines(front, &text, head_lines) } else { front };
    let path = path.to_owned();
    Some(Shelved { path, file, front, modified: modified.unwrap_or_default(), body_start, text })
}

/// What the first lines of a long frontmatter say. Where a memory holds counts
/// wherever that is said: it bounds what is listed, and is no part of it.
fn first_lines(whole: Frontmatter, text: &str, lines: usize) -> Frontmatter {
    let Frontmatter { branch, worktree, .. } = whole;
    Frontmatter { branch, worktree, ..Memory::parse_head(text, lines).front }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, path: &str, text: impl AsRef<[u8]>) {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn r2_topics_are_markdown_files_but_indexes_logs_and_hidden_ones() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a.md", "b/c.MD", "b/MEMORY.md", "MEMORY.md", "logs/x.md", "inbox/y.md"] {
            write(dir.path(), path, "text");
        }
        for path in [".everfold/z.md", ".hidden.md", "note.txt", "team/MEMORY.md", "team/t.md"] {
            write(dir.path(), path, "text");
        }
        let found: Vec<String> =
            shelf(dir.path()).unwrap().into_iter().map(|found| found.path).collect();
        assert_eq!(found, ["a.md", "b/c.MD"]);
        assert!(shelf(&dir.path().join("nowhere")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn s6_links_bad_bytes_and_huge_files_do_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("loop")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link.md")).unwrap();
        write(dir.path(), "bad.md", b"---\nname: x\n---\n\xff\xfe body");
        write(dir.path(), "open.md", "---\nname: never closed\n");
        let huge = File::create(dir.path().join("huge.md")).unwrap();
        huge.set_len(1 << 30).unwrap();
        let found = shelf(dir.path()).unwrap();
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|memory| memory.text.len() <= 3 << 20));
        let bad = found.iter().find(|memory| memory.path == "bad.md").unwrap();
        assert_eq!(bad.front.name.as_deref(), Some("x"));
        assert!(bad.body().ends_with("body"));
    }

    #[test]
    fn r9_a_plain_frontmatter_is_read_as_any_other() {
        for yaml in [
            "name: a\ndescription: two words\ntype: user\n",
            "name: a\nmetadata:\n  date: 2026-11-01\n  type: user\n",
            "name: 1.10\ndescription: it's fine, (really) - yes\n",
        ] {
            let (slow, fast) = (Frontmatter::parse(yaml).0, quick(yaml).unwrap());
            let parts = |front: &Frontmatter| {
                (front.name.clone(), front.description.clone(), front.date, front.kind)
            };
            assert_eq!(parts(&fast), parts(&slow), "{yaml}");
        }
        for yaml in [
            "description: \"quoted\"\n",
            "description: fix: it\n",
            "description: |\n  text\n",
            "description: one\n  two\n",
            "description: x # y\n",
            "metadata:\n  branch: b\n",
            "no key\n",
        ] {
            assert_eq!(quick(yaml), None, "{yaml}");
        }
    }
}
