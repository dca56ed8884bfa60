//! A dream's working copy, and swapping its result in (L6.7).

use super::crash::{StopAt, files};
use super::*;
use everfold_kernel::ports::{Ending, LogsRead, MemoryHand, Stored};
use everfold_memory_store::Error;
use everfold_memory_store::dream::consolidation::DirNight;
use everfold_memory_store::dream::lock::take;
use everfold_memory_store::dream::{LOCK_FILE, Taken};
use everfold_memory_store::store::{OnConflict, Replacement, TakenIn};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn night(store: &Arc<Store>) -> DirNight {
    match take(store, at(100)).unwrap() {
        Taken::Held(held) => DirNight::new(Arc::clone(store), held).unwrap(),
        Taken::Locked { .. } => panic!("locked"),
    }
}

fn texts(stored: &Stored) -> BTreeMap<String, String> {
    let text = |(path, file): (&String, &everfold_kernel::ports::StoredFile)| {
        Some((path.clone(), file.text.clone()?))
    };
    stored.files.iter().filter_map(text).collect()
}

/// Two memories become one, a third is written, and the index follows.
fn result(stored: &Stored) -> Vec<Replacement> {
    let version = |path: &str| stored.files.get(path).map(|file| file.version.clone());
    let new = |path: &str, text: Option<String>| Replacement {
        path: path.to_owned(),
        expect: version(path),
        text,
    };
    vec![
        new("MEMORY.md", Some("# Mine\n\n- [A](a.md) — both\n- [C](c.md) — new\n".into())),
        new("b.md", None),
        new("a.md", Some(memory("a", "apples and boats"))),
        new("c.md", Some(memory("c", "a third thing"))),
    ]
}

fn prepared(dir: &Path) {
    let store = open(dir);
    save_at(&store, "a", "apples are the subject here");
    save_at(&store, "b", "boats are another thing");
}

#[test]
fn l6_7_a_copy_is_worked_on_and_the_store_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    let before = files(dir.path());
    let night = night(&Arc::new(open(dir.path())));
    let stored = night.look().unwrap();
    night.lay_out(&texts(&stored)).unwrap();
    assert_eq!(files(night.copy()), before);
    fs::remove_file(night.copy().join("a.md")).unwrap();
    fs::write(night.copy().join("b.md"), "rewritten").unwrap();
    fs::write(night.copy().join("c.md"), vec![b'x'; 10 << 20]).unwrap();
    fs::write(night.copy().join("d.md"), [0xff, 0xfe]).unwrap();
    fs::write(night.copy().join("run.sh"), "echo").unwrap();
    fs::write(night.copy().join(".hidden.md"), "x").unwrap();
    let gathered = night.gather().unwrap();
    assert_eq!(gathered.files.keys().collect::<Vec<_>>(), ["MEMORY.md", "b.md"]);
    let strange: Vec<&str> = gathered.strange.keys().map(String::as_str).collect();
    assert_eq!(strange, [".hidden.md", "c.md", "d.md", "run.sh"]);
    assert_eq!(files(dir.path()), before);
    let copy = night.copy().to_owned();
    night.end(Ending::Undone).unwrap();
    assert!(!copy.exists());
    assert!(!dir.path().join(LOCK_FILE).exists());
}

#[test]
fn l6_7_a_dream_is_one_entry_and_undo_brings_back_the_night_before() {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    fs::write(
        dir.path().join("MEMORY.md"),
        "# My own\n\nwords\n\n- [B](b.md): hand-written\n- [A](a.md)\n",
    )
    .unwrap();
    let store = Arc::new(open(dir.path()));
    let before = files(dir.path());
    let night = night(&store);
    let entry = night.swap(&result(&night.look().unwrap()), &by()).unwrap().unwrap();
    night.end(Ending::Done { at: at(9), logs: LogsRead::No }).unwrap();
    let after = files(dir.path());
    assert_eq!(after.keys().collect::<Vec<_>>(), ["MEMORY.md", "a.md", "c.md"]);
    let log = store.log(None, 1).unwrap();
    assert_eq!((log[0].id, log[0].action), (entry, everfold_memory_store::Action::Dream));
    assert_eq!(log[0].changes.len(), 4);
    store.undo(entry, OnConflict::Refuse, &by()).unwrap();
    assert_eq!(files(dir.path()), before);
}

#[test]
fn l6_7_a_memory_saved_since_the_dream_outlives_its_undo() {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    let store = Arc::new(open(dir.path()));
    let entry = store.swap(&result(&store.stored(None).unwrap()), &by()).unwrap().unwrap();
    save_at(&store, "later", "saved after it");
    store.undo(entry, OnConflict::Refuse, &by()).unwrap();
    assert_eq!(
        files(dir.path()).keys().collect::<Vec<_>>(),
        ["MEMORY.md", "a.md", "b.md", "later.md"]
    );
    for path in ["a.md", "b.md", "later.md"] {
        assert!(index(dir.path()).contains(path), "{path}");
    }
    assert!(!index(dir.path()).contains("c.md"));
}

