//! Messages that the person typed while a turn was running.

use crate::session::prompt::Prompt;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A queue that surfaces fill and the turn empties at its next boundary.
#[derive(Clone, Debug, Default)]
pub struct Queue(Arc<Mutex<VecDeque<Waiting>>>);

/// A message that waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// What the person says.
    pub text: String,
    /// The bytes of it that were pasted (L5.33).
    pub pasted: Vec<Range<usize>>,
}

impl Waiting {
    /// The same without space around it.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        let text = self.text.trim();
        let before = self.text.len() - self.text.trim_start().len();
        let moved = self.pasted.iter().map(|range| {
            let at = |byte: usize| byte.saturating_sub(before).min(text.len());
            at(range.start)..at(range.end)
        });
        let pasted = moved.filter(|range| !range.is_empty()).collect();
        Self { text: text.to_owned(), pasted }
    }

    /// The message as a turn takes it.
    #[must_use]
    pub fn prompt(&self) -> Prompt {
        Prompt::from(self.text.as_str()).with_pasted(&self.pasted)
    }
}

impl Queue {
    /// Adds a message that was typed.
    pub fn push(&self, text: impl Into<String>) {
        self.add(Waiting { text: text.into(), pasted: Vec::new() });
    }

    /// Adds a message that may have pasted parts.
    pub fn add(&self, message: Waiting) {
        self.state().push_back(message);
    }

    /// The texts of the messages that wait, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        self.state().iter().map(|waiting| waiting.text.clone()).collect()
    }

    /// Takes the newest message back, so that it can be changed.
    #[must_use]
    pub fn take_back(&self) -> Option<String> {
        self.take_newest().map(|waiting| waiting.text)
    }

    /// The same, with what of it was pasted.
    #[must_use]
    pub fn take_newest(&self) -> Option<Waiting> {
        self.state().pop_back()
    }

    /// Takes all messages, oldest first.
    #[must_use]
    pub fn take(&self) -> Vec<Waiting> {
        self.state().drain(..).collect()
    }

    fn state(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
