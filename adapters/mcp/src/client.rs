//! What we are to a server: a client that has roots, hears when tools change,
//! and may have somebody who answers.

use crate::elicitation::{Announced, Asking};
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, Implementation,
    ListRootsResult, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The client's side of a connection.
#[derive(Clone)]
pub(crate) struct Client {
    /// The directories of the session, as URIs.
    pub(crate) roots: Vec<String>,
    /// How often the server said that its tools changed.
    pub(crate) changes: Arc<AtomicU64>,
    pub(crate) asking: Arc<Asking>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let abilities = match self.asking.announced {
            Announced::Yes => json!({ "roots": {}, "elicitation": { "form": {}, "url": {} } }),
            Announced::No => json!({ "roots": {} }),
        };
        let abilities: ClientCapabilities = serde_json::from_value(abilities).unwrap_or_default();
        ClientConfig::new(abilities, Implementation::new("everfold", env!("CARGO_PKG_VERSION")))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, rmcp::ErrorData> {
        Ok(ListRootsResult::new(self.roots.iter().map(Root::new).collect()))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, rmcp::ErrorData> {
        Ok(self.asking.answer(&params).await)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
