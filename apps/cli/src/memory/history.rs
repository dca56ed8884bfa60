//! `log`, `diff`, `undo`, `blame`.

use super::Bench;
use super::find::Meant;
use crate::args::memory::{LogArgs, Named, Tier, UndoArgs};
use crate::fail::{Refusal, Usage};
use crate::present::{Look, Presenter};
use anyhow::Result;
use everfold::memdir::Store;
use everfold::memdir::store::{FileDiff, OnConflict};
use everfold::memdir::{Action, Author, Entry, EntryId};
use everfold_tui::{Row, Table};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Changes of each place that the screen lists.
const SHOWN: usize = 200;

impl Bench<'_> {
    pub(super) fn log(&self, args: &LogArgs) -> Result<()> {
        let Some(store) = self.existing(args.scope)? else {
            return self.nothing(args.json);
        };
        let path = args.file.as_deref().map(|name| self.past_path(&store, name, args.scope));
        let path = path.transpose()?;
        let entries = store.log(path.as_deref(), args.limit)?;
        if args.json {
            let rows: Result<Vec<Value>> =
                entries.iter().map(|entry| entry_json(&store, entry, args.diff)).collect();
            return Ok(Presenter::json(&rows?)?);
        }
        if entries.is_empty() {
            return Ok(self.presenter.line("nothing was changed yet")?);
        }
        if !args.diff {
            let rows: Vec<Vec<String>> =
                entries.iter().map(|entry| cells(entry).to_vec()).collect();
            return Ok(self.presenter.table(&rows)?);
        }
        for entry in &entries {
            let line = cells(entry).join("  ");
            self.presenter.styled(Look::Bold, &format!("{}\n", line.trim_end()))?;
            self.show_diffs(&store.diff(entry.id)?)?;
        }
        Ok(())
    }

    /// Changes for the screen, of every place, newest first.
    pub(super) fn changes(&self) -> Result<Table> {
        let mut all = Vec::new();
        for (tier, store) in self.stores(None)? {
            all.extend(store.log(None, SHOWN)?.into_iter().map(|entry| (tier, entry)));
        }
        all.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.at));
        let row = |(tier, entry): &(Tier, Entry)| {
            let [id, at, author, action, paths, reason] = cells(entry);
            Row {
                id: format!("{id} --scope {}", tier.as_str()),
                cells: vec![id, at, tier.as_str().to_owned(), author, action, paths],
                look: Look::Normal,
                more: reason,
            }
        };
        let head = ["#", "when", "where", "who", "what", "files"].map(str::to_owned).to_vec();
        let empty = "nothing was changed yet".to_owned();
        Ok(Table { head, rows: all.iter().map(row).collect(), empty })
    }

    /// Where memories were changed last.
    pub(super) fn last_changed(&self) -> Result<Tier> {
        let mut last = (None, Tier::Project);
        for (tier, store) in self.stores(None)? {
            let at = store.log(None, 1)?.first().map(|entry| entry.at);
            if at > last.0 {
                last = (at, tier);
            }
        }
        Ok(last.1)
    }

    fn nothing(&self, json: bool) -> Result<()> {
        if json {
            return Ok(Presenter::json(&json!([]))?);
        }
        Ok(self.presenter.line("nothing was changed yet")?)
    }

    /// The path of a memory that is there, or was.
    fn past_path(&self, store: &Store, name: &str, tier: Tier) -> Result<String> {
        let missing = match self.find(name, Some(tier)) {
            Ok(meant) => return Ok(meant.topic.path.to_string()),
            Err(error) if error.is::<Usage>() => return Err(error),
            Err(error) => error,
        };
        let entries = store.log(None, usize::MAX)?;
        let mut paths = entries.iter().flat_map(|entry| &entry.changes).map(|change| &change.path);
        let found = paths.find(|path| *path == name || path.strip_suffix(".md") == Some(name));
        found.cloned().ok_or(missing)
    }

    pub(super) fn diff(&self, entry: u64, scope: Tier, json: bool) -> Result<()> {
        let store = self.existing(scope)?.ok_or_else(|| no_entry(entry))?;
        let diffs = store.diff(EntryId(entry))?;
        if json {
            return Ok(Presenter::json(&diffs.iter().map(diff_json).collect::<Vec<_>>())?);
        }
        self.show_diffs(&diffs)
    }

    pub(super) fn show_diffs(&self, diffs: &[FileDiff]) -> Result<()> {
        for line in diffs
            .iter()
            .flat_map(|diff| diff.unified().lines().map(str::to_owned).collect::<Vec<_>>())
        {
            let look = match line.chars().next() {
                _ if line.starts_with("+++") || line.starts_with("---") => Look::Bold,
                Some('+') => Look::Green,
                Some('-') => Look::Red,
                Some('@') => Look::Dim,
                _ => Look::Normal,
            };
            self.presenter.styled(look, &format!("{line}\n"))?;
        }
        Ok(())
    }

    pub(super) fn undo(&self, args: &UndoArgs) -> Result<()> {
        let Some(store) = self.existing(args.scope)? else {
            let hint = "`everfold memory add` makes one";
            return Err(
                Refusal::new("there are no memories, and nothing to take back", hint).into()
            );
        };
        let by = self.person("taken back by hand");
        let (done, what) = match (&args.to, args.entry) {
            (Some(date), _) => {
                let at = moment(date)?;
                (store.undo_to(at, &by)?, format!("what was changed since {at}"))
            }
            (None, named) => {
                let id = match named {
                    Some(id) => EntryId(id),
                    None => newest_that_holds(&store)?,
                };
                let on_conflict = if args.force { OnConflict::Force } else { OnConflict::Refuse };
                let done = store.undo(id, on_conflict, &by).map_err(conflict)?;
                (done, format!("entry {id}"))
            }
        };
        if args.json {
            let entry = done.and_then(|done| entry_of(&store, done));
            let undoes = entry.as_ref().map(|entry| &entry.undoes);
            return Ok(Presenter::json(&json!({
                "entry": done,
                "undoes": undoes,
                "paths": entry.as_ref().map(paths),
                "scope": args.scope.as_str(),
            }))?);
        }
        let Some(done) = done else {
            return Ok(self.presenter.line("nothing had to be changed")?);
        };
        self.presenter.line(&format!("took back {what}"))?;
        let redo = format!("to do it again: `everfold memory undo {done}{}`", args.scope.flag());
        self.presenter.note(Look::Dim, &redo);
        Ok(())
    }

    pub(super) fn blame(&self, named: &Named) -> Result<()> {
        let Meant { tier, store, topic } = self.find(&named.name, named.scope)?;
        let blame = store.blame(&topic.path)?;
        let front = &blame.front;
        if named.json {
            let entries: Result<Vec<Value>> =
                blame.entries.iter().map(|entry| entry_json(&store, entry, false)).collect();
            return Ok(Presenter::json(&json!({
                "path": topic.path,
                "scope": tier.as_str(),
                "session": front.session,
                "messages": front.messages,
                "date": front.date,
                "basis": front.basis.map(everfold::memfile::frontmatter::Basis::as_str),
                "branch": front.branch,
                "worktree": front.worktree,
                "rule": front.rule,
                "tainted": front.trust == everfold::memfile::frontmatter::Trust::Tainted,
                "entries": entries?,
            }))?);
        }
        let messages: Vec<String> = front.messages.iter().map(ToString::to_string).collect();
        let said = [
            ("date", front.date.map(|date| date.to_string())),
            ("basis", front.basis.map(|basis| basis.as_str().to_owned())),
            ("session", front.session.as_ref().map(ToString::to_string)),
            ("messages", (!messages.is_empty()).then(|| messages.join(", "))),
            ("branch", front.branch.clone()),
            ("worktree", front.worktree.clone()),
            ("rule", front.rule.clone()),
        ];
        let rows: Vec<Vec<String>> = said
            .into_iter()
            .filter_map(|(key, value)| Some(vec![key.to_owned(), value?]))
            .collect();
        self.presenter.styled(Look::Bold, &format!("{}\n", topic.path))?;
        self.presenter.table(&rows)?;
        let entries: Vec<Vec<String>> =
            blame.entries.iter().map(|entry| cells(entry).to_vec()).collect();
        Ok(self.presenter.table(&entries)?)
    }
}

