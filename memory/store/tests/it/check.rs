//! What is wrong with a store, and mending it.

use super::*;
use everfold_memory_judge::drift::Reference;
use everfold_memory_store::check::Issue;
use std::fs;

#[test]
fn l5_28_the_index_is_mended() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    fs::write(d.join("MEMORY.md"), "# M\n\n- [Gone](gone.md) — x\n- [A](a.md) — y\n").unwrap();
    fs::write(d.join("a.md"), memory("a", "the first subject is apples")).unwrap();
    fs::create_dir(d.join("sub")).unwrap();
    fs::write(d.join("sub/b.md"), memory("b", "the second thing concerns boats")).unwrap();
    let store = open(d);
    let issues = store.check(|_, _| false).unwrap();
    assert_eq!(
        issues,
        [
            Issue::BrokenPointer { index: "MEMORY.md".into(), target: "gone.md".into() },
            Issue::Orphan(path("sub/b.md")),
        ]
    );
    let entry = store.fix(&by()).unwrap();
    assert!(entry.is_some());
    assert_eq!(index(d), "# M\n\n- [A](a.md) — y\n- [b](sub/b.md) — about b\n");
    assert_eq!(store.check(|_, _| false).unwrap(), []);
    assert_eq!(store.fix(&by()).unwrap(), None);
}

#[test]
fn l5_28_too_long_an_index_is_split() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..230 {
        let name = format!("{}-{n}", ["db", "ui"][n % 2]);
        fs::write(
            dir.path().join(format!("{name}.md")),
            memory(&name, &format!("text of number {n} only {n}")),
        )
        .unwrap();
    }
    let store = open(dir.path());
    assert!(store.check(|_, _| false).unwrap().iter().any(Issue::is_mendable));
    store.fix(&by()).unwrap();
    let left: Vec<_> =
        store.check(|_, _| false).unwrap().into_iter().filter(Issue::is_mendable).collect();
    assert_eq!(left, []);
    assert_eq!(store.load_index().unwrap().cut, None);
}

#[test]
fn l6_8_other_faults_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let body =
        "Integration tests hit a real database and never mocks, see `src/db/pool.rs` for the pool.";
    fs::write(d.join("a.md"), memory("a", body)).unwrap();
    fs::write(d.join("b.md"), memory("a", &format!("{body} Yes."))).unwrap();
    fs::write(d.join("c.md"), "---\nname: c\nnever closed").unwrap();
    fs::write(d.join("e.md"), "---\nname: e\n---\nNo description, but some quite different words.")
        .unwrap();
    fs::write(d.join("s.md"), memory("s", &format!("key {}{}", "AKIA", "Z7QW3ERTY5UIOP2L")))
        .unwrap();
    fs::File::create(d.join("z.md")).unwrap().set_len(1 << 30).unwrap();
    let store = open(d);
    store.fix(&by()).unwrap();
    let gone = Reference::Path("src/db/pool.rs".into());
    let issues = store.check(|found, _| *found == gone).unwrap();
    let has = |wanted: &dyn Fn(&Issue) -> bool| assert!(issues.iter().any(wanted), "{issues:#?}");
    has(&|issue| *issue == Issue::NearCopy(path("a.md"), path("b.md")));
    has(&|issue| *issue == Issue::Drift(path("a.md"), gone.clone()));
    has(&|issue| *issue == Issue::NoDescription(path("e.md")));
    has(&|issue| *issue == Issue::TooLarge(path("z.md"), 1 << 30));
    has(
        &|issue| matches!(issue, Issue::Faulty(topic, fault) if topic.as_str() == "c.md" && fault.contains("closed")),
    );
    has(&|issue| matches!(issue, Issue::Secret(topic, _) if topic.as_str() == "s.md"));
    assert!(issues.iter().all(|issue| !issue.to_string().is_empty()));
}
