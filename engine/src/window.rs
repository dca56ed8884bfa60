//! What keeps a conversation inside its window, cheapest first.

pub mod compaction;
pub mod context_view;
pub mod in_view;
pub mod ladder;
mod learned;
pub mod notes;
pub(crate) mod pause;
pub(crate) mod prompt_room;
pub(crate) mod thrash;
