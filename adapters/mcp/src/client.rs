//! What we are to a server: a client that has roots, and hears when tools change.

use rmcp::handler::client::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ListRootsResult, Root};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The client's side of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// The directories of the session, as URIs.
    pub(crate) roots: Vec<String>,
    /// How often the server said that its tools changed.
    pub(crate) changes: Arc<AtomicU64>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let abilities: ClientCapabilities =
            serde_json::from_value(serde_json::json!({ "roots": {} })).unwrap_or_default();
        ClientConfig::new(abilities, Implementation::new("mnemon", env!("CARGO_PKG_VERSION")))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, rmcp::ErrorData> {
        Ok(ListRootsResult::new(self.roots.iter().map(Root::new).collect()))
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}
