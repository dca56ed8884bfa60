//! `everfold`: a conversation in the terminal, line by line.
//!
//! Questions of tools travel to this loop by a channel and are asked here, so
//! that what was printed before them is on the screen first. Input may be a
//! pipe: then lines are taken in their order, prompts and answers alike.

use crate::args::Talk;
use crate::commands::{CommandContext, Flow, Hands, memory, registry};
use crate::failure;
use crate::presenter::{Presenter, TextStyle, counted};
use crate::session_picker::{self, Target};
use crate::setup::{self, ProcessEnv};
use crate::signals::{Signals, Stop};
use anyhow::Result;
use everfold_agent::engine::agents;
use everfold_agent::engine::agents::letters;
use everfold_agent::{Agent, Block, CancellationToken, EndReason, Turn, TurnEnd};
use everfold_kernel::ports::Respondent;
use everfold_kernel::settings::Surface;
use everfold_tui::{Question, QuestionSender};
use futures_util::StreamExt;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

mod approval;
mod elicitation;
pub(crate) mod lines;
pub(crate) mod open_question;
mod task_watch;
pub(crate) mod trust_question;
pub(crate) mod turn_view;

use lines::Lines;
use open_question::Typed;
use turn_view::Show;

/// What the loop waits for.
enum Heard {
    Line(String),
    /// Agents: letters have come, or one has ended.
    News,
    /// The end of the input.
    End,
}

/// A conversation with a person.
struct Repl {
    cx: CommandContext,
    lines: Lines,
    signals: Signals,
    questions: UnboundedReceiver<Question>,
    /// What follows the turn that is running.
    after: Flow,
}

/// Talks until the person leaves.
pub(crate) async fn run(env: &ProcessEnv, talk: &Talk, presenter: &Presenter) -> Result<ExitCode> {
    let (asker, questions) = QuestionSender::new();
    let mut lines = Lines::start();
    if lines.are_typed() {
        trust_question::ask(env, talk, presenter, Some(&mut lines)).await?;
    }
    let asker = Arc::new(asker);
    let person: Arc<dyn Respondent> = asker.clone();
    let agent = setup::for_talk(env, talk, Surface::Interactive, asker, Some(person)).await?;
    let mut signals = Signals::take()?;
    let target = match session_picker::target(&agent, &talk.which).await? {
        Target::Ask => match choose(&agent, presenter, &mut lines, &mut signals, "").await? {
            Some(id) => Target::Old(id),
            None => return Ok(ExitCode::SUCCESS),
        },
        target => target,
    };
    let typed = Typed::Lines(&mut lines, &mut signals);
    let opened = open_question::open(&agent, &talk.which, target, presenter, typed).await?;
    let Some(opened) = opened else { return Ok(ExitCode::from(failure::OPEN_ELSEWHERE)) };
    let damage = opened.damage();
    let hands = if lines.are_typed() { Hands::Here } else { Hands::Elsewhere };
    let cx = CommandContext {
        env: env.clone(),
        agent: Arc::new(agent),
        session: opened.session,
        presenter: presenter.clone(),
        hands,
        stop: CancellationToken::new(),
    };
    let mut repl = Repl { cx, lines, signals, questions, after: Flow::GoOn };
    let ended = repl.converse(talk, damage).await;
    repl.cx.agent.shutdown().await;
    ended
}

