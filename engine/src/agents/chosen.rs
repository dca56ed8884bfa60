//! The servers of an agent: those of the session that it may use, and its own.

use everfold_kernel::ports::{
    BoxFuture, Respondent, ServerError, ServerResource, ServerResult, ServerTool, ServerView,
    Servers,
};
use everfold_mail::Definition;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The servers that a kind of agent names, and its own before them, with the
/// tools that it may use. To whoever has it there are no others.
pub(super) struct ChosenServers {
    pub(super) all: Option<Arc<dyn Servers>>,
    pub(super) kind: Definition,
    pub(super) own: Option<Arc<dyn Servers>>,
}

impl ChosenServers {
    /// Who has a server of this name; nobody where it is not chosen.
    fn of(&self, server: &str) -> Result<&dyn Servers, ServerError> {
        let has = |own: &&Arc<dyn Servers>| own.list().iter().any(|view| view.name == server);
        let chosen = || self.all.as_ref().filter(|_| self.names(server));
        let found = self.own.as_ref().filter(has).or_else(chosen);
        found
            .map(|found| &**found)
            .ok_or_else(|| ServerError::Unknown { server: server.to_owned() })
    }

    fn names(&self, server: &str) -> bool {
        self.kind.servers.as_ref().is_none_or(|named| named.iter().any(|name| name == server))
    }

    fn both(&self) -> impl Iterator<Item = &Arc<dyn Servers>> {
        self.own.iter().chain(&self.all)
    }
}

impl Servers for ChosenServers {
    fn connect(&self) {
        self.both().for_each(|servers| servers.connect());
    }

    fn settled(&self, most: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let all = self.both().map(|servers| servers.settled(most));
            futures_util::future::join_all(all).await;
        })
    }

    fn list(&self) -> Vec<ServerView> {
        let mut views = self.own.as_ref().map(|own| own.list()).unwrap_or_default();
        let all = self.all.as_ref().map(|all| all.list()).unwrap_or_default();
        let known = |name: &str| views.iter().any(|own| own.name == name);
        let more = all.into_iter().filter(|view| self.names(&view.name));
        let more: Vec<ServerView> = more.filter(|view| !known(&view.name)).collect();
        views.extend(more);
        for view in &mut views {
            let may = |tool: &&ServerTool| self.kind.has_server_tool(&view.name, &tool.name);
            view.tools = view.tools.iter().filter(may).cloned().collect();
        }
        views
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Map<String, Value>,
        who: Option<Arc<dyn Respondent>>,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        Box::pin(async move { self.of(server)?.call(server, tool, arguments, who).await })
    }

    fn resources<'a>(
        &'a self,
        server: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ServerResource>, ServerError>> {
        Box::pin(async move { self.of(server)?.resources(server).await })
    }

    fn read<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<ServerResult, ServerError>> {
        Box::pin(async move { self.of(server)?.read(server, uri).await })
    }

    fn prompt<'a>(
        &'a self,
        server: &'a str,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Vec<String>, ServerError>> {
        Box::pin(async move { self.of(server)?.prompt(server, name, arguments).await })
    }

    /// Who made them ends them.
    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
