//! Running the calls of an answer: reading ones side by side, others in order.

use crate::agents;
use crate::event::{Denial, Event};
use crate::memory::{failures, uses};
use crate::permit::{Footprint, Verdict};
use crate::session::{Error, Session, effects, reminder, secrets, status};
use crate::setups::hooks::Said;
use crate::setups::hooks::tool_events::{self, ask_person};
use crate::setups::instructions::touch;
use crate::setups::{mcp_tools, memory_switch};
use crate::tools::{Access, CallOrder, SEND_MESSAGE, Tool, ToolCall, ToolContext, ToolOutput};
use crate::turn::driver::denial;
use crate::window::thrash;
use everfold_hooks::Permission;
use everfold_kernel::ports::{PermissionAnswer, PermissionAsk};
use everfold_kernel::provenance::Source;
use everfold_kernel::record::neutralise;
use everfold_kernel::{Block, BlockProvenance, UserEntry, UserOrigin};
use futures_util::{StreamExt, stream};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Characters of a result that a surface is shown.
const PREVIEW_CHARS: usize = 200;

/// What the result of a call begins with that was refused.
pub const REFUSED: &str = "This call was refused: ";

/// A call that may run.
struct Cleared {
    call: ToolCall,
    tool: Arc<dyn Tool>,
}

/// Runs every call and writes every result. Says which were refused.
pub(crate) async fn run_tools(
    session: &mut Session,
    calls: Vec<ToolCall>,
    cancel: &CancellationToken,
) -> Result<Vec<Denial>, Error> {
    agents::brief_agents(session, &calls);
    uses::note_testimony(session, &calls);
    session.context.hears(session.state.fold.lowest());
    tool_events::tell_moved(session, cancel).await?;
    let mut denials = Vec::new();
    let mut side_by_side: Vec<Cleared> = Vec::new();
    for call in calls {
        status::follow_mode(session);
        let mut call = mcp_tools::unwrapped(call);
        let said = tool_events::before_call(session, &mut call, cancel).await?;
        let beside = runs_beside(session, &call);
        if !beside {
            run_batch(session, std::mem::take(&mut side_by_side), cancel).await?;
        }
        match clear(session, &mut call, said, cancel).await {
            Ok(tool) if beside && runs_beside(session, &call) => {
                side_by_side.push(Cleared { call, tool });
            }
            Ok(tool) => {
                side_by_side.push(Cleared { call, tool });
                run_batch(session, std::mem::take(&mut side_by_side), cancel).await?;
            }
            Err(NotRun::Session(error)) => return Err(error),
            Err(why) => {
                let mut output = ToolOutput::error(why.to_string());
                if let NotRun::Denied(reason) = why {
                    let (id, name, input) =
                        (call.id.clone(), call.name.clone(), call.input.clone());
                    session.emit(|| Event::ToolRefused { id, name, input, reason });
                    tool_events::told_refusal(session, &call, &mut output, cancel).await?;
                    denials.push(denial(&call));
                }
                write_result(session, &call, output, Duration::ZERO).await?;
            }
        }
    }
    run_batch(session, side_by_side, cancel).await?;
    tool_events::batch_hooks(session, cancel).await?;
    effects::book_side_queries(session).await?;
    Ok(denials)
}

/// Whether a call may run beside others: it only reads, and nobody sees when.
fn runs_beside(session: &Session, call: &ToolCall) -> bool {
    let tool = mcp_tools::find_tool(session, &call.name);
    tool.is_some_and(|tool| {
        tool.order() == CallOrder::Any && tool.access(&call.input, &session.context).is_read_only()
    })
}

/// Finds the tool and decides whether the call may run. A hook that
/// answers in the person's place may change its arguments.
async fn clear(
    session: &mut Session,
    call: &mut ToolCall,
    said: Said,
    cancel: &CancellationToken,
) -> Result<Arc<dyn Tool>, NotRun> {
    let Some(tool) = mcp_tools::find_tool(session, &call.name) else {
        let known: Vec<_> = session.toolbox.names().collect();
        return Err(NotRun::UnknownTool { name: call.name.clone(), known: known.join(", ") });
    };
    let deed = footprint(session, &tool.access(&call.input, &session.context)).await;
    let decided = memory_switch::without_memory(session, &call.name);
    let decided = decided.unwrap_or_else(|| decide(session, call, &deed));
    let verdict = match (decided, said) {
        // Hooks narrow, and answer questions; what a rule denies stays denied.
        (_, Some((Permission::Deny, reason))) => Verdict::Deny { reason },
        (Verdict::Allow, Some((Permission::Ask, _))) => session.permit.question(&call.name, &deed),
        (Verdict::Ask { .. }, Some((Permission::Allow, _))) => Verdict::Allow,
        (verdict, _) => verdict,
    };
    let deed = permitted(session, call, deed, verdict, cancel).await?;
    session.runtime.branch.touched.extend(touch(&deed));
    Ok(tool)
}

