//! Where the memory directory is (L5.1), and where it may not be (L5.2).
//!
//! A function of what it is given; the environment is read by the apps. Only
//! [`git_root`] looks at the disk: all worktrees of a repository share one
//! memory, so a worktree's `.git` file is followed to where the repository is.

use crate::error::Error;
use icu_normalizer::ComposingNormalizerBorrowed;
use std::path::{Component, Path, PathBuf};

/// Longest name of a project's folder before it is cut, in UTF-16 units.
const SLUG_UNITS: usize = 200;
/// Longest `.git` file that is read, in bytes.
const GIT_FILE_BYTES: u64 = 64 * 1024;

/// Who set `autoMemoryDirectory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetBy {
    Managed,
    /// The person, for all projects.
    User,
    /// The person, for this project, in a file that git does not track.
    Local,
    /// The repository: its settings, or a local file that git tracks.
    Repository,
}

/// What the place follows from.
#[derive(Clone, Copy, Debug)]
pub struct LocationInputs<'a> {
    /// The whole-path override of the environment.
    pub override_path: Option<&'a str>,
    /// `autoMemoryDirectory`, and who set it.
    pub setting: Option<(&'a str, SetBy)>,
    pub home: &'a Path,
    /// The person's own home, which `~/` stands for.
    pub os_home: Option<&'a Path>,
    /// The root of the repository, where there is one: see [`git_root`].
    pub git_root: Option<&'a Path>,
    /// The working directory, links resolved.
    pub cwd: &'a Path,
}

/// Where the place came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationSource {
    Override,
    Setting(SetBy),
    /// Nobody: it is the default.
    Default,
}

/// The memory directory of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub dir: PathBuf,
    pub source: LocationSource,
    /// A setting that was not taken over because a repository made it.
    pub ignored: Option<String>,
}

/// Decides where the memory directory is.
///
/// # Errors
/// [`Error::BadLocation`] if the one who may say so names a place that it may
/// not be at. Nothing else is tried then: memories would end up where nobody
/// looks for them.
pub fn resolve(inputs: &LocationInputs<'_>) -> Result<Location, Error> {
    let found = |dir, source, ignored| Location { dir, source, ignored };
    if let Some(path) = inputs.override_path.filter(|path| !path.trim().is_empty()) {
        return Ok(found(checked(path, inputs.os_home)?, LocationSource::Override, None));
    }
    let ignored = match inputs.setting {
        Some((path, SetBy::Repository)) => Some(path.to_owned()),
        Some((path, set_by)) => {
            return Ok(found(
                checked(path, inputs.os_home)?,
                LocationSource::Setting(set_by),
                None,
            ));
        }
        None => None,
    };
    let project = inputs.git_root.unwrap_or(inputs.cwd);
    let dir = inputs.home.join("projects").join(project_slug(project)).join("memory");
    Ok(found(dir, LocationSource::Default, ignored))
}

/// The tier that holds what is true of the person everywhere (L5.25).
#[must_use]
pub fn global_dir(home: &Path) -> PathBuf {
    home.join("memory")
}

/// The name of a team's directory.
pub(crate) const TEAM_DIR: &str = "team";

/// The directory that a team shares, inside a project's (L5.21).
#[must_use]
pub fn team_dir(memory_dir: &Path) -> PathBuf {
    memory_dir.join(TEAM_DIR)
}

