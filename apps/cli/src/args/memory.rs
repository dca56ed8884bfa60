//! The command line of memories (C2), as it was typed.

use clap::{Args, Subcommand, ValueEnum};
use everfold_kernel::ports::MemoryScope;
use everfold_memory_file::MemoryType;
use everfold_memory_store::StoreScope;
use std::path::PathBuf;

/// `everfold memory`.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// List memories, newest first
    List {
        /// Only these
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one memory
    Show(Named),
    /// Save a memory; its text comes from standard input, or from $EDITOR
    Add(AddArgs),
    /// Change a memory in $EDITOR
    Edit(Named),
    /// Remove a memory; the history keeps it
    Forget(Named),
    /// Show what was changed, when and by whom, newest first
    Log(LogArgs),
    /// Show what one history entry changed
    Diff {
        /// Its number, as `log` shows it
        entry: u64,
        /// Which history; by default all
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Undo changes; an undo can be undone too
    Undo(UndoArgs),
    /// Show where a memory came from
    Blame(Named),
    /// Find problems with memories
    Check {
        /// Fix the index
        #[arg(long)]
        fix: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Review proposed changes
    #[command(args_conflicts_with_subcommands = true)]
    Inbox {
        /// What to do; by default they are listed
        #[command(subcommand)]
        command: Option<InboxCommand>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Move a memory between this project, its team and the global memories
    Move {
        /// A file name, or the start of one
        name: String,
        /// Where to
        #[arg(long, value_enum)]
        to: Tier,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Import what you have elsewhere, as proposals; the originals are only read
    Import(ImportArgs),
    /// Write all memories to a folder, as plain files
    Export(ExportArgs),
    /// Answer calls to the memory tool (`memory_20250818`): JSON in, JSON out
    Tool {
        /// Which memories
        #[arg(long, value_enum, default_value_t)]
        scope: Tier,
    },
    /// Where memories are
    Path {
        /// Which
        #[arg(long, value_enum, default_value_t)]
        scope: Tier,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `everfold memory inbox`.
#[derive(Debug, Subcommand)]
pub(crate) enum InboxCommand {
    /// List what is waiting for review, oldest first
    List {
        /// Only these
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a proposal would change
    Show {
        /// Its number
        id: u64,
        /// Which inbox
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make the change; it can be undone
    Accept {
        /// Which
        #[command(flatten)]
        chosen: Chosen,
        /// Even if a memory has changed since
        #[arg(long)]
        force: bool,
    },
    /// Remove it from the inbox; the same is not proposed again
    Reject(Chosen),
    /// Change what it says in $EDITOR
    Edit {
        /// Its number
        id: u64,
        /// Which of its files, if it writes several
        file: Option<String>,
        /// Which inbox
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Proposals by their numbers.
#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// Their numbers
    pub(crate) ids: Vec<u64>,
    /// All that are waiting
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Which inbox
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A memory by its name.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// A file name, with or without .md, or the start of one
    pub(crate) name: String,
    /// Only among these
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What to remember; by default it is read from a pipe, or written in your editor
    pub(crate) text: Vec<String>,
    /// A short name, which the file is named after; by default its first words
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// One specific sentence, which recall reads; by default its first line
    #[arg(long)]
    pub(crate) description: Option<String>,
    /// What it is about; by default its words decide
    #[arg(long = "type", value_enum)]
    pub(crate) kind: Option<Kind>,
    /// This project, its team, or global; by default what is about you is global
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The source: claude, codex, or files and folders of notes
    #[arg(long, value_name = "claude|codex|FILE", num_args = 1.., required = true)]
    pub(crate) from: Vec<String>,
    /// This project or global; by default its content decides
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// Only show what would be imported
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// An empty or new folder
    pub(crate) to: PathBuf,
    /// Only these
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only this memory; a removed one by its full name
    pub(crate) file: Option<String>,
    /// Show the changes too
    #[arg(long)]
    pub(crate) diff: bool,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Which history; by default all
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory undo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// An entry's number; by default the newest that still holds
    pub(crate) entry: Option<u64>,
    /// Go back to the state at this time; a day means its end
    #[arg(long, value_name = "DATE", conflicts_with = "entry")]
    pub(crate) to: Option<String>,
    /// Even what has changed again since
    #[arg(long, conflicts_with = "to")]
    pub(crate) force: bool,
    /// Which history; by default all
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold recall`.
#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// A message, as you would write it
    pub(crate) query: String,
    /// The N best, including those that would not be shown to a model
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Explain the ranking: matching words, meaning, and what is missing
    #[arg(long)]
    pub(crate) why: bool,
    /// Any directory of Markdown files instead of the memories
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    /// This project
    #[default]
    Project,
    /// Every project
    Global,
    /// Everyone on this project
    Team,
}

impl Tier {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Project, Self::Global, Self::Team];

    /// As the library has it.
    pub(crate) fn scope(self) -> StoreScope {
        match self {
            Self::Project => StoreScope::Project,
            Self::Global => StoreScope::Global,
            Self::Team => StoreScope::Team,
        }
    }

    /// As the port of memories has it.
    pub(crate) fn port(self) -> MemoryScope {
        match self {
            Self::Project => MemoryScope::Project,
            Self::Global => MemoryScope::Global,
            Self::Team => MemoryScope::Team,
        }
    }

    /// The word for it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Global => "global",
            Self::Team => "team",
        }
    }

    /// The flag that names it in a hint (L5.41).
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Project => " --scope project",
            Self::Global => " --scope global",
            Self::Team => " --scope team",
        }
    }
}

/// What a memory is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The person
    User,
    /// How to work
    Feedback,
    /// What is going on
    Project,
    /// Where things are
    Reference,
}

impl From<Kind> for MemoryType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::User => Self::User,
            Kind::Feedback => Self::Feedback,
            Kind::Project => Self::Project,
            Kind::Reference => Self::Reference,
        }
    }
}
