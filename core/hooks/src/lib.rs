//! Hooks, as Claude Code users know them (Q7): which handlers an event calls,
//! what they are told, and what their answers mean.
//!
//! Nothing is run here. [`Registry`] reads the `hooks` of the settings and
//! says which [`Handler`]s an [`Occasion`] calls; [`Occasion::input`] is what
//! they read; [`Answer::read`] is what one of them says, and [`Verdict`] what
//! all of them say together. Nothing here fails: a handler that cannot be
//! read is a [`Problem`], one that answers nonsense has no say.

mod answer;
mod asked;
mod event;
mod matcher;
mod occasion;
mod registry;
mod verdict;
mod wanted;

pub use answer::{Answer, Ended, Fate, Permission, Ran, let_go};
pub use asked::{filled_arguments, filled_prompt, judgement};
pub use event::{Blocking, Event};
pub use matcher::Matcher;
pub use occasion::{Base, Call, Elicited, Occasion, Switch, Task};
pub use registry::{Act, Handler, Means, Often, Problem, Registry, Waits};
pub use verdict::{Noted, Verdict};
pub use wanted::{Reply, Wanted, Wish};
