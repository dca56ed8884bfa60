//! Where the memories of a project are, by environment, settings or default
//! (L5.1). The one place that knows: sessions and commands ask here.

use crate::error::Error;
use everfold_memory_store::location::{self, Location, LocationInputs, SetBy, git_root, resolve};
use everfold_settings::{Resolved, RunPlace, ValueOrigin};
use std::path::Path;

/// The setting that says where the directory is.
pub(crate) const SETTING: &str = "/autoMemoryDirectory";

/// What was said about the place.
pub(crate) struct Named<'a> {
    override_path: Option<&'a str>,
    setting: Option<(&'a str, SetBy)>,
    place: RunPlace,
    /// Whose projects have the memories, where not ours (X5).
    memory_home: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// What settings and environment say.
    pub(crate) fn by(resolved: &'a Resolved) -> Self {
        let place = resolved.ambient.place;
        let remote = resolved.ambient.remote_memory_dir.as_deref();
        let remote = remote.filter(|_| place == RunPlace::Remote);
        let set = resolved.settings.auto_memory_directory.as_deref();
        let (override_path, set_by) = match resolved.origin(SETTING) {
            ValueOrigin::Env(_) => (set, None),
            ValueOrigin::Default => (remote, None),
            ValueOrigin::Managed(_) => (remote, Some(SetBy::Managed)),
            ValueOrigin::Local(_) => (remote, Some(SetBy::Local)),
            ValueOrigin::Project(_) | ValueOrigin::Provider => (remote, Some(SetBy::Repository)),
            ValueOrigin::Home(_)
            | ValueOrigin::File(_)
            | ValueOrigin::Inline
            | ValueOrigin::Flag(_) => (remote, Some(SetBy::User)),
        };
        let memory_home = resolved.settings.everfold.memory_home.as_deref();
        Self { override_path, setting: set.zip(set_by), place, memory_home }
    }

    /// Whether the session runs on a machine that goes away and nobody said
    /// where memories are to stay: then there are none (L5.7).
    pub(crate) fn is_nowhere(&self) -> bool {
        self.is_remote() && self.override_path.is_none() && self.setting.is_none()
    }

    /// Whether the session runs on a machine that goes away.
    pub(crate) fn is_remote(&self) -> bool {
        self.place == RunPlace::Remote
    }

    /// The place.
    pub(crate) fn resolve(
        &self,
        home: &Path,
        os_home: Option<&Path>,
        cwd: &Path,
    ) -> Result<Location, Error> {
        let root = git_root(cwd);
        let shared = self.memory_home.map(|named| location::checked(named, os_home)).transpose()?;
        let home = shared.as_deref().unwrap_or(home);
        Ok(resolve(&LocationInputs {
            override_path: self.override_path,
            setting: self.setting,
            home,
            os_home,
            git_root: root.as_deref(),
            cwd,
        })?)
    }
}
