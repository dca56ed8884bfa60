//! `check`: what is wrong with memories, and mending the index.

use super::Bench;
use crate::args::memory::Tier;
use crate::fail::FAILED;
use crate::present::{Look, Presenter};
use anyhow::Result;
use mnemon::memdir::check::Issue;
use mnemon::memfile::drift::Reference;
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

impl Bench<'_> {
    pub(super) fn check(&self, fix: bool, json: bool) -> Result<ExitCode> {
        let mut found: Vec<(Tier, Issue)> = Vec::new();
        let mut mended = Vec::new();
        for (tier, store) in self.stores(None)? {
            if fix && let Some(entry) = store.fix(&self.person("mended by check"))? {
                mended.push((tier, entry));
            }
            let issues = store.check(|reference| self.is_gone(reference, tier))?;
            found.extend(issues.into_iter().map(|issue| (tier, issue)));
        }
        let code = if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) };
        if json {
            let issues: Vec<Value> =
                found.iter().map(|(tier, issue)| issue_json(*tier, issue)).collect();
            let mended: Vec<Value> = mended
                .iter()
                .map(|(tier, entry)| json!({"scope": tier.as_str(), "entry": entry}))
                .collect();
            Presenter::json(&json!({"issues": issues, "mended": mended}))?;
            return Ok(code);
        }
        for (tier, entry) in mended {
            self.presenter.line(&format!("mended the {} index", tier.as_str()))?;
            self.undo_hint(tier, Some(entry));
        }
        for (tier, issue) in &found {
            self.presenter.line(&format!("{}: {issue}", tier.as_str()))?;
        }
        if found.is_empty() {
            self.presenter.line("nothing is wrong")?;
        } else if !fix && found.iter().any(|(_, issue)| issue.is_mendable()) {
            self.presenter.note(Look::Dim, "to mend the index: `mnemon memory check --fix`");
        }
        Ok(code)
    }

    /// Whether something that a memory names is no longer there. Only what can
    /// be known for sure: a day that has passed makes a memory old, not wrong,
    /// a name in code may be anywhere, and what holds everywhere names files
    /// of other projects.
    fn is_gone(&self, reference: &Reference, tier: Tier) -> bool {
        let root = self.memories.root();
        match reference {
            _ if tier == Tier::Global => false,
            Reference::Path(path) => {
                // A name without a folder may be anywhere below.
                path.contains('/') && !root.join(path).exists()
            }
            Reference::Branch(name) => self.memories.branch().is_some() && !has_branch(root, name),
            Reference::Symbol(_) | Reference::Date(_) => false,
        }
    }
}

/// Whether a repository has a branch, read from its files: no program is
/// started in it (S2). Where that cannot be told, it has.
fn has_branch(root: &Path, name: &str) -> bool {
    let git = root.join(".git");
    if !git.is_dir() || name.split('/').any(|part| part == ".." || part.is_empty()) {
        return true;
    }
    let packed = std::fs::read_to_string(git.join("packed-refs")).unwrap_or_default();
    let packed = packed.lines().filter_map(|line| line.split_once(' ')).any(|(_, full)| {
        let full = full.trim();
        full.strip_prefix("refs/heads/") == Some(name)
            || full
                .strip_prefix("refs/remotes/")
                .and_then(|rest| rest.split_once('/'))
                .is_some_and(|(_, branch)| branch == name)
    });
    let remote = || {
        let remotes = std::fs::read_dir(git.join("refs/remotes")).into_iter().flatten().flatten();
        remotes.into_iter().any(|remote| remote.path().join(name).exists())
    };
    packed || git.join("refs/heads").join(name).exists() || remote()
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
