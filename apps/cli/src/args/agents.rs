//! Flags about other agents (L7.5, L7.7).

use clap::Args;

/// Who else there is.
#[derive(Debug, Args)]
pub(crate) struct CrewArgs {
    /// The team to join; its members can write to this session
    #[arg(long, value_name = "NAME", requires = "agent_name")]
    pub(crate) team: Option<String>,
    /// The name in the team
    #[arg(long, value_name = "NAME", requires = "team")]
    pub(crate) agent_name: Option<String>,
    /// Kinds of agents besides those of files: a JSON object by their names
    #[arg(long, value_name = "JSON")]
    pub(crate) agents: Option<String>,
    /// Leave the work to agents: divide it, watch, put it together
    #[arg(long)]
    pub(crate) coordinator: bool,
}
