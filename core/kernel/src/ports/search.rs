//! Finding files and lines.

use super::{BoxFuture, PathGuard};
use crate::error::{Class, Classify};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Searching a tree, with ignore files honoured.
pub trait Search: Send + Sync {
    /// Files whose path matches a glob, newest first.
    fn glob(&self, query: GlobQuery) -> BoxFuture<'_, Result<GlobFound, SearchError>>;

    /// Lines that match a regular expression.
    fn grep(&self, query: GrepQuery) -> BoxFuture<'_, Result<GrepFound, SearchError>>;

    /// Those of some names that a project surely does not have (L6.8), looking
    /// at no more than `max_bytes` of its files. Where that cannot be told,
    /// there are none.
    fn missing(
        &self,
        root: PathBuf,
        names: Names,
        max_bytes: u64,
    ) -> BoxFuture<'_, Result<Names, SearchError>> {
        let _ = (root, names, max_bytes);
        Box::pin(async { Ok(Names::default()) })
    }

    /// Files and directories below some others that a guard bars, ignored and
    /// hidden ones too, looking at no more than `max_entries`. Where trees are
    /// not known, nobody can tell.
    fn barred(
        &self,
        roots: Vec<PathBuf>,
        guard: PathGuard,
        max_entries: usize,
    ) -> BoxFuture<'_, BarredFiles> {
        let _ = (roots, guard, max_entries);
        Box::pin(async { BarredFiles::Unknown })
    }
}

/// What of a tree may not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarredFiles {
    Found(Vec<PathBuf>),
    /// There is too much to look through.
    Unknown,
}

/// Things that somebody named and that a project may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Files and folders, from the root.
    pub paths: BTreeSet<String>,
    /// Names in code, such as `Client::send`.
    pub symbols: BTreeSet<String>,
    pub branches: BTreeSet<String>,
}

/// A search for files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobQuery {
    /// The glob, relative to the root.
    pub pattern: String,
    pub root: PathBuf,
    /// Most paths to give.
    pub limit: usize,
    /// Which files are left out.
    pub guard: PathGuard,
}

/// Files that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobFound {
    /// Their paths, newest first.
    pub paths: Vec<PathBuf>,
    /// How many there were in all.
    pub total: usize,
    /// Those that the guard left out.
    pub barred: usize,
}

/// A search for lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// The regular expression.
    pub pattern: String,
    /// A file, or a directory to look through.
    pub root: PathBuf,
    /// Only files whose path matches this glob.
    pub glob: Option<String>,
    /// Only files of this type, such as `rust`.
    pub file_type: Option<String>,
    pub mode: GrepMode,
    pub case_insensitive: bool,
    /// Lines before each match.
    pub before: usize,
    /// Lines after each match.
    pub after: usize,
    /// Most lines or paths to give.
    pub limit: usize,
    /// Files over this size are passed over.
    pub max_file_bytes: u64,
    /// Which files are left out.
    pub guard: PathGuard,
}

/// What a search for lines gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrepMode {
    /// The lines, with path and number.
    Content,
    /// The paths of files with a match.
    #[default]
    Files,
    /// The number of matching lines for each file.
    Count,
}

/// What was found, one entry a line of output, in path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepFound {
    /// `path:number:line` (`-` for context), a path, or `path:count`.
    pub lines: Vec<String>,
    /// How many files had a match.
    pub files: usize,
    /// Whether there was more than the limit.
    pub truncated: bool,
    /// Files that could not be read or were too large.
    pub skipped: usize,
    /// Files that the guard left out.
    pub barred: usize,
}

/// Why a search could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The pattern is not valid.
    #[error("the pattern {pattern:?} is not valid: {message}")]
    Pattern {
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// The type is not known.
    #[error("{name:?} is an unknown file type; use a glob instead")]
    FileType { name: String },
    #[error("{root} does not exist")]
    NotFound { root: PathBuf },
    /// It could not be read.
    #[error("{root} could not be searched: {message}")]
    Io { root: PathBuf, message: String },
}

impl Classify for SearchError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}
