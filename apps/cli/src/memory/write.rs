//! `add`, `edit`, `forget`, `move`.

use super::lookup::Meant;
use super::{Bench, editor};
use crate::args::memory::{AddArgs, Named, Tier};
use crate::failure::{Refusal, Usage};
use crate::presenter::{Presenter, TextStyle};
use anyhow::Result;
use everfold_kernel::ports::{
    Haste, Kept, MemoryAuthor, MemoryBefore, MemoryPlacement, MemoryProposal, MemoryWriter,
};
use everfold_kernel::{RecordId, Testimony};
use everfold_memory_file::frontmatter::{Key, METADATA, Value, set};
use everfold_memory_file::{FrontmatterFault, Memory, MemoryDraft, MemoryType};
use everfold_memory_judge::dates;
use everfold_memory_store::{EntryId, TopicPath};
use serde_json::json;

impl Bench<'_> {
    pub(super) fn add(&self, args: &AddArgs) -> Result<()> {
        let kind = MemoryType::from(args.kind);
        for (flag, value) in [("--name", &args.name), ("--description", &args.description)] {
            if value.trim().is_empty() {
                return Err(Usage::new(format!("{flag} is empty"), "say it in words").into());
            }
        }
        let piped = editor::piped()?;
        let edited = match &piped {
            Some(_) => None,
            None => Some(editor::edit("", &self.env.variables, self.presenter)?),
        };
        let typed = edited.as_ref().map(|edited| edited.text.clone());
        let body = piped.or(typed).unwrap_or_default();
        let done = self.add_text(args, kind, &body);
        match (done, edited) {
            (Err(error), Some(edited)) => Err(edited.keep(error)),
            (done, _) => done,
        }
    }

    fn add_text(&self, args: &AddArgs, kind: MemoryType, body: &str) -> Result<()> {
        if body.trim().is_empty() {
            let hint = "pipe its text in, such as `echo … | everfold memory add …`";
            return Err(Usage::new("the memory has no text", hint).into());
        }
        let draft =
            MemoryDraft { name: args.name.trim(), description: &args.description, kind, body };
        let scope = args.scope.map(Tier::port);
        if args.scope == Some(Tier::Team) {
            self.open(Tier::Team)?;
        }
        let proposal = MemoryProposal {
            text: draft.render(),
            place: scope.map_or(MemoryPlacement::Anywhere { scope: None }, |scope| {
                MemoryPlacement::In { scope }
            }),
            // Adding is the person's own act, piped in or not (L5.33).
            testimony: Testimony::typed(
                [draft.name, draft.description, draft.body].join("\n"),
                RecordId::from(""),
            ),
            by: author("added by hand"),
            haste: Haste::AtOnce,
        };
        let named = args.scope.unwrap_or_default().scope();
        let kept = self.memories.service_with(named).keep(&proposal)?;
        let missing = kind.missing_parts(body);
        if !missing.is_empty() && matches!(kept, Kept::Saved { .. }) {
            let parts = missing.join(" and ");
            let note = format!("a {} memory is more use with {parts}", kind.as_str());
            self.presenter.note(TextStyle::Dim, &note);
        }
        self.kept(&kept, args.json)
    }

    pub(super) fn edit(&self, named: &Named) -> Result<()> {
        let Meant { tier, store, topic } = self.find(&named.name, named.scope)?;
        let read = store.read(&topic.path)?;
        if read.note.is_some() {
            let hint =
                format!("fix it by hand: {}", store.dir().join(topic.path.as_path()).display());
            let message = format!("{} is too large, or not UTF-8", topic.path);
            return Err(Refusal::new(message, hint).into());
        }
        let edited = editor::edit(&read.text, &self.env.variables, self.presenter)?;
        if edited.text == read.text {
            return self.unchanged(&topic.path, tier, named.json);
        }
        let done = self.accept(&read.text, &edited.text, &topic.path).and_then(|text| {
            let path = store.dir().join(topic.path.as_path());
            let before = MemoryBefore::Text(read.text.clone());
            let proposal = MemoryProposal {
                testimony: Testimony::typed(text.as_str(), RecordId::from("")),
                text,
                place: MemoryPlacement::Exactly { path, before },
                by: author("edited by hand"),
                haste: Haste::AtOnce,
            };
            let kept = self.memories.service_with(tier.scope()).keep(&proposal)?;
            self.kept(&kept, named.json)
        });
        done.map_err(|error| edited.keep(error))
    }

    fn unchanged(&self, path: &TopicPath, tier: Tier, json: bool) -> Result<()> {
        if json {
            let value = json!({"path": path, "scope": tier.as_str(), "entry": null});
            return Ok(Presenter::json(&value)?);
        }
        Ok(self.presenter.line(&format!("{path} is as it was"))?)
    }

    /// An edited text as it is saved, if it can be.
    fn accept(&self, old: &str, new: &str, path: &TopicPath) -> Result<String> {
        let (before, after) = (Memory::parse(old), Memory::parse(new));
        match &after.fault {
            // Read, after some quotes were added: nothing is lost.
            Some(fault @ FrontmatterFault::Repaired { .. }) => {
                self.presenter.note(TextStyle::Yellow, &format!("{path}: {fault}"));
            }
            Some(fault) => return Err(anyhow::anyhow!("{path}: {fault}")),
            None => {}
        }
        if new.trim().is_empty() {
            let hint = format!("to remove it: `everfold memory forget {path}`");
            return Err(Refusal::new("the text is empty", hint).into());
        }
        if after.front.description.is_none() {
            let note = format!("{path} has no description, so it will hardly be recalled");
            self.presenter.note(TextStyle::Yellow, &note);
        }
        let head = new.strip_suffix(after.body).unwrap_or_default();
        let text = format!("{head}{}", dated(before.body, after.body, self.now.date()));
        Ok(self.stamped(text, &after))
    }

    /// The text with the time of this change, where it has one.
    fn stamped(&self, text: String, memory: &Memory<'_>) -> String {
        let has = |map: Option<&serde_json::Value>| {
            map.is_some_and(|metadata| metadata.get("modified").is_some())
        };
        let key = if has(memory.front.all.get(METADATA)) {
            Key::Under(METADATA, "modified")
        } else if memory.front.all.contains_key("modified") {
            Key::Top("modified")
        } else {
            return text;
        };
        set(&text, key, &Value::Text(self.at().to_string())).unwrap_or(text)
    }

    pub(super) fn forget(&self, named: &Named) -> Result<()> {
        let Meant { tier, store, topic } = self.find(&named.name, named.scope)?;
        let entry = store.forget(&topic.path, &self.person("forgotten by hand"))?;
        if named.json {
            let value = json!({"path": topic.path, "scope": tier.as_str(), "entry": entry});
            return Ok(Presenter::json(&value)?);
        }
        self.presenter.line(&format!("forgot {}", topic.path))?;
        self.undo_hint(tier, entry);
        Ok(())
    }

    pub(super) fn relocate(&self, name: &str, to: Tier, json: bool) -> Result<()> {
        let Meant { tier: from, store, topic } = self.find_outside(name, to)?;
        let other = self.open(to)?;
        let reason = format!("moved from {} to {}", from.as_str(), to.as_str());
        let saved = store.move_to(&topic.path, &other, &self.person(&reason))?;
        if json {
            return Ok(Presenter::json(&json!({
                "path": saved.path,
                "file": other.dir().join(saved.path.as_path()),
                "from": from.as_str(),
                "scope": to.as_str(),
                "entry": saved.entry,
            }))?);
        }
        self.presenter.line(&format!("moved {} to {}", saved.path, to.as_str()))?;
        let back = format!(
            "to move it back: `everfold memory move {} --to {}`",
            saved.path,
            from.as_str()
        );
        self.presenter.note(TextStyle::Dim, &back);
        Ok(())
    }

    /// Tells what became of a memory.
    fn kept(&self, kept: &Kept, json: bool) -> Result<()> {
        let state = match kept {
            Kept::Refused { reason } => {
                let hint = "change it, and try again";
                return Err(Refusal::new(format!("nothing was saved: {reason}"), hint).into());
            }
            Kept::Proposed { .. } => "waiting",
            _ if kept.entry().is_none() => "unchanged",
            Kept::Saved { .. } => "saved",
            Kept::Merged { .. } => "merged",
            Kept::Superseded { .. } => "superseded",
        };
        let Some(memory) = kept.memory() else { return Ok(()) };
        let (changed, ended) = match kept {
            Kept::Merged { changed, .. } => (changed.as_slice(), &[][..]),
            Kept::Superseded { changed, ended, .. } => (changed.as_slice(), ended.as_slice()),
            _ => (&[][..], &[][..]),
        };
        if json {
            return Ok(Presenter::json(&json!({
                "path": memory.file,
                "file": memory.path,
                "scope": memory.scope.as_str(),
                "state": state,
                "entry": kept.entry(),
                "changed": changed,
                "ended": ended,
            }))?);
        }
        match kept.notice() {
            Some(notice) => self.presenter.line(&notice)?,
            None => self.presenter.line(&format!("{} says it already", memory.id()))?,
        }
        for ended in ended {
            self.presenter.note(TextStyle::Dim, &format!("no longer holds: {ended}"));
        }
        if let Some(hint) = kept.hint() {
            let what = if state == "waiting" { "to take it over" } else { "to take it back" };
            self.presenter.note(TextStyle::Dim, &format!("{what}: `{hint}`"));
        }
        Ok(())
    }

    pub(super) fn undo_hint(&self, tier: Tier, entry: Option<EntryId>) {
        if let Some(entry) = entry {
            let hint = format!("to take it back: `everfold memory undo {entry}{}`", tier.flag());
            self.presenter.note(TextStyle::Dim, &hint);
        }
    }
}

/// The person, for the reason that the command is.
fn author(reason: &str) -> MemoryAuthor {
    MemoryAuthor {
        who: MemoryWriter::Person,
        reason: reason.to_owned(),
        session: None,
        messages: Vec::new(),
    }
}

/// A changed body with relative dates made absolute in the lines that are new
/// (L5.6); those that were there were written on another day.
fn dated(old: &str, new: &str, today: jiff::civil::Date) -> String {
    let there: std::collections::BTreeSet<&str> = old.split('\n').collect();
    let absolute = dates::absolute(new, today);
    let lines = new.split('\n').zip(absolute.split('\n'));
    let lines: Vec<&str> =
        lines.map(|(line, dated)| if there.contains(line) { line } else { dated }).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn l5_6_only_new_lines_are_dated_anew() {
        let old = "ships next week (week of 2026-11-02)\nkeep";
        let new = "ships next week (week of 2026-11-02)\nbroke yesterday\n```\ntomorrow\n```\n";
        let wanted = "ships next week (week of 2026-11-02)\nbroke 2026-11-10\n```\ntomorrow\n```\n";
        assert_eq!(dated(old, new, date(2026, 11, 11)), wanted);
    }
}
