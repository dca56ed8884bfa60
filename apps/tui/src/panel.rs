//! Panels: what takes the place of the conversation while a person looks at
//! something else. Each owns its state, takes keys, and says what is to follow.
//!
//! A panel does no I/O. What takes time is a [`Job`], which the driver runs
//! beside the screen, or a look at the session, which the worker takes when it
//! is at rest; both put what they find into a [`Slot`].

use crate::host::BoxFuture;
use crate::page::TextPage;
use crate::status::Status;
use crate::style::TextStyle;
use crate::theme::Theme;
use crate::worker::Ask;
use everfold_agent::Session;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod cost;
pub(crate) mod help;
pub(crate) mod listing;
pub(crate) mod rewind;
pub(crate) mod rows;
mod scroll;
mod stack;
pub(crate) mod tasks;
pub(crate) mod text;

pub(crate) use stack::Stack;

/// Something to look at.
pub(crate) trait Panel: Send {
    /// What stands above it.
    fn title(&self) -> String;

    /// The keys that it takes, for the line below it.
    fn keys(&self) -> String;

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme);

    fn key(&mut self, key: KeyEvent) -> PanelAct;

    /// Takes over what is known now; asked for before each frame.
    fn update(&mut self, _status: &Status) {}

    /// It is seen, for the first time or again: what it needs.
    fn begin(&mut self) -> PanelAct {
        PanelAct::Stay
    }

    /// A command ended, and said this; handed back where it is none of the
    /// panel's.
    fn answered(&mut self, said: Written) -> Result<PanelAct, Written> {
        Err(said)
    }
}

/// What a command wrote.
pub(crate) type Written = Vec<(TextStyle, String)>;

/// Work beside the screen.
pub(crate) type Job = Box<dyn FnOnce(TextPage) -> BoxFuture<'static, ()> + Send>;

/// What follows a key in a panel.
pub(crate) enum PanelAct {
    Stay,
    /// It goes; what was there before comes back.
    Close,
    /// Another panel comes in front; Esc there leads back.
    Show(Box<dyn Panel>),
    /// The worker is asked, and the panel stays.
    Ask(Ask),
    /// The worker is asked, and the panel goes.
    CloseAnd(Ask),
    /// A job begins, and the panel stays.
    Do(Job),
    /// A slash command runs, and the panel gets what it says.
    Command(String),
    /// The panel goes, and a text is sent as if it had been typed.
    Send(String),
    /// A text is put where the person types, and the panel goes.
    Put(String),
    /// A text goes to the clipboard.
    Copy(String),
}

/// A place for what will be found. Clones are the same place.
pub(crate) struct Slot<T>(Arc<Mutex<Option<T>>>);

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Slot<T> {
    /// Puts in what was found.
    pub(crate) fn put(&self, found: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A job that puts what a future gives into a slot.
pub(crate) fn job<T: Send + 'static>(
    slot: &Slot<T>,
    work: impl FnOnce(TextPage) -> BoxFuture<'static, T> + Send + 'static,
) -> PanelAct {
    let slot = slot.clone();
    PanelAct::Do(Box::new(move |page| {
        let work = work(page);
        Box::pin(async move { slot.put(work.await) })
    }))
}

/// A look at the session, which puts what it finds into a slot.
pub(crate) fn look<T: Send + 'static>(
    slot: &Slot<T>,
    find: impl FnOnce(&Session) -> T + Send + 'static,
) -> PanelAct {
    let slot = slot.clone();
    PanelAct::Ask(Ask::Look(Box::new(move |host| {
        slot.put(find(host.session()));
        Box::pin(std::future::ready(()))
    })))
}
