//! Everfold beside another agent: what its hooks ([`hooks`]) and its tools
//! over MCP do with memories.
//!
//! There is no conversation of ours here, and so no session and no loop. What
//! goes into memory and what comes out is [`HostService::service`]'s, as for any
//! other door (L5.32). Everything here blocks.

mod delegate;
pub mod hooks;
mod kind;
mod migration;

pub use delegate::Delegate;
pub use kind::{Ability, Capability, HostKind};
pub use migration::{Migration, Pass, migrate};

use crate::memory_dirs::MemoryDirs;
use crate::past_sessions::PastSessions;
use everfold_kernel::settings::HostReviewer;
use everfold_kernel::{Flag, Flags, Limits, Provenance, RecordId, SessionId, Testimony, Utterance};
use everfold_memory_judge::words;
use everfold_memory_service::Service;
use std::path::PathBuf;

/// Everfold beside another agent, for one working directory.
/// [`crate::Builder::host_service`] makes it.
#[derive(Clone)]
pub struct HostService {
    pub(crate) memories: MemoryDirs,
    pub(crate) home: PathBuf,
    pub(crate) flags: Flags,
    /// Whether memories are looked up for what failed (R17).
    pub(crate) on_failure: Option<bool>,
    pub(crate) limits: Limits,
    /// Where Claude Code keeps its files.
    pub(crate) claude: Option<PathBuf>,
    /// Transcripts of the working directory.
    pub(crate) past: PastSessions,
    /// Whether there is a key of our own for reviews of what was said.
    pub(crate) key: OwnKey,
    /// Who reviews without one (X7).
    pub(crate) host_review: HostReviewer,
    /// Where programs are looked for.
    pub(crate) programs: Vec<PathBuf>,
}

/// Whether there is a model that can be asked with a key of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnKey {
    There,
    Missing,
}

impl HostService {
    /// The memories.
    #[must_use]
    pub fn memories(&self) -> &MemoryDirs {
        &self.memories
    }

    /// Past conversations.
    #[must_use]
    pub fn past(&self) -> &PastSessions {
        &self.past
    }

    /// What bounds everything.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The one way in and out of the memories (L5.32).
    #[must_use]
    pub fn service(&self) -> Service {
        self.memories.service()
    }

    /// Whether a switch is on.
    #[must_use]
    pub fn is_on(&self, flag: Flag) -> bool {
        self.flags.is_on(flag)
    }

    /// The session that asks for some words in past conversations: it has them
    /// in view. By the notes of its hooks, else by the call in its transcript.
    #[must_use]
    pub fn asking_session(&self, words: &str) -> Option<SessionId> {
        let noted = hooks::answering(&self.home, self.memories.project());
        noted.or_else(|| self.past.called_with(words)).map(SessionId::from)
    }

    /// What the person typed to other agents in this project lately, as hooks
    /// noted it and as transcripts show it: what a memory can rest on that a
    /// model saves by a tool (L5.33).
    #[must_use]
    pub fn recent_prompts(&self) -> Testimony {
        let mut testimony = Testimony::default();
        let most = self.limits.beside.prompts;
        let prompts = hooks::prompts_of(&self.home, self.memories.project(), most);
        for text in prompts {
            let said = Utterance { record: RecordId::from(""), by: Provenance::PERSON, text };
            testimony.said.push(said);
        }
        for text in self.past.newest_prompts(most, self.limits.beside.transcript_bytes) {
            testimony.hear(&RecordId::from(""), &words::split(&text, &[]), &text);
        }
        testimony
    }
}
