//! The command line of what works beside other agents (section 15), as it was
//! typed.

use crate::install::Host;
use clap::Args;
use std::path::PathBuf;

/// `everfold hook`. Read without the help of clap, which would end the program
/// with a code that hosts take for a veto.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The event, such as `UserPromptSubmit`; the one that the input names where nothing is said
    pub(crate) event: Option<String>,
    /// Everfold's home, where it is not the usual one
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Which agent calls, where its transcript does not say
    #[arg(long, value_enum)]
    pub(crate) host: Option<Host>,
}

/// `everfold install`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct InstallArgs {
    /// Which agent
    #[arg(value_enum)]
    pub(crate) host: Host,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep memories apart from Claude Code's own; else both use the same directories
    #[arg(long)]
    pub(crate) separate: bool,
    /// Let Claude Code leave its requests for us to measure: exact windows on the page
    #[arg(long)]
    pub(crate) observe: bool,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Listen on this port of this machine, instead of standard input and output; 0 takes any
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) http: Option<u16>,
    /// The project, where the client does not say; else the current directory
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

/// `everfold uninstall`.
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    /// Which agent
    #[arg(value_enum)]
    pub(crate) host: Host,
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For programs
    #[arg(long)]
    pub(crate) json: bool,
}
