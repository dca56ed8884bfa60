//! A change that is stopped at any step leaves the old state or the new one
//! (L5.17).

use super::*;
use everfold_memory_store::check::Issue;
use everfold_memory_store::store::{ChangeObserver, ChangeStep};
use everfold_memory_store::{Error, Notice};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stops before the step of this number.
#[derive(Debug)]
pub(crate) struct StopAt {
    pub(crate) left: AtomicUsize,
}

impl ChangeObserver for StopAt {
    fn before(&self, _: ChangeStep<'_>) -> ControlFlow<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The Markdown files of a directory.
pub(crate) fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| {
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
        })
        .filter(|(name, _)| !name.starts_with('.'))
        .collect()
}

/// The memories that are found by what is noted of them.
fn alike(store: &Store) -> BTreeSet<String> {
    let found = store.candidates("apples boats three changed", 10).unwrap();
    found.iter().map(ToString::to_string).collect()
}

/// The memories that are there.
fn expected(files: &BTreeMap<String, String>) -> BTreeSet<String> {
    files.keys().filter(|name| *name != "MEMORY.md").cloned().collect()
}

type Work = fn(&Store) -> Result<(), Error>;

fn add(store: &Store) -> Result<(), Error> {
    let text = memory("new", "three");
    let save = Save {
        place: MemoryTarget::At(path("new.md")),
        text: &text,
        expect: ExpectedContent::Nothing,
        line: None,
        ended: &[],
    };
    store.save(&save, &by()).map(|_| ())
}

fn update(store: &Store) -> Result<(), Error> {
    let save = Save {
        place: MemoryTarget::At(path("a.md")),
        text: "changed",
        expect: ExpectedContent::Anything,
        line: Some(("A", "!")),
        ended: &[],
    };
    store.save(&save, &by()).map(|_| ())
}

fn forget(store: &Store) -> Result<(), Error> {
    store.forget(&path("a.md"), &by()).map(|_| ())
}

fn rename(store: &Store) -> Result<(), Error> {
    store.rename(&path("a.md"), &path("c.md"), &by()).map(|_| ())
}

fn prepared(dir: &Path) {
    let store = open(dir);
    save_at(&store, "a", "apples are the subject here");
    save_at(&store, "b", "boats are another thing");
}

fn state_after(work: Option<Work>) -> BTreeMap<String, String> {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    if let Some(work) = work {
        work(&open(dir.path())).unwrap();
    }
    files(dir.path())
}

#[test]
fn l5_17_a_change_that_is_stopped_anywhere_is_old_or_new() {
    let works: [Work; 4] = [add, update, forget, rename];
    for work in works {
        let (old, new) = (state_after(None), state_after(Some(work)));
        let mut seen_old = 0;
        let mut seen_new = 0;
        for stop in 0.. {
            let dir = tempfile::tempdir().unwrap();
            prepared(dir.path());
            let steps = Arc::new(StopAt { left: AtomicUsize::new(usize::MAX) });
            let options = StoreOptions { steps: steps.clone(), ..StoreOptions::default() };
            let store = Store::open_with(dir.path(), options, at(0)).unwrap();
            steps.left.store(stop, Ordering::SeqCst);
            let done = work(&store);
            drop(store);
            // Whoever comes next: a session, or a process with one change.
            let notice = if stop % 2 == 0 { Notice::All } else { Notice::Touched };
            let options = StoreOptions { notice, ..StoreOptions::default() };
            let store = Store::open_with(dir.path(), options, at(0)).unwrap();
            let now = files(dir.path());
            assert_eq!(alike(&store), expected(&now), "stopped at {stop}");
            assert!(now == old || now == new, "stopped at {stop}: {now:#?}");
            if now == old {
                seen_old += 1;
            } else {
                seen_new += 1;
            }
            let wrong = store.check(|_, _| false).unwrap();
            assert!(!wrong.iter().any(Issue::is_mendable), "stopped at {stop}: {wrong:?}");
            let log = store.log(None, 100).unwrap();
            assert_eq!(log.len(), if now == old { 2 } else { 3 }, "stopped at {stop}");
            assert!(log.windows(2).all(|pair| pair[0].id > pair[1].id));
            assert_eq!(
                open(dir.path()).opening(),
                &everfold_memory_store::store::Opening::default()
            );
            if done.is_ok() {
                break;
            }
        }
        assert!(seen_old >= 2 && seen_new >= 4, "{seen_old} {seen_new}");
    }
}

#[test]
fn l5_17_an_intent_is_ended_without_the_contents_that_were_kept() {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    let steps = Arc::new(StopAt { left: AtomicUsize::new(usize::MAX) });
    let options = StoreOptions { steps: steps.clone(), ..StoreOptions::default() };
    let store = Store::open_with(dir.path(), options, at(0)).unwrap();
    steps.left.store(2, Ordering::SeqCst);
    assert!(matches!(add(&store), Err(Error::Interrupted)));
    drop(store);
    fs::remove_dir_all(dir.path().join(".everfold/blobs")).unwrap();
    let store = open(dir.path());
    assert!(store.opening().mended.is_some());
    assert_eq!(files(dir.path()), state_after(Some(add)));
    let diff = store.diff(store.opening().mended.unwrap()).unwrap();
    assert!(diff.iter().all(|file| !file.unified().contains("not kept")), "{diff:?}");
}

#[test]
fn l5_17_an_edit_during_the_outage_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    let steps = Arc::new(StopAt { left: AtomicUsize::new(usize::MAX) });
    let options = StoreOptions { steps: steps.clone(), ..StoreOptions::default() };
    let store = Store::open_with(dir.path(), options, at(0)).unwrap();
    steps.left.store(2, Ordering::SeqCst);
    assert!(matches!(update(&store), Err(Error::Interrupted)));
    drop(store);
    fs::write(dir.path().join("a.md"), "a person was here").unwrap();
    let store = open(dir.path());
    assert!(store.opening().mended.is_some() && store.opening().noticed.is_some());
    assert_eq!(fs::read_to_string(dir.path().join("a.md")).unwrap(), "a person was here");
}
