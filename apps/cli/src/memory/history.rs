//! `log`, `diff`, `undo`, `blame`.

use super::Bench;
use crate::args::memory::{LogArgs, Tier, UndoArgs};
use crate::failure::{Refusal, Usage};
use crate::presenter::{Presenter, TextStyle};
use anyhow::Result;
use everfold_memory_store::Store;
use everfold_memory_store::store::{FileDiff, OnConflict};
use everfold_memory_store::{Action, EntryId, JournalEntry};
use everfold_tui::{Table, TableRow};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Changes of each place that the screen lists.
const SHOWN: usize = 200;

impl Bench<'_> {
    pub(super) fn log(&self, args: &LogArgs) -> Result<()> {
        let all = self.entries(args)?;
        if args.json {
            let rows: Result<Vec<Value>> = all
                .iter()
                .map(|(tier, store, entry)| entry_json(*tier, store, entry, args.diff))
                .collect();
            return Ok(Presenter::json(&rows?)?);
        }
        if all.is_empty() {
            return Ok(self.presenter.line("no changes yet")?);
        }
        if !args.diff {
            let rows: Vec<Vec<String>> =
                all.iter().map(|(tier, _, entry)| placed(*tier, entry)).collect();
            return Ok(self.presenter.table(&rows)?);
        }
        for (tier, store, entry) in &all {
            let line = placed(*tier, entry).join("  ");
            self.presenter.styled(TextStyle::Bold, &format!("{}\n", line.trim_end()))?;
            self.show_diffs(&store.diff(entry.id)?)?;
        }
        Ok(())
    }

    /// What was changed, in every place that is meant, newest first (L5.41).
    fn entries(&self, args: &LogArgs) -> Result<Vec<(Tier, Rc<Store>, JournalEntry)>> {
        let mut all = Vec::new();
        let mut missing = None;
        for (tier, store) in self.stores(args.scope)? {
            let path = args.file.as_deref().map(|name| self.past_path(&store, name, tier));
            let path = match path.transpose() {
                Ok(path) => path,
                Err(error) if error.is::<Usage>() => return Err(error),
                Err(error) => {
                    missing = Some(error);
                    continue;
                }
            };
            let (store, entries) = (Rc::new(store), args.limit);
            let entries = store.log(path.as_deref(), entries)?;
            all.extend(entries.into_iter().map(|entry| (tier, Rc::clone(&store), entry)));
        }
        if let (true, Some(missing)) = (all.is_empty(), missing) {
            return Err(missing);
        }
        all.sort_by_key(|(_, _, entry)| std::cmp::Reverse((entry.at, entry.id)));
        all.truncate(args.limit);
        Ok(all)
    }

    /// Changes for the screen, of every place, newest first.
    pub(super) fn changes(&self) -> Result<Table> {
        let mut all = Vec::new();
        for (tier, store) in self.stores(None)? {
            all.extend(store.log(None, SHOWN)?.into_iter().map(|entry| (tier, entry)));
        }
        all.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.at));
        let row = |(tier, entry): &(Tier, JournalEntry)| {
            let [id, at, author, action, paths, reason] = cells(entry);
            TableRow {
                id: format!("{id} --scope {}", tier.as_str()),
                cells: vec![id, at, tier.as_str().to_owned(), author, action, paths],
                look: TextStyle::Normal,
                more: reason,
            }
        };
        let head = ["#", "when", "where", "who", "what", "files"].map(str::to_owned).to_vec();
        let empty = "no changes yet".to_owned();
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

    pub(super) fn diff(&self, entry: u64, scope: Option<Tier>, json: bool) -> Result<()> {
        let (_, store) = self.of_entry(entry, scope)?;
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
                _ if line.starts_with("+++") || line.starts_with("---") => TextStyle::Bold,
                Some('+') => TextStyle::Green,
                Some('-') => TextStyle::Red,
                Some('@') => TextStyle::Dim,
                _ => TextStyle::Normal,
            };
            self.presenter.styled(look, &format!("{line}\n"))?;
        }
        Ok(())
    }

    pub(super) fn undo(&self, args: &UndoArgs) -> Result<()> {
        let (tier, store) = match (args.entry, args.scope, &args.to) {
            (Some(entry), scope, _) => self.of_entry(entry, scope)?,
            // Going back to a time is about one place.
            (None, scope, Some(_)) => self.there(scope.unwrap_or_default())?,
            (None, Some(scope), None) => self.there(scope)?,
            (None, None, None) => self.there(self.last_changed()?)?,
        };
        let by = self.person("undone by hand");
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
                "paths": entry.as_ref().map(JournalEntry::paths),
                "scope": tier.as_str(),
            }))?);
        }
        let Some(done) = done else {
            return Ok(self.presenter.line("nothing to change")?);
        };
        self.presenter.line(&format!("undid {what}"))?;
        let redo = format!("to redo it: `everfold memory undo {done}{}`", tier.flag());
        self.presenter.note(TextStyle::Dim, &redo);
        Ok(())
    }

    /// The memories of a place, which have to be there.
    fn there(&self, tier: Tier) -> Result<(Tier, Store)> {
        self.existing(tier)?.map(|store| (tier, store)).ok_or_else(|| {
            let hint = "`everfold memory add` makes one";
            Refusal::new("no memories, and nothing to undo", hint).into()
        })
    }

    /// The place whose history has an entry of this number.
    fn of_entry(&self, entry: u64, scope: Option<Tier>) -> Result<(Tier, Store)> {
        let mut found = Vec::new();
        for (tier, store) in self.stores(scope)? {
            if entry_of(&store, EntryId(entry)).is_some() {
                found.push((tier, store));
            }
        }
        if found.len() > 1 {
            let places: Vec<&str> = found.iter().map(|(tier, _)| tier.as_str()).collect();
            let message = format!("several histories have an entry {entry}: {}", places.join(", "));
            return Err(Usage::new(message, "choose one with --scope").into());
        }
        found.pop().ok_or_else(|| no_entry(entry))
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
    Err(Refusal::new("nothing to undo", hint).into())
}

