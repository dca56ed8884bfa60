//! What Codex writes down once a person has looked at hooks: a table for each of
//! them, by its file. It goes with the file.

use super::change::{Change, check_writable, read};
use super::receipt::{Kept, Receipt};
use super::refused::Refused;
use super::{Fitter, Host, toml};
use anyhow::Result;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table};

/// Where the tables stand.
const STATE: [&str; 2] = ["hooks", "state"];

impl Fitter<'_> {
    /// Takes the trust in our hooks out of the settings, where the file of hooks
    /// goes: what is trusted in one that stays is the person's.
    pub(super) fn forget_trust(&self, changes: &mut Vec<Change>, receipt: &Receipt) -> Result<()> {
        if self.host != Host::Codex {
            return Ok(());
        }
        let dir = self.host.dir(&self.env);
        let (hooks, settings) = (dir.join("hooks.json"), dir.join("config.toml"));
        let planned = changes.iter().find(|change| change.path == hooks);
        let is_gone = planned.map_or(!hooks.exists(), |change| change.then.is_none());
        let at = changes.iter().position(|change| change.path == settings);
        let known = at.and_then(|at| changes.get(at));
        let Some(now) = known.map_or_else(|| read(&settings), |change| Ok(change.then.clone()))?
        else {
            return Ok(());
        };
        if !is_gone {
            return Ok(());
        }
        let before = receipt.of(&settings).and_then(Kept::before).unwrap_or_default();
        let then = without_trust(&now, &hooks, &before)
            .map_err(|refused| self.refused(&settings, Some(&now), &refused))?;
        if then == now {
            return Ok(());
        }
        if let Some(change) = at.and_then(|at| changes.get_mut(at)) {
            change.then = Some(then);
        } else {
            check_writable(&settings)?;
            changes.push(Change { path: settings, now: Some(now), then: Some(then), before: None });
        }
        Ok(())
    }
}

/// Settings without what was said of the hooks of a file, and without the tables
/// around it that came with it.
fn without_trust(text: &str, hooks: &Path, before: &str) -> Result<String, Refused> {
    let real =
        hooks.parent().and_then(|dir| dir.canonicalize().ok()).map(|dir| dir.join("hooks.json"));
    let files: Vec<String> = std::iter::once(hooks.to_owned())
        .chain(real)
        .map(|path| format!("{}:", path.display()))
        .collect();
    let was_there = toml::parse(before).map_or([false; 2], |before| is_there(before.as_table()));
    toml::changed(text, |document| {
        forget(document, &files, was_there);
        Ok(())
    })
}

/// Which of the tables around are there.
fn is_there(settings: &Table) -> [bool; 2] {
    let [around, state] = STATE;
    let hooks = settings.get(around);
    [hooks.is_some(), hooks.and_then(|hooks| hooks.get(state)).is_some()]
}

fn forget(document: &mut DocumentMut, files: &[String], [around_was, state_was]: [bool; 2]) {
    let [around, state] = STATE;
    let Some(hooks) = document.get_mut(around).and_then(Item::as_table_like_mut) else { return };
    let Some(known) = hooks.get_mut(state).and_then(Item::as_table_like_mut) else { return };
    let ours: Vec<String> = known
        .iter()
        .map(|(name, _)| name.to_owned())
        .filter(|name| files.iter().any(|file| name.starts_with(file)))
        .collect();
    for name in &ours {
        known.remove(name);
    }
    if ours.is_empty() || !known.is_empty() || state_was {
        return;
    }
    hooks.remove(state);
    if hooks.is_empty() && !around_was {
        document.remove(around);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_trust_in_hooks_goes_with_their_file() {
        let hooks = Path::new("/h/.codex/hooks.json");
        let own = "[hooks.state.\"/h/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n";
        let theirs = "[hooks.state.\"/p/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"x\"\n";
        let rest = "model = \"m\"\n\n[tui]\na = 1 # mine\n";
        for (text, before, wanted) in [
            (format!("{rest}\n[hooks.state]\n\n{own}"), "", rest.to_owned()),
            (format!("{rest}\n{own}"), "", rest.to_owned()),
            (format!("{rest}\n{own}\n{theirs}"), "", format!("{rest}\n{theirs}")),
            (
                format!("[hooks.state]\n\n{own}\n[tui]\na = 1\n"),
                "[hooks.state]\n",
                "[hooks.state]\n\n[tui]\na = 1\n".to_owned(),
            ),
            (rest.to_owned(), "", rest.to_owned()),
        ] {
            for newline in ["\n", "\r\n"] {
                let with = |text: &str| text.replace('\n', newline);
                let taken = without_trust(&with(&text), hooks, before).unwrap();
                assert_eq!(taken, with(&wanted), "{text}");
            }
        }
        assert!(without_trust("a = \n", hooks, "").is_err());
    }
}
