//! Where a command writes when a screen shows it.

use crate::look::Look;
use crate::worker::Told;
use std::fmt;
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
#[derive(Clone)]
pub struct Page {
    sender: UnboundedSender<Told>,
    width: usize,
}

impl Page {
    pub(crate) fn new(sender: UnboundedSender<Told>, width: usize) -> Self {
        Self { sender, width }
    }

    /// Columns that a line may have.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Writes a text. A screen that is gone is not told.
    pub fn write(&self, look: Look, text: &str) {
        let _ = self.sender.send(Told::Said(Said::Text(look, text.to_owned())));
    }

    /// Runs something that needs the terminal for itself, such as an editor.
    pub fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        let (free, is_free) = sync_channel(1);
        if self.sender.send(Told::Said(Said::Leave(free))).is_ok() {
            // A screen that is gone has left the terminal too.
            let _ = is_free.recv();
        }
        let done = work();
        let _ = self.sender.send(Told::Said(Said::Return));
        done
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("width", &self.width).finish_non_exhaustive()
    }
}
