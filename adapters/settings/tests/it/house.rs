//! A home, a repository and an administrator in a temporary directory.

use everfold_settings::environment::Variables;
use everfold_settings::{
    BrokenFiles, Error, Extra, Home, Layer, Resolved, SettingsInputs, TreeInputs, Trust, load,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) struct House {
    dir: TempDir,
    pub(crate) extra: Option<Extra>,
    pub(crate) variables: Variables,
    pub(crate) flags: Vec<Layer>,
    pub(crate) broken: BrokenFiles,
}

impl House {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir_all(dir.path().join("repo/.claude")).unwrap();
        std::fs::create_dir_all(dir.path().join("home")).unwrap();
        Self {
            dir,
            extra: None,
            variables: Variables::new(),
            flags: Vec::new(),
            broken: BrokenFiles::Refused,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn home(&self) -> Home {
        Home::at(self.path("home"))
    }

    pub(crate) fn write(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub(crate) fn home_settings(self, value: &Value) -> Self {
        self.write("home/settings.json", value.to_string())
    }

    pub(crate) fn project(self, value: &Value) -> Self {
        self.write("repo/.claude/settings.json", value.to_string())
    }

    pub(crate) fn local(self, value: &Value) -> Self {
        self.write("repo/.claude/settings.local.json", value.to_string())
    }

    pub(crate) fn managed(self, value: &Value) -> Self {
        self.write("managed.json", value.to_string())
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn load(&self) -> Result<Resolved, Error> {
        self.load_in(&self.home(), &self.path("repo"))
    }

    pub(crate) fn load_in(&self, home: &Home, repo: &Path) -> Result<Resolved, Error> {
        let root = repo.canonicalize().unwrap();
        let place = TreeInputs { home, user_home: None, root: &root, cwd: &root };
        load(&SettingsInputs {
            home,
            trust: &Trust::look(&place),
            extra: self.extra.as_ref(),
            variables: &self.variables,
            flags: &self.flags,
            managed: &self.path("managed.json"),
            broken: self.broken,
        })
    }
}
