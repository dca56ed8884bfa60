//! Ten thousand sessions, ten thousand memories, a session of a million tokens
//! (W6): pages stay small and quick, and the program too.

use super::Page;
use crate::desk::Desk;
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Largest page, in bytes.
const PAGE_BYTES: usize = 1_000_000;
/// Most memory of the program, in kB.
const MEMORY_KB: u64 = 150_000;
const ROUNDS: usize = 7;

struct Size {
    sessions: usize,
    memories: usize,
    requests: usize,
    /// Tokens of the largest request of the large session.
    tokens: u64,
}

fn line(id: &str, number: usize, at: i64, more: &serde_json::Value) -> String {
    let at = jiff::Timestamp::from_second(at).unwrap().to_string();
    let parent = number.checked_sub(1).map(|before| format!("{id}-{before}"));
    let mut line = json!({"uuid": format!("{id}-{number}"), "parentUuid": parent, "timestamp": at,
        "sessionId": id, "cwd": format!("/home/u/project-{}", number % 7), "version": "2.1.325"});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line.to_string()
}

/// A session of so many rounds, each with a result of so many bytes.
fn session(id: &str, began: i64, rounds: usize, bytes: usize) -> String {
    let text = "let total = items.iter().map(|item| item.price * item.count).sum::<u64>();\n";
    let result = text.repeat(bytes / text.len() + 1);
    let tokens = result.len() as u64 / 4;
    let mut out = String::new();
    let prompt = json!({"type": "user", "message": {"role": "user", "content": format!("look into {id}, please")}});
    writeln!(out, "{}", line(id, 0, began, &prompt)).unwrap();
    let mut context = 15_000;
    for round in 0..rounds {
        let (at, call) =
            (began + 20 * i64::try_from(round).unwrap(), format!("toolu_{id}_{round}"));
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": context,
            "cache_creation_input_tokens": tokens, "output_tokens": 90});
        context += tokens + 90;
        let answer = json!({"type": "assistant", "requestId": format!("req_{id}_{round}"), "message": {
            "id": format!("msg_{id}_{round}"), "role": "assistant", "model": "claude-opus-4-5",
            "content": [{"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": format!("/p/{round}.rs")}}],
            "stop_reason": "tool_use", "usage": usage}});
        writeln!(out, "{}", line(id, 2 * round + 1, at + 5, &answer)).unwrap();
        let told = json!({"type": "user", "message": {"role": "user", "content":
            [{"type": "tool_result", "tool_use_id": call, "content": result}]}});
        writeln!(out, "{}", line(id, 2 * round + 2, at + 8, &told)).unwrap();
    }
    out
}

fn fill(desk: &Desk, size: &Size) {
    let now = jiff::Timestamp::now().as_second();
    let projects = desk.files.home().join(".claude/projects");
    for number in 0..size.sessions {
        let folder = projects.join(format!("-home-u-project-{}", number % 50));
        std::fs::create_dir_all(&folder).unwrap();
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        let began = now - 7_200 - i64::try_from(number).unwrap() * 300;
        std::fs::write(folder.join(format!("{id}.jsonl")), session(&id, began, size.requests, 300))
            .unwrap();
    }
    let large = "ffffffff-0000-4000-8000-000000000000";
    let rounds = usize::try_from(size.tokens / 2_600).unwrap();
    std::fs::write(
        projects.join(format!("{large}.jsonl")),
        session(large, now - 3_600, rounds, 10_000),
    )
    .unwrap();
    let added = ["memory", "add", "--type", "project", "--name", "Deploy day", "--description"];
    desk.run_with(&[&added[..], &["Deploys happen on Tuesdays"]].concat(), "The rota is why.").ok();
    let memory = desk.project_dir().join("memory");
    for number in 0..size.memories {
        put(&memory, number);
    }
}

fn put(memory: &Path, number: usize) {
    let word = ["login", "import", "billing", "search", "cache", "theme", "release"][number % 7];
    let text = format!(
        "---\nname: {word} {number}\ndescription: What was decided about {word} in week {number}\ntype: project\n---\n\n\
         In week {number} the {word} was changed so that module {number} owns it.\n\n**Why:** it broke twice.\n"
    );
    std::fs::write(memory.join(format!("{word}-{number}.md")), text).unwrap();
}

/// Opens everything; says how large and, at the median, how quick each page is.
fn measure(desk: &Desk) -> (Vec<(String, usize, Duration)>, u64) {
    let page = Page::start(desk, &["web"]);
    page.settle();
    let large = "/sessions/ffffffff-0000-4000-8000-000000000000";
    let pages = [
        "/".to_owned(),
        "/sessions".to_owned(),
        "/sessions?q=0000ff&sort=cost".to_owned(),
        "/sessions?page=100".to_owned(),
        large.to_owned(),
        format!("{large}?show=calls&page=3"),
        format!("{large}/requests/200"),
        format!("{large}/messages/300"),
        "/memories".to_owned(),
        "/memories?q=billing+week&sort=name&page=2".to_owned(),
        "/memories/project/deploy-day.md".to_owned(),
        "/changes".to_owned(),
        "/inbox".to_owned(),
        "/money?by=project&days=all".to_owned(),
        "/recall?q=who+owns+the+billing+module".to_owned(),
        "/settings".to_owned(),
    ];
    let mut rows = Vec::new();
    for path in pages {
        // What is read for the first time is read here.
        let bytes = page.get(&path).len();
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| page.first_byte(&path)).collect();
        times.sort();
        println!("{path}: at most {} MB so far", page.peak_kb() / 1_000);
        rows.push((path, bytes, times[ROUNDS / 2]));
    }
    (rows, page.peak_kb())
}

fn check(rows: &[(String, usize, Duration)], peak: u64) {
    for (path, bytes, time) in rows {
        println!("{path:<60} {bytes:>8} bytes {:>7.1} ms", time.as_secs_f64() * 1e3);
        assert!(*bytes < PAGE_BYTES && *bytes > 1_000, "{path} has {bytes} bytes");
    }
    println!("most memory: {} MB", peak / 1_000);
    if cfg!(target_os = "linux") {
        assert!((1..MEMORY_KB).contains(&peak), "{peak} kB");
    }
}

#[test]
fn w6_pages_of_many_sessions_and_memories_stay_small() {
    let desk = Desk::offline();
    fill(&desk, &Size { sessions: 150, memories: 150, requests: 4, tokens: 1_000_000 });
    let (rows, peak) = measure(&desk);
    check(&rows, peak);
}

#[test]
#[ignore = "the full figures: cargo xtask soak"]
fn w6_ten_thousand_of_each_soak() {
    let desk = Desk::offline();
    let begun = Instant::now();
    fill(&desk, &Size { sessions: 10_000, memories: 10_000, requests: 20, tokens: 1_000_000 });
    println!("made in {:?}", begun.elapsed());
    let begun = Instant::now();
    let page = Page::start(&desk, &["web"]);
    page.settle();
    println!("read for the first time in {:?}, {} MB", begun.elapsed(), page.peak_kb() / 1_000);
    drop(page);
    let (rows, peak) = measure(&desk);
    check(&rows, peak);
}
