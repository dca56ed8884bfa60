//! Requests over HTTP, with retries.
//!
//! [`Transport`] is what both dialects share: a client, an address, headers
//! and limits. [`run::stream`] makes the request as often as the policy allows
//! and gives the events of the answer.

mod answer;
mod client;
mod run;

pub(crate) use answer::Dialogue;
pub(crate) use client::Transport;
pub(crate) use run::stream;
