//! The arguments of `everfold fleet`.

use clap::{Args, Subcommand};

/// `everfold fleet`.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Create a team's streams on the servers, and join it
    Init {
        /// Where and which
        #[command(flatten)]
        fleet: FleetArgs,
        /// Copies of everything; three survive the loss of one server
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
        replicas: u8,
    },
    /// Join a team of the fleet; a project is in one team at most
    Join(FleetArgs),
    /// Pull new memories, merge, and push what was kept here
    Sync {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show this project's team, what is pending, and who is online
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the servers: replicas, when they write to disk, clock, permissions
    Doctor {
        /// The URL of a server's monitor, usually on port 8222
        #[arg(long, value_name = "URL")]
        monitor: Option<String>,
    },
    /// Leave this project's team; its memories stay on this machine
    Leave,
}

/// Where a fleet is.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// The servers' URLs (nats or tls), separated by commas
    pub(crate) servers: String,
    /// The team
    #[arg(long)]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
