//! `everfold install` and `uninstall`: hooks and an MCP server in the settings of
//! another agent, and everything back as it was (X2).
//!
//! A change is planned for all files before the first is written, so that one
//! that cannot be changed leaves the others alone. Files are changed where they
//! stand: comments, order and unknown keys stay. What a file held is kept;
//! where it is still as we left it, taking back is putting that there again,
//! byte for byte. Where somebody changed it since, only what is ours goes.

mod change;
mod codex_trust;
mod host;
mod inspection;
mod observe;
mod piece;
mod receipt;
mod refused;
mod section;
mod shared_store;
mod toml;

pub(crate) use host::Host;
pub(crate) use inspection::{HookState, HostSight, look as look_at_hosts};

use crate::args::{InstallArgs, UninstallArgs};
use crate::failure::Usage;
use crate::presenter::{Presenter, TextStyle};
use crate::setup;
use anyhow::{Context, Result};
use change::{Change, check_writable, missing_folders, read, write};
use everfold_agent::hosts::{HostKind, Migration, Pass};
use everfold_agent::settings::Home;
use everfold_memory_store::ContentId;
use everfold_memory_store::store::FileDiff;
use host::{InstallEnv, Part};
use piece::Piece;
use receipt::{Drawer, Kept, Receipt};
use refused::Refused;
use serde_json::json;
use shared_store::MemoryStore;
use std::path::Path;

/// What one command works with.
struct Fitter<'a> {
    host: Host,
    env: InstallEnv<'a>,
    home: &'a Path,
    drawer: Drawer,
    presenter: &'a Presenter,
}

/// Puts Everfold into another agent.
pub(crate) fn install(
    env: &setup::ProcessEnv,
    args: &InstallArgs,
    presenter: &Presenter,
) -> Result<()> {
    let program = std::env::current_exe().context("the program's own path is not known")?;
    with_fitter(env, args.host, &program, presenter, |fitter| {
        if args.separate && args.host != Host::Claude {
            let hint = "leave out --separate; only Claude Code shares memories";
            return Err(Usage::new("there is nothing to separate", hint).into());
        }
        fitter.check_plugin()?;
        let store = if args.separate { MemoryStore::Own } else { MemoryStore::Shared };
        let mut receipt = fitter.drawer.read();
        let apart = fitter.no_longer_shared(store, &mut receipt)?;
        let observe = fitter.wanted_observing(args)?;
        let parts = fitter.observed(fitter.parts(store), observe);
        let mut changes = fitter.with_ours(&parts, &receipt)?;
        let kept = changes.len();
        changes.extend(apart);
        let pass = if args.dry_run { Pass::Look } else { Pass::Write };
        let moved = fitter.shared_dir(store).map(|dir| (dir, pass));
        if args.dry_run || changes.iter().all(Change::is_none) {
            let moved = fitter.moved(moved)?;
            return fitter.show(&changes, "install", args.dry_run, args.json, &moved);
        }
        fitter.keep(changes.get(..kept).unwrap_or_default(), &receipt)?;
        fitter.make_room_for_bodies(observe)?;
        write(&changes)?;
        let moved = fitter.moved(moved)?;
        fitter.show(&changes, "install", args.dry_run, args.json, &moved)?;
        if !args.json {
            let host = args.host.as_str();
            let note = format!(
                "the previous contents are saved in {}; `everfold uninstall {host}` undoes all of \
                 this",
                fitter.drawer.backups().display()
            );
            presenter.note(TextStyle::Dim, &note);
            if let Some(next) = args.host.next_step() {
                presenter.note(TextStyle::Dim, next);
            }
        }
        Ok(())
    })
}

/// Takes it all back.
pub(crate) fn uninstall(
    env: &setup::ProcessEnv,
    args: &UninstallArgs,
    presenter: &Presenter,
) -> Result<()> {
    with_fitter(env, args.host, Path::new("everfold"), presenter, |fitter| {
        let receipt = fitter.drawer.read();
        let parts = fitter.observed(fitter.parts(MemoryStore::Shared), fitter.observing()?);
        let mut changes = fitter.without_ours(&parts, &receipt)?;
        fitter.forget_trust(&mut changes, &receipt)?;
        fitter.show(&changes, "uninstall", args.dry_run, args.json, &Migration::default())?;
        if args.dry_run {
            return Ok(());
        }
        write(&changes)?;
        fitter.remove_bodies()?;
        fitter.drawer.clear(&receipt)
    })
}

/// Whether something was installed into a host.
pub(crate) fn is_installed(env: &setup::ProcessEnv, host: HostKind) -> bool {
    let home = Home::resolve(&env.variables, env.user_home.as_deref());
    home.is_ok_and(|home| Drawer::new(home.root(), host.as_str()).exists())
}

