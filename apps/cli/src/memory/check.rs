//! `check`: what is wrong with memories, and mending the index.

use super::Bench;
use crate::args::memory::Tier;
use crate::failure::FAILED;
use crate::presenter::{Presenter, TextStyle};
use anyhow::Result;
use everfold_kernel::ports::Names;
use everfold_memory_store::Store;
use everfold_memory_store::check::Issue;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::ExitCode;

impl Bench<'_> {
    pub(super) fn check(&self, fix: bool, json: bool) -> Result<ExitCode> {
        let mut found: Vec<(Tier, Issue)> = Vec::new();
        let mut fixed = Vec::new();
        for (tier, store) in self.stores(None)? {
            if fix && let Some(entry) = store.fix(&self.person("fixed by check"))? {
                fixed.push((tier, entry));
            }
            let gone = self.gone(tier, &store)?;
            let today = self.now.date();
            // Only what can be known for sure: a day that has passed makes a
            // memory old, not wrong.
            let issues = store.check(|found, _| found.is_gone(&gone, None, today))?;
            found.extend(issues.into_iter().map(|issue| (tier, issue)));
        }
        let code = if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) };
        if json {
            let issues: Vec<Value> =
                found.iter().map(|(tier, issue)| issue_json(*tier, issue)).collect();
            let fixed: Vec<Value> = fixed
                .iter()
                .map(|(tier, entry)| json!({"scope": tier.as_str(), "entry": entry}))
                .collect();
            Presenter::json(&json!({"issues": issues, "mended": fixed}))?;
            return Ok(code);
        }
        for (tier, entry) in fixed {
            self.presenter.line(&format!("fixed the {} index", tier.as_str()))?;
            self.undo_hint(tier, Some(entry));
        }
        for (tier, issue) in &found {
            self.presenter.line(&format!("{}: {issue}", tier.as_str()))?;
        }
        if found.is_empty() {
            self.presenter.line("no problems found")?;
        } else if !fix && found.iter().any(|(_, issue)| issue.is_mendable()) {
            self.presenter.note(TextStyle::Dim, "to fix the index: `everfold memory check --fix`");
        }
        Ok(code)
    }

    /// What memories name that is no longer there. A name in code may be that
    /// of something outside, and what holds everywhere names files of other
    /// projects.
    fn gone(&self, tier: Tier, store: &Store) -> Result<Names> {
        if tier == Tier::Global {
            return Ok(Names::default());
        }
        Ok(self.memories.missing(Names { symbols: BTreeSet::new(), ..store.names()? }))
    }
}

fn issue_json(tier: Tier, issue: &Issue) -> Value {
    let (kind, path) = match issue {
        Issue::BrokenPointer { index, .. } => ("broken_pointer", Some(index.as_str())),
        Issue::Orphan(path) => ("orphan", Some(path.as_str())),
        Issue::OverCaps(_) => ("over_caps", None),
        Issue::Faulty(path, _) => ("faulty", Some(path.as_str())),
        Issue::NoDescription(path) => ("no_description", Some(path.as_str())),
        Issue::TooLarge(path, _) => ("too_large", Some(path.as_str())),
        Issue::NearCopy(path, _) => ("near_copy", Some(path.as_str())),
        Issue::Drift(path, _) => ("drift", Some(path.as_str())),
        Issue::Secret(path, _) => ("secret", Some(path.as_str())),
    };
    json!({
        "scope": tier.as_str(),
        "kind": kind,
        "path": path,
        "message": issue.to_string(),
        "mendable": issue.is_mendable(),
    })
}
