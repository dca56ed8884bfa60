//! Flags about other agents (L7.5, L7.7).

use clap::Args;

/// Who else there is.
#[derive(Debug, Args)]
pub(crate) struct CrewArgs {
    /// The team to join; its members can write to this session
    #[arg(long, value_name = "NAME", requires = "agent_name")]
    pub(crate) team: Option<String>,
    /// This session's name in the team
    #[arg(long, value_name = "NAME", requires = "team")]
    pub(crate) agent_name: Option<String>,
    /// More kinds of agents: a JSON object, keyed by name
    #[arg(long, value_name = "JSON")]
    pub(crate) agents: Option<String>,
    /// Delegate the work to agents and put their results together
    #[arg(long)]
    pub(crate) coordinator: bool,
}
