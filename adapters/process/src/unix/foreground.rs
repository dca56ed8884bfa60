//! A command that is run to its end.

use super::bounded_output::BoundedOutput;
use super::group::Group;
use super::launch::{Started, Streams, launch};
use super::script;
use crate::ShellConfig;
use everfold_kernel::ports::{Exit, ShellCommand, ShellError, ShellOutput};
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::time::Duration;
use tempfile::NamedTempFile;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// How long output may still come once the shell itself has exited: first by
/// itself (`>(…)` is not waited for by bash), then once the rest was killed.
pub(super) const DRAIN: Duration = Duration::from_millis(100);
const CHUNK_BYTES: usize = 32 << 10;

/// Runs a command until it exits, its time is up, or the shell closes.
pub(super) async fn run(
    config: &ShellConfig,
    command: &ShellCommand,
    closing: &CancellationToken,
) -> Result<ShellOutput, ShellError> {
    let failed = |source: io::Error| ShellError::Start {
        cwd: command.cwd.clone(),
        message: source.to_string(),
    };
    let began = Instant::now();
    let note = NamedTempFile::with_prefix("everfold-cwd-").map_err(failed)?;
    let text = script::with_cwd(&command.command, note.path());
    let (streams, mut output) = pipe().map_err(failed)?;
    let started = Started::Script(&text);
    let confinement = script::with_note(&command.confinement, note.path());
    let mut group = launch(config, &started, &command.cwd, streams, &confinement)?;
    let id = group.id();

    let mut kept = BoundedOutput::new(command.output_bytes);
    let exit = {
        let mut life = pin!(live(&mut group, after(command.timeout), closing));
        let mut pump = pin!(pump(&mut output, &mut kept));
        let mut open = true;
        let exit = loop {
            tokio::select! {
                exit = &mut life => break exit,
                () = &mut pump, if open => open = false,
            }
        };
        if open && timeout(DRAIN, &mut pump).await.is_err() {
            id.kill();
            // A process that left the group may hold the pipe for ever.
            let _ = timeout(DRAIN, &mut pump).await;
        }
        exit
    };
    let written = std::fs::read(note.path()).unwrap_or_default();
    let (text, dropped_bytes) = kept.into_text();
    Ok(ShellOutput {
        text,
        dropped_bytes,
        exit,
        cwd: script::cwd_from(&written),
        duration: began.elapsed(),
    })
}

/// One pipe for both streams.
fn pipe() -> io::Result<(Streams, Receiver)> {
    let (reader, writer) = io::pipe()?;
    let streams = Streams::closed(writer.try_clone()?.into(), writer.into());
    Ok((streams, Receiver::from_owned_fd(OwnedFd::from(reader))?))
}

/// The end of a time; never where there is none.
pub(super) async fn after(limit: Option<Duration>) {
    match limit {
        Some(limit) => tokio::time::sleep(limit).await,
        None => std::future::pending().await,
    }
}

/// Waits for the end of a command, and brings it about where it must.
pub(super) async fn live(
    group: &mut Group,
    time_is_up: impl Future<Output = ()>,
    closing: &CancellationToken,
) -> Exit {
    tokio::select! {
        exit = group.wait() => return exit,
        () = closing.cancelled() => {}
        () = time_is_up => {
            group.terminate().await;
            return Exit::TimedOut;
        }
    }
    group.terminate().await
}

/// Takes in output until nobody can write any more.
pub(super) async fn pump(output: &mut Receiver, kept: &mut BoundedOutput) {
    pump_seen(output, kept, |_| {}).await;
}

/// The same, with a look at what there is after each piece.
pub(super) async fn pump_seen(
    output: &mut Receiver,
    kept: &mut BoundedOutput,
    mut seen: impl FnMut(&BoundedOutput),
) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(got) = output.read(&mut chunk).await {
        match chunk.get(..got) {
            Some(bytes) if !bytes.is_empty() => {
                kept.push(bytes);
                seen(kept);
            }
            _ => return,
        }
    }
}
