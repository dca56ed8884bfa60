//! The dream lock: one winner, and no dead one holds it (L6.2, L6.3).

use super::*;
use everfold_kernel::ports::{Begun, Clock, Dreams, MemoryScope, NightPurpose, NightWish};
use everfold_memory_store::DirDreams;
use everfold_memory_store::dream::lock::{self, Held, take};
use everfold_memory_store::dream::{LOCK_FILE, Taken};
use jiff::SignedDuration;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::SystemTime;

const DIR: &str = "EVERFOLD_TEST_DREAM_DIR";

fn store(dir: &Path) -> Arc<Store> {
    Arc::new(open(dir))
}

fn held(taken: Taken) -> Held {
    match taken {
        Taken::Held(held) => held,
        Taken::Locked { pid, since } => panic!("locked by {pid:?} since {since:?}"),
    }
}

fn is_locked(taken: &Taken) -> bool {
    matches!(taken, Taken::Locked { .. })
}

fn lock_file(dir: &Path, body: &str, time: Timestamp) {
    let path = dir.join(LOCK_FILE);
    fs::write(&path, body).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(SystemTime::from(time)).unwrap();
}

fn seen(dir: &Path) -> Option<(String, Timestamp)> {
    let path = dir.join(LOCK_FILE);
    let time = Timestamp::try_from(fs::metadata(&path).ok()?.modified().unwrap()).unwrap();
    Some((fs::read_to_string(path).unwrap(), time))
}

/// A process that is there and not ours.
struct Sleeper(Child);

impl Sleeper {
    fn new() -> Self {
        let cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        Self(cat.unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn l6_2_the_body_is_the_process_and_the_time_that_of_the_last_dream() {
    let dir = tempfile::tempdir().unwrap();
    let night = held(take(&store(dir.path()), at(100)).unwrap());
    assert_eq!(night.prior(), None);
    assert_eq!(seen(dir.path()), Some((std::process::id().to_string(), at(100))));
    night.done(at(160)).unwrap();
    assert_eq!(seen(dir.path()), Some((String::new(), at(160))));
    let night = held(take(&store(dir.path()), at(900)).unwrap());
    assert_eq!(night.prior(), Some(at(160)));
    night.undone().unwrap();
    assert_eq!(seen(dir.path()), Some((String::new(), at(160))), "a failure rewinds");
    drop(held(take(&store(dir.path()), at(900)).unwrap()));
    assert_eq!(seen(dir.path()), Some((String::new(), at(160))), "and so does letting go");
}

#[test]
fn l6_2_a_first_dream_that_fails_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    held(take(&store(dir.path()), at(0)).unwrap()).undone().unwrap();
    assert_eq!(seen(dir.path()), None);
}

#[test]
fn f2_l6_2_a_dream_of_another_member_is_taken_over_unless_one_of_ours_dreams() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    assert_eq!(lock::last(&store).unwrap(), None);
    lock::adopt(&store, at(100)).unwrap();
    assert_eq!(seen(dir.path()), Some((String::new(), at(100))));
    assert_eq!(lock::last(&store).unwrap(), Some(at(100)));
    let night = held(take(&store, at(200)).unwrap());
    assert_eq!(lock::last(&store).unwrap(), None, "nobody knows yet");
    lock::adopt(&store, at(150)).unwrap();
    night.undone().unwrap();
    assert_eq!(lock::last(&store).unwrap(), Some(at(100)));
}

#[tokio::test]
async fn l6_1_who_waited_for_the_lock_hears_of_the_dream_that_was() {
    let dir = tempfile::tempdir().unwrap();
    held(take(&store(dir.path()), at(0)).unwrap()).done(at(100)).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(StoppedClock(at(200)));
    let dreams = DirDreams::new(dir.path().to_owned(), MemoryScope::Project, &clock);
    let wish = |since: Option<i64>| NightWish {
        at: at(200),
        unless_after: since.map(at),
        purpose: NightPurpose::Change,
    };
    assert!(
        matches!(dreams.begin(wish(Some(50))).await, Ok(Begun::Recent(last)) if last == at(100))
    );
    assert_eq!(seen(dir.path()), Some((String::new(), at(100))));
    assert!(matches!(dreams.begin(wish(Some(150))).await, Ok(Begun::Night(_))));
    assert!(matches!(dreams.begin(wish(None)).await, Ok(Begun::Night(_))));
}

/// A clock that stands.
struct StoppedClock(Timestamp);

impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        self.0
    }

    fn fresh_uuid(&self) -> String {
        String::new()
    }
}

