//! Hooks, as Claude Code users know them (Q7): which handlers an event calls,
//! what they are told, and what their answers mean.
//!
//! Nothing is run here. [`Registry`] reads the `hooks` of the settings and
//! says which [`Handler`]s an [`Occasion`] calls; [`Occasion::input`] is what
//! they read; [`HandlerAnswer::read`] is what one of them says, and [`HookVerdict`] what
//! all of them say together. Nothing here fails: a handler that cannot be
//! read is a [`Problem`], one that answers nonsense has no say.

mod answer;
mod event;
mod matcher;
mod occasion;
mod prompt_handlers;
mod registry;
mod side_requests;
mod verdict;

pub use answer::{HandlerAnswer, HandlerExit, HandlerFate, Permission, Ran, let_go};
pub use event::{Blocking, HookEvent};
pub use matcher::{Matcher, MatcherError};
pub use occasion::{CallFields, CommonFields, Elicited, Occasion, Switch, Task};
pub use prompt_handlers::{filled_arguments, filled_prompt, judgement};
pub use registry::{Act, Handler, Means, Often, Problem, Registry, Waits};
pub use side_requests::{ElicitationReply, SideRequest, SideRequests};
pub use verdict::{HookVerdict, Noted};
