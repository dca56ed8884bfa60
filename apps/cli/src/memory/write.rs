//! `add`, `edit`, `forget`, `move`.

use super::lookup::Meant;
use super::{Bench, editor};
use crate::args::memory::{AddArgs, Named, Tier};
use crate::failure::{Refusal, Usage};
use crate::presenter::{Presenter, TextStyle};
use anyhow::Result;
use everfold_kernel::ports::{
    Haste, Kept, MemoryAuthor, MemoryPlacement, MemoryProposal, MemoryWriter,
};
use everfold_kernel::{RecordId, Testimony};
use everfold_memory_file::{MemoryDraft, MemoryType};
use everfold_memory_judge::wish;
use everfold_memory_service::edit::{self, EditFault};
use everfold_memory_store::{EntryId, TopicPath};
use serde_json::json;

impl Bench<'_> {
    pub(super) fn add(&self, args: &AddArgs) -> Result<()> {
        for (flag, value) in [("--name", &args.name), ("--description", &args.description)] {
            if value.as_ref().is_some_and(|value| value.trim().is_empty()) {
                return Err(Usage::new(format!("{flag} is empty"), "give it some text").into());
            }
        }
        if !args.text.is_empty() {
            return self.add_text(args, &args.text.join(" "));
        }
        if let Some(piped) = editor::piped()? {
            return self.add_text(args, &piped);
        }
        let edited = editor::edit("", &self.env.variables, self.presenter)?;
        self.add_text(args, &edited.text).map_err(|error| edited.keep(error))
    }

    fn add_text(&self, args: &AddArgs, body: &str) -> Result<()> {
        let Some(stated) = wish::stated(body, RecordId::from("")) else {
            let hint = "give it, such as `everfold memory add \"we deploy on Tuesdays\"`";
            return Err(Usage::new("the memory has no text", hint).into());
        };
        let kind = args.kind.map_or(stated.kind, MemoryType::from);
        // What follows from the text was not said once more.
        let given = [&args.name, &args.description].into_iter().flatten().map(String::as_str);
        let said: Vec<&str> = given.chain([body.trim()]).collect();
        let draft = MemoryDraft {
            name: args.name.as_deref().unwrap_or(&stated.name).trim(),
            description: args.description.as_deref().unwrap_or(&stated.description),
            kind,
            body: &stated.body,
        };
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
            testimony: Testimony::typed(said.join("\n"), RecordId::from("")),
            by: author("added by hand"),
            haste: Haste::AtOnce,
        };
        let named = args.scope.unwrap_or_default().scope();
        let kept = self.memories.service_with(named).keep(&proposal)?;
        let missing = kind.missing_parts(body);
        if !missing.is_empty() && matches!(kept, Kept::Saved { .. }) {
            let parts = missing.join(" and ");
            let note = format!("a {} memory is more useful with {parts}", kind.as_str());
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
        let done = self.edit_text(&topic.path, &read.text, &edited.text).and_then(|text| {
            let path = store.dir().join(topic.path.as_path());
            let proposal = edit::proposal(path, &read.text, text, "edited by hand");
            let kept = self.memories.service_with(tier.scope()).keep(&proposal)?;
            self.kept(&kept, named.json)
        });
        done.map_err(|error| edited.keep(error))
    }

    /// An edited text as it is saved, if it can be.
    fn edit_text(&self, path: &TopicPath, old: &str, new: &str) -> Result<String> {
        let edited = edit::edited(old, new, &self.now).map_err(|fault| match fault {
            EditFault::Empty => {
                let hint = format!("to remove it: `everfold memory forget {path}`");
                Refusal::new(fault.to_string(), hint).into()
            }
            EditFault::Frontmatter(_) => anyhow::anyhow!("{path}: {fault}"),
        })?;
        for note in edited.notes {
            self.presenter.note(TextStyle::Yellow, &format!("{path}: {note}"));
        }
        Ok(edited.text)
    }

    fn unchanged(&self, path: &TopicPath, tier: Tier, json: bool) -> Result<()> {
        if json {
            let value = json!({"path": path, "scope": tier.as_str(), "entry": null});
            return Ok(Presenter::json(&value)?);
        }
        Ok(self.presenter.line(&format!("{path} is unchanged"))?)
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
            None => self.presenter.line(&format!("{} already says this", memory.id()))?,
        }
        for ended in ended {
            self.presenter.note(TextStyle::Dim, &format!("no longer holds: {ended}"));
        }
        if let Some(hint) = kept.hint() {
            let what = if state == "waiting" { "to accept it" } else { "to undo it" };
            self.presenter.note(TextStyle::Dim, &format!("{what}: `{hint}`"));
        }
        Ok(())
    }

    pub(super) fn undo_hint(&self, tier: Tier, entry: Option<EntryId>) {
        if let Some(entry) = entry {
            let hint = format!("to undo it: `everfold memory undo {entry}{}`", tier.flag());
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