/// The newest entry whose change still stands: not taken back, and not itself
/// the taking back of another.
fn newest_that_holds(store: &Store) -> Result<EntryId> {
    let mut undone: BTreeSet<EntryId> = BTreeSet::new();
    for entry in store.log(None, usize::MAX)? {
        match entry.action {
            _ if undone.contains(&entry.id) => {}
            Action::Undo => undone.extend(entry.undoes),
            Action::Adopt => {}
            _ => return Ok(entry.id),
        }
    }
    let hint = "`everfold memory log` shows what was changed";
    Err(Refusal::new("there is nothing to take back", hint).into())
}

/// The store's refusal, with the flag that overrides it.
fn conflict(error: everfold::memdir::Error) -> anyhow::Error {
    use everfold::memdir::Error;
    let message = error.to_string();
    match error {
        Error::Conflict { .. } => {
            Refusal::new(message, "`everfold memory log` shows it; --force takes it back too")
                .into()
        }
        error => everfold::Error::from(error).into(),
    }
}

fn no_entry(entry: u64) -> anyhow::Error {
    let hint = "`everfold memory log` shows those that are";
    Refusal::new(format!("the history has no entry {entry}"), hint).into()
}

fn entry_of(store: &Store, id: EntryId) -> Option<Entry> {
    store.log(None, usize::MAX).ok()?.into_iter().find(|entry| entry.id == id)
}

