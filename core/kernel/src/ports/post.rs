//! Letters between agents (L7.5, L7.6).
//!
//! A letter goes to a member of a team by its mailbox, or to another session
//! by its socket. What it says carries no authority of the person (L7.9): it
//! is shown to a model with that mark, and decides nothing by itself.

use super::BoxFuture;
use crate::error::{Class, Classify};
use crate::ids::{LetterId, SessionId};
use crate::provenance::Provenance;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// What carries letters between processes.
pub trait Post: Send + Sync {
    /// Our name in the team, where we are in one.
    fn name(&self) -> Option<&AgentName>;

    /// Lets letters come in for this session, and keeps them in its directory
    /// until they are in its log.
    fn open<'a>(
        &'a self,
        session: &'a SessionId,
        dir: &'a Path,
    ) -> BoxFuture<'a, Result<(), PostError>>;

    /// Sends a letter, and says to whom it went. When the future is done, the
    /// letter survives the end of either process.
    fn send<'a>(
        &'a self,
        to: &'a Address,
        draft: LetterDraft,
    ) -> BoxFuture<'a, Result<Vec<String>, PostError>>;

    /// The letters that wait, in order for each sender. They are taken for the
    /// log at this path, and come again after a crash unless they are in it.
    fn collect<'a>(&'a self, log: &'a Path) -> BoxFuture<'a, Result<Vec<Letter>, PostError>>;

    /// These letters are in the log: they never come again.
    fn settle<'a>(&'a self, letters: &'a [LetterId]) -> BoxFuture<'a, Result<(), PostError>>;

    /// Done when letters may have come.
    fn arrival(&self) -> BoxFuture<'_, ()>;

    /// Stops listening, and leaves the team.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Who a letter is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An agent or a team member by its name.
    Name(AgentName),
    /// Everybody but the sender: `*`.
    Everyone,
    /// A session by its socket: `uds:<path>`.
    Socket(PathBuf),
    /// A session by its id: `bridge:<id>`.
    Session(SessionId),
}

impl Address {
    /// Reads an address as a model writes it.
    ///
    /// # Errors
    /// [`PostError::BadAddress`] or [`PostError::BadName`].
    pub fn parse(text: &str) -> Result<Self, PostError> {
        let text = text.trim();
        let bad = || PostError::BadAddress { text: text.to_owned() };
        if text == "*" {
            return Ok(Self::Everyone);
        }
        if let Some(path) = text.strip_prefix("uds:") {
            let path = PathBuf::from(path);
            return if path.is_absolute() { Ok(Self::Socket(path)) } else { Err(bad()) };
        }
        if let Some(id) = text.strip_prefix("bridge:") {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            let good = !id.is_empty() && id.len() <= MOST_NAME_BYTES && id.chars().all(plain);
            return if good { Ok(Self::Session(id.into())) } else { Err(bad()) };
        }
        AgentName::parse(text).map(Self::Name)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name.as_str()),
            Self::Everyone => f.write_str("*"),
            Self::Socket(path) => write!(f, "uds:{}", path.display()),
            Self::Session(id) => write!(f, "bridge:{id}"),
        }
    }
}

/// Longer names are refused: each is a part of a path.
const MOST_NAME_BYTES: usize = 64;

/// The name of an agent or a team. It is safe as a part of a path.
///
/// ```
/// use everfold_kernel::ports::AgentName;
///
/// assert!(AgentName::parse("reviewer-2").is_ok());
/// assert!(AgentName::parse("../reviewer").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentName(String);

