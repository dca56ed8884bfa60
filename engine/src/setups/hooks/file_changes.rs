//! Files that hooks want to hear of: those that a `FileChanged` matcher names
//! in the working directory, those that a handler named in `watchPaths`, and
//! the settings. They are looked at when a turn begins and after the calls of
//! an answer; nothing runs meanwhile.

use crate::session::runtime::Watched;
use crate::session::{Error, Session};
use crate::setups::hooks;
use everfold_hooks::{HookEvent, Occasion};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Most files that are looked at.
const MOST: usize = 200;

impl Watched {
    /// Watches more files.
    pub(super) fn add(&mut self, paths: Vec<PathBuf>) {
        let room = MOST.saturating_sub(self.named.len());
        self.named.extend(paths.into_iter().take(room));
    }
}

/// Tells hooks of files that were changed since this was last asked.
pub(crate) async fn changed_hooks(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    if hooks::hears(session, HookEvent::FileChanged) {
        let cwd = session.context.cwd();
        let mut paths = session.runtime.hooks.watched.named.clone();
        paths.extend(hooks::hook_registry(session).watched().map(|name| cwd.join(name)));
        for path in paths {
            let Some(change) = change_of(session, path.clone()).await else { continue };
            let changed = Occasion::FileChanged { path: &path, change };
            let verdict = hooks::fire(session, &changed, cancel).await?;
            session.runtime.hooks.watched.add(verdict.wanted.watch);
        }
    }
    if session.is_main() && hooks::hears(session, HookEvent::ConfigChange) {
        for (source, path) in session.config.setups.settings_files.clone() {
            if change_of(session, path.clone()).await.is_some() {
                let changed = Occasion::ConfigChange { source, path: &path };
                hooks::fire(session, &changed, cancel).await?;
            }
        }
    }
    Ok(())
}

/// How a file differs from when it was last looked at. What is looked at
/// for the first time does not.
async fn change_of(session: &mut Session, path: PathBuf) -> Option<&'static str> {
    let stat = session.world.files.stat(&path).await.ok();
    let now = stat.map(|stat| (stat.bytes, stat.modified));
    match (session.runtime.hooks.watched.seen.insert(path, now)?, now) {
        (None, Some(_)) => Some("add"),
        (Some(_), None) => Some("unlink"),
        (before, now) => (before != now).then_some("change"),
    }
}