/// A time as people write it. A day means its end.
fn moment(text: &str) -> Result<Timestamp> {
    let zone = TimeZone::system;
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    if let Ok(day) = text.parse::<Date>()
        && text.len() <= 10
    {
        return Ok(day.checked_add(1.day())?.to_zoned(zone())?.timestamp());
    }
    text.parse::<DateTime>().ok().and_then(|at| at.to_zoned(zone()).ok()).map_or_else(
        || {
            let message = format!("{text:?} is not a time");
            Err(Usage::new(message, "write it as 2026-01-31, or 2026-01-31T12:00").into())
        },
        |at| Ok(at.timestamp()),
    )
}

fn cells(entry: &Entry) -> [String; 6] {
    let zoned = entry.at.to_zoned(TimeZone::system());
    [
        entry.id.to_string(),
        zoned.strftime("%Y-%m-%d %H:%M").to_string(),
        author(&entry.author),
        word(entry.action).to_owned(),
        paths(entry).join(", "),
        entry.reason.clone(),
    ]
}

pub(super) fn author(author: &Author) -> String {
    match author {
        Author::Person => "person".to_owned(),
        Author::Agent { source } => format!("agent {source}"),
        Author::Foreign => "outside".to_owned(),
        Author::Program => "everfold".to_owned(),
    }
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Adopt => "adopt",
        Action::Add => "add",
        Action::Update => "update",
        Action::Forget => "forget",
        Action::Rename => "rename",
        Action::Index => "index",
        Action::Foreign => "change",
        Action::Undo => "undo",
        Action::Dream => "dream",
        Action::Unknown => "?",
    }
}

/// The files of an entry; the index only where it is alone.
fn paths(entry: &Entry) -> Vec<String> {
    let all = || entry.changes.iter().map(|change| change.path.clone());
    let topics: Vec<String> =
        all().filter(|path| path != everfold::memfile::index::INDEX_FILE).collect();
    if topics.is_empty() { all().collect() } else { topics }
}

fn entry_json(store: &Store, entry: &Entry, with_diff: bool) -> Result<Value> {
    let mut value = serde_json::to_value(entry)?;
    if let Some(map) = value.as_object_mut().filter(|_| with_diff) {
        let diffs: Vec<Value> = store.diff(entry.id)?.iter().map(diff_json).collect();
        map.insert("diff".to_owned(), Value::Array(diffs));
    }
    Ok(value)
}

pub(super) fn diff_json(diff: &FileDiff) -> Value {
    json!({
        "path": diff.path,
        "before": diff.before,
        "after": diff.after,
        "unified": diff.unified(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_17_times_are_read_as_people_write_them() {
        let day = moment("2026-01-31").unwrap();
        let noon = moment("2026-01-31T12:00").unwrap();
        assert!(noon < day, "a day means its end");
        assert_eq!(moment("2026-01-31T12:00:00Z").unwrap().to_string(), "2026-01-31T12:00:00Z");
        assert!(moment("soon").is_err());
    }
}
