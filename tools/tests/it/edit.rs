//! Edit.

use crate::fakes::{Bench, wait};
use proptest::prelude::*;
use serde_json::{Value, json};

fn edit(old: &str, new: &str) -> Value {
    json!({"file_path": "a", "old_string": old, "new_string": new})
}

async fn opened(content: impl AsRef<[u8]>) -> Bench {
    let bench = Bench::new();
    bench.files.add("/proj/a", content);
    bench.ok("Read", json!({"file_path": "a"})).await;
    bench
}

#[tokio::test]
async fn q5_an_edit_shows_the_place_and_is_structured() {
    let bench = opened("1\n2\n3\n4\n5\n6\n7\n8\n9\n").await;
    let output = bench.call("Edit", edit("5\n", "five\nand a half\n")).await;
    assert_eq!(
        output.content,
        json!(
            "Updated /proj/a: 1 occurrence replaced. The place now:\n     \
            2\t2\n     3\t3\n     4\t4\n     5\tfive\n     6\tand a half\n     \
            7\t6\n     8\t7\n     9\t8"
        )
    );
    let value = output.structured.unwrap();
    assert_eq!(value["originalFile"], "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    assert_eq!(value["oldString"], "5\n");
    assert_eq!(value["userModified"], false);
    assert_eq!(value["replaceAll"], false);
    assert_eq!(value["structuredPatch"][0]["newLines"], 8);
    // The new version is known: the next edit needs no read.
    bench.ok("Edit", edit("five", "FIVE")).await;
}

#[tokio::test]
async fn q5_an_edit_needs_a_read_of_the_same_version() {
    let bench = Bench::new();
    bench.files.add("/proj/a", "x\n");
    let text = bench.error("Edit", edit("x", "y")).await;
    assert!(text.contains("has not been read yet"), "{text}");
    bench.ok("Read", json!({"file_path": "a"})).await;
    bench.files.add("/proj/a", "x\nmore\n");
    let text = bench.error("Edit", edit("x", "y")).await;
    assert!(text.contains("changed since it was read; read it again"), "{text}");
    assert_eq!(bench.files.get("/proj/a").unwrap(), b"x\nmore\n");
}

#[tokio::test]
async fn q5_the_text_must_be_there_once() {
    let bench = opened("aaa\n  b b\n").await;
    let text = bench.error("Edit", edit("aa", "x")).await;
    assert!(text.contains("occurs 2 times") && text.contains("replace_all"), "{text}");
    let text = bench.error("Edit", edit("b", "x")).await;
    assert!(text.contains("occurs 2 times"), "{text}");
    let text = bench.error("Edit", edit("     2\t  b b", "x")).await;
    assert!(text.contains("line numbers"), "{text}");
    let text = bench.error("Edit", edit("same", "same")).await;
    assert!(text.contains("are the same"), "{text}");
    let text = bench.error("Edit", edit("", "x")).await;
    assert!(text.contains("old_string is empty"), "{text}");
    assert_eq!(bench.files.get("/proj/a").unwrap(), b"aaa\n  b b\n");
}

#[tokio::test]
async fn q5_replace_all_replaces_and_counts_all() {
    let bench = opened("a a\na\n").await;
    let mut input = edit("a", "b");
    input["replace_all"] = json!("true");
    let text = bench.ok("Edit", input).await;
    assert!(text.contains("3 occurrences replaced. The first place now"), "{text}");
    assert_eq!(bench.files.get("/proj/a").unwrap(), b"b b\nb\n");
}

#[tokio::test]
async fn q5_windows_line_endings_and_the_mark_are_kept() {
    let bench = opened("\u{feff}one\r\ntwo\r\nthree\r\n").await;
    bench.ok("Edit", edit("one\ntwo", "1\n2\n2.5")).await;
    let expected = "\u{feff}1\r\n2\r\n2.5\r\nthree\r\n";
    assert_eq!(bench.files.get("/proj/a").unwrap(), expected.as_bytes());
    // A text without a line end in it gets the file's endings too.
    bench.ok("Edit", edit("three", "3\n4")).await;
    let expected = "\u{feff}1\r\n2\r\n2.5\r\n3\r\n4\r\n";
    assert_eq!(bench.files.get("/proj/a").unwrap(), expected.as_bytes());
    // Who names the ending means it.
    bench.ok("Edit", edit("3\r\n4", "3\n4")).await;
    let expected = "\u{feff}1\r\n2\r\n2.5\r\n3\n4\r\n";
    assert_eq!(bench.files.get("/proj/a").unwrap(), expected.as_bytes());
    // With both endings in a file, each is found.
    bench.ok("Edit", edit("3\n4", "x\ny")).await;
    bench.ok("Edit", edit("1\n2\n", "z\n")).await;
    let expected = "\u{feff}z\r\n2.5\r\nx\ny\r\n";
    assert_eq!(bench.files.get("/proj/a").unwrap(), expected.as_bytes());
}

#[tokio::test]
async fn q5_an_empty_text_creates_a_missing_file_or_fills_an_empty_one() {
    let bench = Bench::new();
    let value = bench.structured("Edit", edit("", "new\n")).await;
    assert_eq!(bench.files.get("/proj/a").unwrap(), b"new\n");
    assert_eq!(value["originalFile"], "");
    assert_eq!(value["structuredPatch"][0]["lines"], json!(["+new"]));
    let bench = opened("").await;
    bench.ok("Edit", edit("", "filled\n")).await;
    assert_eq!(bench.files.get("/proj/a").unwrap(), b"filled\n");
    let text = Bench::new().error("Edit", edit("x", "y")).await;
    assert!(text.contains("/proj/a does not exist"), "{text}");
}

#[tokio::test]
async fn q5_everything_can_be_deleted() {
    let bench = opened("only\n").await;
    let text = bench.ok("Edit", edit("only\n", "")).await;
    assert!(text.ends_with("(the file is empty)"), "{text}");
}

#[tokio::test]
async fn s6_a_file_that_is_not_utf8_is_left_alone() {
    let bench = opened(b"caf\xe9 x\n").await;
    let text = bench.error("Edit", edit("x", "y")).await;
    assert!(text.contains("not UTF-8"), "{text}");
    assert_eq!(bench.files.get("/proj/a").unwrap(), b"caf\xe9 x\n");
}

proptest! {
    #[test]
    fn q5_replace_all_equals_replacing_in_the_text(
        text in "[abé\n]{1,60}",
        old in "[abé\n]{1,3}",
        new in "[abcé\n]{0,4}",
    ) {
        prop_assume!(old != new);
        let bench = wait(opened(&text));
        let mut input = edit(&old, &new);
        input["replace_all"] = json!(true);
        let output = wait(bench.call("Edit", input));
        prop_assert_eq!(output.is_error(), !text.contains(&old));
        let expected = text.replace(&old, &new);
        prop_assert_eq!(bench.files.get("/proj/a").unwrap(), expected.into_bytes());
    }
}
