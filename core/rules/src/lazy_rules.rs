//! What loads later: files of a directory when something in it is read, and
//! rules when a file that they match is touched; each once (I2).

use crate::discovery::{CandidateKind, InstructionCandidate, Reason, directory};
use crate::instructions::{Conditional, Instructions};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How a file was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Read,
    Write,
}

/// What a session may still have to load. After a compaction it is made anew,
/// from instructions that were loaded anew.
#[derive(Clone, Debug)]
pub struct Lazy {
    cwd: PathBuf,
    root: PathBuf,
    conditional: Vec<Conditional>,
    visited: BTreeSet<PathBuf>,
    loaded: BTreeSet<PathBuf>,
}

impl Lazy {
    /// What is left after the start. Patterns of rules are about paths below
    /// `root`; those of a rule in a directory below it, about paths below that.
    #[must_use]
    pub fn new(cwd: PathBuf, root: PathBuf, start: &Instructions) -> Self {
        Self {
            cwd,
            root,
            conditional: start.conditional.clone(),
            visited: BTreeSet::new(),
            loaded: start.loaded.clone(),
        }
    }

    /// What becomes due when the model touches an absolute path. Nothing is
    /// named twice.
    pub fn touch(&mut self, path: &Path, touch: Touch) -> Vec<InstructionCandidate> {
        let mut due = Vec::new();
        if touch == Touch::Read {
            let above: Vec<&Path> = path.ancestors().skip(1).collect();
            for dir in above.into_iter().rev().filter(|dir| *dir != self.cwd) {
                if dir.starts_with(&self.cwd) && self.visited.insert(dir.to_owned()) {
                    due.extend(directory(dir, &Reason::Nested));
                }
            }
        }
        let mut waiting = Vec::new();
        for rule in std::mem::take(&mut self.conditional) {
            match rule.patterns.matching(base(&rule, &self.root), path) {
                None => waiting.push(rule),
                Some(glob) => due.push(InstructionCandidate {
                    reason: Reason::PathMatch { glob: glob.to_owned() },
                    path: rule.path,
                    look: CandidateKind::Rule,
                    scope: rule.scope,
                }),
            }
        }
        self.conditional = waiting;
        due
    }

    /// The real paths of what is loaded already, for the next loader.
    #[must_use]
    pub fn loaded(&self) -> &BTreeSet<PathBuf> {
        &self.loaded
    }

    /// Takes over what a touch led to: rules that wait, files that are loaded.
    pub fn absorb(&mut self, more: &Instructions) {
        self.conditional.extend(more.conditional.iter().cloned());
        self.loaded.extend(more.loaded.iter().cloned());
    }
}

/// The directory that a rule's patterns are about: the one that holds its
/// `.claude`, if that lies in the project, else the project's root.
fn base<'a>(rule: &'a Conditional, root: &'a Path) -> &'a Path {
    let above = rule.path.ancestors().find(|dir| dir.ends_with(".claude/rules"));
    let holder = above.and_then(|rules| rules.parent()?.parent());
    holder.filter(|holder| holder.starts_with(root)).unwrap_or(root)
}