#[test]
fn l6_3_a_live_one_is_never_reclaimed() {
    let dir = tempfile::tempdir().unwrap();
    let night = held(take(&store(dir.path()), at(0)).unwrap());
    // However old it looks, whatever somebody wrote over it.
    for body in ["", "garbage", "4194303"] {
        lock_file(dir.path(), body, at(-900_000));
        assert!(is_locked(&take(&store(dir.path()), at(10_000)).unwrap()), "{body}");
    }
    drop(night);
    assert!(!is_locked(&take(&store(dir.path()), at(10_000)).unwrap()));
}

#[test]
fn l6_2_what_is_empty_garbage_or_dead_is_reclaimed() {
    let gone = {
        let sleeper = Sleeper::new();
        sleeper.pid().to_string()
    };
    let me = std::process::id().to_string();
    for body in ["", "\n", "garbage", "-5", "0", "99999999999", "\u{fffd}", &gone, &me] {
        let dir = tempfile::tempdir().unwrap();
        lock_file(dir.path(), body, at(0));
        let night = held(take(&store(dir.path()), at(60)).unwrap());
        assert_eq!(night.prior(), Some(at(0)), "{body:?}");
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(LOCK_FILE), [0xff; 200]).unwrap();
    held(take(&store(dir.path()), at(60)).unwrap());
}

#[test]
fn l6_2_a_foreign_holder_counts_for_an_hour_and_not_in_the_future() {
    let sleeper = Sleeper::new();
    let dir = tempfile::tempdir().unwrap();
    lock_file(dir.path(), &format!("{}\n", sleeper.pid()), at(0));
    let minutes = |n: i64| at(0) + SignedDuration::from_mins(n);
    match take(&store(dir.path()), minutes(59)).unwrap() {
        Taken::Locked { pid, since } => {
            assert_eq!((pid, since), (Some(sleeper.pid()), Some(at(0))));
        }
        Taken::Held(_) => panic!("it lives"),
    }
    assert_eq!(seen(dir.path()).unwrap().0.trim(), sleeper.pid().to_string(), "left as it is");
    assert!(!is_locked(&take(&store(dir.path()), minutes(61)).unwrap()));
    // The clock was set back: its time is ahead of ours.
    lock_file(dir.path(), &sleeper.pid().to_string(), minutes(5));
    assert!(!is_locked(&take(&store(dir.path()), at(0)).unwrap()));
}

#[test]
fn l6_2_a_dream_of_somebody_who_took_over_is_left_alone() {
    let sleeper = Sleeper::new();
    let dir = tempfile::tempdir().unwrap();
    let night = held(take(&store(dir.path()), at(0)).unwrap());
    lock_file(dir.path(), &sleeper.pid().to_string(), at(4_000));
    night.done(at(5_000)).unwrap();
    assert_eq!(seen(dir.path()), Some((sleeper.pid().to_string(), at(4_000))));
}

#[test]
fn l6_2_something_else_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(LOCK_FILE)).unwrap();
    held(take(&store(dir.path()), at(0)).unwrap()).done(at(1)).unwrap();
    assert_eq!(seen(dir.path()), Some((String::new(), at(1))));
    fs::remove_file(dir.path().join(LOCK_FILE)).unwrap();
    fs::create_dir(dir.path().join(LOCK_FILE)).unwrap();
    fs::write(dir.path().join(LOCK_FILE).join("x"), "mine").unwrap();
    let error = take(&store(dir.path()), at(0)).unwrap_err();
    assert!(error.to_string().contains("in the way of the dream lock"), "{error}");
    assert_eq!(fs::read(dir.path().join(LOCK_FILE).join("x")).unwrap(), b"mine");
}

#[cfg(unix)]
#[test]
fn s1_a_link_in_its_place_leads_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("victim"), "7").unwrap();
    let link = dir.path().join(LOCK_FILE);
    std::os::unix::fs::symlink(outside.path().join("victim"), &link).unwrap();
    held(take(&store(dir.path()), at(0)).unwrap()).done(at(1)).unwrap();
    assert_eq!(fs::read(outside.path().join("victim")).unwrap(), b"7");
    assert!(!fs::symlink_metadata(link).unwrap().is_symlink());
}

