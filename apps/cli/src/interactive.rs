//! `mnemon`: a conversation in the terminal, line by line.
//!
//! Questions of tools travel to this loop by a channel and are asked here, so
//! that what was printed before them is on the screen first. Input may be a
//! pipe: then lines are taken in their order, prompts and answers alike.

use crate::args::Talk;
use crate::fail;
use crate::pick::{self, Opened, Target};
use crate::present::{Look, Presenter};
use crate::setup::{self, Ground};
use crate::signals::{Signals, Stop};
use anyhow::Result;
use futures_util::StreamExt;
use mnemon::kernel::ports::Answer;
use mnemon::kernel::settings::Surface;
use mnemon::{Agent, EndReason, Session, TaskStatus, TaskView, Turn, TurnEnd};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

mod ask;
mod commands;
mod compact;
mod context;
mod lines;
mod memory;
mod messages;
mod notes;
mod show;
mod tasks;
mod trusting;

use ask::{Asker, Question};
use lines::Lines;
use show::Show;

/// Whether the conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    GoOn,
    Quit,
}

/// What the loop waits for.
enum Heard {
    /// The person.
    Line(String),
    /// Agents: letters have come, or one has ended.
    News,
    /// The end of the input.
    End,
}

/// A conversation with a person.
struct Repl<'a> {
    ground: &'a Ground,
    agent: &'a Agent,
    presenter: Presenter,
    lines: Lines,
    signals: Signals,
    questions: UnboundedReceiver<Question>,
    session: Session,
    /// What follows the turn that is running.
    after: Flow,
}

/// Talks until the person leaves.
pub(crate) async fn run(ground: &Ground, talk: &Talk, presenter: &Presenter) -> Result<ExitCode> {
    let (asker, questions) = Asker::new();
    let mut lines = Lines::start();
    trusting::ask(ground, talk, presenter, &mut lines).await?;
    let agent = setup::for_talk(ground, talk, Surface::Interactive, Arc::new(asker)).await?;
    let ended = converse(ground, &agent, talk, *presenter, lines, questions).await;
    agent.shutdown().await;
    ended
}

async fn converse(
    ground: &Ground,
    agent: &Agent,
    talk: &Talk,
    presenter: Presenter,
    mut lines: Lines,
    questions: UnboundedReceiver<Question>,
) -> Result<ExitCode> {
    let mut signals = Signals::take()?;
    let target = match pick::target(agent, &talk.which).await? {
        Target::Ask => match choose(agent, &presenter, &mut lines, &mut signals, "").await? {
            Some(id) => Target::Old(id),
            None => return Ok(ExitCode::SUCCESS),
        },
        target => target,
    };
    let opened = pick::open(agent, &talk.which, target).await?;
    note_damage(agent, &presenter, &opened);
    let session = opened.session;
    let after = Flow::GoOn;
    let mut repl = Repl { ground, agent, presenter, lines, signals, questions, session, after };
    repl.session.open_mail().await;
    repl.greet()?;
    if talk.which.private {
        repl.presenter.line("private: nothing is recalled, saved or kept")?;
    } else {
        memory::tell_waiting(&repl);
    }
    let ended = repl.run(talk.prompt.clone()).await;
    repl.finish("prompt_input_exit").await?;
    ended
}

fn note_damage(agent: &Agent, presenter: &Presenter, opened: &Opened) {
    if let Some(damage) = opened.damage() {
        presenter.note(Look::Yellow, &format!("note: {damage}"));
    }
    for note in setup::notes(agent, &opened.session) {
        presenter.note(Look::Yellow, &format!("note: {note}"));
    }
}