/// The store's refusal, with the flag that overrides it.
fn conflict(error: everfold_memory_store::Error) -> anyhow::Error {
    use everfold_memory_store::Error;
    let message = error.to_string();
    match error {
        Error::Conflict { .. } => {
            Refusal::new(message, "`everfold memory log` shows it; --force undoes it too").into()
        }
        error => everfold_agent::Error::from(error).into(),
    }
}

fn no_entry(entry: u64) -> anyhow::Error {
    let hint = "`everfold memory log` lists the entries";
    Refusal::new(format!("the history has no entry {entry}"), hint).into()
}

fn entry_of(store: &Store, id: EntryId) -> Option<JournalEntry> {
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

/// A row of `log`: what was changed, and in which place.
fn placed(tier: Tier, entry: &JournalEntry) -> Vec<String> {
    let [id, at, author, action, paths, reason] = cells(entry);
    vec![id, tier.as_str().to_owned(), at, author, action, paths, reason]
}

pub(super) fn cells(entry: &JournalEntry) -> [String; 6] {
    let zoned = entry.at.to_zoned(TimeZone::system());
    [
        entry.id.to_string(),
        zoned.strftime("%Y-%m-%d %H:%M").to_string(),
        entry.author.title(),
        entry.action.as_str().to_owned(),
        entry.paths().join(", "),
        entry.reason.clone(),
    ]
}

pub(super) fn entry_json(
    tier: Tier,
    store: &Store,
    entry: &JournalEntry,
    with_diff: bool,
) -> Result<Value> {
    let mut value = serde_json::to_value(entry)?;
    if let Some(map) = value.as_object_mut() {
        map.insert("scope".to_owned(), Value::from(tier.as_str()));
    }
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
