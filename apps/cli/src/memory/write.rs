//! `add`, `edit`, `forget`, `move`.

use super::find::Meant;
use super::{Bench, editor};
use crate::args::memory::{AddArgs, Named, Tier};
use crate::fail::{Refusal, Usage};
use crate::present::{Look, Presenter};
use anyhow::Result;
use everfold::memdir::Store;
use everfold::memdir::store::{Expect, Place, Save, Saved};
use everfold::memdir::{EntryId, TopicPath};
use everfold::memfile::frontmatter::{Basis, Key, METADATA, Trust, Value, set};
use everfold::memfile::similar::{COPY, Fingerprint};
use everfold::memfile::slug::slugify;
use everfold::memfile::{Draft, Fault, Memory, MemoryType, dates, secrets};
use serde_json::json;

impl Bench<'_> {
    pub(super) fn add(&self, args: &AddArgs) -> Result<()> {
        let kind = MemoryType::from(args.kind);
        for (flag, value) in [("--name", &args.name), ("--description", &args.description)] {
            if value.trim().is_empty() {
                return Err(Usage::new(format!("{flag} is empty"), "say it in words").into());
            }
            screen(flag, value)?;
        }
        let piped = editor::piped()?;
        let edited = match &piped {
            Some(_) => None,
            None => Some(editor::edit("", &self.ground.variables, self.presenter)?),
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
        screen("the text", body)?;
        let draft = Draft {
            name: args.name.trim().to_owned(),
            description: args.description.clone(),
            kind,
            body: body.to_owned(),
            basis: Basis::Stated,
            session: None,
            messages: Vec::new(),
            branch: None,
            worktree: None,
            trust: Trust::Own,
            rule: None,
        };
        let text = draft.render(self.now.date(), self.at());
        let store = self.open(args.scope)?;
        if !args.force {
            refuse_copy(&store, &text, args.scope)?;
        }
        let save =
            Save { place: place(&draft.name)?, text: &text, expect: Expect::Nothing, line: None };
        let saved = store.save(&save, &self.person("added by hand"))?;
        let missing = kind.missing_parts(body);
        if !missing.is_empty() {
            let parts = missing.join(" and ");
            let note = format!("a {} memory is more use with {parts}", kind.as_str());
            self.presenter.note(Look::Dim, &note);
        }
        self.saved(&store, args.scope, &saved, args.json)
    }

    pub(super) fn edit(&self, named: &Named) -> Result<()> {
        let Meant { tier, store, topic } = self.find(&named.name, named.scope)?;
        let read = store.read(&topic.path)?;
        if read.note.is_some() {
            let hint =
                format!("mend it by hand: {}", store.dir().join(topic.path.as_path()).display());
            let message = format!("{} is too large, or not UTF-8", topic.path);
            return Err(Refusal::new(message, hint).into());
        }
        let edited = editor::edit(&read.text, &self.ground.variables, self.presenter)?;
        if edited.text == read.text {
            return self.unchanged(&topic.path, tier, named.json);
        }
        let done = self.accept(&read.text, &edited.text, &topic.path).and_then(|text| {
            let save = Save {
                place: Place::At(topic.path.clone()),
                text: &text,
                expect: Expect::Content(read.content.clone()),
                line: None,
            };
            Ok(store.save(&save, &self.person("edited by hand"))?)
        });
        match done {
            Ok(saved) => self.saved(&store, tier, &saved, named.json),
            Err(error) => Err(edited.keep(error)),
        }
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
        screen("the text", new)?;
        let (before, after) = (Memory::parse(old), Memory::parse(new));
        match &after.fault {
            // Read, after some quotes were added: nothing is lost.
            Some(fault @ Fault::Repaired { .. }) => {
                self.presenter.note(Look::Yellow, &format!("{path}: {fault}"));
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
            self.presenter.note(Look::Yellow, &note);
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
        self.presenter.note(Look::Dim, &back);
        Ok(())
    }

    fn saved(&self, store: &Store, tier: Tier, saved: &Saved, json: bool) -> Result<()> {
        if json {
            return Ok(Presenter::json(&json!({
                "path": saved.path,
                "file": store.dir().join(saved.path.as_path()),
                "scope": tier.as_str(),
                "action": saved.action,
                "entry": saved.entry,
                "moved_to": saved.moved_to,
            }))?);
        }
        self.presenter.line(&format!("saved {}", saved.path))?;
        for list in &saved.moved_to {
            self.presenter.note(Look::Dim, &format!("the index was full; lines moved to {list}"));
        }
        self.undo_hint(tier, saved.entry);
        Ok(())
    }

    pub(super) fn undo_hint(&self, tier: Tier, entry: Option<EntryId>) {
        if let Some(entry) = entry {
            let hint = format!("to take it back: `everfold memory undo {entry}{}`", tier.flag());
            self.presenter.note(Look::Dim, &hint);
        }
    }
}

/// Refuses a secret, whoever asks, without saying it again (L5.18).
fn screen(what: &str, text: &str) -> Result<()> {
    let Some(finding) = secrets::find(text).into_iter().next() else { return Ok(()) };
    let hint = "take it out and say where it is kept instead";
    Err(Refusal::new(format!("{what} holds {finding}; nothing was saved"), hint).into())
}

/// Refuses what is there already (L5.23).
fn refuse_copy(store: &Store, text: &str, tier: Tier) -> Result<()> {
    let new = Fingerprint::of(text);
    for topic in store.scan(usize::MAX)? {
        let Ok(read) = store.read(&topic.path) else { continue };
        if Fingerprint::of(&read.text).likeness(&new) >= COPY {
            let message = format!("{} says nearly the same; nothing was saved", topic.path);
            let hint = format!(
                "change that one with `everfold memory edit {}{}`, or add --force",
                topic.path,
                tier.flag()
            );
            return Err(Refusal::new(message, hint).into());
        }
    }
    Ok(())
}

/// The file of a new memory. A name that is taken is an error rather than a
/// second file, unless nothing of it can be part of a file name.
fn place(name: &str) -> Result<Place> {
    const NO_NAME: &str = "memory";
    let slug = slugify(name);
    Ok(if slug == NO_NAME {
        Place::Named(name.to_owned())
    } else {
        Place::At(TopicPath::new(&format!("{slug}.md")).map_err(everfold::Error::from)?)
    })
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

    #[test]
    fn l5_4_a_file_is_called_after_its_name() {
        let at = |path: &str| Place::At(TopicPath::new(path).unwrap());
        assert_eq!(place("Deploys on Friday").unwrap(), at("deploys-on-friday.md"));
        assert_eq!(place("東京").unwrap(), Place::Named("東京".into()));
    }
}