impl AgentName {
    /// Takes letters, digits, `-`, `_` and `.`, the last not in front.
    ///
    /// # Errors
    /// [`PostError::BadName`] for anything else.
    pub fn parse(text: &str) -> Result<Self, PostError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let good = (1..=MOST_NAME_BYTES).contains(&text.len())
            && text.chars().all(plain)
            && !text.starts_with('.');
        if good { Ok(Self(text.to_owned())) } else { Err(PostError::BadName { text: text.into() }) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A letter before it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterDraft {
    pub from: String,
    /// What it is about, in a few words.
    pub summary: Option<String>,
    pub body: Body,
    /// Whose words the writer had in view, the least trusted (L5.33).
    pub provenance: Option<Provenance>,
}

/// A letter as it arrives, and as it lies in a mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Its id; no other letter has it.
    pub id: LetterId,
    pub from: String,
    /// Its number among those of its sender to this receiver; it grows.
    pub seq: u64,
    /// When it was written.
    pub sent: Timestamp,
    /// What it is about, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    pub body: Body,
    /// Whose words the writer had in view, the least trusted (L5.33); none
    /// where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// What a letter says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Body {
    Message {
        text: String,
    },
    /// The receiver is asked to come to an end.
    ShutdownRequest {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The answer to that.
    ShutdownResponse {
        /// Whether the sender ends.
        consent: Consent,
        /// Why, or why not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// What the sender thinks of a plan. It changes no permission (L7.9).
    PlanApprovalResponse {
        consent: Consent,
        /// What should be different.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
}

impl Body {
    /// The same with every text changed.
    #[must_use]
    pub fn map_texts(self, change: impl Fn(&str) -> String) -> Self {
        let some = |text: Option<String>| text.as_deref().map(&change);
        match self {
            Self::Message { text } => Self::Message { text: change(&text) },
            Self::ShutdownRequest { reason } => Self::ShutdownRequest { reason: some(reason) },
            Self::ShutdownResponse { consent, reason } => {
                Self::ShutdownResponse { consent, reason: some(reason) }
            }
            Self::PlanApprovalResponse { consent, feedback } => {
                Self::PlanApprovalResponse { consent, feedback: some(feedback) }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    Approved,
    Declined,
}

/// Why a letter could not be sent or fetched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    #[error(
        "{text:?} is not an address; use a name, *, uds:/path/of/a/socket or bridge:SESSION-ID"
    )]
    BadAddress { text: String },
    /// It cannot be a name.
    #[error(
        "{text:?} cannot be a name; use at most 64 letters, digits, '-', '_' and '.', and no dot in front"
    )]
    BadName { text: String },
    /// Nobody has this name.
    #[error("no one is called {name}; there {}", listed(known))]
    Unknown { name: String, known: Vec<String> },
    #[error("this session is in no team; start it with --team NAME --agent-name N")]
    NoTeam,
    /// Somebody runs under our name.
    #[error(
        "{name} of team {team} is already running; choose another --agent-name, or end the other"
    )]
    NameTaken { name: String, team: String },
    /// It is not ours to write to (S17).
    #[error("cannot write to {path}: {reason}")]
    Outside {
        /// Where it was to go.
        path: PathBuf,
        /// What is wrong with that.
        reason: String,
    },
    /// The other session is not there.
    #[error("nothing listens at {path}; the session has ended or runs elsewhere")]
    NotRunning { path: PathBuf },
    /// The other session did not take it.
    #[error("the session at {path} did not take the message: {reason}")]
    Refused { path: PathBuf, reason: String },
    /// The other session said nothing.
    #[error(
        "the session at {path} gave no answer; the message may have arrived or not. Ask before you send it again"
    )]
    Unanswered { path: PathBuf },
    /// The letter is too long.
    #[error(
        "the message has {bytes} bytes, and at most {max} are sent; put it in a file and name that"
    )]
    TooLong { bytes: u64, max: u64 },
    /// The disk is full.
    #[error(
        "no space left on the device for {path}; the message was not sent. Free some and send it again"
    )]
    NoSpace { path: PathBuf },
    /// Somebody else holds the mailbox.
    #[error("the mailbox {path} is in use by another process for too long; try again")]
    Busy { path: PathBuf },
    /// The servers of the fleet.
    #[error("the fleet cannot be reached: {message}")]
    Away { message: String },
    /// The platform has no such thing.
    #[error("sockets between sessions are not available on this platform")]
    Unsupported,
    #[error("{path}: {message}")]
    Io {
        path: PathBuf,
        /// What the operating system said.
        message: String,
    },
}

fn listed(known: &[String]) -> String {
    match known {
        [] => "is no one else".to_owned(),
        [one] => format!("is {one}"),
        many => format!("are {}", many.join(", ")),
    }
}

impl Classify for PostError {
    fn class(&self) -> Class {
        match self {
            Self::NoSpace { .. }
            | Self::Busy { .. }
            | Self::Refused { .. }
            | Self::Unanswered { .. }
            | Self::Away { .. }
            | Self::Io { .. } => Class::Degrade,
            _ => Class::Refuse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l7_5_addresses_are_read_as_they_are_written() {
        for text in ["ada", "*", "uds:/run/x.sock", "bridge:0192f0c1-1111"] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "a b", ".hidden", "uds:relative", "bridge:", "bridge:../x", "a/b", "é"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn l7_6_a_letter_reads_so_on_disk() {
        let letter = Letter {
            id: "l1".into(),
            from: "ada".into(),
            seq: 3,
            sent: Timestamp::UNIX_EPOCH,
            summary: None,
            body: Body::ShutdownResponse { consent: Consent::Approved, reason: None },
            provenance: None,
        };
        let text = serde_json::to_string(&letter).unwrap();
        assert_eq!(
            text,
            r#"{"id":"l1","from":"ada","seq":3,"sent":"1970-01-01T00:00:00Z","body":{"type":"shutdown_response","consent":"approved"}}"#
        );
        assert_eq!(serde_json::from_str::<Letter>(&text).unwrap(), letter);
    }
}
