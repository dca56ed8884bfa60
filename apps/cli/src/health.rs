//! `everfold health` and `/health`: whether the layers earn their keep (Q10).

use crate::args::{Choices, HealthArgs};
use crate::presenter::Presenter;
use crate::session_picker;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::Agent;
use everfold_agent::health::{Health, HealthScope};
use everfold_kernel::SessionId;

/// Shows how things are.
pub(crate) async fn run(env: &ProcessEnv, args: &HealthArgs, presenter: &Presenter) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let scope = match &args.session {
        Some(text) => HealthScope::Session(session_picker::find(&agent, text).await?),
        None if args.week => HealthScope::Week,
        None => HealthScope::Project,
    };
    // Without memory there is still a conversation to look at.
    let dirs = setup::builder(env, &Choices::default())?.memory_dirs().ok();
    let health = Health::look(&agent, &scope, dirs.as_ref()).await?;
    if args.json {
        return Ok(Presenter::json(&health.to_json(&scope))?);
    }
    show(&scope, &health, presenter)
}

/// `/health`: the session that is running.
pub(crate) async fn show_session(
    agent: &Agent,
    session: &SessionId,
    presenter: &Presenter,
) -> Result<()> {
    let scope = HealthScope::Session(session.clone());
    let health = Health::look(agent, &scope, None).await.unwrap_or_default();
    show(&scope, &health, presenter)
}

fn show(scope: &HealthScope, health: &Health, presenter: &Presenter) -> Result<()> {
    presenter.line(&scope.title())?;
    let rows = health.rows().into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    Ok(presenter.table(&rows.collect::<Vec<_>>())?)
}
