use super::{block_on, short, tree};
use everfold_kernel::ports::{GrepFound, GrepMode, GrepQuery, PathGuard, Search, SearchError};
use everfold_search::TreeSearch;
use std::fs;
use std::path::Path;

fn query(root: &Path, pattern: &str, mode: GrepMode) -> GrepQuery {
    GrepQuery {
        pattern: pattern.to_owned(),
        root: root.to_path_buf(),
        glob: None,
        file_type: None,
        mode,
        case_insensitive: false,
        before: 0,
        after: 0,
        limit: 100,
        max_file_bytes: 1 << 20,
        guard: PathGuard::default(),
    }
}

fn grep(query: GrepQuery) -> GrepFound {
    block_on(TreeSearch.grep(query)).unwrap()
}

#[test]
fn q5_lines_come_with_path_and_number_in_path_order() {
    let (_dir, root) = tree(&[
        ("b.txt", "one\nneedle two\r\nthree\n"),
        ("a/z.txt", "needle"),
        (".env", "needle"),
        (".git/config", "needle"),
    ]);
    let found = grep(query(&root, "needle", GrepMode::Content));
    let lines = short(&root, &found.lines);
    assert_eq!(lines, [".env:1:needle", "a/z.txt:1:needle", "b.txt:2:needle two"]);
    assert_eq!((found.files, found.truncated, found.skipped), (3, false, 0));
    assert!(Path::new(&found.lines[0]).is_absolute());
    let found = grep(query(&root, "needle", GrepMode::Files));
    assert_eq!(short(&root, &found.lines), [".env", "a/z.txt", "b.txt"]);
    let found = grep(query(&root, "e", GrepMode::Count));
    assert_eq!(short(&root, &found.lines), [".env:1", "a/z.txt:1", "b.txt:3"]);
    let found = grep(query(&root, "two$", GrepMode::Count));
    assert_eq!(found.files, 1, "the end of a line is before its \\r\\n");
}

#[test]
fn q5_context_is_marked_and_groups_are_apart() {
    let (_dir, root) = tree(&[("a", "1\nx\n3\n4\n5\n6\nx\n8\n"), ("b", "x\n")]);
    let mut near = query(&root, "x", GrepMode::Content);
    (near.before, near.after) = (1, 1);
    let found = grep(near.clone());
    let lines = short(&root, &found.lines);
    let want = ["a-1-1", "a:2:x", "a-3-3", "--", "a-6-6", "a:7:x", "a-8-8", "--", "b:1:x"];
    assert_eq!(lines, want);
    near.limit = 4;
    let found = grep(near);
    assert_eq!(short(&root, &found.lines), ["a-1-1", "a:2:x", "a-3-3"]);
    assert!(found.truncated);
}

#[test]
fn q5_filters_narrow_the_search() {
    let (_dir, root) = tree(&[
        (".gitignore", "ignored.rs\n"),
        ("src/a.rs", "X"),
        ("src/b.ts", "X"),
        ("ignored.rs", "X"),
    ]);
    let mut files = query(&root, "x", GrepMode::Files);
    assert!(grep(files.clone()).lines.is_empty());
    files.case_insensitive = true;
    files.glob = Some("*.{rs,md}".to_owned());
    assert_eq!(short(&root, &grep(files.clone()).lines), ["src/a.rs"]);
    files.glob = Some("!*.rs".to_owned());
    assert_eq!(short(&root, &grep(files.clone()).lines), ["src/b.ts"]);
    files.glob = None;
    files.file_type = Some("rust".to_owned());
    assert_eq!(short(&root, &grep(files.clone()).lines), ["src/a.rs"]);
    files.file_type = Some("klingon".to_owned());
    let error = block_on(TreeSearch.grep(files)).unwrap_err();
    assert!(matches!(error, SearchError::FileType { .. }), "{error}");
}

#[test]
fn q5_limits_are_kept_and_said() {
    let (_dir, root) = tree(&[("a", "x\nx\nx\n"), ("b", "x\n"), ("c", "x\n")]);
    for (mode, limit, lines, truncated) in [
        (GrepMode::Content, 2, 2, true),
        (GrepMode::Content, 3, 3, true),
        (GrepMode::Content, 5, 5, false),
        (GrepMode::Files, 2, 2, true),
        (GrepMode::Files, 3, 3, false),
        (GrepMode::Count, 1, 1, true),
    ] {
        let mut few = query(&root, "x", mode);
        few.limit = limit;
        let found = grep(few);
        assert_eq!((found.lines.len(), found.truncated), (lines, truncated), "{mode:?} {limit}");
    }
}

#[test]
fn s6_binaries_large_files_and_bad_bytes() {
    let (_dir, root) = tree(&[("big", &"x\n".repeat(1000)), ("text", "x\n")]);
    fs::write(root.join("binary"), b"x\nx\n\0\0x\n").unwrap();
    fs::write(root.join("latin"), b"x \xe4\n").unwrap();
    let mut small = query(&root, "x", GrepMode::Content);
    small.max_file_bytes = 100;
    let found = grep(small);
    assert_eq!(short(&root, &found.lines), ["latin:1:x \u{fffd}", "text:1:x"]);
    assert_eq!((found.files, found.skipped), (2, 1));
}

#[test]
fn q5_a_single_file_is_searched() {
    let (_dir, root) = tree(&[(".gitignore", "*"), ("f.txt", "a\nneedle\n")]);
    let mut one = query(&root.join("f.txt"), "needle", GrepMode::Content);
    one.file_type = Some("rust".to_owned());
    assert_eq!(short(&root, &grep(one).lines), ["f.txt:2:needle"]);
}

#[test]
fn s6_bad_expressions_and_roots_are_said() {
    let (_dir, root) = tree(&[]);
    for pattern in ["a(", "*", "a\\nb"] {
        let error = block_on(TreeSearch.grep(query(&root, pattern, GrepMode::Files))).unwrap_err();
        assert!(matches!(error, SearchError::Pattern { .. }), "{error}");
    }
    let mut bad = query(&root, "a", GrepMode::Files);
    bad.glob = Some("[".to_owned());
    let error = block_on(TreeSearch.grep(bad)).unwrap_err();
    assert!(matches!(error, SearchError::Pattern { .. }), "{error}");
    let gone = query(&root.join("gone"), "a", GrepMode::Files);
    let error = block_on(TreeSearch.grep(gone)).unwrap_err();
    assert!(matches!(error, SearchError::NotFound { .. }), "{error}");
    #[cfg(target_os = "linux")]
    {
        let device = query(Path::new("/dev/zero"), "a", GrepMode::Files);
        assert_eq!(grep(device).skipped, 1);
    }
}

#[test]
fn a_search_nobody_waits_for_ends() {
    let (_dir, root) = tree(&[("a", "x\n"), ("b", "x\n")]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // Polled once, so that its thread starts, and dropped.
    runtime.block_on(async {
        let mut search = TreeSearch.grep(query(&root, "x", GrepMode::Files));
        std::future::poll_fn(|context| {
            let _ = search.as_mut().poll(context);
            std::task::Poll::Ready(())
        })
        .await;
    });
    // This waits for the thread, and would hang if it went on for ever.
    drop(runtime);
}
