//! The two ways in: standard input and output, and HTTP on loopback.

use crate::server::Server;
use rmcp::ServiceExt;
use rmcp::transport::io::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;

/// Where the endpoint is.
const PATH: &str = "/mcp";
/// Pages of this machine; any other that a browser shows is refused.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "https://localhost:*",
    "http://127.0.0.1:*",
    "https://127.0.0.1:*",
    "http://[::1]:*",
    "https://[::1]:*",
];

/// Why a server could not be started, or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The client did not speak the protocol.
    #[error("the client did not speak MCP: {0}")]
    Handshake(String),
    /// The connection broke.
    #[error("the connection to the client broke: {0}")]
    Broken(String),
    /// The port is taken.
    #[error("port {port} cannot be listened on: {source}; choose another")]
    Port {
        /// Which.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
}

/// Serves one client over standard input and output, until it is gone.
///
/// # Errors
/// If the client does not speak the protocol.
pub async fn serve_stdio(server: Server) -> Result<(), Error> {
    let serving = match server.serve(stdio()).await {
        Ok(serving) => serving,
        // A client that went away before it said anything did nothing wrong.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(Error::Handshake(error.to_string())),
    };
    let ended = serving.waiting().await;
    ended.map(|_| ()).map_err(|error| Error::Broken(error.to_string()))
}

/// A server that listens.
#[derive(Debug)]
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    listener: TcpListener,
    router: axum::Router,
}

impl Listening {
    /// The address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// If the socket breaks.
    pub async fn run(self) -> Result<(), Error> {
        let served = axum::serve(self.listener, self.router).await;
        served.map_err(|error| Error::Broken(error.to_string()))
    }
}

/// Listens on loopback, and nowhere else; port 0 takes any that is free.
///
/// # Errors
/// If the port is taken.
pub async fn serve_http(
    server: impl Fn() -> Server + Send + Sync + 'static,
    port: u16,
) -> Result<Listening, Error> {
    let failed = |source| Error::Port { port, source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let config = StreamableHttpServerConfig::default().with_allowed_origins(ORIGINS);
    let service = StreamableHttpService::new(
        move || Ok(server()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let router = axum::Router::new().nest_service(PATH, service);
    Ok(Listening { address, listener, router })
}
