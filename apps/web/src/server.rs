//! Listening on loopback, and which address leads to which page.

use crate::error::Error;
use crate::site::{PageAccess, PageSources, Site};
use crate::{asset, guard, pages};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;

/// A page that listens.
pub struct PageListener {
    address: SocketAddr,
    listener: TcpListener,
    site: Arc<Site>,
}

impl PageListener {
    /// The address for the person, with the key in it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.site.gate.door.as_str())
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// If the socket breaks.
    pub async fn run(self) -> Result<(), Error> {
        let Self { listener, site, .. } = self;
        site.ledger.read_ahead();
        axum::serve(listener, router(&site)).await.map_err(Error::Broken)
    }
}

/// Listens on loopback, and nowhere else; port 0 takes any that is free.
///
/// # Errors
/// If the port is taken.
pub async fn listen(
    sources: PageSources,
    access: PageAccess,
    port: u16,
) -> Result<PageListener, Error> {
    let failed = |source| Error::Port { port, source };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let site = Arc::new(Site::new(sources, access, address.port())?);
    Ok(PageListener { address, listener, site })
}

fn router(site: &Arc<Site>) -> Router {
    Router::new()
        .route("/", get(pages::overview::show))
        .route("/sessions", get(pages::sessions::list))
        .route("/sessions/{key}", get(pages::session::show))
        .route("/sessions/{key}/events", get(pages::live::follow))
        .route("/sessions/{key}/messages/{number}", get(pages::message::show))
        .route("/sessions/{key}/requests/{number}", get(pages::request::show))
        .route("/memories", get(pages::memories::list))
        .route("/memories/{scope}/{*path}", get(pages::memory::show).post(pages::memory::change))
        .route("/changes", get(pages::changes::list))
        .route("/changes/{scope}/{entry}", get(pages::changes::show).post(pages::changes::undo))
        .route("/dreams", get(pages::changes::dreams))
        .route("/inbox", get(pages::inbox::list))
        .route("/inbox/{scope}/{id}", get(pages::inbox::show).post(pages::inbox::decide))
        .route("/recall", get(pages::recall::show))
        .route("/money", get(pages::money::show))
        .route("/health", get(pages::health::show))
        .route("/settings", get(pages::settings::show))
        .route(asset::STYLE, get(asset::style))
        .route(asset::SCRIPT, get(asset::script))
        .route(asset::ICON, get(asset::icon))
        .fallback(pages::nowhere)
        .method_not_allowed_fallback(pages::nowhere)
        .layer(from_fn_with_state(Arc::clone(site), guard::guard))
        .with_state(Arc::clone(site))
}