/// Lets the person choose a session, by number or by search.
async fn choose(
    agent: &Agent,
    presenter: &Presenter,
    lines: &mut Lines,
    signals: &mut Signals,
    query: &str,
) -> Result<Option<mnemon::SessionId>> {
    let sessions = agent.sessions().await?;
    let mut query = query.trim().to_owned();
    loop {
        let found = pick::search(&sessions, &query);
        if found.is_empty() {
            presenter.line("no session has these words")?;
        }
        let now = mnemon::kernel::Timestamp::now();
        for (at, entry) in found.iter().take(pick::SHOWN).enumerate() {
            presenter.line(&format!("{:>3}{}", at + 1, pick::row(entry, now)))?;
        }
        presenter.styled(Look::Dim, "number, words to search for, or nothing to leave: ")?;
        let line = tokio::select! {
            line = lines.next() => line.unwrap_or_default(),
            _ = signals.next() => String::new(),
        };
        let line = line.trim();
        if !lines.are_typed() || line.is_empty() {
            presenter.line(line)?;
        }
        if line.is_empty() {
            return Ok(None);
        }
        if let Ok(number) = line.parse::<usize>()
            && let Some(entry) = found.get(number.wrapping_sub(1))
        {
            return Ok(Some(entry.session.clone()));
        }
        line.clone_into(&mut query);
    }
}

