use super::{block_on, tree};
use everfold_kernel::ports::{GlobFound, GlobQuery, PathGuard, Search, SearchError};
use everfold_search::TreeSearch;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn glob(root: &Path, pattern: &str) -> Result<GlobFound, SearchError> {
    block_on(TreeSearch.glob(GlobQuery {
        pattern: pattern.to_owned(),
        root: root.to_path_buf(),
        limit: 100,
        guard: PathGuard::default(),
    }))
}

fn names(root: &Path, pattern: &str) -> Vec<String> {
    let found = glob(root, pattern).unwrap();
    let inside = |path: &std::path::PathBuf| path.strip_prefix(root).unwrap().display().to_string();
    let mut names: Vec<_> = found.paths.iter().map(inside).collect();
    names.sort();
    names
}

#[test]
fn q5_globs_match_paths() {
    let (_dir, root) = tree(&[
        ("a.rs", ""),
        ("src/b.rs", ""),
        ("src/deep/c.rs", ""),
        ("src/d.ts", ""),
        (".hidden/e.rs", ""),
        (".git/f.rs", ""),
    ]);
    assert_eq!(names(&root, "*.rs"), ["a.rs"]);
    let all = [".hidden/e.rs", "a.rs", "src/b.rs", "src/deep/c.rs"];
    assert_eq!(names(&root, "**/*.rs"), all);
    assert_eq!(names(&root, "src/*.{rs,ts}"), ["src/b.rs", "src/d.ts"]);
    assert_eq!(names(&root, "src/**"), ["src/b.rs", "src/d.ts", "src/deep/c.rs"]);
    assert_eq!(names(&root, "./a.rs"), ["a.rs"]);
    let absolute = format!("{}/src/*.rs", root.display());
    assert_eq!(names(&root, &absolute), ["src/b.rs"]);
    let from_below = glob(&root.join("src"), "../*.rs").unwrap();
    assert_eq!(from_below.paths, [root.join("a.rs")]);
}

#[test]
fn q5_ignore_files_are_honoured_without_git() {
    let (_dir, root) = tree(&[
        (".gitignore", "target/\n*.log\n"),
        ("sub/.ignore", "secret.txt\n"),
        ("target/x.txt", ""),
        ("a.log", ""),
        ("sub/secret.txt", ""),
        ("sub/open.txt", ""),
    ]);
    assert_eq!(names(&root, "**/*.txt"), ["sub/open.txt"]);
    assert!(names(&root, "target/*.txt").is_empty());
    assert!(names(&root, "*.log").is_empty());
    // Who names an ignored directory as the root means it.
    assert_eq!(names(&root.join("target"), "*.txt"), ["x.txt"]);
}

#[test]
fn q5_the_newest_come_first_then_by_path() {
    let (_dir, root) = tree(&[("a", ""), ("b", ""), ("c", ""), ("d", "")]);
    for (name, day) in [("a", 1), ("b", 3), ("c", 2), ("d", 3)] {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * day);
        let file = fs::OpenOptions::new().write(true).open(root.join(name)).unwrap();
        file.set_modified(time).unwrap();
    }
    let found = glob(&root, "*").unwrap();
    assert_eq!(found.paths, ["b", "d", "c", "a"].map(|name| root.join(name)));
    let few = block_on(TreeSearch.glob(GlobQuery {
        pattern: "*".to_owned(),
        root: root.clone(),
        limit: 2,
        guard: PathGuard::default(),
    }))
    .unwrap();
    assert_eq!((few.paths.len(), few.total), (2, 4));
}

#[test]
fn s6_bad_patterns_and_roots_are_said() {
    let (_dir, root) = tree(&[]);
    let error = glob(&root, "a[").unwrap_err();
    assert!(matches!(error, SearchError::Pattern { .. }), "{error}");
    let error = glob(&root.join("none"), "*").unwrap_err();
    assert!(matches!(error, SearchError::NotFound { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn s6_a_loop_of_links_is_not_followed() {
    let (_dir, root) = tree(&[("a/f.txt", "x")]);
    std::os::unix::fs::symlink("..", root.join("a/up")).unwrap();
    assert_eq!(names(&root, "**/*.txt"), ["a/f.txt"]);
    let link = root.join("link");
    std::os::unix::fs::symlink("a", &link).unwrap();
    assert_eq!(glob(&link, "*.txt").unwrap().paths, [link.join("f.txt")]);
}
