//! Layer 6: dreaming (L6).

use super::{Stage, age, put, text};
use everfold_testkit::{Received, Reply};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const LOCK: &str = ".consolidate-lock";
const HOUR: Duration = Duration::from_hours(1);

const FACTS: [(&str, &str); 5] = [
    ("billing", "The billing service charges customers on the first day of every month."),
    ("tracker", "Incidents are tracked on the board that operations publish every week."),
    ("owner", "The owner of the search cluster is the platform group in Lisbon."),
    ("queue", "Messages that fail five times land in the quarantine queue for review."),
    ("release", "A release needs the signature of two maintainers and a green pipeline."),
];

fn fact(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: about {name}\ntype: project\n---\n\n{body}\n")
}

/// The directory that a dream is told of.
fn dir_in(request: &Received) -> PathBuf {
    let system = request.system_text();
    system.split_once("Markdown files in `").unwrap().1.split_once('`').unwrap().0.into()
}

/// A model whose dreams read everything, then do this, then say that all is done.
fn dreaming(act: impl Fn(&Path) -> Reply + Send + Sync + 'static) -> Stage {
    Stage::new(move |request| {
        if request.source() != "dream" {
            return Reply::text("ok");
        }
        let dir = dir_in(request);
        let rounds = request.messages().iter().filter(|one| one["role"] == "assistant").count();
        let own = rounds - usize::from(text(request).contains("hello there"));
        match own {
            0 => ["MEMORY.md"]
                .iter()
                .copied()
                .map(str::to_owned)
                .chain(FACTS.iter().map(|(name, _)| format!("{name}.md")))
                .fold(Reply::default(), |reply, name| {
                    reply.and_tool("Read", json!({"file_path": dir.join(name)}))
                }),
            1 => act(&dir),
            _ => Reply::text("- billing.md: joined with tracker.md, one subject\n"),
        }
    })
}

fn joined(dir: &Path) -> Reply {
    let both = format!("{}\n{}", FACTS[0].1, FACTS[1].1);
    let index: String = FACTS
        .iter()
        .filter(|(name, _)| *name != "tracker")
        .map(|(name, _)| format!("- [{name}]({name}.md) — tidied\n"))
        .collect();
    [
        ("billing.md", fact("billing", &both)),
        ("tracker.md", String::new()),
        ("MEMORY.md", format!("# Memory\n\n{index}")),
    ]
    .iter()
    .fold(Reply::default(), |reply, (name, text)| {
        reply.and_tool("Write", json!({"file_path": dir.join(name), "content": text}))
    })
}

/// Five memories and their index.
fn fill(stage: &Stage) -> PathBuf {
    let dir = stage.memories();
    let mut index = "# Memory\n\n".to_owned();
    for (name, body) in FACTS {
        put(&dir, &format!("{name}.md"), &fact(name, body));
        index += &format!("- [{name}]({name}.md) — written by hand\n");
    }
    put(&dir, "MEMORY.md", &index);
    dir
}

/// Sessions of others, touched just now.
fn sessions(stage: &Stage, count: usize) {
    let dir = stage.memories();
    for n in 0..count {
        put(dir.parent().unwrap(), &format!("other-{n}.jsonl"), "{}\n");
    }
}

fn lock(dir: &Path, body: &str, ago: Duration) {
    put(dir, LOCK, body);
    age(&dir.join(LOCK), ago);
}

fn dreamt_ago(dir: &Path) -> Duration {
    let modified = std::fs::metadata(dir.join(LOCK)).unwrap().modified().unwrap();
    SystemTime::now().duration_since(modified).unwrap_or_default()
}

fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                std::fs::read_to_string(entry.path()).unwrap(),
            )
        })
        .collect()
}

#[test]
fn l6_1_a_headless_run_dreams_after_its_answer_once_every_gate_is_open() {
    let stage = dreaming(joined);
    let dir = fill(&stage);
    let dreams = || stage.of("dream").len();
    sessions(&stage, 4);
    stage.ask("hello there");
    assert_eq!(dreams(), 0, "four sessions besides this one are too few");
    sessions(&stage, 6);
    lock(&dir, "", HOUR * 23);
    stage.more("hello there again");
    assert_eq!(dreams(), 0, "23 hours are too few");
    lock(&dir, "", HOUR * 25);
    let off = stage.set(&json!({"autoDreamEnabled": false}));
    off.more("hello there once more");
    assert!(off.of("dream").is_empty(), "it is switched off");
    // Nothing is said of it: then it is on, in headless runs too.
    let mut stage = off;
    stage.settings.as_object_mut().unwrap().remove("autoDreamEnabled");
    let ran = stage.ask("hello there");
    assert_eq!(ran.out, "ok\n");
    let all = stage.requests();
    let first = all.iter().position(|one| one.source() == "dream").expect("it dreams");
    assert!(
        all[..first].iter().any(|one| one.source() == "main" && one.usage.is_some()),
        "after the answer"
    );
    assert!(!dir.join("tracker.md").exists(), "and is waited for");
    assert!(dreamt_ago(&dir) < HOUR);
    let before = stage.of("dream").len();
    stage.ask("hello there");
    assert_eq!(stage.of("dream").len(), before, "it has dreamt");
}

