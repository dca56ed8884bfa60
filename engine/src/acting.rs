//! Running the calls of an answer: reading ones side by side, others in order.

use crate::event::{Denial, Event};
use crate::hooking::Said;
use crate::instructing::touch;
use crate::permit::Verdict;
use crate::session::{Error, Session};
use crate::tools::{Access, Tool, ToolCall, ToolContext, ToolOutput};
use crate::turn::denial;
use everfold_hooks::Permission;
use everfold_kernel::ports::{Answer, PermissionAsk};
use everfold_kernel::record::neutralise;
use everfold_kernel::{Block, BlockProvenance, Entry, UserEntry, UserOrigin};
use futures_util::{StreamExt, stream};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Characters of a result that a surface is shown.
const PREVIEW_CHARS: usize = 200;

/// A call that may run.
struct Cleared {
    call: ToolCall,
    tool: Arc<dyn Tool>,
}

impl Session {
    /// Runs every call and writes every result. Says which were refused.
    pub(crate) async fn run_tools(
        &mut self,
        calls: Vec<ToolCall>,
        cancel: &CancellationToken,
    ) -> Result<Vec<Denial>, Error> {
        self.brief_agents(&calls);
        self.hear_for(&calls);
        self.context.hears(self.fold.lowest());
        self.tell_moved(cancel).await?;
        let mut denials = Vec::new();
        let mut side_by_side: Vec<Cleared> = Vec::new();
        for call in calls {
            self.follow_mode();
            let mut call = Self::unwrapped(call);
            let said = self.before_call(&mut call, cancel).await?;
            let reads = self.reads_only(&call);
            if !reads {
                self.run_batch(std::mem::take(&mut side_by_side), cancel).await?;
            }
            match self.clear(&mut call, said, cancel).await? {
                Ok(tool) if reads && self.reads_only(&call) => {
                    side_by_side.push(Cleared { call, tool });
                }
                Ok(tool) => {
                    side_by_side.push(Cleared { call, tool });
                    self.run_batch(std::mem::take(&mut side_by_side), cancel).await?;
                }
                Err(Refusal { mut output, denied }) => {
                    if denied {
                        self.told_refusal(&call, &mut output, cancel).await?;
                    }
                    denials.extend(denied.then(|| denial(&call)));
                    self.write_result(&call, output, Duration::ZERO).await?;
                }
            }
        }
        self.run_batch(side_by_side, cancel).await?;
        self.batch_hooks(cancel).await?;
        self.book_side_queries().await?;
        Ok(denials)
    }

    fn reads_only(&self, call: &ToolCall) -> bool {
        let tool = self.find_tool(&call.name);
        tool.is_some_and(|tool| tool.access(&call.input, &self.context).is_read_only())
    }

    /// Finds the tool and decides whether the call may run. A hook that
    /// answers in the person's place may change its arguments.
    async fn clear(
        &mut self,
        call: &mut ToolCall,
        said: Said,
        cancel: &CancellationToken,
    ) -> Result<Result<Arc<dyn Tool>, Refusal>, Error> {
        let Some(tool) = self.find_tool(&call.name) else {
            let known: Vec<_> = self.toolbox.names().collect();
            return Ok(Err(Refusal::mistake(format!(
                "there is no tool {:?}; the tools are {}",
                call.name,
                known.join(", ")
            ))));
        };
        let access = self.resolved(tool.access(&call.input, &self.context)).await;
        let decided = self.without_memory(&call.name);
        let decided = decided.unwrap_or_else(|| self.permit.decide(&call.name, &access));
        let verdict = match (decided, said) {
            // Hooks narrow, and answer questions; what a rule denies stays denied.
            (_, Some((Permission::Deny, reason))) => Verdict::Deny { reason },
            (Verdict::Allow, Some((Permission::Ask, _))) => {
                self.permit.question(&call.name, &access)
            }
            (Verdict::Ask { .. }, Some((Permission::Allow, _))) => Verdict::Allow,
            (verdict, _) => verdict,
        };
        let permitted = self.permitted(call, access, verdict, cancel).await?;
        Ok(permitted.map(|access| {
            self.touched.extend(touch(&access));
            tool
        }))
    }

