//! Another agent takes the context layers over (K1): counted at the server.

use crate::examples::run_example;
use everfold_testkit::{Received, Reply, ServerRules, TestServer, oracle};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROUNDS: usize = 200;
const WINDOW: u64 = 60_000;
/// What only the request for a summary says.
const SUMMARY: &str = "The conversation is about to be compacted";

/// Files for 200 rounds: texts of some pages, and now and then a large one.
fn write_files(dir: &Path) {
    for number in 0..ROUNDS {
        let lines = if number % 50 == 9 { 1_500 } else { 40 + number % 30 };
        let line = |line| format!("part {number}, line {line}: the tide table of harbour {number}");
        let text = (0..lines).map(line).collect::<Vec<_>>().join("\n");
        std::fs::write(dir.join(format!("part-{number:03}.txt")), text).unwrap();
    }
}

/// A model that reads one file in each round.
fn server(window: u64) -> TestServer {
    let rules = ServerRules { window, ..ServerRules::default() };
    let round = AtomicUsize::new(0);
    TestServer::with_handler(rules, move |request| {
        if is_summary(request) {
            let read = round.load(Ordering::SeqCst);
            return Reply::text(format!(
                "<analysis>The parts were read in order.</analysis>\n<summary>\n1. Primary request \
                 and intent: compare the parts.\n7. Pending: parts {read} to {ROUNDS}.\n</summary>"
            ));
        }
        match round.fetch_add(1, Ordering::SeqCst) {
            number if number < ROUNDS => {
                Reply::tool("read_file", json!({"path": format!("part-{number:03}.txt")}))
            }
            _ => Reply::text("Harbour 17 has the highest tide."),
        }
    })
    .unwrap()
}

fn is_summary(request: &Received) -> bool {
    request.last_user_text().contains(SUMMARY)
}

/// What a session of an example came to.
struct Session {
    said: String,
    requests: Vec<Received>,
}

impl Session {
    fn of(example: &str, window: u64) -> Self {
        let (dir, server) = (tempfile::tempdir().unwrap(), server(window));
        write_files(dir.path());
        let address = server.base_url().replace("http://", "");
        let said =
            run_example(example, &[&address, "Which harbour has the highest tide?"], dir.path());
        Self { said, requests: server.requests() }
    }

    fn cost(&self) -> f64 {
        self.requests.iter().map(|request| request.cost.unwrap().0).sum()
    }

    fn largest(&self) -> u64 {
        self.requests.iter().map(|own| own.usage.unwrap().prompt().0).max().unwrap()
    }

    fn main(&self) -> Vec<Received> {
        self.requests.iter().filter(|request| !is_summary(request)).cloned().collect()
    }
}

#[test]
fn k1_an_agent_takes_the_layers_over_by_a_change_of_thirty_lines() {
    let [before, after] = ["plain_agent", "adopted_agent"].map(|name| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("examples/{name}.rs"));
        std::fs::read_to_string(path).unwrap()
    });
    assert!(!before.replace("//! ", "").lines().skip(8).any(|line| line.contains("everfold")));
    let lines = before.lines().count();
    assert!((180..=230).contains(&lines), "{lines} lines");
    let diff = TextDiff::from_lines(&before, &after);
    let count = |tag: ChangeTag| diff.iter_all_changes().filter(|own| own.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    eprintln!("{lines} lines, {added} added, {removed} removed");
    assert!(added <= 30, "{added} lines were added");
}

#[test]
fn k1_the_adopted_agent_stays_in_its_window_and_costs_less() {
    let plain = Session::of("plain_agent", 2_000_000);
    let adopted = Session::of("adopted_agent", WINDOW);
    eprintln!(
        "append-only: {} requests, largest {}, ${:.2}; adopted: {} requests, largest {}, ${:.2}",
        plain.requests.len(),
        plain.largest(),
        plain.cost(),
        adopted.requests.len(),
        adopted.largest(),
        adopted.cost()
    );
    for session in [&plain, &adopted] {
        assert!(session.said.starts_with("Harbour 17"), "{}", session.said);
        assert_eq!(session.main().len(), ROUNDS + 1);
        assert!(session.requests.iter().all(|request| request.refused.is_none()));
    }
    assert!(plain.largest() > 3 * WINDOW);
    assert!(adopted.largest() <= WINDOW);
    assert!(adopted.cost() < plain.cost(), "{} of {}", adopted.cost(), plain.cost());
    // The prefix changes only where the agent says that it did.
    let requests = adopted.main();
    let pairs = requests.iter().zip(requests.iter().skip(1));
    let breaks = pairs.filter(|(one, next)| oracle::first_break(one, next).is_some()).count();
    let told = |what: &str| adopted.said.lines().filter(|line| line.starts_with(what)).count();
    let (cleared, compacted) = (told("cleared"), told("compacted"));
    eprintln!("{cleared} clearings, {compacted} compactions, {} spills", told("moved"));
    assert!(told("moved") > 0 && cleared + compacted > 0, "{}", adopted.said);
    assert_eq!(breaks, cleared + compacted, "{}", adopted.said);
    assert_summaries_share_the_prefix(&adopted);
}

