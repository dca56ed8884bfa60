//! The files of the repository, read once.
//!
//! Everything that git would take is here, whether it is committed yet or not;
//! what `.gitignore` names is not. Paths are relative to the root, with `/`.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files over this size are data: they exist, but their text is not looked at.
const TEXT_BYTES: u64 = 1024 * 1024;

/// The repository as the checks see it.
pub(crate) struct Tree {
    root: PathBuf,
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads everything under `root`.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut files = BTreeMap::new();
        let walk = ignore::WalkBuilder::new(root)
            .hidden(false)
            .parents(false)
            .require_git(false)
            .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != "target")
            .build();
        for entry in walk {
            let entry = entry.context("failed to walk the repository")?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let relative = entry.path().strip_prefix(root)?;
            let path = relative
                .components()
                .map(|part| part.as_os_str().to_string_lossy())
                .collect::<Vec<_>>()
                .join("/");
            files.insert(path, text_of(entry.path())?);
        }
        Ok(Self { root: root.to_owned(), files })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Every file as (path, text), in path order; the text of data is empty.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files with this extension.
    pub(crate) fn with_extension(&self, extension: &str) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(move |(path, _)| extension_of(path) == Some(extension))
    }

    /// The text of one file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether a file or a folder is there. The root is `""`.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(folder.clone()..)
                .next()
                .is_some_and(|(next, _)| next.starts_with(&folder))
    }

    /// The names of the folders directly under the root.
    pub(crate) fn top_folders(&self) -> impl Iterator<Item = &str> {
        self.files.keys().filter_map(|path| path.split_once('/').map(|(top, _)| top))
    }
}

fn text_of(path: &Path) -> Result<String> {
    let context = || format!("failed to read {}", path.display());
    if path.metadata().with_context(context)?.len() > TEXT_BYTES {
        return Ok(String::new());
    }
    let bytes = std::fs::read(path).with_context(context)?;
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

/// What stands after the last dot of a path's last part.
pub(crate) fn extension_of(path: &str) -> Option<&str> {
    Path::new(path).extension().and_then(|text| text.to_str())
}

/// The folder of a file; `""` for one at the root.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `relative` as seen from `folder`; none if it leaves the repository.
pub(crate) fn resolve(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// A tree for tests: the files are written to a temporary folder and read back.
#[cfg(test)]
pub(crate) fn sample(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let tree = Tree::read(folder.path()).unwrap();
    (folder, tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_files_are_not_seen_and_hidden_ones_are() {
        let (_folder, tree) = sample(&[
            (".gitignore", "/out\n"),
            (".ci/run", "true"),
            ("out/x.rs", ""),
            ("target/y.rs", ""),
            ("core/a.rs", "fn a() {}"),
        ]);
        let paths: Vec<&str> = tree.files().map(|(path, _)| path).collect();
        assert_eq!(paths, [".ci/run", ".gitignore", "core/a.rs"]);
        assert!(tree.exists("core") && tree.exists("core/") && tree.exists(".ci/run"));
        assert!(!tree.exists("cor") && !tree.exists("out"));
    }

    #[test]
    fn paths_are_resolved_from_a_folder_and_cannot_leave() {
        assert_eq!(resolve("docs/a", "../b.md").as_deref(), Some("docs/b.md"));
        assert_eq!(resolve("", "./x//y").as_deref(), Some("x/y"));
        assert_eq!(resolve("docs", "../../x"), None);
        assert_eq!(folder_of("docs/a/b.md"), "docs/a");
    }
}
