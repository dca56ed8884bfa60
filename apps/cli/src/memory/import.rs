//! `import` and `export`: what people have elsewhere comes in as proposals
//! with its origin, and goes out as plain files (L5.30). Foreign files are
//! read, never changed.

mod pieces;

use super::Bench;
use crate::args::memory::{ExportArgs, ImportArgs, Tier};
use crate::fail::{Refusal, Usage};
use crate::present::{Look, Presenter, counted};
use anyhow::{Context, Result};
use everfold::disk::atomic::{self, Audience};
use everfold::memdir::store::inbox::{Handed, Wish};
use everfold::memdir::{By, Error, Store};
use everfold::memfile::index::INDEX_FILE;
use everfold::memfile::similar::{COPY, Fingerprint};
use pieces::Piece;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Who proposes, in the inbox.
const SOURCE: &str = "import";
/// How deep folders are looked into.
const MAX_DEPTH: usize = 8;
/// How many files are read.
const MAX_FILES: usize = 10_000;
/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Endings of files that can hold memories.
const ENDINGS: [&str; 4] = ["md", "jsonl", "json", "txt"];

/// What became of the pieces.
#[derive(Default)]
struct Outcome {
    proposed: Vec<Value>,
    skipped: Vec<Value>,
}

impl Outcome {
    fn skip(&mut self, piece: &str, from: &Path, reason: &str) {
        self.skipped.push(json!({"name": piece, "from": from, "reason": reason}));
    }
}

impl Bench<'_> {
    pub(super) fn import(&self, args: &ImportArgs) -> Result<()> {
        let files = self.sources(args)?;
        let store = self.memories.open(args.scope.scope())?;
        let mut known: Vec<(String, Fingerprint)> = Vec::new();
        for topic in store.scan(usize::MAX)? {
            let Ok(read) = store.read(&topic.path) else { continue };
            known.push((topic.path.to_string(), Fingerprint::of(&read.text)));
        }
        // What waits for a word is not proposed a second time.
        for waiting in store.inbox()?.iter().flat_map(|proposal| &proposal.changes) {
            let text = waiting.text().unwrap_or_default();
            known.push((format!("{} in the inbox", waiting.path), Fingerprint::of(&text)));
        }
        let mut outcome = Outcome::default();
        for file in &files {
            match text_of(file) {
                Ok(text) => {
                    for piece in pieces::of(file, &text) {
                        self.propose(&store, &piece, file, args, &mut known, &mut outcome)?;
                    }
                }
                Err(reason) => outcome.skip("", file, &reason),
            }
        }
        self.told(&outcome, &files, args)
    }

    fn propose(
        &self,
        store: &Store,
        piece: &Piece,
        file: &Path,
        args: &ImportArgs,
        known: &mut Vec<(String, Fingerprint)>,
        outcome: &mut Outcome,
    ) -> Result<()> {
        let text = piece.rendered(file, self.now.date(), self.at());
        let print = Fingerprint::of(&text);
        if let Some((same, _)) = known.iter().find(|(_, other)| other.likeness(&print) >= COPY) {
            outcome.skip(&piece.name, file, &format!("{same} says nearly the same"));
            return Ok(());
        }
        if args.dry_run {
            outcome.proposed.push(json!({"name": piece.name, "from": file}));
        } else {
            let by = By::agent(SOURCE, &format!("imported from {}", file.display()), self.at());
            match store.propose(&[Wish::add(&piece.name, text)], &by) {
                Ok(Handed::New(id)) => {
                    outcome.proposed.push(json!({"id": id, "name": piece.name, "from": file}));
                }
                Ok(Handed::Waiting(_)) => outcome.skip(&piece.name, file, "it waits already"),
                Ok(Handed::RejectedBefore(_)) => {
                    outcome.skip(&piece.name, file, "you turned it down before");
                }
                Ok(Handed::Nothing) => outcome.skip(&piece.name, file, "it is there already"),
                // What may not be saved may not be proposed: a secret, say.
                Err(
                    error @ (Error::Secret { .. } | Error::TooLong { .. } | Error::Private { .. }),
                ) => {
                    outcome.skip(&piece.name, file, &error.to_string());
                    return Ok(());
                }
                Err(error) => return Err(everfold::Error::from(error).into()),
            }
        }
        known.push((piece.name.clone(), print));
        Ok(())
    }

    fn told(&self, outcome: &Outcome, files: &[PathBuf], args: &ImportArgs) -> Result<()> {
        if args.json {
            let value = json!({
                "files": files.len(),
                "dry_run": args.dry_run,
                "proposed": outcome.proposed,
                "skipped": outcome.skipped,
            });
            return Ok(Presenter::json(&value)?);
        }
        let verb = if args.dry_run { "would propose" } else { "proposed" };
        let memories = counted(outcome.proposed.len() as u64, "memory");
        let files = counted(files.len() as u64, "file");
        self.presenter.line(&format!("{verb} {memories} from {files}"))?;
        for skipped in &outcome.skipped {
            let word = |key: &str| skipped.get(key).and_then(Value::as_str).unwrap_or_default();
            let note = format!("left out: {} ({}): {}", word("name"), word("from"), word("reason"));
            self.presenter.note(Look::Yellow, &note);
        }
        if !outcome.proposed.is_empty() && !args.dry_run {
            let hint = "`everfold memory inbox` shows them, and takes your yes or no";
            self.presenter.note(Look::Dim, hint);
        }
        Ok(())
    }

    /// The files that are meant.
    fn sources(&self, args: &ImportArgs) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for named in &args.from {
            let places = match named.as_str() {
                "claude" => vec![self.claude_memories()?],
                "codex" => vec![self.host_dir("CODEX_HOME", ".codex")?.join("memories")],
                path => vec![PathBuf::from(path)],
            };
            for place in places {
                let before = files.len();
                collect(&place, 0, &mut files);
                if files.len() == before {
                    let message = format!("{} has nothing that could be memories", place.display());
                    let hint = "name a Markdown or JSONL file, a folder of them, claude or codex";
                    return Err(Usage::new(message, hint).into());
                }
            }
        }
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Where Claude Code keeps the memories of this project.
    fn claude_memories(&self) -> Result<PathBuf> {
        let slug = everfold::memdir::location::project_slug(self.memories.project());
        let dir = self.host_dir("CLAUDE_CONFIG_DIR", ".claude")?;
        Ok(dir.join("projects").join(slug).join("memory"))
    }

    fn host_dir(&self, variable: &str, usual: &str) -> Result<PathBuf> {
        let named = self.ground.variables.get(variable).filter(|dir| !dir.is_empty());
        if let Some(named) = named {
            return Ok(PathBuf::from(named));
        }
        let home = self.ground.user_home.as_ref();
        let home = home.ok_or_else(|| Usage::new("there is no home directory", "set HOME"))?;
        Ok(home.join(usual))
    }

    pub(super) fn export(&self, args: &ExportArgs) -> Result<()> {
        let dir = &args.to;
        let is_empty = match std::fs::read_dir(dir) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        if !is_empty {
            let message = format!("{} is there already, and not an empty folder", dir.display());
            return Err(Refusal::new(message, "name one that is empty, or not there").into());
        }
        let mut written = Vec::new();
        for (tier, store) in self.stores(args.scope)? {
            export_tier(tier, &store, dir, &mut written)?;
        }
        if args.json {
            return Ok(Presenter::json(&json!({"to": dir, "files": written}))?);
        }
        let message =
            format!("wrote {} to {}", counted(written.len() as u64, "file"), dir.display());
        Ok(self.presenter.line(&message)?)
    }
}

