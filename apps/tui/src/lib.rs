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
#[doc(hidden)]
pub mod bench;
mod driver;
mod files;
mod footer;
mod form;
mod host;
mod input;
pub mod jobs;
mod page;
mod panel;
mod panel_data;
pub mod picture;
mod question;
mod questions;
mod status;
mod statusline;
mod style;
mod terminal;
mod theme;
mod transcript_view;
mod worker;
mod wrap;

pub use driver::{Editor, ScreenStart, run};
pub use host::{BoxFuture, CommandInfo, Host, Next, Welcome};
pub use page::TextPage;
pub use panel_data::{Listing, PanelData, Table, TableRow, granted_rule};
pub use questions::{OpenQuestion, Question, QuestionSender};
pub use style::TextStyle;
