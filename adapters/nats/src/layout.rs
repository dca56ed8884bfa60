//! The streams and buckets of a team: what they are called, how they are made.
//!
//! Subjects name team, receiver and sender, so that a server's permissions can
//! say who may write as whom (F5).

use crate::FleetConnection;
use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::{ErrorCode, kv, stream};
use everfold_kernel::ports::TeamError;
use std::fmt::Write;
use std::time::Duration;

/// What all of ours begins with.
const PREFIX: &str = "everfold";
/// Seconds of a day.
const DAY: u64 = 24 * 60 * 60;

/// The names of one team's streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetLayout {
    team: String,
}

impl FleetLayout {
    /// Those of a team.
    #[must_use]
    pub fn of(team: &str) -> Self {
        Self { team: token(team) }
    }

    /// The bucket of memories.
    #[must_use]
    pub fn memory(&self) -> String {
        self.named("memory")
    }

    /// The bucket that says who is there.
    #[must_use]
    pub fn presence(&self) -> String {
        self.named("presence")
    }

    /// The bucket that says which work is done.
    #[must_use]
    pub fn finished(&self) -> String {
        self.named("finished")
    }

    /// The stream of letters.
    #[must_use]
    pub fn mail(&self) -> String {
        self.named("mail")
    }

    /// The stream of work.
    #[must_use]
    pub fn work(&self) -> String {
        self.named("work")
    }

    fn named(&self, what: &str) -> String {
        let team: String = self.team.chars().map(|c| if c == '=' { '_' } else { c }).collect();
        format!("{PREFIX}-{team}-{what}")
    }

    /// The subject of letters from one to another.
    #[must_use]
    pub fn letter(&self, to: &str, from: &str) -> String {
        format!("{PREFIX}.{}.mail.{}.{}", self.team, token(to), token(from))
    }

    /// The subjects of all letters to one.
    #[must_use]
    pub fn letters(&self, to: &str) -> String {
        format!("{PREFIX}.{}.mail.{}.*", self.team, token(to))
    }

    /// The subject of one piece of work.
    #[must_use]
    pub fn work_of(&self, kind: &str, name: &str) -> String {
        format!("{PREFIX}.{}.work.{}.{}", self.team, token(kind), token(name))
    }

    /// Makes all of it where it is not there. What is there keeps what is in it,
    /// and gets more copies where more are wanted.
    ///
    /// # Errors
    /// If the servers cannot be reached or refuse it.
    pub async fn make(&self, fleet: &FleetConnection, replicas: usize) -> Result<(), TeamError> {
        fleet.allowed(Box::pin(self.made(fleet, replicas))).await
    }

    async fn made(&self, fleet: &FleetConnection, replicas: usize) -> Result<(), TeamError> {
        for bucket in self.buckets(fleet, replicas) {
            if !raised(fleet, &format!("KV_{}", bucket.bucket), replicas).await? {
                let made = fleet.jetstream.create_key_value(bucket).await;
                made.map_err(|error| fleet.refused(&error))?;
            }
        }
        for config in self.streams(fleet, replicas) {
            if !raised(fleet, &config.name, replicas).await? {
                let made = fleet.jetstream.get_or_create_stream(config).await;
                made.map_err(|error| fleet.refused(&error))?;
            }
        }
        Ok(())
    }

    fn buckets(&self, fleet: &FleetConnection, replicas: usize) -> [kv::Config; 3] {
        let limits = &fleet.limits;
        let bytes = i32::try_from(limits.message_bytes).unwrap_or(i32::MAX);
        let plain =
            kv::Config { num_replicas: replicas, max_value_size: bytes, ..Default::default() };
        [
            kv::Config {
                bucket: self.memory(),
                history: i64::try_from(limits.history.clamp(1, 64)).unwrap_or(1),
                ..plain.clone()
            },
            kv::Config {
                bucket: self.presence(),
                history: 1,
                max_age: Duration::from_secs(limits.presence_s.max(1)),
                ..plain.clone()
            },
            kv::Config {
                bucket: self.finished(),
                history: 1,
                max_age: Duration::from_secs(limits.mail_days * DAY),
                ..plain
            },
        ]
    }

    fn streams(&self, fleet: &FleetConnection, replicas: usize) -> [stream::Config; 2] {
        let limits = &fleet.limits;
        let plain = stream::Config {
            num_replicas: replicas,
            max_age: Duration::from_secs(limits.mail_days * DAY),
            duplicate_window: Duration::from_secs(limits.mail_twice_min * 60),
            max_message_size: i32::try_from(limits.message_bytes).unwrap_or(i32::MAX),
            ..Default::default()
        };
        [
            stream::Config {
                name: self.mail(),
                subjects: vec![format!("{PREFIX}.{}.mail.*.*", self.team)],
                allow_direct: true,
                // A full mailbox says so; what waits in it is not pushed out.
                discard: stream::DiscardPolicy::New,
                discard_new_per_subject: true,
                max_messages_per_subject: i64::try_from(limits.mail_letters).unwrap_or(i64::MAX),
                ..plain.clone()
            },
            stream::Config {
                name: self.work(),
                subjects: vec![format!("{PREFIX}.{}.work.*.*", self.team)],
                retention: stream::RetentionPolicy::WorkQueue,
                ..plain
            },
        ]
    }
}

/// Gives a stream so many copies, if it has fewer. False where there is none.
async fn raised(fleet: &FleetConnection, name: &str, replicas: usize) -> Result<bool, TeamError> {
    let found = match fleet.jetstream.get_stream(name).await {
        Ok(found) => found,
        Err(error) if is_missing(&error) => return Ok(false),
        Err(error) => return Err(fleet.refused(&error)),
    };
    let config = found.cached_info().config.clone();
    if config.num_replicas < replicas {
        let more = stream::Config { num_replicas: replicas, ..config };
        let raised = fleet.jetstream.update_stream(more).await;
        raised.map_err(|error| fleet.refused(&error))?;
    }
    Ok(true)
}

/// Whether the servers know of no such stream.
pub(crate) fn is_missing(error: &GetStreamError) -> bool {
    let GetStreamErrorKind::JetStream(told) = error.kind() else { return false };
    told.error_code() == ErrorCode::STREAM_NOT_FOUND
}

/// A name as one part of a subject or a key: what has a meaning there, and all
/// that is not ASCII, is written as `=XX`.
#[must_use]
pub fn token(name: &str) -> String {
    let mut token = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/') {
            token.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(token, "={byte:02X}");
        }
    }
    token
}

/// The name that a token stands for; none where it is no token.
#[must_use]
pub fn untoken(token: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = token.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'=' {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f2_any_name_is_one_part_of_a_subject() {
        for name in ["ada", "a.b", "memory/tag_1-ü.md", "*", ">", "a b", "=41"] {
            let token = token(name);
            assert!(!token.contains(['.', '*', '>', ' ']), "{token}");
            assert_eq!(untoken(&token).as_deref(), Some(name));
        }
        assert_eq!(untoken("=4"), None);
        assert_eq!(FleetLayout::of("crew").letter("a.b", "c"), "everfold.crew.mail.a=2Eb.c");
    }
}
