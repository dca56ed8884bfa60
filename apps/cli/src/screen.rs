//! `everfold` on a screen: the conversation as the host of the terminal.

use crate::args::{Choices, Talk};
use crate::commands::{CommandContext, Hands, registry};
use crate::failure;
use crate::instructions;
use crate::interactive::open_question::{self, OpenChoice, Typed};
use crate::interactive::trust_question;
use crate::memory;
use crate::presenter::Presenter;
use crate::session_picker::{self, Target};
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::memory_dirs::shelf;
use everfold_agent::{Agent, CancellationToken, Session, SessionId};
use everfold_kernel::ports::Respondent;
use everfold_kernel::settings::Surface;
use everfold_memory_store::StoreScope;
use everfold_tui::{
    BoxFuture, CommandInfo, Editor, Host, Next, PanelData, QuestionSender, ScreenStart, TextPage,
    Welcome,
};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

mod panel_data;

/// Whether a person sits at a terminal that can be drawn on.
pub(crate) fn is_wanted(env: &ProcessEnv, talk: &Talk) -> bool {
    let dumb = env.variables.get("TERM").is_none_or(|term| term == "dumb");
    !talk.plain && !dumb && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Shows a conversation until the person leaves.
pub(crate) async fn run(env: &ProcessEnv, talk: &Talk, presenter: &Presenter) -> Result<ExitCode> {
    let (asker, questions) = QuestionSender::new();
    trust_question::ask(env, talk, presenter, None).await?;
    let asker = Arc::new(asker);
    let person: Arc<dyn Respondent> = asker.clone();
    let agent = setup::for_talk(env, talk, Surface::Interactive, asker, Some(person)).await?;
    let (target, choose) = match session_picker::target(&agent, &talk.which).await? {
        Target::Ask => (Target::New(None), true),
        target => (target, false),
    };
    let typed = Typed::Terminal;
    let opened = open_question::open(&agent, &talk.which, target, presenter, typed).await?;
    let Some(opened) = opened else { return Ok(ExitCode::from(failure::OPEN_ELSEWHERE)) };
    let damage = opened.damage();
    let cx = CommandContext {
        env: env.clone(),
        agent: Arc::new(agent),
        session: opened.session,
        presenter: presenter.clone(),
        hands: Hands::Here,
        stop: CancellationToken::new(),
    };
    let welcome = welcome(&cx, talk, damage).await;
    let private = talk.which.private;
    let history = (!private).then(|| cx.agent.home().root().join("history.jsonl"));
    let prompt = if choose { Some("/resume".to_owned()) } else { talk.prompt.clone() };
    let start = ScreenStart {
        welcome,
        questions,
        prompt,
        colours: presenter.has_colours(),
        editor: editor(env, presenter),
        history,
        host: Box::new(cx),
    };
    let host = everfold_tui::run(start).await?;
    host.agent().shutdown().await;
    presenter.line(&format!("everfold --resume {}", host.session().id()))?;
    Ok(ExitCode::SUCCESS)
}

/// The person's editor, for a prompt.
fn editor(env: &ProcessEnv, presenter: &Presenter) -> Editor {
    let (variables, presenter) = (env.variables.clone(), presenter.clone());
    Box::new(move |text| Ok(memory::editor::edit(text, &variables, &presenter)?.text))
}

/// What there is, for the first screen.
async fn welcome(cx: &CommandContext, talk: &Talk, damage: Option<String>) -> Welcome {
    let config = cx.session.config();
    let mut found = vec![
        ("directory".to_owned(), config.surroundings.cwd.clone()),
        ("model".to_owned(), setup::model_name(&cx.agent, &cx.session)),
    ];
    if talk.bare {
        found.push(("bare".to_owned(), "no memory, instructions, hooks or servers".to_owned()));
    } else if talk.which.private {
        found.push(("private".to_owned(), "nothing is recalled, saved or kept".to_owned()));
    } else {
        let instructions = instructions::found(&cx.env).await;
        found.extend(instructions.ok().map(|said| ("instructions".to_owned(), said)));
        found.extend(memories(cx).ok().map(|said| ("memories".to_owned(), said)));
    }
    let mut notes: Vec<String> = setup::offline_notice(&cx.agent).into_iter().collect();
    notes.extend(cx.notes(damage));
    Welcome { version: env!("CARGO_PKG_VERSION").to_owned(), found, notes }
}

/// How many memories there are, and how many wait for a word.
fn memories(cx: &CommandContext) -> Result<String> {
    let dirs = setup::builder(&cx.env, &Choices::default())?.memory_dirs()?;
    let mut counts = Vec::new();
    for (scope, name) in [
        (StoreScope::Project, "of this project"),
        (StoreScope::Global, "of yours"),
        (StoreScope::Team, "of the team"),
    ] {
        let there = dirs.is_used(scope).then(|| shelf(&dirs.dir(scope)).ok()).flatten();
        if let Some(count) = there.map(|there| there.len()).filter(|count| *count > 0) {
            counts.push(format!("{count} {name}"));
        }
    }
    if let Some(waiting) = dirs.waiting_today() {
        counts.push(format!("{waiting} waiting for review (/memory inbox)"));
    }
    Ok(match counts.as_slice() {
        [] => "none yet; they come as you work, or with # and a sentence".to_owned(),
        counts => counts.join(", "),
    })
}

impl Host for CommandContext {
    fn agent(&self) -> Arc<Agent> {
        Arc::clone(&self.agent)
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    fn model_name(&self) -> String {
        setup::model_name(&self.agent, &self.session)
    }

    fn side(&self) -> Arc<dyn PanelData> {
        let (agent, env) = (Arc::clone(&self.agent), self.env.clone());
        Arc::new(panel_data::LivePanels { agent, env })
    }

    fn commands(&self) -> Vec<CommandInfo> {
        registry::infos(self)
    }

    fn command<'a>(
        &'a mut self,
        line: &'a str,
        page: TextPage,
        stop: CancellationToken,
    ) -> BoxFuture<'a, Result<Next>> {
        self.presenter = Presenter::on(page);
        self.stop = stop;
        Box::pin(async move { registry::run(self, line).await.map_err(readable) })
    }

    fn resume(
        &mut self,
        id: SessionId,
        page: TextPage,
        stop: CancellationToken,
    ) -> BoxFuture<'_, Result<()>> {
        self.presenter = Presenter::on(page);
        self.stop = stop;
        Box::pin(async move { self.resume_or_fork(id).await.map_err(readable) })
    }

    fn finish(&mut self, page: TextPage, stop: CancellationToken) -> BoxFuture<'_, Result<()>> {
        self.presenter = Presenter::on(page);
        self.stop = stop;
        Box::pin(Self::finish(self, "prompt_input_exit"))
    }
}

impl CommandContext {
    /// Goes on with a session; asks where another process has it open.
    async fn resume_or_fork(&mut self, id: SessionId) -> Result<()> {
        loop {
            let resumed = Self::resume(self, id.clone()).await;
            let Some(error) = resumed.as_ref().err() else { return Ok(()) };
            let Some((_, holder)) = failure::open_elsewhere(error) else { return resumed };
            match open_question::ask_on_screen(&self.agent, &id, holder).await {
                OpenChoice::Leave => return resumed,
                OpenChoice::Fork => return self.fork(&id).await,
                OpenChoice::Wait => tokio::select! {
                    () = open_question::free(&self.agent, &id) => {}
                    () = self.stop.cancelled() => return resumed,
                },
            }
        }
    }
}

/// An error as a person should read it, with what to do about it.
fn readable(error: anyhow::Error) -> anyhow::Error {
    let told = failure::told(&error);
    match (told.message, told.hint) {
        (Some(message), Some(hint)) => anyhow::anyhow!("{message}\nhint: {hint}"),
        (Some(message), None) => anyhow::anyhow!(message),
        (None, _) => error,
    }
}
