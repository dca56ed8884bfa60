//! Servers that bring tools: those that speak the Model Context Protocol.

use super::{BoxFuture, Respondent};
use crate::error::{Class, Classify};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The servers that settings name. A server and all it started end with
/// [`Servers::shutdown`] or when this is dropped.
pub trait Servers: Send + Sync {
    /// Starts to connect to all of them, once. It returns at once.
    fn connect(&self);

    /// Waits until each server has come up or failed, at most this long.
    fn settled(&self, most: Duration) -> BoxFuture<'_, ()>;

    /// How each of them is, in the order of settings.
    fn list(&self) -> Vec<ServerView>;

    /// Calls a tool. A server that has died is started again first. `who`
    /// answers what the server wants to know meanwhile; without anybody it
    /// is declined.
    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Map<String, Value>,
        who: Option<Arc<dyn Respondent>>,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>>;

    /// What a server has to read.
    fn resources<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ServerResource>, ServerError>> {
        unknown(server)
    }

    /// Reads one of its resources.
    fn read<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        let _ = uri;
        unknown(server)
    }

    /// The texts of one of its prompts.
    fn prompt<'a>(
        &'a self,
        server: &'a str,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Vec<String>, ServerError>> {
        let _ = (name, arguments);
        unknown(server)
    }

    /// Ends all of them.
    fn shutdown(&self) -> BoxFuture<'_, ()>;
}

/// Makes servers that are not in settings: those that an agent defines for
/// itself (CONTRACTS 2.3).
pub trait ServerMaker: Send + Sync {
    /// These servers, as settings write them, for work in these directories,
    /// not connected yet. What cannot be used is told in the log.
    fn make(
        &self,
        servers: &Map<String, Value>,
        origin: &str,
        roots: &[PathBuf],
    ) -> Arc<dyn Servers>;
}

fn unknown<'a, T>(server: &str) -> BoxFuture<'a, Result<T, ServerError>> {
    let error = ServerError::Unknown { server: server.to_owned() };
    Box::pin(async move { Err(error) })
}

#[derive(Clone, Debug, PartialEq)]
pub struct ServerView {
    /// Its name in settings.
    pub name: String,
    pub origin: String,
    /// What is known of it now.
    pub state: ServerState,
    /// What it says about its use.
    pub instructions: Option<String>,
    /// Its tools, as they were last listed.
    pub tools: Arc<[ServerTool]>,
    /// Prompts that it has for people.
    pub prompts: Arc<[ServerPrompt]>,
    /// Whether it has things to read.
    pub library: Library,
}

/// Whether a server has things to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    Open,
    /// It does not.
    #[default]
    None,
}

/// A prompt that a server has for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerPrompt {
    pub name: String,
    pub description: String,
    /// Names of its arguments, in order.
    pub arguments: Vec<String>,
}

/// Something that a server has to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerResource {
    pub uri: String,
    /// What it is called.
    pub name: String,
    pub description: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Nobody has asked for it yet.
    Idle,
    /// It is being connected to.
    Connecting,
    /// It answers; the revision of the protocol.
    Up(String),
    /// It does not, and why.
    Down(String),
}

/// A tool of a server. What it says of itself is the word of a stranger.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTool {
    pub name: String,
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Value,
    /// Whether it says that it only reads.
    pub reads: Reads,
    /// Whether its schema is wanted from the start.
    pub load: Load,
    /// Whether the person is to be asked about every call.
    pub asks: Asks,
}

/// Whether a tool says that it only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    Only,
    /// It does not say so.
    Perhaps,
}

/// When the schema of a tool is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    Always,
    /// When the model looks for it.
    WhenAsked,
}

/// Whether the person is asked about every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Whatever the rules say.
    Always,
    /// As the rules say.
    ByRule,
}

/// What a tool of a server answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerResult {
    /// Blocks for the model: text and pictures.
    pub content: Vec<Value>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// The structured form, if there is one.
    pub structured: Option<Value>,
}

/// Why a tool could not be called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// No server has this name.
    #[error("unknown server {server:?}")]
    Unknown { server: String },
    /// It cannot be reached.
    #[error("the server {server:?} is not available: {reason}")]
    Down { server: String, reason: String },
    /// It ended while it was asked.
    #[error(
        "the server {server:?} ended during the call ({reason}); it is restarted when it is next \
         called"
    )]
    Died { server: String, reason: String },
    /// It took too long.
    #[error(
        "the server {server:?} gave no answer within {seconds} seconds; \"timeout\" in its entry gives it more"
    )]
    Late {
        server: String,
        /// How long was waited.
        seconds: u64,
    },
    /// It refused the call.
    #[error("the server {server:?} refused the call: {message}")]
    Refused { server: String, message: String },
    /// Its answer is too large.
    #[error("the answer of the server {server:?} has more than {bytes} bytes")]
    TooLarge {
        server: String,
        /// The most that is taken.
        bytes: usize,
    },
}

impl Classify for ServerError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}