#[test]
fn l6_2_the_lock_says_who_dreams_and_when_it_was_and_is_reclaimed_where_nobody_does() {
    let stage = dreaming(joined);
    let dir = fill(&stage);
    stage.dream(&["--force"]).ok();
    assert_eq!(std::fs::read_to_string(dir.join(LOCK)).unwrap(), "", "empty after");
    assert!(dreamt_ago(&dir) < HOUR, "its time is that of the dream");
    // A live holder, a dead one, none, and one that is not ours and too old.
    let mut live =
        std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    lock(&dir, &live.id().to_string(), Duration::from_mins(1));
    stage.dream(&["--force"]).failed(4);
    lock(&dir, &live.id().to_string(), Duration::from_mins(61));
    let code = stage.dream(&["--force"]).code;
    assert_ne!(code, Some(4), "older than an hour");
    for (body, what) in [("2147483647", "dead"), ("", "empty"), ("who?", "unreadable")] {
        lock(&dir, body, Duration::from_mins(1));
        assert_ne!(stage.dream(&["--force"]).code, Some(4), "{what}");
    }
    live.kill().unwrap();
    live.wait().unwrap();
    // Failure rewinds it, and a time in the future counts as expired.
    let broken = Stage::new(|_| Reply::error(400, "no"));
    let dir = fill(&broken);
    lock(&dir, "", HOUR * 50);
    broken.dream(&["--force"]).failed(1);
    assert!(dreamt_ago(&dir) > HOUR * 49, "{:?}", dreamt_ago(&dir));
    let stage = dreaming(joined);
    let dir = fill(&stage);
    sessions(&stage, 6);
    let ahead = std::fs::File::create(dir.join(LOCK)).unwrap();
    ahead.set_modified(SystemTime::now() + HOUR * 100).unwrap();
    stage.dream(&[]).ok();
}

#[cfg(unix)]
#[test]
fn l6_2_l6_6_after_kill_9_the_very_next_dream_knows_when_the_last_was() {
    let stage = dreaming(|dir| joined(dir).gate("never"));
    let dir = fill(&stage);
    sessions(&stage, 6);
    lock(&dir, "", HOUR * 48);
    let before = files(&dir);
    let running = crate::desk::Running::start(&mut stage.sub(&["dream"]), None);
    super::until("the dream", || stage.of("dream").len() >= 2);
    assert_ne!(std::fs::read_to_string(dir.join(LOCK)).unwrap(), "", "it is held");
    running.kill();
    // Nobody looks in between.
    let other = dreaming(joined);
    let mut next = stage.sub(&["dream"]);
    next.env("ANTHROPIC_BASE_URL", other.server().base_url());
    let ran = crate::desk::Running::start(&mut next, None).end();
    assert_eq!(ran.code, Some(0), "two days have passed, not 0 minutes: {ran:?}");
    assert!(!other.of("dream").is_empty());
    assert!(!dir.join("tracker.md").exists() && before.contains_key("tracker.md"));
}

#[test]
fn l6_4_four_phases_from_the_parent_s_bytes_or_from_system_prompt_and_tools_alone() {
    let stage = dreaming(joined);
    fill(&stage);
    sessions(&stage, 6);
    stage.ask("hello there");
    let asked = stage.of("dream").remove(0);
    assert!(
        everfold_testkit::oracle::first_break(&stage.of("main")[0], &asked).is_none(),
        "a fork"
    );
    let said = asked.last_user_text().to_lowercase();
    let phases = ["orient", "gather", "consolidate", "prune"].map(|phase| said.find(phase));
    assert!(phases.iter().all(Option::is_some) && phases.is_sorted(), "{phases:?}: {said}");
    // By hand it starts from system prompt and tools alone.
    let stage = dreaming(joined);
    fill(&stage);
    stage.dream(&["--force"]).ok();
    let asked = stage.of("dream").remove(0);
    assert_eq!(asked.messages().len(), 1);
    assert!(
        !asked.system_text().is_empty()
            && asked.body["tools"].as_array().is_some_and(|all| !all.is_empty())
    );
}

#[test]
fn l6_5_it_may_pipe_one_reader_into_another_and_write_nothing_else() {
    let stage = dreaming(|dir| {
        let past = dir.parent().unwrap().display().to_string();
        let stray = dir.parent().unwrap().parent().unwrap().join("stray").display().to_string();
        [
            format!("grep -rn quetzal {past} --include=*.jsonl | tail -50"),
            format!("cat {past}/other-0.jsonl | wc -l"),
            format!("cat {past}/other-0.jsonl | tee {stray}"),
            format!("cat {past}/other-0.jsonl | sh"),
            format!("grep quetzal {past}/other-0.jsonl > {stray}"),
            format!("ls {past}; touch {stray}"),
        ]
        .iter()
        .fold(Reply::default(), |reply, command| {
            reply.and_tool("Bash", json!({ "command": command }))
        })
    });
    let dir = fill(&stage);
    sessions(&stage, 6);
    let line =
        json!({"type": "user", "message": {"content": "the quetzal service listens on 4417"}});
    put(dir.parent().unwrap(), "other-0.jsonl", &format!("{line}\n"));
    stage.dream(&["--force"]).ok();
    let answered = super::results(stage.of("dream").last().unwrap());
    let own = &answered[answered.len() - 6..];
    if own[0].contains("sandbox") && own[0].contains("refused") {
        eprintln!("skipped: there is no sandbox here; bubblewrap would do: {}", own[0]);
    } else {
        assert!(own[0].contains("listens on 4417"), "{own:?}");
        assert!(own[1].trim().ends_with('1'), "{own:?}");
    }
    assert!(own[2..].iter().all(|one| one.contains("refused")), "{own:?}");
    assert!(!dir.parent().unwrap().parent().unwrap().join("stray").exists());
}
