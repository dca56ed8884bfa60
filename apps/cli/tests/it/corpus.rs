//! What older versions wrote (`testkit/corpus`), read by this one (A4).
//!
//! Each version's files lie under a path of the same length as the one that they
//! were made under, so that it can be replaced in them byte by byte.

use crate::desk::{KEY, Ran, Running};
use everfold_testkit::{Received, Reply, Scenario, TestServer, oracle};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The folder under `/tmp` in which the files were made, and the start of the
/// name of ours.
const MADE_IN: &str = "everfold-corpus";
const START: &str = "everfold-";

/// What one version wrote, and what it said about it.
struct Corpus {
    dir: TempDir,
    expected: Value,
    server: Option<TestServer>,
}

impl Corpus {
    /// A copy of every version's files, each with a model or none.
    fn all(server: impl Fn() -> Option<TestServer>) -> Vec<Self> {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testkit/corpus");
        let folders = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path());
        let mut versions: Vec<PathBuf> =
            folders.filter(|folder| folder.join("expected.json").is_file()).collect();
        versions.sort();
        assert!(!versions.is_empty(), "the corpus is gone");
        versions.iter().map(|from| Self::copy(from, server())).collect()
    }

    fn offline() -> Vec<Self> {
        Self::all(|| None)
    }

    /// With a model that repeats nothing of what it was told.
    fn answering() -> Vec<Self> {
        let scenario = || Scenario::new().otherwise(Reply::text("I see."));
        Self::all(|| Some(TestServer::start(scenario()).unwrap()))
    }

    fn copy(from: &Path, server: Option<TestServer>) -> Self {
        let dir = tempfile::Builder::new()
            .prefix(START)
            .rand_bytes(MADE_IN.len() - START.len())
            .tempdir_in("/tmp")
            .unwrap();
        let name = dir.path().file_name().unwrap().to_str().unwrap();
        copy(from, dir.path(), name);
        let expected = std::fs::read_to_string(dir.path().join("expected.json")).unwrap();
        let expected = serde_json::from_str(&expected).unwrap();
        let corpus = Self { dir, expected, server };
        for repository in ["project", "brought"] {
            let mut git = Command::new("git");
            git.args(["init", "-q", "-b", "main"]).current_dir(corpus.path(repository));
            assert!(git.status().unwrap().success());
        }
        std::fs::create_dir(corpus.path("bin")).unwrap();
        let program = corpus.path("bin/everfold");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_everfold"), program).unwrap();
        corpus
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn home(&self, name: &str) -> PathBuf {
        self.path("home/.everfold").join(name)
    }

    fn memory(&self, name: &str) -> PathBuf {
        self.sessions().join("memory").join(name)
    }

    /// Where the transcripts are.
    fn sessions(&self) -> PathBuf {
        let slug = self.path("project").display().to_string().replace('/', "-");
        self.home("projects").join(slug)
    }

    /// The id of a session by what happened in it.
    fn session(&self, what: &str) -> &str {
        self.expected["sessions"][what].as_str().unwrap()
    }

    fn command(&self, folder: &str, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_everfold"));
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs([("TZ", "UTC"), ("LANG", "C.UTF-8"), ("TERM", "dumb")])
            .env("EVERFOLD_LIMIT_RETRY_BASE_MS", "1")
            .env("EVERFOLD_LIMIT_RETRY_MAX_MS", "2")
            .env("EVERFOLD_FLAG_SESSION_MEMORY", "0")
            .env("EVERFOLD_FLAG_EXTRACT", "0")
            .current_dir(self.path(folder))
            .args(args)
            .stdin(Stdio::null());
        if let Some(server) = &self.server {
            command.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", server.base_url());
        }
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Running::start(&mut self.command("project", args), None).end()
    }

    fn run_with(&self, args: &[&str], input: impl Into<Vec<u8>>) -> Ran {
        Running::start(&mut self.command("project", args), Some(input.into())).end()
    }

    fn requests(&self) -> Vec<Received> {
        self.server.as_ref().unwrap().requests()
    }

    /// What was said in the newest request, as text.
    fn sent(&self) -> String {
        self.requests().last().unwrap().body["messages"].to_string()
    }

    /// What the old program said.
    fn looks(&self) -> impl Iterator<Item = Look<'_>> {
        self.expected["looks"].as_array().unwrap().iter().map(|look| Look {
            folder: look["in"].as_str().unwrap(),
            args: look["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect(),
            code: look["code"].as_i64().unwrap(),
            says: &look["says"],
            complaints: look["complaints"].as_str().unwrap(),
        })
    }
}

