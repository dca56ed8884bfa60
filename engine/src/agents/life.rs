//! The life of an agent: its turns, what it says meanwhile, its end.

use super::checkout::Checkout;
use super::summary::Summing;
use super::{Agents, Finished, SharedInbox, locked};
use crate::background::TaskHandle;
use crate::event::{EndReason, Event, TurnEnd};
use crate::session::prompt::Prompt;
use crate::session::{Converse, Error, Session, effects, reminder};
use everfold_kernel::phrase::counted;
use everfold_kernel::ports::Servers;
use everfold_kernel::provenance::Source;
use everfold_kernel::{Block, Usage, UserOrigin};
use everfold_mail::apply::{self, EndedAgent};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Characters of a line about what an agent does.
const LINE_CHARS: usize = 120;

/// How an agent ended that did not do what it was sent for.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct AgentFailed(String);

#[derive(Clone, Debug)]
pub(super) struct Brief {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) description: String,
}

/// An agent that lives. However it ends, its parent is told once.
pub(super) struct Life {
    agents: Agents,
    brief: Brief,
    tree: Option<Checkout>,
    inbox: SharedInbox,
    /// Who waits for it; nobody for one in the background.
    reply: Option<oneshot::Sender<Box<Finished>>>,
    /// Servers that end with it.
    servers: Option<Arc<dyn Servers>>,
    over: Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    No,
    Yes,
}

/// What an agent has done so far.
#[derive(Default)]
struct Tally {
    usage: Usage,
    tool_calls: u32,
    requests: u32,
    over_budget: Option<u64>,
}

impl Life {
    pub(super) fn new(
        agents: Agents,
        brief: Brief,
        tree: Option<Checkout>,
        inbox: SharedInbox,
        reply: Option<oneshot::Sender<Box<Finished>>>,
    ) -> Self {
        Self { agents, brief, tree, inbox, reply, servers: None, over: Over::No }
    }

    /// The same with servers that end with it.
    pub(super) fn with_servers(mut self, servers: Option<Arc<dyn Servers>>) -> Self {
        self.servers = servers;
        self
    }

    /// Lives until the task is done and nothing waits any more.
    pub(super) async fn run(
        mut self,
        mut session: Session,
        placeholders: Vec<Block>,
        prompt: Prompt,
        task: TaskHandle,
    ) -> Result<(), AgentFailed> {
        let mut tally = Tally::default();
        let mut summing = Summing::new(&self.agents, &mut session);
        let begun = if placeholders.is_empty() {
            Ok(())
        } else {
            let placeholders = Prompt::of(Source::Command, placeholders);
            reminder::append_user(&mut session, placeholders, UserOrigin::ToolResult).await
        };
        let mut next = Some(prompt);
        let ended = match begun {
            Err(error) => Err(error),
            Ok(()) => loop {
                let end =
                    one_turn(&mut session, next.take(), &task, &mut tally, &mut summing).await;
                match end {
                    Ok(end) if end.reason.is_success() && !self.closes() => {}
                    other => break other,
                }
            },
        };
        let _ = effects::book_side_queries(&mut session).await;
        let source = session.state.fold.lowest().unwrap_or(Source::Person).max(Source::Model);
        drop(session);
        if let Some(servers) = self.servers.take() {
            servers.shutdown().await;
        }
        let (how, success, text) = told(ended, &tally, &task);
        let more = self.finish_tree().await;
        let finished = Finished {
            id: self.brief.id.clone(),
            how: how.clone(),
            success,
            text,
            more,
            requests: tally.requests,
            tool_calls: tally.tool_calls,
            usage: tally.usage,
            source,
        };
        self.end(&finished);
        if success { Ok(()) } else { Err(AgentFailed(how)) }
    }

    /// Whether it may end: nothing waits for it, or it said that it ends.
    fn closes(&self) -> bool {
        let leaves = self.agents.is_leaving(&self.brief.id);
        leaves || locked(&self.inbox).close_if_empty()
    }

    /// Says where changes are; a worktree without any is gone.
    async fn finish_tree(&mut self) -> String {
        match self.tree.take() {
            Some(tree) => self.agents.check_in(&tree).await,
            None => String::new(),
        }
    }

