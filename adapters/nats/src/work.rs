//! Work that one of many does: the dream of a team (F2).
//!
//! The same piece offered by many is one piece, for as long as it is not done:
//! it has a subject of its own, which holds one. Who takes it renews a lease
//! while it works; where that stops, another gets it. Only the first to finish
//! a piece has won it, so one who was thought dead and comes back does no harm.

use crate::connection::FleetConnection;
use crate::layout::{FleetLayout, token};
use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::kv::CreateErrorKind;
use async_nats::jetstream::{AckKind, Message, kv};
use everfold_kernel::ports::TeamError;
use futures_util::StreamExt;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const EXPECTED: &str = "Nats-Expected-Last-Subject-Sequence";
/// What all workers of a team share.
const WORKERS: &str = "workers";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkPiece {
    /// What is to be done, such as `dream`.
    pub kind: String,
    /// Which one; the same name is the same piece.
    pub name: String,
}

/// A piece that is ours for a time.
pub struct WorkLease {
    pub piece: WorkPiece,
    message: Message,
    queue: WorkQueue,
}

/// Who finished a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkOutcome {
    Won,
    /// Somebody else had done so before.
    DoneBefore,
}

/// The queue of one team.
#[derive(Clone)]
pub struct WorkQueue {
    fleet: FleetConnection,
    layout: FleetLayout,
    consumer: PullConsumer,
}

impl WorkQueue {
    /// Opens it.
    ///
    /// # Errors
    /// If the servers cannot be reached, or there is no such team.
    pub async fn open(fleet: &FleetConnection, team: &str) -> Result<Self, TeamError> {
        let layout = FleetLayout::of(team);
        let stream = fleet.jetstream.get_stream(layout.work()).await;
        let stream = stream.map_err(|error| fleet.away(&error))?;
        let config = pull::Config {
            durable_name: Some(WORKERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: Duration::from_secs(fleet.limits.lease_s.max(1)),
            ..Default::default()
        };
        let consumer = stream.get_or_create_consumer(WORKERS, config).await;
        let consumer = consumer.map_err(|error| fleet.away(&error))?;
        Ok(Self { fleet: fleet.clone(), layout, consumer })
    }

    /// Offers a piece of work. One that is offered and not done stays as it is.
    ///
    /// # Errors
    /// If the servers do not acknowledge it.
    pub async fn offer(&self, piece: &WorkPiece) -> Result<(), TeamError> {
        let mut headers = HeaderMap::new();
        headers.insert(EXPECTED, "0");
        let subject = self.layout.work_of(&piece.kind, &piece.name);
        let body = serde_json::to_vec(piece).map_err(|error| self.fleet.away(&error))?;
        let body: bytes::Bytes = body.into();
        let send = || {
            let (subject, headers, body) = (subject.clone(), headers.clone(), body.clone());
            async move { self.fleet.jetstream.publish_with_headers(subject, headers, body).await?.await }
        };
        let patience = Duration::from_secs(self.fleet.limits.ack_s * 2);
        let is_there = |error: &PublishError| error.kind() == PublishErrorKind::WrongLastSequence;
        match self.fleet.retried(patience, send, is_there).await {
            Ok(_) => Ok(()),
            Err(error) if is_there(&error) => Ok(()),
            Err(error) => Err(self.fleet.away(&error)),
        }
    }

    /// When a piece was finished, if it was.
    ///
    /// # Errors
    /// If the servers cannot be reached.
    pub async fn finished(&self, piece: &WorkPiece) -> Result<Option<Timestamp>, TeamError> {
        let bucket = self.bucket().await?;
        let entry = bucket.entry(piece.key()).await.map_err(|error| self.fleet.away(&error))?;
        let at = entry.map(|entry| entry.created.unix_timestamp_nanos());
        Ok(at.and_then(|at| Timestamp::from_nanosecond(at).ok()))
    }

    async fn bucket(&self) -> Result<kv::Store, TeamError> {
        let bucket = self.fleet.jetstream.get_key_value(self.layout.finished()).await;
        bucket.map_err(|error| self.fleet.away(&error))
    }

    /// The next piece, if one comes within a time.
    ///
    /// # Errors
    /// If the servers cannot be reached.
    pub async fn take(&self, wait: Duration) -> Result<Option<WorkLease>, TeamError> {
        let fetch = self.consumer.fetch().max_messages(1).expires(wait).messages().await;
        let mut messages = fetch.map_err(|error| self.fleet.away(&error))?;
        while let Some(message) = messages.next().await {
            let message = message.map_err(|error| self.fleet.away(&error))?;
            let piece = serde_json::from_slice::<WorkPiece>(&message.payload).ok();
            match piece {
                Some(piece) if self.finished(&piece).await?.is_none() => {
                    return Ok(Some(WorkLease { piece, message, queue: self.clone() }));
                }
                // Whoever finished it died before the servers heard of it; and
                // what is no work is nobody's.
                _ => message.ack_with(AckKind::Term).await.map_err(|e| self.fleet.away(&e))?,
            }
        }
        Ok(None)
    }
}

impl WorkPiece {
    fn key(&self) -> String {
        format!("{}/{}", token(&self.kind), token(&self.name))
    }
}

impl WorkLease {
    /// For how long it is ours without a word.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.queue.consumer.cached_info().config.ack_wait
    }

    /// Says that we are at it; to be said well within the lease.
    ///
    /// # Errors
    /// If the servers cannot be reached.
    pub async fn renew(&self) -> Result<(), TeamError> {
        let said = self.message.ack_with(AckKind::Progress).await;
        said.map_err(|error| self.queue.fleet.away(&error))
    }

    /// Gives it back at once.
    ///
    /// # Errors
    /// If the servers cannot be reached; then the lease runs out by itself.
    pub async fn give_back(&self) -> Result<(), TeamError> {
        let said = self.message.ack_with(AckKind::Nak(None)).await;
        said.map_err(|error| self.queue.fleet.away(&error))
    }

    /// It is not to be done any more.
    ///
    /// # Errors
    /// If the servers cannot be reached; then another gets it.
    pub async fn withdraw(&self) -> Result<(), TeamError> {
        let said = self.message.ack_with(AckKind::Term).await;
        said.map_err(|error| self.queue.fleet.away(&error))
    }

    /// It is done. Says whether it was done by us, which one of all hears.
    ///
    /// # Errors
    /// If the servers do not acknowledge it; then it comes again.
    pub async fn finish(&self) -> Result<WorkOutcome, TeamError> {
        let (fleet, bucket) = (&self.queue.fleet, self.queue.bucket().await?);
        let key = self.piece.key();
        // Each delivery has an address of its own for the answer.
        let own = self.message.reply.as_ref().map(ToString::to_string).unwrap_or_default();
        let mark = || bucket.create(&key, own.clone().into());
        let exists = |error: &async_nats::jetstream::kv::CreateError| {
            error.kind() == CreateErrorKind::AlreadyExists
        };
        let patience = Duration::from_secs(fleet.limits.ack_s * 2);
        let outcome = match fleet.retried(patience, mark, exists).await {
            Ok(_) => WorkOutcome::Won,
            // It may be ours, though nobody told us that it was written.
            Err(error) if exists(&error) => match bucket.get(&key).await {
                Ok(Some(by)) if by == own.as_bytes() => WorkOutcome::Won,
                Ok(_) => WorkOutcome::DoneBefore,
                Err(error) => return Err(fleet.away(&error)),
            },
            Err(error) => return Err(fleet.away(&error)),
        };
        self.message.double_ack().await.map_err(|error| fleet.away(&error))?;
        Ok(outcome)
    }
}
