//! What a person tells to remember, in so many words (`# text`): kept at once,
//! through the gate, as stated by them.

use crate::event::{Event, Finder};
use crate::session::Session;
use crate::session::memory_state::MemorySwitch;
use everfold_extract::proposal;
use everfold_kernel::ports::{Kept, MemoryAuthor, MemoryError, MemoryWriter};
use everfold_kernel::testimony::Testimony;
use everfold_kernel::{Class, Classify, RecordId};
use everfold_memory_judge::wish::stated;

/// Why nothing to remember, or nowhere to.
#[derive(Debug, thiserror::Error)]
pub enum RememberError {
    #[error("memory is off in this session; /memory on")]
    Off,
    /// There is none.
    #[error("this session has no memory")]
    None,
    #[error("nothing to remember")]
    Nothing,
    #[error(transparent)]
    Store(#[from] MemoryError),
}

impl Classify for RememberError {
    fn class(&self) -> Class {
        match self {
            Self::Store(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

/// Keeps a memory that the person states, and says what became of it.
///
/// # Errors
/// If memory is off, or cannot be written.
pub async fn remember(session: &Session, text: &str) -> Result<Kept, RememberError> {
    if session.state.memory_switch == MemorySwitch::Off {
        return Err(RememberError::Off);
    }
    let memories = session.world.memories.clone().ok_or(RememberError::None)?;
    let messages = session.memory.main.author().messages;
    let record = messages.first().cloned().unwrap_or_else(|| RecordId::from(""));
    let wish = stated(text, record.clone()).ok_or(RememberError::Nothing)?;
    let by = MemoryAuthor {
        who: MemoryWriter::Person,
        reason: "stated by the person".to_owned(),
        session: Some(session.log.id.clone()),
        messages,
    };
    let proposal = proposal(&wish, &Testimony::typed(text, record), by);
    let kept = memories.keep(proposal).await?;
    if kept.notice().is_some() {
        let kept = vec![kept.clone()];
        session.runtime.background.tell(Event::Remembered { kept, how: Finder::Model });
    }
    Ok(kept)
}
