//! The terminal of Everfold: the conversation, and what is behind it.
//!
//! Three parts, and data flows one way between them. The `driver` waits for
//! keys, for what the engine tells, and for the next frame. The `app` is the
//! state of the screen: it takes one of these at a time, and answers with what
//! is to be done; it does no I/O, so that a test can drive it key by key. The
//! `worker` owns the session and runs turns and commands away from the
//! screen, so that typing never waits for them.
//!
//! What a command does is the [`Host`]'s business; what is drawn is here.

mod app;
mod asking;
#[doc(hidden)]
pub mod bench;
mod driver;
mod files;
mod footer;
mod form;
mod host;
mod input;
mod look;
mod page;
mod panel;
pub mod picture;
mod question;
mod side;
mod status;
mod statusline;
mod talk;
mod term;
mod theme;
mod worker;
mod wrap;

pub use asking::{Asker, Open, Question};
pub use driver::{Editor, Start, run};
pub use host::{BoxFuture, CommandInfo, Host, Next, Welcome};
pub use look::Look;
pub use page::Page;
pub use side::{Listing, Row, Side, Table};
