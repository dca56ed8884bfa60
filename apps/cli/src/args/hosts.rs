//! The command line of what works beside other agents (section 15), as it was
//! typed.

use crate::install::Host;
use clap::Args;
use std::path::PathBuf;

/// `everfold hook`. Read without the help of clap, which would end the program
/// with a code that hosts take for a veto.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// The event, such as `UserPromptSubmit`; by default the one that the input names
    pub(crate) event: Option<String>,
    /// Everfold's home, if not the default
    #[arg(long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Which agent is calling, if its transcript does not say
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
    /// Keep memories apart from Claude Code's; by default both use the same directories
    #[arg(long)]
    pub(crate) separate: bool,
    /// Let Claude Code save its requests, so that the page can show exact windows
    #[arg(long)]
    pub(crate) observe: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `everfold mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// Listen on this local port instead of standard input and output; 0 picks one
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) http: Option<u16>,
    /// The project, if the client does not say; by default the current directory
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
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
