//! A fleet: what agents on many machines share, over NATS (F2).
//!
//! - [`FleetConnection`]: how it is reached; reconnects for ever.
//! - [`layout`]: the streams and buckets of a team, and what they are called.
//! - [`NatsTeam`]: the team's memories, behind the port of a team's remote.
//! - [`NatsMail`]: letters, behind the port of a mail carrier.
//! - [`work`]: work of which each piece has one winner.
//! - [`health`]: what is wrong with the servers, for `fleet doctor`.
//!
//! Everything is asked of the servers by a client that may lose them at any
//! time: what was not acknowledged is asked again, so that what is asked twice
//! must happen once.

mod connection;
mod copies;
pub mod health;
pub mod layout;
mod mail;
mod memory;
mod refusal;
pub mod work;

pub use connection::{FleetConnection, FleetLogin};
pub use mail::NatsMail;
pub use memory::NatsTeam;
