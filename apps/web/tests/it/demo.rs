//! A machine on which somebody has worked for two weeks: for pictures, and for
//! tests that want something of everything.

use crate::stage::Stage;
use everfold_kernel::Timestamp;
use everfold_kernel::ports::{
    Begun, Clock, Dreams, Ending, LogsRead, MemoryScope, NightPurpose, NightWish, Swap, SwapEdit,
};
use everfold_memory_store::{DirDreams, StoreScope};
use serde_json::{Value, json};
use std::sync::Arc;

const DAY: i64 = 86_400;

/// What was asked in each session, and where.
const WORK: [(&str, &str); 8] = [
    ("the login fails on Mondays, find out why", "/home/mia/shop"),
    ("write the guide for the new importer", "/home/mia/docs"),
    ("move the warehouse to ClickHouse", "/home/mia/shop"),
    ("why is the checkout slow on phones?", "/home/mia/shop"),
    ("add a dark theme", "/home/mia/site"),
    ("the nightly build is red again", "/home/mia/shop"),
    ("review the pull request about retries", "/home/mia/lib"),
    ("make the release notes", "/home/mia/docs"),
];

/// A session as Claude Code writes it.
struct Script {
    id: String,
    cwd: &'static str,
    at: i64,
    lines: Vec<String>,
    last: Option<String>,
    context: u64,
    cached: u64,
}

impl Script {
    fn push(&mut self, kind: &str, more: &Value) -> String {
        let uuid = format!("{}-{}", self.id, self.lines.len());
        let at = Timestamp::from_second(self.at).unwrap();
        let mut line = json!({"type": kind, "uuid": uuid, "parentUuid": self.last, "timestamp": at.to_string(),
            "sessionId": self.id, "cwd": self.cwd, "version": "2.1.325"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.lines.push(line.to_string());
        self.last = Some(uuid.clone());
        uuid
    }

    fn person(&mut self, text: &str) {
        self.context += text.len() as u64 / 4 + 12;
        self.push("user", &json!({"message": {"role": "user", "content": text}}));
    }

    /// A response that calls a tool, and the result.
    fn round(&mut self, number: usize, result: usize) {
        let call = format!("toolu_{}_{number}", self.id);
        self.answer(
            number,
            &json!({"type": "tool_use", "id": call, "name": "Read",
            "input": {"file_path": format!("{}/src/part_{number}.rs", self.cwd)}}),
        );
        let text = "fn part() -> Result<(), Error> { load()?.check() }\n".repeat(result / 50);
        self.context += text.len() as u64 / 4;
        self.at += 4;
        self.push(
            "user",
            &json!({"message": {"role": "user", "content":
            [{"type": "tool_result", "tool_use_id": call, "content": text}]}}),
        );
    }

    fn answer(&mut self, number: usize, block: &Value) {
        self.at += 15;
        let written = self.context - self.cached;
        let usage = json!({"input_tokens": 4, "cache_read_input_tokens": self.cached,
            "cache_creation_input_tokens": written, "output_tokens": 240});
        self.cached = self.context;
        self.context += 240;
        let id = format!("{}_{number}_{}", self.id, self.lines.len());
        self.push(
            "assistant",
            &json!({"requestId": format!("req_{id}"), "message": {"id": format!("msg_{id}"),
            "type": "message", "role": "assistant", "model": "claude-opus-4-5", "content": [block],
            "stop_reason": "end_turn", "usage": usage}}),
        );
    }

    fn compact(&mut self) {
        let before = self.context;
        self.push(
            "system",
            &json!({"subtype": "compact_boundary", "content": "Conversation compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": before}}),
        );
        self.push("user", &json!({"isCompactSummary": true, "message": {"role": "user",
            "content": "This session is being continued. The login was traced to the session clock; the fix is in review."}}));
        (self.context, self.cached) = (24_000, 14_000);
    }
}

/// Sessions of two weeks.
pub(crate) fn sessions(stage: &Stage) {
    let now = Timestamp::now().as_second();
    for number in 0..22_usize {
        let (prompt, cwd) = WORK[number % WORK.len()];
        let day = i64::try_from(number * 13 / 21).unwrap();
        let at = now - (13 - day) * DAY - 5_400;
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        let mut script = Script {
            id: id.clone(),
            cwd,
            at,
            lines: Vec::new(),
            last: None,
            context: 18_000,
            cached: 12_000,
        };
        script.person(prompt);
        let rounds = 12 + (number * 37) % 90;
        for round in 0..rounds {
            script.round(round, 1_500 + (round * 7_919 + number * 104_729) % 14_000);
            if round % 9 == 8 {
                script.answer(
                    round,
                    &json!({"type": "text", "text": "That part is done; here is what I found."}),
                );
                script.person("good, go on");
            }
            // The cache is lost now and then: another server, a changed tool.
            if round % 31 == 30 {
                script.cached = 9_000;
            }
            if script.context > 150_000 {
                script.compact();
            }
        }
        let path = stage
            .files
            .home()
            .join(format!(".claude/projects/{}/{id}.jsonl", cwd.replace('/', "-")));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, script.lines.join("\n") + "\n").unwrap();
    }
}

/// Memories, a dream, and what waits.
pub(crate) fn memories(stage: &Stage) {
    let all = [
        (
            "Deploy day",
            "Deploys happen on Tuesdays, never on Fridays",
            "Deploys go out on Tuesdays.\n\n**Why:** the on-call rota.\n\n**How to apply:** plan releases for Monday evening.",
        ),
        (
            "Warehouse",
            "The warehouse runs on ClickHouse since October",
            "Reports read from ClickHouse; Postgres holds orders only.",
        ),
        (
            "Answers",
            "Mia prefers short answers with the command first",
            "Short answers. The command first, the reason after it.",
        ),
        (
            "Staging key",
            "Where the staging key is kept",
            "It is in the team vault under staging/deploy.",
        ),
        (
            "Login clock",
            "Logins fail when the session clock is off by an hour",
            "Seen on Mondays after the host was suspended.",
        ),
        ("Old deploys", "Deploys are on Tuesdays", "Tuesdays."),
    ];
    for (name, description, body) in all {
        stage.remember(name, description, body);
    }
    stage.propose(
        "Test runner",
        "Tests run with nextest, in CI and by hand",
        "`cargo nextest run` is what CI calls.",
    );
    stage.propose("Ticket names", "Branches are named after tickets", "Such as T-123-login.");
    dream(stage);
}

/// A dream that drops a copy.
fn dream(stage: &Stage) {
    let store = stage.store(StoreScope::Project);
    let clock: Arc<dyn Clock> = Arc::new(everfold_agent::SystemClock);
    let dreams = DirDreams::new(store.dir().to_owned(), MemoryScope::Project, &clock);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let at = Timestamp::now();
        let wish = NightWish { at, unless_after: None, purpose: NightPurpose::Change };
        let Begun::Night(night) = dreams.begin(wish).await.unwrap() else {
            panic!("somebody dreams")
        };
        let topic = everfold_memory_store::TopicPath::new("old-deploys.md").unwrap();
        let expect = Some(store.read(&topic).unwrap().content.as_str().to_owned());
        let edits = vec![SwapEdit { path: "old-deploys.md".to_owned(), expect, text: None }];
        let reason = "merged a copy of what deploy-day.md says".to_owned();
        night.swap(Swap { edits, reason, session: None, at }).await.unwrap();
        night.end(Ending::Done { at, logs: LogsRead::No }).await.unwrap();
    });
}
