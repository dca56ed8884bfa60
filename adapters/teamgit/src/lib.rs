//! A team's memories in a git repository that every member has (F1).
//!
//! The person's own `git` carries them, so that keys, helpers and proxies work
//! as they do elsewhere. What comes in is only ever looked at as objects: there
//! is a bare repository and no work tree, so nothing is checked out, no filter,
//! hook or submodule is run, and no link is followed, whatever somebody put
//! into the shared repository. What is written is a commit made from what the
//! caller gives.
//!
//! Everything here blocks, and ends by its deadline.

mod address;
mod program;
mod repository;

pub use address::GitAddress;
pub use program::Prompts;
pub use repository::{GitTeam, GitTeamOptions};
