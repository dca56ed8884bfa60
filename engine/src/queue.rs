//! Messages that the person typed while a turn was running.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A queue that surfaces fill and the turn empties at its next boundary.
#[derive(Clone, Debug, Default)]
pub struct Queue(Arc<Mutex<VecDeque<String>>>);

impl Queue {
    /// Adds a message.
    pub fn push(&self, text: impl Into<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(text.into());
    }

    /// The messages that wait, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Takes the newest message back, so that it can be changed.
    #[must_use]
    pub fn take_back(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_back()
    }

    /// Takes all messages, oldest first.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}