/// A path in its plain form, if a memory directory may be there.
///
/// # Errors
/// [`Error::BadLocation`] that says what is wrong with it (L5.2).
pub fn checked(path: &str, os_home: Option<&Path>) -> Result<PathBuf, Error> {
    let refuse = |why| Err(Error::BadLocation { path: path.to_owned(), why });
    let trimmed = path.trim();
    if trimmed.is_empty() {
        return refuse("it is empty");
    }
    if trimmed.contains('\0') {
        return refuse("it contains a NUL");
    }
    if trimmed.starts_with("\\\\") || trimmed.starts_with("//") {
        return refuse("it is on a network share; use a local directory");
    }
    if is_drive_root(trimmed) {
        return refuse("it is the root of a drive; use a directory of its own");
    }
    let full = match (trimmed.strip_prefix("~/").or_else(|| trimmed.strip_prefix("~\\")), os_home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches(['/', '\\'])),
        (Some(_), None) => return refuse("there is no home directory for `~`"),
        (None, _) => PathBuf::from(trimmed),
    };
    if !full.is_absolute() {
        return refuse("it is relative; use an absolute path, or one that starts with `~/`");
    }
    let Some(plain) = normalised(&full) else {
        return refuse("it leads above the root");
    };
    let depth = plain.components().filter(|part| matches!(part, Component::Normal(_))).count();
    if depth < 2 {
        return refuse("it is the root, or right below it; use a directory of its own");
    }
    if os_home.and_then(normalised).as_deref() == Some(plain.as_path()) {
        return refuse("it is the home directory itself; use a directory of its own");
    }
    Ok(plain)
}

fn is_drive_root(path: &str) -> bool {
    let mut chars = path.chars();
    let letter = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    letter && chars.next() == Some(':') && chars.all(|c| matches!(c, '/' | '\\' | '.'))
}

/// A path without `.` and `..`, by its words.
fn normalised(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// The name of a project's folder, as Claude Code makes it: composed Unicode,
/// every UTF-16 unit but ASCII letters and digits a `-`, and a hash behind what
/// is cut.
#[must_use]
pub fn project_slug(project: &Path) -> String {
    let text = project.to_string_lossy();
    let text = ComposingNormalizerBorrowed::new_nfc().normalize(&text);
    let plain = |unit: u16| {
        u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from)
    };
    let slug: String = text.encode_utf16().map(plain).collect();
    match slug.get(..SLUG_UNITS) {
        Some(start) if slug.len() > SLUG_UNITS => format!("{start}-{}", short_hash(&text)),
        _ => slug,
    }
}

/// The 32-bit hash behind a cut name, in base 36.
fn short_hash(text: &str) -> String {
    let step = |hash: i32, unit: u16| {
        hash.wrapping_shl(5).wrapping_sub(hash).wrapping_add(i32::from(unit))
    };
    let mut rest = text.encode_utf16().fold(0_i32, step).unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(rest % 36, 36));
        rest /= 36;
        if rest == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// The root of the repository that a directory is in: that of the main
/// worktree, for all of them. The root of a bare repository is itself.
#[must_use]
pub fn git_root(start: &Path) -> Option<PathBuf> {
    start.ancestors().find_map(|dir| {
        let git = dir.join(".git");
        let about = std::fs::symlink_metadata(&git).ok()?;
        if about.is_file() {
            return Some(main_worktree(dir, &git).unwrap_or_else(|| dir.to_path_buf()));
        }
        // An empty folder of that name is no repository.
        git.join("HEAD").exists().then(|| dir.to_path_buf())
    })
}

/// Where a worktree's repository is, if it knows of the worktree too: a `.git`
/// file alone could name any repository, and so open its memories.
fn main_worktree(dir: &Path, git: &Path) -> Option<PathBuf> {
    let words = small_file(git)?;
    let own = dir.join(words.strip_prefix("gitdir:")?.trim());
    let back = own.join(small_file(&own.join("gitdir"))?.trim());
    if back.canonicalize().ok()? != git.canonicalize().ok()? {
        return None;
    }
    let common = own.join(small_file(&own.join("commondir"))?.trim()).canonicalize().ok()?;
    if !own.canonicalize().ok()?.starts_with(common.join("worktrees")) {
        return None;
    }
    match common.file_name() {
        Some(name) if name == ".git" => common.parent().map(Path::to_path_buf),
        _ => Some(common),
    }
}

fn small_file(path: &Path) -> Option<String> {
    let about = std::fs::metadata(path).ok()?;
    let fits = about.is_file() && about.len() <= GIT_FILE_BYTES;
    fits.then(|| std::fs::read_to_string(path).ok()).flatten()
}

#[cfg(test)]
mod tests;