fn with_fitter(
    env: &setup::ProcessEnv,
    host: Host,
    program: &Path,
    presenter: &Presenter,
    work: impl FnOnce(&Fitter<'_>) -> Result<()>,
) -> Result<()> {
    let home = Home::resolve(&env.variables, env.user_home.as_deref())
        .map_err(everfold_agent::Error::from)?;
    let Some(user_home) = env.user_home.as_deref() else {
        return Err(Usage::new("there is no home directory", "set HOME").into());
    };
    let is_usual = home.root() == user_home.join(".everfold");
    let fitter = Fitter {
        host,
        env: InstallEnv {
            variables: &env.variables,
            user_home,
            program,
            home: (!is_usual).then_some(home.root()),
        },
        home: home.root(),
        drawer: Drawer::new(home.root(), host.as_str()),
        presenter,
    };
    work(&fitter)
}

impl Fitter<'_> {
    /// The host's files, and our own settings where memories are shared (X6).
    fn parts(&self, store: MemoryStore) -> Vec<Part> {
        let mut parts = self.host.parts(&self.env);
        parts.extend(self.shared_dir(store).map(|dir| self.shared_part(&dir)));
        parts
    }

    fn with_ours(&self, parts: &[Part], receipt: &Receipt) -> Result<Vec<Change>> {
        let one = |part: &Part| {
            let now = read(&part.path)?;
            let kept = receipt.of(&part.path);
            let refused = |refused| self.refused(&part.path, now.as_deref(), &refused);
            let mut then = now.clone().unwrap_or_default();
            for piece in &part.pieces {
                then = piece.put(&then).map_err(refused)?;
            }
            let before = match (&now, kept) {
                (Some(now), Some(kept)) if ContentId::of(now.as_bytes()) == kept.after => {
                    kept.before()
                }
                (Some(now), Some(kept)) => Some(self.without(part, now, kept)?),
                // What an installation left here that nothing else is known of.
                (Some(now), None) => Some(self.stripped(part, now, "")?),
                (None, _) => None,
            };
            check_writable(&part.path)?;
            Ok(Change { path: part.path.clone(), now, then: Some(then), before })
        };
        parts.iter().map(one).collect()
    }

    fn without_ours(&self, parts: &[Part], receipt: &Receipt) -> Result<Vec<Change>> {
        let mut changes = Vec::new();
        for part in parts {
            let Some(now) = read(&part.path)? else { continue };
            let kept = receipt.of(&part.path);
            let then = match kept {
                Some(kept) if ContentId::of(now.as_bytes()) == kept.after => kept.before(),
                Some(kept) => Some(self.without(part, &now, kept)?),
                None => Some(self.stripped(part, &now, "")?),
            };
            let is_whole = part.pieces.iter().any(|piece| matches!(piece, Piece::Whole { .. }));
            let was_made = is_whole || kept.is_some_and(|kept| kept.backup.is_none());
            let is_empty = |text: &String| matches!(text.trim(), "" | "{}");
            let then = then.filter(|text| !(was_made && is_empty(text)));
            let change = Change { path: part.path.clone(), now: Some(now), then, before: None };
            if !change.is_none() {
                check_writable(&part.path)?;
                changes.push(change);
            }
        }
        Ok(changes)
    }

    fn without(&self, part: &Part, now: &str, kept: &Kept) -> Result<String> {
        self.stripped(part, now, &kept.before().unwrap_or_default())
    }

    fn stripped(&self, part: &Part, now: &str, before: &str) -> Result<String> {
        let mut text = now.to_owned();
        for piece in &part.pieces {
            let taken = piece.take(&text, before);
            text = taken.map_err(|refused| self.refused(&part.path, Some(now), &refused))?;
        }
        Ok(text)
    }

    fn refused(&self, path: &Path, text: Option<&str>, refused: &Refused) -> anyhow::Error {
        refused.told(path, text, self.host).into()
    }

    fn show(
        &self,
        changes: &[Change],
        verb: &str,
        dry_run: bool,
        json: bool,
        moved: &Migration,
    ) -> Result<()> {
        let real: Vec<&Change> = changes.iter().filter(|change| !change.is_none()).collect();
        let diff = |change: &Change| FileDiff {
            // Git's heads have a folder before the path: `a/home/…`.
            path: change.path.display().to_string().trim_start_matches('/').to_owned(),
            before: change.now.clone(),
            after: change.then.clone(),
        };
        if json {
            let row = |change: &&Change| {
                let action = match (&change.now, &change.then) {
                    (None, _) => "create",
                    (_, None) => "delete",
                    _ => "change",
                };
                json!({"path": change.path, "action": action, "diff": diff(change).unified()})
            };
            let rows: Vec<_> = real.iter().map(row).collect();
            let memories =
                json!({"added": moved.added, "merged": moved.merged, "known": moved.known});
            let value = json!({"host": self.host.as_str(), "action": verb, "dry_run": dry_run, "changes": rows, "memories": memories});
            return Ok(Presenter::json(&value)?);
        }
        if real.is_empty() {
            let already = if verb == "install" { "already installed" } else { "not installed" };
            self.presenter.line(already)?;
        }
        for change in &real {
            self.presenter.text(&diff(change).unified())?;
        }
        self.tell_moved(moved, dry_run);
        if real.is_empty() {
            return Ok(());
        }
        if dry_run {
            self.presenter.note(TextStyle::Dim, "nothing was written");
        }
        Ok(())
    }

    /// Keeps what the files held, before the first is written.
    fn keep(&self, changes: &[Change], old: &Receipt) -> Result<()> {
        let mut files: Vec<Kept> = old
            .files
            .iter()
            .filter(|kept| changes.iter().all(|change| change.path != kept.path))
            .cloned()
            .collect();
        for (number, change) in changes.iter().enumerate() {
            let text = change.before.as_deref();
            let backup =
                text.map(|text| self.drawer.keep(number, &change.path, text)).transpose()?;
            let after = ContentId::of(change.then.as_deref().unwrap_or_default().as_bytes());
            files.push(Kept { path: change.path.clone(), backup, after });
        }
        let mut made = old.made.clone();
        let paths =
            changes.iter().filter(|change| change.then.is_some()).map(|change| &change.path);
        for dir in paths.flat_map(|path| missing_folders(path)) {
            if !made.contains(&dir) {
                made.push(dir);
            }
        }
        self.drawer.write(&Receipt { files, made })
    }
}
