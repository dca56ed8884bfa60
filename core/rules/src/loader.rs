//! Loads instruction files, one question at a time.
//!
//! The loader asks for a file or a directory ([`Loader::need`]) and is told
//! what is there ([`Loader::give`]), until it has nothing more to ask. It ends
//! for any graph of imports: a real file is taken once, hops are counted, and
//! so are imported files (I3). Imported text stands before the text that
//! imports it, so that the latter wins.

use crate::discovery::{CandidateKind, InstructionCandidate, InstructionScope, Reason};
use crate::frontmatter;
use crate::instructions::{Conditional, FileFate, InstructionFile, InstructionText, Instructions};
use crate::markdown;
use crate::patterns::Patterns;
use everfold_kernel::tokens::{Tokens, estimate_text};
use everfold_kernel::tree::without_dots;
use everfold_kernel::{Limits, TreeBounds};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the loader may take from where.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The working tree. What it imports from elsewhere, or links to, needs the
    /// person's approval (I5, S9).
    pub tree: TreeBounds,
    /// The directory that `~/` stands for.
    pub user_dir: PathBuf,
    /// `claudeMdExcludes`.
    pub excludes: Patterns,
    /// Those of them that are not the tree's: it cannot leave out what is the
    /// person's own.
    pub own_excludes: Patterns,
}

/// What the loader wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadRequest {
    /// The content of a file.
    File(PathBuf),
    /// All files below a directory, links followed.
    Listing(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// Nothing, or not what was asked for.
    Missing,
    /// Something that could not be read.
    Unreadable { message: String },
    /// Something that [`Loader::admits`] does not; it was not read.
    Outside {
        /// Where it really is, links resolved.
        real: PathBuf,
    },
    /// A file over the limit; it need not be read.
    TooLarge { bytes: u64 },
    File {
        /// Where it really is, links resolved.
        real: PathBuf,
        bytes: Vec<u8>,
    },
    /// The files of a directory.
    Listing(Vec<PathBuf>),
}

#[derive(Debug)]
pub struct Loader<'a> {
    bounds: &'a Bounds,
    limits: &'a Limits,
    /// What is still to be done; the last one is next.
    open: Vec<Step>,
    asked: Option<Task>,
    /// Directories that have a CLAUDE.md.
    covered: BTreeSet<PathBuf>,
    /// The real paths of rules that wait.
    waiting: BTreeSet<PathBuf>,
    imported: usize,
    out: Instructions,
}

#[derive(Debug)]
enum Step {
    Look(Task),
    Emit(InstructionText),
}

#[derive(Clone, Debug)]
struct Task {
    candidate: InstructionCandidate,
    hops: usize,
    /// The directory that it is a file of, or that it is imported into; none
    /// for what is the person's own, or the organisation's.
    held_to: Option<PathBuf>,
}

impl Task {
    fn new(candidate: InstructionCandidate) -> Self {
        let is_trees =
            matches!(candidate.scope, InstructionScope::Project | InstructionScope::Local);
        let held_to = is_trees.then(|| holder(&candidate.path));
        Self { candidate, hops: 0, held_to }
    }

    /// Something that this one leads to.
    fn to(&self, candidate: InstructionCandidate, hops: usize) -> Self {
        Self { candidate, hops, held_to: self.held_to.clone() }
    }
}

/// The directory whose instructions a file has: the one that holds it, or the
/// `.claude` that it is in.
fn holder(path: &Path) -> PathBuf {
    let rules = path.ancestors().find(|dir| dir.ends_with(".claude/rules")).and_then(Path::parent);
    let dir = rules.or_else(|| path.parent()).unwrap_or(path);
    let above = dir.parent().filter(|_| dir.ends_with(".claude"));
    above.unwrap_or(dir).to_owned()
}

