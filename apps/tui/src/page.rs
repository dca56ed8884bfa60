//! Where a command writes when a screen shows it.

use crate::style::TextStyle;
use crate::worker::WorkerEvent;
use std::fmt;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// What is said to the screen by a command.
#[derive(Debug)]
pub(crate) enum PageWrite {
    Text(TextStyle, String),
    /// The terminal is needed; an answer means that it is free.
    Leave(SyncSender<()>),
    /// It is not needed any more.
    Return,
}

/// A page of the screen. What is written appears there as it comes.
#[derive(Clone)]
pub struct TextPage {
    sender: UnboundedSender<WorkerEvent>,
    width: usize,
    /// Where texts are kept instead, for a panel that asked for them.
    kept: Option<Kept>,
}

/// Texts that were written to a page.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Vec<(TextStyle, String)>>>);

impl Kept {
    pub(crate) fn take(&self) -> Vec<(TextStyle, String)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TextPage {
    pub(crate) fn new(sender: UnboundedSender<WorkerEvent>, width: usize) -> Self {
        Self { sender, width, kept: None }
    }

    /// A page that nobody reads.
    #[must_use]
    pub fn nowhere() -> Self {
        Self::new(unbounded_channel().0, 0)
    }

    /// A page whose text is taken at the end.
    #[must_use]
    pub fn kept_apart(width: usize) -> Self {
        Self { kept: Some(Kept::default()), ..Self::new(unbounded_channel().0, width) }
    }

    /// Takes what was written to a page that was kept apart.
    #[must_use]
    pub fn take_text(&self) -> String {
        let kept = self.kept.as_ref().map(Kept::take).unwrap_or_default();
        kept.into_iter().map(|(_, text)| text).collect()
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
    pub fn write(&self, look: TextStyle, text: &str) {
        if let Some(Kept(kept)) = &self.kept {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push((look, text.to_owned()));
            return;
        }
        let _ = self.sender.send(WorkerEvent::Said(PageWrite::Text(look, text.to_owned())));
    }

    /// Runs something that needs the terminal for itself, such as an editor.
    pub fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        let (free, is_free) = sync_channel(1);
        if self.sender.send(WorkerEvent::Said(PageWrite::Leave(free))).is_ok() {
            // A screen that is gone has left the terminal too.
            let _ = is_free.recv();
        }
        let done = work();
        let _ = self.sender.send(WorkerEvent::Said(PageWrite::Return));
        done
    }
}

impl fmt::Debug for TextPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").field("width", &self.width).finish_non_exhaustive()
    }
}
