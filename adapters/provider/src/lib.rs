//! Models: over HTTP, and the one that needs no network.
//!
//! [`AnthropicProvider`] and [`OpenAiProvider`] send requests whose bytes were
//! made elsewhere and stream the answers; failures that may pass are tried
//! again inside, visibly. [`Headless`] is the program of another agent, run
//! once without a person. [`Offline`] answers by rule. What a stream or an
//! error means is `everfold-wire`'s business; this crate owns the connection,
//! the waiting and the key.
//!
//! The key is a [`Secret`](everfold_kernel::Secret): it is sent in a header and shows up nowhere else,
//! not in an error, not in a log (S5).

mod anthropic;
mod config;
mod headless;
mod http;
pub mod inventory;
pub mod key;
mod offline;
mod openai;

pub use anthropic::AnthropicProvider;
pub use config::{Auth, Error, ProviderConfig, parse_headers};
pub use headless::{Headless, HeadlessProgram};
pub use offline::{OFFLINE_MODEL, Offline};
pub use openai::{OpenAiProvider, Progress};
