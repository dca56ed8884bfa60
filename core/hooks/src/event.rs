//! The events, by the names that settings use.

macro_rules! events {
    ($($(#[doc = $about:literal])+ $name:ident),+ $(,)?) => {
        /// Something that hooks can be called at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Event { $($(#[doc = $about])+ $name),+ }

        impl Event {
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
    /// A tool has run.
    PostToolUse,
    /// A tool has failed.
    PostToolUseFailure,
    /// A call was refused.
    PermissionDenied,
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
    /// The conversation is left.
    SessionEnd,
}

/// Events of Claude Code that never happen here, so that a hook for one of
/// them can be told from a misspelt name.
pub(crate) const NEVER: &[&str] = &[
    "Setup",
    "PermissionRequest",
    "PostToolBatch",
    "MessageDisplay",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "PreModelSwitch",
    "PostModelSwitch",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "Elicitation",
    "ElicitationResult",
];

impl Event {
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
            | Self::PreCompact
            | Self::Stop
            | Self::SubagentStop => Blocking::Blocks,
            Self::PostToolUse | Self::PostToolUseFailure => Blocking::TellsModel,
            Self::SessionStart | Self::SubagentStart | Self::PostCompact | Self::SessionEnd => {
                Blocking::TellsPerson
            }
            Self::PermissionDenied
            | Self::Notification
            | Self::StopFailure
            | Self::InstructionsLoaded => Blocking::Ignored,
        }
    }

    /// Whether nothing depends on what handlers answer, so that nobody waits.
    #[must_use]
    pub fn is_unheard(self) -> bool {
        self.blocking() == Blocking::Ignored
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
