//! The steps of a change, for whoever wants to watch them: tests stop a change
//! at each of them and look at what is left.

use std::fmt;
use std::ops::ControlFlow;

/// A step that is about to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStep<'a> {
    /// Contents are kept.
    Keep,
    /// The intent is written: from here on the change will be.
    Intend,
    /// A file is written.
    Write(&'a str),
    /// A file is removed.
    Remove(&'a str),
    /// The file that has the name makes way, for another or for none.
    Trade(&'a str),
    /// What was replaced or removed is looked at once more.
    LookBack(&'a str),
    /// The entry is appended to the history.
    Record,
    /// What the files hold now is noted.
    Learn,
    /// What the memories are about is noted.
    Liken,
    /// The intent is removed.
    Finish,
}

/// Somebody who watches, and may stop a change.
pub trait ChangeObserver: fmt::Debug + Send + Sync {
    /// Called before each step; a break ends the change right there.
    fn before(&self, step: ChangeStep<'_>) -> ControlFlow<()>;
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllSteps;

impl ChangeObserver for AllSteps {
    fn before(&self, _: ChangeStep<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
