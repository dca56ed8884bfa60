//! Saving, forgetting, moving.

use super::*;
use everfold_memory_file::index::{Caps, IndexCap};
use everfold_memory_store::catalogue::{Catalogue, Patience};
use everfold_memory_store::store::Note;
use everfold_memory_store::store::inbox::{ProposalId, ProposedChange};
use everfold_memory_store::usage::Use;
use everfold_memory_store::{Action, Error, StoreScope};
use std::fs;

#[test]
fn l5_3_a_saved_memory_is_in_the_index() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let saved = save_at(&store, "a", "one");
    assert_eq!((saved.path.as_str(), saved.action), ("a.md", Action::Add));
    assert_eq!(index(dir.path()), "- [a](a.md) — about a\n");
    assert_eq!(store.read(&path("a.md")).unwrap().text, memory("a", "one"));
    assert_eq!(store.load_index().unwrap().text, "- [a](a.md) — about a\n");
    let again = save_at(&store, "a", "one");
    assert_eq!(again.entry, None, "nothing changed");
}

#[test]
fn l5_3_words_written_by_hand_stay_in_the_index() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.md"), memory("a", "one")).unwrap();
    fs::write(
        dir.path().join("MEMORY.md"),
        "# Mine\r\n\r\n* [A](a.md): read me first\r\n\r\nbye\r\n",
    )
    .unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "two");
    save_at(&store, "b", "three");
    let wanted = "# Mine\r\n\r\n* [A](a.md): read me first\r\n- [b](b.md) — about b\r\n\r\nbye\r\n";
    assert_eq!(index(dir.path()), wanted);
}

#[test]
fn names_that_are_taken_get_a_number() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let save = |title: &str| {
        let place = MemoryTarget::Named(title.into());
        let save = Save {
            place,
            text: "x",
            expect: ExpectedContent::Nothing,
            line: Some((title, "")),
            ended: &[],
        };
        store.save(&save, &by()).unwrap().path.to_string()
    };
    assert_eq!(
        [save("Deploys!"), save("deploys"), save("Memory")],
        ["deploys.md", "deploys-2.md", "memory-2.md"]
    );
}

#[test]
fn a_change_in_between_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "one");
    let read = store.read(&path("a.md")).unwrap();
    save_at(&store, "a", "two");
    let save = Save {
        place: MemoryTarget::At(path("a.md")),
        text: "three",
        expect: ExpectedContent::Content(read.content),
        line: None,
        ended: &[],
    };
    assert!(matches!(store.save(&save, &by()), Err(Error::Changed { .. })));
    let new = Save { expect: ExpectedContent::Nothing, ..save };
    assert!(matches!(store.save(&new, &by()), Err(Error::Exists { .. })));
}

#[test]
fn l5_18_a_secret_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let text = format!("the key is {}{}", "AKIA", "Z7QW3ERTY5UIOP2L");
    let save = Save {
        place: MemoryTarget::At(path("k.md")),
        text: &text,
        expect: ExpectedContent::Anything,
        line: None,
        ended: &[],
    };
    let error = store.save(&save, &by()).unwrap_err().to_string();
    assert!(error.starts_with("the memory holds an AWS access key on line 1"), "{error}");
    assert!(!error.contains("AKIA"));
    let hidden = Save { text: "fine", line: Some(("Key", &text)), ..save };
    assert!(matches!(store.save(&hidden, &by()), Err(Error::Secret { .. })));
    assert!(matches!(
        store.write_index(&text, &ExpectedContent::Anything, &by()),
        Err(Error::Secret { .. })
    ));
    assert!(store.scan(10).unwrap().is_empty());
}

#[test]
fn forgetting_takes_the_line_along() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "one");
    save_at(&store, "b", "two");
    store.forget(&path("a.md"), &by()).unwrap();
    assert_eq!(index(dir.path()), "- [b](b.md) — about b\n");
    assert!(matches!(store.read(&path("a.md")), Err(Error::NotFound { .. })));
    assert!(matches!(store.forget(&path("a.md"), &by()), Err(Error::NotFound { .. })));
}

