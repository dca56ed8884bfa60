//! What a session knows of its memories besides the log: who writes them, how
//! far they were reviewed, and which of those that were brought in were of use
//! (L5.29).

use crate::extracting::Extraction;
use crate::memory_files::{AtWork, Main, MemoryFiles, Writer};
use crate::session::Session;
use crate::tools::ToolCall;
use crate::world::World;
use everfold_kernel::ports::{Files, MemoryUse};
use everfold_kernel::{BlockView, SessionId, UserOrigin};
use everfold_memory_file::Memory;
use everfold_memory_recall::{stems, was_used};
use everfold_prefix::Message;
use everfold_prefix::message::{Origin, Piece};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// What a session knows of its memories.
pub(crate) struct Remembering {
    /// How far the conversation was reviewed.
    pub(crate) extraction: Extraction,
    /// Files as they are, without the care for memories.
    pub(crate) plain_files: Arc<dyn Files>,
    /// Who writes memories in front of the person.
    pub(crate) main: Main,
    /// Memories that were brought in and not used yet.
    pub(crate) surfaced: Vec<Surfaced>,
}

/// A memory that was brought in.
pub(crate) struct Surfaced {
    path: PathBuf,
    /// Its words, as stems.
    words: BTreeSet<String>,
    /// Whether it was counted as shown.
    counted: bool,
}

impl Surfaced {
    /// A memory with this text.
    pub(crate) fn new(path: PathBuf, text: &str) -> Self {
        let memory = Memory::parse(text);
        let mut words = stems(memory.body);
        words.extend(stems(&memory.front.description.unwrap_or_default()));
        Self { path, words, counted: false }
    }
}

impl Remembering {
    /// A world whose files take care of its memories.
    pub(crate) fn around(world: World, session: &SessionId) -> (World, Self) {
        let own = Self {
            extraction: Extraction::default(),
            plain_files: Arc::clone(&world.files),
            main: Main { session: session.clone(), at_work: AtWork::default() },
            surfaced: Vec::new(),
        };
        let Some(memories) = world.memories.clone() else { return (world, own) };
        let writer = Writer::Main(own.main.clone());
        let files = Arc::new(MemoryFiles::new(Arc::clone(&world.files), memories, writer));
        (World { files, ..world }, own)
    }

    /// Forgets what was only on a branch of the conversation that was left.
    pub(crate) fn forget_branch(&mut self) {
        self.extraction.forget();
        self.surfaced.clear();
    }
}

impl Session {
    /// Says what a memory can rest on that the main agent is about to write.
    pub(crate) fn hear_for(&self, calls: &[ToolCall]) {
        let Some(memories) = &self.world.memories else { return };
        let writes = |call: &ToolCall| {
            let path = call.input.get("file_path").and_then(|path| path.as_str())?;
            let path = self.context.absolute(path);
            memories.places().iter().find(|place| path.starts_with(&place.dir))
        };
        if calls.iter().any(|call| writes(call).is_some()) {
            let found = self.everything_said();
            self.remembering.main.at_work.hear(found);
        }
    }

    /// Counts memories that were shown, and those of which the answers have
    /// words that nobody else had said.
    pub(crate) async fn count_uses(&mut self) {
        let Some(memories) = self.world.memories.clone() else { return };
        let mut surfaced = std::mem::take(&mut self.remembering.surfaced);
        let mut uses = Vec::new();
        for memory in surfaced.iter_mut().filter(|memory| !memory.counted) {
            uses.push((memory.path.clone(), MemoryUse::Recalled));
            memory.counted = true;
        }
        let said = if surfaced.is_empty() { LastTurn::default() } else { self.last_turn() };
        surfaced.retain(|memory| {
            let limits = &self.config.limits.recall;
            let of_use = was_used(&memory.words, &said.besides, &said.answer, limits);
            if of_use {
                uses.push((memory.path.clone(), MemoryUse::Used));
            }
            !of_use
        });
        self.remembering.surfaced = surfaced;
        if !uses.is_empty()
            && let Err(error) = memories.count(uses).await
        {
            tracing::info!(%error, "the use of memories is not counted");
        }
    }

    fn last_turn(&self) -> LastTurn {
        let pieces: Vec<&Piece> = self.fold.messages().iter().flat_map(Message::pieces).collect();
        let is_prompt = |piece: &&Piece| piece.origin == Origin::User(UserOrigin::Human);
        let start = pieces.iter().rposition(is_prompt).unwrap_or(0);
        let mut said = LastTurn::default();
        for (at, piece) in pieces.iter().enumerate() {
            match &piece.origin {
                Origin::Assistant(_) if at >= start => said.answer.extend(stems(&words(piece))),
                Origin::Attachment(_) => {}
                _ => said.besides.extend(stems(&piece.block.plain_text())),
            }
        }
        said
    }
}

/// The words of a conversation, as stems.
#[derive(Default)]
struct LastTurn {
    /// Of the last turn's answers.
    answer: BTreeSet<String>,
    /// Of all else that was said, memories aside.
    besides: BTreeSet<String>,
}

/// What a model says, in words or in the arguments of a call.
fn words(piece: &Piece) -> String {
    match piece.block.view() {
        BlockView::ToolUse { input, .. } => input.to_string(),
        BlockView::Text(text) => text.to_owned(),
        _ => String::new(),
    }
}
