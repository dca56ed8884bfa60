//! Instruction files: which there are, what they pull in, when they load (I).
//!
//! The crate reads nothing. [`plan`] lists the places to look, a [`Loader`]
//! asks for one file after the other and is given it, and ends with the
//! [`Instructions`]: the texts in order, and a [`InstructionFile`] for everything that was
//! met, loaded or not. [`Lazy`] says which files become due when the model
//! touches a path. [`render`] makes one reminder of the texts.
//!
//! Nothing here fails: what cannot be loaded is left out and has a row that
//! says why.

mod discovery;
mod frontmatter;
mod instructions;
mod lazy_rules;
mod loader;
mod markdown;
mod model_text;
mod patterns;

pub use discovery::{
    CandidateKind, InstructionCandidate, InstructionDirs, InstructionScope, Reason, directory, plan,
};
pub use instructions::{Conditional, FileFate, InstructionFile, InstructionText, Instructions};
pub use lazy_rules::{Lazy, Touch};
pub use loader::{Bounds, Given, LoadRequest, Loader};
pub use markdown::compact_instructions;
pub use model_text::render;
pub use patterns::Patterns;
