//! Where a command writes when a screen shows it.

use crate::look::Look;
use crate::worker::Told;
use std::fmt;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

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
    /// Where texts are kept instead, for a panel that asked for them.
    kept: Option<Kept>,
}

/// Texts that were written to a page.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<(Look, String)>>>);

impl Kept {
    /// Takes them out.
    pub(crate) fn take(&self) -> Vec<(Look, String)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Page {
    pub(crate) fn new(sender: UnboundedSender<Told>, width: usize) -> Self {
        Self { sender, width, kept: None }
    }

    /// A page that nobody reads.
    #[must_use]
    pub fn nowhere() -> Self {
        Self::new(unbounded_channel().0, 0)
    }

    /// The same page, but what is written is kept for whoever asked.
    pub(crate) fn keeping(self) -> (Self, Kept) {
        let kept = Kept::default();
        (Self { kept: Some(kept.clone()), ..self }, kept)
    }

    /// Columns that a line may have.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Writes a text. A screen that is gone is not told.
    pub fn write(&self, look: Look, text: &str) {
        if let Some(Kept(kept)) = &self.kept {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push((look, text.to_owned()));
            return;
        }
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
