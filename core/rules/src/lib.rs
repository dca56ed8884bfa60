//! Instruction files: which there are, what they pull in, when they load (I).
//!
//! The crate reads nothing. [`plan`] lists the places to look, a [`Loader`]
//! asks for one file after the other and is given it, and ends with the
//! [`Instructions`]: the texts in order, and a [`Row`] for everything that was
//! met, loaded or not. [`Lazy`] says which files become due when the model
//! touches a path. [`render`] makes one reminder of the texts.
//!
//! Nothing here fails: what cannot be loaded is left out and has a row that
//! says why.

mod discover;
mod frontmatter;
mod instructions;
mod lazy;
mod loader;
mod markdown;
mod patterns;
mod show;

pub use discover::{Candidate, Look, Places, Reason, Scope, directory, plan};
pub use instructions::{Conditional, Fate, Instructions, Row, Text};
pub use lazy::{Lazy, Touch};
pub use loader::{Bounds, Given, Loader, Need};
pub use markdown::compact_instructions;
pub use patterns::Patterns;
pub use show::render;