#[test]
fn l5_25_a_memory_moves_between_stores() {
    let dir = tempfile::tempdir().unwrap();
    let project = open(&dir.path().join("memory"));
    let team = StoreOptions { scope: StoreScope::Team, ..StoreOptions::default() };
    let team = Store::open_with(&dir.path().join("memory/team"), team, at(0)).unwrap();
    save_at(&project, "a", "one");
    project.move_to(&path("a.md"), &team, &by()).unwrap();
    assert!(project.scan(10).unwrap().is_empty(), "a team's store is not part of the project's");
    assert_eq!(team.read(&path("a.md")).unwrap().text, memory("a", "one"));
    assert_eq!(
        (index(project.dir()), index(team.dir()).as_str()),
        (String::new(), "- [a](a.md) — about a\n")
    );
    team.rename(&path("a.md"), &path("sub/b.md"), &by()).unwrap();
    assert_eq!(index(team.dir()), "- [a](sub/b.md) — about a\n");
}

#[test]
fn l5_21_what_is_about_the_person_stays_private() {
    let dir = tempfile::tempdir().unwrap();
    let team = StoreOptions { scope: StoreScope::Team, ..StoreOptions::default() };
    let team = Store::open_with(dir.path(), team, at(0)).unwrap();
    let text = "---\nname: x\ntype: user\n---\nLikes tea.\n";
    let save = Save {
        place: MemoryTarget::At(path("x.md")),
        text,
        expect: ExpectedContent::Nothing,
        line: None,
        ended: &[],
    };
    assert!(matches!(team.save(&save, &by()), Err(Error::Private { .. })));
}

#[test]
fn l5_28_the_index_stays_within_its_caps() {
    let dir = tempfile::tempdir().unwrap();
    let options =
        StoreOptions { caps: Caps { lines: 20, bytes: 25_000 }, ..StoreOptions::default() };
    let store = Store::open_with(dir.path(), options, at(0)).unwrap();
    let mut moved = Vec::new();
    for n in 0..45 {
        let name = format!("{}-topic-{n}", ["db", "ui", "ops"][n % 3]);
        moved.extend(save_at(&store, &name, &format!("number {n} is {n}")).moved_to);
        assert_eq!(store.load_index().unwrap().cut, None, "after {n}");
    }
    assert!(moved.contains(&"index-db.md".to_owned()), "{moved:?}");
    let mendable = |issue: &everfold_memory_store::check::Issue| issue.is_mendable();
    assert!(!store.check(|_, _| false).unwrap().iter().any(mendable));
    // One that moved to a sub-index is changed and forgotten there.
    save_at(&store, "db-topic-0", "changed");
    store.forget(&path("db-topic-0.md"), &by()).unwrap();
    let everywhere =
        [index(dir.path()), fs::read_to_string(dir.path().join("index-db.md")).unwrap()].concat();
    assert!(!everywhere.contains("(db-topic-0.md)"), "{everywhere}");
    assert!(everywhere.contains("(db-topic-3.md)"));
}

#[test]
fn l5_28_a_write_that_breaks_the_caps_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let long = "- [x](x.md) — y\n".repeat(214);
    let error = store.write_index(&long, &ExpectedContent::Anything, &by()).unwrap_err();
    assert!(error.to_string().contains("214 lines"), "{error}");
    // One that is over already may shrink.
    fs::write(dir.path().join("MEMORY.md"), &long).unwrap();
    store.write_index(&"- [x](x.md) — y\n".repeat(210), &ExpectedContent::Anything, &by()).unwrap();
    assert!(store.write_index(&long, &ExpectedContent::Anything, &by()).is_err());
}

#[test]
fn s6_a_huge_memory_is_read_at_its_start() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["MEMORY.md", "big.md"] {
        let file = fs::File::create(dir.path().join(name)).unwrap();
        std::io::Write::write_all(&mut &file, b"- [A](a.md)\n").unwrap();
        file.set_len(1 << 30).unwrap();
    }
    let store = open(dir.path());
    let loaded = store.load_index().unwrap();
    assert_eq!(loaded.cut, Some(IndexCap::Bytes));
    assert!(loaded.text.starts_with("- [A](a.md)\n") && loaded.text.len() < 30_000);
    assert!(loaded.text.contains("1073741824 bytes"));
    assert_eq!(store.read(&path("big.md")).unwrap().note, Some(Note::Cut { bytes: 1 << 30 }));
    let save = Save {
        place: MemoryTarget::At(path("a.md")),
        text: "x",
        expect: ExpectedContent::Anything,
        line: None,
        ended: &[],
    };
    let error = store.save(&save, &by()).unwrap_err();
    assert!(matches!(error, Error::TooLong { .. }), "{error}");
    assert!(!dir.path().join("a.md").exists());
}

