//! The arguments of commands that look at what is there.

use super::{Choices, OutputFormat};
use clap::{Args, Subcommand, ValueEnum};
use everfold_agent::bills::GroupBy;
use std::path::PathBuf;

/// `everfold config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Only this key and those below it, such as everfold.limits
    pub(crate) key: Option<String>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
    /// The JSON schema of settings instead
    #[arg(long, conflicts_with_all = ["key", "json"])]
    pub(crate) schema: bool,
    /// Settings.
    #[command(flatten)]
    pub(crate) choices: Choices,
}

/// `everfold cost`.
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// A session of this directory; the newest where nothing is said
    #[arg(long, value_name = "ID", conflicts_with_all = ["project", "day"])]
    pub(crate) session: Option<String>,
    /// All sessions of this directory
    #[arg(long)]
    pub(crate) project: bool,
    /// One day, in every project (in this one with --project)
    #[arg(long, value_name = "YYYY-MM-DD|today", num_args = 0..=1, default_missing_value = "today")]
    pub(crate) day: Option<String>,
    /// Every session of every project
    #[arg(long, conflicts_with_all = ["session", "project", "day"])]
    pub(crate) all: bool,
    /// Every session of every agent on this machine: Claude Code, Codex, Gemini CLI, pi and ours
    #[arg(long, conflicts_with_all = ["session", "project", "day", "all"])]
    pub(crate) agents: bool,
    /// Sums by this; sessions and days of this directory, projects of all, where nothing is said
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

/// In which form costs are shown; a table where nothing is said.
#[derive(Debug, Args)]
pub(crate) struct CostForm {
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
    /// For spreadsheets
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// What was done or left because of what it costs and saves
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
    /// Only models that have this in their name
    #[arg(long = "model", value_name = "TEXT")]
    pub(crate) models: Vec<String>,
    /// A table in the form of `LiteLLM`, to be written as settings
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// How many days back
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) days: u32,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
    /// As a page of its own
    #[arg(long, conflicts_with = "json")]
    pub(crate) html: bool,
}

/// `everfold doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
    /// Settings.
    #[command(flatten)]
    pub(crate) choices: Choices,
}

/// `everfold instructions`.
#[derive(Debug, Args)]
pub(crate) struct InstructionsArgs {
    /// Also what loads when these files are read
    pub(crate) files: Vec<PathBuf>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold trust`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TrustArgs {
    /// All repositories that were asked about
    #[arg(long, conflicts_with_all = ["revoke", "dry_run"])]
    pub(crate) list: bool,
    /// Take it back
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) revoke: bool,
    /// Only show what would act
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold web`.
#[derive(Debug, Args)]
pub(crate) struct WebArgs {
    /// Listen on this port of this machine; any that is free where nothing is said
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Only look: no buttons, and nothing can be changed
    #[arg(long)]
    pub(crate) read_only: bool,
}

/// `everfold show-result`.
#[derive(Debug, Args)]
pub(crate) struct ShowResultArgs {
    /// A tool call's id, a record's id, or two of these as FROM..TO
    pub(crate) id: String,
    /// A session of this directory; the newest that has the id where nothing is said
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold health`.
#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// One session of this directory; all of them where nothing is said
    #[arg(long, value_name = "ID", conflicts_with = "week")]
    pub(crate) session: Option<String>,
    /// The last seven days, in every project
    #[arg(long)]
    pub(crate) week: bool,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words that all have to be there; words in double quotes are one phrase
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Most places in memories, and most in sessions
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// In the sessions of every project
    #[arg(long)]
    pub(crate) all: bool,
    /// Only in one of the two
    #[arg(long = "in", value_enum, value_name = "PLACE")]
    pub(crate) place: Option<Place>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where words are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Place {
    /// In memories
    Memories,
    /// In what was said
    Sessions,
}

/// `everfold sessions`.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// The sessions of this directory, newest first
    List {
        /// Only those that have all of these words
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Write a session as a text to read, or as its lines
    Export {
        /// Its id, or words that only it has; the newest where nothing is said
        id: Option<String>,
        /// How it is written
        #[arg(long, value_enum, default_value_t)]
        format: ExportFormat,
        /// A new file; standard output where nothing is said
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Take keys and passwords out of a session for good, in all its files
    Redact {
        /// Its id, or words that only it has
        id: String,
        /// Only count them
        #[arg(long)]
        dry_run: bool,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Remove sessions of every project that nobody touched for long; memories stay
    Prune {
        /// Only show which
        #[arg(long)]
        dry_run: bool,
        /// Days without a touch; cleanupPeriodDays where nothing is said
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        days: Option<u64>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Review what a session left, in the background
    #[command(hide = true)]
    Finish {
        /// Its id
        id: String,
        /// As the session had them
        #[command(flatten)]
        choices: Box<Choices>,
    },
    /// What happened in one session
    Show {
        /// Its id, or words that only it has; the newest where nothing is said
        id: Option<String>,
        /// For programs
        #[arg(long)]
        json: bool,
    },
}

/// How a session is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A text to read, long results cut
    #[default]
    Markdown,
    /// Every line as it is
    Jsonl,
}

/// `everfold dream`.
#[derive(Debug, Default, Args)]
pub(crate) struct DreamArgs {
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Dream even if it is not time yet
    #[arg(long)]
    pub(crate) force: bool,
    /// For programs: one JSON object at the end
    #[arg(long, conflicts_with = "output_format")]
    pub(crate) json: bool,
    /// How it is printed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) output_format: OutputFormat,
    /// Settings.
    #[command(flatten)]
    pub(crate) choices: Choices,
}
