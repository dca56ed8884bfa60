//! The page: what fills the window, what it costs, what is remembered (W1 to
//! W7). On loopback, for one person and their browser.
//!
//! Rendered on the server, one style sheet, one small script for live updates.
//! What is shown is read from the same places as on the terminal; what is
//! changed goes the same way as there: one entry of the history, which can be
//! taken back.
//!
//! - [`listen`]: starts it; [`PageListener`] serves.
//! - `guard`: who may ask. Nothing behind it is asked by anybody else.
//! - `site`: what the page is about; `ledger`: all sessions and their bills.
//! - `pages`: one file for each; `report`: what is printed instead, by itself.

mod asset;
mod error;
mod frame;
mod guard;
mod ledger;
mod pages;
pub mod report;
mod server;
mod site;
mod token;
mod transcript;

pub use error::Error;
pub use server::{PageListener, listen};
pub use site::{PageAccess, PageSources};