#[test]
fn l6_7_a_store_that_changed_meanwhile_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    let store = Arc::new(open(dir.path()));
    let planned = result(&store.stored(None).unwrap());
    fs::write(dir.path().join("b.md"), "a person was here").unwrap();
    let before = files(dir.path());
    assert!(matches!(store.swap(&planned, &by()), Err(Error::Changed { .. })));
    assert_eq!(files(dir.path()), before);
    // What may not be written is not written, and nothing else either.
    let mut planned = result(&store.stored(None).unwrap());
    planned[2].text = Some(format!("AKIA{} is the key", "IOSFODNN7EXAMPL3"));
    assert!(store.swap(&planned, &by()).is_err());
    planned[2].text = Some("x".repeat(2 << 20));
    assert!(matches!(store.swap(&planned, &by()), Err(Error::TooLong { .. })));
    planned[2].text = None;
    planned[3].path = "../out.md".into();
    assert!(store.swap(&planned, &by()).is_err());
    assert_eq!(files(dir.path()), before);
}

#[test]
fn l6_7_a_swap_that_is_stopped_anywhere_is_old_or_new() {
    let whole = |work: &dyn Fn(&Store)| {
        let dir = tempfile::tempdir().unwrap();
        prepared(dir.path());
        work(&open(dir.path()));
        files(dir.path())
    };
    let old = whole(&|_| {});
    let new = whole(&|store| {
        store.swap(&result(&store.stored(None).unwrap()), &by()).unwrap();
    });
    let (mut seen_old, mut seen_new) = (0, 0);
    for stop in 0.. {
        let dir = tempfile::tempdir().unwrap();
        prepared(dir.path());
        let steps = Arc::new(StopAt { left: AtomicUsize::new(usize::MAX) });
        let options = StoreOptions { steps: steps.clone(), ..StoreOptions::default() };
        let store = Store::open_with(dir.path(), options, at(0)).unwrap();
        let planned = result(&store.stored(None).unwrap());
        steps.left.store(stop, Ordering::SeqCst);
        let done = store.swap(&planned, &by());
        drop(store);
        let store = open(dir.path());
        let now = files(dir.path());
        assert!(now == old || now == new, "stopped at {stop}: {now:#?}");
        *(if now == old { &mut seen_old } else { &mut seen_new }) += 1;
        assert!(
            !store
                .check(|_, _| false)
                .unwrap()
                .iter()
                .any(everfold_memory_store::check::Issue::is_mendable)
        );
        if done.is_ok() {
            break;
        }
    }
    assert!(seen_old >= 2 && seen_new >= 6, "{seen_old} {seen_new}");
}

#[test]
fn l6_7_it_is_known_who_wrote_what_and_of_what_use_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    save_at(&store, "agent", "an agent came to this");
    let text = memory("hand", "a person wrote this");
    let save = Save {
        place: MemoryTarget::At(path("hand.md")),
        text: &text,
        expect: ExpectedContent::Nothing,
        line: None,
        ended: &[],
    };
    store.save(&save, &By::person("said so", at(0))).unwrap();
    fs::write(dir.path().join("editor.md"), "typed in an editor").unwrap();
    let stated = "---\nname: y\nmetadata:\n  originSessionId: s1\n  basis: stated\n---\nsaid\n";
    let place = MemoryTarget::At(path("stated.md"));
    let save =
        Save { place, text: stated, expect: ExpectedContent::Nothing, line: None, ended: &[] };
    store.save(&save, &by()).unwrap();
    store.count(&[(path("agent.md"), everfold_memory_store::usage::Use::Recalled)], at(1)).unwrap();
    store.notice(&By { author: everfold_memory_store::Author::Foreign, ..by() }).unwrap();
    let stored = store.stored(None).unwrap();
    let writer = |path: &str| stored.files[path].writer;
    assert_eq!(writer("agent.md"), MemoryHand::Agent);
    for path in ["hand.md", "editor.md", "stated.md"] {
        assert_eq!(writer(path), MemoryHand::Person, "{path}");
    }
    assert_eq!((stored.files["agent.md"].recalled, stored.files["agent.md"].used), (1, 0));
    assert!(stored.files["agent.md"].day.is_some());
}

#[test]
fn l5_24_what_came_from_another_member_is_a_persons_unless_it_says_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let inferred = "---\nname: x\nmetadata:\n  basis: inferred\n---\nconcluded\n".to_owned();
    let taken = [("plain.md", memory("plain", "typed over there")), ("inferred.md", inferred)]
        .map(|(name, text)| TakenIn { path: path(name), expect: None, text: Some(text) });
    store.take_in(&taken, &By::agent("team", "from others", at(0))).unwrap();
    let stored = store.stored(None).unwrap();
    assert_eq!(stored.files["plain.md"].writer, MemoryHand::Person);
    assert_eq!(stored.files["inferred.md"].writer, MemoryHand::Agent);
    assert_eq!(stored.files["plain.md"].day, None, "the day it came is not that of its writing");
}

