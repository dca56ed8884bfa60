//! How a fleet is reached.

use crate::refusal::{self, Violations};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, Event};
use everfold_kernel::limits::FleetLimits;
use everfold_kernel::ports::TeamError;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Largest file with a key or with certificates that is read, in bytes.
const LOGIN_BYTES: u64 = 1024 * 1024;
/// The first pause before another try to reach a server.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// Where the servers are, and who we are to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetLogin {
    /// Addresses, such as `nats://host:4222` or `tls://host:4222`.
    pub servers: Vec<String>,
    /// A `.creds` file.
    pub credentials: Option<PathBuf>,
    /// A file with the seed of an `NKey`.
    pub nkey: Option<PathBuf>,
    /// Certificates of who signed the server's.
    pub tls_ca: Option<PathBuf>,
    /// Our own certificate and its key.
    pub tls_own: Option<(PathBuf, PathBuf)>,
}

impl FleetLogin {
    /// The addresses, for people.
    #[must_use]
    pub fn place(&self) -> String {
        self.servers.join(",")
    }

    async fn options(&self, limits: &FleetLimits) -> Result<ConnectOptions, TeamError> {
        let mut options = ConnectOptions::new()
            .name("everfold")
            .connection_timeout(Duration::from_secs(limits.connect_s))
            .request_timeout(Some(Duration::from_secs(limits.ack_s)))
            .max_reconnects(None)
            .reconnect_delay_callback(pause);
        if let Some(path) = &self.credentials {
            let with = options.credentials_file(path).await;
            options = with.map_err(|error| unusable(path, "everfold.fleet.credentials", &error))?;
        }
        if let Some(path) = &self.nkey {
            let seed = text(path, "everfold.fleet.nkey")?;
            options = options.nkey(seed.trim().to_owned());
        }
        if let Some(path) = &self.tls_ca {
            text(path, "everfold.fleet.tls_ca")?;
            options = options.add_root_certificates(path.clone());
        }
        if let Some((cert, key)) = &self.tls_own {
            text(cert, "everfold.fleet.tls_cert")?;
            text(key, "everfold.fleet.tls_key")?;
            options = options.add_client_certificate(cert.clone(), key.clone());
        }
        Ok(options)
    }
}

fn unusable(path: &Path, setting: &'static str, why: &dyn std::fmt::Display) -> TeamError {
    TeamError::Login { path: path.display().to_string(), setting, message: why.to_string() }
}

/// What a file of ours says.
fn text(path: &Path, setting: &'static str) -> Result<String, TeamError> {
    let read = everfold_disk::read_regular_text(path, LOGIN_BYTES);
    read.map_err(|error| unusable(path, setting, &error))
}

/// The wait before the next try: ever longer, up to a limit.
fn pause(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1).min(8)).unwrap_or(8);
    FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

/// A connection to a fleet. Once there was one, it comes back by itself.
#[derive(Clone)]
pub struct FleetConnection {
    pub(crate) client: Client,
    pub(crate) jetstream: Context,
    pub(crate) place: String,
    pub(crate) limits: FleetLimits,
    violations: Violations,
}

/// What becomes of a fleet that cannot be reached at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Now,
    Whenever,
}

impl FleetConnection {
    /// Connects.
    ///
    /// # Errors
    /// If no server can be reached, or none lets us in.
    pub async fn open(login: &FleetLogin, limits: &FleetLimits) -> Result<Self, TeamError> {
        Self::start(login, limits, Start::Now).await
    }

    /// Connects in the background, for as long as that takes.
    ///
    /// # Errors
    /// If what we are to show of ourselves cannot be read.
    pub async fn beside(login: &FleetLogin, limits: &FleetLimits) -> Result<Self, TeamError> {
        Self::start(login, limits, Start::Whenever).await
    }

    async fn start(
        login: &FleetLogin,
        limits: &FleetLimits,
        start: Start,
    ) -> Result<Self, TeamError> {
        let mut options = login.options(limits).await?;
        if start == Start::Whenever {
            options = options.retry_on_initial_connect();
        }
        let place = login.place();
        let violations = Violations::default();
        let hears = violations.clone();
        options = options.event_callback(move |event| {
            if let Event::ServerError(complaint) = event {
                hears.hear(&complaint.to_string());
            }
            std::future::ready(())
        });
        let connected = options.connect(login.servers.clone()).await;
        let client = connected.map_err(|error| TeamError::Unreachable {
            place: place.clone(),
            message: refusal::connecting(&error, login),
        })?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(Duration::from_secs(limits.ack_s));
        Ok(Self { client, jetstream, place, limits: limits.clone(), violations })
    }

    /// Which server leads a stream now.
    ///
    /// # Errors
    /// If that cannot be asked.
    pub async fn leader(&self, stream: &str) -> Result<String, TeamError> {
        let found = self.jetstream.get_stream(stream).await.map_err(|error| self.away(&error))?;
        let cluster = found.cached_info().cluster.clone();
        cluster.and_then(|cluster| cluster.leader).ok_or_else(|| self.away(&"it has no leader"))
    }

    pub(crate) fn away(&self, error: &dyn std::fmt::Display) -> TeamError {
        let (place, message) = (self.place.clone(), error.to_string());
        match self.violations.take() {
            Some(what) => TeamError::Forbidden { place, what },
            None => TeamError::Unreachable { place, message },
        }
    }

    /// What the servers do not want to do; tells what is not set up there.
    pub(crate) fn refused(&self, error: &dyn std::fmt::Display) -> TeamError {
        match self.away(error) {
            TeamError::Unreachable { place, message } => {
                let message = refusal::not_set_up(&message).map_or(message, str::to_owned);
                TeamError::Denied { place, message }
            }
            other => other,
        }
    }

    /// Ends early what the servers do not allow: they say so beside, and give
    /// no answer.
    ///
    /// # Errors
    /// [`TeamError::Forbidden`] then; else what the work says.
    pub async fn allowed<T>(
        &self,
        work: impl Future<Output = Result<T, TeamError>>,
    ) -> Result<T, TeamError> {
        tokio::select! {
            biased;
            done = work => done,
            () = self.forbidden() => Err(self.away(&"it is not allowed")),
        }
    }

    async fn forbidden(&self) {
        while !self.violations.is_some() {
            tokio::time::sleep(FIRST_PAUSE).await;
        }
    }

    /// Does something until it works or is really refused: a stream has no
    /// leader for some seconds after one was lost.
    pub(crate) async fn retried<T, E, F>(
        &self,
        patience: Duration,
        mut work: impl FnMut() -> F,
        is_final: impl Fn(&E) -> bool,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        let until = tokio::time::Instant::now() + patience;
        let mut attempt = 0;
        loop {
            match work().await {
                Ok(done) => return Ok(done),
                Err(error)
                    if is_final(&error)
                        || self.violations.is_some()
                        || tokio::time::Instant::now() >= until =>
                {
                    return Err(error);
                }
                Err(_) => {
                    attempt += 1;
                    tokio::time::sleep(pause(attempt)).await;
                }
            }
        }
    }
}