/// A child that tries for the lock when it is told to: `take` answers `won` or
/// `lost`, `done` and `undone` let go, and the end of its input ends it.
struct Dreamer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Dreamer {
    fn new(dir: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "dream_lock::dreamer_job", "--nocapture", "-q"])
            .env(DIR, dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from }
    }

    fn say(&mut self, word: &str) {
        writeln!(self.to, "{word}").unwrap();
        self.to.flush().unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the child is gone");
            if let Some(word) = line.trim().strip_prefix("dreamer: ") {
                return word.to_owned();
            }
        }
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
#[ignore = "started by other tests"]
fn dreamer_job() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let store = store(Path::new(&dir));
    let mut night = None;
    for line in std::io::stdin().lines() {
        let answer = match line.unwrap().as_str() {
            "take" => match take(&store, at(50)).unwrap() {
                Taken::Held(held) => {
                    night = Some(held);
                    "won"
                }
                Taken::Locked { .. } => "lost",
            },
            "done" => {
                if let Some(held) = night.take() {
                    Held::done(held, at(60)).unwrap();
                }
                "let go"
            }
            _ => "what?",
        };
        println!("dreamer: {answer}");
    }
}

fn one_winner_in_each(processes: usize, rounds: usize) {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path());
    let mut all: Vec<Dreamer> = (0..processes).map(|_| Dreamer::new(dir.path())).collect();
    for round in 0..rounds {
        for one in &mut all {
            one.say("take");
        }
        let heard: Vec<String> = all.iter_mut().map(Dreamer::hear).collect();
        let winners: Vec<usize> = (0..processes).filter(|n| heard[*n] == "won").collect();
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        let winner = winners[0];
        let body = seen(dir.path()).unwrap().0;
        assert_eq!(body, all[winner].child.id().to_string(), "round {round}");
        if round % 3 == 2 {
            // Killed while it dreams: the next one gets the lock all the same.
            all.swap_remove(winner).kill();
            all.push(Dreamer::new(dir.path()));
        } else {
            all[winner].say("done");
            assert_eq!(all[winner].hear(), "let go");
        }
    }
    all.into_iter().for_each(Dreamer::kill);
}

#[test]
fn l6_3_of_64_processes_one_wins() {
    one_winner_in_each(64, 6);
}

#[test]
#[ignore = "the full figure: 64 processes, 200 rounds"]
fn l6_3_soak_of_64_processes_one_wins_in_200_rounds() {
    one_winner_in_each(64, 200);
}

#[test]
fn l6_3_a_killed_dream_is_rewound_by_whoever_opens_the_store() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path());
    lock_file(dir.path(), "", at(7));
    let mut dreamer = Dreamer::new(dir.path());
    dreamer.say("take");
    assert_eq!(dreamer.hear(), "won");
    let pid = dreamer.child.id().to_string();
    assert_eq!(seen(dir.path()), Some((pid.clone(), at(50))));
    open(dir.path());
    assert_eq!(seen(dir.path()), Some((pid, at(50))), "the living are left alone");
    fs::create_dir_all(dir.path().join(".everfold/dream/copy")).unwrap();
    dreamer.kill();
    open(dir.path());
    assert_eq!(seen(dir.path()), Some((String::new(), at(7))));
    assert!(!dir.path().join(".everfold/dream").exists());
}

#[test]
fn l6_3_a_reused_number_does_not_keep_the_lock() {
    let sleeper = Sleeper::new();
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    // What a killed dream of ours leaves, with its number now somebody else's.
    lock_file(dir.path(), &sleeper.pid().to_string(), at(50));
    let note = format!("{{\"pid\":{},\"prior\":\"{}\"}}", sleeper.pid(), at(3));
    fs::write(dir.path().join(".everfold/dream.json"), note).unwrap();
    let night = held(take(&store, at(60)).unwrap());
    assert_eq!(night.prior(), Some(at(3)));
    drop(night);
    // A note that nobody can read is no reason to stop.
    fs::write(dir.path().join(".everfold/dream.json"), "{").unwrap();
    held(take(&store, at(60)).unwrap());
}
