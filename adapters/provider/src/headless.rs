//! Another agent's own program as a model (X7): run once, without a person, with
//! the login that the person has there. It gets one question and gives one text.
//!
//! Such a run reads no project, calls no tools, keeps no session, and carries a
//! mark in its environment by which hooks of ours know it.

mod answer;

use answer::{Said, at};
use everfold_kernel::ports::{BoxFuture, Model, ModelCall, ModelError, ModelReply, ModelStream};
use everfold_kernel::record::Dialect;
use everfold_kernel::{Block, MessageId, env};
use everfold_wire::reply_events;
use futures_util::stream;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// What an agent sets for programs that run inside of it; one of its own would
/// refuse to start, or take itself for a part of the session.
const INNER: [&str; 4] =
    ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR"];
/// What an agent of opencode's is called that has our question.
const AGENT: &str = "everfold";
/// Characters of what a program says that become part of an error.
const SAID_CHARS: usize = 300;

/// A program that answers a question without a person in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadlessProgram {
    /// `claude -p`
    Claude,
    /// `codex exec`
    Codex,
    /// `gemini -p`
    Gemini,
    /// `opencode run`
    Opencode,
    /// `pi -p`
    Pi,
}

/// A model behind such a program.
#[derive(Clone, Debug)]
pub struct Headless {
    pub program: HeadlessProgram,
    pub path: PathBuf,
    /// Where it is run: a folder that holds nothing of a project.
    pub dir: PathBuf,
    /// How long it may take.
    pub limit: Duration,
}

impl HeadlessProgram {
    /// Its name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// What its environment has besides.
    fn variables(self, system: &str) -> Vec<(&'static str, String)> {
        if self != Self::Opencode {
            return Vec::new();
        }
        let agent = json!({"mode": "primary", "prompt": system, "tools": {"*": false}});
        let config = json!({"share": "disabled", "agent": {AGENT: agent}});
        vec![
            ("OPENCODE_CONFIG_CONTENT", config.to_string()),
            // A session that nobody had is not to stand among the person's own.
            ("OPENCODE_DB", ":memory:".to_owned()),
            ("OPENCODE_DISABLE_PROJECT_CONFIG", "1".to_owned()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
        ]
    }

    /// What it is started with.
    fn arguments(self, system: &str) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Claude => &[
                "-p",
                "--output-format=json",
                "--model=haiku",
                "--max-turns=1",
                "--tools=",
                "--strict-mcp-config",
                // A login may be set up there; hooks and memory are not for this.
                "--setting-sources=user",
                "--settings={\"disableAllHooks\":true,\"autoMemoryEnabled\":false}",
                "--no-session-persistence",
            ],
            Self::Codex => &[
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--ephemeral",
                "--sandbox=read-only",
                "--disable=hooks",
                "-c",
                "mcp_servers={}",
                "-",
            ],
            Self::Gemini => &["--output-format=json", "--skip-trust", "--approval-mode=plan"],
            // Without its plugins, so without ours.
            Self::Opencode => {
                &["run", "--pure", "--format=json", "--agent", AGENT, "--title", AGENT]
            }
            Self::Pi => &[
                "-p",
                "--mode",
                "json",
                "--no-session",
                "--no-tools",
                "--no-extensions",
                "--no-skills",
                "--no-prompt-templates",
                "--no-context-files",
            ],
        };
        let mut arguments: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match self {
            Self::Claude => arguments.push(format!("--system-prompt={system}")),
            Self::Pi => arguments.extend(["--system-prompt".to_owned(), system.to_owned()]),
            Self::Codex | Self::Gemini | Self::Opencode => {}
        }
        arguments
    }

    /// What it is told on its standard input.
    fn input(self, system: &str, question: &str) -> String {
        match self {
            Self::Claude | Self::Opencode | Self::Pi => question.to_owned(),
            Self::Codex | Self::Gemini => format!("{system}\n\n{question}"),
        }
    }
}

