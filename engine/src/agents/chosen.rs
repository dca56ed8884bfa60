//! Some of a session's servers, for an agent that may not use all of them.

use mnemon_kernel::ports::{
    BoxFuture, Respondent, ServerError, ServerResource, ServerResult, ServerView, Servers,
};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The servers of these names. To whoever has it there are no others.
pub(super) struct ChosenServers {
    pub(super) all: Arc<dyn Servers>,
    pub(super) named: Vec<String>,
}

impl ChosenServers {
    /// The server's name; one that nobody has where it is not chosen.
    fn known<'a>(&self, server: &'a str) -> Result<&'a str, ServerError> {
        if self.named.iter().any(|name| name == server) {
            return Ok(server);
        }
        Err(ServerError::Unknown { server: server.to_owned() })
    }
}

impl Servers for ChosenServers {
    fn connect(&self) {
        self.all.connect();
    }

    fn settled(&self, most: Duration) -> BoxFuture<'_, ()> {
        self.all.settled(most)
    }

    fn list(&self) -> Vec<ServerView> {
        let mut views = self.all.list();
        views.retain(|view| self.named.contains(&view.name));
        views
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Map<String, Value>,
        who: Option<Arc<dyn Respondent>>,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        Box::pin(async move { self.all.call(self.known(server)?, tool, arguments, who).await })
    }

    fn resources<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ServerResource>, ServerError>> {
        Box::pin(async move { self.all.resources(self.known(server)?).await })
    }

    fn read<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        Box::pin(async move { self.all.read(self.known(server)?, uri).await })
    }

    fn prompt<'a>(
        &'a self,
        server: &'a str,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Vec<String>, ServerError>> {
        Box::pin(async move { self.all.prompt(self.known(server)?, name, arguments).await })
    }

    /// They are the session's to end.
    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
