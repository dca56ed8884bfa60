//! What is wrong with the servers of a fleet, for `everfold fleet doctor`.
//!
//! By default a server acknowledges before what it says is on its disk. What we
//! promise needs `sync_interval: always` and three replicas, and neither is to
//! be taken for granted.

use crate::connection::FleetConnection;
use crate::layout::{FleetLayout, token};
use async_nats::jetstream::stream::Info;
use everfold_kernel::ports::{Clock, TeamError};
use jiff::Timestamp;
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Replicas from which on one server may be lost.
pub const REPLICAS: usize = 3;
/// Clocks that differ by more are told.
const CLOCK: Duration = Duration::from_secs(2);
/// The oldest server that has all that is asked of it.
const LEAST: (u64, u64) = (2, 10);
/// Most bytes of what a server's monitor says.
const MONITOR_BYTES: u64 = 4 * 1024 * 1024;
const MONITOR_WAIT: Duration = Duration::from_secs(5);

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetFinding {
    pub state: FleetFindingState,
    /// What it is, and what to do about it.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetFindingState {
    /// As it should be.
    Good,
    /// Not as it should be; the promise does not hold.
    Bad,
    /// It cannot be seen from here.
    Unseen,
}

fn good(text: String) -> FleetFinding {
    FleetFinding { state: FleetFindingState::Good, text }
}

fn bad(text: String) -> FleetFinding {
    FleetFinding { state: FleetFindingState::Bad, text }
}

/// Looks at everything that can be seen; `clock` tells the time here.
///
/// # Errors
/// If the servers cannot be reached at all.
pub async fn examine(
    fleet: &FleetConnection,
    team: &str,
    monitor: Option<&str>,
    clock: &dyn Clock,
) -> Result<Vec<FleetFinding>, TeamError> {
    let layout = FleetLayout::of(team);
    let (mut found, mut few) = (vec![version(fleet)], Vec::new());
    let buckets = [layout.memory(), layout.presence(), layout.finished()];
    let buckets = buckets.into_iter().map(|bucket| format!("KV_{bucket}"));
    for name in buckets.chain([layout.mail(), layout.work()]) {
        let ask = async {
            let stream = fleet.jetstream.get_stream(&name).await;
            stream.map_err(|error| fleet.refused(&error))
        };
        match fleet.allowed(ask).await {
            Ok(stream) if stream.cached_info().config.num_replicas < REPLICAS => few.push(name),
            Ok(stream) => found.push(replicas(&name, stream.cached_info())),
            Err(error) => found.push(bad(format!("{name} cannot be read: {error}"))),
        }
    }
    found.extend(too_few(&few, team));
    let written = fleet.allowed(server_time(fleet, &layout)).await;
    found.push(match written {
        Ok(there) => compared(there, clock.now()),
        Err(error) => bad(format!("writing and reading do not work: {error}")),
    });
    found.push(match monitor {
        Some(address) => synced(address).await,
        None => FleetFinding {
            state: FleetFindingState::Unseen,
            text:
                "sync_interval cannot be seen by a client; --monitor http://HOST:8222 looks at a \
                   server's. Set `sync_interval: always` in the jetstream block of each"
                    .to_owned(),
        },
    });
    Ok(found)
}

fn version(fleet: &FleetConnection) -> FleetFinding {
    let info = fleet.client.server_info();
    let mut parts = info.version.split('.').map(|part| part.parse::<u64>().unwrap_or(0));
    let own = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if own >= LEAST {
        return good(format!("nats-server {} at {}", info.version, fleet.place));
    }
    bad(format!(
        "nats-server {} is too old; {}.{} or newer is needed",
        info.version, LEAST.0, LEAST.1
    ))
}

/// The streams of which there are too few copies.
fn too_few(names: &[String], team: &str) -> Option<FleetFinding> {
    if names.is_empty() {
        return None;
    }
    Some(bad(format!(
        "fewer than {REPLICAS} replicas of {}: what was acknowledged may be lost with one server; \
         a cluster of three and `everfold fleet init SERVERS --name {team} --replicas {REPLICAS}` \
         keep it",
        names.join(", ")
    )))
}

