//! Requests over HTTP, with retries.
//!
//! [`Transport`] is what both dialects share: a client, an address, headers
//! and limits. [`run::stream`] makes the request as often as the policy allows
//! and gives the events of the answer.

mod answer;
mod client;
mod failure;
mod patience;
mod response;
mod run;

pub(crate) use answer::Dialogue;
pub(crate) use client::Transport;
pub(crate) use run::stream;

use everfold_kernel::ports::{ModelCall, SOURCE_HEADER};
use reqwest::header::{HeaderName, HeaderValue};

/// The header that says who asks; none for a name that cannot be sent.
pub(crate) fn source_header(call: &ModelCall) -> Option<(HeaderName, HeaderValue)> {
    let value = HeaderValue::from_str(&call.source.to_string()).ok()?;
    Some((HeaderName::from_static(SOURCE_HEADER), value))
}
