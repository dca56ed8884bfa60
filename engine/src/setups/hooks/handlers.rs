//! What runs one handler: a program, a request, a tool of a server, a model.
//!
//! It holds what it needs and nothing of the session, so that handlers run
//! side by side, and on beside the conversation. Each has its time; whatever
//! happens, there is an outcome.

use super::{FEEDBACK, HANDLER_KIND, as_ran};
use crate::agents::{Order, Started};
use crate::config::Config;
use crate::session::agent_context::{Agents, Parent};
use crate::session::effects::{SideBookings, collect, side_request};
use crate::tools::StartError;
use everfold_hooks::{
    Act, Handler, HandlerExit, HookEvent, Means, Ran, filled_arguments, filled_prompt, judgement,
};
use everfold_kernel::env::{HOOK_ENV_FILE, HOOK_PROJECT_DIR};
use everfold_kernel::ports::{HookAction, HookCall, ModelError, World};
use everfold_kernel::provenance::Source;
use everfold_kernel::record::reminder;
use everfold_kernel::usage::Booking;
use everfold_kernel::{Attachment, ModelId, QuerySource, ToolUseId};
use everfold_mail::{Definition, Running};
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a model that judges is told.
const JUDGE: &str = include_str!("judge.md");

/// What handlers are run with at one event.
#[derive(Clone)]
pub(super) struct Handlers {
    pub(super) world: World,
    pub(super) config: Arc<Config>,
    pub(super) books: SideBookings,
    pub(super) agents: Agents,
    pub(super) parent: Option<Arc<Parent>>,
    pub(super) event: HookEvent,
    pub(super) input: String,
    pub(super) cwd: PathBuf,
    /// Where variables for commands may be left, at this event.
    pub(super) env_file: Option<PathBuf>,
}

impl Handlers {
    /// Runs one to its end.
    pub(super) async fn run(&self, handler: &Handler) -> Ran {
        let timeout = self.time_of(handler);
        let running = async {
            match &handler.act {
                Act::Server { server, tool, input } => self.call(server, tool, input).await,
                Act::Judge { prompt, model, means } => {
                    self.judge(prompt, model.as_deref(), *means).await
                }
                act => match (&self.world.hooks, action(act)) {
                    (Some(hooks), Some(action)) => {
                        as_ran(hooks.run(self.hook_call(handler, action, timeout)).await)
                    }
                    _ => not_run("handlers are not run here"),
                },
            }
        };
        // Programs end themselves by their time; this is for the others.
        let late = timeout.saturating_add(Duration::from_secs(1));
        let most = if action(&handler.act).is_some() { late } else { timeout };
        tokio::time::timeout(most, running).await.unwrap_or(Ran {
            ended: HandlerExit::TimedOut,
            stdout: String::new(),
            stderr: String::new(),
        })
    }

    /// Starts one that nobody waits for.
    pub(super) fn start(self, handler: &Handler) {
        let timeout = self.time_of(handler);
        if let (Some(hooks), Some(action)) = (&self.world.hooks, action(&handler.act)) {
            hooks.start(self.hook_call(handler, action, timeout));
            return;
        }
        self.beside(handler, |_, _| {});
    }

    /// Starts one that wakes the conversation where it blocks.
    pub(super) fn start_waking(self, handler: &Handler) {
        self.beside(handler, |own, ran| {
            if ran.ended != HandlerExit::Code(2) {
                return;
            }
            let said = [&ran.stderr, &ran.stdout].into_iter().find(|text| !text.trim().is_empty());
            let said = own.config.redact(said.map_or("no reason was given", |text| text.trim()));
            let said: String = said.chars().take(own.config.limits.hooks.output_chars).collect();
            let name = own.event.name();
            own.agents.tell_main(Attachment {
                kind: FEEDBACK.into(),
                rendered: reminder(&format!("The {name} hook objects: {said}")),
                data: json!({ "hookEvent": name }),
                provenance: Some(Source::Hook.into()),
            });
        });
    }

    fn beside(self, handler: &Handler, then: impl FnOnce(&Self, &Ran) + Send + 'static) {
        let (handler, background) = (handler.clone(), self.agents.seat().background.clone());
        let title = format!("hook: {}", handler.name());
        let deadline = self.time_of(&handler).saturating_add(Duration::from_secs(2));
        let source = QuerySource::Agent(HANDLER_KIND.into());
        background.start(&title, source, deadline, |task| async move {
            tokio::select! {
                ran = self.run(&handler) => then(&self, &ran),
                () = task.cancel().cancelled() => {}
            }
            Ok::<(), Infallible>(())
        });
    }

    fn time_of(&self, handler: &Handler) -> Duration {
        let limits = &self.config.limits.hooks;
        let usual = match (&handler.act, self.event) {
            (Act::Judge { means: Means::Words, .. }, _) => limits.judge_timeout_s,
            (Act::Judge { means: Means::Tools, .. }, _) => limits.agent_timeout_s,
            (_, HookEvent::UserPromptSubmit) => limits.prompt_timeout_s,
            _ => limits.timeout_s,
        };
        let timeout = Duration::from_secs(handler.timeout_s.unwrap_or(usual));
        if self.event == HookEvent::SessionEnd {
            return timeout.min(Duration::from_millis(limits.session_end_ms));
        }
        timeout
    }

