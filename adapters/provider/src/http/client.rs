//! The client, made once for a provider.

use crate::config::{Error, ProviderConfig};
use everfold_kernel::ports::{Headroom, ModelError};
use everfold_kernel::{Limits, Secret};
use reqwest::header::HeaderMap;
use reqwest::{Client, Url, redirect};
use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How requests get to one address.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) client: Client,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) limits: Limits,
    headroom: Mutex<Option<Headroom>>,
    reached: AtomicBool,
    key_hint: String,
    secrets: Vec<Secret>,
}

impl Transport {
    pub(crate) fn new(config: &ProviderConfig, url: Url, ours: HeaderMap) -> Result<Self, Error> {
        // A second provider in the process finds the first one's choice in place.
        rustls::crypto::ring::default_provider().install_default().ok();
        let mut builder = Client::builder()
            .connect_timeout(Duration::from_secs(config.limits.connect_timeout_s))
            // The key must not follow to another host, and a POST that was
            // redirected would arrive as a GET.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("everfold/", env!("CARGO_PKG_VERSION")));
        if url.scheme() == "http" {
            // Reading the system's certificates takes longer than all the rest.
            builder = builder.tls_certs_only([]);
        }
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| Error::Client { message: chain(&error.without_url()) })?;
        let secrets = config.headers.iter().map(|(_, value)| value.clone());
        Ok(Self {
            client,
            url,
            headers: config.headers_over(ours)?,
            limits: config.limits.clone(),
            headroom: Mutex::new(None),
            reached: AtomicBool::new(false),
            key_hint: config.key_hint.clone(),
            secrets: config.key.iter().cloned().chain(secrets).collect(),
        })
    }

    /// What the server last said is left of its rate limit.
    pub(crate) fn headroom(&self) -> Option<Headroom> {
        *self.headroom.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what an answer says of it; one that says nothing changes nothing.
    pub(crate) fn note_headroom(&self, told: Option<Headroom>) {
        if told.is_some() {
            *self.headroom.lock().unwrap_or_else(PoisonError::into_inner) = told;
        }
    }

    /// The server has answered something.
    pub(crate) fn note_reached(&self) {
        self.reached.store(true, Ordering::Relaxed);
    }

    /// How long a request is tried again: a server that never answered is soon
    /// taken for not being there (Q20).
    pub(crate) fn retry_time(&self, error: &ModelError) -> Duration {
        let is_absent = matches!(error, ModelError::Unreachable { .. })
            && !self.reached.load(Ordering::Relaxed);
        let total = Duration::from_secs(self.limits.retry_total_s);
        if is_absent { total.min(Duration::from_millis(self.limits.unreachable_ms)) } else { total }
    }

    /// The longest that a server may be silent.
    pub(crate) fn idle(&self) -> Duration {
        Duration::from_secs(self.limits.stream_idle_s)
    }

    /// The error of a connection that failed.
    pub(crate) fn unreachable(&self, error: reqwest::Error) -> ModelError {
        ModelError::Unreachable { url: self.shown_url(), message: chain(&error.without_url()) }
    }

    /// The error of a server that does not answer.
    pub(crate) fn silent(&self) -> ModelError {
        ModelError::Unreachable {
            url: self.shown_url(),
            message: format!("no answer within {} s", self.limits.stream_idle_s),
        }
    }

    /// An error as it may be shown: no secret in it, and the right hint.
    pub(crate) fn clean(&self, error: ModelError) -> ModelError {
        let scrub =
            |message: String| self.secrets.iter().fold(message, |text, secret| secret.scrub(text));
        match error {
            ModelError::PromptTooLong { actual, maximum, message } => {
                ModelError::PromptTooLong { actual, maximum, message: scrub(message) }
            }
            ModelError::RequestTooLarge { message } => {
                ModelError::RequestTooLarge { message: scrub(message) }
            }
            ModelError::Overloaded { message } => {
                ModelError::Overloaded { message: scrub(message) }
            }
            ModelError::RateLimited { retry_after, message } => {
                ModelError::RateLimited { retry_after, message: scrub(message) }
            }
            ModelError::Authentication { message, .. } => {
                ModelError::Authentication { message: scrub(message), hint: self.key_hint.clone() }
            }
            ModelError::Refused { status, message } => {
                ModelError::Refused { status, message: scrub(message) }
            }
            ModelError::NoModel { message } => ModelError::NoModel { message: scrub(message) },
            ModelError::NoTools { message } => ModelError::NoTools { message: scrub(message) },
            ModelError::Loading { message } => ModelError::Loading { message: scrub(message) },
            ModelError::Unreachable { url, message } => {
                ModelError::Unreachable { url, message: scrub(message) }
            }
            ModelError::Broken { message } => ModelError::Broken { message: scrub(message) },
            ModelError::Server { status, message } => {
                ModelError::Server { status, message: scrub(message) }
            }
        }
    }

    /// Where requests go, as it may be shown.
    pub(crate) fn shown_url(&self) -> String {
        self.url.origin().ascii_serialization() + self.url.path()
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost"
        || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// An error with its causes, because reqwest's own text names none. Where a
/// connection failed, the last of them says it all.
fn chain(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = if error.is_connect() { inner.to_string() } else { format!("{text}: {inner}") };
        cause = inner.source();
    }
    text
}
