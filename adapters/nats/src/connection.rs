//! How a fleet is reached.

use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions};
use everfold_kernel::limits::FleetLimits;
use everfold_kernel::ports::TeamError;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

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
        let broken = |path: &PathBuf, why: &dyn std::fmt::Display| TeamError::Denied {
            place: path.display().to_string(),
            message: why.to_string(),
        };
        if let Some(path) = &self.credentials {
            let with = options.credentials_file(path).await;
            options = with.map_err(|error| broken(path, &error))?;
        }
        if let Some(path) = &self.nkey {
            let seed = everfold_disk::read_regular_text(path, 4096);
            options = options.nkey(seed.map_err(|error| broken(path, &error))?.trim().to_owned());
        }
        if let Some(path) = &self.tls_ca {
            options = options.add_root_certificates(path.clone());
        }
        if let Some((cert, key)) = &self.tls_own {
            options = options.add_client_certificate(cert.clone(), key.clone());
        }
        Ok(options)
    }
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
        let away = |error: &dyn std::fmt::Display| TeamError::Unreachable {
            place: place.clone(),
            message: error.to_string(),
        };
        let client = options.connect(login.servers.clone()).await.map_err(|error| away(&error))?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(Duration::from_secs(limits.ack_s));
        Ok(Self { client, jetstream, place, limits: limits.clone() })
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
        TeamError::Unreachable { place: self.place.clone(), message: error.to_string() }
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
                Err(error) if is_final(&error) || tokio::time::Instant::now() >= until => {
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
