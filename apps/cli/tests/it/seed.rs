//! What defines the system, sentence by sentence (**seed** in the specification).
//!
//! Each scenario drives the built program and looks at what leaves it: requests
//! that a server got, files, what is printed. `cargo xtask conformance --seed`
//! lists them; some stand in the other files here, beside what they are about.
#![allow(clippy::format_collect, clippy::format_push_string, clippy::match_bool, reason = "tests")]

mod agents;
mod cache;
mod clearing;
mod compaction;
mod dreams;
mod extraction;
mod instructions;
mod memories;
mod notes;
mod recall;
mod results;
mod switches;
mod tokens;

use crate::desk::{Desk, Ran, Running};
use everfold_testkit::{Received, Reply, ServerRules, TempHome, TestServer};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command};
use std::time::{Duration, Instant, SystemTime};

/// How long something that runs beside may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

const SUMMARY: &str =
    "<analysis>draft</analysis>\n<summary>\n1. Primary request: keep counting.\n</summary>";

/// A home, a project, a model server, and how the program is started there.
struct Stage {
    desk: Desk,
    settings: Value,
    variables: Vec<(String, String)>,
    args: Vec<String>,
}

impl Stage {
    fn new(handler: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_rules(ServerRules::default(), handler)
    }

    fn with_rules(
        rules: ServerRules,
        handler: impl Fn(&Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let server = TestServer::with_handler(rules, handler).unwrap();
        // Whether something is worth its price is for the tests that are about that.
        let settings = json!({"everfold": {
            "memory": {"reviewer": "fork"},
            "compact": {"notes": "always", "economy": "off"},
            "budget": {"background_share": 0.0},
        }});
        Self {
            desk: Desk { files: TempHome::new().unwrap(), server: Some(server) },
            settings,
            variables: Vec::new(),
            args: Vec::new(),
        }
        .args(&["--model", "claude-haiku-4-5", "--permission-mode", "bypassPermissions"])
    }

    fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// The same without the arguments that every stage has.
    fn plain(mut self) -> Self {
        self.args.clear();
        self
    }

    fn set(mut self, more: &Value) -> Self {
        merge(&mut self.settings, more);
        self
    }

    fn var(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn flag(self, name: &str, value: &str) -> Self {
        self.var(&format!("EVERFOLD_FLAG_{}", name.to_uppercase()), value)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.desk.command(&[]);
        command.args(&self.args).arg("--settings").arg(self.settings.to_string()).args(args);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Running::start(&mut self.command(args), None).end()
    }

    /// A subcommand, with the settings of the stage.
    fn sub(&self, args: &[&str]) -> Command {
        let mut command = self.desk.command(args);
        command.args(["--settings", &self.settings.to_string()]);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    fn dream(&self, args: &[&str]) -> Ran {
        Running::start(&mut self.sub(&[&["dream"], args].concat()), None).end()
    }

    /// One turn in a session of its own.
    fn ask(&self, prompt: &str) -> Ran {
        self.run(&["-p", prompt]).ok()
    }

    /// One more turn of the last session, in a process of its own.
    fn more(&self, prompt: &str) -> Ran {
        self.run(&["-c", "-p", prompt]).ok()
    }

    /// A conversation in one process.
    fn talk(&self, lines: &[&str]) -> Ran {
        let input = format!("{}\n", lines.join("\n")).into_bytes();
        Running::start(&mut self.command(&[]), Some(input)).end().ok()
    }

    /// A conversation that stays open.
    fn open(&self) -> (Running, ChildStdin) {
        Running::typing(&mut self.command(&[]))
    }

    fn server(&self) -> &TestServer {
        self.desk.server()
    }

    fn requests(&self) -> Vec<Received> {
        self.server().requests()
    }

    fn of(&self, source: &str) -> Vec<Received> {
        self.server().requests_of(source)
    }

    /// The newest request of the conversation itself.
    fn last(&self) -> Received {
        self.of("main").pop().unwrap()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        self.desk.files.write(name, text).unwrap()
    }

    fn home(&self) -> PathBuf {
        self.desk.files.home().join(".everfold")
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        put(&self.home(), name, text)
    }

    /// Where the memories of the project are.
    fn memories(&self) -> PathBuf {
        PathBuf::from(self.desk.run(&["memory", "path"]).ok().out.trim())
    }

    /// The transcript of the only session.
    fn transcript(&self) -> PathBuf {
        let mut all = self.desk.transcripts();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    fn lines(&self) -> Vec<Value> {
        lines(&self.transcript())
    }

    /// The lines of a subtype, such as `compact_boundary`.
    fn marked(&self, subtype: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["subtype"] == subtype).collect()
    }

    /// Lets the only session be so much older, by what its lines say.
    fn let_pass(&self, time: Duration) {
        let path = self.transcript();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut older = String::new();
        for line in text.lines() {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if let Some(at) = line["timestamp"].as_str() {
                let at: everfold_kernel::Timestamp = at.parse().unwrap();
                let at = at - span(time);
                line["timestamp"] = at.to_string().into();
            }
            older.push_str(&line.to_string());
            older.push('\n');
        }
        std::fs::write(&path, older).unwrap();
    }
}

fn span(time: Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(time).unwrap()
}

/// A model that reads or runs what it is told to, and sums up when asked.
/// `read a.txt and b.txt`, `run true and false` are several calls at once.
fn worker(request: &Received) -> Reply {
    if asks_for_summary(request) {
        return Reply::text(SUMMARY);
    }
    if request.last_tool_results().is_some() {
        return Reply::text("Done.");
    }
    let said = request.last_user_text();
    let order =
        |word: &str| said.lines().rev().find_map(|line| line.strip_prefix(word)).map(str::to_owned);
    let calls = |all: &str, tool: &str, key: &str| {
        all.split(" and ")
            .fold(Reply::default(), |reply, one| reply.and_tool(tool, json!({key: one})))
    };
    match (order("read "), order("run ")) {
        (Some(files), _) => calls(&files, "Read", "file_path"),
        (_, Some(commands)) => calls(&commands, "Bash", "command"),
        _ => Reply::text("Fine."),
    }
}

fn asks_for_summary(request: &Received) -> bool {
    request.last_user_text().contains("<summary>")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn put(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// Lets a file be so much older.
fn age(path: &Path, by: Duration) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - by).unwrap();
}

fn memory(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\ntype: project\n---\n{body}\n")
}

/// All that a request says, as it was sent.
fn text(request: &Received) -> String {
    String::from_utf8(request.raw.to_vec()).unwrap()
}

/// The blocks of all messages.
fn blocks(request: &Received) -> Vec<Value> {
    let content = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    request.messages().iter().flat_map(content).collect()
}

/// What tools answered, in order.
fn results(request: &Received) -> Vec<String> {
    let all = blocks(request).into_iter().filter(|block| block["type"] == "tool_result");
    let shown = |block: Value| match &block["content"] {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().map(said).collect(),
    };
    all.map(shown).collect()
}

fn said(block: &Value) -> String {
    block["text"].as_str().unwrap_or_default().to_owned()
}

/// Waits until something holds; a busy machine has long enough.
fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what} never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn merge(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => under.clone_from(over),
    }
}