/// A summary is asked for by the bytes that the server has cached.
fn assert_summaries_share_the_prefix(session: &Session) {
    for (at, request) in session.requests.iter().enumerate() {
        if is_summary(request) {
            let before = &session.requests[at - 1];
            let found = oracle::first_break(before, request);
            assert_eq!(found.map(|found| found.to_string()), None, "summary {at}");
        }
    }
}

#[test]
fn k1_the_layers_run_around_somebody_elses_loop() {
    let dir = tempfile::tempdir().unwrap();
    let said = run_example("own_loop", &[], dir.path());
    for act in ["moved 1 large result to disk", "cleared ", "compacted ("] {
        assert!(said.contains(act), "{act}: {said}");
    }
    assert!(said.contains("None of the files is broken."), "{said}");
}

#[test]
fn k1_the_layers_run_in_front_of_chat_completions() {
    let dir = tempfile::tempdir().unwrap();
    let said = run_example("openai_loop", &[], dir.path());
    assert!(said.starts_with("It is Monday.\n2 requests"), "{said}");
}

#[test]
fn k1_a_chat_of_ten_lines_remembers_from_one_conversation_to_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let said = |line: &str| {
        crate::examples::run_with_input("memory_chat", &["memories"], dir.path(), line)
    };
    let first = said("From now on, deploy to the staging cluster in Zurich first.\n");
    assert!(!first.contains("system-reminder"), "{first}");
    let files: Vec<String> = std::fs::read_dir(dir.path().join("memories"))
        .unwrap()
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(files.iter().any(|name| name.contains("staging")), "{files:?}");
    let later = said("Where do I deploy first, to which staging cluster?\n");
    assert!(later.contains("Zurich"), "{later}");
    let other = said("Write a poem about the sea.\n");
    assert!(!other.contains("Zurich"), "{other}");
}

/// Notes as a model writes them: what it was shown, with one line more.
fn newer_notes(request: &Received) -> Option<String> {
    let told = request.last_user_text();
    let shown = told.split_once("<current-notes>\n")?.1.split_once("\n</current-notes>")?.0;
    let (before, after) = shown.split_once("comes next._")?;
    let line = format!("\nReading the tide tables, {} messages so far.", request.messages().len());
    Some(format!("<notes>\n{before}comes next._{line}{after}\n</notes>"))
}

#[test]
fn k1_l3_notes_are_ready_when_the_window_is_full() {
    use everfold::context::{ActKind, Context, ContextSetup, LocalPorts};
    let rules = ServerRules { window: WINDOW, ..ServerRules::default() };
    let server = TestServer::with_handler(rules, |request| match newer_notes(request) {
        Some(notes) => Reply::text(notes),
        None => Reply::tool("read_file", json!({"path": "a"})),
    });
    let (server, dir) = (server.unwrap(), tempfile::tempdir().unwrap());
    let address = server.base_url();
    let mut ports = LocalPorts::new(dir.path(), |body: &[u8]| post(&address, body));
    let mut context = Context::new(ContextSetup::new("claude-sonnet-4-5").window(WINDOW).notes());
    context.push(&json!({"role": "user", "content": "Read the parts."})).unwrap();
    let kinds = |context: &Context| -> Vec<ActKind> {
        context.explain().acts.iter().map(|act| act.kind).collect()
    };
    for _ in 0..60 {
        context.prepare(&mut ports).unwrap();
        if kinds(&context).contains(&ActKind::Compacted) {
            break;
        }
        let response = post(&address, &context.request()).unwrap();
        let answer = context.observe(&response).unwrap();
        let id = answer.blocks[0].as_map()["id"].clone();
        let result = json!({"type": "tool_result", "tool_use_id": id,
            "content": "the tide table of a harbour\n".repeat(150)});
        context.push(&json!({"role": "user", "content": [result]})).unwrap();
    }
    assert!(kinds(&context).contains(&ActKind::Noted), "{:?}", context.explain().acts);
    assert!(kinds(&context).contains(&ActKind::Compacted), "{:?}", context.explain().acts);
    // The notes are the summary: no other was asked for.
    assert!(!server.requests().iter().any(is_summary));
    let shown = String::from_utf8(context.request().to_vec()).unwrap();
    assert!(shown.contains("Reading the tide tables"), "{shown}");
}

