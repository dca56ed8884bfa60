//! The `everfold` program: arguments, environment, exit codes, rendering. What
//! it does is in the `everfold` library.

mod args;
mod causes;
mod commands;
mod config;
mod cost;
mod doctor;
mod dream;
mod failure;
#[cfg(feature = "fleet")]
mod fleet;
mod headless;
mod health;
mod hook;
mod install;
mod instructions;
mod interactive;
mod log;
mod mcp;
mod memory;
mod models;
mod nearest;
mod presenter;
mod prices;
mod recall;
mod replay;
mod report;
mod screen;
mod search;
mod session_picker;
mod sessions;
mod setup;
mod show_result;
mod signals;
mod statusline;
mod team;
mod trust;
mod web;

use anyhow::{Context, Result};
use args::{Cli, Command, Talk};
use clap::{CommandFactory, Parser};
use failure::Usage;
use log::Verbosity;
use presenter::{Presenter, TextStyle};
use setup::ProcessEnv;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = everfold_agent::sandbox_entered() {
        return code;
    }
    if let Some(code) = hook::answered() {
        return code;
    }
    let mut cli = Cli::parse();
    let env = ProcessEnv::of_process();
    cli.talk.bare |= env.is_simple();
    let presenter = Presenter::new(&env.variables);
    match run(&cli, &env, &presenter) {
        Ok(code) => code,
        Err(error) => {
            let told = failure::told(&error);
            if let Some(message) = &told.message {
                presenter.note(TextStyle::Red, &format!("error: {message}"));
            }
            if let Some(hint) = &told.hint {
                presenter.note(TextStyle::Dim, &format!("hint: {hint}"));
            }
            told.code()
        }
    }
}

fn run(cli: &Cli, env: &ProcessEnv, presenter: &Presenter) -> Result<ExitCode> {
    log::start(env, Verbosity::of(cli.talk.choices.verbose));
    log::hold(cli.talk.which.private);
    let on_screen = cli.command.is_none() && !cli.talk.print && screen::is_wanted(env, &cli.talk);
    // One thread is enough for one conversation, and starts fastest; what
    // blocks goes to threads of its own. A screen never waits for the engine.
    let mut builder = if on_screen {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    let runtime = builder.enable_all().build().context("the runtime could not be started")?;
    let ended = runtime.block_on(async {
        match &cli.command {
            Some(command) => Box::pin(look(command, env, presenter)).await,
            None if cli.talk.print => Box::pin(headless::run(env, &cli.talk, presenter)).await,
            None => {
                refuse_late_command(&cli.talk)?;
                if on_screen {
                    return Box::pin(screen::run(env, &cli.talk, presenter)).await;
                }
                Box::pin(interactive::run(env, &cli.talk, presenter)).await
            }
        }
    });
    // Whoever still reads from a terminal or a slow disk is not waited for.
    runtime.shutdown_background();
    ended
}

async fn look(command: &Command, env: &ProcessEnv, presenter: &Presenter) -> Result<ExitCode> {
    match command {
        Command::Config(args) => config::run(env, args, presenter).await?,
        Command::Cost(args) => cost::run(env, args, presenter).await?,
        Command::Doctor(args) => return Box::pin(doctor::run(env, args, presenter)).await,
        Command::Dream(args) => return Box::pin(dream::run(env, args, presenter)).await,
        #[cfg(feature = "fleet")]
        Command::Fleet(command) => return fleet::run(env, command, presenter),
        // It was answered before anything was parsed.
        Command::Hook(_) => {}
        Command::Install(args) => install::install(env, args, presenter)?,
        Command::Uninstall(args) => install::uninstall(env, args, presenter)?,
        Command::Mcp(args) => mcp::run(env, args, presenter).await?,
        Command::Instructions(args) => instructions::run(env, args, presenter).await?,
        Command::Health(args) => health::run(env, args, presenter).await?,
        Command::Memory(command) => return memory::run(env, command, presenter),
        Command::Models(command) => models::run(env, command, presenter)?,
        Command::Recall(args) => recall::run(env, args, presenter)?,
        Command::Search(args) => search::run(env, args, presenter).await?,
        Command::Prices(args) => prices::run(env, args, presenter).await?,
        Command::Replay(args) => replay::run(env, args, presenter).await?,
        Command::Report(args) => report::run(env, args, presenter).await?,
        Command::Statusline => statusline::run(env, presenter)?,
        Command::Sessions(command) => sessions::run(env, command, presenter).await?,
        Command::ShowResult(args) => show_result::run(env, args, presenter).await?,
        Command::Team(command) => team::run(env, command, presenter)?,
        Command::Trust(args) => trust::run(env, args, presenter).await?,
        Command::Web(args) => Box::pin(web::run(env, args, presenter)).await?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "everfold", &mut script);
            presenter.text(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `everfold --model x doctor` reads as a prompt, which nobody means.
fn refuse_late_command(talk: &Talk) -> Result<()> {
    let Some(prompt) = &talk.prompt else { return Ok(()) };
    let known = Cli::command();
    let names = known.get_subcommands().map(clap::Command::get_name);
    let is_word = !prompt.contains(char::is_whitespace);
    if let Some(near) = nearest::nearest(prompt, names).filter(|near| is_word && near != prompt) {
        let message = format!("unknown command {prompt}; did you mean `everfold {near}`?");
        let hint = format!("to send the word to the model: `everfold -p {prompt}`");
        return Err(Usage::new(message, hint).into());
    }
    if Cli::command().get_subcommands().any(|command| command.get_name() == prompt) {
        let message = format!("{prompt} is a command; flags come after it");
        let hint = format!("use `everfold {prompt} …`; to send the word as a prompt, add -p");
        return Err(Usage::new(message, hint).into());
    }
    Ok(())
}
