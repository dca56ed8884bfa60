//! Glob and Grep.

use crate::fakes::Bench;
use everfold_kernel::Limits;
use everfold_kernel::ports::{GlobFound, GrepFound, GrepMode, SearchError};
use serde_json::{Value, json};

#[tokio::test]
async fn q5_glob_lists_paths_and_says_when_there_are_more() {
    let bench = Bench::new();
    let found = GlobFound { paths: vec!["/proj/b".into(), "/proj/a".into()], total: 5, barred: 0 };
    *bench.search.glob_found.lock().unwrap() = found;
    let output = bench.call("Glob", json!({"pattern": "**/*", "path": "src"})).await;
    let text = output.content.as_str().unwrap();
    assert!(text.starts_with("/proj/b\n/proj/a\n"), "{text}");
    assert!(text.ends_with("[2 of 5 files. Narrow the pattern to see the others.]"), "{text}");
    let value: Value = output.structured.unwrap();
    assert_eq!(value["numFiles"], 2);
    assert_eq!(value["truncated"], true);
    assert_eq!(value["filenames"], json!(["/proj/b", "/proj/a"]));
    assert_eq!(value["durationMs"], 1);
    let queries = bench.search.globs.lock().unwrap();
    assert_eq!(queries[0].root.to_str(), Some("/proj/src"));
    assert_eq!(queries[0].limit, Limits::default().glob_paths);
}

#[tokio::test]
async fn q5_glob_says_when_nothing_is_found() {
    let bench = Bench::new();
    let text = bench.ok("Glob", json!({"pattern": "*.zig", "path": null})).await;
    assert_eq!(text, "No files match *.zig in /proj.");
    let error = SearchError::NotFound { root: "/proj/nowhere".into() };
    *bench.search.failure.lock().unwrap() = Some(error);
    let text = bench.error("Glob", json!({"pattern": "*", "path": "nowhere"})).await;
    assert_eq!(text, "/proj/nowhere does not exist");
}

#[tokio::test]
async fn s2_a_pattern_cannot_lead_out_of_the_directory() {
    let bench = Bench::new();
    for pattern in ["../*", "a/../../b", "/proj/*/../../etc/*"] {
        let text = bench.error("Glob", json!({"pattern": pattern})).await;
        assert!(text.contains("\"path\""), "{text}");
    }
    assert!(bench.search.globs.lock().unwrap().is_empty());
}

#[tokio::test]
async fn q5_grep_passes_its_fields_on() {
    let bench = Bench::new();
    let input = json!({"pattern": "a b", "path": "/extra", "glob": "*.rs", "type": "rust",
        "output_mode": "content", "-i": true, "-n": true, "-A": "1", "-C": 3, "head_limit": 7,
        "unknown": []});
    bench.ok("Grep", input).await;
    bench.ok("Grep", json!({"pattern": "x", "glob": ""})).await;
    let queries = bench.search.greps.lock().unwrap();
    let query = &queries[0];
    assert_eq!(query.pattern, "a b");
    assert_eq!(query.root.to_str(), Some("/extra"));
    assert_eq!(query.glob.as_deref(), Some("*.rs"));
    assert_eq!(query.file_type.as_deref(), Some("rust"));
    assert_eq!(query.mode, GrepMode::Content);
    assert!(query.case_insensitive);
    assert_eq!((query.before, query.after, query.limit), (3, 1, 7));
    let query = &queries[1];
    assert_eq!((query.mode, query.limit), (GrepMode::Files, Limits::default().grep_lines));
    assert_eq!(query.glob, None);
}

#[tokio::test]
async fn q5_grep_gives_lines_paths_or_counts() {
    let bench = Bench::with_limits(Limits { read_line_chars: 12, ..Limits::default() });
    let lines = vec!["a.rs:1:hello".to_owned(), "b.rs:2:hello world".to_owned()];
    let found = GrepFound { lines, files: 2, truncated: true, skipped: 1, barred: 0 };
    *bench.search.grep_found.lock().unwrap() = found;
    let output = bench.call("Grep", json!({"pattern": "h", "output_mode": "content"})).await;
    let text = output.content.as_str().unwrap();
    assert!(text.starts_with("a.rs:1:hello\nb.rs:2:hello… [6 more characters]"), "{text}");
    assert!(text.contains("more than these 2 lines"), "{text}");
    assert!(text.contains("1 file passed over"), "{text}");
    let value = output.structured.unwrap();
    assert_eq!(value["mode"], "content");
    assert_eq!((&value["numFiles"], &value["numLines"]), (&json!(2), &json!(2)));
    let value = bench.structured("Grep", json!({"pattern": "h"})).await;
    assert_eq!(value["mode"], "files_with_matches");
    assert_eq!(value["filenames"].as_array().unwrap().len(), 2);
    let value = bench.structured("Grep", json!({"pattern": "h", "output_mode": "count"})).await;
    assert_eq!(value["mode"], "count");
    assert!(value["content"].is_string());
}

#[tokio::test]
async fn q5_grep_says_when_nothing_is_found_or_understood() {
    let bench = Bench::new();
    let text = bench.ok("Grep", json!({"pattern": "x", "glob": "*.rs"})).await;
    assert_eq!(text, "No matches for \"x\" in /proj, files *.rs.");
    let text = bench.error("Grep", json!({"pattern": "x", "output_mode": "lines"})).await;
    assert!(text.contains("content, files_with_matches or count"), "{text}");
    let text = bench.error("Grep", json!({"pattern": "x", "-A": "many"})).await;
    assert!(text.contains("\"-A\" (a whole number"), "{text}");
    let error = SearchError::Pattern { pattern: "(".into(), message: "unclosed group".into() };
    *bench.search.failure.lock().unwrap() = Some(error);
    let text = bench.error("Grep", json!({"pattern": "("})).await;
    assert!(text.contains("unclosed group"), "{text}");
}