impl<'a> Loader<'a> {
    /// A loader for these candidates. `loaded` are the real paths of what a
    /// session has already.
    #[must_use]
    pub fn new(
        candidates: Vec<InstructionCandidate>,
        loaded: BTreeSet<PathBuf>,
        bounds: &'a Bounds,
        limits: &'a Limits,
    ) -> Self {
        let open = candidates.into_iter().rev().map(Task::new).map(Step::Look).collect();
        let out = Instructions { loaded, ..Instructions::default() };
        let (covered, waiting) = (BTreeSet::new(), BTreeSet::new());
        Self { bounds, limits, open, asked: None, covered, waiting, imported: 0, out }
    }

    /// The next question; none when everything is known. The same question
    /// comes again until it is answered.
    pub fn need(&mut self) -> Option<LoadRequest> {
        while self.asked.is_none() {
            match self.open.pop()? {
                Step::Emit(text) => self.out.texts.push(text),
                Step::Look(task) => {
                    if self.is_wanted(&task) {
                        self.asked = Some(task);
                    }
                }
            }
        }
        let candidate = &self.asked.as_ref()?.candidate;
        Some(match candidate.look {
            CandidateKind::Rules => LoadRequest::Listing(candidate.path.clone()),
            _ => LoadRequest::File(candidate.path.clone()),
        })
    }

    /// The answer to the last question.
    pub fn give(&mut self, given: Given) {
        let Some(task) = self.asked.take() else { return };
        match given {
            Given::Missing if matches!(task.candidate.reason, Reason::Import { .. }) => {
                self.row(&task, FileFate::Missing);
            }
            Given::Missing => {}
            Given::Unreadable { message } => self.row(&task, FileFate::Unreadable { message }),
            Given::Outside { real } => self.row(&task, FileFate::NeedsApproval { real }),
            Given::TooLarge { bytes } => self.row(&task, FileFate::TooLarge { bytes }),
            Given::Listing(paths) => self.list(&task, paths),
            Given::File { real, bytes } => self.file(&task, &real, bytes),
        }
    }

    /// What was loaded, after the last question.
    #[must_use]
    pub fn finish(self) -> Instructions {
        self.out
    }

    fn is_wanted(&mut self, task: &Task) -> bool {
        let candidate = &task.candidate;
        let dir = candidate.path.parent().unwrap_or(&candidate.path);
        if candidate.look == CandidateKind::Fallback && self.covered.contains(dir) {
            return false;
        }
        if task.hops > self.limits.rules.import_depth {
            self.row(task, FileFate::TooDeep);
            return false;
        }
        true
    }

    fn is_excluded(&self, candidate: &InstructionCandidate, path: &Path) -> bool {
        match candidate.scope {
            InstructionScope::Managed => false,
            InstructionScope::User => self.bounds.own_excludes.matches_whole(path),
            _ => self.bounds.excludes.matches_whole(path),
        }
    }

    /// Whether what was asked for last may be read, by its real path. What a
    /// tree imports from outside, or links to, is not looked at before the
    /// person approved it.
    #[must_use]
    pub fn admits(&self, real: &Path) -> bool {
        self.asked.as_ref().is_none_or(|task| self.holds(task, real))
    }

    fn holds(&self, task: &Task, real: &Path) -> bool {
        task.held_to.as_ref().is_none_or(|dir| self.bounds.tree.holds_for(dir, real))
    }

    fn list(&mut self, task: &Task, mut paths: Vec<PathBuf>) {
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
        paths.sort();
        let InstructionCandidate { scope, reason, .. } = &task.candidate;
        self.open.extend(paths.into_iter().rev().map(|path| {
            let (scope, reason) = (*scope, reason.clone());
            let candidate = InstructionCandidate { path, look: CandidateKind::Rule, scope, reason };
            Step::Look(task.to(candidate, task.hops))
        }));
    }