    /// What a call that may run touches; why it may not.
    async fn permitted(
        &mut self,
        call: &mut ToolCall,
        access: Access,
        verdict: Verdict,
        cancel: &CancellationToken,
    ) -> Result<Result<Access, Refusal>, Error> {
        let rule = match verdict {
            Verdict::Allow => return Ok(Ok(access)),
            Verdict::Deny { reason } => return Ok(Err(self.refused(call, &reason))),
            Verdict::AllowIfItOnlyReads => {
                let reads = self.only_reads(call, &access);
                return Ok(reads.map(|()| access).map_err(|reason| self.refused(call, &reason)));
            }
            Verdict::Ask { rule } => rule,
        };
        match self.request_hooks(call, &rule, cancel).await? {
            Some((Permission::Deny, reason)) => return Ok(Err(Refusal::denied(&reason))),
            Some(_) => return Ok(self.still_permitted(call, access).await),
            None => {}
        }
        let summary = summary(&call.name, &access);
        let (tool, input) = (call.name.clone(), call.input.clone());
        let ask = PermissionAsk { tool, input, summary, rule: rule.clone() };
        Ok(match self.ask_person(ask, cancel).await? {
            Answer::Allow => Ok(access),
            Answer::AllowAlways => {
                self.permit.allow_for_session(&rule);
                Ok(access)
            }
            Answer::Deny { reason } => Err(Refusal::denied(&reason)),
        })
    }

    /// Looks at a call again that a hook let through: whatever its arguments
    /// are now, what a rule denies stays denied.
    async fn still_permitted(&self, call: &ToolCall, access: Access) -> Result<Access, Refusal> {
        let access = match self.find_tool(&call.name) {
            Some(tool) => self.resolved(tool.access(&call.input, &self.context)).await,
            None => access,
        };
        match self.permit.decide(&call.name, &access) {
            Verdict::Deny { reason } => Err(self.refused(call, &reason)),
            Verdict::AllowIfItOnlyReads => match self.only_reads(call, &access) {
                Ok(()) => Ok(access),
                Err(reason) => Err(self.refused(call, &reason)),
            },
            Verdict::Allow | Verdict::Ask { .. } => Ok(access),
        }
    }

    /// Tells hooks that the person is asked, and asks.
    pub(crate) async fn ask_person(
        &mut self,
        ask: PermissionAsk,
        cancel: &CancellationToken,
    ) -> Result<Answer, Error> {
        self.told_question(&ask.tool, cancel).await?;
        Ok(tokio::select! {
            answer = self.world.approver.ask(ask) => answer,
            () = cancel.cancelled() => Answer::Deny { reason: "the turn was stopped".into() },
        })
    }

