//! Where a command writes when a screen shows it.

use crate::look::Look;
use std::sync::mpsc::{SyncSender, sync_channel};
use tokio::sync::mpsc::UnboundedSender;

/// What is said to the screen by a command.
#[derive(Debug)]
pub(crate) enum Said {
    /// More text.
    Text(Look, String),
    /// The terminal is needed; an answer means that it is free.
    Leave(SyncSender<()>),
    /// It is not needed any more.
    Return,
}

/// A page of the screen. What is written appears there as it comes.
#[derive(Clone, Debug)]
pub struct Page {
    sender: UnboundedSender<Said>,
    width: usize,
}

impl Page {
    pub(crate) fn new(sender: UnboundedSender<Said>, width: usize) -> Self {
        Self { sender, width }
    }

    /// Columns that a line may have.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Writes a text. A screen that is gone is not told.
    pub fn write(&self, look: Look, text: &str) {
        let _ = self.sender.send(Said::Text(look, text.to_owned()));
    }

    /// Runs something that needs the terminal for itself, such as an editor.
    pub fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        let (free, is_free) = sync_channel(1);
        if self.sender.send(Said::Leave(free)).is_ok() {
            // A screen that is gone has left the terminal too.
            let _ = is_free.recv();
        }
        let done = work();
        let _ = self.sender.send(Said::Return);
        done
    }
}
