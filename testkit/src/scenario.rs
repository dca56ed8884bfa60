//! What the test server does: a list of steps, in JSON or in code.
//!
//! The first unconsumed step whose `when` holds answers a request and is used
//! up, unless it repeats. Where no step fits, the default answers; where
//! there is none, the server echoes what was said.

mod build;

use everfold_kernel::Usage;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A scripted server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// What it is about, for people.
    pub about: String,
    /// How the server counts and what it allows.
    pub server: ServerRules,
    /// The steps, in order.
    pub steps: Vec<ScenarioStep>,
    /// The answer where no step fits; none is an echo.
    pub default: Option<Reply>,
}

/// How the server counts and what it allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerRules {
    /// Most tokens of a prompt.
    pub window: u64,
    /// Bytes of a token.
    pub bytes_per_token: f64,
    /// Tokens of a picture or document.
    pub image_tokens: u64,
    /// Shortest prefix that is cached, in place of the model's own.
    pub cache_minimum: Option<u64>,
    /// Most characters of one delta of a stream.
    pub delta_chars: usize,
    /// Whether responses carry rate-limit headers.
    pub rate_limit_headers: bool,
    /// Whether `cache_edits` blocks are known; no public API knows them.
    pub cache_edits: bool,
    /// Whether a breakpoint may say that what it closes is for everybody
    /// (`scope`). Then people, told apart by their keys, share nothing else; no
    /// public API knows it.
    pub cache_scopes: bool,
    /// Which server on one's own machine it behaves as, if it does.
    pub local: Option<LocalServer>,
}

/// A server on one's own machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalServer {
    pub program: ServerProgram,
    /// The models that it has; empty takes any name.
    pub models: Vec<String>,
    /// Whether it takes tools.
    pub tools: bool,
}

/// Programs that serve models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerProgram {
    LlamaCpp,
    Ollama,
    LmStudio,
    Vllm,
    /// One that says no more than it must.
    #[default]
    Plain,
}

impl ServerRules {
    /// Those of a program on one's own machine with one model and this window.
    #[must_use]
    pub fn local(program: ServerProgram, model: &str, window: u64) -> Self {
        let local = LocalServer { program, models: vec![model.to_owned()], tools: true };
        Self { window, local: Some(local), ..Self::default() }
    }
}

impl Default for ServerRules {
    fn default() -> Self {
        Self {
            window: 200_000,
            bytes_per_token: 3.5,
            image_tokens: 1_600,
            cache_minimum: None,
            delta_chars: 16,
            rate_limit_headers: false,
            cache_edits: false,
            cache_scopes: false,
            local: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScenarioStep {
    /// When it applies; always where empty.
    pub when: When,
    pub reply: Reply,
    /// Whether it stays after it was used.
    pub repeat: bool,
}

/// What has to hold of a request. Everything that is set has to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// The person's last text contains this.
    pub user_contains: Option<String>,
    /// The system prompt contains this.
    pub system_contains: Option<String>,
    /// The conversation ends with tool results, or does not.
    pub tool_result: Option<bool>,
    pub tool_result_contains: Option<String>,
    /// The source header says this.
    pub source: Option<String>,
    pub model: Option<String>,
    /// It is the n-th valid request for an answer, from 1.
    pub nth: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reply {
    /// The blocks, in order.
    pub content: Vec<Content>,
    /// Why it stops; `tool_use` or `end_turn` by its content where unset.
    pub stop_reason: Option<String>,
    /// Tokens as a real model counted them; estimated where unset. Of chat alone.
    pub usage: Option<Usage>,
    /// What goes wrong: one fault or a list.
    #[serde(alias = "fault", deserialize_with = "one_or_many")]
    pub faults: Vec<ServerFault>,
    /// The stream is sent in chunks of this many bytes.
    pub chunk_bytes: Option<usize>,
    /// A point at which the stream waits.
    pub gate: Option<Gate>,
    /// More response headers.
    pub headers: BTreeMap<String, String>,
}

/// One block of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    Text(String),
    /// Thinking; the server signs it.
    Thinking(String),
    /// A call of a tool.
    ToolUse {
        name: String,
        #[serde(default)]
        input: Value,
        /// Its id; made by the server where unset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// Any block, sent as it is.
    Raw(Value),
}

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerFault {
    Error {
        status: u16,
        /// `error.type`; by the status where unset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_type: Option<String>,
        /// `error.message`.
        #[serde(default)]
        message: String,
        /// More headers, such as `retry-after`.
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// The error of a prompt that does not fit.
    PromptTooLong {
        /// Whether the message says how long it is and may be.
        with_numbers: bool,
    },
    /// The connection closes before anything is sent.
    CloseBeforeHeaders,
    /// The connection breaks after this many bytes of the body.
    CutAfterBytes(usize),
    /// The connection breaks after this many events.
    CutAfterEvents(usize),
    /// The body ends properly, but after this many events.
    EndAfterEvents(usize),
    /// An `error` event in the stream, which ends there.
    ErrorEvent {
        /// After how many events.
        after_events: usize,
        /// `error.type`.
        error_type: String,
        /// `error.message`.
        #[serde(default)]
        message: String,
    },
    /// Bytes that are no event, in the middle of the stream.
    Garbage {
        /// After how many events.
        #[serde(default = "one")]
        after_events: usize,
        /// The bytes.
        text: String,
    },
    /// Nothing more is sent until `release("stall")`.
    Stall {
        /// After how many events.
        #[serde(default = "one")]
        after_events: usize,
    },
    /// Chunks end inside of characters.
    SplitUtf8,
    /// The body starts with a byte order mark.
    Bom,
    /// The arguments of the first tool call are this text.
    InvalidToolJson(String),
}

/// The name of the gate at which a stalled stream waits.
pub const STALL_GATE: &str = "stall";

/// A point at which a stream waits until the test releases it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "GateForm")]
pub struct Gate {
    /// The name to release.
    pub name: String,
    /// After how many events it stands; 0 holds back the whole body.
    pub after_events: usize,
}

/// A gate is written as a name, or as an object.
#[derive(Deserialize)]
#[serde(untagged)]
enum GateForm {
    Name(String),
    Full {
        name: String,
        #[serde(default = "one")]
        after_events: usize,
    },
}

impl From<GateForm> for Gate {
    fn from(form: GateForm) -> Self {
        match form {
            GateForm::Name(name) => Self { name, after_events: one() },
            GateForm::Full { name, after_events } => Self { name, after_events },
        }
    }
}

fn one() -> usize {
    1
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ServerFault>, D::Error> {
    // Through a value, so that an unknown fault is named in the error.
    let value = Value::deserialize(deserializer)?;
    let list = match value {
        Value::Array(list) => list,
        one => vec![one],
    };
    list.into_iter()
        .map(|fault| serde_json::from_value(fault).map_err(serde::de::Error::custom))
        .collect()
}
