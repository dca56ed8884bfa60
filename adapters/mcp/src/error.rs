//! What is wrong with an entry.

use everfold_kernel::{Class, Classify};

/// Why an entry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    #[error("its name may have letters, digits, - and single _ only")]
    Name,
    #[error("it is not an object")]
    NoObject,
    #[error("{0:?} is not an http or https URL")]
    NoUrl(String),
    #[error("the transport \"sse\" is obsolete; use the server's http address")]
    OldTransport,
    #[error("unknown transport {0:?}")]
    UnknownTransport(String),
    #[error("it has no {0:?}")]
    Missing(&'static str),
    #[error("it has neither \"command\" nor \"url\"")]
    Empty,
    #[error("the variable {0} is not set")]
    Unset(String),
}

impl Classify for EntryError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}
