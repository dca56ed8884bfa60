//! Files that hooks want to hear of: those that a `FileChanged` matcher names
//! in the working directory, those that a handler named in `watchPaths`, and
//! the settings. They are looked at when a turn begins and after the calls of
//! an answer; nothing runs meanwhile.

use crate::session::{Error, Session};
use everfold_hooks::{Event as HookEvent, Occasion};
use everfold_kernel::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// Most files that are looked at.
const MOST: usize = 200;

/// What is known of files that are watched.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    /// Those that handlers named.
    named: BTreeSet<PathBuf>,
    /// How each was when it was last looked at; none where it was not there.
    seen: BTreeMap<PathBuf, Option<Stamp>>,
}

/// By what a change is told.
type Stamp = (u64, Option<Timestamp>);

impl Watched {
    /// Watches more files.
    pub(super) fn add(&mut self, paths: Vec<PathBuf>) {
        let room = MOST.saturating_sub(self.named.len());
        self.named.extend(paths.into_iter().take(room));
    }
}

impl Session {
    /// Tells hooks of files that were changed since this was last asked.
    pub(crate) async fn changed_hooks(&mut self, cancel: &CancellationToken) -> Result<(), Error> {
        if self.hears(HookEvent::FileChanged) {
            let cwd = self.context.cwd();
            let mut paths = self.hooking.watched.named.clone();
            paths.extend(self.hook_registry().watched().map(|name| cwd.join(name)));
            for path in paths {
                let Some(change) = self.change_of(path.clone()).await else { continue };
                let changed = Occasion::FileChanged { path: &path, change };
                let verdict = self.fire(&changed, cancel).await?;
                self.hooking.watched.add(verdict.wanted.watch);
            }
        }
        if self.is_main() && self.hears(HookEvent::ConfigChange) {
            for (source, path) in self.config.settings_files.clone() {
                if self.change_of(path.clone()).await.is_some() {
                    let changed = Occasion::ConfigChange { source, path: &path };
                    self.fire(&changed, cancel).await?;
                }
            }
        }
        Ok(())
    }

    /// How a file differs from when it was last looked at. What is looked at
    /// for the first time does not.
    async fn change_of(&mut self, path: PathBuf) -> Option<&'static str> {
        let stat = self.world.files.stat(&path).await.ok();
        let now = stat.map(|stat| (stat.bytes, stat.modified));
        match (self.hooking.watched.seen.insert(path, now)?, now) {
            (None, Some(_)) => Some("add"),
            (Some(_), None) => Some("unlink"),
            (before, now) => (before != now).then_some("change"),
        }
    }
}
