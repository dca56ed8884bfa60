//! A turn: a message of the person, and all that follows from it.

mod date_notice;
pub mod driver;
mod joins;
pub mod mentions;
pub mod model_call;
pub mod pasted;
pub mod resume;
pub mod rewind;
pub mod run;
mod switches;
pub mod tool_calls;
pub mod turn_end;
