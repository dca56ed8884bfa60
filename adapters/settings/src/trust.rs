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
mod word_paths;

pub use record::{
    TrustDecision, TrustRecord, all, drop_own_rule, keep_own_rule, own_rules, revoke,
};
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
    Variables,
    /// Permissions that widen what tools may do.
    Permissions,
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
    /// The files that it names, there or not.
    #[serde(skip)]
    named: BTreeSet<PathBuf>,
    /// Its commands and addresses as they are written.
    #[serde(skip)]
    calls: BTreeSet<String>,
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
    Changed { things: Vec<String> },
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
        Self::of(Tree::new(inputs))
    }

    /// Looks at the same tree as it is now.
    #[must_use]
    pub fn look_again(&self) -> Self {
        Self::of(self.tree.clone())
    }

    fn of(tree: Tree) -> Self {
        let (mut records, problem) = match record::read(&tree.own_home) {
            Ok(records) => (records, None),
            Err(error) => (Records::default(), Some(format!("failed to {error}"))),
        };
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

    /// Whether a file is part of what acts here, or would be once it is written.
    #[must_use]
    pub fn is_part(&self, path: &Path) -> bool {
        let is_it = |thing: &Thing| path.starts_with(&thing.path) || thing.named.contains(path);
        let is_place = || path == self.tree.root.join(survey::SERVERS_FILE);
        self.things.iter().any(is_it)
            || self.tree.agent_dirs().iter().any(|dir| path.starts_with(dir))
            || path.starts_with(self.tree.agent_dir())
            || is_place()
    }

    /// Whether something here calls a command or an address of this wording.
    #[must_use]
    pub fn calls(&self, wording: &str) -> bool {
        self.things.iter().any(|thing| thing.calls.contains(wording))
    }

    /// Files besides `.claude` and the like that act once they are changed.
    #[must_use]
    pub fn scripts(&self) -> BTreeSet<PathBuf> {
        let trusted = self.things.iter().filter(|thing| self.is_trusted(thing));
        let named = trusted.flat_map(|thing| &thing.named);
        named.filter(|path| path.is_file()).cloned().collect()
    }

    /// Keeps a change that was made here with permission, where all was as a
    /// person had it before: `self` is the tree before the change.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_edit(&self, at: Timestamp) -> Result<(), Error> {
        if !matches!(self.standing, TrustState::Trusted | TrustState::Nothing) {
            return Ok(());
        }
        let after = self.look_again();
        if !matches!(after.standing, TrustState::Changed { .. } | TrustState::Unknown) {
            return Ok(());
        }
        let imports = self.record.as_ref().map(|record| record.imports.clone());
        let home = self.tree.own_home.clone();
        after.keep(&home, TrustDecision::Trusted, imports.unwrap_or_default(), at)
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
mod tests;