impl Headless {
    async fn ask(&self, body: &[u8]) -> Result<ModelReply, ModelError> {
        let Question { system, text, model } = Question::of(body)?;
        std::fs::create_dir_all(&self.dir).map_err(|error| self.unreachable(&error))?;
        let mut command = Command::new(&self.path);
        command
            .args(self.program.arguments(&system))
            .current_dir(&self.dir)
            .env(env::INSIDE, "1")
            .envs(self.program.variables(&system))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        for name in INNER {
            command.env_remove(name);
        }
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| self.unreachable(&error))?;
        let group = crate::key::Group::of(&child);
        let told = self.program.input(&system, &text);
        let talk = async {
            if let Some(mut input) = child.stdin.take() {
                // One that does not want all of it says why on its own.
                let _ = input.write_all(told.as_bytes()).await;
            }
            child.wait_with_output().await
        };
        let ended = tokio::time::timeout(self.limit, talk).await.map_err(|_| {
            let message =
                format!("{} took longer than {} s", self.program.name(), self.limit.as_secs());
            ModelError::Broken { message }
        })?;
        let output = ended.map_err(|error| self.unreachable(&error))?;
        group.let_go();
        let out = String::from_utf8_lossy(&output.stdout);
        match answer::read(self.program, &out) {
            Some(Said::Answer { text, usage, by }) => Ok(ModelReply {
                message_id: MessageId::new(format!("msg_{}", self.program.name())),
                request_id: None,
                model: by.unwrap_or(model),
                blocks: vec![Block::text(text)],
                stop_reason: "end_turn".into(),
                usage,
                context_edits: None,
            }),
            Some(Said::Refusal(why)) => Err(self.failed(&why)),
            None => Err(self.failed(&String::from_utf8_lossy(&output.stderr))),
        }
    }

    fn unreachable(&self, error: &std::io::Error) -> ModelError {
        ModelError::Unreachable { url: self.path.display().to_string(), message: error.to_string() }
    }

    /// What it says when it fails is for a person to read; a request that it does
    /// not take is told apart from a login that is not there.
    fn failed(&self, said: &str) -> ModelError {
        let message: String = said.trim().chars().take(SAID_CHARS).collect();
        let message = format!("{}: {message}", self.program.name());
        let lower = message.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if has(&["login", "log in", "api key", "authenticat", "unauthorized"]) {
            let hint = format!("its login: start {} once", self.program.name());
            return ModelError::Authentication { message, hint };
        }
        if has(&["too long", "invalid_request", "error 400", "error: 400"]) {
            return ModelError::Refused { status: 400, message };
        }
        ModelError::Server { status: 500, message }
    }
}

impl Model for Headless {
    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async move {
            let events = reply_events(self.ask(&call.body.whole()).await?);
            let stream: ModelStream = Box::pin(stream::iter(events.into_iter().map(Ok)));
            Ok(stream)
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }
}

/// What a request asks, as text.
struct Question {
    system: String,
    text: String,
    model: everfold_kernel::ModelId,
}

impl Question {
    fn of(body: &[u8]) -> Result<Self, ModelError> {
        let refused = |message: String| ModelError::Refused { status: 400, message };
        let body: Value =
            serde_json::from_slice(body).map_err(|error| refused(error.to_string()))?;
        let last = body.pointer("/messages").and_then(Value::as_array).and_then(|all| all.last());
        let text = last.map(|message| texts(at(message, "/content"))).unwrap_or_default();
        if text.is_empty() {
            return Err(refused("the request asks nothing".to_owned()));
        }
        let mut system = texts(at(&body, "/system"));
        if let Some(schema) = body.pointer("/output_config/format/schema") {
            let form = "Answer with one JSON object and nothing else. Its form, as a JSON schema:";
            let _ = write!(system, "\n\n{form}\n{schema}");
        }
        let model = at(&body, "/model").as_str().unwrap_or_default();
        Ok(Self { system, text, model: everfold_kernel::ModelId::new(model) })
    }
}

/// The text of a string or of text blocks.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| at(block, "/text").as_str());
            texts.collect::<Vec<_>>().join("\n\n")
        }
        _ => String::new(),
    }
}
