//! A team's memories in a bucket: a key for each file, changed only by who says
//! which revision the change was made on (F2).

use crate::connection::{FleetConnection, FleetLogin};
use crate::copies::{Copies, damaged};
use crate::layout::{FleetLayout, is_missing, token, untoken};
use async_nats::HeaderMap;
use async_nats::jetstream::context::{GetStreamErrorKind, PublishErrorKind};
use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use everfold_kernel::limits::FleetLimits;
use everfold_kernel::ports::{
    TeamChange, TeamError, TeamHead, TeamMaker, TeamPublished, TeamRemote,
};
use std::future::Future;
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;

/// Who wrote a value.
const BY: &str = "Everfold-By";
/// What a bucket says of a key that is gone.
const OPERATION: &str = "KV-Operation";
const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";

/// A team that meets in a fleet. Everything here blocks, whoever calls it: the
/// servers are talked to on a thread of its own.
pub struct NatsTeam {
    runtime: Option<Runtime>,
    fleet: FleetConnection,
    layout: FleetLayout,
    copies: Mutex<Copies>,
    member: String,
    patience: Duration,
}

/// What became of one write.
enum Written {
    At(u64),
    Overtaken,
}

impl NatsTeam {
    /// Connects, within a time.
    ///
    /// # Errors
    /// If no server can be reached, or the local copy cannot be read.
    pub fn open(
        login: &FleetLogin,
        limits: &FleetLimits,
        (team, member): (&str, &str),
        dir: &Path,
        patience: Duration,
    ) -> Result<Self, TeamError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("fleet")
            .enable_all()
            .build()
            .map_err(|error| damaged(&error))?;
        let (own, bounds) = (login.clone(), limits.clone());
        let connecting = async move { FleetConnection::open(&own, &bounds).await };
        let fleet = match waited(&runtime, connecting, patience) {
            Some(connected) => connected,
            None => Err(TeamError::Late { place: login.place(), seconds: patience.as_secs() }),
        };
        let fleet = match fleet {
            Ok(fleet) => fleet,
            Err(error) => {
                runtime.shutdown_background();
                return Err(error);
            }
        };
        Ok(Self {
            runtime: Some(runtime),
            fleet,
            layout: FleetLayout::of(team),
            copies: Mutex::new(Copies::open(dir)?),
            member: member.to_owned(),
            patience,
        })
    }

    /// The connection, for what else is asked of the fleet.
    #[must_use]
    pub fn fleet(&self) -> &FleetConnection {
        &self.fleet
    }

    /// Does something of a fleet's, and waits for it.
    ///
    /// # Errors
    /// [`TeamError::Late`] if it takes too long.
    pub fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, TeamError> {
        let late =
            TeamError::Late { place: self.fleet.place.clone(), seconds: self.patience.as_secs() };
        let runtime = self.runtime.as_ref().ok_or_else(|| late.clone())?;
        waited(runtime, work, self.patience).ok_or(late)
    }

    /// Does something of a fleet's beside everything else, until it is done or
    /// stopped, or nobody needs the fleet any more.
    pub fn beside(&self, work: impl Future<Output = ()> + Send + 'static) -> Option<AbortHandle> {
        Some(self.runtime.as_ref()?.spawn(work).abort_handle())
    }

    fn subject(&self, path: &str) -> String {
        format!("$KV.{}.{}", self.layout.memory(), token(path))
    }

    async fn stream(fleet: FleetConnection, name: String) -> Result<Stream, TeamError> {
        let ask = || fleet.jetstream.get_stream(name.clone());
        let found = fleet.retried(Duration::from_secs(fleet.limits.ack_s), ask, |error| {
            use GetStreamErrorKind as Kind;
            matches!(error.kind(), Kind::JetStream(_) | Kind::InvalidStreamName)
        });
        found.await.map_err(|error| match error.kind() {
            _ if is_missing(&error) => {
                let message = "the fleet has no such team; `everfold fleet init` creates one";
                TeamError::Denied { place: fleet.place.clone(), message: message.to_owned() }
            }
            GetStreamErrorKind::JetStream(_) => fleet.refused(&error),
            _ => fleet.away(&error),
        })
    }

    /// What was written since a revision, oldest first.
    async fn since(
        fleet: FleetConnection,
        bucket: String,
        last: u64,
    ) -> Result<(u64, Vec<Change>), TeamError> {
        let stream = Self::stream(fleet.clone(), format!("KV_{bucket}")).await?;
        let newest = stream.cached_info().state.last_sequence;
        // A bucket that was made anew counts from the start again.
        let mut next = if newest < last { 1 } else { last + 1 };
        let start = next;
        let prefix = format!("$KV.{bucket}.");
        let (mut changes, patience) = (Vec::new(), Duration::from_secs(fleet.limits.ack_s * 3));
        while next <= newest {
            let ask = || {
                let all = format!("{prefix}>");
                stream.raw_message_builder().next_by_subject(all).sequence(next).send()
            };
            let is_end = |error: &async_nats::jetstream::stream::RawMessageError| {
                matches!(error.kind(), RawMessageErrorKind::NoMessageFound)
            };
            match fleet.retried(patience, ask, is_end).await {
                Ok(message) => {
                    next = message.sequence + 1;
                    changes.extend(Change::read(&message, &prefix));
                }
                Err(error) if is_end(&error) => break,
                Err(error) => return Err(fleet.away(&error)),
            }
        }
        Ok((start, changes))
    }

    async fn write(
        fleet: FleetConnection,
        subject: String,
        value: Option<Vec<u8>>,
        expected: u64,
        by: String,
    ) -> Result<Written, TeamError> {
        let mut headers = HeaderMap::new();
        headers.insert(EXPECTED, expected.to_string());
        headers.insert(BY, by.replace(['\r', '\n'], " "));
        if value.is_none() {
            headers.insert(OPERATION, "DEL");
        }
        let payload: bytes::Bytes = value.unwrap_or_default().into();
        let put = || {
            let (fleet, subject) = (fleet.clone(), subject.clone());
            let (headers, payload) = (headers.clone(), payload.clone());
            async move { fleet.jetstream.publish_with_headers(subject, headers, payload).await?.await }
        };
        let patience = Duration::from_secs(fleet.limits.ack_s * 2);
        let is_final = |error: &async_nats::jetstream::context::PublishError| {
            matches!(
                error.kind(),
                PublishErrorKind::WrongLastSequence | PublishErrorKind::MaxPayloadExceeded
            )
        };
        match fleet.retried(patience, put, is_final).await {
            Ok(ack) => Ok(Written::At(ack.sequence)),
            // Ours may have been written although nobody said so; who looks
            // again finds it there, and has nothing left to write.
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                Ok(Written::Overtaken)
            }
            Err(error) => Err(fleet.away(&error)),
        }
    }
}

