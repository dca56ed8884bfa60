//! Servers where there is nothing to connect to them with: each is listed, and
//! down.

use crate::entry::ServerEntry;
use everfold_kernel::limits::McpLimits;
use everfold_kernel::ports::{
    BoxFuture, Library, Respondent, ServerError, ServerResult, ServerState, ServerView, Servers,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

const REASON: &str = "this build has no MCP client (feature \"mcp\")";

/// The servers that settings name.
pub struct UnconnectedServers(Vec<ServerEntry>);

impl UnconnectedServers {
    /// These servers.
    #[must_use]
    pub fn new(
        entries: Vec<ServerEntry>,
        _roots: &[PathBuf],
        _scrub: Vec<String>,
        _env: BTreeMap<String, String>,
        _limits: McpLimits,
    ) -> Self {
        Self(entries)
    }

    /// Nobody is asked anything.
    #[must_use]
    pub fn answering(self) -> Self {
        self
    }
}

impl Servers for UnconnectedServers {
    fn connect(&self) {}

    fn settled(&self, _most: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn list(&self) -> Vec<ServerView> {
        let view = |entry: &ServerEntry| ServerView {
            name: entry.name.clone(),
            origin: entry.origin.clone(),
            state: ServerState::Down(REASON.to_owned()),
            instructions: None,
            tools: Arc::default(),
            prompts: Arc::default(),
            library: Library::None,
        };
        self.0.iter().map(view).collect()
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        _tool: &'a str,
        _arguments: Map<String, Value>,
        _who: Option<Arc<dyn Respondent>>,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        let error = ServerError::Down { server: server.to_owned(), reason: REASON.to_owned() };
        Box::pin(std::future::ready(Err(error)))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
