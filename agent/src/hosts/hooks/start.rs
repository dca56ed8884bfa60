//! The start of a session: the index, and what changed since the last one.

use super::call::HostCall;
use super::notes::{Note, Notes};
use super::reply::{HostReply, units};
use crate::error::Error;
use crate::hosts::{HostKind, HostService};
use everfold_disk::atomic::{self, FileReaders};
use everfold_memory_file::index::{Caps, INDEX_FILE};
use everfold_memory_store::{Action, Author, EntryId, JournalEntry, Store, StoreScope};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// UTF-16 units that the rest of the text may take beside the indexes.
const AROUND: usize = 2_500;

impl HostService {
    pub(super) fn session_start(
        &self,
        call: &HostCall,
        source: &str,
        notes: &mut Notes,
        now: Timestamp,
    ) -> Result<HostReply, Error> {
        let host = call.host(self.claude.as_ref());
        let tells = host.is_none_or(HostKind::tells_of_resuming);
        let goes_on = !tells && source == "startup" && !notes.prompts.is_empty();
        let source = if goes_on { "resume" } else { source };
        // Everything that was shown is out of the model's sight by now.
        if matches!(source, "clear" | "compact") {
            notes.note(Note::Cleared);
        }
        let project = self.memories.existing(StoreScope::Project)?;
        let global = self.memories.existing(StoreScope::Global)?;
        let team = self.team_index()?;
        let changes = project.as_ref().map(|store| self.changes(store, now)).transpose()?;
        let mut text = String::new();
        // A session that is resumed still has the index that it started with.
        if source != "resume" {
            let room = self.limits.beside.context_units.saturating_sub(AROUND);
            let mut caps = Caps { bytes: room.min(Caps::default().bytes), ..Caps::default() };
            let project = project.as_ref().filter(|_| !self.is_shared(call));
            for (whose, store) in [
                ("for every project", &global.as_ref()),
                ("of this project", &project),
                ("of the team", &team.as_ref()),
            ] {
                if let Some(store) = store {
                    text.push_str(&index(whose, store, &mut caps)?);
                }
            }
        }
        if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
            let _ = write!(text, "\n\nChanged since the last session here:\n{changes}");
        }
        if source == "compact" && !notes.kept.is_empty() {
            text.push_str("\n\nSaid by the person before the summary, and not in it:\n");
            for words in &notes.kept {
                let _ = writeln!(text, "- {}", words.replace('\n', "\n  "));
            }
            notes.note(Note::Kept { words: Vec::new() });
        }
        if source != "resume"
            && let Some(waiting) = self.memories.waiting_today()
        {
            let _ = write!(
                text,
                "\n\n{waiting} proposed memories wait for the person's word; tell them, once, that \
                 `everfold memory inbox` shows them."
            );
        }
        if text.is_empty() {
            return Ok(HostReply::nothing());
        }
        let head = "Everfold keeps what was learned in earlier sessions. What follows is from the \
                    past: read the file of a memory before you rely on it, and check it against \
                    the present.\n";
        Ok(HostReply::context(&within(&format!("{head}{text}"), self.limits.beside.context_units)))
    }

    /// The memories of a team that the project is bound to, brought up to date.
    fn team_index(&self) -> Result<Option<Store>, Error> {
        if self.memories.team().is_none() || !self.memories.is_used(StoreScope::Team) {
            return Ok(None);
        }
        self.memories.pull_team();
        self.memories.existing(StoreScope::Team)
    }

    /// What was done to the memories since this was last asked.
    fn changes(&self, store: &Store, now: Timestamp) -> Result<String, Error> {
        let most = self.limits.beside.changes;
        let entries = store.log(None, most)?;
        let newest = entries.first().map_or(EntryId(0), |entry| entry.id);
        let seen = self.last_seen();
        if seen.is_none_or(|seen| seen < newest) {
            self.see(newest);
        }
        let Some(seen) = seen else { return Ok(String::new()) };
        // The newest word about each file counts.
        let mut files: BTreeMap<&str, (&JournalEntry, &str)> = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.id > seen) {
            for change in entry.changes.iter().filter(|change| change.path != INDEX_FILE) {
                let what = match (&change.before, &change.after) {
                    (None, _) => "added",
                    (_, None) => "removed",
                    _ => "changed",
                };
                files.entry(&change.path).or_insert((entry, what));
            }
        }
        let mut text = String::new();
        for (path, (entry, what)) in files {
            let days = now.duration_since(entry.at).as_hours().max(0) / 24;
            let when = if days == 0 { "today".to_owned() } else { format!("{days} days ago") };
            let _ = writeln!(text, "- {what} {path} ({}, {when})", who(entry));
        }
        Ok(text)
    }

    /// Where the last entry that was told of is noted, for each directory.
    fn seen_file(&self) -> PathBuf {
        let dir = self.memories.dir(StoreScope::Project);
        let name = everfold_memory_store::location::project_slug(&dir);
        self.notes_dir().join("seen").join(name)
    }

    fn last_seen(&self) -> Option<EntryId> {
        let text = std::fs::read_to_string(self.seen_file()).ok()?;
        text.trim().parse().ok().map(EntryId)
    }

    fn see(&self, entry: EntryId) {
        let text = format!("{entry}\n");
        if let Err(error) = atomic::write(&self.seen_file(), text.as_bytes(), FileReaders::Private)
        {
            tracing::warn!(%error, "a hook could not note what it told of");
        }
    }
}

fn index(whose: &str, store: &Store, caps: &mut Caps) -> Result<String, Error> {
    let loaded = store.load_index_within(*caps)?.text;
    if loaded.trim().is_empty() {
        return Ok(String::new());
    }
    caps.lines = caps.lines.saturating_sub(loaded.lines().count());
    caps.bytes = caps.bytes.saturating_sub(loaded.len());
    let path = store.dir().join(INDEX_FILE);
    Ok(format!("\nMemories {whose} ({}):\n\n{}\n", path.display(), loaded.trim_end()))
}

fn who(entry: &JournalEntry) -> String {
    match (&entry.author, entry.action) {
        (Author::Person, _) => "by the person".to_owned(),
        (Author::Agent { source }, _) => format!("by {source}"),
        (Author::Foreign, Action::Adopt) => "there before".to_owned(),
        (Author::Foreign, _) => "from outside".to_owned(),
        (Author::Program, _) => "fixed".to_owned(),
    }
}

/// A text within what a host takes, cut after a line.
fn within(text: &str, most: usize) -> String {
    const NOTE: &str = "\n[The rest is left out.]";
    if units(text) <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(units(NOTE));
    let lines = text.split_inclusive('\n').take_while(|line| {
        let fits = units(line) <= left;
        left = left.saturating_sub(units(line));
        fits
    });
    lines.collect::<String>() + NOTE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_a_text_is_cut_after_a_line_and_says_so() {
        assert_eq!(within("a\nb\n", 10), "a\nb\n");
        let long = "\u{1F600}line\n".repeat(100);
        let cut = within(&long, 200);
        assert!(units(&cut) <= 200 && cut.ends_with("line\n\n[The rest is left out.]"));
    }
}
