//! What is wrong with the servers of a fleet, for `everfold fleet doctor`.
//!
//! By default a server acknowledges before what it says is on its disk. What we
//! promise needs `sync_interval: always` and three replicas, and neither is to
//! be taken for granted.

use crate::connection::FleetConnection;
use crate::layout::{FleetLayout, token};
use async_nats::jetstream::stream::Info;
use everfold_kernel::ports::TeamError;
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

/// Looks at everything that can be seen.
///
/// # Errors
/// If the servers cannot be reached at all.
pub async fn examine(
    fleet: &FleetConnection,
    team: &str,
    monitor: Option<&str>,
) -> Result<Vec<FleetFinding>, TeamError> {
    let layout = FleetLayout::of(team);
    let mut found = vec![version(fleet)];
    let buckets = [layout.memory(), layout.presence(), layout.finished()];
    let buckets = buckets.into_iter().map(|bucket| format!("KV_{bucket}"));
    for name in buckets.chain([layout.mail(), layout.work()]) {
        match fleet.jetstream.get_stream(&name).await {
            Ok(stream) => found.push(replicas(&name, stream.cached_info())),
            Err(error) => found.push(bad(format!("{name} cannot be read: {error}"))),
        }
    }
    found.push(clock(fleet, &layout).await);
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

fn replicas(name: &str, info: &Info) -> FleetFinding {
    let wanted = info.config.num_replicas;
    let behind = info.cluster.iter().flat_map(|cluster| &cluster.replicas);
    let behind: Vec<&str> = behind
        .filter(|peer| !peer.current || peer.offline)
        .map(|peer| peer.name.as_str())
        .collect();
    let has_leader = info.cluster.as_ref().is_none_or(|cluster| cluster.leader.is_some());
    if wanted < REPLICAS {
        return bad(format!(
            "{name} has {wanted} replica(s): what was acknowledged is lost with that server; \
             create the fleet with --replicas {REPLICAS}"
        ));
    }
    if !has_leader {
        return bad(format!("{name} has no leader now: nothing can be written"));
    }
    if behind.is_empty() {
        return good(format!("{name} has {wanted} replicas, all current"));
    }
    bad(format!("{name} has {wanted} replicas, and these are behind: {}", behind.join(", ")))
}

/// Writes a key that expires, and compares the server's time with ours.
async fn clock(fleet: &FleetConnection, layout: &FleetLayout) -> FleetFinding {
    let refused = |error: &dyn std::fmt::Display| {
        bad(format!("nothing can be written with these credentials: {error}"))
    };
    let bucket = match fleet.jetstream.get_key_value(layout.presence()).await {
        Ok(bucket) => bucket,
        Err(error) => return refused(&error),
    };
    let key = token("everfold-doctor");
    if let Err(error) = bucket.put(&key, "looking".into()).await {
        return refused(&error);
    }
    let here = jiff::Timestamp::now();
    let there = match bucket.entry(&key).await {
        Ok(Some(entry)) => entry.created.unix_timestamp_nanos(),
        Ok(None) => return bad("what was written cannot be read back".to_owned()),
        Err(error) => return refused(&error),
    };
    let apart = here.as_nanosecond().abs_diff(there);
    let apart = Duration::from_nanos(u64::try_from(apart).unwrap_or(u64::MAX));
    if apart > CLOCK {
        return bad(format!("the server's clock differs from ours by {} s", apart.as_secs()));
    }
    good("writing and reading work, and the clocks agree".to_owned())
}

/// What a server's monitor says of when it writes to its disk.
async fn synced(address: &str) -> FleetFinding {
    let unseen = |error: &dyn std::fmt::Display| FleetFinding {
        state: FleetFindingState::Unseen,
        text: format!("{address} cannot be reached: {error}"),
    };
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
