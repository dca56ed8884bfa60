//! `everfold mcp`: memories for other agents, over the Model Context Protocol.

use crate::args::McpArgs;
use crate::failure::Usage;
use crate::presenter::{Presenter, TextStyle};
use crate::setup::ProcessEnv;
use anyhow::Result;
use everfold_agent::Agent;
use everfold_mcp_server::{ProjectOpener, Server, serve_http, serve_stdio};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where Claude Code says that it works.
const PROJECT: &str = "CLAUDE_PROJECT_DIR";

/// Serves until the client is gone, or the process is ended.
pub(crate) async fn run(env: &ProcessEnv, args: &McpArgs, presenter: &Presenter) -> Result<()> {
    let cwd = project(env, args)?;
    let (variables, user_home) = (env.variables.clone(), env.user_home.clone());
    let open: ProjectOpener = Arc::new(move |root: &Path| {
        let builder = Agent::builder(root).environment(variables.clone(), user_home.clone());
        builder.host_service()
    });
    let Some(port) = args.http else { return Ok(serve_stdio(Server::new(open, cwd)).await?) };
    let listening = serve_http(move || Server::new(Arc::clone(&open), cwd.clone()), port).await?;
    presenter.note(TextStyle::Dim, &format!("listening on {}", listening.url()));
    Ok(listening.run().await?)
}

fn project(env: &ProcessEnv, args: &McpArgs) -> Result<PathBuf> {
    let named = env.variables.get(PROJECT).filter(|dir| Path::new(dir).is_dir());
    match (&args.project, named) {
        (Some(dir), _) if dir.is_dir() => Ok(dir.canonicalize()?),
        (Some(dir), _) => {
            let message = format!("{} is not a directory", dir.display());
            Err(Usage::new(message, "name an existing directory").into())
        }
        (None, Some(dir)) => Ok(PathBuf::from(dir)),
        (None, None) => Ok(std::env::current_dir()?),
    }
}
