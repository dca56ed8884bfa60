//! What a person tells to remember, in so many words (`# text`): kept at once,
//! through the gate, as stated by them.

use crate::event::{Event, Finder};
use crate::session::Session;
use crate::session::memory_state::MemorySwitch;
use everfold_extract::proposal;
use everfold_kernel::RecordId;
use everfold_kernel::ports::{Kept, MemoryAuthor, MemoryWriter};
use everfold_kernel::testimony::Testimony;
use everfold_memory_judge::wish::stated;

/// Keeps a memory that the person states, and says what became of it. An
/// error says why there is none, in words for them.
///
/// # Errors
/// If memory is off, or cannot be written.
pub async fn remember(session: &Session, text: &str) -> Result<Kept, String> {
    if session.state.memory_switch == MemorySwitch::Off {
        return Err("memory is off in this session; /memory on".to_owned());
    }
    let Some(memories) = session.world.memories.clone() else {
        return Err("this session has no memory".to_owned());
    };
    let messages = session.memory.main.author().messages;
    let record = messages.first().cloned().unwrap_or_else(|| RecordId::from(""));
    let wish = stated(text, record.clone()).ok_or("there is nothing to remember")?;
    let by = MemoryAuthor {
        who: MemoryWriter::Person,
        reason: "stated by the person".to_owned(),
        session: Some(session.log.id.clone()),
        messages,
    };
    let proposal = proposal(&wish, &Testimony::typed(text, record), by);
    let kept = memories.keep(proposal).await.map_err(|error| error.to_string())?;
    if kept.notice().is_some() {
        let kept = vec![kept.clone()];
        session.runtime.background.tell(Event::Remembered { kept, how: Finder::Model });
    }
    Ok(kept)
}
