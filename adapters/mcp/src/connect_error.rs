//! Why a server is not there.

use everfold_kernel::{Class, Classify};
use rmcp::service::ClientInitializeError;

/// Why there is no connection to a server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("no answer within {0} seconds")]
    Late(u64),
    #[error("it ended before it answered{}", complaint(.0.as_deref()))]
    Ended(Option<String>),
    #[error("{}{}", told(.error), complaint(.said.as_deref()))]
    Refused {
        error: Box<ClientInitializeError>,
        /// The last line of what it complained of.
        said: Option<String>,
    },
    #[error("the header {0:?} is not valid")]
    Header(String),
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error("its tools cannot be listed: {0}")]
    Tools(Box<rmcp::ServiceError>),
    #[error("it is not a program")]
    NoProgram,
    #[error("{program} cannot be started: {source}")]
    Start { program: String, source: std::io::Error },
    #[error("it has no pipes")]
    NoPipes,
    #[error("its \"headersHelper\" {0}")]
    Helper(HelperError),
}

/// What went wrong with the command that prints headers. What it printed is not
/// told: it may be a key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HelperError {
    #[error("took too long")]
    Late,
    #[error("cannot be run: {0}")]
    Run(std::io::Error),
    #[error("failed: {0}")]
    Failed(std::process::ExitStatus),
    #[error("did not print a JSON object of strings")]
    NoObject,
}

impl Classify for ConnectError {
    fn class(&self) -> Class {
        match self {
            Self::Late(_) | Self::Ended(_) | Self::Http(_) => Class::Retry,
            _ => Class::Degrade,
        }
    }
}

fn complaint(line: Option<&str>) -> String {
    line.map(|line| format!("; it said: {line}")).unwrap_or_default()
}

fn told(error: &ClientInitializeError) -> String {
    if error.is_authorization_required() {
        return "it requires a login, which Everfold does not support; put a token into \
            \"headers\" of its entry, or a command that prints headers into \"headersHelper\""
            .to_owned();
    }
    let text = error.to_string();
    text.lines().next().unwrap_or("the connection failed").to_owned()
}
