//! What ignore files leave out, and that no repository breaks a search by them.

use super::{block_on, tree};
use everfold_kernel::ports::{GlobQuery, PathGuard, Search};
use everfold_search::TreeSearch;
use ignore::WalkBuilder;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn names(root: &Path) -> Vec<PathBuf> {
    let found = block_on(TreeSearch.glob(GlobQuery {
        pattern: "**/*.txt".to_owned(),
        root: root.to_path_buf(),
        limit: 10_000,
        guard: PathGuard::default(),
    }));
    let mut names = found.unwrap().paths;
    names.sort();
    names
}

/// The same by the walk of the crate that reads ignore files itself.
fn expected(root: &Path) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(root).hidden(false).require_git(false).build();
    let files = walk.flatten().filter(|entry| entry.file_type().unwrap().is_file());
    let mut names: Vec<PathBuf> = files
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .filter(|path| !path.components().any(|part| part.as_os_str() == ".git"))
        .collect();
    names.sort();
    names
}

#[cfg(unix)]
#[test]
fn s14_ignore_files_that_never_end_are_passed_over() {
    for name in [".gitignore", ".ignore", ".git/info/exclude"] {
        for place in ["", "sub/"] {
            let (_dir, root) = tree(&[("a.txt", "x"), ("sub/b.txt", "x"), ("patterns", "*.txt")]);
            let file = root.join(format!("{place}{name}"));
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let all = [root.join("a.txt"), root.join("sub/b.txt")];
            // A device, a pipe that nobody writes to, and a link, which git does
            // not follow either.
            std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
            assert_eq!(names(&root), all, "{place}{name}");
            fs::remove_file(&file).unwrap();
            assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
            assert_eq!(names(&root), all, "{place}{name}");
            fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink(root.join("patterns"), &file).unwrap();
            assert_eq!(names(&root), all, "{place}{name}");
            fs::remove_file(&file).unwrap();
            fs::write(&file, "*.txt\n".repeat(100_000)).unwrap();
            assert_eq!(names(&root), all, "{place}{name}");
            fs::write(&file, "*.txt\n").unwrap();
            assert!(names(&root).len() < 2, "{place}{name}");
        }
    }
}

#[test]
fn q5_a_repository_within_another_has_its_own_ignore_files() {
    let (_dir, root) = tree(&[
        (".gitignore", "a.txt\n"),
        (".ignore", "c.txt\n"),
        ("a.txt", ""),
        ("inner/.git", "gitdir: elsewhere\n"),
        ("inner/.gitignore", "b.txt\n"),
        ("inner/a.txt", ""),
        ("inner/b.txt", ""),
        ("inner/c.txt", ""),
    ]);
    assert_eq!(names(&root), [root.join("inner/a.txt")]);
    assert_eq!(names(&root.join("inner")), [root.join("inner/a.txt")]);
}

fn pattern() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "*",
        "!*",
        "a",
        "/a",
        "a/",
        "!a",
        "!a/",
        "b.txt",
        "/b.txt",
        "!b.txt",
        "*.txt",
        "!*.txt",
        "a/b.txt",
        "a/**",
        "**/b.txt",
        "!c/a",
        "c*",
        "# no pattern",
        "",
        "[",
        "\\!a",
        "a/c/",
    ])
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn q5_the_same_files_are_left_out_as_by_the_crate(
        rules in prop::collection::vec(
            (
                prop::sample::select(vec!["", "a/", "a/c/", "c/"]),
                prop::sample::select(vec![".gitignore", ".ignore", ".git/info/exclude"]),
                prop::collection::vec(pattern(), 1..4),
            ),
            0..6,
        ),
        start in prop::sample::select(vec!["", "a", "c"]),
    ) {
        let names_of = ["a.txt", "b.txt", "a/a", "a/b.txt", "a/c/b.txt", "a/c/a/d.txt", "c/a/b.txt", "c/b.txt"];
        let mut files: Vec<(String, String)> =
            names_of.iter().map(|name| ((*name).to_owned(), String::new())).collect();
        for (dir, name, patterns) in rules {
            // Repositories within others: below.
            let dir = if name.starts_with(".git/") { "" } else { dir };
            files.push((format!("{dir}{name}"), patterns.join("\n")));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
        let (_dir, root) = tree(&files);
        let start = root.join(start);
        prop_assert_eq!(names(&start), expected(&start));
    }
}
