//! Memory off and on within a session (L5.31).
//!
//! What was sent stays as it is: the memory section and the index are part of
//! the prefix. So the model is told by a reminder, which is in the log like all
//! else, and the program holds to it: nothing is looked for, brought in or
//! written while memory is off.

use crate::permit::Verdict;
use crate::session::memory_state::{MemorySwitch, SWITCH};
use crate::session::{Error, Session};
use crate::setups::session_head;
use crate::tools::MEMORY_SEARCH as SEARCH;
use everfold_kernel::record::reminder;
use everfold_kernel::{Attachment, Entry};
use serde_json::json;

const OFF: &str = "The person has switched memory off for this conversation. Go on as if \
                   MEMORY.md were empty: use, mention and save nothing of it until they \
                   switch it on.";
const ON: &str = "The person has switched memory on again.";

/// Whether this session uses memory.
#[must_use]
pub fn memory_switch(session: &Session) -> MemorySwitch {
    session.state.memory_switch
}

/// Switches memory off or on. The model is told with the next message.
///
/// # Errors
/// If the log cannot be written.
pub async fn switch_memory(session: &mut Session, to: MemorySwitch) -> Result<(), Error> {
    if to == session.state.memory_switch {
        return Ok(());
    }
    session.runtime.branch.prefetch = None;
    session_head::begin(session, to).await?;
    attach_switch(session, to).await
}

/// Tells the model, unless it is as usual and was never otherwise.
pub(crate) async fn attach_switch(session: &mut Session, to: MemorySwitch) -> Result<(), Error> {
    let (text, on) = match to {
        MemorySwitch::On => (ON, true),
        MemorySwitch::Off => (OFF, false),
    };
    let last = session.state.shown_data(SWITCH).last().and_then(|data| data.get("on")?.as_bool());
    if last.unwrap_or(true) == on {
        return Ok(());
    }
    let rendered = reminder(text);
    let attachment =
        Attachment { kind: SWITCH.to_owned(), rendered, data: json!({"on": on}), provenance: None };
    session.append(Entry::Attachment(attachment)).await?;
    Ok(())
}

/// What is refused while memory is off.
pub(crate) fn without_memory(session: &Session, tool: &str) -> Option<Verdict> {
    let reason = "the person has switched memory off".to_owned();
    (session.state.memory_switch == MemorySwitch::Off && tool == SEARCH)
        .then_some(Verdict::Deny { reason })
}