fn export_tier(tier: Tier, store: &Store, dir: &Path, written: &mut Vec<PathBuf>) -> Result<()> {
    let mut write = |name: &Path, bytes: &[u8]| -> Result<()> {
        let path = dir.join(tier.as_str()).join(name);
        atomic::write(&path, bytes, Audience::Umask)
            .with_context(|| format!("{} cannot be written", path.display()))?;
        written.push(path);
        Ok(())
    };
    if let Some(index) = store.read_index()? {
        write(Path::new(INDEX_FILE), index.text.as_bytes())?;
    }
    for topic in store.scan(usize::MAX)? {
        let file = store.dir().join(topic.path.as_path());
        let bytes = std::fs::read(&file);
        let bytes = bytes.with_context(|| format!("{} cannot be read", file.display()))?;
        write(topic.path.as_path(), &bytes)?;
    }
    Ok(())
}

/// The files under a place that can hold memories. Links are not followed
/// below it.
fn collect(place: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    if place.is_file() {
        files.push(place.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let kind = entry.file_type();
        if name.starts_with('.') || files.len() >= MAX_FILES {
            continue;
        }
        if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) && depth < MAX_DEPTH {
            collect(&path, depth + 1, files);
        } else if kind.is_ok_and(|kind| kind.is_file()) && is_meant(&path) {
            files.push(path);
        }
    }
}

fn is_meant(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

/// The text of a file, or why there is none.
fn text_of(path: &Path) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if about.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, more than {MAX_BYTES}", about.len()));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
