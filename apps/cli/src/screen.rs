//! `everfold` on a screen: the desk as the host of the terminal.

use crate::args::{Choices, Talk};
use crate::desk::{Desk, Flow, Hands, commands};
use crate::fail;
use crate::instructions;
use crate::interactive::trusting;
use crate::memory;
use crate::pick::{self, Target};
use crate::present::Presenter;
use crate::setup::{self, Ground};
use anyhow::Result;
use everfold::kernel::ports::Respondent;
use everfold::kernel::settings::Surface;
use everfold::memory_dirs::shelf;
use everfold::{Agent, CancellationToken, Session, SessionId};
use everfold_memory_store::Scope;
use everfold_tui::{Asker, BoxFuture, CommandInfo, Editor, Host, Next, Page, Side, Start, Welcome};
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

mod side;

/// Whether a person sits at a terminal that can be drawn on.
pub(crate) fn is_wanted(ground: &Ground, talk: &Talk) -> bool {
    let dumb = ground.variables.get("TERM").is_none_or(|term| term == "dumb");
    !talk.plain && !dumb && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Shows a conversation until the person leaves.
pub(crate) async fn run(ground: &Ground, talk: &Talk, presenter: &Presenter) -> Result<ExitCode> {
    let (asker, questions) = Asker::new();
    trusting::ask(ground, talk, presenter, None).await?;
    let asker = Arc::new(asker);
    let person: Arc<dyn Respondent> = asker.clone();
    let agent = setup::for_talk(ground, talk, Surface::Interactive, asker, Some(person)).await?;
    let (target, choose) = match pick::target(&agent, &talk.which).await? {
        Target::Ask => (Target::New(None), true),
        target => (target, false),
    };
    let opened = pick::open(&agent, &talk.which, target).await?;
    let damage = opened.damage();
    let desk = Desk {
        ground: ground.clone(),
        agent: Arc::new(agent),
        session: opened.session,
        presenter: presenter.clone(),
        hands: Hands::Here,
        stop: CancellationToken::new(),
    };
    let welcome = welcome(&desk, talk, damage).await;
    let private = talk.which.private;
    let history = (!private).then(|| desk.agent.home().root().join("history.jsonl"));
    let prompt = if choose { Some("/resume".to_owned()) } else { talk.prompt.clone() };
    let start = Start {
        welcome,
        questions,
        prompt,
        colours: presenter.has_colours(),
        editor: editor(ground, presenter),
        history,
        host: Box::new(desk),
    };
    let host = everfold_tui::run(start).await?;
    host.agent().shutdown().await;
    presenter.line(&format!("everfold --resume {}", host.session().id()))?;
    Ok(ExitCode::SUCCESS)
}

/// The person's editor, for a prompt.
fn editor(ground: &Ground, presenter: &Presenter) -> Editor {
    let (variables, presenter) = (ground.variables.clone(), presenter.clone());
    Box::new(move |text| Ok(memory::editor::edit(text, &variables, &presenter)?.text))
}

/// What there is, for the first screen.
async fn welcome(desk: &Desk, talk: &Talk, damage: Option<String>) -> Welcome {
    let config = desk.session.config();
    let mut found = vec![
        ("directory".to_owned(), config.surroundings.cwd.clone()),
        ("model".to_owned(), setup::model_name(&desk.agent, &desk.session)),
    ];
    if talk.bare {
        found.push(("bare".to_owned(), "no memory, instructions, hooks or servers".to_owned()));
    } else if talk.which.private {
        found.push(("private".to_owned(), "nothing is recalled, saved or kept".to_owned()));
    } else {
        let instructions = instructions::found(&desk.ground).await;
        found.extend(instructions.ok().map(|said| ("instructions".to_owned(), said)));
        found.extend(memories(desk).ok().map(|said| ("memories".to_owned(), said)));
    }
    let mut notes: Vec<String> = setup::offline_notice(&desk.agent).into_iter().collect();
    notes.extend(desk.notes(damage));
    Welcome { version: env!("CARGO_PKG_VERSION").to_owned(), found, notes }
}

/// How many memories there are, and how many wait for a word.
fn memories(desk: &Desk) -> Result<String> {
    let dirs = setup::builder(&desk.ground, &Choices::default())?.memory_dirs()?;
    let mut counts = Vec::new();
    for (scope, name) in [
        (Scope::Project, "of this project"),
        (Scope::Global, "of yours"),
        (Scope::Team, "of the team"),
    ] {
        let there = dirs.is_used(scope).then(|| shelf(&dirs.dir(scope)).ok()).flatten();
        if let Some(count) = there.map(|there| there.len()).filter(|count| *count > 0) {
            counts.push(format!("{count} {name}"));
        }
    }
    if let Some(waiting) = dirs.waiting_today() {
        counts.push(format!("{waiting} wait for your word (/memory inbox)"));
    }
    Ok(match counts.as_slice() {
        [] => "none yet; they come with the work, or with # and a sentence".to_owned(),
        counts => counts.join(", "),
    })
}

impl Host for Desk {
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

    fn side(&self) -> Arc<dyn Side> {
        let (agent, ground) = (Arc::clone(&self.agent), self.ground.clone());
        Arc::new(side::Beside { agent, ground })
    }

    fn commands(&self) -> Vec<CommandInfo> {
        commands::infos(self)
    }

    fn command<'a>(
        &'a mut self,
        line: &'a str,
        page: Page,
        stop: CancellationToken,
    ) -> BoxFuture<'a, Result<Next>> {
        self.presenter = Presenter::on(page);
        self.stop = stop;
        Box::pin(async move {
            Ok(match commands::run(self, line).await.map_err(readable)? {
                Flow::GoOn => Next::GoOn,
                Flow::Quit => Next::Quit,
                Flow::Say(prompt) => Next::Say(prompt),
                Flow::Choose(words) => Next::Choose(words),
                Flow::Watch(id) => Next::Watch(id),
                Flow::WentBack(text) => Next::WentBack(text),
            })
        })
    }

    fn resume(
        &mut self,
        id: SessionId,
        page: Page,
        stop: CancellationToken,
    ) -> BoxFuture<'_, Result<()>> {
        self.presenter = Presenter::on(page);
        self.stop = stop;
        Box::pin(async move { Self::resume(self, id).await.map_err(readable) })
    }

    fn finish(&mut self, page: Page, stop: CancellationToken) -> BoxFuture<'_, Result<()>> {
        self.presenter = Presenter::on(page);
        self.stop = stop;
        Box::pin(Self::finish(self, "prompt_input_exit"))
    }
}

/// An error as a person should read it, with what to do about it.
fn readable(error: anyhow::Error) -> anyhow::Error {
    let told = fail::told(&error);
    match (told.message, told.hint) {
        (Some(message), Some(hint)) => anyhow::anyhow!("{message}\nhint: {hint}"),
        (Some(message), None) => anyhow::anyhow!(message),
        (None, _) => error,
    }
}
