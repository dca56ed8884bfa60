//! The background task that looks at the flag source.

use super::LiveFlags;
use crate::error::Error;
use crate::layout::full_path;
use crate::provider::web_address;
use crate::source::read_capped;
use everfold_kernel::Limits;
use everfold_kernel::settings::FlagSource;
use reqwest::{Client, Url, redirect};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Longest that one look at a URL may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// Largest answer of a URL.
const ANSWER_BYTES: usize = 1024 * 1024;

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagLocation {
    File(PathBuf),
    Url(Url),
}

impl FlagLocation {
    /// The source that settings name, if they name one.
    ///
    /// # Errors
    /// [`Error::TwoFlagSources`], [`Error::RelativePath`] or
    /// [`Error::Address`] for what cannot be looked at.
    pub fn from_settings(
        source: &FlagSource,
        os_home: Option<&Path>,
    ) -> Result<Option<Self>, Error> {
        match (&source.file, &source.url) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(Error::TwoFlagSources),
            (Some(file), None) => full_path("everfold.flag_source.file", file, os_home)
                .map(|path| Some(Self::File(path))),
            (None, Some(url)) => {
                web_address(url, "everfold.flag_source.url").map(|url| Some(Self::Url(url)))
            }
        }
    }
}

/// The time between two looks, at least a second.
#[must_use]
pub fn poll_interval(limits: &Limits) -> Duration {
    Duration::from_secs(limits.flag_poll_s.max(1))
}

/// Owns the background task: it stops when this is dropped.
#[derive(Debug)]
pub struct PollerHandle {
    task: JoinHandle<()>,
}

impl Drop for PollerHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Looks at `source` every `interval` for as long as the handle lives, and
/// feeds `live`. A file is read before this returns; a URL is first looked at
/// in the background, so that no start waits for a network. Needs a runtime.
#[must_use]
pub fn spawn_poller(live: LiveFlags, source: FlagLocation, interval: Duration) -> PollerHandle {
    let mut poller = Poller { live, source, client: None, health: Health::default() };
    let read_already = match &poller.source {
        FlagLocation::File(path) => {
            let seen = look_at_file(path);
            poller.take(seen);
            true
        }
        FlagLocation::Url(_) => false,
    };
    let task = tokio::spawn(async move {
        if read_already {
            tokio::time::sleep(interval).await;
        }
        loop {
            let seen = poller.look().await;
            poller.take(seen);
            tokio::time::sleep(interval).await;
        }
    });
    PollerHandle { task }
}