/// What a call that may run touches.
async fn permitted(
    session: &mut Session,
    call: &mut ToolCall,
    deed: Footprint,
    verdict: Verdict,
    cancel: &CancellationToken,
) -> Result<Footprint, NotRun> {
    let rule = match verdict {
        Verdict::Allow => return Ok(deed),
        Verdict::Deny { reason } => return Err(refused(session, call, reason)),
        Verdict::Ask { rule } => rule,
    };
    match tool_events::request_hooks(session, call, &rule, cancel).await? {
        Some((Permission::Deny, reason)) => return Err(NotRun::Denied(reason)),
        Some(_) => return still_permitted(session, call, deed).await,
        None => {}
    }
    let summary = summary(&call.name, &deed);
    let (tool, input) = (call.name.clone(), call.input.clone());
    let ask = PermissionAsk { tool, input, summary, rule: rule.clone() };
    match ask_person(session, ask, cancel).await? {
        PermissionAnswer::Allow => Ok(deed),
        PermissionAnswer::AllowAlways => {
            session.permit.allow_for_session(&rule);
            Ok(deed)
        }
        PermissionAnswer::Deny { reason } => Err(NotRun::Denied(reason)),
    }
}

/// Looks at a call again that a hook let through: whatever its arguments
/// are now, what a rule denies stays denied.
async fn still_permitted(
    session: &Session,
    call: &ToolCall,
    deed: Footprint,
) -> Result<Footprint, NotRun> {
    let deed = match mcp_tools::find_tool(session, &call.name) {
        Some(tool) => footprint(session, &tool.access(&call.input, &session.context)).await,
        None => deed,
    };
    match decide(session, call, &deed) {
        Verdict::Deny { reason } => Err(refused(session, call, reason)),
        Verdict::Allow | Verdict::Ask { .. } => Ok(deed),
    }
}

/// Whether a file may be read that the person named.
pub(crate) async fn may_read(
    session: &mut Session,
    call: &ToolCall,
    path: PathBuf,
    cancel: &CancellationToken,
) -> Result<(), NotRun> {
    let deed = footprint(session, &Access::Read(path)).await;
    let verdict = session.permit.decide(&call.name, &deed);
    permitted(session, &mut call.clone(), deed, verdict, cancel).await.map(|_| ())
}

/// A refusal that nobody is there to see is at least in the log (L5.14).
fn refused(session: &Session, call: &ToolCall, reason: String) -> NotRun {
    if !session.is_main() {
        tracing::info!(source = %session.source(), tool = call.name, reason, "refused");
    }
    NotRun::Denied(reason)
}

/// What permissions say of a call. Where commands only read, they run to
/// their end.
fn decide(session: &Session, call: &ToolCall, deed: &Footprint) -> Verdict {
    let stays = call.input.get("run_in_background") == Some(&Value::Bool(true));
    let reads_alone = session.permit.only_reads() && matches!(deed, Footprint::Command(_));
    match session.permit.decide(&call.name, deed) {
        Verdict::Allow if stays && reads_alone => {
            let reason = "nothing runs on in the background here".to_owned();
            Verdict::Deny { reason }
        }
        verdict => verdict,
    }
}

/// What a call would touch: paths as the operating system sees them, commands
/// as a parser does.
pub(crate) async fn footprint(session: &Session, access: &Access) -> Footprint {
    let cwd = session.context.cwd();
    Footprint::of(access, &session.world, &session.permit, cwd).await
}