fn replicas(name: &str, info: &Info) -> FleetFinding {
    let wanted = info.config.num_replicas;
    let behind = info.cluster.iter().flat_map(|cluster| &cluster.replicas);
    let behind: Vec<&str> = behind
        .filter(|peer| !peer.current || peer.offline)
        .map(|peer| peer.name.as_str())
        .collect();
    let has_leader = info.cluster.as_ref().is_none_or(|cluster| cluster.leader.is_some());
    if !has_leader {
        return bad(format!("{name} has no leader now: nothing can be written"));
    }
    if behind.is_empty() {
        return good(format!("{name} has {wanted} replicas, all current"));
    }
    bad(format!("{name} has {wanted} replicas, and these are behind: {}", behind.join(", ")))
}

/// Writes a key that expires, reads it back, and says when that was by the
/// server's clock.
async fn server_time(
    fleet: &FleetConnection,
    layout: &FleetLayout,
) -> Result<Timestamp, TeamError> {
    let bucket = fleet.jetstream.get_key_value(layout.presence()).await;
    let bucket = bucket.map_err(|error| fleet.refused(&error))?;
    let key = token("everfold-doctor");
    bucket.put(&key, "looking".into()).await.map_err(|error| fleet.refused(&error))?;
    let entry = bucket.entry(&key).await.map_err(|error| fleet.refused(&error))?;
    let at = entry.map(|entry| entry.created.unix_timestamp_nanos());
    let at = at.and_then(|at| Timestamp::from_nanosecond(at).ok());
    at.ok_or_else(|| fleet.refused(&"what was written cannot be read back"))
}

/// The server's clock and ours.
fn compared(there: Timestamp, here: Timestamp) -> FleetFinding {
    let apart = there.duration_since(here);
    if apart.unsigned_abs() <= CLOCK {
        return good("writing and reading work, and the clocks agree".to_owned());
    }
    let how = if apart.is_positive() { "ahead of" } else { "behind" };
    bad(format!(
        "the server's clock is {} s {how} ours; set both by NTP, or letters, leases and dreams \
         expire at the wrong time",
        apart.unsigned_abs().as_secs()
    ))
}

/// What a server's monitor says of when it writes to its disk.
async fn synced(address: &str) -> FleetFinding {
    let unseen = |error: &dyn std::fmt::Display| FleetFinding {
        state: FleetFindingState::Unseen,
        text: format!("{address} cannot be reached: {error}"),
    };
    if address.starts_with("https:") {
        return unseen(&"only http:// is spoken here; run it beside the server");
    }
    let asked = tokio::time::timeout(MONITOR_WAIT, monitored(address)).await;
    let said = match asked {
        Err(late) => return unseen(&late),
        Ok(Err(error)) => return unseen(&error),
        Ok(Ok(said)) => said,
    };
    let Some(body) = said.split_once("\r\n\r\n").map(|(_, body)| body) else {
        return unseen(&"it is not a monitor");
    };
    let Ok(read) = serde_json::from_str::<Value>(body) else {
        return unseen(&"it is not a monitor");
    };
    match read.pointer("/config/sync_always").and_then(Value::as_bool) {
        Some(true) => good(format!("{address}: sync_interval is always")),
        _ => bad(format!(
            "{address}: sync_interval is not always: it acknowledges writes before they are on \
             the disk, and a power failure loses them. Set `sync_interval: always` in the \
             jetstream \
             block"
        )),
    }
}

async fn monitored(address: &str) -> std::io::Result<String> {
    let host = address.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = tokio::net::TcpStream::connect(host).await?;
    let ask = format!("GET /jsz?config=true HTTP/1.0\r\nHost: {host}\r\n\r\n");
    stream.write_all(ask.as_bytes()).await?;
    let mut said = Vec::new();
    stream.take(MONITOR_BYTES).read_to_end(&mut said).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}
