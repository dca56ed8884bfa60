//! The arguments of `everfold team`.

use clap::{Args, Subcommand};

/// `everfold team`.
#[derive(Debug, Subcommand)]
pub(crate) enum TeamCommand {
    /// Create a team in an empty git repository, and join it
    Init(TeamArgs),
    /// Join a team that others created; a project is in one team at most
    Join(TeamArgs),
    /// Pull what the team has new, merge, and push what was kept here
    Sync {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Show the team of this project, and what waits
    Status {
        /// For programs
        #[arg(long)]
        json: bool,
    },
    /// Leave the team of this project; its memories stay on this machine
    Leave,
}

/// Where a team meets.
#[derive(Debug, Args)]
pub(crate) struct TeamArgs {
    /// A git repository: a URL, an ssh address or a path
    pub(crate) remote: String,
    /// What the team is called on this machine; else after its address
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}
