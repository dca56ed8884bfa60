//! The vocabulary of Everfold.
//!
//! Everything else is written in these words: a [`Record`] is one entry of the
//! log, a [`Block`] one piece of a message, [`Usage`] what a request cost, an
//! [`Effect`] what a layer wants done. The crate is pure: no files, no clock,
//! no environment, no runtime. The outside world is behind the traits in
//! [`ports`], whose methods return futures and leave the waiting to the engine.
//!
//! One owner for each fact: model table and prices in [`models`], limits in
//! [`limits`], kill switches in [`flags`], environment names in [`mod@env`].

pub mod block;
pub mod call;
pub mod effect;
pub mod env;
pub mod error;
pub mod flags;
pub mod ids;
pub mod limits;
pub mod models;
pub mod phrase;
pub mod ports;
pub mod provenance;
pub mod record;
pub mod secret;
pub mod settings;
pub mod testimony;
pub mod tokens;
pub mod tree;
pub mod usage;
pub mod window;

pub use block::{Block, BlockView, Role};
pub use effect::{Effect, EffectOutcome};
pub use error::{Class, Classify};
pub use flags::{Flag, Flags};
pub use ids::{LetterId, MessageId, ModelId, RecordId, RequestId, SessionId, ToolUseId};
pub use jiff::Timestamp;
pub use limits::Limits;
pub use models::{ModelSpec, ModelTable, Prices, Usd};
pub use provenance::{BlockProvenance, Provenance};
pub use record::{
    AssistantEntry, Attachment, Boundary, Decision, Entry, Params, Prelude, Record, SystemBlock,
    UserEntry, UserOrigin,
};
pub use secret::Secret;
pub use settings::Settings;
pub use testimony::{Testimony, Utterance};
pub use tokens::{Calibration, Tokens};
pub use tree::TreeBounds;
pub use usage::{Ledger, QuerySource, Usage};
pub use window::Window;
