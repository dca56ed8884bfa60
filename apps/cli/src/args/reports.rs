//! The arguments of commands that look at what is there.

use super::{Choices, OutputFormat};
use clap::{Args, Subcommand, ValueEnum};
use everfold_agent::bills::GroupBy;
use everfold_kernel::ports::MemoryScope;
use std::path::PathBuf;

/// `everfold config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Only this key and those below it, such as everfold.limits
    pub(crate) key: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the JSON schema of the settings instead
    #[arg(long, conflicts_with_all = ["key", "json"])]
    pub(crate) schema: bool,
    /// Settings.
    #[command(flatten)]
    pub(crate) choices: Choices,
}

/// `everfold cost`.
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// A session in this directory; by default the newest
    #[arg(long, value_name = "ID", conflicts_with_all = ["project", "day"])]
    pub(crate) session: Option<String>,
    /// All sessions in this directory
    #[arg(long)]
    pub(crate) project: bool,
    /// One day, in every project (or in this one, with --project)
    #[arg(long, value_name = "YYYY-MM-DD|today", num_args = 0..=1, default_missing_value = "today")]
    pub(crate) day: Option<String>,
    /// Every session of every project
    #[arg(long, conflicts_with_all = ["session", "project", "day"])]
    pub(crate) all: bool,
    /// Every session of every agent on this machine, not just Everfold's
    #[arg(long, conflicts_with_all = ["session", "project", "day", "all"])]
    pub(crate) agents: bool,
    /// Group by this; by default sessions and days of this directory, or projects
    #[arg(long, value_enum)]
    pub(crate) by: Option<By>,
    /// In which form.
    #[command(flatten)]
    pub(crate) form: CostForm,
}

impl CostArgs {
    /// Whether the sessions of all agents are asked about.
    pub(crate) fn is_of_all_agents(&self) -> bool {
        self.agents || matches!(self.by, Some(By::Week | By::Month | By::Block | By::Agent))
    }
}

/// In which form costs are shown; a table by default.
#[derive(Debug, Args)]
pub(crate) struct CostForm {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Show what was done or skipped because of its cost
    #[arg(long, conflicts_with = "csv")]
    pub(crate) why: bool,
}

/// What costs are summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Each session
    Session,
    /// Each directory that sessions were started in
    Project,
    /// Each day, in the time zone of this machine
    Day,
    /// Each week, by its Monday, of every agent
    Week,
    /// Each month, of every agent
    Month,
    /// Each block of five hours, of every agent
    Block,
    /// Each agent on this machine
    Agent,
    /// Who asked the model
    Source,
    /// Each model
    Model,
}

impl From<By> for GroupBy {
    fn from(by: By) -> Self {
        match by {
            By::Session => Self::Session,
            By::Project => Self::Project,
            By::Day => Self::Day,
            By::Week => Self::Week,
            By::Month => Self::Month,
            By::Block => Self::Block,
            // Transcripts of others do not say who asked.
            By::Agent | By::Source => Self::Agent,
            By::Model => Self::Model,
        }
    }
}

impl By {
    /// Its name in tables.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Project => "project",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Block => "block",
            Self::Agent => "agent",
            Self::Source => "source",
            Self::Model => "model",
        }
    }
}

/// `everfold prices`.
#[derive(Debug, Args)]
pub(crate) struct PricesArgs {
    /// Only models with this in their name
    #[arg(long = "model", value_name = "TEXT")]
    pub(crate) models: Vec<String>,
    /// A `LiteLLM` price table to print as settings
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// How many days back
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) days: u32,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print an HTML page
    #[arg(long, conflicts_with = "json")]
    pub(crate) html: bool,
}

/// `everfold doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Settings.
    #[command(flatten)]
    pub(crate) choices: Choices,
}

/// `everfold instructions`.
#[derive(Debug, Args)]
pub(crate) struct InstructionsArgs {
    /// Also show what loads when these files are read
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold trust`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TrustArgs {
    /// List all repositories that you were asked about
    #[arg(long, conflicts_with_all = ["revoke", "dry_run"])]
    pub(crate) list: bool,
    /// Withdraw trust
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) revoke: bool,
    /// Only show what trust would turn on
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold web`.
#[derive(Debug, Args)]
pub(crate) struct WebArgs {
    /// Listen on this local port; by default any free one
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Read-only: no buttons, and nothing can be changed
    #[arg(long)]
    pub(crate) read_only: bool,
}

/// `everfold show-result`.
#[derive(Debug, Args)]
pub(crate) struct ShowResultArgs {
    /// A tool call's id, a record's id, or two of these as FROM..TO
    pub(crate) id: String,
    /// A session in this directory; by default the newest that has the id
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold health`.
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// One session in this directory; by default all
    #[arg(long, value_name = "ID", conflicts_with = "week")]
    pub(crate) session: Option<String>,
    /// The last seven days, in every project
    #[arg(long)]
    pub(crate) week: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words that must all occur; words in double quotes are one phrase
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// At most this many matches in memories, and in sessions
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Search the sessions of every project
    #[arg(long)]
    pub(crate) all: bool,
    /// Search only one of the two
    #[arg(long = "in", value_enum, value_name = "PLACE")]
    pub(crate) place: Option<Place>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where words are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Place {
    /// Memories
    Memories,
    /// Past conversations
    Sessions,
}

/// `everfold sessions`.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions in this directory, newest first
    List {
        /// Only those that contain all of these words
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Export a session as readable text, or as its raw lines
    Export {
        /// Its id, or words that only it contains; by default the newest
        id: Option<String>,
        /// Output format
        #[arg(long, value_enum, default_value_t)]
        format: ExportFormat,
        /// A new file; by default standard output
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove keys and passwords from a session for good, in all its files
    Redact {
        /// Its id, or words that only it contains
        id: String,
        /// Only count them
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove old sessions of every project; memories stay
    Prune {
        /// Only show which
        #[arg(long)]
        dry_run: bool,
        /// Days since last use; by default cleanupPeriodDays
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        days: Option<u64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Review a finished session in the background
    #[command(hide = true)]
    Finish {
        /// Its id
        id: String,
        /// As the session had them
        #[command(flatten)]
        choices: Box<Choices>,
    },
    /// Show what happened in one session
    Show {
        /// Its id, or words that only it contains; by default the newest
        id: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// How a session is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Readable text, long results cut
    #[default]
    Markdown,
    /// Every line as it is
    Jsonl,
}

/// Whose memories a dream consolidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DreamScope {
    #[default]
    Project,
    Team,
}

impl DreamScope {
    pub(crate) fn port(self) -> MemoryScope {
        match self {
            Self::Project => MemoryScope::Project,
            Self::Team => MemoryScope::Team,
        }
    }
}

/// `everfold dream`.
#[derive(Debug, Default, Args)]
pub(crate) struct DreamArgs {
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Whose memories: the project's, or its team's
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: DreamScope,
    /// Dream even if it is not time yet
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object at the end
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) json: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) output_format: OutputFormat,
    /// Settings.
    #[command(flatten)]
    pub(crate) choices: Choices,
}
