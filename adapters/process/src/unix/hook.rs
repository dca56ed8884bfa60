//! A handler of a hook: a program that reads JSON and answers by what it
//! prints and by its exit code.

use super::bounded_output::BoundedOutput;
use super::foreground::{DRAIN, each_piece, live, pump};
use super::launch::{Started, Streams, launch};
use crate::{FirstLine, ShellConfig};
use everfold_kernel::ports::{
    Confinement, Exit, HookAction, HookCall, HookExit, HookRun, ShellError,
};
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// Runs a handler that is a program. Whatever happens to it, there is an
/// outcome; dropping the future ends it and all it started.
///
/// `first` sees the first line that it prints, and may give it another time.
pub async fn run_hook(config: &ShellConfig, call: HookCall, first: Option<FirstLine>) -> HookRun {
    match run(config, &call, first).await {
        Ok(run) => run,
        Err(why) => HookRun::not_run(why.to_string()),
    }
}

/// Why a handler was not started.
#[derive(Debug, thiserror::Error)]
enum NotStarted {
    #[error("{0} is not a program")]
    NoProgram(String),
    #[error(transparent)]
    Pipes(#[from] io::Error),
    #[error(transparent)]
    Shell(#[from] ShellError),
}

async fn run(
    config: &ShellConfig,
    call: &HookCall,
    mut first: Option<FirstLine>,
) -> Result<HookRun, NotStarted> {
    let started = match &call.action {
        HookAction::Shell(command) => Started::Script(command.as_bytes()),
        HookAction::Program { command, args } => Started::Program(command, args),
        HookAction::Http { url, .. } => return Err(NotStarted::NoProgram(url.clone())),
    };
    let mut config = config.clone();
    config.env.extend(call.env.clone());
    let (stdin, mut input) = writer()?;
    let (stdout, mut out) = reader()?;
    let (stderr, mut err) = reader()?;
    let streams = Streams { stdin, stdout, stderr };
    let mut group = launch(&config, &started, &call.cwd, streams, &Confinement::Free)?;
    let id = group.id();
    let (mut kept_out, mut kept_err) =
        (BoundedOutput::new(call.output_bytes), BoundedOutput::new(call.output_bytes));
    let exit = {
        let feed = async move {
            // One that does not read its input closes the pipe: its business.
            let _ = input.write_all(call.input.as_bytes()).await;
            drop(input);
        };
        let never = CancellationToken::new();
        let (limit, limits) = watch::channel(call.timeout);
        let mut heard = |kept: &BoundedOutput| {
            if let Some(line) = kept.first_line()
                && let Some(first) = first.take()
                && let Some(time) = first(&String::from_utf8_lossy(line))
            {
                limit.send_replace(time);
            }
        };
        let mut io = std::pin::pin!(async {
            let out = each_piece(&mut out, |bytes| {
                kept_out.push(bytes);
                heard(&kept_out);
            });
            tokio::join!(feed, out, pump(&mut err, &mut kept_err))
        });
        let mut life = std::pin::pin!(live(&mut group, late(limits), &never));
        let mut open = true;
        let exit = loop {
            tokio::select! {
                exit = &mut life => break exit,
                _ = &mut io, if open => open = false,
            }
        };
        if open && exit != Exit::TimedOut && timeout(DRAIN, &mut io).await.is_err() {
            id.kill();
            let _ = timeout(DRAIN, &mut io).await;
        }
        exit
    };
    // What it left running ends with it.
    drop(group);
    let (stdout, stderr) = (kept_out.into_text().0, kept_err.into_text().0);
    Ok(HookRun { exit: HookExit::Ended(exit), stdout, stderr })
}

/// Waits until the time is up, which may be changed meanwhile.
async fn late(mut limit: watch::Receiver<Duration>) {
    let since = Instant::now();
    loop {
        let until = since + *limit.borrow_and_update();
        tokio::select! {
            () = sleep_until(until) => return,
            changed = limit.changed() => if changed.is_err() {
                return sleep_until(until).await;
            },
        }
    }
}

fn reader() -> io::Result<(Stdio, Receiver)> {
    let (reader, writer) = io::pipe()?;
    Ok((writer.into(), Receiver::from_owned_fd(OwnedFd::from(reader))?))
}

fn writer() -> io::Result<(Stdio, Sender)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), Sender::from_owned_fd(OwnedFd::from(writer))?))
}
