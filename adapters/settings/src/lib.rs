//! Settings from files, environment, flags and a live provider, each value
//! with the place it came from.
//!
//! The order is that of C4: home, project, local, `--settings`, the flag
//! provider (Q3), environment, command line; managed settings win over all.
//! [`load`] reads and merges them into a [`Resolved`]; [`provider::choose`]
//! says who answers; [`LiveFlags`] follows what changes while sessions run.
//!
//! The crate reads files that it is pointed at and never the environment,
//! the current directory or a clock: the apps hand those in. It does not write
//! settings, run key commands or ask git anything; all that it writes is which
//! working trees a person trusts ([`trust`]). Who does change settings finds in
//! [`splice`] how to do it where they stand.

pub mod environment;
pub mod error;
pub mod jsonc;
pub mod layout;
pub mod live;
pub mod merge;
pub mod origin;
pub mod provider;
pub mod resolved;
pub mod schema;
pub mod source;
pub mod splice;
pub mod trust;

mod check;
mod refuse;

pub use environment::{Ambient, RunPlace};
pub use error::Error;
pub use layout::Home;
pub use live::{FlagLocation, LiveFlags, PollerHandle, spawn_poller};
pub use merge::Layer;
pub use origin::ValueOrigin;
pub use refuse::Refused;
pub use resolved::{BrokenFiles, Resolved, SettingRow, SettingsInputs, load};
pub use source::Extra;
pub use trust::{TreeInputs, Trust};
