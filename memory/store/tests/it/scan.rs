//! Listing what is there (R2).

use super::*;
use everfold_memory_file::MemoryType;
use std::fs;
use std::time::{Duration, SystemTime};

fn put(dir: &Path, name: &str, text: &[u8], age: u64) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let time = SystemTime::now() - Duration::from_secs(age);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
}

#[test]
fn r2_topics_are_listed_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    put(d, "old.md", b"---\nname: Old one\ntype: feedback\ndescription: fix: x\n---\nb", 300);
    put(
        d,
        "sub/deep/new.md",
        b"\xef\xbb\xbf---\r\nname: new\r\nmetadata: \r\n  type: user\r\n---\r\nb",
        100,
    );
    put(d, "plain.md", b"no frontmatter", 200);
    put(d, "broken.md", b"---\nname: x\nnever closed", 400);
    put(d, "binary.md", b"\xff\xfe\x00", 500);
    for other in [
        "MEMORY.md",
        "sub/MEMORY.md",
        "logs/2026/11/2026-11-01.md",
        "inbox/p.md",
        ".git/x.md",
        "team/MEMORY.md",
        "team/t.md",
        "note.txt",
        ".hidden.md",
    ] {
        put(d, other, b"- [x](y.md)\n", 10);
    }
    let store = open(d);
    let topics = store.scan(usize::MAX).unwrap();
    let names: Vec<_> = topics.iter().map(|topic| topic.path.as_str()).collect();
    assert_eq!(names, ["sub/deep/new.md", "plain.md", "old.md", "broken.md", "binary.md"]);
    assert_eq!(topics[0].front.kind, Some(MemoryType::User));
    assert_eq!(topics[2].front.description.as_deref(), Some("fix: x"));
    assert!(topics[1].fault.is_none());
    assert!(topics[3].fault.as_deref().unwrap().contains("not closed"));
    assert!(topics[4].fault.as_deref().unwrap().contains("UTF-8"));
    assert_eq!(store.scan(2).unwrap().len(), 2);
}

#[test]
fn r2_only_the_first_lines_count_for_a_list() {
    let dir = tempfile::tempdir().unwrap();
    let long = format!("---\nname: long\n{}type: user\n---\nbody", "# filler\n".repeat(40));
    put(dir.path(), "long.md", long.as_bytes(), 10);
    let topics = open(dir.path()).scan(10).unwrap();
    assert_eq!(topics[0].front.name.as_deref(), Some("long"));
    assert_eq!((topics[0].front.kind, topics[0].fault.as_deref()), (None, None));
}

#[test]
fn r2_thousands_of_files_are_listed_and_adopted() {
    let dir = tempfile::tempdir().unwrap();
    fill(dir.path(), 2_000);
    let store = open(dir.path());
    assert_eq!(store.scan(usize::MAX).unwrap().len(), 2_000);
    assert_eq!(store.scan(200).unwrap().len(), 200);
    assert_eq!(store.log(None, 10).unwrap().len(), 1);
}

fn fill(dir: &Path, files: usize) {
    for n in 0..files {
        let folder = dir.join(format!("f{}", n % 20));
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join(format!("topic-{n}.md")),
            memory(&format!("topic-{n}"), "words ".repeat(40).as_str()),
        )
        .unwrap();
    }
}
