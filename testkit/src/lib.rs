//! What tests are made of: a model server on loopback with a real prompt
//! cache, an oracle for the prefix, a clock and a home.
//!
//! [`TestServer`] speaks the Anthropic Messages API and OpenAI's chat
//! completions. It is strict where the API is strict, bills `usage` with the
//! cache simulator over the bytes that really arrived, and answers by a
//! [`Scenario`] or by a function. It shares no wire types with the code under
//! test: it is a second reading of the same contract.
//!
//! [`FakeModel`] is the same model without HTTP: a port for tests of what is
//! above the wire.
//!
//! It is not for production: nothing here is safe to put on a network.

mod check;
mod clock;
mod count;
mod home;
pub mod interop;
mod long_session;
pub mod mcp;
pub mod oracle;
mod received;
pub mod scenario;
mod server;

pub use clock::FakeClock;
pub use home::TempHome;
pub use long_session::LongSession;
pub use received::{Received, SOURCE_HEADER};
pub use scenario::{
    Content, Gate, LocalServer, Reply, Scenario, ScenarioStep, ServerFault, ServerProgram,
    ServerRules, When,
};
pub use server::{Error, FakeModel, TestServer};
