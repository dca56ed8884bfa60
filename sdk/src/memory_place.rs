//! Where the memories of a project are, by environment, settings or default
//! (L5.1). The one place that knows: sessions and commands ask here.

use crate::error::Error;
use everfold_memory_store::location::{self, Inputs, Location, SetBy, git_root, resolve};
use everfold_settings::{Origin, Place, Resolved};
use std::path::Path;

/// The setting that says where the directory is.
pub(crate) const SETTING: &str = "/autoMemoryDirectory";

/// What was said about the place.
pub(crate) struct Named<'a> {
    override_path: Option<&'a str>,
    setting: Option<(&'a str, SetBy)>,
    place: Place,
    /// Whose projects have the memories, where not ours (X5).
    memory_home: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// What settings and environment say.
    pub(crate) fn by(resolved: &'a Resolved) -> Self {
        let place = resolved.ambient.place;
        let remote = resolved.ambient.remote_memory_dir.as_deref();
        let remote = remote.filter(|_| place == Place::Remote);
        let set = resolved.settings.auto_memory_directory.as_deref();
        let (override_path, set_by) = match resolved.origin(SETTING) {
            Origin::Env(_) => (set, None),
            Origin::Default => (remote, None),
            Origin::Managed(_) => (remote, Some(SetBy::Managed)),
            Origin::Local(_) => (remote, Some(SetBy::Local)),
            Origin::Project(_) | Origin::Provider => (remote, Some(SetBy::Repository)),
            Origin::Home(_) | Origin::File(_) | Origin::Inline | Origin::Flag(_) => {
                (remote, Some(SetBy::User))
            }
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
        self.place == Place::Remote
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
        Ok(resolve(&Inputs {
            override_path: self.override_path,
            setting: self.setting,
            home,
            os_home,
            git_root: root.as_deref(),
            cwd,
        })?)
    }
}
