//! Trust in a repository (S7).
//!
//! What a repository brings that could act (hooks, MCP servers, permissions
//! that widen, variables and programs, agents and skills that run things,
//! imports from outside) is off until a person trusts it. The word is kept
//! under the home, with the path of the repository and a hash of each of these
//! things: whatever is new or changed since asks again, and all of it is off
//! until then.
//!
//! This is the one owner of the question: who takes something from a
//! repository asks [`Trust::allows`].

mod record;
mod survey;

pub use record::{TrustDecision, TrustRecord, all, revoke};

use crate::error::Error;
use crate::layout::Home;
use crate::refuse::Tracked;
use everfold_kernel::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Kinds of things that could act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustSubject {
    /// Programs that are run at events, and what they are made of.
    Hooks,
    /// Programs that settings name: a status line, a key command.
    Programs,
    /// Variables for programs.
    Variables,
    /// Permissions that widen what tools may do.
    Permissions,
    /// MCP servers.
    Servers,
    /// Instruction files from outside the repository.
    Imports,
    /// Agents that run things by themselves or with wider permissions.
    Agents,
    /// Skills and commands that do.
    Skills,
    /// Plugins that it switches on.
    Plugins,
}

impl TrustSubject {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hooks => "hooks",
            Self::Programs => "programs",
            Self::Variables => "variables",
            Self::Permissions => "permissions",
            Self::Servers => "MCP servers",
            Self::Imports => "imports from outside",
            Self::Agents => "agents",
            Self::Skills => "skills",
            Self::Plugins => "plugins",
        }
    }
}

/// One thing that could act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thing {
    /// What kind of thing.
    pub kind: TrustSubject,
    /// Where it is: a path from the root, and a key where it is part of a file.
    pub name: String,
    /// What it says, for a person to judge: commands, rules, names.
    pub says: Vec<String>,
    /// The hash of its content.
    pub hash: String,
    /// The file or folder.
    #[serde(skip)]
    path: PathBuf,
}

/// Where a repository stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum TrustState {
    /// It brings nothing that could act.
    Nothing,
    /// A person trusts it as it is.
    Trusted,
    /// Nobody was asked yet.
    Unknown,
    /// A person said no to it as it is.
    Declined,
    /// It is not what a person trusted, or said no to, by these things.
    Changed {
        /// Their names.
        things: Vec<String>,
    },
}

/// A repository and what a person said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    root: PathBuf,
    things: Vec<Thing>,
    standing: TrustState,
    record: Option<TrustRecord>,
}

impl Trust {
    /// Looks at a repository, by the real path of its root. Settings of one
    /// person count where git tracks them.
    ///
    /// # Errors
    /// If what is kept under the home cannot be read.
    pub fn look(home: &Home, root: &Path, local_is_tracked: Tracked) -> Result<Self, Error> {
        let things = survey::things(home, root, local_is_tracked);
        let record = record::read(home)?.remove(root);
        let standing = standing(&things, record.as_ref());
        Ok(Self { root: root.to_owned(), things, standing, record })
    }

    /// The root of the repository.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What it brings that could act.
    #[must_use]
    pub fn things(&self) -> &[Thing] {
        &self.things
    }

    /// Where it stands.
    #[must_use]
    pub fn standing(&self) -> &TrustState {
        &self.standing
    }

    /// Whether things of a kind may be taken from the repository.
    #[must_use]
    pub fn allows(&self, kind: TrustSubject) -> bool {
        self.standing == TrustState::Trusted
            && (kind != TrustSubject::Imports || !self.imports().is_empty())
    }

    /// Whether a file may be used: it does not act, or it may.
    #[must_use]
    pub fn allows_file(&self, path: &Path) -> bool {
        self.standing == TrustState::Trusted
            || !self.things.iter().any(|thing| path.starts_with(&thing.path))
    }

