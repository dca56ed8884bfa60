//! What happens to a conversation before each request, as steps that do no I/O.
//!
//! The engine climbs the [`Rung`]s of the ladder in its own turns, and the
//! library's `Context` does in somebody else's loop. What they decide by is
//! here, once: [`LadderView`] looks at the conversation, [`SummaryRequest`] asks
//! for a summary until there is one, [`conclude`] puts it in place, [`RecallView`]
//! says what memories are in view, [`question`] makes the request of an ask, and
//! [`LayerAct`] tells what was done, in tokens and money.
//!
//! Nothing here writes, reads, sends or waits: effects are given out, and their
//! outcomes are handed back by whoever performed them.

mod act;
mod notes;
pub mod question;
mod recall;
mod rung;
mod summary;
mod view;

pub use act::{ActKind, LayerAct, dollars};
pub use notes::{NotesPlan, NotesUnfit};
pub use recall::{RecallView, shown_data};
pub use rung::Rung;
pub use summary::{Concluded, SummaryBrief, SummaryFailure, SummaryRequest, SummaryStep, conclude};
pub use view::{LadderView, Refusal, Writer};
