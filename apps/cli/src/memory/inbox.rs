//! `inbox`: changes that background agents would like to make, and a person's
//! word on them (L5.24).

use super::{Bench, editor, history};
use crate::args::memory::{Chosen, InboxCommand, Tier};
use crate::failure::{Refusal, Usage};
use crate::presenter::{Presenter, TextStyle};
use crate::session_picker;
use anyhow::Result;
use everfold_memory_store::store::inbox::{Proposal, ProposalId, ProposalPreview};
use everfold_memory_store::store::{FileDiff, OnConflict};
use everfold_memory_store::{EntryId, Error, Store, TopicPath};
use everfold_tui::{Table, TableRow};
use serde_json::{Value, json};
use std::process::ExitCode;

impl Bench<'_> {
    pub(super) fn inbox(&self, command: &InboxCommand) -> Result<ExitCode> {
        match command {
            InboxCommand::List { scope, json } => self.waiting(*scope, *json)?,
            InboxCommand::Show { id, scope, json } => self.show_proposal(*id, *scope, *json)?,
            InboxCommand::Accept { chosen, force } => {
                let on_conflict = if *force { OnConflict::Force } else { OnConflict::Refuse };
                return self.decide(chosen, &|store, id| {
                    let by = self.person("accepted by hand");
                    store.accept(id, on_conflict, &by).map(Word::Accepted)
                });
            }
            InboxCommand::Reject(chosen) => {
                return self.decide(chosen, &|store, id| {
                    store.reject(id, &self.person("rejected by hand")).map(|()| Word::Rejected)
                });
            }
            InboxCommand::Edit { id, file, scope, json } => {
                self.edit_proposal(*id, file.as_deref(), *scope, *json)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn all_waiting(&self, scope: Option<Tier>) -> Result<Vec<(Tier, Proposal)>> {
        let mut all = Vec::new();
        for (tier, store) in self.stores(scope)? {
            all.extend(store.inbox()?.into_iter().map(|proposal| (tier, proposal)));
        }
        Ok(all)
    }

    fn waiting(&self, scope: Option<Tier>, json: bool) -> Result<()> {
        let all = self.all_waiting(scope)?;
        if json {
            let rows: Vec<Value> = all.iter().map(|(tier, p)| head_json(*tier, p)).collect();
            return Ok(Presenter::json(&rows)?);
        }
        if all.is_empty() {
            return Ok(self.presenter.line("nothing is waiting for review")?);
        }
        let rows: Vec<Vec<String>> = all
            .iter()
            .map(|(tier, proposal)| {
                vec![
                    proposal.id.to_string(),
                    tier.as_str().to_owned(),
                    session_picker::age(proposal.at, self.at()),
                    proposal.author.title(),
                    proposal.summary(),
                    proposal.reason.clone(),
                ]
            })
            .collect();
        self.presenter.table(&rows)?;
        let hint = "`everfold memory inbox show ID` shows one; then accept, reject or edit it";
        self.presenter.note(TextStyle::Dim, hint);
        Ok(())
    }

    /// Proposals for the screen.
    pub(super) fn proposals(&self) -> Result<Table> {
        let row = |(tier, proposal): &(Tier, Proposal)| TableRow {
            id: format!("{} --scope {}", proposal.id, tier.as_str()),
            cells: vec![
                proposal.id.to_string(),
                tier.as_str().to_owned(),
                session_picker::age(proposal.at, self.at()),
                proposal.author.title(),
                proposal.summary(),
            ],
            look: TextStyle::Normal,
            more: proposal.reason.clone(),
        };
        let rows = self.all_waiting(None)?.iter().map(row).collect();
        let head = ["#", "where", "age", "who", "what"].map(str::to_owned).to_vec();
        Ok(Table { head, rows, empty: "nothing is waiting for review".to_owned() })
    }

    /// The store that a proposal waits in.
    fn holder(&self, id: u64, scope: Option<Tier>) -> Result<(Tier, Store, Proposal)> {
        let mut found = Vec::new();
        for (tier, store) in self.stores(scope)? {
            match store.proposal(ProposalId(id)) {
                Ok(proposal) => found.push((tier, store, proposal)),
                Err(Error::NoProposal { .. }) => {}
                Err(error) => return Err(everfold_agent::Error::from(error).into()),
            }
        }
        if found.len() > 1 {
            let message = format!("{id} is in more than one inbox");
            return Err(Usage::new(message, "say which with --scope").into());
        }
        found.pop().ok_or_else(|| {
            let hint = "`everfold memory inbox` lists what is waiting";
            Refusal::new(format!("no proposal {id} in the inbox"), hint).into()
        })
    }

    fn show_proposal(&self, id: u64, scope: Option<Tier>, json: bool) -> Result<()> {
        let (tier, store, proposal) = self.holder(id, scope)?;
        let previews = store.preview(proposal.id)?;
        if json {
            let mut value = head_json(tier, &proposal);
            if let Some(map) = value.as_object_mut() {
                let files: Vec<Value> = previews.iter().map(preview_json).collect();
                map.insert("diff".to_owned(), Value::Array(files));
            }
            return Ok(Presenter::json(&value)?);
        }
        let head = format!(
            "{id}  {}  {}  {}\n",
            proposal.author.title(),
            session_picker::age(proposal.at, self.at()),
            proposal.summary()
        );
        self.presenter.styled(TextStyle::Bold, &head)?;
        if !proposal.reason.is_empty() {
            self.presenter.line(&proposal.reason)?;
        }
        let diffs: Vec<FileDiff> = previews.iter().map(|preview| preview.diff.clone()).collect();
        self.show_diffs(&diffs)?;
        for preview in previews.iter().filter(|preview| preview.is_stale) {
            let note = format!("{} has changed since this was proposed", preview.diff.path);
            self.presenter.note(TextStyle::Yellow, &note);
        }
        let flag = tier.flag();
        let hint = format!(
            "`everfold memory inbox accept {id}{flag}`, or `reject {id}{flag}`, or `edit {id}{flag}`"
        );
        self.presenter.note(TextStyle::Dim, &hint);
        Ok(())
    }

    /// Decides about some or all. One that cannot be is told, and the others
    /// are decided all the same.
    fn decide(
        &self,
        chosen: &Chosen,
        decide: &dyn Fn(&Store, ProposalId) -> Result<Word, Error>,
    ) -> Result<ExitCode> {
        let mut held = Vec::new();
        if chosen.all {
            let all = self.all_waiting(chosen.scope)?;
            held.extend(all.into_iter().map(|(tier, proposal)| (tier, proposal.id)));
        }
        for id in &chosen.ids {
            let (tier, _, proposal) = self.holder(*id, chosen.scope)?;
            held.push((tier, proposal.id));
        }
        if held.is_empty() && !chosen.all {
            let hint = "name the proposals by their numbers, or say --all";
            return Err(Usage::new("which proposals?", hint).into());
        }
        let mut rows = Vec::new();
        let mut failed = false;
        for (tier, id) in held {
            let done = decide(&self.memories.open(tier.scope())?, id);
            failed |= done.is_err();
            rows.push(json!({
                "id": id,
                "scope": tier.as_str(),
                "done": done.as_ref().ok().map(Word::as_str),
                "entry": done.as_ref().ok().and_then(Word::entry),
                "error": done.as_ref().err().map(ToString::to_string),
            }));
            if !chosen.json {
                self.tell(tier, id, &done)?;
            }
        }
        if chosen.json {
            Presenter::json(&rows)?;
        } else if rows.is_empty() {
            self.presenter.line("nothing is waiting for review")?;
        }
        Ok(if failed { ExitCode::from(crate::failure::FAILED) } else { ExitCode::SUCCESS })
    }

    fn tell(&self, tier: Tier, id: ProposalId, done: &Result<Word, Error>) -> Result<()> {
        match done {
            Ok(word) => {
                self.presenter.line(&format!("{} {id}", word.as_str()))?;
                self.undo_hint(tier, word.entry());
            }
            Err(error) => {
                self.presenter.note(TextStyle::Red, &format!("{id}: {error}"));
                if matches!(error, Error::Stale { .. }) {
                    let hint = format!(
                        "`everfold memory inbox show {id}{0}` shows it; `accept {id}{0} --force` \
                         makes the change anyway, `edit` starts from what is there now",
                        tier.flag()
                    );
                    self.presenter.note(TextStyle::Dim, &hint);
                }
            }
        }
        Ok(())
    }

    fn edit_proposal(
        &self,
        id: u64,
        file: Option<&str>,
        scope: Option<Tier>,
        json: bool,
    ) -> Result<()> {
        let (tier, store, proposal) = self.holder(id, scope)?;
        let (path, text) = editable(&proposal, file)?;
        let edited = editor::edit(&text, &self.env.variables, self.presenter)?;
        let changed = edited.text != text;
        if changed {
            let by = self.person("edited by hand");
            if let Err(error) = store.amend(proposal.id, &path, &edited.text, &by) {
                return Err(edited.keep(everfold_agent::Error::from(error).into()));
            }
        }
        if json {
            let value = json!({"id": id, "scope": tier.as_str(), "path": path, "changed": changed});
            return Ok(Presenter::json(&value)?);
        }
        let done = if changed { "changed" } else { "unchanged:" };
        self.presenter.line(&format!("{done} proposal {id}"))?;
        let hint = format!("to accept it: `everfold memory inbox accept {id}{}`", tier.flag());
        self.presenter.note(TextStyle::Dim, &hint);
        Ok(())
    }
}

/// What was decided about one.
enum Word {
    Accepted(Option<EntryId>),
    Rejected,
}

impl Word {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Rejected => "rejected",
        }
    }

    fn entry(&self) -> Option<EntryId> {
        match self {
            Self::Accepted(entry) => *entry,
            Self::Rejected => None,
        }
    }
}

