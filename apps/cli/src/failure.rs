//! Why the program ends without an answer: exit codes and hints.

use everfold_kernel::ports::{SessionHolder, TranscriptError};
use everfold_kernel::{Class, Classify, SessionId};
use std::io::ErrorKind;
use std::process::ExitCode;

pub(crate) const FAILED: u8 = 1;
/// Summaries and repeated requests of a turn cost what they may (E7).
pub(crate) const OVER_CEILING: u8 = 6;
/// The program was used wrongly, or its settings are broken.
pub(crate) const BAD_USAGE: u8 = 2;

/// There was nothing to do (L6.6).
pub(crate) const NOTHING_TO_DO: u8 = 3;
/// Somebody else does it already (L6.6).
pub(crate) const LOCKED: u8 = 4;

/// The session is open elsewhere (S13).
pub(crate) const OPEN_ELSEWHERE: u8 = 5;

/// A mistake of the person: bad usage, with what to do instead.
#[derive(Debug)]
pub(crate) struct Usage {
    message: String,
    hint: String,
}

impl Usage {
    /// A mistake and what to do instead.
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Usage {}

/// Something that was asked for and is refused, with what to do instead.
#[derive(Debug)]
pub(crate) struct Refusal {
    message: String,
    hint: String,
}

impl Refusal {
    /// What is refused and why, and what to do instead.
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// An error as the person is told of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// What happened; none where there is nobody left to tell.
    pub(crate) message: Option<String>,
    pub(crate) hint: Option<String>,
    code: u8,
}

impl Told {
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// The session that an error is about because another process has it open.
pub(crate) fn open_elsewhere(error: &anyhow::Error) -> Option<(&SessionId, &SessionHolder)> {
    use everfold_agent::engine::Error as Engine;
    let found = match error.downcast_ref::<everfold_agent::Error>() {
        Some(
            everfold_agent::Error::Transcript(found)
            | everfold_agent::Error::Session(Engine::Transcript(found)),
        ) => found,
        _ => match error.downcast_ref::<Engine>()? {
            Engine::Transcript(found) => found,
            _ => return None,
        },
    };
    match found {
        TranscriptError::InUse { session, holder } => Some((session, holder)),
        _ => None,
    }
}

/// What to tell of an error.
pub(crate) fn told(error: &anyhow::Error) -> Told {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    if io.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        // Whoever read has enough.
        return Told { message: None, hint: None, code: 0 };
    }
    let (hint, code) = advice(error);
    // What settings say is the end of a sentence.
    let start = match error.downcast_ref::<everfold_agent::Error>() {
        Some(everfold_agent::Error::Settings(_)) => "failed to ",
        _ => "",
    };
    Told { message: Some(format!("{start}{error:#}")), hint, code }
}

fn advice(error: &anyhow::Error) -> (Option<String>, u8) {
    if let Some(usage) = error.downcast_ref::<Usage>() {
        return (Some(usage.hint.clone()), BAD_USAGE);
    }
    if let Some(refusal) = error.downcast_ref::<Refusal>() {
        return (Some(refusal.hint.clone()), FAILED);
    }
    if let Some(error) = error.downcast_ref::<everfold_memory_store::Error>() {
        return memory(error);
    }
    match error.downcast_ref::<everfold_agent::Error>() {
        Some(everfold_agent::Error::Directory { .. }) => {
            let hint = "name a directory that exists and that you can read";
            (Some(hint.into()), BAD_USAGE)
        }
        Some(everfold_agent::Error::Settings(error)) => {
            let hint = match error.class() {
                Class::Bug => "please report this",
                _ => "fix it there; `everfold config` shows every setting and where it comes from",
            };
            (Some(hint.into()), BAD_USAGE)
        }
        Some(everfold_agent::Error::Key(_)) => {
            (Some("run the command of apiKeyHelper by hand to see what it says".into()), BAD_USAGE)
        }
        Some(everfold_agent::Error::Provider(_)) => {
            (Some("`everfold doctor` says which provider is used and why".into()), BAD_USAGE)
        }
        Some(everfold_agent::Error::Memory(error)) => memory(error),
        Some(everfold_agent::Error::Session(everfold_agent::engine::Error::Exists(_))) => {
            (None, BAD_USAGE)
        }
        Some(
            everfold_agent::Error::Session(everfold_agent::engine::Error::Transcript(error))
            | everfold_agent::Error::Transcript(error),
        ) => transcript(error),
        _ => match error.downcast_ref::<everfold_agent::engine::Error>() {
            Some(everfold_agent::engine::Error::Transcript(error)) => transcript(error),
            _ => (None, FAILED),
        },
    }
}

fn memory(error: &everfold_memory_store::Error) -> (Option<String>, u8) {
    use everfold_memory_store::Error as E;
    match error {
        E::BadLocation { .. } => {
            let hint = "set EVERFOLD_MEMORY_DIR or autoMemoryDirectory to an absolute path";
            (Some(hint.into()), BAD_USAGE)
        }
        E::BadPath { .. } => (None, BAD_USAGE),
        E::NoEntry { .. } => (Some("`everfold memory log` lists the entries".into()), FAILED),
        _ => (None, FAILED),
    }
}

fn transcript(error: &TranscriptError) -> (Option<String>, u8) {
    use TranscriptError as E;
    match error {
        E::NotFound { .. } => (
            Some("`everfold sessions list` shows the sessions of this directory".into()),
            BAD_USAGE,
        ),
        E::InUse { .. } => {
            let hint = "wait until it is closed, or continue in a copy with --fork-session";
            (Some(hint.into()), OPEN_ELSEWHERE)
        }
        E::Write { .. } => {
            let hint = "check the disk and the owner of that directory, or set EVERFOLD_HOME";
            (Some(hint.into()), FAILED)
        }
        E::Read { .. } => (Some("check its owner and its mode".into()), FAILED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_each_kind_of_error_has_its_code_and_hint() {
        let usage = told(&Usage::new("two at once", "choose one").into());
        assert_eq!(
            (usage.message.as_deref(), usage.hint.as_deref()),
            (Some("two at once"), Some("choose one"))
        );
        assert_eq!(usage.code, BAD_USAGE);
        let broken: anyhow::Error = std::io::Error::from(ErrorKind::BrokenPipe).into();
        assert_eq!(told(&broken.context("write")).message, None);
        assert_eq!(told(&anyhow::anyhow!("x")).code, FAILED);
    }
}