/// Copies a folder as a person's own, with another name for the place where it
/// was made. In the repository, `.gitignore` is called `_gitignore`.
fn copy(from: &Path, to: &Path, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    let own = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::create_dir_all(to).unwrap();
    own(to, 0o700);
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let called = entry.file_name().into_string().unwrap();
        let called = called.replace(MADE_IN, name).replace("_gitignore", ".gitignore");
        let (source, target) = (entry.path(), to.join(called));
        if source.is_dir() {
            copy(&source, &target, name);
        } else {
            std::fs::write(&target, moved(&std::fs::read(&source).unwrap(), name)).unwrap();
            own(&target, 0o600);
        }
    }
}

/// The bytes with the name of our folder for the one that they were made in.
fn moved(bytes: &[u8], name: &str) -> Vec<u8> {
    let (old, new) = (MADE_IN.as_bytes(), name.as_bytes());
    assert_eq!(old.len(), new.len(), "lengths that a file holds stay true");
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(old.len()).position(|part| part == old) {
        bytes[at + found..at + found + old.len()].copy_from_slice(new);
        at += found + old.len();
    }
    bytes
}

/// A command and what the old program said.
struct Look<'a> {
    folder: &'a str,
    args: Vec<&'a str>,
    code: i64,
    says: &'a Value,
    complaints: &'a str,
}

impl Look<'_> {
    /// What a newer program may say more of: what it has found besides.
    fn lists(&self) -> Lists {
        match self.args[0] {
            "config" | "search" | "recall" => Lists::MayGrow,
            _ => Lists::AreWhole,
        }
    }
}

/// Whether a list may have more than it had.
#[derive(Clone, Copy, PartialEq)]
enum Lists {
    AreWhole,
    MayGrow,
}

/// What the doctor finds wrong, without what depends on the machine.
fn findings(said: &Value) -> Vec<Value> {
    let all = said.as_array().unwrap().iter();
    let wrong = all.filter(|finding| {
        finding["severity"] != "info"
            && finding["area"] != "provider"
            && finding["area"] != "platform"
    });
    wrong.map(|own| json!({"severity": own["severity"], "area": own["area"]})).collect()
}

/// Where a value does not say what was said before. It may say more: other
/// fields, and something where nothing was known. The order of a list is that of
/// files' dates in places, which a copy does not keep.
fn missing(expected: &Value, actual: &Value, lists: Lists) -> Option<String> {
    match (expected, actual) {
        (Value::Null, _) => None,
        (Value::Object(old), Value::Object(new)) => missing_field(old, new, lists),
        (Value::Array(old), Value::Array(new)) => {
            if lists == Lists::AreWhole && old.len() != new.len() {
                return Some(format!(": {} there, were {}: {actual}", new.len(), old.len()));
            }
            let mut left: Vec<&Value> = new.iter().collect();
            for (at, value) in old.iter().enumerate() {
                let found = left.iter().position(|own| missing(value, own, lists).is_none());
                let Some(found) = found else {
                    let near = new.get(at).and_then(|own| missing(value, own, lists));
                    return Some(format!("[{at}]{}", near.unwrap_or(format!(": {value} is gone"))));
                };
                left.remove(found);
            }
            None
        }
        (Value::Number(old), Value::Number(new)) => {
            let (old, new) = (old.as_f64()?, new.as_f64()?);
            ((old - new).abs() > 1e-9).then(|| format!(": was {old}, is {new}"))
        }
        _ => (expected != actual).then(|| format!(": was {expected}, is {actual}")),
    }
}

fn missing_field(
    old: &Map<String, Value>,
    new: &Map<String, Value>,
    lists: Lists,
) -> Option<String> {
    old.iter().find_map(|(key, value)| {
        let found = new.get(key).unwrap_or(&Value::Null);
        missing(value, found, lists).map(|rest| format!(".{key}{rest}"))
    })
}

