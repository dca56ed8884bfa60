//! The arguments of `everfold team`.

use clap::{Args, Subcommand};

/// `everfold team`.
#[derive(Debug, Subcommand)]
pub(crate) enum TeamCommand {
    /// Create a team in an empty git repository, and join it
    Init(TeamArgs),
    /// Join a team that others created; a project is in one team at most
    Join(TeamArgs),
    /// Pull what is new, merge, and push what was saved here
    Sync {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show this project's team and what is pending
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Leave this project's team; its memories stay on this machine
    Leave,
}

/// Where a team meets.
#[derive(Debug, Args)]
pub(crate) struct TeamArgs {
    /// A git repository: a URL, an ssh address or a path
    pub(crate) remote: String,
    /// The team's name on this machine; by default taken from its address
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
