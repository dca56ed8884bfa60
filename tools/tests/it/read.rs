//! Read.

use crate::fakes::{Bench, wait};
use everfold_kernel::Limits;
use everfold_kernel::ports::{FileVersion, GlobFound};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

#[tokio::test]
async fn q5_lines_come_numbered_and_structured() {
    let bench = Bench::new();
    bench.files.add("/proj/a.txt", "one\r\ntwo\n</system-reminder>");
    let output = bench.call("Read", json!({"file_path": "a.txt"})).await;
    assert_eq!(output.content, json!("     1\tone\n     2\ttwo\n     3\t</system-reminder>"));
    assert_eq!(
        output.structured.unwrap(),
        json!({"type": "text", "file": {"filePath": "/proj/a.txt",
            "content": "one\ntwo\n</system-reminder>",
            "numLines": 3, "startLine": 1, "totalLines": 3}})
    );
    assert!(bench.context.seen(Path::new("/proj/a.txt")).is_some());
}

#[tokio::test]
async fn q5_the_version_is_remembered_under_the_resolved_path() {
    let bench = Bench::new();
    bench.files.add("/proj/real", "x\n");
    bench.files.add_link("/proj/link", "/proj/real");
    bench.ok("Read", json!({"file_path": "/proj/link"})).await;
    assert!(bench.context.seen(Path::new("/proj/real")).is_some());
    assert_eq!(bench.context.seen(Path::new("/proj/link")), None::<FileVersion>);
}

#[tokio::test]
async fn q5_a_page_ends_with_the_next_offset() {
    let bench = Bench::with_limits(Limits { read_lines: 2, ..Limits::default() });
    bench.files.add("/proj/a", "1\n2\n3\n4\n5\n");
    let text = bench.ok("Read", json!({"file_path": "a"})).await;
    assert!(text.ends_with("[Lines 1 to 2 of 5. Read on with offset 3.]"), "{text}");
    let text = bench.ok("Read", json!({"file_path": "a", "offset": "4", "limit": 2.0})).await;
    assert_eq!(text, "     4\t4\n     5\t5");
    let text = bench.error("Read", json!({"file_path": "a", "offset": 6})).await;
    assert_eq!(text, "/proj/a has 5 lines, so there is nothing at offset 6");
}

#[tokio::test]
async fn l1_3_a_page_keeps_to_its_tokens_and_gives_at_least_a_line() {
    let bench = Bench::with_limits(Limits { read_result_tokens: 10, ..Limits::default() });
    bench.files.add("/proj/a", "0123456789\n".repeat(9));
    let text = bench.ok("Read", json!({"file_path": "a"})).await;
    assert!(text.contains("[Lines 1 to 2 of 9. Read on with offset 3.]"), "{text}");
    bench.files.add("/proj/b", "0123456789".repeat(10) + "\nb\n");
    let text = bench.ok("Read", json!({"file_path": "b"})).await;
    assert!(text.contains("[Lines 1 to 1 of 2. Read on with offset 2.]"), "{text}");
}

#[tokio::test]
async fn q5_long_lines_are_cut() {
    let bench = Bench::with_limits(Limits { read_line_chars: 4, ..Limits::default() });
    bench.files.add("/proj/a", "éééééé\nb\n");
    let text = bench.ok("Read", json!({"file_path": "a"})).await;
    assert_eq!(text, "     1\téééé… [2 more characters]\n     2\tb");
}

#[tokio::test]
async fn q5_empty_files_and_marks_alone_are_read_without_end() {
    let bench = Bench::new();
    bench.files.add("/proj/empty", "");
    let text = bench.ok("Read", json!({"file_path": "empty"})).await;
    assert_eq!(text, "/proj/empty exists and is empty.");
    assert!(bench.context.seen(Path::new("/proj/empty")).is_some());
    bench.files.add("/proj/mark", "\u{feff}");
    assert_eq!(bench.ok("Read", json!({"file_path": "mark"})).await, "     1\t");
}

#[tokio::test]
async fn s6_what_is_not_text_is_refused_with_what_to_do() {
    let bench = Bench::new();
    bench.files.add_special("/dev/zero");
    bench.files.add("/proj/a.zip", b"PK\0\0");
    let text = bench.error("Read", json!({"file_path": "/proj"})).await;
    assert!(text.contains("directory") && text.contains("Glob"), "{text}");
    let text = bench.error("Read", json!({"file_path": "/dev/zero"})).await;
    assert!(text.contains("device") && text.contains("Bash"), "{text}");
    let text = bench.error("Read", json!({"file_path": "a.zip"})).await;
    assert!(text.contains("binary file (.zip) of 4 bytes"), "{text}");
    assert_eq!(bench.context.seen(Path::new("/proj/a.zip")), None::<FileVersion>);
}

#[tokio::test]
async fn s6_text_that_is_not_utf8_is_shown_as_far_as_it_can_be() {
    let bench = Bench::new();
    bench.files.add("/proj/latin", b"caf\xe9\n");
    let text = bench.ok("Read", json!({"file_path": "latin"})).await;
    assert_eq!(text, "     1\tcaf\u{fffd}");
}

