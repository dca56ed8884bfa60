//! The events, by the names that settings use.

macro_rules! events {
    ($($(#[doc = $about:literal])+ $name:ident),+ $(,)?) => {
        /// Something that hooks can be called at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum HookEvent { $($(#[doc = $about])+ $name),+ }

        impl HookEvent {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Its name in settings and in what handlers read.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),+ }
            }
        }
    };
}

events! {
    /// A conversation starts, goes on, or was compacted.
    SessionStart,
    /// The person said something.
    UserPromptSubmit,
    /// The person called a skill by its slash.
    UserPromptExpansion,
    /// A tool is about to run.
    PreToolUse,
    /// The person would be asked about a call.
    PermissionRequest,
    /// A call was refused.
    PermissionDenied,
    /// A tool has run.
    PostToolUse,
    /// A tool has failed.
    PostToolUseFailure,
    /// All calls of an answer are done.
    PostToolBatch,
    /// The person is asked for something.
    Notification,
    /// A sub-agent starts.
    SubagentStart,
    /// A sub-agent is done.
    SubagentStop,
    /// The model is done.
    Stop,
    /// The turn failed.
    StopFailure,
    /// An instruction file was loaded.
    InstructionsLoaded,
    /// A compaction is about to be made.
    PreCompact,
    /// A compaction was made.
    PostCompact,
    /// Another model is about to answer.
    PreModelSwitch,
    /// Another model answers from here on.
    PostModelSwitch,
    /// A settings file was changed.
    ConfigChange,
    /// Commands run in another directory from here on.
    CwdChanged,
    /// A file that is watched was changed.
    FileChanged,
    /// A checkout for an agent is about to be made.
    WorktreeCreate,
    /// The checkout of an agent is gone.
    WorktreeRemove,
    /// A server wants to know something of the person.
    Elicitation,
    /// There is an answer for the server.
    ElicitationResult,
    /// The conversation is left.
    SessionEnd,
}

/// Events of Claude Code that never happen here, so that a hook for one of
/// them can be told from a misspelt name.
///
/// `Setup`: there are no runs that only set something up. `MessageDisplay`:
/// answers are shown as they come, piece by piece. `TaskCreated` and
/// `TaskCompleted`: the to-do list is written as a whole and its items have no
/// ids; `PreToolUse` on `TodoWrite` sees every change, and can refuse it.
/// `TeammateIdle`: members of a team are processes of their own, which end
/// with `Stop`. `DirectoryAdded`: directories are given when the program
/// starts, and none is added later.
pub(crate) const NEVER: &[&str] =
    &["Setup", "MessageDisplay", "TaskCreated", "TaskCompleted", "TeammateIdle", "DirectoryAdded"];

impl HookEvent {
    /// The event of this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.name() == name)
    }

    /// Whether text on standard output, not being JSON, is meant for the model.
    #[must_use]
    pub fn takes_plain_context(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit | Self::UserPromptExpansion)
    }

    /// Whether `additionalContext` is taken over.
    #[must_use]
    pub fn takes_context(self) -> bool {
        self.takes_plain_context()
            || matches!(
                self,
                Self::PreToolUse
                    | Self::PostToolUse
                    | Self::PostToolUseFailure
                    | Self::PostToolBatch
                    | Self::SubagentStart
                    | Self::SubagentStop
                    | Self::Stop
            )
    }

    /// Whether `sessionTitle` is taken over.
    #[must_use]
    pub fn takes_title(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }

    /// What a handler that blocks (exit code 2, or `decision`) brings about.
    #[must_use]
    pub fn blocking(self) -> Blocking {
        match self {
            Self::UserPromptSubmit
            | Self::UserPromptExpansion
            | Self::PreToolUse
            | Self::PostToolBatch
            | Self::PreCompact
            | Self::PreModelSwitch
            | Self::WorktreeCreate
            | Self::Elicitation
            | Self::ElicitationResult
            | Self::Stop
            | Self::SubagentStop => Blocking::Blocks,
            Self::PostToolUse | Self::PostToolUseFailure => Blocking::TellsModel,
            Self::SessionStart
            | Self::SubagentStart
            | Self::PostCompact
            | Self::PostModelSwitch
            | Self::ConfigChange
            | Self::CwdChanged
            | Self::FileChanged
            | Self::SessionEnd => Blocking::TellsPerson,
            Self::PermissionRequest
            | Self::PermissionDenied
            | Self::Notification
            | Self::StopFailure
            | Self::WorktreeRemove
            | Self::InstructionsLoaded => Blocking::Ignored,
        }
    }

    /// Whether nothing depends on what handlers answer, so that nobody waits.
    #[must_use]
    pub fn is_unheard(self) -> bool {
        matches!(
            self,
            Self::Notification
                | Self::StopFailure
                | Self::WorktreeRemove
                | Self::InstructionsLoaded
        )
    }

    /// Whether handlers may leave variables for commands (`CLAUDE_ENV_FILE`).
    #[must_use]
    pub fn leaves_variables(self) -> bool {
        matches!(self, Self::SessionStart | Self::CwdChanged | Self::FileChanged)
    }
}

/// What becomes of a handler that blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocking {
    /// It is blocked, and the reason is told to whom it concerns.
    Blocks,
    /// It has happened already: the model is told.
    TellsModel,
    /// The person is told.
    TellsPerson,
    /// Nothing.
    Ignored,
}
