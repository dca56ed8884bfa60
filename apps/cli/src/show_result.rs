//! `everfold show-result`: a result or a message by its id (L1.8).
//!
//! Without a session, the newest one that has the id is meant: ids are made
//! to be had once.

use crate::args::{Choices, ShowResultArgs};
use crate::failure::Usage;
use crate::presenter::Presenter;
use crate::session_picker;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::engine::session::lookup::{self, RecallError, Recalled};
use everfold_agent::{Agent, SessionId};
use serde_json::json;

/// Prints what an id stands for.
pub(crate) async fn run(
    env: &ProcessEnv,
    args: &ShowResultArgs,
    presenter: &Presenter,
) -> Result<()> {
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let sessions = match &args.session {
        Some(text) => vec![session_picker::find(&agent, text).await?],
        None => agent.sessions().await?.into_iter().map(|entry| entry.session).collect(),
    };
    let (session, Recalled { kind, tool, text, at, .. }) =
        find(&agent, &sessions, &args.id).await?;
    if args.json {
        let kind = kind.as_str();
        let id = &args.id;
        return Ok(Presenter::json(&json!({
            "id": id, "session_id": session, "kind": kind, "tool": tool, "at": at, "text": text,
        }))?);
    }
    presenter.text(&text)?;
    if !text.ends_with('\n') {
        presenter.line("")?;
    }
    Ok(())
}

async fn find<'a>(
    agent: &Agent,
    sessions: &'a [SessionId],
    id: &str,
) -> Result<(&'a SessionId, Recalled)> {
    let limits = agent.config().limits;
    let hint = "a marker, a preview or a summary names ids; /messages lists those in view";
    for session in sessions {
        match lookup::find(agent.world(), &limits, session, id).await {
            Ok(found) => return Ok((session, found)),
            // Another session may have it.
            Err(RecallError::Unknown { .. } | RecallError::Backwards { .. })
                if sessions.len() > 1 => {}
            Err(error @ RecallError::Transcript(_)) => return Err(error.into()),
            Err(error) => return Err(Usage::new(error.to_string(), hint).into()),
        }
    }
    let message = format!("nothing in this directory's sessions has the id {id:?}");
    Err(Usage::new(message, hint).into())
}