    fn file(&mut self, task: &Task, real: &Path, bytes: Vec<u8>) {
        self.cover(&task.candidate);
        if self.out.loaded.contains(real) || self.waiting.contains(real) {
            return;
        }
        let size = bytes.len() as u64;
        let excluded = [real, &task.candidate.path].map(|at| self.is_excluded(&task.candidate, at));
        let fate = if excluded.contains(&true) {
            Some(FileFate::Excluded)
        } else if !self.holds(task, real) {
            Some(FileFate::NeedsApproval { real: real.to_owned() })
        } else if size > self.limits.rules.file_bytes {
            Some(FileFate::TooLarge { bytes: size })
        } else {
            None
        };
        if let Some(fate) = fate {
            return self.row(task, fate);
        }
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => self.text(task, real, &text),
            _ => self.row(task, FileFate::NotText),
        }
    }

    /// Notes that a directory has a CLAUDE.md, beside it or in its `.claude`.
    fn cover(&mut self, candidate: &InstructionCandidate) {
        let dir = candidate.path.parent();
        if candidate.look == CandidateKind::File && candidate.path.ends_with("CLAUDE.md") {
            self.covered.extend(dir.map(Path::to_owned));
            let above = dir.filter(|dir| dir.ends_with(".claude")).and_then(Path::parent);
            self.covered.extend(above.map(Path::to_owned));
        }
    }

    fn text(&mut self, task: &Task, real: &Path, text: &str) {
        let mut body = text;
        let is_import = matches!(task.candidate.reason, Reason::Import { .. });
        if task.candidate.look == CandidateKind::Rule || is_import {
            let rule = frontmatter::split(text);
            body = rule.body;
            let is_due = matches!(task.candidate.reason, Reason::PathMatch { .. });
            let waits = !is_import && !is_due;
            if waits && !rule.paths.is_empty() {
                self.waiting.insert(real.to_owned());
                return self.wait(task, &rule.paths);
            }
        }
        self.out.loaded.insert(real.to_owned());
        let body = markdown::without_comments(body.strip_prefix('\u{feff}').unwrap_or(body));
        let body = body.trim().to_owned();
        let chars = body.chars().count();
        let fate = match chars {
            0 => FileFate::Empty,
            _ if chars > self.limits.rules.warn_chars => FileFate::LoadedLarge { chars },
            _ => FileFate::Loaded,
        };
        self.out.rows.push(InstructionFile {
            bytes: body.len(),
            tokens: estimate_text(&body, self.limits),
            ..row(task, fate)
        });
        let imports = markdown::imports(&body);
        let InstructionCandidate { path, scope, reason, .. } = task.candidate.clone();
        let by = path.clone();
        if !body.is_empty() {
            self.open.push(Step::Emit(InstructionText { path, scope, reason, text: body }));
        }
        let tasks = imports.iter().map(|import| {
            let (path, reason) = (self.resolve(&by, import), Reason::Import { by: by.clone() });
            let look = CandidateKind::File;
            task.to(InstructionCandidate { path, look, scope, reason }, task.hops + 1)
        });
        let mut tasks: Vec<Task> = tasks.collect();
        let room = self.limits.rules.import_files.saturating_sub(self.imported);
        if let Some(first) = tasks.get(room) {
            self.out.rows.push(row(first, FileFate::TooDeep));
        }
        tasks.truncate(room);
        self.imported += tasks.len();
        self.open.extend(tasks.into_iter().rev().map(Step::Look));
    }

    fn resolve(&self, by: &Path, import: &str) -> PathBuf {
        let path = match import.strip_prefix("~/") {
            Some(rest) => self.bounds.user_dir.join(rest),
            None => by.parent().unwrap_or(by).join(import),
        };
        without_dots(&path)
    }

    fn wait(&mut self, task: &Task, paths: &[String]) {
        let patterns = Patterns::new(paths, &self.limits.rules);
        let refused_patterns = patterns.refused().to_vec();
        self.row(task, FileFate::Waiting { refused_patterns });
        let InstructionCandidate { path, scope, .. } = task.candidate.clone();
        self.out.conditional.push(Conditional { path, scope, patterns });
    }

    fn row(&mut self, task: &Task, fate: FileFate) {
        self.out.rows.push(row(task, fate));
    }
}

fn row(task: &Task, fate: FileFate) -> InstructionFile {
    let InstructionCandidate { path, scope, reason, .. } = task.candidate.clone();
    InstructionFile { path, scope, reason, bytes: 0, tokens: Tokens(0), fate }
}
