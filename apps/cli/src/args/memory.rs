//! The command line of memories (C2), as it was typed.

use clap::{Args, Subcommand, ValueEnum};
use everfold_kernel::ports::MemoryScope;
use everfold_memory_file::MemoryType;
use everfold_memory_store::StoreScope;
use std::path::PathBuf;

/// `everfold memory`.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// All memories, newest first
    List {
        /// Only these
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// One memory
    Show(Named),
    /// Save a memory; its text comes from standard input, or from $EDITOR
    Add(AddArgs),
    /// Change a memory in $EDITOR
    Edit(Named),
    /// Remove a memory; the history keeps it
    Forget(Named),
    /// What was changed, when and by whom, newest first
    Log(LogArgs),
    /// What one entry of the history changed
    Diff {
        /// Its number, as `log` shows it
        entry: u64,
        /// Which history; all are looked at where nothing is said
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Take changes back; that is a change too, and can be taken back
    Undo(UndoArgs),
    /// Where a memory came from
    Blame(Named),
    /// Look for what is wrong with memories
    Check {
        /// Mend the index
        #[arg(long)]
        fix: bool,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Changes that are waiting for review
    #[command(args_conflicts_with_subcommands = true)]
    Inbox {
        /// What to do; without, they are listed
        #[command(subcommand)]
        command: Option<InboxCommand>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Move a memory between this project's, the team's and those for everywhere
    Move {
        /// A file name, or its beginning
        name: String,
        /// Where to
        #[arg(long, value_enum)]
        to: Tier,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Bring in what you have elsewhere, as proposals; foreign files are only read
    Import(ImportArgs),
    /// Write all memories to a folder, as plain files
    Export(ExportArgs),
    /// Answer calls of the memory tool (`memory_20250818`): JSON in, JSON out
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
        /// For programs
        #[arg(long)]
        json: bool,
    },
}

/// `everfold memory inbox`.
#[derive(Debug, Subcommand)]
pub(crate) enum InboxCommand {
    /// What waits, oldest first
    List {
        /// Only these
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// What one would change
    Show {
        /// Its number
        id: u64,
        /// Which inbox
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Make the change; it can be taken back
    Accept {
        /// Which
        #[command(flatten)]
        chosen: Chosen,
        /// Also where a memory was changed since
        #[arg(long)]
        force: bool,
    },
    /// Take it out of the inbox; the same is not proposed again
    Reject(Chosen),
    /// Change what it says in $EDITOR
    Edit {
        /// Its number
        id: u64,
        /// Which of its files, where it writes several
        file: Option<String>,
        /// Which inbox
        #[arg(long, value_enum)]
        scope: Option<Tier>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
}

/// Proposals by their numbers.
#[derive(Debug, Args)]
pub(crate) struct Chosen {
    /// Their numbers
    pub(crate) ids: Vec<u64>,
    /// All that wait
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Which inbox
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// A memory by its name.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// A file name, with or without .md, or its beginning
    pub(crate) name: String,
    /// Only among these
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// A short name; the file is called after it
    #[arg(long)]
    pub(crate) name: String,
    /// One specific sentence: it is what recall reads
    #[arg(long)]
    pub(crate) description: String,
    /// What it is about
    #[arg(long = "type", value_enum)]
    pub(crate) kind: Kind,
    /// This project's, the team's, or for everywhere; without it, what is
    /// about you is for everywhere
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Where from: claude, codex, or files and folders of notes
    #[arg(long, value_name = "claude|codex|FILE", num_args = 1.., required = true)]
    pub(crate) from: Vec<String>,
    /// This project's, or for everywhere; without it, what it says decides
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// Only show what would come in
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A folder that is empty, or not there yet
    pub(crate) to: PathBuf,
    /// Only these
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// Only of this memory; one that is gone by its whole name
    pub(crate) file: Option<String>,
    /// With what was changed
    #[arg(long)]
    pub(crate) diff: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Which history; all of them where nothing is said
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold memory undo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The number of an entry; the newest that still holds where nothing is said
    pub(crate) entry: Option<u64>,
    /// Back to what was there at a time; a day means its end
    #[arg(long, value_name = "DATE", conflicts_with = "entry")]
    pub(crate) to: Option<String>,
    /// Also what was changed again since
    #[arg(long, conflicts_with = "to")]
    pub(crate) force: bool,
    /// Which history; all of them where nothing is said
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Tier>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold recall`.
#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// What a message would say
    pub(crate) query: String,
    /// The N best, also those that would not be shown to a model
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Why each is where it is: by which words, by how much meaning, and what is missing
    #[arg(long)]
    pub(crate) why: bool,
    /// Any directory of Markdown files instead of the memories
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whose memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    /// Those of this project
    #[default]
    Project,
    /// Those that hold everywhere
    Global,
    /// Those that everybody on this project shares
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