    /// Whether a value of a settings file is the one that was trusted.
    pub(crate) fn approves(
        &self,
        kind: TrustSubject,
        file: &Path,
        pointer: &str,
        value: &Value,
    ) -> bool {
        let name = survey::name_of(&self.root, file, pointer);
        let record = self.record.as_ref().filter(|_| self.allows(kind));
        record.and_then(|record| record.things.get(&name)) == Some(&survey::hash_of(value))
    }

    /// Instruction files from outside that may be imported.
    #[must_use]
    pub fn imports(&self) -> BTreeSet<PathBuf> {
        let record = self.record.as_ref().filter(|_| self.standing == TrustState::Trusted);
        record.map(|record| record.imports.clone()).unwrap_or_default()
    }

    /// Whether a person was asked about these imports, whatever they said.
    #[must_use]
    pub fn knows(&self, imports: &BTreeSet<PathBuf>) -> bool {
        let record = self.record.as_ref();
        imports.is_empty() || record.is_some_and(|record| record.imports.is_superset(imports))
    }

    /// Keeps what a person said of the repository as it was looked at, and of
    /// imports from outside.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(
        &self,
        home: &Home,
        verdict: TrustDecision,
        imports: BTreeSet<PathBuf>,
        at: Timestamp,
    ) -> Result<(), Error> {
        let things = self.things.iter().map(|thing| (thing.name.clone(), thing.hash.clone()));
        let record = TrustRecord { at, verdict, things: things.collect(), imports };
        record::change(home, |all| {
            all.insert(self.root.clone(), record);
        })
    }
}

fn standing(things: &[Thing], record: Option<&TrustRecord>) -> TrustState {
    let Some(record) = record else {
        return if things.is_empty() { TrustState::Nothing } else { TrustState::Unknown };
    };
    let is_new = |thing: &&Thing| record.things.get(&thing.name) != Some(&thing.hash);
    let changed: Vec<String> =
        things.iter().filter(is_new).map(|thing| thing.name.clone()).collect();
    match record.verdict {
        _ if !changed.is_empty() => TrustState::Changed { things: changed },
        TrustDecision::Trusted => TrustState::Trusted,
        TrustDecision::Declined => TrustState::Declined,
    }
}

