//! Many agents at once, and agents whose window fills while others wait,
//! compact or cancel.

use crate::place::{Place, Turn, say};
use everfold_engine::agents::letters;
use everfold_engine::{EndReason, TaskStatus};
use everfold_testkit::{FakeModel, Received, Reply, ServerRules};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A server where the main thread starts so many background agents, each of
/// which takes a step, writes to the main thread three times and ends.
fn busy(agents: usize) -> impl Fn(&Received) -> Reply + Send + Sync + 'static {
    move |request: &Received| {
        let body = String::from_utf8_lossy(&request.raw).into_owned();
        if request.source() == "main" {
            if body.contains("runs in the background") {
                return Reply::text("They run.");
            }
            let mut reply = Reply::default();
            for number in 0..agents {
                reply = reply.and_tool("Agent", json!({"description": format!("part {number}"),
                    "prompt": format!("do part {number}"), "run_in_background": true, "name": format!("w{number}")}));
            }
            return reply;
        }
        let messages = request.body["messages"].as_array().unwrap().len();
        match messages {
            1 => Reply::tool("Glob", json!({"pattern": "*"})),
            3 | 5 | 7 => Reply::tool(
                "SendMessage",
                json!({"to": "main", "message": format!("step {messages}")}),
            ),
            _ => Reply::text("My part is done."),
        }
    }
}

async fn all_end(count: usize) {
    let place = Place::new(FakeModel::with_handler(ServerRules::default(), busy(count)));
    let agent = place.agent().await;
    let mut session = agent.start();
    assert_eq!(say(&mut session, "go").await.reason, EndReason::Completed);
    while !letters::agents(&session).running().is_empty() {
        tokio::time::timeout(Duration::from_mins(1), letters::news(&session))
            .await
            .expect("no deadlock");
        Turn::go_on(&mut session).end().await.unwrap();
    }
    Turn::go_on(&mut session).end().await.unwrap();
    everfold_engine::finish(&mut session).await.unwrap();
    let tasks = session.background().list();
    assert!(tasks.iter().all(|task| task.status == TaskStatus::Completed));
    // Every letter arrived once, in order for each sender.
    let lines = place.transcript_of(session.id());
    let letters: Vec<(&str, &str)> = lines
        .iter()
        .filter(|line| line["attachment"]["type"] == "agent_message")
        .map(|line| {
            let from = line["attachment"]["from"].as_str().unwrap();
            let text = line.to_string();
            let step = ["step 3", "step 5", "step 7"].into_iter().find(|step| text.contains(step));
            (from, step.unwrap())
        })
        .collect();
    for number in 0..count {
        let name = format!("w{number}");
        let mine: Vec<&str> =
            letters.iter().filter(|(from, _)| *from == name).map(|(_, s)| *s).collect();
        assert_eq!(mine, ["step 3", "step 5", "step 7"], "{name}");
    }
    let ended = lines.iter().filter(|line| line["attachment"]["type"] == "task_status").count();
    assert_eq!(ended, count, "every end is told once");
}

#[tokio::test]
async fn l7_4_l7_5_many_background_agents_all_end_and_letters_keep_their_order() {
    Box::pin(all_end(12)).await;
}

#[tokio::test]
#[ignore = "the full figure, for soak runs; memory is printed"]
async fn l7_4_fifty_background_agents_soak() {
    Box::pin(all_end(50)).await;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown");
    println!("50 background agents: peak memory {peak}");
}

/// A small generator: the same seed gives the same run.
struct Seed(u64);

impl Seed {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// What is taken for a deadlock: far more than a run takes on a busy machine.
const LONGEST: Duration = Duration::from_mins(10);

/// One run: a sub-agent fills its window, in the foreground or beside a parent
/// that compacts too, and may be cancelled on the way.
async fn one_run(number: u64) {
    let mut seed = Seed(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (background, cancels, reads) = (seed.below(2) == 1, seed.below(3) == 0, 3 + seed.below(4));
    let stop_after = 2 + usize::try_from(seed.below(8)).unwrap();
    let served = AtomicU64::new(0);
    let handler = move |request: &Received| {
        let body = String::from_utf8_lossy(&request.raw);
        match request.source() {
            "compact" => Reply::text("<summary>It read big.txt.</summary>"),
            "main" if body.contains("do the task") => {
                if request.last_user_text().contains("fill yours") {
                    return Reply::text("word ".repeat(7_000));
                }
                Reply::text("fine")
            }
            "main" => Reply::tool(
                "Agent",
                json!({"description": "read", "prompt": "do the task",
                "run_in_background": background}),
            ),
            _ if served.fetch_add(1, Ordering::SeqCst) < reads => {
                Reply::tool("Read", json!({"file_path": "big.txt"}))
            }
            _ => Reply::text("Read it all."),
        }
    };
    let rules = ServerRules { window: 45_000, ..ServerRules::default() };
    let place = Place::new(FakeModel::with_handler(rules, handler));
    place.write("big.txt", &"some line of text to read\n".repeat(1_200));
    let builder = place.builder_with(&[("/autoCompactWindow", "45000")]);
    let agent = builder.build().await;
    let mut session = agent.start();
    let run = async {
        let turn = Turn::new(&mut session, "go");
        let stop = turn.canceller();
        let cancelling = async {
            if cancels && place.model.wait_for_requests(stop_after).await.is_ok() {
                stop.cancel();
            }
        };
        tokio::select! {
            end = turn.end() => { end.unwrap(); }
            () = async { cancelling.await; std::future::pending::<()>().await } => {}
        }
        for _ in 0..2 {
            let end = say(&mut session, "fill yours").await;
            assert!(end.reason.is_success(), "seed {number}: {:?}", end.reason);
        }
        everfold_engine::finish(&mut session).await.unwrap();
        assert!(letters::agents(&session).running().is_empty());
    };
    let ended = tokio::time::timeout(LONGEST, run).await;
    assert!(ended.is_ok(), "seed {number}: no end within {LONGEST:?}");
    agent.shutdown().await;
}

#[tokio::test]
async fn l7_8_agents_compact_while_their_parent_waits_compacts_or_cancels() {
    for seed in 0..12 {
        Box::pin(one_run(seed)).await;
    }
}

#[tokio::test]
#[ignore = "the full figure, for soak runs"]
async fn l7_8_a_thousand_seeded_runs_soak() {
    for seed in 0..1_000 {
        Box::pin(one_run(seed)).await;
        if (seed + 1) % 100 == 0 {
            println!("{} seeded runs without a deadlock", seed + 1);
        }
    }
}