#[test]
fn l5_22_logs_are_handed_over_until_somebody_has_read_them() {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    let log = dir.path().join("logs/2026/11/2026-11-14.md");
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, "- 10:00 deploys moved to Tuesday\n").unwrap();
    let store = Arc::new(open(dir.path()));
    let first = night(&store);
    assert_eq!(
        first.look().unwrap().logs.keys().collect::<Vec<_>>(),
        ["logs/2026/11/2026-11-14.md"]
    );
    first.end(Ending::Done { at: Timestamp::now(), logs: LogsRead::No }).unwrap();
    let second = night(&store);
    assert_eq!(second.look().unwrap().logs.len(), 1, "nobody has read it yet");
    second.end(Ending::Done { at: Timestamp::now(), logs: LogsRead::Yes }).unwrap();
    let third = night(&store);
    assert!(third.look().unwrap().logs.is_empty());
    assert!(log.exists());
}

/// Kills its own process before the step of this number.
#[cfg(unix)]
#[derive(Debug)]
struct KillAt(AtomicUsize);

#[cfg(unix)]
impl KillAt {
    fn step(&self) {
        if self.0.fetch_sub(1, Ordering::SeqCst) == 0 {
            let me = rustix::process::getpid();
            let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(unix)]
impl everfold_memory_store::store::ChangeObserver for KillAt {
    fn before(&self, _: everfold_memory_store::store::ChangeStep<'_>) -> std::ops::ControlFlow<()> {
        self.step();
        std::ops::ControlFlow::Continue(())
    }
}

#[cfg(unix)]
const NIGHT: &str = "EVERFOLD_TEST_NIGHT";

/// A whole night in a process of its own, killed at the step that it is told.
#[cfg(unix)]
#[test]
#[ignore = "started by another test"]
fn night_job() {
    let Ok(job) = std::env::var(NIGHT) else { return };
    let (step, dir) = job.split_once(' ').unwrap();
    let kill = Arc::new(KillAt(AtomicUsize::new(step.parse().unwrap())));
    let options = StoreOptions { steps: kill.clone(), ..StoreOptions::default() };
    let store = Arc::new(Store::open_with(Path::new(dir), options, at(0)).unwrap());
    kill.step();
    let night = night(&store);
    kill.step();
    let stored = night.look().unwrap();
    night.lay_out(&texts(&stored)).unwrap();
    kill.step();
    fs::write(night.copy().join("a.md"), "the agent writes").unwrap();
    kill.step();
    night.gather().unwrap();
    kill.step();
    night.swap(&result(&stored), &by()).unwrap();
    kill.step();
    night.end(Ending::Done { at: at(500), logs: LogsRead::Yes }).unwrap();
    kill.step();
}

#[cfg(unix)]
#[test]
fn l6_7_a_dream_killed_at_every_step_leaves_the_old_or_the_new() {
    let dir = tempfile::tempdir().unwrap();
    prepared(dir.path());
    let old = files(dir.path());
    let store = open(dir.path());
    store.swap(&result(&store.stored(None).unwrap()), &by()).unwrap();
    let new = files(dir.path());
    let (mut seen_old, mut seen_new) = (0, 0);
    for step in 0.. {
        let dir = tempfile::tempdir().unwrap();
        prepared(dir.path());
        let lock = dir.path().join(LOCK_FILE);
        fs::write(&lock, "").unwrap();
        let before = std::time::SystemTime::from(at(7));
        fs::File::options().write(true).open(&lock).unwrap().set_modified(before).unwrap();
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "dream_night::night_job"])
            .env(NIGHT, format!("{step} {}", dir.path().display()))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        let store = Arc::new(open(dir.path()));
        let now = files(dir.path());
        assert!(now == old || now == new, "killed at {step}: {now:#?}");
        *(if now == old { &mut seen_old } else { &mut seen_new }) += 1;
        assert_eq!(fs::read_to_string(&lock).unwrap(), "", "killed at {step}");
        let time = fs::metadata(&lock).unwrap().modified().unwrap();
        let done = std::time::SystemTime::from(at(500));
        assert!(time == before || (now == new && time == done), "killed at {step}");
        assert!(!dir.path().join(".everfold/dream").exists(), "killed at {step}");
        night(&store).end(Ending::Undone).unwrap();
        if status.success() {
            break;
        }
    }
    assert!(seen_old >= 5 && seen_new >= 6, "{seen_old} {seen_new}");
}