    fn end(&mut self, finished: &Finished) {
        if self.over == Over::Yes {
            return;
        }
        self.over = Over::Yes;
        let left = locked(&self.inbox).close();
        if !left.is_empty() {
            tracing::warn!(
                agent = self.brief.id,
                letters = left.len(),
                "an agent ended before it read all"
            );
        }
        // Whoever waited and went away wanted it no longer.
        let reply = self.reply.take();
        let in_background = reply.is_none();
        if let Some(reply) = reply {
            let _ = reply.send(Box::new(finished.clone()));
        }
        let mut state = self.agents.state();
        state.members.remove(&self.brief.id);
        state.leaving.remove(&self.brief.id);
        if in_background {
            state.ended.push(apply::ended(&EndedAgent {
                id: &self.brief.id,
                kind: &self.brief.kind,
                description: &self.brief.description,
                how: &finished.how,
                text: &finished.text,
                more: &finished.more,
                source: finished.source,
            }));
        }
        drop(state);
        self.agents.0.news.notify_one();
    }
}

impl Drop for Life {
    /// It was ended from outside, in the middle of something.
    fn drop(&mut self) {
        let more = match &self.tree {
            Some(tree) => format!("Its worktree is {}.", tree.place()),
            None => String::new(),
        };
        self.end(&Finished {
            id: self.brief.id.clone(),
            how: "stopped".into(),
            success: false,
            text: String::new(),
            more,
            requests: 0,
            tool_calls: 0,
            usage: Usage::default(),
            source: Source::Model,
        });
    }
}

/// One turn: with a prompt, or with what waits.
async fn one_turn(
    session: &mut Session,
    prompt: Option<Prompt>,
    task: &TaskHandle,
    tally: &mut Tally,
    summing: &mut Summing,
) -> Result<TurnEnd, Error> {
    let (sender, mut events) = mpsc::unbounded_channel();
    session.watch(sender);
    let budget = session.config.limits.agents.budget_tokens;
    let stop = task.cancel().child_token();
    let running = async {
        match prompt {
            Some(prompt) => session.converse(prompt, &stop).await,
            None => Ok(session.go_on(&stop).await?.unwrap_or_default()),
        }
    };
    let mut running = std::pin::pin!(running);
    let end = loop {
        tokio::select! {
            biased;
            end = &mut running => break end,
            Some(event) = events.recv() => note(&event, task, tally, budget, &stop),
            said = summing.next() => task.phase(&said),
        }
    };
    while let Ok(event) = events.try_recv() {
        note(&event, task, tally, budget, &stop);
    }
    if let Ok(end) = &end {
        tally.requests += end.requests;
    }
    end
}

fn note(
    event: &Event,
    task: &TaskHandle,
    tally: &mut Tally,
    budget: u64,
    stop: &CancellationToken,
) {
    match event {
        Event::ToolStarted { name, input, .. } => {
            tally.tool_calls += 1;
            task.say(
                format!("{name} {}", telling(input)).chars().take(LINE_CHARS).collect::<String>(),
            );
        }
        Event::Compacted { .. } => task.say("compacted its conversation"),
        Event::Notice(text) => task.say(text.clone()),
        Event::Booked(booking) => {
            tally.usage.add(&booking.usage);
            let used = &tally.usage;
            let paid = used.input.saturating_add(used.cache_write()).saturating_add(used.output);
            if budget > 0 && paid > budget && tally.over_budget.is_none() {
                tally.over_budget = Some(budget);
                stop.cancel();
            }
        }
        _ => {}
    }
}

/// The argument that says best what a call does.
fn telling(input: &Value) -> String {
    const TELLING: &[&str] =
        &["file_path", "command", "pattern", "url", "path", "to", "description"];
    let found = TELLING.iter().find_map(|name| input.get(name)?.as_str());
    found.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

/// How it ended, whether well, and its last words.
fn told(ended: Result<TurnEnd, Error>, tally: &Tally, task: &TaskHandle) -> (String, bool, String) {
    let end = match ended {
        Ok(end) => end,
        Err(error) => return (format!("failed: {error}"), false, String::new()),
    };
    let how = match &end.reason {
        EndReason::Completed => "completed".to_owned(),
        EndReason::OutputLimit => {
            "completed; its last message was cut off at the token limit".to_owned()
        }
        EndReason::Refused => "failed: the model declined to answer".to_owned(),
        EndReason::TooManyRequests(count) => {
            format!("stopped after {}, which is its limit", counted((*count).into(), "request"))
        }
        EndReason::SpendingCeiling(spent) => {
            format!("stopped: summaries and retries cost ${:.2}", spent.0)
        }
        EndReason::Cancelled => match tally.over_budget {
            Some(budget) => format!("stopped: it has spent its budget of {budget} tokens"),
            None if task.cancel().is_cancelled() => {
                "stopped by the person or at its deadline".to_owned()
            }
            None => "stopped".to_owned(),
        },
        EndReason::Failed(why) => format!("failed: {why}"),
    };
    (how, end.reason.is_success(), end.text)
}
