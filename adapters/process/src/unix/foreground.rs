//! A command that is run to its end.

use super::bounded_output::BoundedOutput;
use super::group::Group;
use super::launch::{Started, Streams, launch};
use super::script;
use crate::ShellConfig;
use everfold_kernel::ports::{CommandWatch, Exit, ShellCommand, ShellError, ShellOutput};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
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

/// How a command left the foreground.
pub(super) enum Left {
    Ended(ShellOutput),
    /// It is to go on with its output in a file.
    SentAway {
        going: Going,
        output: PathBuf,
    },
}

/// A command that runs, and what it has printed.
pub(super) struct Going {
    pub(super) group: Group,
    pub(super) output: Receiver,
    pub(super) printed: BoundedOutput,
    /// Where it would say its working directory; removed when it ends.
    pub(super) note: NamedTempFile,
}

/// Runs a command until it exits, its time is up, the shell closes, or
/// whoever watches sends it away.
pub(super) async fn run(
    config: &ShellConfig,
    command: &ShellCommand,
    closing: &CancellationToken,
    watch: Option<&dyn CommandWatch>,
) -> Result<Left, ShellError> {
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
        let mut pump = pin!(each_piece(&mut output, |bytes| {
            kept.push(bytes);
            if let Some(watch) = watch {
                watch.printed(bytes);
            }
        }));
        let mut away = pin!(sent_away(watch));
        let mut open = true;
        let exit = loop {
            tokio::select! {
                exit = &mut life => break Ok(exit),
                () = &mut pump, if open => open = false,
                path = &mut away => break Err(path),
            }
        };
        if exit.is_ok() && open && timeout(DRAIN, &mut pump).await.is_err() {
            id.kill();
            // A process that left the group may hold the pipe for ever.
            let _ = timeout(DRAIN, &mut pump).await;
        }
        exit
    };
    let exit = match exit {
        Ok(exit) => exit,
        Err(path) => {
            let going = Going { group, output, printed: kept, note };
            return Ok(Left::SentAway { going, output: path });
        }
    };
    let written = std::fs::read(note.path()).unwrap_or_default();
    let (text, dropped_bytes) = kept.into_text();
    Ok(Left::Ended(ShellOutput {
        text,
        dropped_bytes,
        exit,
        cwd: script::cwd_from(&written),
        duration: began.elapsed(),
    }))
}

/// Until the command is sent away; for ever where nobody watches.
async fn sent_away(watch: Option<&dyn CommandWatch>) -> PathBuf {
    match watch {
        Some(watch) => watch.sent_away().await,
        None => std::future::pending().await,
    }
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
    each_piece(output, |bytes| kept.push(bytes)).await;
}

/// Hands on each piece of an output until nobody can write any more.
pub(super) async fn each_piece(output: &mut Receiver, mut take: impl FnMut(&[u8])) {
    let mut chunk = vec![0; CHUNK_BYTES];
    while let Ok(got) = output.read(&mut chunk).await {
        match chunk.get(..got) {
            Some(bytes) if !bytes.is_empty() => take(bytes),
            _ => return,
        }
    }
}
