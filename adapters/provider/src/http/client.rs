//! The client, made once for a provider.

use crate::config::{Error, ProviderConfig};
use everfold_kernel::ports::{Headroom, ModelError};
use everfold_kernel::{Limits, Secret};
use reqwest::header::HeaderMap;
use reqwest::{Client, Url, redirect};
use std::error::Error as _;
use std::net::IpAddr;
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

    /// The longest that a server may take to begin its answer. One of a person's
    /// own may read a long prompt for minutes without a word (Q17).
    pub(crate) fn first_answer(&self, prompt_tokens: u64) -> Duration {
        let slowest = self.limits.slowest_prompt_tokens_per_s;
        let reading = if is_near(&self.url) { prompt_tokens.checked_div(slowest) } else { None };
        let most = Duration::from_secs(self.limits.stream_ping_s);
        let reading = Duration::from_secs(reading.unwrap_or(0)).min(most);
        self.idle().max(reading)
    }

    /// The error of a server that does not answer.
    pub(crate) fn silent(&self, waited_s: u64) -> ModelError {
        ModelError::Unreachable {
            url: self.shown_url(),
            message: format!("no answer within {waited_s} s"),
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
    host == "localhost" || address(host).is_some_and(|ip| ip.is_loopback())
}

/// Whether the server is on this machine or in the network around it.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match address(host) {
        Some(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Some(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local()
        }
        None => host.rsplit_once('.').is_none_or(|(_, last)| last == "local"),
    }
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse().ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q17_a_server_of_ones_own_is_near() {
        let is = |url: &str| is_near(&Url::parse(url).unwrap());
        for near in ["localhost:1", "127.0.0.1", "[::1]:8080", "192.168.1.9", "nas.local", "ollama"]
        {
            assert!(is(&format!("http://{near}/v1")), "{near}");
        }
        for far in ["api.openai.com", "8.8.8.8", "[2606:4700::1]"] {
            assert!(!is(&format!("https://{far}/v1")), "{far}");
        }
    }
}
