//! Write.

use crate::fakes::Bench;
use serde_json::{Value, json};

#[tokio::test]
async fn q5_a_new_file_needs_no_read() {
    let bench = Bench::new();
    let output = bench.call("Write", json!({"file_path": "n/a", "content": "1\n2\n"})).await;
    assert_eq!(output.content, json!("Created /proj/n/a with 2 lines."));
    assert_eq!(
        output.structured.unwrap(),
        json!({"type": "create", "filePath": "/proj/n/a", "content": "1\n2\n",
            "originalFile": null, "structuredPatch": []})
    );
    // What was written is known: it can be written again.
    bench.ok("Write", json!({"file_path": "n/a", "content": ""})).await;
    assert_eq!(bench.files.get("/proj/n/a").unwrap(), b"");
}

#[tokio::test]
async fn q5_an_existing_file_must_have_been_read() {
    let bench = Bench::new();
    bench.files.add("/proj/a", "old\n");
    let input = json!({"file_path": "a", "content": "new\n"});
    let text = bench.error("Write", input.clone()).await;
    assert_eq!(text, "/proj/a has not been read yet; read it first, then change it");
    bench.ok("Read", json!({"file_path": "a"})).await;
    bench.files.add("/proj/a", "theirs\n");
    let text = bench.error("Write", input.clone()).await;
    assert!(text.contains("changed since it was read"), "{text}");
    assert_eq!(bench.files.get("/proj/a").unwrap(), b"theirs\n");

    bench.ok("Read", json!({"file_path": "a"})).await;
    let value: Value = bench.structured("Write", input).await;
    assert_eq!(value["type"], "update");
    assert_eq!(value["originalFile"], "theirs\n");
    assert_eq!(value["structuredPatch"][0]["lines"], json!(["-theirs", "+new"]));
    assert_eq!(bench.files.get("/proj/a").unwrap(), b"new\n");
}

#[tokio::test]
async fn q5_a_link_stays_a_link_and_its_file_is_written() {
    let bench = Bench::new();
    bench.files.add("/proj/real", "old\n");
    bench.files.add_link("/proj/link", "/proj/real");
    bench.ok("Read", json!({"file_path": "real"})).await;
    bench.ok("Write", json!({"file_path": "link", "content": "new\n"})).await;
    bench.ok("Read", json!({"file_path": "link"})).await;
    assert_eq!(bench.files.get("/proj/real").unwrap(), b"new\n");
}

#[tokio::test]
async fn s6_what_is_not_a_file_is_not_written() {
    let bench = Bench::new();
    bench.files.add_special("/proj/pipe");
    for (path, kind) in [("/proj", "a directory"), ("pipe", "a device")] {
        let text = bench.error("Write", json!({"file_path": path, "content": "x"})).await;
        assert!(text.contains(kind) && text.contains("nothing was written"), "{text}");
    }
    let text = bench.error("Write", json!({"file_path": "a", "content": 3})).await;
    assert_eq!(text, "Write needs \"content\" (a string), not the number 3");
}
