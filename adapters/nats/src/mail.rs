//! Letters between machines (F2, L7.5): one stream for a team, a subject for
//! each receiver and sender. No consumer is made for an agent; who reads keeps
//! the place up to which it has read.

use crate::connection::{FleetConnection, FleetLogin};
use crate::layout::{FleetLayout, token, untoken};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::kv;
use async_nats::jetstream::stream::{DirectGetErrorKind, Stream};
use async_nats::{HeaderMap, Subscriber};
use everfold_kernel::limits::FleetLimits;
use everfold_kernel::ports::{
    AgentName, BoxFuture, CarriedLetter, Letter, MailCarrier, PostError, TeamError,
};
use futures_util::StreamExt;
use std::time::Duration;
use tokio::sync::{Mutex, OnceCell};

/// The letter's own name: the servers know by it that one came twice.
const ID: &str = "Nats-Msg-Id";

/// The mail of one team.
pub struct NatsMail {
    fleet: OnceCell<FleetConnection>,
    login: FleetLogin,
    limits: FleetLimits,
    layout: FleetLayout,
    stream: OnceCell<Stream>,
    presence: OnceCell<kv::Store>,
    /// Tells that a letter came; it is read from the stream all the same.
    bell: Mutex<Option<Subscriber>>,
}

impl NatsMail {
    /// The mail of a team. Nobody is connected to before something is asked.
    #[must_use]
    pub fn new(login: FleetLogin, limits: FleetLimits, team: &str) -> Self {
        let layout = FleetLayout::of(team);
        let (fleet, stream, presence) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { fleet, login, limits, layout, stream, presence, bell: Mutex::default() }
    }

    /// The same over a connection that is there.
    #[must_use]
    pub fn over(fleet: FleetConnection, team: &str) -> Self {
        let limits = fleet.limits.clone();
        let mail = Self::new(FleetLogin::default(), limits, team);
        Self { fleet: OnceCell::new_with(Some(fleet)), ..mail }
    }

    /// The connection: once made, it comes back by itself for ever.
    async fn fleet(&self) -> Result<&FleetConnection, PostError> {
        let open = || async {
            let opened = FleetConnection::beside(&self.login, &self.limits).await;
            opened.map_err(|error| away(&error))
        };
        self.fleet.get_or_try_init(open).await
    }

    async fn stream(&self) -> Result<&Stream, PostError> {
        let open = || async {
            let found = self.fleet().await?.jetstream.get_stream(self.layout.mail()).await;
            found.map_err(|error| away(&error))
        };
        self.stream.get_or_try_init(open).await
    }

    async fn presence(&self) -> Result<&kv::Store, PostError> {
        let open = || async {
            let bucket = self.layout.presence();
            let found = self.fleet().await?.jetstream.get_key_value(bucket).await;
            found.map_err(|error| away(&error))
        };
        self.presence.get_or_try_init(open).await
    }

    async fn put(&self, to: &AgentName, letter: &Letter) -> Result<(), PostError> {
        let fleet = self.fleet().await?;
        let subject = self.layout.letter(to.as_str(), &letter.from);
        let mut headers = HeaderMap::new();
        headers.insert(ID, letter.id.as_str());
        let payload: bytes::Bytes =
            serde_json::to_vec(letter).map_err(|error| away(&error))?.into();
        let send = || {
            let (subject, headers) = (subject.clone(), headers.clone());
            let payload = payload.clone();
            async move { fleet.jetstream.publish_with_headers(subject, headers, payload).await?.await }
        };
        let patience = Duration::from_secs(fleet.limits.ack_s * 2);
        let is_final =
            |error: &PublishError| matches!(error.kind(), PublishErrorKind::MaxPayloadExceeded);
        let acked = fleet.retried(patience, send, is_final).await;
        acked.map(drop).map_err(|error| match fleet.away(&error) {
            forbidden @ TeamError::Forbidden { .. } => away(&forbidden),
            _ => away(&error),
        })
    }

    async fn after(&self, own: &AgentName, place: u64) -> Result<Option<CarriedLetter>, PostError> {
        let (subject, mut place) = (self.layout.letters(own.as_str()), place);
        loop {
            let next = self.stream().await?.direct_get_next_for_subject(&subject, Some(place + 1));
            let message = match next.await {
                Ok(message) => message,
                Err(error) if matches!(error.kind(), DirectGetErrorKind::NotFound) => {
                    return Ok(None);
                }
                Err(error) => return Err(away(&error)),
            };
            place = message.sequence;
            let from = message.subject.rsplit('.').next().and_then(untoken);
            let letter = serde_json::from_slice::<Letter>(&message.payload).ok();
            // What is not a letter is passed over; somebody else wrote it there.
            if let Some((from, letter)) = from.zip(letter) {
                return Ok(Some(CarriedLetter { place, letter: Letter { from, ..letter } }));
            }
        }
    }

    async fn ring(&self, own: &AgentName) -> Result<(), PostError> {
        let mut slot = self.bell.lock().await;
        if slot.is_none() {
            let subject = self.layout.letters(own.as_str());
            let made = self.fleet().await?.client.subscribe(subject).await;
            *slot = Some(made.map_err(|error| away(&error))?);
        }
        // Whoever stops waiting leaves it as it is.
        let rang = match slot.as_mut() {
            Some(bell) => bell.next().await,
            None => None,
        };
        if rang.is_none() {
            *slot = None;
        }
        Ok(())
    }

    async fn names(&self) -> Result<Vec<AgentName>, PostError> {
        // What the stream knows of its subjects: no consumer is made for a look.
        let bucket = self.layout.presence();
        let stream = self.fleet().await?.jetstream.get_stream(format!("KV_{bucket}")).await;
        let stream = stream.map_err(|error| away(&error))?;
        let prefix = format!("$KV.{bucket}.");
        let found = stream.info_with_subjects(format!("{prefix}>")).await;
        let mut found = found.map_err(|error| away(&error))?;
        let mut names = Vec::new();
        while let Some(subject) = found.next().await {
            let (subject, _) = subject.map_err(|error| away(&error))?;
            let name = subject.strip_prefix(&prefix).and_then(untoken);
            names.extend(name.and_then(|name| AgentName::parse(&name).ok()));
        }
        names.sort();
        Ok(names)
    }
}

fn away(error: &dyn std::fmt::Display) -> PostError {
    PostError::Away { message: error.to_string() }
}

impl MailCarrier for NatsMail {
    fn carry<'a>(
        &'a self,
        to: &'a AgentName,
        letter: &'a Letter,
    ) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(self.put(to, letter))
    }

    fn next<'a>(
        &'a self,
        own: &'a AgentName,
        after: u64,
    ) -> BoxFuture<'a, Result<Option<CarriedLetter>, PostError>> {
        Box::pin(self.after(own, after))
    }

    fn nudge<'a>(&'a self, own: &'a AgentName) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if self.ring(own).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn appear<'a>(&'a self, own: &'a AgentName) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move {
            let put = self.presence().await?.put(token(own.as_str()), "here".into()).await;
            put.map(drop).map_err(|error| away(&error))
        })
    }

    fn present(&self) -> BoxFuture<'_, Result<Vec<AgentName>, PostError>> {
        Box::pin(self.names())
    }
}
