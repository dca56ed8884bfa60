//! Trust in a working tree (S7, S9).
//!
//! Nothing in a working tree is the person's own. What it brings that could act
//! or widen access (hooks, helpers, servers, permissions, variables, agents and
//! skills that run things, links and imports that leave it) is off until a
//! person trusts it. The word is kept under the home, with the real path of the
//! tree and a hash of each of these things and of the files that they name as
//! program or script: whatever is new or changed since asks again, and all of
//! it is off until then. Permission rules that this program itself wrote there
//! for its person are known one by one.
//!
//! This is the one owner of the question: who takes something from a tree asks
//! a [`Trust`]. What it was not asked about, and what nobody recorded, is off.

mod build_tools;
mod content;
mod named_files;
mod record;
mod script_text;
mod shell_words;
mod survey;
mod tree;

pub use record::{TrustDecision, TrustRecord, all, keep_own_rule, revoke};
pub use tree::TreeInputs;
pub(crate) use tree::{AgentDirOwner, Tree};

use crate::error::Error;
use crate::layout::Home;
use everfold_kernel::{Timestamp, TreeBounds};
use record::Records;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
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
    /// Instruction files from outside the tree.
    Imports,
    /// Links that leave the tree.
    Links,
    /// Agents that run things by themselves or with wider permissions.
    Agents,
    /// Skills and commands that do.
    Skills,
    /// Plugins that it switches on.
    Plugins,
    /// Where memories are kept.
    MemoryPaths,
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
            Self::Links => "links that leave it",
            Self::Agents => "agents",
            Self::Skills => "skills",
            Self::Plugins => "plugins",
            Self::MemoryPaths => "memory paths",
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
    /// Files of the tree that it names as program or script. They are part of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The hash of its content; none where that is too large to be checked, so
    /// that it stays off.
    pub hash: Option<String>,
    /// The file or folder.
    #[serde(skip)]
    path: PathBuf,
    /// The hash of its own words, without the files that it names.
    #[serde(skip)]
    words: Option<String>,
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

/// A tree and what a person said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    tree: Tree,
    things: Vec<Thing>,
    standing: TrustState,
    record: Option<TrustRecord>,
    own_rules: BTreeSet<String>,
    problem: Option<String>,
}

impl Trust {
    /// Looks at a tree. Where what is kept under the home cannot be read,
    /// nothing is trusted, and [`Self::problem`] says why.
    #[must_use]
    pub fn look(inputs: &TreeInputs<'_>) -> Self {
        let (mut records, problem) = match record::read(inputs.home) {
            Ok(records) => (records, None),
            Err(error) => (Records::default(), Some(format!("failed to {error}"))),
        };
        let tree = Tree::new(inputs);
        let own_rules = records.rules.remove(&tree.root).unwrap_or_default();
        let things = survey::things(&tree, &own_rules);
        let record = records.repositories.remove(&tree.root);
        let standing = standing(&things, record.as_ref());
        Self { tree, things, standing, record, own_rules, problem }
    }

    /// The root of the tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.tree.root
    }

    /// The directory that it was looked at from.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.tree.cwd
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

    /// Why what was said before is not known.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The `.claude` folders of the tree, from the working directory up to its
    /// root. One that is a home of the person is none of them.
    #[must_use]
    pub fn agent_dirs(&self) -> Vec<PathBuf> {
        self.tree.agent_dirs()
    }

    /// The one of the root, if it is the tree's.
    #[must_use]
    pub fn agent_dir(&self) -> Option<PathBuf> {
        let dir = self.tree.agent_dir();
        (self.tree.owner(&dir) == AgentDirOwner::Tree).then_some(dir)
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Whether a file of the tree may act: it, or the folder that it is in, is
    /// as a person trusted it. What only says something need not ask.
    #[must_use]
    pub fn allows_file(&self, path: &Path) -> bool {
        let is_it =
            |thing: &&Thing| thing.kind != TrustSubject::Links && path.starts_with(&thing.path);
        let thing = self.things.iter().find(is_it);
        thing.is_some_and(|thing| self.is_trusted(thing))
    }

    /// The files and folders of a kind that may act.
    #[must_use]
    pub fn acting(&self, kind: TrustSubject) -> BTreeSet<PathBuf> {
        let of_kind = self.things.iter().filter(|thing| thing.kind == kind);
        of_kind.filter(|thing| self.is_trusted(thing)).map(|thing| thing.path.clone()).collect()
    }

    /// Whether a value of a settings file is the one that was trusted.
    pub(crate) fn approves(&self, file: &Path, pointer: &str, value: &Value) -> bool {
        let name = survey::name_of(&self.tree, file, pointer);
        let thing = self.things.iter().find(|thing| thing.name == name);
        // The file may have changed since it was looked at.
        let is_same = |thing: &&Thing| thing.words == Some(survey::hash_of(value));
        thing.filter(is_same).is_some_and(|thing| self.is_trusted(thing))
    }

    fn is_trusted(&self, thing: &Thing) -> bool {
        let record = self.record.as_ref().filter(|_| self.standing == TrustState::Trusted);
        record.is_some_and(|record| record.covers(thing))
    }

    /// Permission rules that were written into the tree for this person.
    pub(crate) fn own_rules(&self) -> &BTreeSet<String> {
        &self.own_rules
    }

    /// What belongs to the tree: what is in it, and what a person approved of
    /// what it takes from outside.
    #[must_use]
    pub fn bounds(&self) -> TreeBounds {
        self.tree.bounds(self.approved())
    }

    /// The same before anybody approved anything.
    #[must_use]
    pub fn bare_bounds(&self) -> TreeBounds {
        self.tree.bounds(BTreeSet::new())
    }

    fn approved(&self) -> BTreeSet<PathBuf> {
        let record = self.record.as_ref().filter(|_| self.standing == TrustState::Trusted);
        let Some(record) = record else { return BTreeSet::new() };
        let links = self.things.iter().filter(|thing| thing.kind == TrustSubject::Links);
        let links = links.filter(|thing| record.covers(thing));
        let links = links.filter_map(|thing| thing.path.canonicalize().ok());
        links.chain(record.imports.iter().cloned()).collect()
    }

    /// Whether a person was asked about these imports, whatever they said.
    #[must_use]
    pub fn knows(&self, imports: &BTreeSet<PathBuf>) -> bool {
        let record = self.record.as_ref();
        imports.is_empty() || record.is_some_and(|record| record.imports.is_superset(imports))
    }

    /// Keeps what a person said of the tree as it was looked at, and of imports
    /// from outside. What was trusted in other folders of it stays so.
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
        let seen = self.things.iter().filter_map(|it| Some((it.name.clone(), it.hash.clone()?)));
        let mut record = TrustRecord { at, verdict, things: seen.collect(), imports };
        record::change(home, |all| {
            let before = all.repositories.remove(self.root());
            let before = before.filter(|before| before.verdict == verdict);
            for (name, hash) in before.into_iter().flat_map(|before| before.things) {
                record.things.entry(name).or_insert(hash);
            }
            all.repositories.insert(self.root().to_owned(), record);
        })
    }
}