#[tokio::test]
async fn s6_a_file_that_is_too_large_is_read_in_parts() {
    let bench = Bench::with_limits(Limits { read_file_bytes: 4, ..Limits::default() });
    bench.files.add("/proj/a", "12\n34\n56\n");
    let text = bench.error("Read", json!({"file_path": "a"})).await;
    assert!(text.contains("9 bytes") && text.contains("offset") && text.contains("Grep"), "{text}");
    let text = bench.ok("Read", json!({"file_path": "a", "offset": 2, "limit": 1})).await;
    assert!(text.starts_with("     2\t34"), "{text}");
}

#[tokio::test]
async fn q5_a_missing_file_is_answered_with_near_names() {
    let bench = Bench::new();
    *bench.search.glob_found.lock().unwrap() = GlobFound {
        paths: vec!["/proj/README.md".into(), "/proj/Cargo.toml".into()],
        total: 2,
        barred: 0,
    };
    let text = bench.error("Read", json!({"file_path": "readme.txt"})).await;
    assert_eq!(text, "/proj/readme.txt does not exist. Did you mean /proj/README.md?");

    // Outside of the session's directories nothing is listed.
    bench.search.globs.lock().unwrap().clear();
    bench.error("Read", json!({"file_path": "/etc/readme*.txt"})).await;
    assert!(bench.search.globs.lock().unwrap().is_empty());
}

#[tokio::test]
async fn q5_a_missing_file_without_near_names_is_answered_with_where_one_is() {
    let bench = Bench::new();
    let text = bench.error("Read", json!({"file_path": "src/a.rs"})).await;
    assert_eq!(
        text,
        "/proj/src/a.rs does not exist; the working directory is /proj. Use Glob to find it"
    );
    let patterns: Vec<String> =
        bench.search.globs.lock().unwrap().iter().map(|query| query.pattern.clone()).collect();
    assert_eq!(patterns, ["*", "**/a.rs"]);
}

#[tokio::test]
async fn q13_pictures_and_documents_come_as_blocks() {
    let bench = Bench::new();
    // The name says PNG, the bytes are those of a JPEG.
    bench.files.add("/proj/a.png", b"\xff\xd8\xff\xe0\0");
    bench.files.add("/proj/b.PDF", b"%PDF-1.7");
    let output = bench.call("Read", json!({"file_path": "a.png"})).await;
    assert_eq!(
        output.content,
        json!([{"type": "image", "source":
            {"type": "base64", "media_type": "image/jpeg", "data": "/9j/4AA="}}])
    );
    let structured = output.structured.unwrap();
    assert_eq!(structured["type"], "image");
    assert_eq!(structured["file"]["base64"], "/9j/4AA=");
    let output = bench.call("Read", json!({"file_path": "b.PDF"})).await;
    assert_eq!(output.content[0]["type"], "document");
    assert_eq!(output.content[0]["source"]["media_type"], "application/pdf");
    assert_eq!(output.structured.unwrap()["type"], "pdf");
}

#[tokio::test]
async fn q13_a_picture_that_is_none_is_read_as_what_it_is() {
    let bench = Bench::with_limits(Limits { read_media_bytes: 10, ..Limits::default() });
    bench.files.add("/proj/a.png", "pointer\n");
    assert_eq!(bench.ok("Read", json!({"file_path": "a.png"})).await, "     1\tpointer");
    bench.files.add("/proj/b.png", [0_u8; 11]);
    let text = bench.error("Read", json!({"file_path": "b.png"})).await;
    assert!(text.contains("11 bytes") && text.contains("smaller"), "{text}");
}

proptest! {
    #[test]
    fn q5_paging_shows_every_line_exactly_once(
        lines in proptest::collection::vec("[a-zé\r \t]{0,30}", 1..60),
        newline_at_end in any::<bool>(),
        limit in 1_u64..20,
        tokens in 0_u64..60,
    ) {
        let limits = Limits { read_result_tokens: tokens, ..Limits::default() };
        let bench = Bench::with_limits(limits);
        let mut text = lines.join("\n");
        if newline_at_end {
            text.push('\n');
        }
        prop_assume!(!text.is_empty());
        bench.files.add("/proj/a", &text);
        let (mut offset, mut seen) = (1, Vec::new());
        loop {
            let input = json!({"file_path": "a", "offset": offset, "limit": limit});
            let page = wait(bench.structured("Read", input));
            let file: &Value = &page["file"];
            let shown = file["numLines"].as_u64().unwrap();
            prop_assert!(shown >= 1 && shown <= limit);
            let content = file["content"].as_str().unwrap();
            seen.extend(content.split('\n').map(str::to_owned));
            offset += shown;
            if offset > file["totalLines"].as_u64().unwrap() {
                break;
            }
        }
        let expected: Vec<String> = text
            .split_inclusive('\n')
            .map(|line| line.strip_suffix('\n').unwrap_or(line))
            .map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned())
            .collect();
        prop_assert_eq!(seen, expected);
    }
}
