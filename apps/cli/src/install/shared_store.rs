//! One store beside Claude Code (X6): where it is, what comes along from a
//! separate one, and what else would do everything twice.

use super::change::Change;
use super::host::Part;
use super::piece::Piece;
use super::receipt::Receipt;
use super::{Fitter, Host, read};
use crate::failure::Refusal;
use crate::presenter::{TextStyle, counted};
use anyhow::Result;
use everfold_agent::hosts::{Migration, Pass, migrate};
use everfold_agent::settings::splice::Splice;
use everfold_kernel::ports::Clock;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Our setting that names whose projects have the memories.
const KEY: [&str; 2] = ["everfold", "memory_home"];

/// Whose directories have the memories of projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryStore {
    /// Claude Code's own.
    Shared,
    Own,
}

impl Fitter<'_> {
    /// Where memories are shared; none where they are not. A place that somebody
    /// else named in our settings stays.
    pub(super) fn shared_dir(&self, store: MemoryStore) -> Option<PathBuf> {
        let dir = self.host.dir(&self.env);
        let is_meant =
            store == MemoryStore::Shared && self.host == Host::Claude && dir != self.home;
        let named = self.settings_value(&KEY).filter(|named| *named != json!(dir));
        (is_meant && named.is_none()).then_some(dir)
    }

    fn settings_value(&self, path: &[&str]) -> Option<Value> {
        let text = read(&self.settings()).ok().flatten()?;
        Splice::new(&text).ok()?.value(path)
    }

    fn settings(&self) -> PathBuf {
        self.home.join("settings.json")
    }

    pub(super) fn shared_part(&self, dir: &Path) -> Part {
        let shared = Piece::Member { path: KEY.to_vec(), value: json!(dir) };
        Part { path: self.settings(), pieces: vec![shared] }
    }

    /// What takes a sharing back that an earlier installation began.
    pub(super) fn no_longer_shared(
        &self,
        store: MemoryStore,
        receipt: &mut Receipt,
    ) -> Result<Vec<Change>> {
        let path = self.settings();
        if store == MemoryStore::Shared || receipt.of(&path).is_none() {
            return Ok(Vec::new());
        }
        let part = self.shared_part(&self.host.dir(&self.env));
        let changes = self.without_ours(&[part], receipt)?;
        receipt.files.retain(|kept| kept.path != path);
        Ok(changes)
    }

    /// Brings the memories of a separate store into the shared one.
    pub(super) fn moved(&self, to: Option<(PathBuf, Pass)>) -> Result<Migration> {
        let Some((dir, pass)) = to else { return Ok(Migration::default()) };
        let clock: Arc<dyn Clock> = Arc::new(everfold_agent::SystemClock);
        Ok(migrate(self.home, &dir, pass, &clock)?)
    }

    pub(super) fn tell_moved(&self, moved: &Migration, dry_run: bool) {
        if moved.is_empty() {
            return;
        }
        let verb = if dry_run { "would move" } else { "moved" };
        let note = format!(
            "{verb} {} to Claude Code's directories and merged {} with others there; \
             `everfold memory log` shows it, and `undo` undoes it",
            counted(moved.added.len() as u64, "memory"),
            moved.merged.len()
        );
        self.presenter.note(TextStyle::Dim, &note);
    }

    /// That the plugin, which does the same, is not there too.
    pub(super) fn check_plugin(&self) -> Result<()> {
        if self.host != Host::Claude {
            return Ok(());
        }
        let path = self.host.dir(&self.env).join("settings.json");
        let Some(name) = enabled_plugin(&path) else { return Ok(()) };
        let message = format!(
            "the plugin {name} does the same in Claude Code; nothing was changed ({})",
            path.display()
        );
        let hint = format!("keep the plugin, or remove it first: claude plugin uninstall {name}");
        Err(Refusal::new(message, hint).into())
    }
}

/// Our plugin, where settings of Claude Code switch it on.
pub(crate) fn enabled_plugin(settings: &Path) -> Option<String> {
    let text = read(settings).ok().flatten()?;
    let plugins = Splice::new(&text).ok()?.value(&["enabledPlugins"])?;
    let is_ours = |(name, on): (&String, &Value)| {
        (name.starts_with("everfold@") && *on == Value::Bool(true)).then(|| name.clone())
    };
    plugins.as_object()?.iter().find_map(is_ours)
}
