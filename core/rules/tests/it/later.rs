//! What loads when the model touches a file.

use crate::tree::{Tree, fate, paths};
use everfold_rules::{FileFate, InstructionCandidate, Lazy, Reason, Touch};
use std::path::Path;

fn tree() -> Tree {
    Tree::new(&[
        ("/w/p/CLAUDE.md", "project"),
        ("/w/p/.claude/rules/ts.md", "---\npaths: **/*.{ts,tsx}\n---\nno any"),
        ("/w/p/.claude/rules/docs.md", "---\npaths:\n  - \"*.md\"\n  - \"[\"\n---\nwrap @style.md"),
        ("/w/p/.claude/rules/style.md", "---\npaths: never/**\n---\nstyle"),
        ("/w/p/api/CLAUDE.md", "api"),
        ("/w/p/api/v1/AGENTS.md", "v1"),
        ("/w/p/api/.claude/rules/sql.md", "---\npaths: db/*.sql\n---\nno joins"),
    ])
}

fn due(lazy: &mut Lazy, path: &str, touch: Touch) -> Vec<InstructionCandidate> {
    lazy.touch(Path::new(path), touch)
}

#[test]
fn i2_rules_with_paths_wait_for_a_matching_file() {
    let tree = tree();
    let start = tree.start();
    assert_eq!(paths(&start), ["/w/p/CLAUDE.md"]);
    let refused_patterns = vec!["[".to_owned()];
    assert_eq!(
        fate(&start, "/w/p/.claude/rules/docs.md"),
        Some(&FileFate::Waiting { refused_patterns })
    );
    let mut lazy = Lazy::new("/w/p".into(), "/w/p".into(), &start);
    assert!(due(&mut lazy, "/w/p/docs/README.md", Touch::Write).is_empty());
    assert!(due(&mut lazy, "/q/x.ts", Touch::Write).is_empty());
    let candidates = due(&mut lazy, "/w/p/src/x.ts", Touch::Write);
    let loaded = tree.load(candidates, lazy.loaded().clone());
    assert_eq!(loaded.texts[0].text, "no any");
    let glob = "**/*.{ts,tsx}".to_owned();
    assert_eq!(loaded.texts[0].reason, Reason::PathMatch { glob });
    assert!(
        due(&mut lazy, "/w/p/src/y.ts", Touch::Read).iter().all(|due| due.reason == Reason::Nested)
    );
}

#[test]
fn i2_an_import_of_a_rule_comes_with_it() {
    let tree = tree();
    let mut lazy = Lazy::new("/w/p".into(), "/w/p".into(), &tree.start());
    let candidates = due(&mut lazy, "/w/p/README.md", Touch::Write);
    let loaded = tree.load(candidates, lazy.loaded().clone());
    assert_eq!(paths(&loaded), ["/w/p/.claude/rules/style.md", "/w/p/.claude/rules/docs.md"]);
    assert_eq!(loaded.texts[0].text, "style");
}

#[test]
fn i2_files_of_a_subdirectory_load_once_when_one_in_it_is_read() {
    let tree = tree();
    let mut lazy = Lazy::new("/w/p".into(), "/w/p".into(), &tree.start());
    assert!(due(&mut lazy, "/w/p/api/v1/a.rs", Touch::Write).is_empty());
    assert!(due(&mut lazy, "/w/other/a.rs", Touch::Read).is_empty());
    assert!(due(&mut lazy, "/w/p/a.rs", Touch::Read).is_empty());
    let candidates = due(&mut lazy, "/w/p/api/v1/a.rs", Touch::Read);
    let loaded = tree.load(candidates, lazy.loaded().clone());
    assert_eq!(paths(&loaded), ["/w/p/api/CLAUDE.md", "/w/p/api/v1/AGENTS.md"]);
    assert_eq!(loaded.texts[0].reason, Reason::Nested);
    assert!(due(&mut lazy, "/w/p/api/v1/b.rs", Touch::Read).is_empty());
    lazy.absorb(&loaded);
    let sql = due(&mut lazy, "/w/p/api/db/x.sql", Touch::Write);
    assert_eq!(sql.len(), 1);
    assert!(sql[0].path.ends_with("sql.md"));
}