/// Records by the roots of repositories.
type Records = BTreeMap<PathBuf, TrustRecord>;

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        dir: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("repo/.claude")).unwrap();
            Self { dir }
        }

        fn home(&self) -> Home {
            Home::at(self.dir.path().join("home"))
        }

        fn root(&self) -> PathBuf {
            self.dir.path().join("repo")
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.root().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        fn look(&self) -> Trust {
            Trust::look(&self.home(), &self.root(), Tracked::No).unwrap()
        }

        fn say(&self, verdict: TrustDecision) {
            let at = Timestamp::from_second(1_800_000_000).unwrap();
            self.look().keep(&self.home(), verdict, BTreeSet::new(), at).unwrap();
        }
    }

    const HOOKS: &str = r#"{"model": "m", "hooks": {"Stop": [{"hooks": [{"command": "rm x"}]}]}}"#;

    #[test]
    fn s7_what_acts_is_off_until_it_is_trusted_and_a_change_asks_again() {
        let place = Place::new();
        assert_eq!(place.look().standing(), &TrustState::Nothing);
        place.write(".claude/settings.json", HOOKS);
        place.write(".mcp.json", r#"{"mcpServers": {"db": {"command": "npx", "args": ["db"]}}}"#);
        let trust = place.look();
        assert_eq!(trust.standing(), &TrustState::Unknown);
        assert!(!trust.allows(TrustSubject::Hooks));
        let said: Vec<&str> =
            trust.things().iter().flat_map(|thing| &thing.says).map(String::as_str).collect();
        assert_eq!(said, ["Stop: rm x", "db: npx db"]);

        place.say(TrustDecision::Trusted);
        assert!(
            place.look().allows(TrustSubject::Hooks) && place.look().allows(TrustSubject::Servers)
        );
        place.write(".claude/settings.json", &HOOKS.replace("\"m\"", "\"other\""));
        assert!(place.look().allows(TrustSubject::Hooks), "what does not act may change");
        place.write(".claude/settings.json", &HOOKS.replace("rm x", "rm y"));
        let changed = place.look();
        assert!(!changed.allows(TrustSubject::Hooks) && !changed.allows(TrustSubject::Servers));
        let names = vec![".claude/settings.json hooks".to_owned()];
        assert_eq!(changed.standing(), &TrustState::Changed { things: names });
        place.write(".claude/settings.json", "{}");
        assert!(place.look().allows(TrustSubject::Servers), "what is gone asks nothing");

        assert!(revoke(&place.home(), &place.root()).unwrap());
        assert!(!revoke(&place.home(), &place.root()).unwrap());
        assert_eq!(place.look().standing(), &TrustState::Unknown);
    }

    #[test]
    fn s7_a_no_is_kept_until_something_changes() {
        let place = Place::new();
        place.write(".claude/settings.json", HOOKS);
        place.say(TrustDecision::Declined);
        assert_eq!(place.look().standing(), &TrustState::Declined);
        assert!(!place.look().allows(TrustSubject::Hooks));
        place.write(".claude/settings.json", &HOOKS.replace("rm x", "rm y"));
        assert!(matches!(place.look().standing(), TrustState::Changed { .. }));
    }

    #[test]
    fn s7_agents_and_skills_that_run_things_are_found_and_others_are_not() {
        let place = Place::new();
        place.write(".claude/agents/plain.md", "---\nname: plain\n---\nSay hello.\n");
        place.write(".claude/skills/plain/SKILL.md", "---\nname: p\n---\nWrite well.\n");
        assert_eq!(place.look().standing(), &TrustState::Nothing);
        place.write(".claude/agents/bold.md", "---\npermissionMode: bypassPermissions\n---\nx\n");
        place.write(".claude/skills/run/SKILL.md", "---\nname: r\n---\nState: !`git status`\n");
        place.write(".claude/skills/run/tool.sh", "echo one\n");
        let things = place.look();
        let names: Vec<&str> = things.things().iter().map(|thing| thing.name.as_str()).collect();
        assert_eq!(names, [".claude/agents/bold.md", ".claude/skills/run"]);
        let root = place.root();
        assert!(things.allows_file(&root.join(".claude/agents/plain.md")));
        assert!(!things.allows_file(&root.join(".claude/skills/run/SKILL.md")));
        place.say(TrustDecision::Trusted);
        assert!(place.look().allows_file(&root.join(".claude/skills/run/SKILL.md")));
        place.write(".claude/skills/run/tool.sh", "echo two\n");
        assert!(!place.look().allows_file(&root.join(".claude/skills/run/SKILL.md")));
    }

    #[test]
    fn s7_scripts_of_hooks_are_part_of_what_is_trusted() {
        let place = Place::new();
        place.write(".claude/hooks/check.sh", "echo fine\n");
        place.say(TrustDecision::Trusted);
        assert!(place.look().allows(TrustSubject::Hooks));
        place.write(".claude/hooks/check.sh", "echo not fine\n");
        assert!(!place.look().allows(TrustSubject::Hooks));
    }

    #[test]
    fn s7_the_home_is_no_repository_of_somebody_else() {
        let place = Place::new();
        place.write(".claude/settings.json", HOOKS);
        let home = Home::at(place.root().join(".claude"));
        let trust = Trust::look(&home, &place.root(), Tracked::No).unwrap();
        assert_eq!(trust.standing(), &TrustState::Nothing);
    }

    #[test]
    fn s6_odd_files_do_no_harm() {
        let place = Place::new();
        for (name, text) in [
            (".claude/settings.json", "not json"),
            (".mcp.json", "\u{0}\u{1}"),
            (".claude/agents/x.md", "---\nhooks"),
        ] {
            place.write(name, text);
        }
        assert_eq!(place.look().things().len(), 1, "what may be servers is asked about");
        std::fs::create_dir_all(place.home().root()).unwrap();
        std::fs::write(place.home().root().join("trust.json"), "{").unwrap();
        assert!(Trust::look(&place.home(), &place.root(), Tracked::No).is_err());
    }
}