    fn hook_call(&self, handler: &Handler, action: HookAction, timeout: Duration) -> HookCall {
        let project = self.config.workplace.roots.first().cloned().unwrap_or_default();
        let mut env = handler.env.clone();
        env.insert(HOOK_PROJECT_DIR.into(), project.display().to_string());
        if let Some(file) = &self.env_file {
            env.insert(HOOK_ENV_FILE.into(), file.display().to_string());
        }
        HookCall {
            action,
            input: self.input.clone(),
            cwd: self.cwd.clone(),
            env,
            timeout,
            output_bytes: self.config.limits.hooks.output_bytes,
        }
    }

    /// Calls a tool of a server: what it answers is what a program would print.
    async fn call(&self, server: &str, tool: &str, arguments: &Map<String, Value>) -> Ran {
        let Some(servers) = &self.world.servers else {
            return not_run(format!("unknown server {server:?}"));
        };
        servers.connect();
        let input = serde_json::from_str(&self.input).unwrap_or(Value::Null);
        match servers.call(server, tool, filled_arguments(arguments, &input), None).await {
            Err(error) => not_run(error.to_string()),
            Ok(result) => {
                let texts = result.content.iter().filter_map(|part| part.get("text")?.as_str());
                let text = texts.collect::<Vec<_>>().join("\n");
                if result.is_error {
                    return Ran {
                        ended: HandlerExit::Code(1),
                        stdout: String::new(),
                        stderr: text,
                    };
                }
                Ran { ended: HandlerExit::Code(0), stdout: text, stderr: String::new() }
            }
        }
    }

    async fn judge(&self, prompt: &str, model: Option<&str>, means: Means) -> Ran {
        let asked = filled_prompt(prompt, &self.input);
        let answer = match means {
            Means::Words => self.ask(&asked, model).await,
            Means::Tools => self.send_agent(asked, model).await,
        };
        match answer {
            Ok(text) => judgement(&text),
            Err(why) => not_run(why.to_string()),
        }
    }

    async fn ask(&self, prompt: &str, model: Option<&str>) -> Result<String, NoJudgement> {
        let config = &self.config;
        let model = model.map_or_else(|| config.models.small.clone(), ModelId::new);
        let dialect = self.world.model.dialect();
        let params = config.side_params(&model, dialect, config.limits.hooks.judge_tokens);
        let request =
            side_request(config, params, JUDGE.trim(), prompt).ok_or(NoJudgement::NoRequest)?;
        let source = QuerySource::Agent(HANDLER_KIND.into());
        let reply = collect(&*self.world.model, request, source.clone()).await?;
        let text = crate::session::prompt::text_of(&reply.blocks);
        self.books.add(Booking::new(source, reply.model, reply.usage, &config.models.table));
        Ok(text)
    }

    /// Sends an agent that only looks, and waits for its last words.
    async fn send_agent(&self, prompt: String, model: Option<&str>) -> Result<String, NoJudgement> {
        let parent = self.parent.as_ref().ok_or(StartError::NotHere)?;
        let looking = self.agents.roster().get("explore").cloned();
        let kind = Definition {
            model: model.map(str::to_owned),
            tools: looking.as_ref().and_then(|kind| kind.tools.clone()),
            disallowed: looking.map(|kind| kind.disallowed).unwrap_or_default(),
            max_turns: Some(self.config.limits.hooks.agent_requests),
            ..Definition::new(HANDLER_KIND, "judges for a hook", JUDGE)
        };
        let order = Order {
            description: format!("judges for the {} hook", self.event.name()),
            prompt,
            provenance: Source::Hook.into(),
            kind: None,
            running: Some(Running::Foreground),
            isolation: None,
            name: None,
        };
        let call = ToolUseId::new("hook");
        match self.agents.start_kind(parent, Some(kind), order, &call).await? {
            Started::Ended(finished) if finished.success => Ok(finished.text),
            Started::Ended(finished) => Err(NoJudgement::Agent(finished.how)),
            Started::Background { .. } => Err(NoJudgement::Unfinished),
        }
    }
}

/// Why a model that was to judge for a hook did not.
#[derive(Debug, thiserror::Error)]
enum NoJudgement {
    #[error("no request could be made")]
    NoRequest,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("{0}")]
    Agent(String),
    #[error("it did not come to an end")]
    Unfinished,
}

fn not_run(why: impl Into<String>) -> Ran {
    Ran { ended: HandlerExit::NotRun(why.into()), stdout: String::new(), stderr: String::new() }
}

/// What a program or a request does; none for the others.
fn action(act: &Act) -> Option<HookAction> {
    Some(match act.clone() {
        Act::Shell(command) => HookAction::Shell(command),
        Act::Program { command, args } => HookAction::Program { command, args },
        Act::Http { url, headers, allowed } => HookAction::Http { url, headers, allowed },
        Act::Server { .. } | Act::Judge { .. } => return None,
    })
}