/// Lets the person choose a session, by number or by search.
async fn choose(
    agent: &Agent,
    presenter: &Presenter,
    lines: &mut Lines,
    signals: &mut Signals,
    query: &str,
) -> Result<Option<everfold_agent::SessionId>> {
    let sessions = agent.sessions().await?;
    let mut query = query.trim().to_owned();
    loop {
        let found = session_picker::search(&sessions, &query);
        if found.is_empty() {
            presenter.line("no session contains these words")?;
        }
        let now = everfold_kernel::Timestamp::now();
        for (at, entry) in found.iter().take(session_picker::SHOWN).enumerate() {
            presenter.line(&format!("{:>3}{}", at + 1, session_picker::row(entry, now)))?;
        }
        presenter.styled(TextStyle::Dim, "number, words to search for, or Enter to leave: ")?;
        let line = tokio::select! {
            line = lines.answer() => line.unwrap_or_default(),
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

impl Repl {
    async fn converse(&mut self, talk: &Talk, damage: Option<String>) -> Result<ExitCode> {
        for note in self.cx.notes(damage) {
            self.cx.presenter.note(TextStyle::Yellow, &format!("note: {note}"));
        }
        letters::open_mail(&mut self.cx.session).await;
        self.greet()?;
        if talk.which.private {
            self.cx.presenter.line("private: nothing is recalled, saved or kept")?;
        } else {
            memory::tell_waiting(&self.cx);
        }
        let ended = self.run(talk.prompt.clone()).await;
        let (stop, Self { cx, signals, .. }) = (self.cx.stop.clone(), self);
        stopped_by(cx.finish("prompt_input_exit"), signals, &stop).await.1?;
        ended
    }

    fn greet(&self) -> Result<()> {
        let CommandContext { agent, session, presenter, .. } = &self.cx;
        let name = setup::model_name(agent, session);
        presenter.styled(TextStyle::Bold, &format!("everfold {}", env!("CARGO_PKG_VERSION")))?;
        presenter.line(&format!("  {name}"))?;
        if let Some(notice) = setup::offline_notice(agent) {
            presenter.styled(TextStyle::Yellow, &format!("{notice}\n"))?;
        }
        let cwd = &session.config().surroundings.cwd;
        presenter.line(&format!("{cwd}  session {}", session.id()))?;
        presenter.styled(TextStyle::Dim, "/help for commands, Ctrl-C stops, Ctrl-D leaves\n")?;
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
                        Some(command) => self.command(command).await,
                        None if prompt.starts_with('#') => {
                            self.command(&format!("remember {}", prompt.trim_matches('#'))).await
                        }
                        None => self.turn(Some(prompt)).await.map(|(flow, _)| flow),
                    }
                }
            };
            match flow {
                Ok(Flow::Quit) => return Ok(ExitCode::SUCCESS),
                Ok(_) if agents::is_leaving(&self.cx.session) => {
                    return Ok(ExitCode::SUCCESS);
                }
                Ok(_) => {}
                Err(error) => {
                    // What the terminal cannot be told, nobody can.
                    let told = failure::told(&error);
                    let Some(message) = told.message else { return Err(error) };
                    self.cx.presenter.note(TextStyle::Red, &format!("error: {message}"));
                    if let Some(hint) = told.hint {
                        self.cx.presenter.note(TextStyle::Dim, &format!("hint: {hint}"));
                    }
                }
            }
        }
    }

    /// Runs a command, and what it wants of the person.
    async fn command(&mut self, text: &str) -> Result<Flow> {
        let stop = CancellationToken::new();
        self.cx.stop = stop.clone();
        let running = registry::run(&mut self.cx, text);
        let (stopped, flow) = stopped_by(running, &mut self.signals, &stop).await;
        let flow = match flow? {
            Flow::Say(prompt) => self.turn(Some(&prompt)).await?.0,
            Flow::Watch(id) => {
                task_watch::watch(self, &id).await?;
                Flow::GoOn
            }
            Flow::Choose(words) => {
                self.resume(&words).await?;
                Flow::GoOn
            }
            Flow::WentBack(Some(text)) => {
                self.cx.presenter.styled(TextStyle::Dim, &format!("before: {text}\n"))?;
                Flow::GoOn
            }
            flow => flow,
        };
        Ok(if stopped == Some(Stop::Terminate) { Flow::Quit } else { flow })
    }

    async fn resume(&mut self, words: &str) -> Result<()> {
        let Self { cx, lines, signals, .. } = self;
        let Some(id) = choose(&cx.agent, &cx.presenter, lines, signals, words).await? else {
            return Ok(());
        };
        if !open_question::resume(cx, &id, lines, signals).await? {
            return Ok(());
        }
        let count = counted(cx.session.fold().messages().len() as u64, "message");
        cx.presenter.line(&format!("session {}, {count}", cx.session.id()))?;
        Ok(())
    }

    /// Reads a prompt; end a line with a backslash to continue on the next.
    async fn read(&mut self, listens: bool) -> Result<Heard> {
        let mut prompt = String::new();
        let mut warned = false;
        loop {
            if self.lines.are_typed() && self.cx.presenter.is_terminal() {
                let mark = if prompt.is_empty() { "> " } else { ". " };
                self.cx.presenter.styled(TextStyle::Bold, mark)?;
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
                    self.cx.presenter.line("\nCtrl-C again or Ctrl-D leaves")?;
                    continue;
                }
                () = letters::news(&self.cx.session), if listens && prompt.is_empty() => {
                    if self.lines.are_typed() && self.cx.presenter.is_terminal() {
                        self.cx.presenter.line("")?;
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
            self.cx.presenter.note(TextStyle::Red, &failure);
        }
        let (count, window) = (self.cx.session.fold().count(), self.cx.session.window());
        if count > window.warning {
            let left = window.auto_compact.0.saturating_sub(count.0);
            let text = format!("{left} tokens left before the window is full");
            self.cx.presenter.note(TextStyle::Yellow, &text);
        }
        Ok((self.after.clone(), end.requests))
    }

    /// Runs a turn; none where it did not stop when it was told to.
    async fn run_turn(&mut self, prompt: Option<&str>) -> Result<Option<TurnEnd>> {
        let Self { cx, lines, signals, questions, after } = self;
        let CommandContext { presenter, session, agent, .. } = cx;
        let mut show = Show::new(presenter.clone());
        let mut turn = match prompt {
            Some(prompt) => Turn::saying(session, vec![Block::text(prompt)]),
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
                    tokio::select! {
                        asked = approval::put(presenter, lines, question, agent) => asked?,
                        signal = signals.next() => {
                            *after = follows(signal);
                            stop.cancel();
                        }
                    }
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

/// Runs something that can be stopped. The first signal asks it to; and says
/// which one came.
async fn stopped_by<T>(
    work: impl Future<Output = T>,
    signals: &mut Signals,
    stop: &CancellationToken,
) -> (Option<Stop>, T) {
    let mut came = None;
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return (came, done),
            signal = signals.next() => {
                came = Some(signal);
                stop.cancel();
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
        EndReason::OutputLimit => Some("the answer was cut off at the token limit".into()),
        EndReason::Refused => Some("the model declined to answer".into()),
        EndReason::TooManyRequests(count) => {
            let requests = counted((*count).into(), "request");
            Some(format!("stopped after {requests}; say \"continue\" for more"))
        }
        EndReason::Cancelled => Some("stopped".into()),
        EndReason::SpendingCeiling(spent) => {
            Some(format!("stopped: summaries and retries cost ${:.2}", spent.0))
        }
        EndReason::Failed(why) => Some(format!("error: {why}")),
    }
}
