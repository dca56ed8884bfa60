//! The `mnemon` program: arguments, environment, exit codes, rendering. What
//! it does is in the `mnemon` library.

mod args;
mod fail;
mod headless;
mod log;
mod pick;
mod present;
mod setup;
mod signals;

use anyhow::{Context, Result};
use args::{Cli, Command};
use clap::Parser;
use log::Verbosity;
use present::{Look, Presenter};
use setup::Ground;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let ground = Ground::of_process();
    let presenter = Presenter::new(&ground.variables);
    match run(&cli, &ground, &presenter) {
        Ok(code) => code,
        Err(error) => {
            let told = fail::told(&error);
            if let Some(message) = &told.message {
                presenter.note(Look::Red, &format!("error: {message}"));
            }
            if let Some(hint) = &told.hint {
                presenter.note(Look::Dim, &format!("hint: {hint}"));
            }
            told.code()
        }
    }
}

fn run(cli: &Cli, ground: &Ground, presenter: &Presenter) -> Result<ExitCode> {
    log::start(ground, Verbosity::of(cli.talk.choices.verbose));
    // One thread is enough for one conversation, and starts fastest; what
    // blocks goes to threads of its own.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime could not be started")?;
    let ended = runtime.block_on(async {
        match &cli.command {
            Some(_) => Ok(ExitCode::SUCCESS),
            None => headless::run(ground, &cli.talk, presenter).await,
        }
    });
    // Whoever still reads from a terminal or a slow disk is not waited for.
    runtime.shutdown_background();
    ended
}