async fn run_batch(
    session: &mut Session,
    batch: Vec<Cleared>,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    for Cleared { call, .. } in &batch {
        let (id, name, input) = (call.id.clone(), call.name.clone(), call.input.clone());
        session.emit(|| Event::ToolStarted { id, name, input });
    }
    let context = Arc::clone(&session.context);
    context.set_guard(session.permit.guard());
    if batch.iter().any(|cleared| cleared.call.name == SEND_MESSAGE) {
        context.knows_secrets(secrets::said(session));
    }
    let clock = Arc::clone(&session.world.clock);
    let running = batch.into_iter().map(|Cleared { call, tool }| {
        let (context, clock) = (Arc::clone(&context), Arc::clone(&clock));
        async move {
            let started = clock.now();
            let output = run_one(&*tool, &call, &context, cancel).await;
            let took = clock.now().duration_since(started).unsigned_abs();
            (call, output, took)
        }
    });
    let mut results =
        stream::iter(running).buffer_unordered(session.config.limits.parallel_tools.max(1));
    while let Some((call, output, took)) = results.next().await {
        let output = tool_events::after_call(session, &call, output, took, cancel).await?;
        if output.is_error() && !cancel.is_cancelled() {
            failures::hear(session, &tool_events::text_of(&output.content));
        }
        write_result(session, &call, output, took).await?;
    }
    drop(results);
    tool_events::tell_moved(session, cancel).await
}

async fn write_result(
    session: &mut Session,
    call: &ToolCall,
    output: ToolOutput,
    duration: Duration,
) -> Result<(), Error> {
    tool_events::note_in_batch(session, call, &output);
    let is_error = output.is_error();
    let content = thrash::excerpt(session, &call.name, &call.input, output.content);
    let content = made_safe(session, content);
    let mut block = Block::tool_result(&call.id, content);
    if is_error {
        block.as_map_mut().insert("is_error".into(), Value::Bool(true));
    }
    let preview: String = block.plain_text().chars().take(PREVIEW_CHARS).collect();
    let id = call.id.clone();
    let structured = output.structured.map(|value| made_safe_structured(session, value));
    let tool_use_result = session.context.with_reads(structured);
    let entry = UserEntry {
        content: vec![block],
        origin: UserOrigin::ToolResult,
        tool_use_result,
        provenance: vec![BlockProvenance::whole(output.provenance)],
    };
    reminder::append_result(session, &call.name, entry).await?;
    session.emit(|| Event::ToolEnded { id, is_error, preview, duration });
    Ok(())
}

/// No key is written down (S5), and no envelope is closed from inside (S4).
fn made_safe(session: &Session, content: Value) -> Value {
    map_texts(content, &|text| neutralise(&session.config.redact(text)))
}

fn made_safe_structured(session: &Session, value: Value) -> Value {
    map_texts(value, &|text| session.config.redact(text))
}

/// Why a call did not run, as the model reads it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotRun {
    #[error("unknown tool {name:?}; the tools are {known}")]
    UnknownTool { name: String, known: String },
    #[error("{REFUSED}{0}")]
    Denied(String),
    #[error(transparent)]
    Session(#[from] Error),
}

async fn run_one(
    tool: &dyn Tool,
    call: &ToolCall,
    context: &ToolContext,
    cancel: &CancellationToken,
) -> ToolOutput {
    let mut run = pin!(tool.run(call, context));
    tokio::select! {
        output = &mut run => output,
        () = cancel.cancelled() => interrupted(call, context),
    }
}

/// What is left of a call that the person stopped: what it had printed (U5).
fn interrupted(call: &ToolCall, context: &ToolContext) -> ToolOutput {
    let told = crate::turn::driver::INTERRUPTED_BY_PERSON;
    match context.running.printed(&call.id) {
        Some(printed) if !printed.trim().is_empty() => {
            let text = format!("{told}\nIt had printed:\n{}", printed.trim_end());
            ToolOutput::error(text).by(Source::Command)
        }
        _ => ToolOutput::error(told),
    }
}

/// Changes every text inside a value, keys and base64 data aside.
fn map_texts(value: Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(&text)),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| map_texts(item, change)).collect())
        }
        Value::Object(map) => {
            let is_data = map.get("type").and_then(Value::as_str) == Some("base64");
            let changed =
                |(key, item)| if is_data { (key, item) } else { (key, map_texts(item, change)) };
            Value::Object(map.into_iter().map(changed).collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn summary(name: &str, deed: &Footprint) -> String {
    match deed {
        Footprint::Nothing | Footprint::Server { .. } => name.to_owned(),
        Footprint::Read(path) | Footprint::Edit(path) => format!("{name} {}", path.display()),
        Footprint::Command(used) => used.text.clone(),
        Footprint::Fetch { url, .. } => format!("{name} {url}"),
    }
}
