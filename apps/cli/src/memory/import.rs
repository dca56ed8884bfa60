//! `import` and `export`: what people have elsewhere comes in as proposals
//! with its origin, and goes out as plain files (L5.30). Foreign files are
//! read, never changed.

mod pieces;

use super::Bench;
use crate::args::memory::{ExportArgs, ImportArgs, Tier};
use crate::failure::{Refusal, Usage};
use crate::presenter::{Presenter, TextStyle, counted};
use anyhow::{Context, Result, anyhow, bail};
use everfold_agent::disk::atomic::{self, FileReaders};
use everfold_kernel::ports::{
    Haste, Kept, MemoryAuthor, MemoryPlacement, MemoryProposal, MemoryRef, MemoryWriter,
};
use everfold_kernel::provenance::Source;
use everfold_kernel::{Provenance, RecordId, Testimony, Utterance};
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_service::{Foreseen, Service};
use everfold_memory_store::Store;
use pieces::Piece;
use serde_json::{Value, json};
use std::collections::BTreeSet;
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
    /// What waits, by place and number: nothing is proposed twice.
    waiting: BTreeSet<(&'static str, u64)>,
}

impl Outcome {
    fn skip(&mut self, piece: &str, from: &Path, reason: &str) {
        self.skipped.push(json!({"name": piece, "from": from, "reason": reason}));
    }
}

impl Bench<'_> {
    pub(super) fn import(&self, args: &ImportArgs) -> Result<()> {
        let files = self.sources(args)?;
        let service = self.memories.service();
        let mut outcome = Outcome::default();
        for (tier, store) in self.stores(None)? {
            let waiting = store.inbox()?;
            outcome.waiting.extend(waiting.iter().map(|one| (tier.as_str(), one.id.0)));
        }
        for file in &files {
            match text_of(file) {
                Ok(text) => {
                    for piece in pieces::of(file, &text) {
                        propose(&service, &piece, file, args, &mut outcome)?;
                    }
                }
                Err(reason) => outcome.skip("", file, &reason.to_string()),
            }
        }
        self.told(&outcome, &files, args)
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
            let note = format!("skipped: {} ({}): {}", word("name"), word("from"), word("reason"));
            self.presenter.note(TextStyle::Yellow, &note);
        }
        if !outcome.proposed.is_empty() && !args.dry_run {
            let hint = "`everfold memory inbox` shows them, to accept or reject";
            self.presenter.note(TextStyle::Dim, hint);
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
                    let message =
                        format!("{} has nothing that could become a memory", place.display());
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
        let slug = everfold_memory_store::location::project_slug(self.memories.project());
        let dir = self.host_dir("CLAUDE_CONFIG_DIR", ".claude")?;
        Ok(dir.join("projects").join(slug).join("memory"))
    }

    fn host_dir(&self, variable: &str, usual: &str) -> Result<PathBuf> {
        let named = self.env.variables.get(variable).filter(|dir| !dir.is_empty());
        if let Some(named) = named {
            return Ok(PathBuf::from(named));
        }
        let home = self.env.user_home.as_ref();
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
            let message = format!("{} already exists and is not an empty folder", dir.display());
            return Err(Refusal::new(message, "name an empty or new folder").into());
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

/// Hands one piece in, and notes what became of it.
fn propose(
    service: &Service,
    piece: &Piece,
    file: &Path,
    args: &ImportArgs,
    outcome: &mut Outcome,
) -> Result<()> {
    let text = piece.rendered(file);
    let said = Utterance {
        record: RecordId::from(""),
        by: Provenance::of(Source::Pasted),
        text: text.clone(),
    };
    let proposal = MemoryProposal {
        text,
        place: args.scope.map_or(MemoryPlacement::Anywhere { scope: None }, |tier| {
            MemoryPlacement::In { scope: tier.port() }
        }),
        testimony: Testimony { said: vec![said], ..Testimony::default() },
        by: MemoryAuthor {
            who: MemoryWriter::Agent(SOURCE.to_owned()),
            reason: format!("imported from {}", file.display()),
            session: None,
            messages: Vec::new(),
        },
        haste: Haste::Waits,
    };
    if args.dry_run {
        match service.foresee(&proposal)? {
            Foreseen::News | Foreseen::Change(_) => {
                outcome.proposed.push(json!({"name": piece.name, "from": file}));
            }
            Foreseen::Known(same) => outcome.skip(&piece.name, file, &says_already(&same)),
            Foreseen::Refused(reason) => outcome.skip("", file, &reason),
        }
        return Ok(());
    }
    match service.keep(&proposal)? {
        Kept::Proposed { memory, id } if !outcome.waiting.insert((memory.scope.as_str(), id)) => {
            let reason = format!("{} is already in the inbox", memory.id());
            outcome.skip(&piece.name, file, &reason);
        }
        Kept::Proposed { memory, id } => outcome.proposed.push(json!({
            "id": id,
            "scope": memory.scope.as_str(),
            "name": piece.name,
            "from": file,
        })),
        // What may not be saved may not be proposed: a secret, say. Its name
        // may be part of it (L5.40).
        Kept::Refused { reason } => outcome.skip("", file, &reason),
        kept => {
            let same = kept.memory().map(MemoryRef::id).unwrap_or_default();
            outcome.skip(&piece.name, file, &says_already(&same));
        }
    }
    Ok(())
}

fn says_already(id: &str) -> String {
    format!("{id} already says this")
}

fn export_tier(tier: Tier, store: &Store, dir: &Path, written: &mut Vec<PathBuf>) -> Result<()> {
    let mut write = |name: &Path, bytes: &[u8]| -> Result<()> {
        let path = dir.join(tier.as_str()).join(name);
        atomic::write(&path, bytes, FileReaders::Umask)
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
fn text_of(path: &Path) -> Result<String> {
    let about = std::fs::metadata(path)?;
    if about.len() > MAX_BYTES {
        bail!("it has {} bytes, more than {MAX_BYTES}", about.len());
    }
    String::from_utf8(std::fs::read(path)?).map_err(|_| anyhow!("it is not UTF-8"))
}