/// A change of a bucket.
struct Change {
    path: String,
    revision: u64,
    content: Option<Vec<u8>>,
    by: String,
}

impl Change {
    fn read(message: &async_nats::jetstream::message::StreamMessage, prefix: &str) -> Option<Self> {
        let path = untoken(message.subject.strip_prefix(prefix)?)?;
        let header = |name: &str| message.headers.get(name).map(|value| value.as_str().to_owned());
        let is_gone = header(OPERATION).is_some_and(|operation| operation != "PUT");
        let content = (!is_gone).then(|| message.payload.to_vec());
        Some(Self { path, revision: message.sequence, content, by: header(BY).unwrap_or_default() })
    }
}

/// Waits for something on a runtime of its own; none where it takes too long.
fn waited<T: Send + 'static>(
    runtime: &Runtime,
    work: impl Future<Output = T> + Send + 'static,
    patience: Duration,
) -> Option<T> {
    let (tell, told) = mpsc::channel();
    let task = runtime.spawn(async move {
        let _ = tell.send(work.await);
    });
    let done = told.recv_timeout(patience).ok();
    if done.is_none() {
        task.abort();
    }
    done
}

impl TeamRemote for NatsTeam {
    fn newest(&self) -> Result<TeamHead, TeamError> {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let last = copies.seen.last;
        let (fleet, bucket) = (self.fleet.clone(), self.layout.memory());
        let found = async move { fleet.allowed(Self::since(fleet.clone(), bucket, last)).await };
        let (start, changes) = self.wait(found)??;
        if start <= last {
            copies.seen = crate::copies::Seen::default();
        }
        if !changes.is_empty() {
            for change in &changes {
                let content = change.content.as_deref();
                copies.put(&change.path, change.revision, content, &change.by)?;
            }
            copies.save()?;
        }
        Ok(copies.head())
    }

    fn contents(&self, versions: &[String]) -> Result<Vec<Vec<u8>>, TeamError> {
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let most = self.fleet.limits.message_bytes;
        let one = |version: &String| {
            let missing = || damaged(&format!("revision {version} is missing"));
            copies.content(version, most).ok_or_else(missing)
        };
        versions.iter().map(one).collect()
    }

    fn publish(
        &self,
        on: &TeamHead,
        changes: &[TeamChange],
        _note: &str,
    ) -> Result<TeamPublished, TeamError> {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            // A key that is gone has a revision, too.
            let seen = copies.seen.files.get(&change.path).map_or(0, |file| file.revision);
            let known = on.files.get(&change.path).and_then(|file| file.version.parse().ok());
            let (value, by) = (change.content.clone(), self.member.clone());
            let subject = self.subject(&change.path);
            let (fleet, on) = (self.fleet.clone(), known.unwrap_or(seen));
            let write = Self::write(fleet.clone(), subject, value, on, by);
            match self.wait(async move { fleet.allowed(write).await })?? {
                Written::Overtaken => return Ok(TeamPublished::Behind),
                Written::At(revision) => {
                    let last = copies.seen.last;
                    copies.put(&change.path, revision, change.content.as_deref(), &self.member)?;
                    // What others wrote in between was not seen yet.
                    copies.seen.last = if revision == last + 1 { revision } else { last };
                }
            }
        }
        copies.save()?;
        Ok(TeamPublished::Done(copies.head()))
    }

    fn makers(&self, from: &str, _to: &TeamHead, most: usize) -> Result<Vec<TeamMaker>, TeamError> {
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let from: u64 = from.parse().unwrap_or(0);
        let mut newer: Vec<_> =
            copies.seen.files.values().filter(|file| file.revision > from).collect();
        newer.sort_by_key(|file| std::cmp::Reverse(file.revision));
        let one = |file: &&crate::copies::SeenFile| TeamMaker {
            revision: file.revision.to_string(),
            name: if file.by.is_empty() { "somebody".to_owned() } else { file.by.clone() },
        };
        Ok(newer.iter().take(most).map(one).collect())
    }
}

impl Drop for NatsTeam {
    fn drop(&mut self) {
        // Dropping one waits, which an async caller must not.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