impl Repl<'_> {
    fn greet(&self) -> Result<()> {
        let name = setup::model_name(self.agent, &self.session);
        self.presenter.styled(Look::Bold, &format!("mnemon {}", env!("CARGO_PKG_VERSION")))?;
        self.presenter.line(&format!("  {name}"))?;
        if let Some(notice) = setup::offline_notice(self.agent) {
            self.presenter.styled(Look::Yellow, &format!("{notice}\n"))?;
        }
        let cwd = &self.session.config().surroundings.cwd;
        self.presenter.line(&format!("{cwd}  session {}", self.session.id()))?;
        self.presenter.styled(Look::Dim, "/help for commands, Ctrl-C stops, Ctrl-D leaves\n")?;
        Ok(())
    }

    async fn run(&mut self, first: Option<String>) -> Result<ExitCode> {
        let mut heard = first.map(Heard::Line);
        // News that led to nothing are not asked for again and again.
        let mut listens = true;
        loop {
            let now = match heard.take() {
                Some(now) => now,
                None => self.read(listens).await?,
            };
            let flow = match &now {
                Heard::End => return Ok(ExitCode::SUCCESS),
                Heard::News => self.turn(None).await.map(|(flow, requests)| {
                    listens = requests > 0;
                    flow
                }),
                Heard::Line(line) => {
                    listens = true;
                    let prompt = line.trim();
                    match prompt.strip_prefix('/') {
                        _ if prompt.is_empty() => continue,
                        Some(command) => commands::run(self, command).await,
                        None => self.turn(Some(prompt)).await.map(|(flow, _)| flow),
                    }
                }
            };
            match flow {
                Ok(Flow::GoOn) if !self.session.is_leaving() => {}
                Ok(_) => return Ok(ExitCode::SUCCESS),
                Err(error) => {
                    // What the terminal cannot be told, nobody can.
                    let told = fail::told(&error);
                    let Some(message) = told.message else { return Err(error) };
                    self.presenter.note(Look::Red, &format!("error: {message}"));
                    if let Some(hint) = told.hint {
                        self.presenter.note(Look::Dim, &format!("hint: {hint}"));
                    }
                }
            }
        }
    }

    /// Lets what runs in the background come to its end before the session is
    /// left; a signal ends the wait.
    async fn finish(&mut self, reason: &str) -> Result<()> {
        self.session.end_hooks(reason).await?;
        let running = |task: &TaskView| task.status == TaskStatus::Running;
        if self.session.background().list().iter().any(running) {
            self.presenter.styled(Look::Dim, "finishing background work; Ctrl-C leaves now\n")?;
        }
        let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
        self.session.watch(sender);
        let done = tokio::select! {
            done = self.session.finish() => done,
            _ = self.signals.next() => Ok(()),
        };
        let mut show = Show::new(self.presenter);
        while let Ok(event) = events.try_recv() {
            show.event(&event)?;
        }
        Ok(done?)
    }

    /// Reads a prompt; a backslash at the end of a line goes on with the next.
    async fn read(&mut self, listens: bool) -> Result<Heard> {
        let mut prompt = String::new();
        let mut warned = false;
        loop {
            if self.lines.are_typed() && self.presenter.is_terminal() {
                let mark = if prompt.is_empty() { "> " } else { ". " };
                self.presenter.styled(Look::Bold, mark)?;
            }
            let line = tokio::select! {
                biased;
                line = self.lines.next() => line,
                stop = self.signals.next() => {
                    if warned || stop == Stop::Terminate {
                        return Ok(Heard::End);
                    }
                    warned = true;
                    prompt.clear();
                    self.presenter.line("\nCtrl-C again or Ctrl-D leaves")?;
                    continue;
                }
                () = self.session.news(), if listens && prompt.is_empty() => {
                    if self.lines.are_typed() && self.presenter.is_terminal() {
                        self.presenter.line("")?;
                    }
                    return Ok(Heard::News);
                }
            };
            let Some(line) = line else {
                return Ok(if prompt.is_empty() { Heard::End } else { Heard::Line(prompt) });
            };
            let Some(start) = line.strip_suffix('\\') else {
                prompt.push_str(&line);
                return Ok(Heard::Line(prompt));
            };
            prompt.push_str(start);
            prompt.push('\n');
        }
    }

    /// A turn, with a prompt or with what agents wrote; and how many requests
    /// it took.
    async fn turn(&mut self, prompt: Option<&str>) -> Result<(Flow, u32)> {
        let Some(end) = self.run_turn(prompt).await? else { return Ok((Flow::Quit, 0)) };
        if let Some(failure) = failure(&end.reason) {
            self.presenter.note(Look::Red, &failure);
        }
        let (count, window) = (self.session.fold().count(), self.session.window());
        if count > window.warning {
            let left = window.auto_compact.0.saturating_sub(count.0);
            let text = format!("{left} tokens are left before the conversation is too long");
            self.presenter.note(Look::Yellow, &text);
        }
        Ok((self.after, end.requests))
    }

    /// Runs a turn; none where it did not stop when it was told to.
    async fn run_turn(&mut self, prompt: Option<&str>) -> Result<Option<TurnEnd>> {
        let Self { presenter, lines, signals, questions, session, after, .. } = self;
        let queue = session.queue();
        let mut show = Show::new(*presenter);
        let mut turn = match prompt {
            Some(prompt) => Turn::new(session, prompt),
            None => Turn::go_on(session),
        };
        let stop = turn.canceller();
        loop {
            tokio::select! {
                // What happened before a question is shown before it.
                biased;
                event = turn.next() => {
                    let Some(event) = event else {
                        show.end()?;
                        return Ok(Some(turn.end().await?));
                    };
                    show.event(&event)?;
                }
                Some(question) = questions.recv() => {
                    show.end()?;
                    // What was typed before the question is no answer to it.
                    for line in lines.typed_ahead() {
                        queue.push(line);
                    }
                    let answer = tokio::select! {
                        answer = ask::ask(presenter, lines, &question.ask) => answer?,
                        signal = signals.next() => {
                            *after = follows(signal);
                            stop.cancel();
                            Answer::Deny { reason: "the person stopped the turn".into() }
                        }
                    };
                    question.answer(answer);
                }
                signal = signals.next() => {
                    *after = follows(signal);
                    if stop.is_cancelled() {
                        // It does not stop: the person wants out.
                        return Ok(None);
                    }
                    stop.cancel();
                }
            }
        }
    }
}

/// Ctrl-C stops a turn; all else ends the conversation.
fn follows(signal: Stop) -> Flow {
    match signal {
        Stop::Interrupt => Flow::GoOn,
        Stop::Terminate => Flow::Quit,
    }
}

fn failure(reason: &EndReason) -> Option<String> {
    match reason {
        EndReason::Completed => None,
        EndReason::OutputLimit => Some("the answer was cut at its limit of tokens".into()),
        EndReason::Refused => Some("the model declined to answer".into()),
        EndReason::TooManyRequests(count) => {
            Some(format!("stopped after {count} requests; say \"go on\" for more"))
        }
        EndReason::Cancelled => Some("stopped".into()),
        EndReason::Failed(why) => Some(format!("error: {why}")),
    }
}
