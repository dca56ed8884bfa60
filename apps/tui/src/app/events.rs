//! What the engine and the commands tell, on the screen.

use super::{Act, App, Phase};
use crate::page::PageWrite;
use crate::question::Asked;
use crate::style::TextStyle;
use crate::transcript_view::{Kind, Ruler, State, ToolCall, task_ended};
use crate::worker::WorkerEvent;
use everfold_agent::{Block, EndReason, Event, TaskView, TurnEnd};
use everfold_kernel::phrase::counted;
use everfold_kernel::record::Decision;
use everfold_kernel::{BlockView, Entry, QuerySource, Record, UserOrigin};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Results of more bytes are freed elsewhere.
const LARGE_BYTES: usize = 1 << 20;

impl App {
    /// Takes what is told.
    pub(crate) fn told(&mut self, told: WorkerEvent) -> Vec<Act> {
        // A server may take its question back.
        self.questions.retain(|asked| !asked.is_void());
        match told {
            WorkerEvent::Event(event) => self.event(*event),
            WorkerEvent::Said(PageWrite::Text(look, text)) => self.written.push((look, text)),
            WorkerEvent::Said(said) => return vec![Act::Said(said)],
            WorkerEvent::Question(question, change) => {
                self.questions.push_back(Asked::new(question, change));
                if self.rings(Instant::now()) {
                    return vec![Act::Ring("everfold asks".to_owned())];
                }
            }
            WorkerEvent::WentOn => self.begin("reading what agents wrote"),
            WorkerEvent::TurnEnded(end) => return self.turn_ended(end),
            WorkerEvent::CommandEnded(done) => return self.command_ended(done),
            WorkerEvent::Status(status) => {
                let first = self.status.replace(status).is_none();
                if first && self.phase == Phase::Rest {
                    return self.next_waiting();
                }
            }
            WorkerEvent::Changed(cells, commands) => {
                self.input.know(commands.clone());
                self.commands = commands;
                self.talk.replace(cells);
            }
            WorkerEvent::Panel(panel) => return self.open(panel),
            // The next frame shows it.
            WorkerEvent::Looked => {}
            WorkerEvent::Files(files) => self.input.know_files(files),
            WorkerEvent::Shell { id, text, failed, took } => {
                return self.shell_ended(&id, &text, failed, took);
            }
            WorkerEvent::StatusLine(line) => self.own_line = Some(line),
            WorkerEvent::Left => return vec![Act::End],
        }
        Vec::new()
    }

    fn begin(&mut self, doing: &str) {
        self.phase = Phase::Turn { since: Instant::now(), doing: doing.to_owned() };
    }

    fn doing(&mut self, now: impl Into<String>) {
        if let Phase::Turn { doing, .. } = &mut self.phase {
            *doing = now.into();
        }
    }

