//! Where kill switches and limits come from, and how they are followed while
//! sessions run (Q3): settings files at each turn, the flag source in the
//! background.

use super::{Builder, Purpose};
use crate::error::Error;
use everfold_kernel::ports::{BoxFuture, SwitchReading, Switches};
use everfold_kernel::{Flag, Flags, Limits};
use everfold_settings::layout::{Platform, local_settings, project_settings};
use everfold_settings::live::poll_interval;
use everfold_settings::{
    BrokenFiles, Extra, FlagLocation, Home, Layer, LiveFlags, PollerHandle, Resolved,
    SettingsInputs, TreeInputs, Trust, load, spawn_poller,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// All that settings are read from.
#[derive(Clone)]
pub(super) struct SettingsSource {
    home: Home,
    user_home: Option<PathBuf>,
    /// The root of the repository, or the working directory.
    root: PathBuf,
    cwd: PathBuf,
    extra: Option<Extra>,
    variables: BTreeMap<String, String>,
    flags: Vec<Layer>,
    managed: PathBuf,
    broken: BrokenFiles,
}

/// By what a change of a file is seen; none where it is not there.
type Stamp = Option<(u64, Option<SystemTime>)>;

impl SettingsSource {
    pub(super) fn load(&self, trust: &Trust) -> Result<Resolved, Error> {
        Ok(load(&SettingsInputs {
            home: &self.home,
            trust,
            extra: self.extra.as_ref(),
            variables: &self.variables,
            flags: &self.flags,
            managed: &self.managed,
            broken: self.broken,
        })?)
    }

    /// How each file is now.
    fn stamps(&self) -> Vec<Stamp> {
        let extra = match &self.extra {
            Some(Extra::File(path)) => Some(path.clone()),
            _ => None,
        };
        let files = [
            self.home.settings(),
            project_settings(&self.root),
            local_settings(&self.root),
            self.managed.clone(),
        ];
        let stamp = |path: PathBuf| {
            let about = path.metadata().ok()?;
            Some((about.len(), about.modified().ok()))
        };
        files.into_iter().chain(extra).map(stamp).collect()
    }

    /// Reads the files anew. Why their last values stay, where some cannot be
    /// read any more.
    fn renew(&self, live: &LiveFlags) -> Option<String> {
        let trust = Trust::look(&TreeInputs {
            home: &self.home,
            user_home: self.user_home.as_deref(),
            root: &self.root,
            cwd: &self.cwd,
        });
        let fresh = self.load(&trust);
        let renewed = fresh.and_then(|fresh| Ok(live.renew(&fresh)?));
        match renewed {
            Err(error) => Some(error.to_string()),
            Ok(gone) if gone.is_empty() => None,
            Ok(gone) => {
                let named: Vec<String> = gone.iter().map(ToString::to_string).collect();
                Some(format!("settings are gone ({})", named.join("; ")))
            }
        }
    }
}

/// Settings as they were read, and what follows their changes.
pub(super) struct LiveSettings {
    pub(super) resolved: Resolved,
    pub(super) live: LiveFlags,
    /// Looks at the flag source, where there is one.
    pub(super) poller: Option<PollerHandle>,
    pub(super) switches: Arc<dyn Switches>,
}

/// The settings of an agent, followed.
struct FollowedSettings(Arc<Followed>);

struct Followed {
    live: LiveFlags,
    source: SettingsSource,
    seen: Mutex<Seen>,
}

/// What the last look at the files came to.
struct Seen {
    stamps: Vec<Stamp>,
    problem: Option<String>,
}

impl FollowedSettings {
    /// Goes on from settings that were read when files were as the stamps say.
    fn new(live: LiveFlags, source: SettingsSource, stamps: Vec<Stamp>) -> Self {
        let seen = Mutex::new(Seen { stamps, problem: None });
        Self(Arc::new(Followed { live, source, seen }))
    }
}

impl Followed {
    /// Looks at the files, and reads them where one changed.
    fn look(&self) {
        let stamps = self.source.stamps();
        let mut seen = self.seen();
        if stamps != seen.stamps {
            // A broken file is not read again before it changes.
            *seen = Seen { stamps, problem: self.source.renew(&self.live) };
        }
    }

    fn reading(&self) -> SwitchReading {
        let (flags, limits) = in_force(&self.live.resolved());
        let problem = self.seen().problem.clone().or_else(|| self.live.problem());
        SwitchReading { flags, limits, problem }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Switches for FollowedSettings {
    fn current(&self) -> BoxFuture<'_, SwitchReading> {
        let own = Arc::clone(&self.0);
        Box::pin(async move {
            // A look that was cut short leaves what was read before.
            drop(tokio::task::spawn_blocking(move || own.look()).await);
            self.0.reading()
        })
    }
}

/// Kill switches and limits as settings say, by the names that other programs
/// have for some of them too.
pub(crate) fn in_force(resolved: &Resolved) -> (Flags, Limits) {
    let settings = &resolved.settings;
    let (mut flags, mut limits) =
        (settings.everfold.flags.clone(), settings.everfold.limits.clone());
    if settings.file_checkpointing_enabled == Some(false) {
        limits.rewind.file_bytes = 0;
    }
    if settings.auto_compact_enabled == Some(false) {
        flags.set(Flag::AutoCompact, false);
    }
    (flags, limits)
}

impl Builder {
    pub(super) fn settings_source(&self, home: &Home, trust: &Trust) -> SettingsSource {
        let platform = || Platform::current().managed_settings();
        SettingsSource {
            home: home.clone(),
            user_home: self.user_home.clone(),
            root: trust.root().to_owned(),
            cwd: trust.cwd().to_owned(),
            extra: self.extra_settings.clone(),
            variables: self.variables.clone(),
            flags: self.flags.clone(),
            managed: self.managed.clone().unwrap_or_else(platform),
            broken: self.broken,
        }
    }

    /// Reads the settings, and goes on looking at what may change of them.
    pub(super) fn follow_settings(
        &self,
        home: &Home,
        trust: &Trust,
    ) -> Result<LiveSettings, Error> {
        let source = self.settings_source(home, trust);
        // Looked at before they are read: a change in between is seen later.
        let stamps = source.stamps();
        let resolved = source.load(trust)?;
        let live = LiveFlags::new(resolved.clone());
        let own = &resolved.settings.everfold;
        let location = FlagLocation::from_settings(&own.flag_source, self.user_home.as_deref());
        let location = match location {
            // Who only looks needs no flag source; `doctor` says what is wrong.
            _ if self.purpose == Purpose::Looking => None,
            location => location?,
        };
        let interval = poll_interval(&own.limits);
        let poller = location.map(|location| spawn_poller(live.clone(), location, interval));
        let switches = Arc::new(FollowedSettings::new(live.clone(), source, stamps));
        Ok(LiveSettings { resolved, live, poller, switches })
    }
}