#[cfg(unix)]
#[test]
fn s1_links_that_lead_out_are_refused() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.md"), "theirs").unwrap();
    symlink(outside.path(), dir.path().join("out")).unwrap();
    symlink(outside.path().join("x.md"), dir.path().join("x.md")).unwrap();
    symlink(".", dir.path().join("loop")).unwrap();
    let store = open(dir.path());
    assert!(store.scan(10).unwrap().is_empty());
    for target in ["out/y.md", "out/x.md", "x.md"] {
        let save = Save {
            place: MemoryTarget::At(path(target)),
            text: "x",
            expect: ExpectedContent::Anything,
            line: None,
            ended: &[],
        };
        assert!(store.save(&save, &by()).is_err(), "{target}");
        assert!(store.read(&path(target)).is_err(), "{target}");
        assert!(store.forget(&path(target), &by()).is_err(), "{target}");
    }
    assert_eq!(fs::read_to_string(outside.path().join("x.md")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    let own = tempfile::tempdir().unwrap();
    symlink(outside.path(), own.path().join(".everfold")).unwrap();
    let error = Store::open(own.path()).unwrap_err();
    assert!(matches!(error, Error::HistoryPlace { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn s5_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    fn visit(dir: &Path) {
        for item in fs::read_dir(dir).unwrap() {
            let item = item.unwrap();
            let mode = item.metadata().unwrap().permissions().mode() & 0o777;
            let is_dir = item.file_type().unwrap().is_dir();
            assert_eq!(mode, if is_dir { 0o700 } else { 0o600 }, "{}", item.path().display());
            if is_dir {
                visit(&item.path());
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir.path().join("memory"));
    save_at(&store, "a", "one");
    store.count(&[(path("a.md"), Use::Used)], at(1)).unwrap();
    store.candidates("one", 3).unwrap();
    let wish = |name: &str| ProposedChange::add(name, memory(name, name));
    store.propose(&[wish("b")], &by()).unwrap();
    store.propose(&[wish("c")], &by()).unwrap();
    store.reject(ProposalId(1), &by()).unwrap();
    let mut catalogue = Catalogue::open(store.dir(), None);
    let look = catalogue.refresh(Patience::Whole).unwrap();
    catalogue.keep(look);
    assert!(store.dir().join(".everfold/likeness.bin").exists());
    assert!(store.dir().join(".everfold/recall.bin").exists());
    visit(dir.path());
}

#[cfg(unix)]
#[test]
fn s6_a_directory_that_cannot_be_written_is_still_read() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.md"), memory("a", "one")).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let store = open(dir.path());
    assert_eq!(store.scan(10).unwrap().len(), 1);
    // Whoever runs as root may write everywhere.
    if store.opening().read_only.is_some() {
        let save = Save {
            place: MemoryTarget::At(path("b.md")),
            text: "x",
            expect: ExpectedContent::Anything,
            line: None,
            ended: &[],
        };
        assert!(store.save(&save, &by()).is_err());
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn l5_29_uses_are_counted_beside_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "a", "one");
    let before = fs::read(dir.path().join("a.md")).unwrap();
    store.count(&[(path("a.md"), Use::Recalled), (path("a.md"), Use::Used)], at(5)).unwrap();
    store.count(&[(path("a.md"), Use::Recalled)], at(6)).unwrap();
    store.rename(&path("a.md"), &path("b.md"), &by()).unwrap();
    let counts = store.usage().unwrap();
    let count = &counts[&path("b.md")];
    assert_eq!((count.recalled, count.used, count.last_used), (2, 1, Some(at(5))));
    assert!(!counts.contains_key(&path("a.md")));
    assert_eq!(fs::read(dir.path().join("b.md")).unwrap(), before);
}
