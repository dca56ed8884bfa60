//! What instruction files pull in.

use crate::tree::{Tree, fate, paths};
use everfold_rules::FileFate;
use proptest::prelude::*;

#[test]
fn i3_imports_are_relative_to_their_file_or_to_home_or_absolute() {
    let tree = Tree::new(&[
        ("/home/a/.claude/CLAUDE.md", "@~/notes.md @/opt/shared.md @more.md"),
        ("/home/a/notes.md", "notes"),
        ("/opt/shared.md", "shared"),
        ("/home/a/.claude/more.md", "more"),
        ("/w/p/CLAUDE.md", "@docs/a.md"),
        ("/w/p/docs/a.md", "@b.md @../c.md"),
        ("/w/p/docs/b.md", "b"),
        ("/w/p/c.md", "c"),
    ]);
    assert_eq!(
        paths(&tree.start()),
        [
            "/home/a/notes.md",
            "/opt/shared.md",
            "/home/a/.claude/more.md",
            "/home/a/.claude/CLAUDE.md",
            "/w/p/docs/b.md",
            "/w/p/c.md",
            "/w/p/docs/a.md",
            "/w/p/CLAUDE.md",
        ]
    );
}

#[test]
fn i3_a_missing_file_stays_as_text() {
    let start = Tree::new(&[("/w/p/CLAUDE.md", "ask @priya or see @gone.md.")]).start();
    assert_eq!(start.texts[0].text, "ask @priya or see @gone.md.");
    assert_eq!(fate(&start, "/w/p/gone.md"), Some(&FileFate::Missing));
}

#[test]
fn i3_five_hops_and_no_more() {
    let names: Vec<(String, String)> =
        (1..8).map(|at| (format!("/w/p/{at}.md"), format!("text {at} @{}.md", at + 1))).collect();
    let mut files: Vec<(&str, &str)> =
        names.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("/w/p/CLAUDE.md", "@1.md"));
    let start = Tree::new(&files).start();
    assert_eq!(start.texts.len(), 6);
    assert_eq!(fate(&start, "/w/p/5.md"), Some(&FileFate::Loaded));
    assert_eq!(fate(&start, "/w/p/6.md"), Some(&FileFate::TooDeep));
}

#[test]
fn i3_only_text_is_imported_and_cycles_end() {
    let tree = Tree::new(&[
        ("/w/p/CLAUDE.md", "@a.md @logo.png"),
        ("/w/p/a.md", "@CLAUDE.md @a.md @b.md"),
        ("/w/p/b.md", "@a.md"),
    ])
    .with_bytes("/w/p/logo.png", vec![0x89, b'P', 0, 1]);
    let start = tree.start();
    assert_eq!(paths(&start), ["/w/p/b.md", "/w/p/a.md", "/w/p/CLAUDE.md"]);
    assert_eq!(fate(&start, "/w/p/logo.png"), Some(&FileFate::NotText));
}

#[test]
fn i5_imports_that_leave_the_repository_need_approval() {
    let mut tree = Tree::new(&[
        ("/w/p/CLAUDE.md", "@../secret.md @~/key.md @inside.md"),
        ("/w/secret.md", "secret"),
        ("/home/a/key.md", "key"),
        ("/elsewhere/x.md", "by link"),
        ("/w/CLAUDE.md", "@/home/a/key.md @beside.md"),
        ("/w/beside.md", "beside"),
    ])
    .with_link("/w/p/inside.md", "/elsewhere/x.md");
    let start = tree.start();
    assert_eq!(paths(&start), ["/w/beside.md", "/w/CLAUDE.md", "/w/p/CLAUDE.md"]);
    let needs = |path: &str| FileFate::NeedsApproval { real: path.into() };
    for (path, real) in [
        ("/w/secret.md", "/w/secret.md"),
        ("/w/p/inside.md", "/elsewhere/x.md"),
        ("/home/a/key.md", "/home/a/key.md"),
    ] {
        assert_eq!(fate(&start, path), Some(&needs(real)), "{path}");
    }
    tree.approved = ["/w/secret.md".into(), "/elsewhere/x.md".into()].into();
    assert_eq!(tree.start().texts.len(), 5);
}

#[test]
fn s9_a_link_that_leaves_the_tree_counts_as_an_import_that_does() {
    for link in [
        "/w/p/CLAUDE.md",
        "/w/p/.claude/CLAUDE.md",
        "/w/p/AGENTS.md",
        "/w/p/CLAUDE.local.md",
        "/w/p/.claude/rules/a.md",
        "/w/p/.claude/rules/deep/b.md",
        "/w/CLAUDE.md",
    ] {
        let mut tree =
            Tree::new(&[("/home/a/.ssh/id_rsa", "key")]).with_link(link, "/home/a/.ssh/id_rsa");
        let start = tree.start();
        assert!(start.texts.is_empty(), "{link}");
        let needs = FileFate::NeedsApproval { real: "/home/a/.ssh/id_rsa".into() };
        assert_eq!(fate(&start, link), Some(&needs), "{link}");
        tree.approved = ["/home/a/.ssh".into()].into();
        assert_eq!(paths(&tree.start()), [link], "approved by the folder");
    }
    let tree =
        Tree::new(&[("/w/p/docs/x.md", "inside")]).with_link("/w/p/CLAUDE.md", "/w/p/docs/x.md");
    assert_eq!(paths(&tree.start()), ["/w/p/CLAUDE.md"], "a link inside the tree is fine");
}

#[test]
fn i3_a_chain_takes_a_bounded_number_of_imports() {
    let text: Vec<String> = (0..50).map(|at| format!("@{at}.md")).collect();
    let mut tree = Tree::new(&[("/w/p/CLAUDE.md", &text.join(" ")), ("/w/p/3.md", "three")]);
    tree.limits.rules.import_files = 10;
    let start = tree.start();
    assert_eq!(paths(&start), ["/w/p/3.md", "/w/p/CLAUDE.md"]);
    assert_eq!(fate(&start, "/w/p/9.md"), Some(&FileFate::Missing));
    assert_eq!(fate(&start, "/w/p/10.md"), Some(&FileFate::TooDeep));
    assert_eq!(start.rows.len(), 12);
}

proptest! {
    #[test]
    fn i3_any_graph_of_imports_ends_and_loads_each_file_once(
        edges in prop::collection::vec(prop::collection::vec(0_usize..12, 0..6), 12),
    ) {
        let files: Vec<(String, String)> = edges
            .iter()
            .enumerate()
            .map(|(at, to)| {
                let text: Vec<String> = to.iter().map(|to| format!("@{to}.md")).collect();
                (format!("/w/p/{at}.md"), format!("file {at} {}", text.join(" ")))
            })
            .collect();
        let mut all: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        all.push(("/w/p/CLAUDE.md", "@0.md @5.md"));
        let tree = Tree::new(&all);
        let start = tree.start();
        let mut once = paths(&start);
        once.sort();
        once.dedup();
        prop_assert_eq!(once.len(), start.texts.len());
        prop_assert_eq!(&tree.start().texts, &start.texts);
    }

    #[test]
    fn i3_nothing_in_a_fence_or_a_span_is_imported(word in "[a-z]{1,8}") {
        let text = format!("`@{word}.md`\n\n```\n@{word}.md\n```\n\n~~~~\n@{word}.md\n~~~\n@{word}.md\n~~~~\n");
        let path = format!("/w/p/{word}.md");
        let tree = Tree::new(&[("/w/p/CLAUDE.md", &text), (&path, "imported")]);
        prop_assert_eq!(paths(&tree.start()), ["/w/p/CLAUDE.md"]);
    }
}