/// Why a look brought nothing. The last good values stay.
#[derive(Debug, thiserror::Error)]
enum LookError {
    #[error(transparent)]
    Settings(#[from] Error),
    #[error("no such file")]
    Missing,
    #[error("ask the address: {0}")]
    Http(#[from] reqwest::Error),
    #[error("the address answered {0}")]
    Status(reqwest::StatusCode),
    #[error("the answer is larger than {ANSWER_BYTES} bytes")]
    TooLarge,
    #[error("the check was cut short")]
    Interrupted,
}

struct Poller {
    live: LiveFlags,
    source: FlagLocation,
    client: Option<Client>,
    health: Health,
}

impl Poller {
    async fn look(&mut self) -> Result<Vec<u8>, LookError> {
        match self.source.clone() {
            FlagLocation::File(path) => tokio::task::spawn_blocking(move || look_at_file(&path))
                .await
                .unwrap_or(Err(LookError::Interrupted)),
            FlagLocation::Url(url) => {
                let client = match self.client.take() {
                    Some(client) => client,
                    None => build_client(&url)?,
                };
                let seen = look_at_url(&client, url).await;
                self.client = Some(client);
                seen
            }
        }
    }

    fn take(&mut self, seen: Result<Vec<u8>, LookError>) {
        let applied = seen.and_then(|bytes| Ok(self.live.apply(&bytes)?));
        let problem = applied.as_ref().err();
        self.live.report(problem.map(|error| format!("the flag source is unavailable: {error}")));
        match (self.health.note(applied.is_ok()), applied) {
            (Change::Broke, Err(error)) => {
                tracing::warn!(%error, "flag source gives nothing; the last values stay");
            }
            (Change::Healed, _) => tracing::info!("flag source is back"),
            _ => {}
        }
    }
}

fn look_at_file(path: &Path) -> Result<Vec<u8>, LookError> {
    read_capped(path)?.ok_or(LookError::Missing)
}

/// Built on the first look: a TLS client costs time that a start should not pay.
fn build_client(url: &Url) -> Result<Client, LookError> {
    // An error says that someone installed one before, which is as good.
    rustls::crypto::ring::default_provider().install_default().ok();
    let builder = Client::builder().timeout(LOOK_TIMEOUT).redirect(redirect::Policy::none());
    let here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let builder = if here { builder.no_proxy() } else { builder };
    Ok(builder.build()?)
}

async fn look_at_url(client: &Client, url: Url) -> Result<Vec<u8>, LookError> {
    let mut response = client.get(url).send().await.map_err(without_url)?;
    if !response.status().is_success() {
        return Err(LookError::Status(response.status()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(without_url)? {
        if bytes.len() + chunk.len() > ANSWER_BYTES {
            return Err(LookError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// An address may hold a token, which has no place in a log (S5).
fn without_url(error: reqwest::Error) -> LookError {
    LookError::Http(error.without_url())
}

/// Whether the source worked the last time, so that a failure is logged once
/// and not every minute.
#[derive(Debug, Default)]
struct Health {
    broken: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Change {
    Broke,
    Healed,
    Same,
}

impl Health {
    fn note(&mut self, good: bool) -> Change {
        let was_broken = std::mem::replace(&mut self.broken, !good);
        match (was_broken, good) {
            (false, false) => Change::Broke,
            (true, true) => Change::Healed,
            _ => Change::Same,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn q3_a_failure_is_logged_once() {
        let mut health = Health::default();
        let seen: Vec<Change> = [true, false, false, true, true, false]
            .into_iter()
            .map(|good| health.note(good))
            .collect();
        assert_eq!(
            seen,
            [
                Change::Same,
                Change::Broke,
                Change::Same,
                Change::Healed,
                Change::Same,
                Change::Broke
            ]
        );
    }

    #[test]
    fn q3_a_source_is_one_file_or_one_url() {
        let source = |file: Option<&str>, url: Option<&str>| FlagSource {
            file: file.map(str::to_owned),
            url: url.map(str::to_owned),
        };
        let read = |source: &FlagSource| FlagLocation::from_settings(source, None);
        assert!(read(&source(None, None)).unwrap().is_none());
        assert!(matches!(read(&source(Some("/f"), Some("http://h"))), Err(Error::TwoFlagSources)));
        assert!(read(&source(Some("f"), None)).is_err());
        assert!(read(&source(None, Some("ftp://h"))).is_err());
        assert!(matches!(read(&source(None, Some("http://h/x"))), Ok(Some(FlagLocation::Url(_)))));
    }

    #[tokio::test]
    async fn q3_the_poller_stops_when_its_owner_goes() {
        let dir = tempfile::TempDir::new().unwrap();
        let home = crate::Home::at(dir.path());
        let (root, cwd) = (dir.path(), dir.path());
        let place = crate::TreeInputs { home: &home, user_home: None, root, cwd };
        let resolved = crate::load(&crate::SettingsInputs {
            home: &home,
            trust: &crate::Trust::look(&place),
            extra: None,
            variables: &crate::environment::Variables::new(),
            flags: &[],
            managed: &dir.path().join("managed.json"),
            broken: crate::BrokenFiles::Refused,
        });
        let live = LiveFlags::new(resolved.unwrap());
        let source = FlagLocation::File(dir.path().join("flags.json"));
        let handle = spawn_poller(live.clone(), source, Duration::from_millis(1));
        assert_eq!(Arc::strong_count(&live.current), 2);
        drop(handle);
        let start = std::time::Instant::now();
        while Arc::strong_count(&live.current) > 1 {
            assert!(start.elapsed() < Duration::from_secs(20), "still running");
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn q3_the_interval_is_never_zero() {
        let limits = Limits { flag_poll_s: 0, ..Limits::default() };
        assert_eq!(poll_interval(&limits), Duration::from_secs(1));
    }
}