    fn turn_ended(&mut self, end: anyhow::Result<Box<TurnEnd>>) -> Vec<Act> {
        let rings = self.rings(Instant::now());
        self.phase = Phase::Rest;
        self.talk.settle();
        self.take_up();
        match end {
            Err(why) => self.notice(TextStyle::Red, format!("error: {why}")),
            Ok(end) => {
                if let Some((look, text)) = said(&end.reason) {
                    self.notice(look, text);
                }
            }
        }
        // What the turn did not take up begins the next one.
        if let Some(status) = &self.status {
            let _ = status.queue.take();
        }
        let mut acts = self.next_waiting();
        if rings && acts.is_empty() {
            acts.push(Act::Ring("everfold is done".to_owned()));
        }
        acts
    }

    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.text(&text),
            Event::Thinking(text) => self.thinking(&text),
            Event::Recorded(record) => {
                self.recorded(&record.entry);
                let_go(record);
            }
            Event::ToolStarted { .. } | Event::ToolRefused { .. } | Event::ToolEnded { .. } => {
                self.tool(event);
            }
            Event::Retrying { attempt, most, wait, reason } => {
                let seconds = wait.as_secs_f32();
                let told =
                    format!("attempt {attempt} of {most} failed; retrying in {seconds:.1} s");
                self.doing(told);
                // The reason is long, and the same each time.
                if attempt == 1 {
                    self.notice(TextStyle::Yellow, format!("retrying the request: {reason}"));
                }
            }
            Event::Waiting { waited, reason } => {
                self.doing(format!("waiting for {} s: {reason}", waited.as_secs()));
            }
            Event::Restarted { reason } => {
                self.talk.take_back();
                self.notice(TextStyle::Yellow, format!("restarting the answer: {reason}"));
            }
            Event::ModelSwitched { from, to, reason } => {
                let text = format!("switched from {from} to {to}: {reason}");
                self.notice(TextStyle::Yellow, text);
            }
            Event::Compacted { report, line } => {
                self.talk.push(Kind::Compacted(Box::new(Ruler::of(report, line))));
            }
            Event::Recalled { paths } => self.talk.push(Kind::Recalled(paths)),
            Event::Remembered { kept, how } => self.talk.push(Kind::Remembered(kept, how)),
            Event::Offered(waiting) => {
                let told = waiting.told();
                self.talk.push(Kind::Aside(format!(
                    "in the inbox, and it would have helped: {told} · Ctrl-Y accepts it"
                )));
                self.offered = Some(waiting);
            }
            Event::Housekeeping(text) => self.talk.push(Kind::Aside(text)),
            Event::Notice(text) => self.notice(TextStyle::Yellow, text),
            Event::Booked(booking) => {
                if let Some(status) = &mut self.status {
                    status.booked(&booking);
                }
            }
            Event::Task(task) => self.task(&task),
        }
    }

    /// A call begins, is refused, or ends.
    fn tool(&mut self, event: Event) {
        match event {
            Event::ToolStarted { id, name, input } => {
                self.doing(format!("running {name}"));
                let call = ToolCall::new(id.as_str(), &name, input);
                self.talk.push(Kind::Tool(Box::new(call)));
            }
            Event::ToolRefused { id, name, input, reason } => {
                let mut call = ToolCall::new(id.as_str(), &name, input);
                call.refused(&reason);
                self.talk.push(Kind::Tool(Box::new(call)));
            }
            Event::ToolEnded { id, is_error, duration, .. } => {
                self.doing("thinking");
                if let Some(call) = self.talk.tool_mut(id.as_str())
                    && call.state != State::Refused
                {
                    let took = Some(duration);
                    call.state = if is_error { State::Failed(took) } else { State::Done(took) };
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        self.doing("answering");
        self.talk.text(text);
    }

    fn thinking(&mut self, more: &str) {
        self.doing("thinking");
        self.talk.thinking(more);
    }

    /// An agent that came to its end is told of; other tasks have their pill.
    fn task(&mut self, task: &TaskView) {
        if matches!(task.source, QuerySource::Agent(_))
            && let Some(text) = task_ended(task)
        {
            self.talk.push(Kind::Aside(text));
        }
    }

    /// A command of the person's shell is done; they want to see what it said.
    fn shell_ended(&mut self, id: &str, text: &str, failed: bool, took: Duration) -> Vec<Act> {
        self.phase = Phase::Rest;
        if let Some(call) = self.talk.tool_mut(id) {
            call.answered(&Value::from(text), None);
            let took = Some(took);
            call.state = if failed { State::Failed(took) } else { State::Done(took) };
        }
        self.talk.unfold_tool(id);
        self.next_waiting()
    }

    /// A record: the results of tools come this way, and what was typed
    /// meanwhile.
    fn recorded(&mut self, entry: &Entry) {
        match entry {
            Entry::User(user) if user.origin == UserOrigin::Human => {
                let text: Vec<String> = user.content.iter().map(Block::plain_text).collect();
                self.taken(&text.join("\n"));
            }
            Entry::User(user) => {
                for block in &user.content {
                    if let BlockView::ToolResult { id, content, .. } = block.view()
                        && let Some(call) = self.talk.tool_mut(id)
                    {
                        call.answered(content, user.tool_use_result.as_ref());
                    }
                }
            }
            Entry::Decision(Decision::Spilled(spilled)) => {
                if let Some(call) = self.talk.tool_mut(spilled.tool_use_id.as_str()) {
                    call.result.moved(&spilled.replacement);
                }
            }
            _ => {}
        }
    }
}

/// Frees a record. A large one takes longer than a frame may, so that another
/// thread does it.
fn let_go(record: Box<Record>) {
    let Entry::User(user) = &record.entry else { return };
    let bytes = |block: &Block| match block.view() {
        BlockView::ToolResult { content: Value::String(text), .. } => text.len(),
        _ => 0,
    };
    if user.content.iter().map(bytes).sum::<usize>() > LARGE_BYTES {
        std::thread::spawn(move || drop(record));
    }
}

fn said(reason: &EndReason) -> Option<(TextStyle, String)> {
    Some(match reason {
        EndReason::Completed => return None,
        EndReason::OutputLimit => {
            (TextStyle::Yellow, "the answer was cut off at the token limit".to_owned())
        }
        EndReason::Refused => (TextStyle::Yellow, "the model declined to answer".to_owned()),
        EndReason::TooManyRequests(count) => {
            let requests = counted((*count).into(), "request");
            (TextStyle::Yellow, format!("stopped after {requests}; say \"continue\" for more"))
        }
        EndReason::Cancelled => (TextStyle::Yellow, "stopped".to_owned()),
        EndReason::SpendingCeiling(spent) => {
            let spent = spent.0;
            (TextStyle::Yellow, format!("stopped: summaries and retries cost ${spent:.2}"))
        }
        EndReason::Failed(why) => (TextStyle::Red, format!("error: {why}")),
    })
}