/// The file of a proposal that is edited, and what it is to hold.
fn editable(proposal: &Proposal, file: Option<&str>) -> Result<(TopicPath, String)> {
    let writes = proposal.changes.iter().filter_map(|change| Some((&change.path, change.text()?)));
    let wanted = |path: &TopicPath| {
        file.is_none_or(|name| {
            path.as_str() == name || path.as_str().strip_suffix(".md") == Some(name)
        })
    };
    let mut found: Vec<(&TopicPath, String)> = writes.filter(|(path, _)| wanted(path)).collect();
    if found.len() > 1 {
        let names: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        let message = format!("proposal {} writes {}", proposal.id, names.join(", "));
        return Err(Usage::new(message, "say which one to edit").into());
    }
    found.pop().map(|(path, text)| (path.clone(), text)).ok_or_else(|| {
        let hint = "accept or reject it as it is";
        Refusal::new(format!("proposal {} writes no such file", proposal.id), hint).into()
    })
}

fn head_json(tier: Tier, proposal: &Proposal) -> Value {
    json!({
        "id": proposal.id,
        "scope": tier.as_str(),
        "at": proposal.at,
        "author": proposal.author,
        "reason": proposal.reason,
        "session": proposal.session,
        "messages": proposal.messages,
        "edited": proposal.edited,
        "summary": proposal.summary(),
        "paths": proposal.changes.iter().map(|change| &change.path).collect::<Vec<_>>(),
    })
}

fn preview_json(preview: &ProposalPreview) -> Value {
    let mut value = history::diff_json(&preview.diff);
    if let Some(map) = value.as_object_mut() {
        map.insert("stale".to_owned(), Value::Bool(preview.is_stale));
    }
    value
}
