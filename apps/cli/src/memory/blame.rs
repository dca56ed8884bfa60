//! `blame`: where a memory came from.

use super::Bench;
use super::history::{cells, entry_json};
use super::lookup::Meant;
use crate::args::memory::Named;
use crate::presenter::{Presenter, TextStyle};
use anyhow::Result;
use serde_json::{Value, json};

impl Bench<'_> {
    pub(super) fn blame(&self, named: &Named) -> Result<()> {
        let Meant { tier, store, topic } = self.find(&named.name, named.scope)?;
        let blame = store.blame(&topic.path)?;
        let front = &blame.front;
        if named.json {
            let entries: Result<Vec<Value>> =
                blame.entries.iter().map(|entry| entry_json(tier, &store, entry, false)).collect();
            return Ok(Presenter::json(&json!({
                "path": topic.path,
                "scope": tier.as_str(),
                "session": front.session,
                "messages": front.messages,
                "date": front.date,
                "basis": front.basis.map(everfold_memory_file::frontmatter::Basis::as_str),
                "branch": front.branch,
                "worktree": front.worktree,
                "rule": front.rule,
                "provenance": front.provenance,
                // What programs read before there was a provenance.
                "tainted": front.provenance.is_some(),
                "evidence": front.evidence,
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
            ("provenance", front.provenance.map(|provenance| provenance.to_string())),
            ("evidence", front.evidence.clone()),
        ];
        let rows: Vec<Vec<String>> = said
            .into_iter()
            .filter_map(|(key, value)| Some(vec![key.to_owned(), value?]))
            .collect();
        self.presenter.styled(TextStyle::Bold, &format!("{}\n", topic.path))?;
        self.presenter.table(&rows)?;
        let entries: Vec<Vec<String>> =
            blame.entries.iter().map(|entry| cells(entry).to_vec()).collect();
        Ok(self.presenter.table(&entries)?)
    }
}