#[test]
fn a4_what_older_versions_wrote_is_read_as_they_read_it() {
    for corpus in Corpus::offline() {
        let version = &corpus.expected["version"];
        let mut wrong = Vec::new();
        for look in corpus.looks() {
            let ran = Running::start(&mut corpus.command(look.folder, &look.args), None).end();
            let called = format!("{version} {}", look.args.join(" "));
            if ran.code.map(i64::from) != Some(look.code) {
                wrong.push(format!("{called}: ended with {:?}: {}", ran.code, ran.err));
                continue;
            }
            if look.complaints.is_empty() && !ran.err.is_empty() {
                wrong.push(format!("{called}: complains: {}", ran.err));
            }
            let said = ran.json();
            if look.args[0] == "doctor" {
                // Nothing that was fine may be wrong now; what was wrong may be mended.
                // Other agents are looked at since X10: in the corpus nobody ever started
                // one, and the doctor is right to say so.
                let mut now = findings(&said);
                now.retain(|finding| finding["area"] != "hosts");
                let now = Value::from(now);
                wrong.extend(
                    missing(&now, look.says, Lists::MayGrow)
                        .map(|what| format!("{called}{what}: {said}")),
                );
            } else {
                let differs = missing(look.says, &said, look.lists());
                wrong.extend(differs.map(|what| format!("{called}{what}")));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn a4_old_conversations_go_on_where_they_were() {
    for corpus in Corpus::answering() {
        for (session, told) in corpus.expected["goes_on"].as_object().unwrap() {
            let id = corpus.session(session);
            let said = format!("and now, {session}?");
            for prompt in [&said, "and then?"] {
                corpus.run(&["-p", "--resume", id, prompt]).ok();
            }
            let sent = corpus.sent();
            assert!(sent.contains(&said), "{session}: {sent}");
            for words in told["has"].as_array().unwrap() {
                assert!(sent.contains(words.as_str().unwrap()), "{session}, {words}: {sent}");
            }
            for words in told["lacks"].as_array().unwrap() {
                assert!(!sent.contains(words.as_str().unwrap()), "{session}, {words}: {sent}");
            }
            let requests = corpus.requests();
            oracle::assert_prefix_stable(&requests[requests.len() - 2..]);
        }
    }
}

#[test]
fn a4_old_conversations_go_on_without_a_model() {
    for corpus in Corpus::offline() {
        for what in ["kept", "main"] {
            let id = corpus.session(what);
            let ran =
                corpus.run(&["-p", "--output-format", "json", "--resume", id, "read notes.txt"]);
            assert_eq!(ran.ok().json()["session_id"], id);
            let shown = corpus.run(&["sessions", "show", id, "--json"]).ok().json();
            assert_eq!((&shown["unreadable_lines"], &shown["torn_bytes"]), (&json!(0), &json!(0)));
        }
    }
}

#[test]
fn a4_old_conversations_are_exported_and_gone_back_in() {
    for corpus in Corpus::answering() {
        let id = corpus.session("main");
        let file = corpus.sessions().join(format!("{id}.jsonl"));
        let lines = corpus.run(&["sessions", "export", id, "--format", "jsonl"]).ok().out;
        assert_eq!(lines, std::fs::read_to_string(file).unwrap());
        let text = corpus.run(&["sessions", "export", id]).ok().out;
        for part in ["## You", "read the notes", "**Read**", "## Assistant", "The shed is red"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let plan = || std::fs::read_to_string(corpus.path("project/plan.txt")).unwrap();
        assert_eq!(plan(), "one\n");
        let args = ["--plain", "--resume", corpus.session("rewound")];
        let ran = corpus.run_with(&args, "/rewind\n/rewind 2 files\n").ok();
        assert_eq!(plan(), "two\n", "the step back is undone: {} {}", ran.out, ran.err);
    }
}

#[test]
fn a4_old_memories_are_changed_and_old_changes_taken_back() {
    for corpus in Corpus::offline() {
        let is_there = |name: &str| corpus.memory(name).exists();
        let run = |words: &str| {
            let args: Vec<&str> = words.split(' ').collect();
            corpus.run(&args).ok()
        };
        for step in corpus.expected["steps"].as_array().unwrap() {
            let (run_it, file) = (step["run"].as_str().unwrap(), step["file"].as_str().unwrap());
            let after = step["is_there"].as_bool().unwrap();
            assert_eq!(is_there(file), !after, "before {run_it}: {file}");
            run(run_it);
            assert_eq!(is_there(file), after, "after {run_it}: {file}");
        }
        assert!(run("memory inbox").out.contains("nothing is waiting"));
        let list = run("memory list --json").json();
        assert!(list.as_array().unwrap().iter().all(|row| row["fault"].is_null()), "{list}");
    }
}

#[test]
fn a4_what_was_trusted_still_acts_and_what_changed_does_not() {
    for corpus in Corpus::answering() {
        let go =
            || Running::start(&mut corpus.command("brought", &["-p", "hello"]), None).end().ok();
        let ran = go();
        let mark = corpus.path("brought/ran");
        assert!(mark.exists(), "its hook ran: {}", ran.err);
        assert!(!ran.err.contains("are off"), "{}", ran.err);
        std::fs::remove_file(&mark).unwrap();
        let changed = r#"{"mcpServers": {"shop": {"command": "false"}}}"#;
        std::fs::write(corpus.path("brought/.mcp.json"), changed).unwrap();
        let ran = go();
        assert!(!mark.exists() && ran.err.contains("are off"), "{}", ran.err);
    }
}

#[test]
fn a4_s9_a_trust_record_of_the_first_format_opens_nothing_that_it_did_not_cover() {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testkit/corpus/trust-format-1");
    let dir = tempfile::Builder::new()
        .prefix(START)
        .rand_bytes(MADE_IN.len() - START.len())
        .tempdir_in("/tmp")
        .unwrap();
    copy(&from, dir.path(), dir.path().file_name().unwrap().to_str().unwrap());
    for script in ["start.sh", "shop.sh"] {
        use std::os::unix::fs::PermissionsExt;
        let path = dir.path().join("brought").join(script);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let scenario = Scenario::new().otherwise(Reply::text("I see."));
    let server = Some(TestServer::start(scenario).unwrap());
    let corpus = Corpus { dir, expected: Value::Null, server };
    let go = |args: &[&str]| Running::start(&mut corpus.command("brought", args), None).end().ok();
    let is_there = |name: &str| corpus.path("brought").join(name).exists();
    let ran = go(&["-p", "hello"]);
    assert!(ran.err.contains("they changed since you trusted them"), "{}", ran.err);
    for mark in ["ran", "stopped", "served"] {
        assert!(!is_there(mark), "{mark}");
    }
    let shown = go(&["trust", "--dry-run", "--json"]).json();
    let asked =
        json!([".claude/settings.json hooks", ".claude/settings.local.json hooks", ".mcp.json"]);
    assert_eq!(shown["standing"]["things"], asked, "the rules are as they were");
    go(&["trust"]);
    go(&["-p", "hello"]);
    assert!(is_there("ran") && is_there("stopped"));
}

#[test]
fn a4_a_letter_that_waited_is_read_once() {
    for corpus in Corpus::answering() {
        let id = corpus.session("ada");
        for _ in 0..2 {
            let team = ["--team", "crew", "--agent-name", "ada"];
            corpus.run(&[&["-p", "any news?", "--resume", id][..], &team].concat()).ok();
            let sent = corpus.sent();
            for letter in ["The first letter: the build is red.", "The second letter: "] {
                assert_eq!(sent.matches(letter).count(), 1, "{letter} once: {sent}");
            }
        }
        let team = ["--team", "crew", "--agent-name", "ada"];
        corpus.run(&[&["-p", "any news?"][..], &team].concat()).ok();
        assert!(!corpus.sent().contains("letter: "), "none is left: {}", corpus.sent());
    }
}

#[test]
fn a4_what_was_told_to_another_agent_is_remembered() {
    for corpus in Corpus::offline() {
        let ask = |session: &str| {
            let input = json!({
                "session_id": session, "transcript_path": corpus.path("host.jsonl"),
                "cwd": corpus.path("project"), "hook_event_name": "UserPromptSubmit",
                "prompt": "where are invoices kept, and when do deploys of the shop go out?",
            });
            corpus.run_with(&["hook", "UserPromptSubmit"], input.to_string()).ok().out
        };
        let (hosted, other) = (corpus.session("hosted"), "0192f0c1-0000-7000-8000-0000000000ff");
        let told = ask(other);
        assert!(told.contains("deploy-day.md") && told.contains("ledger service"), "{told}");
        let told = ask(hosted);
        assert!(!told.contains("deploy-day.md"), "it was shown: {told}");
        assert!(!told.contains("ledger service"), "it was read: {told}");
    }
}

#[test]
fn a4_what_was_installed_is_taken_out_again() {
    for corpus in Corpus::offline() {
        for host in ["claude", "codex"] {
            corpus.run(&["uninstall", host]).ok();
        }
        let text = std::fs::read_to_string(corpus.path("home/.claude/settings.json")).unwrap();
        assert!(text.contains("// mine") && !text.contains("everfold hook"), "{text}");
        let text = std::fs::read_to_string(corpus.path("home/.claude.json")).unwrap();
        assert!(text.contains("numStartups") && !text.contains("everfold"), "{text}");
        assert!(!corpus.home("installed").exists());
    }
}