fn standing(things: &[Thing], record: Option<&TrustRecord>) -> TrustState {
    let Some(record) = record else {
        return if things.is_empty() { TrustState::Nothing } else { TrustState::Unknown };
    };
    // What can never be checked is off, and asks nothing.
    let is_new = |thing: &&Thing| thing.hash.is_some() && !record.covers(thing);
    let changed: Vec<String> =
        things.iter().filter(is_new).map(|thing| thing.name.clone()).collect();
    match record.verdict {
        _ if !changed.is_empty() => TrustState::Changed { things: changed },
        TrustDecision::Trusted => TrustState::Trusted,
        TrustDecision::Declined => TrustState::Declined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        dir: tempfile::TempDir,
    }

    fn look(home: &Home, root: &Path, cwd: &Path) -> Trust {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (root, cwd) = (real(root), real(cwd));
        Trust::look(&TreeInputs { home, user_home: None, root: &root, cwd: &cwd })
    }

    impl Trust {
        /// Whether what has this name may act.
        fn has(&self, name: &str) -> bool {
            self.things.iter().any(|thing| thing.name == name && self.is_trusted(thing))
        }
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("repo/.claude")).unwrap();
            std::fs::create_dir_all(dir.path().join("outside")).unwrap();
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
            self.look_from("")
        }

        fn look_from(&self, cwd: &str) -> Trust {
            look(&self.home(), &self.root(), &self.root().join(cwd))
        }

        fn say(&self, verdict: TrustDecision) {
            let at = Timestamp::from_second(1_800_000_000).unwrap();
            self.look().keep(&self.home(), verdict, BTreeSet::new(), at).unwrap();
        }
    }

    const HOOKS_NAME: &str = ".claude/settings.json hooks";
    const HOOKS: &str = r#"{"model": "m", "hooks": {"Stop": [{"hooks": [{"command": "rm x"}]}]}}"#;

    #[test]
    fn s7_what_acts_is_off_until_it_is_trusted_and_a_change_asks_again() {
        let place = Place::new();
        assert_eq!(place.look().standing(), &TrustState::Nothing);
        place.write(".claude/settings.json", HOOKS);
        place.write(".mcp.json", r#"{"mcpServers": {"db": {"command": "npx", "args": ["db"]}}}"#);
        let trust = place.look();
        assert_eq!(trust.standing(), &TrustState::Unknown);
        assert!(!trust.has(HOOKS_NAME));
        let said: Vec<&str> =
            trust.things().iter().flat_map(|thing| &thing.says).map(String::as_str).collect();
        assert_eq!(said, ["Stop: rm x", "db: npx db"]);

        place.say(TrustDecision::Trusted);
        assert!(place.look().has(HOOKS_NAME) && place.look().has(".mcp.json"));
        place.write(".claude/settings.json", &HOOKS.replace("\"m\"", "\"other\""));
        assert!(place.look().has(HOOKS_NAME), "what does not act may change");
        place.write(".claude/settings.json", &HOOKS.replace("rm x", "rm y"));
        let changed = place.look();
        assert!(!changed.has(HOOKS_NAME) && !changed.has(".mcp.json"));
        let names = vec![HOOKS_NAME.to_owned()];
        assert_eq!(changed.standing(), &TrustState::Changed { things: names });
        place.write(".claude/settings.json", "{}");
        assert!(place.look().has(".mcp.json"), "what is gone asks nothing");

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
        assert!(!place.look().has(HOOKS_NAME));
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
        assert!(place.look().has(".claude/hooks"));
        place.write(".claude/hooks/check.sh", "echo not fine\n");
        assert!(!place.look().has(".claude/hooks"));
    }

    #[test]
    fn s7_the_home_is_no_repository_of_somebody_else() {
        let place = Place::new();
        place.write(".claude/settings.json", HOOKS);
        let home = Home::at(place.root().join(".claude"));
        let trust = look(&home, &place.root(), &place.root());
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
        let broken = place.look();
        assert!(broken.problem().is_some_and(|why| why.contains("trust.json")));
        assert_eq!(broken.standing(), &TrustState::Unknown, "nothing is trusted then");
        let at = Timestamp::from_second(1).unwrap();
        let kept = broken.keep(&place.home(), TrustDecision::Trusted, BTreeSet::new(), at);
        assert!(kept.is_err(), "and nothing is written over it");
    }
}
