//! Where things are on disk (C3, C7).
//!
//! Paths only; nothing is read here, and only [`Home::ensure`] touches the
//! disk. `CLAUDE_CONFIG_DIR` never sets the home: who wants to share
//! `~/.claude` says so with `EVERFOLD_HOME`.

use crate::error::Error;
use everfold_kernel::env;
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

/// The home directory of Everfold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The home that `EVERFOLD_HOME` names, else `.everfold` in the person's own.
    ///
    /// # Errors
    /// [`Error::NoHome`] if neither is known, [`Error::RelativePath`] if the
    /// variable holds a path that depends on where one stands.
    pub fn resolve(
        variables: &BTreeMap<String, String>,
        os_home: Option<&Path>,
    ) -> Result<Self, Error> {
        let named = variables.get(env::HOME).filter(|value| !value.is_empty());
        let root = match (named, os_home) {
            (Some(named), _) => full_path(env::HOME, named, os_home)?,
            (None, Some(home)) => full_path("the home directory", "~/.everfold", Some(home))?,
            (None, None) => return Err(Error::NoHome),
        };
        Ok(Self { root })
    }

    /// The home at this directory.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    #[must_use]
    pub fn settings(&self) -> PathBuf {
        self.root.join("settings.json")
    }

    #[must_use]
    pub fn instructions(&self) -> PathBuf {
        self.root.join("CLAUDE.md")
    }

    #[must_use]
    pub fn rules(&self) -> PathBuf {
        self.root.join("rules")
    }

    /// A person's kinds of sub-agents.
    #[must_use]
    pub fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    #[must_use]
    pub fn skills(&self) -> PathBuf {
        self.root.join("skills")
    }

    /// Every project's directory is in here.
    #[must_use]
    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// The directory of the project with this slug: of the launch directory
    /// for transcripts, of the git root for memories.
    #[must_use]
    pub fn project_dir(&self, slug: &str) -> ProjectDir {
        ProjectDir { root: self.projects().join(slug) }
    }

    /// Makes the directory, for its owner alone (S5). One that is there
    /// already is left as it is: it may be another tool's.
    ///
    /// # Errors
    /// [`Error::MakeDirectory`] if it cannot be made.
    pub fn ensure(&self) -> Result<(), Error> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(&self.root)
            .map_err(|source| Error::MakeDirectory { path: self.root.clone(), source })
    }
}

/// The directory of one project under the home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectDir {
    root: PathBuf,
}

impl ProjectDir {
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The transcript of a session.
    #[must_use]
    pub fn transcript(&self, session: &str) -> PathBuf {
        self.root.join(format!("{session}.jsonl"))
    }

    /// Large tool results of a session.
    #[must_use]
    pub fn tool_results(&self, session: &str) -> PathBuf {
        self.root.join(session).join("tool-results")
    }

    /// Running notes of a session.
    #[must_use]
    pub fn session_memory(&self, session: &str) -> PathBuf {
        self.root.join(session).join("session-memory")
    }

    /// Transcripts of a session's sub-agents.
    #[must_use]
    pub fn subagents(&self, session: &str) -> PathBuf {
        self.root.join(session).join("subagents")
    }

    /// The project's memories, where nothing moves them.
    #[must_use]
    pub fn memory(&self) -> PathBuf {
        self.root.join("memory")
    }
}

/// Settings committed in a repository.
#[must_use]
pub fn project_settings(repo: &Path) -> PathBuf {
    repo.join(".claude").join("settings.json")
}

/// Settings of one person in a repository.
#[must_use]
pub fn local_settings(repo: &Path) -> PathBuf {
    repo.join(".claude").join("settings.local.json")
}

/// Operating systems whose paths differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unixes.
    Linux,
    MacOs,
    Windows,
}

impl Platform {
    /// The one that this was built for.
    #[must_use]
    pub fn current() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }

    /// An administrator's settings. Fixed, because a variable could be changed
    /// by the person whom they bind.
    #[must_use]
    pub fn managed_settings(self) -> PathBuf {
        PathBuf::from(match self {
            Self::Linux => "/etc/everfold/settings.json",
            Self::MacOs => "/Library/Application Support/Everfold/settings.json",
            Self::Windows => r"C:\ProgramData\Everfold\settings.json",
        })
    }
}

/// `path` with `~/` filled in; it has to be whole then.
///
/// # Errors
/// [`Error::RelativePath`], naming `what`, if it is not.
pub fn full_path(what: &str, path: &str, os_home: Option<&Path>) -> Result<PathBuf, Error> {
    let rest = path.strip_prefix("~/").or((path == "~").then_some(""));
    let full = match (rest, os_home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    };
    if full.is_absolute() {
        Ok(full)
    } else {
        Err(Error::RelativePath { what: what.to_owned(), path: full })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[cfg(unix)]
    #[test]
    fn c3_the_home_is_ours_unless_the_variable_names_another() {
        let os_home = Some(Path::new("/home/ada"));
        let at = |pairs: &[(&str, &str)]| {
            Home::resolve(&variables(pairs), os_home).map(|home| home.root)
        };
        assert_eq!(at(&[]).unwrap(), Path::new("/home/ada/.everfold"));
        assert_eq!(at(&[("EVERFOLD_HOME", "")]).unwrap(), Path::new("/home/ada/.everfold"));
        assert_eq!(
            at(&[("CLAUDE_CONFIG_DIR", "/elsewhere")]).unwrap(),
            Path::new("/home/ada/.everfold")
        );
        assert_eq!(at(&[("EVERFOLD_HOME", "/srv/m")]).unwrap(), Path::new("/srv/m"));
        assert_eq!(at(&[("EVERFOLD_HOME", "~/.claude")]).unwrap(), Path::new("/home/ada/.claude"));
        assert!(matches!(at(&[("EVERFOLD_HOME", "here")]), Err(Error::RelativePath { .. })));
        assert!(matches!(Home::resolve(&variables(&[]), None), Err(Error::NoHome)));
    }

    #[test]
    fn c3_the_layout_under_the_home() {
        let project = Home::at("/m").project_dir("-home-ada-x");
        let under = |path: PathBuf| path.to_string_lossy().replace('\\', "/");
        assert_eq!(under(project.transcript("s1")), "/m/projects/-home-ada-x/s1.jsonl");
        assert_eq!(under(project.tool_results("s1")), "/m/projects/-home-ada-x/s1/tool-results");
        assert_eq!(
            under(project.session_memory("s1")),
            "/m/projects/-home-ada-x/s1/session-memory"
        );
        assert_eq!(under(project.subagents("s1")), "/m/projects/-home-ada-x/s1/subagents");
        assert_eq!(under(project.memory()), "/m/projects/-home-ada-x/memory");
        assert_eq!(under(Home::at("/m").instructions()), "/m/CLAUDE.md");
        assert_eq!(under(Home::at("/m").rules()), "/m/rules");
        assert_eq!(under(Home::at("/m").agents()), "/m/agents");
        assert_eq!(under(Home::at("/m").skills()), "/m/skills");
    }

    #[test]
    fn c7_managed_settings_have_a_fixed_place_on_each_platform() {
        let at = |platform: Platform| platform.managed_settings();
        assert_eq!(at(Platform::Linux), Path::new("/etc/everfold/settings.json"));
        assert!(at(Platform::MacOs).starts_with("/Library"));
        assert!(at(Platform::Windows).to_string_lossy().starts_with(r"C:\ProgramData"));
    }
}