    /// Whether a file may be read that the person named. An error says why not.
    pub(crate) async fn may_read(
        &mut self,
        call: &ToolCall,
        path: PathBuf,
        cancel: &CancellationToken,
    ) -> Result<(), String> {
        let access = self.resolved(Access::Read(path)).await;
        let verdict = self.permit.decide(&call.name, &access);
        match self.permitted(&mut call.clone(), access, verdict, cancel).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(refusal)) => Err(refusal.output.content.as_str().unwrap_or_default().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// A refusal that nobody is there to see is at least in the log (L5.14).
    fn refused(&self, call: &ToolCall, reason: &str) -> Refusal {
        if !self.is_main() {
            tracing::info!(source = %self.source(), tool = call.name, reason, "refused");
        }
        Refusal::denied(reason)
    }

    /// A command of an agent that nobody watches only reads, and runs to its end.
    fn only_reads(&self, call: &ToolCall, access: &Access) -> Result<(), String> {
        if call.input.get("run_in_background") == Some(&Value::Bool(true)) {
            return Err("nothing runs on in the background of this task".into());
        }
        match access {
            Access::Execute(command) => self.world.shell.only_reads(command),
            _ => Ok(()),
        }
    }

    /// Paths as the operating system sees them: a link in a repository must
    /// not lead a rule astray (S2).
    async fn resolved(&self, access: Access) -> Access {
        match access {
            Access::Read(path) => Access::Read(self.world.files.resolve(&path).await),
            Access::Edit(path) => Access::Edit(self.world.files.resolve(&path).await),
            other => other,
        }
    }

    async fn run_batch(
        &mut self,
        batch: Vec<Cleared>,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        for Cleared { call, .. } in &batch {
            let (id, name, input) = (call.id.clone(), call.name.clone(), call.input.clone());
            self.emit(|| Event::ToolStarted { id, name, input });
        }
        let context = Arc::clone(&self.context);
        let clock = Arc::clone(&self.world.clock);
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
            stream::iter(running).buffer_unordered(self.config.limits.parallel_tools.max(1));
        while let Some((call, output, took)) = results.next().await {
            let output = self.after_call(&call, output, took, cancel).await?;
            self.write_result(&call, output, took).await?;
        }
        drop(results);
        self.tell_moved(cancel).await
    }

    async fn write_result(
        &mut self,
        call: &ToolCall,
        output: ToolOutput,
        duration: Duration,
    ) -> Result<(), Error> {
        self.note_in_batch(call, &output);
        self.context.brought(&call.id, output.provenance);
        let content = self.made_safe(output.content);
        let mut block = Block::tool_result(&call.id, content);
        if output.is_error {
            block.as_map_mut().insert("is_error".into(), Value::Bool(true));
        }
        let preview: String = block.plain_text().chars().take(PREVIEW_CHARS).collect();
        let (id, is_error) = (call.id.clone(), output.is_error);
        let structured = output.structured.map(|value| self.made_safe_structured(value));
        let tool_use_result = self.context.with_reads(structured);
        let entry = UserEntry {
            content: vec![block],
            origin: UserOrigin::ToolResult,
            tool_use_result,
            provenance: vec![BlockProvenance::whole(output.provenance)],
        };
        self.append(Entry::User(entry)).await?;
        self.emit(|| Event::ToolEnded { id, is_error, preview, duration });
        Ok(())
    }

    /// No key is written down (S5), and no envelope is closed from inside (S4).
    fn made_safe(&self, content: Value) -> Value {
        map_texts(content, &|text| neutralise(&self.config.redact(text)))
    }

    fn made_safe_structured(&self, value: Value) -> Value {
        map_texts(value, &|text| self.config.redact(text))
    }
}

/// Why a call did not run, as the model reads it.
struct Refusal {
    output: ToolOutput,
    denied: bool,
}

impl Refusal {
    fn mistake(text: String) -> Self {
        Self { output: ToolOutput::error(text), denied: false }
    }

    fn denied(reason: &str) -> Self {
        let text = format!("This call was refused: {reason}");
        Self { output: ToolOutput::error(text), denied: true }
    }
}

async fn run_one(
    tool: &dyn Tool,
    call: &ToolCall,
    context: &ToolContext,
    cancel: &CancellationToken,
) -> ToolOutput {
    tokio::select! {
        output = tool.run(call, context) => output,
        () = cancel.cancelled() => ToolOutput::error(crate::turn::INTERRUPTED_BY_PERSON),
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

fn summary(name: &str, access: &Access) -> String {
    match access {
        Access::Nothing | Access::Server { .. } => name.to_owned(),
        Access::Read(path) | Access::Edit(path) => format!("{name} {}", path.display()),
        Access::Execute(command) => command.clone(),
        Access::Fetch { url, .. } => format!("{name} {url}"),
    }
}
