//! The places of memories, as a session reads them (L5.25, R2).

use everfold_kernel::ports::{Bodies, Clock, Memories, MemoryPlace, MemoryScope};
use everfold_memory_service::{Here, Service, ServiceConfig};
use everfold_testkit::FakeClock;
use std::path::Path;
use std::sync::Arc;

fn memories(root: &Path, here: Here) -> Service {
    let place = |scope, name: &str| MemoryPlace { scope, dir: root.join(name) };
    let places = vec![place(MemoryScope::Global, "global"), place(MemoryScope::Project, "project")];
    Service::new(
        places,
        here,
        ServiceConfig::default(),
        &(Arc::new(FakeClock::default()) as Arc<dyn Clock>),
    )
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[tokio::test]
async fn l5_25_the_global_index_comes_first_and_shares_the_caps() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "project/MEMORY.md", &"- [P](p.md) — here\n".repeat(150));
    write(dir.path(), "global/MEMORY.md", &"- [G](g.md) — all\n".repeat(100));
    let indexes = memories(dir.path(), Here::default()).indexes().await.unwrap();
    let scopes: Vec<_> = indexes.iter().map(|index| index.scope).collect();
    assert_eq!(scopes, [MemoryScope::Global, MemoryScope::Project]);
    assert_eq!(indexes[0].text.lines().count(), 100);
    assert_eq!(indexes[1].text.matches("- [P]").count(), 100);
    assert!(indexes[1].text.contains("it has 150 lines, and at most 100 are read"));
}

#[tokio::test]
async fn l5_1_nothing_is_made_before_it_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let memories = memories(dir.path(), Here::default());
    assert!(!dir.path().join("project").exists());
    assert!(memories.indexes().await.unwrap().is_empty());
    assert!(dir.path().join("project").is_dir());
    assert!(memories.scan(10, Bodies::Read).await.unwrap().is_empty());
}

#[tokio::test]
async fn r2_both_places_are_scanned_and_bodies_are_read_on_demand() {
    let dir = tempfile::tempdir().unwrap();
    let text = "---\nname: Deploys\ndescription: when we deploy\ntype: project\n---\nFridays.\n";
    write(dir.path(), "project/deploy.md", text);
    write(dir.path(), "global/me.md", "I like tea.\n");
    let memories = memories(dir.path(), Here::default());
    let mut heads = memories.scan(10, Bodies::Left).await.unwrap();
    heads.sort_by(|a, b| a.file.cmp(&b.file));
    assert_eq!(heads.len(), 2);
    assert_eq!((heads[0].name.as_str(), heads[0].kind.as_deref()), ("Deploys", Some("project")));
    assert_eq!(heads[0].path, dir.path().join("project/deploy.md"));
    assert!(heads.iter().all(|head| head.body.is_empty()));
    assert_eq!(memories.read(&heads[1]).await.unwrap().text, "I like tea.\n");
    let full = memories.scan(10, Bodies::Read).await.unwrap();
    assert!(full.iter().any(|head| head.body == "Fridays.\n"));
    std::fs::remove_file(&heads[1].path).unwrap();
    assert!(memories.read(&heads[1]).await.is_err());
}

#[tokio::test]
async fn l5_25_a_memory_of_another_branch_or_worktree_is_not_found() {
    let dir = tempfile::tempdir().unwrap();
    for (name, key) in [("a", "branch: feature"), ("b", "worktree: side"), ("c", "name: x")] {
        write(dir.path(), &format!("project/{name}.md"), &format!("---\n{key}\n---\ntext\n"));
    }
    let found = |here: Here| {
        let memories = memories(dir.path(), here);
        async move { memories.scan(10, Bodies::Left).await.unwrap().len() }
    };
    assert_eq!(found(Here::default()).await, 1);
    let here = Here { branch: Some("feature".into()), worktree: Some("/w/side".into()) };
    assert_eq!(found(here).await, 3);
}
