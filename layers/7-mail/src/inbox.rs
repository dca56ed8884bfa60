//! What waits for an agent in this process.
//!
//! The one rule that is easy to break: an agent that is about to end must not
//! close its inbox on something that was just put in. So closing and looking
//! are one step ([`Inbox::close_if_empty`]), and whoever puts something in is
//! told when it is too late. Owned behind a lock; it does not lock by itself.

use std::collections::VecDeque;

/// A queue that can be closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox<T> {
    waiting: VecDeque<T>,
    open: Open,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Yes,
    No,
}

/// The agent has ended: what was to be put in comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed<T>(pub T);

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), open: Open::Yes }
    }
}

impl<T> Inbox<T> {
    /// Puts something in.
    ///
    /// # Errors
    /// It comes back where the inbox is closed.
    pub fn put(&mut self, item: T) -> Result<(), Closed<T>> {
        match self.open {
            Open::Yes => {
                self.waiting.push_back(item);
                Ok(())
            }
            Open::No => Err(Closed(item)),
        }
    }

    /// Takes all that waits, oldest first.
    #[must_use]
    pub fn take(&mut self) -> Vec<T> {
        self.waiting.drain(..).collect()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Closes it, unless something waits. Says whether it is closed.
    pub fn close_if_empty(&mut self) -> bool {
        if self.waiting.is_empty() {
            self.open = Open::No;
        }
        self.open == Open::No
    }

    /// Closes it whatever waits, and gives that back.
    pub fn close(&mut self) -> Vec<T> {
        self.open = Open::No;
        self.take()
    }
}
