//! Why a page could not be shown, and what a browser is told then.

use crate::frame;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use everfold_kernel::{Class, Classify};
use maud::html;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The port is taken.
    #[error("cannot listen on port {port}: {source}; choose another with --port")]
    Port { port: u16, source: std::io::Error },
    /// The socket broke.
    #[error("the page can no longer be served: {0}")]
    Broken(std::io::Error),
    /// The system gives no random bytes.
    #[error("the system provides no random bytes: {0}")]
    NoRandom(String),
    /// There is nothing at an address.
    #[error("{0}")]
    NotFound(String),
    /// Something was asked for that cannot be done as it was asked for.
    #[error("{0}")]
    Refused(String),
    /// A memory was changed since, and the person has to say that they mean it.
    #[error("{what}")]
    Conflict {
        /// What stands in the way.
        what: String,
        /// The address of the form that insists.
        again: String,
    },
    /// Memories could not be read or written.
    #[error(transparent)]
    Store(#[from] everfold_memory_store::Error),
    /// The same, asked for through the one way in and out.
    #[error(transparent)]
    Memory(#[from] everfold_kernel::ports::MemoryError),
    /// Sessions or settings could not be read.
    #[error(transparent)]
    Library(#[from] everfold_agent::Error),
    /// The work was given up.
    #[error("the work on this page ended early")]
    Lost,
}

impl Classify for Error {
    fn class(&self) -> Class {
        match self {
            Self::Port { .. } | Self::Broken(_) | Self::NoRandom(_) => Class::Stop,
            Self::NotFound(_) | Self::Refused(_) | Self::Conflict { .. } => Class::Refuse,
            Self::Store(error) => error.class(),
            Self::Memory(error) => error.class(),
            Self::Library(error) => error.class(),
            Self::Lost => Class::Degrade,
        }
    }
}

impl Error {
    /// There is no such thing.
    pub(crate) fn none(what: &str) -> Self {
        Self::NotFound(format!("There is no {what}."))
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_)
            | Self::Store(
                everfold_memory_store::Error::NotFound { .. }
                | everfold_memory_store::Error::NoEntry { .. }
                | everfold_memory_store::Error::NoProposal { .. }
                | everfold_memory_store::Error::BadPath { .. },
            ) => StatusCode::NOT_FOUND,
            Self::Conflict { .. } => StatusCode::CONFLICT,
            _ if self.class() == Class::Refuse => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let status = self.status();
        let title = match status {
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::CONFLICT => "Conflict",
            StatusCode::UNPROCESSABLE_ENTITY => "Not possible",
            _ => "Something went wrong",
        };
        let what = everfold_memory_judge::secrets::mask(&self.to_string());
        let again = match &self {
            Self::Conflict { again, .. } => Some(again.clone()),
            _ => None,
        };
        let body = html! {
            p class="lead" { (what) }
            @if let Some(again) = again {
                p { a class="button" href=(again) { "Review it" } }
            }
            p { a href="/" { "Back to the overview" } }
        };
        (status, frame::bare(title, &body)).into_response()
    }
}
