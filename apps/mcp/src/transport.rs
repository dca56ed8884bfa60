//! The two ways in: standard input and output, and HTTP on loopback.

use crate::lines::{self, Lines, MAX_LINE_BYTES};
use crate::server::Server;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
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
    #[error("cannot listen on port {port}: {source}; choose another")]
    Port { port: u16, source: std::io::Error },
}

/// Serves one client over standard input and output, until it is gone.
///
/// # Errors
/// If the client does not speak the protocol.
pub async fn serve_stdio(server: Server) -> Result<(), Error> {
    serve_pipes(server, tokio::io::stdin(), tokio::io::stdout()).await
}

/// Serves one client over two pipes, until it is gone.
///
/// # Errors
/// If the client does not speak the protocol.
pub async fn serve_pipes(
    server: Server,
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Error> {
    let serving = match server.serve(Lines::new(read, write)).await {
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
    let router =
        axum::Router::new().nest_service(PATH, service).layer(axum::middleware::from_fn(checked));
    Ok(Listening { address, listener, router })
}

/// Answers what is no message with the error that JSON-RPC has for it; the rest
/// goes on as it is.
async fn checked(request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_LINE_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    match lines::check(&body) {
        Some(error) => (StatusCode::BAD_REQUEST, axum::Json(error)).into_response(),
        None => next.run(Request::from_parts(head, Body::from(body))).await,
    }
}
