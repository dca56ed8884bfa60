//! Hooks around the calls of tools.

use super::FEEDBACK;
use crate::permit::Footprint;
use crate::session::{Error, Session};
use crate::setups::hooks::{self, tool_events};
use crate::setups::mcp_tools;
use crate::tools::{ToolCall, ToolOutput};
use everfold_hooks::{CallFields, Handler, HookEvent, Occasion, Permission, SideRequest};
use everfold_kernel::ports::{PermissionAnswer, PermissionAsk, ShellPlace};
use everfold_kernel::provenance::Source;
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What hooks say of a call.
pub(crate) type Said = Option<(Permission, String)>;

/// Asks hooks about a call. They may change its arguments.
pub(crate) async fn before_call(
    session: &mut Session,
    call: &mut ToolCall,
    cancel: &CancellationToken,
) -> Result<Said, Error> {
    let asked = call.clone();
    let verdict = hooks::fire(session, &Occasion::PreToolUse(told(&asked)), cancel).await?;
    hooks::keep_contexts(session, HookEvent::PreToolUse, verdict.contexts);
    if let Some(input) = verdict.input {
        call.input = input;
    }
    let blocked = verdict.blocked.or(verdict.stop);
    Ok(blocked.map(|reason| (Permission::Deny, reason)).or(verdict.permission))
}

/// Tells hooks what came of a call. They may change what the model sees.
pub(crate) async fn after_call(
    session: &mut Session,
    call: &ToolCall,
    mut output: ToolOutput,
    took: Duration,
    cancel: &CancellationToken,
) -> Result<ToolOutput, Error> {
    let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let error = text_of(&output.content);
    let occasion = if output.is_error() {
        Occasion::PostToolUseFailure { call: told(call), error: &error, duration_ms }
    } else {
        let response = output.structured.as_ref().unwrap_or(&output.content);
        Occasion::PostToolUse { call: told(call), response, duration_ms }
    };
    let event = occasion.event();
    let verdict = hooks::fire(session, &occasion, cancel).await?;
    if let Some(reason) = verdict.blocked {
        hooks::keep_for_model(session, FEEDBACK, event, reason);
    }
    hooks::keep_contexts(session, event, verdict.contexts);
    if let Some(shown) = verdict.output {
        output.content = match shown {
            Value::String(_) | Value::Array(_) => shown,
            other => Value::String(other.to_string()),
        };
        output.provenance = Source::Hook.into();
    }
    Ok(output)
}

/// Tells hooks that a call was refused. They may let the model try again.
pub(crate) async fn told_refusal(
    session: &mut Session,
    call: &ToolCall,
    output: &mut ToolOutput,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let reason = text_of(&output.content);
    let denied = Occasion::PermissionDenied { call: told(call), reason: &reason };
    let verdict = hooks::fire(session, &denied, cancel).await?;
    if verdict.wanted.wishes.contains(&SideRequest::Retry) {
        output.content =
            Value::String(format!("{reason}\nA hook says that you may try this call again."));
    }
    Ok(())
}

/// Asks hooks in the person's place. They may change the arguments.
pub(crate) async fn request_hooks(
    session: &mut Session,
    call: &mut ToolCall,
    rule: &str,
    cancel: &CancellationToken,
) -> Result<Said, Error> {
    let suggestions = suggested(rule);
    let asked = call.clone();
    let request = Occasion::PermissionRequest { call: told(&asked), suggestions: &suggestions };
    let verdict = hooks::fire(session, &request, cancel).await?;
    if let (Some((Permission::Allow, _)), Some(input)) = (&verdict.permission, verdict.input) {
        call.input = input;
    }
    Ok(verdict.permission)
}

/// Keeps what came of a call until all of an answer are done.
pub(crate) fn note_in_batch(session: &mut Session, call: &ToolCall, output: &ToolOutput) {
    if !hooks::hears(session, HookEvent::PostToolBatch) {
        return;
    }
    let response = output.structured.as_ref().unwrap_or(&output.content);
    session.runtime.hooks.batch.push(json!({
        "tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id,
        "tool_response": response,
    }));
}

/// Tells hooks that all calls of an answer are done. One that blocks ends
/// the turn.
pub(crate) async fn batch_hooks(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let calls = std::mem::take(&mut session.runtime.hooks.batch);
    if calls.is_empty() {
        return Ok(());
    }
    let verdict = hooks::fire(session, &Occasion::PostToolBatch { calls: &calls }, cancel).await?;
    hooks::keep_contexts(session, HookEvent::PostToolBatch, verdict.contexts);
    if let Some(reason) = verdict.blocked {
        session.runtime.hooks.stop = Some(reason);
    }
    Ok(())
}

/// Tells hooks where commands run, if that is elsewhere than before.
pub(crate) async fn tell_moved(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let new = session.context.cwd();
    let old = session.runtime.hooks.cwd.replace(new.clone());
    if let Some(old) = old.filter(|old| *old != new) {
        let moved = Occasion::CwdChanged { old: &old, new: &new };
        let verdict = hooks::fire(session, &moved, cancel).await?;
        session.runtime.hooks.watched.add(verdict.wanted.watch);
    }
    Ok(())
}

/// Tells hooks that the person is asked about a call.
pub(crate) async fn told_question(
    session: &mut Session,
    tool: &str,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let message = format!("Everfold needs your permission to use {tool}");
    let kind = "permission_prompt";
    hooks::fire(session, &Occasion::Notification { message: &message, kind }, cancel).await?;
    Ok(())
}

/// Whether the rule of a handler's `if` speaks of the call.
pub(super) fn is_meant(session: &Session, handler: &Handler, occasion: &Occasion<'_>) -> bool {
    let (Some(rule), Some(call)) = (&handler.condition, occasion.call()) else { return true };
    let Some(tool) = mcp_tools::find_tool(session, call.tool) else { return false };
    let place =
        ShellPlace { cwd: session.context.cwd(), home: session.config.workplace.user_home.clone() };
    let access = tool.access(call.input, &session.context);
    let deed = Footprint::as_told(&access, &session.world, &place);
    session.permit.speaks_of(rule, call.tool, &deed)
}

pub(super) fn told(call: &ToolCall) -> CallFields<'_> {
    CallFields { tool: &call.name, input: &call.input, id: call.id.as_str() }
}

/// What "always" would add, as hooks are told of permissions.
fn suggested(rule: &str) -> Value {
    let named = rule.strip_suffix(')').and_then(|rule| rule.split_once('('));
    let rule = match named {
        Some((tool, content)) => json!({ "toolName": tool, "ruleContent": content }),
        None => json!({ "toolName": rule }),
    };
    json!([{ "type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session" }])
}

/// What a person would read of a tool's output.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

/// Tells hooks that the person is asked, and asks.
pub(crate) async fn ask_person(
    session: &mut Session,
    ask: PermissionAsk,
    cancel: &CancellationToken,
) -> Result<PermissionAnswer, Error> {
    tool_events::told_question(session, &ask.tool, cancel).await?;
    Ok(tokio::select! {
        answer = session.world.approver.ask(ask) => answer,
        () = cancel.cancelled() => PermissionAnswer::Deny { reason: "the turn was stopped".into() },
    })
}
