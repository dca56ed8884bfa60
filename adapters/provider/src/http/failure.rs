//! A try that failed, and what is told of it.

use everfold_kernel::ports::ModelError;
use everfold_wire::retry::{Failure, ServerWish};
use std::time::Duration;

/// A try that failed.
pub(super) struct Failed {
    pub(super) error: ModelError,
    pub(super) failure: Failure,
    pub(super) wish: ServerWish,
}

impl Failed {
    /// Of a connection that failed.
    pub(super) fn transport(error: ModelError) -> Self {
        Self { error, failure: Failure::Transport, wish: ServerWish::default() }
    }

    /// A failure that a server told within its answer.
    pub(super) fn told(error: ModelError) -> Self {
        let failure = match &error {
            ModelError::Overloaded { .. } => Failure::Status(529),
            ModelError::RateLimited { .. } => Failure::Status(429),
            ModelError::Loading { .. } => Failure::Status(503),
            ModelError::Server { status, .. } | ModelError::Refused { status, .. } => {
                Failure::Status(*status)
            }
            _ => Failure::Transport,
        };
        Self { error, failure, wish: ServerWish::default() }
    }
}

/// What a person can do about a server that does not answer.
const CHECK: &str = "check that it runs and that this is its address (`everfold doctor`)";

/// A failed connection, with how often it was tried.
pub(super) fn tried(error: ModelError, tries: u32, took: Duration) -> ModelError {
    let told = |message: String| match tries {
        0 | 1 => message,
        tries => format!("{message}; gave up after {tries} attempts in {} s", took.as_secs()),
    };
    match error {
        ModelError::Unreachable { url, message } => {
            let message = format!("{}; {CHECK}", told(message));
            ModelError::Unreachable { url, message }
        }
        ModelError::Broken { message } => ModelError::Broken { message: told(message) },
        other => other,
    }
}

/// Errors that another try meets again, whatever the server wishes.
pub(super) fn is_final(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::PromptTooLong { .. }
            | ModelError::RequestTooLarge { .. }
            | ModelError::Authentication { .. }
            | ModelError::NoModel { .. }
            | ModelError::NoTools { .. }
    )
}
