//! The outside world, as the engine sees it.
//!
//! Each port is one thing that can be replaced: by an adapter, by a test, by
//! somebody's own program. Methods return futures; dropping a future cancels
//! what it was doing, and an implementation must leave nothing behind then
//! (no process, no half-written file).

mod carrier;
mod dreams;
mod files;
mod guard;
mod hooks;
mod memories;
mod model;
mod outline;
mod past_search;
mod person;
mod post;
pub mod question;
mod request_body;
mod search;
mod servers;
mod shell;
mod spending;
mod switches;
mod team;
mod transcripts;
mod web;
mod worktrees;
mod world;

pub use carrier::{CarriedLetter, MailCarrier};
pub use dreams::{
    Begun, DreamError, DreamProposal, Dreams, Ending, Gathered, Holder, LogsRead, MemoryHand,
    Night, NightPurpose, NightWish, Stored, StoredFile, Swap, SwapEdit, Swapped,
};
pub use files::{Expect, FileError, FileKind, FileRead, FileStat, FileVersion, Files, LinesRead};
pub use guard::{PathGuard, ReadGuard};
pub use hooks::{HookAction, HookCall, HookExit, HookRun, Hooks};
pub use memories::{
    AGENT_MEMORY_LOCAL, Bodies, Haste, Kept, Memories, MemoryAuthor, MemoryBefore, MemoryError,
    MemoryHead, MemoryIndex, MemoryPlace, MemoryPlacement, MemoryProposal, MemoryRef, MemoryScope,
    MemoryText, MemoryUse, MemoryWriter, QueryKind, RankCertainty, RecallHit, RecallQuery,
    RecallReason, RecallTier, Recalled, Urgency, WaitingMemory,
};
pub use model::{
    Headroom, Model, ModelCall, ModelError, ModelEvent, ModelKind, ModelReply, ModelStream,
    SOURCE_HEADER,
};
pub use outline::{
    CallRole, CallWord, CommandEffect, CommandOutline, FileMention, FileTouch, Presence,
    ProgramCall, ShellPlace, WordKind,
};
pub use past_search::{PastFound, PastHit, PastQuery, PastSearch};
pub use person::{Approver, PermissionAnswer, PermissionAsk};
pub use post::{Address, AgentName, Body, Consent, Letter, LetterDraft, Post, PostError};

pub use question::{Respondent, ServerAnswer, ServerQuestion};
pub use request_body::RequestBody;
pub use search::{
    BarredFiles, GlobFound, GlobQuery, GrepFound, GrepMode, GrepQuery, Names, Search, SearchError,
};
pub use servers::{
    Asks, Library, Load, Reads, ServerError, ServerMaker, ServerPrompt, ServerResource,
    ServerResult, ServerState, ServerTool, ServerView, Servers,
};
pub use shell::{
    CommandWatch, Confinement, Exit, JobInfo, JobState, RunEnd, SandboxProfile, SandboxState,
    Shell, ShellCommand, ShellError, ShellOutput,
};
pub use spending::{Spending, SpendingError, Spent, SpentOf};
pub use switches::{SwitchReading, Switches};
pub use team::{
    TeamChange, TeamError, TeamFile, TeamFileKind, TeamHead, TeamMaker, TeamPublished, TeamRemote,
};
pub use transcripts::{
    Glimpse, LineSpan, LoadedTranscript, SessionClaim, SessionHolder, TranscriptError,
    TranscriptPart, Transcripts,
};
pub use web::{Page, Web, WebError};
pub use worktrees::{Left, Worktree, WorktreeError, Worktrees};
pub use world::World;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::future::Future;
use std::pin::Pin;

/// A future of a port's method.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The time, and names that nothing else has.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    /// Where the person is. Where nothing is known of that, UTC.
    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    /// The day that it is for the person.
    fn today(&self) -> Date {
        self.now().to_zoned(self.zone()).date()
    }

    /// A UUID that was never given before.
    fn fresh_uuid(&self) -> String;
}
