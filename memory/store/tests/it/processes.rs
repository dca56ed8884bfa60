//! Many processes on one store, and processes that are killed.

use super::crash::files;
use super::*;
use everfold_memory_store::Notice;
use everfold_memory_store::check::Issue;
use everfold_memory_store::store::{ChangeObserver, ChangeStep};
use std::ops::ControlFlow;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const DIR: &str = "EVERFOLD_TEST_CHILD_DIR";
const JOB: &str = "EVERFOLD_TEST_CHILD_JOB";
/// How many memories each of many processes saves.
const SAVES: usize = 4;

/// This test binary again, doing one job.
fn child(dir: &Path, job: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "processes::child_job", "--test-threads=1"])
        .env(DIR, dir)
        .env(JOB, job)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn end_of(mut child: Child) -> ExitStatus {
    let deadline = Instant::now() + Duration::from_mins(2);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("a child did not end");
        }
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Kills its own process before the step of this number.
#[cfg(unix)]
#[derive(Debug)]
struct KillAt {
    left: AtomicUsize,
}

#[cfg(unix)]
impl ChangeObserver for KillAt {
    fn before(&self, _: ChangeStep<'_>) -> ControlFlow<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 0 {
            let _ = rustix::process::kill_process(
                rustix::process::getpid(),
                rustix::process::Signal::KILL,
            );
        }
        ControlFlow::Continue(())
    }
}

/// What a child does; without a job, nothing.
#[test]
#[ignore = "started by other tests"]
fn child_job() {
    let (Ok(dir), Ok(job)) = (std::env::var(DIR), std::env::var(JOB)) else { return };
    let (kind, number) = job.split_once(' ').unwrap();
    let number: usize = number.parse().unwrap();
    // A process that makes one change looks at nothing else.
    let notice = if kind == "die" { Notice::Touched } else { Notice::All };
    let mut options = StoreOptions { notice, ..StoreOptions::default() };
    #[cfg(unix)]
    if kind == "die" {
        options.steps = Arc::new(KillAt { left: AtomicUsize::new(number) });
    }
    let store = Store::open_with(Path::new(&dir), options, at(0)).unwrap();
    if kind == "fill" {
        return fill_up(&store, Path::new(&dir));
    }
    for n in 0..SAVES {
        // Some fight for one name, some have their own.
        let title = if n == 0 { "Shared".to_owned() } else { format!("Topic {number} {n}") };
        let text = memory(&title, &format!("{number} wrote {n}"));
        let save = Save {
            place: MemoryTarget::Named(title),
            text: &text,
            expect: ExpectedContent::Nothing,
            line: None,
            ended: &[],
        };
        store.save(&save, &by()).unwrap();
        if kind == "die" {
            break;
        }
    }
}

/// Saves until there is no more room, and says how often that went well.
fn fill_up(store: &Store, dir: &Path) {
    let saved = (0..1_000).take_while(|number| {
        let name = format!("room-{number}");
        let text = memory(&name, "takes some room");
        let place = MemoryTarget::At(path(&format!("{name}.md")));
        let save =
            Save { place, text: &text, expect: ExpectedContent::Nothing, line: None, ended: &[] };
        let done = store.save(&save, &by());
        let told = done.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert!(done.is_ok() || told.contains(".everfold") || told.contains(".md"), "{told}");
        done.is_ok()
    });
    std::fs::write(dir.with_extension("saved"), saved.count().to_string()).unwrap();
}

/// A disk that is full at some size of a file, whichever file it is.
#[cfg(unix)]
#[test]
fn s6_a_full_disk_is_told_and_loses_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("memory");
    drop(open(&dir));
    let status = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "processes::child_job", "--test-threads=1"])
        .env(DIR, &dir)
        .env(JOB, "fill 0")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "the child was told, and went on");
    let saved = std::fs::read_to_string(dir.with_extension("saved")).unwrap();
    let saved: usize = saved.parse().unwrap();
    assert!((1..1_000).contains(&saved), "{saved}");
    // With room again, what was begun is ended, and what was saved is there.
    let store = open(&dir);
    let count = store.scan(usize::MAX).unwrap().len();
    assert!(count == saved || count == saved + 1, "{count} of {saved}");
    assert_eq!(store.log(None, usize::MAX).unwrap().len(), count);
    assert_eq!(store.candidates("takes some room", usize::MAX).unwrap().len(), count);
    let wrong = store.check(|_, _| false).unwrap();
    assert!(!wrong.iter().any(Issue::is_mendable), "{wrong:?}");
    save_at(&store, "after", "there is room again");
    assert_eq!(open(&dir).opening(), &everfold_memory_store::store::Opening::default());
}

#[test]
fn l5_17_many_processes_at_once_lose_nothing() {
    const PROCESSES: usize = 32;
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<Child> =
        (0..PROCESSES).map(|n| child(dir.path(), &format!("save {n}"))).collect();
    for child in children {
        assert!(end_of(child).success());
    }
    let store = open(dir.path());
    assert_eq!(store.opening(), &everfold_memory_store::store::Opening::default());
    let topics = store.scan(usize::MAX).unwrap();
    assert_eq!(topics.len(), PROCESSES * SAVES);
    let bodies = files(dir.path());
    for number in 0..PROCESSES {
        for n in 0..SAVES {
            let line = format!("\n{number} wrote {n}\n");
            assert_eq!(bodies.values().filter(|text| text.contains(&line)).count(), 1, "{line}");
        }
    }
    let wrong = store.check(|_, _| false).unwrap();
    assert!(!wrong.iter().any(Issue::is_mendable), "{wrong:?}");
    assert_eq!(store.load_index().unwrap().cut, None);
    let mut ids: Vec<u64> =
        store.log(None, usize::MAX).unwrap().iter().map(|entry| entry.id.0).collect();
    ids.reverse();
    assert_eq!(ids, (1..=(PROCESSES * SAVES) as u64).collect::<Vec<_>>());
}

#[cfg(unix)]
#[test]
fn l5_17_a_process_killed_at_any_step_leaves_a_store_that_opens() {
    use std::os::unix::process::ExitStatusExt;
    let mut kills = 0;
    for step in 0..32 {
        let dir = tempfile::tempdir().unwrap();
        save_at(&open(dir.path()), "kept", "this one is older");
        let status = end_of(child(dir.path(), &format!("die {step}")));
        let store = open(dir.path());
        let wrong = store.check(|_, _| false).unwrap();
        assert!(!wrong.iter().any(Issue::is_mendable), "killed at {step}: {wrong:?}");
        let count = store.scan(10).unwrap().len();
        assert!(count == 1 || count == 2, "killed at {step}");
        assert_eq!(store.log(None, 10).unwrap().len(), count, "killed at {step}");
        let alike = store.candidates("older shared wrote", 10).unwrap();
        assert_eq!(alike.len(), count, "killed at {step}: {alike:?}");
        assert_eq!(store.read(&path("kept.md")).unwrap().text, memory("kept", "this one is older"));
        if status.success() {
            break;
        }
        assert_eq!(status.signal(), Some(9));
        kills += 1;
    }
    assert!(kills >= 6, "{kills}");
}