#[test]
fn k1_a_context_that_is_resumed_sends_the_same_bytes() {
    use everfold::context::{Context, ContextSetup, LocalPorts};
    let dir = tempfile::tempdir().unwrap();
    let server = server(WINDOW);
    let address = server.base_url();
    let setup = || {
        let read = json!({"name": "read_file", "description": "Reads a file.",
            "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}});
        ContextSetup::new("claude-sonnet-4-5").tools([read]).window(40_000)
    };
    let mut context = Context::new(setup());
    let mut ports = LocalPorts::new(dir.path(), |body: &[u8]| post(&address, body));
    let mut lines = String::new();
    context.push(&json!({"role": "user", "content": "Read the parts."})).unwrap();
    let mut compactions = 0;
    for _ in 0..40 {
        context.prepare(&mut ports).unwrap();
        let response = post(&address, &context.request()).unwrap();
        let answer = context.observe(&response).unwrap();
        let results: Vec<Value> = answer
            .blocks
            .iter()
            .filter_map(|block| block.as_map().get("id"))
            .map(|id| {
                json!({"type": "tool_result", "tool_use_id": id,
                "content": "the tide table of a harbour\n".repeat(200)})
            })
            .collect();
        context.push(&json!({"role": "user", "content": results})).unwrap();
        lines.push_str(&context.take_lines());
        let acts = context.explain().acts;
        compactions = acts.iter().filter(|act| act.line.starts_with("compacted")).count();
        let mut resumed = Context::resume(setup(), lines.as_bytes());
        assert_eq!(resumed.request(), context.request(), "after {compactions} compactions");
    }
    assert!(compactions > 0);
}

/// What the documentation of a source lists: what is made public there, and not
/// hidden.
fn shown_items(source: &str) -> Vec<String> {
    let mut items = Vec::new();
    for statement in source.split_inclusive([';', '{']) {
        let code: Vec<&str> =
            statement.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let is_hidden = code.iter().any(|line| line.contains("doc(hidden)"));
        let defined = code.iter().filter(|_| !is_hidden).filter_map(|line| {
            let kinds = ["struct ", "enum ", "trait ", "fn "].map(|kind| format!("pub {kind}"));
            let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind.as_str()))?;
            rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
        });
        items.extend(defined);
    }
    let mut hidden = false;
    let mut uses = String::new();
    for line in source.lines() {
        hidden |= line.contains("doc(hidden)");
        if !uses.is_empty() || line.starts_with("pub use ") {
            uses.push_str(line);
        }
        if line.ends_with(';') {
            let listed = uses.trim_end_matches([';', '}']).rsplit(['{']).next().unwrap_or("");
            let names = listed.split(',').filter(|_| !hidden && !uses.is_empty());
            let name = |own: &str| own.rsplit([' ', ':']).next().map(str::to_owned);
            items.extend(names.map(str::trim).filter(|own| !own.is_empty()).filter_map(name));
            uses.clear();
            hidden = false;
        }
    }
    items
}

#[test]
fn k2_the_library_shows_about_sixty_items() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |name: &str| std::fs::read_to_string(src.join(name)).unwrap();
    let items: Vec<String> = ["lib.rs", "context.rs", "../../agent/src/memory_tool.rs"]
        .iter()
        .flat_map(|name| shown_items(&read(name)))
        .collect();
    for known in ["Agent", "Context", "ContextSetup", "Explanation", "Kept", "Tool", "run"] {
        assert!(items.iter().any(|item| item == known), "{known}: {items:?}");
    }
    assert!(!items.iter().any(|item| item == "Budget" || item == "settings"), "{items:?}");
    eprintln!("{} items", items.len());
    assert!((50..=70).contains(&items.len()), "{}: {items:?}", items.len());
}

#[test]
#[ignore = "the full figure: it asks the index of packages"]
fn k3_every_crate_is_packaged_soak() {
    let (root, target) = (Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), tempfile::tempdir());
    let target = target.unwrap();
    let ours = ["xtask", "everfold-testkit", "everfold-bench", "everfold-bench-recall"];
    let mut cargo = std::process::Command::new(env!("CARGO"));
    cargo.args(["package", "--workspace", "--no-verify", "--allow-dirty", "--locked"]);
    for name in ours {
        cargo.args(["--exclude", name]);
    }
    let done = cargo.current_dir(root).env("CARGO_TARGET_DIR", target.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let packages = std::fs::read_dir(target.path().join("package")).unwrap();
    let packages = packages.filter(|own| own.as_ref().unwrap().path().extension().is_some());
    println!("{} packages", packages.count());
}

fn post(address: &str, body: &[u8]) -> std::io::Result<Vec<u8>> {
    use std::io::{Read as _, Write as _};
    let address = address.replace("http://", "");
    let mut stream = std::net::TcpStream::connect(&address)?;
    let head = format!(
        "POST /v1/messages HTTP/1.0\r\nhost: {address}\r\nx-api-key: none\r\n\
         anthropic-version: 2023-06-01\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), body].concat())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    Ok(response.split_off(end + 4))
}
