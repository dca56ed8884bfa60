//! Sockets by which running sessions reach each other.
//!
//! One connection carries one letter, a line of JSON; the answer is `ok` once
//! it waits for the receiver. Only the same user can connect: the directory is
//! 0700. What a letter says of its sender is taken as said; it has no authority
//! anyway (L7.9).

use mnemon_kernel::SessionId;
use mnemon_kernel::ports::{Letter, PostError};
use std::collections::VecDeque;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Longest that one letter may take on its way.
const WAIT: Duration = Duration::from_secs(5);
/// Most letters that wait; a sender is told to come again.
const MOST_WAITING: usize = 1_000;
const TAKEN: &[u8] = b"ok\n";
const FULL: &[u8] = b"full\n";

/// The sockets of one process.
pub(crate) struct Sockets {
    dir: PathBuf,
    most: u64,
    waiting: Arc<Waiting>,
    listening: Mutex<Option<Listening>>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Waiting {
    letters: Mutex<Queue>,
    arrived: Notify,
}

#[derive(Default)]
struct Queue {
    letters: VecDeque<Letter>,
    /// Numbers are given as letters come: that is their order.
    last: u64,
}

struct Listening {
    path: PathBuf,
    stop: CancellationToken,
}

impl Sockets {
    pub(crate) fn new(dir: PathBuf, most: u64) -> Self {
        let (waiting, listening) = (Arc::default(), Mutex::new(None));
        Self { dir, most, waiting, listening, tasks: TaskTracker::new() }
    }

    /// Where a session listens.
    pub(crate) fn path(&self, session: &SessionId) -> PathBuf {
        self.dir.join(format!("{session}.sock"))
    }

    /// Listens for a session, in place of the one before.
    pub(crate) fn listen(&self, session: &SessionId) -> Result<(), PostError> {
        let path = self.path(session);
        let mut listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if listening.as_ref().is_some_and(|old| old.path == path) {
            return Ok(());
        }
        if let Some(old) = listening.take() {
            old.end();
        }
        let failed = |error: &std::io::Error| io(&path, error);
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.dir).map_err(|error| failed(&error))?;
        // One that a dead process left is in the way; ids are not used twice.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).map_err(|error| failed(&error))?;
        let stop = CancellationToken::new();
        self.tasks.spawn(accept(listener, Arc::clone(&self.waiting), self.most, stop.clone()));
        *listening = Some(Listening { path, stop });
        Ok(())
    }

    /// Sends a letter, and waits until it is taken.
    pub(crate) async fn send(&self, to: &Path, letter: &Letter) -> Result<Vec<String>, PostError> {
        let sending = async {
            let mut stream = UnixStream::connect(to).await?;
            let mut line = crate::written(letter);
            line.push(b'\n');
            stream.write_all(&line).await?;
            let mut answer = Vec::new();
            BufReader::new(stream)
                .take(TAKEN.len() as u64 + 8)
                .read_until(b'\n', &mut answer)
                .await?;
            Ok::<_, std::io::Error>(answer)
        };
        let path = to.to_path_buf();
        match tokio::time::timeout(WAIT, sending).await {
            Ok(Err(error)) => Err(match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => {
                    PostError::NotRunning { path }
                }
                _ => io(to, &error),
            }),
            Ok(Ok(answer)) if answer == TAKEN => Ok(vec![format!("uds:{}", to.display())]),
            Ok(Ok(_)) | Err(_) => Err(PostError::Busy { path }),
        }
    }

    /// What waits, oldest first.
    pub(crate) fn take(&self) -> Vec<Letter> {
        self.waiting.queue().letters.drain(..).collect()
    }

    /// Whether something waits.
    pub(crate) fn has_mail(&self) -> bool {
        !self.waiting.queue().letters.is_empty()
    }

    /// Done when a letter has come.
    pub(crate) async fn arrival(&self) {
        self.waiting.arrived.notified().await;
    }

    /// Stops listening, and leaves nothing behind.
    pub(crate) async fn close(&self) {
        let old = self.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(old) = old {
            old.end();
        }
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }
}

impl Waiting {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a letter with those that wait, and gives the answer for its sender.
    fn put(&self, mut letter: Letter) -> &'static [u8] {
        let mut queue = self.queue();
        if queue.letters.len() >= MOST_WAITING {
            return FULL;
        }
        queue.last += 1;
        letter.seq = queue.last;
        queue.letters.push_back(letter);
        drop(queue);
        self.arrived.notify_one();
        TAKEN
    }
}

impl Listening {
    fn end(self) {
        self.stop.cancel();
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.cancel();
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn accept(listener: UnixListener, waiting: Arc<Waiting>, most: u64, stop: CancellationToken) {
    loop {
        let stream = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    continue;
                }
            },
        };
        // One after another: letters keep their order, and one that hangs is
        // cut after a while.
        let _ = tokio::time::timeout(WAIT, receive(stream, &waiting, most)).await;
    }
}

async fn receive(stream: UnixStream, waiting: &Waiting, most: u64) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut line = Vec::new();
    BufReader::new(reader.take(most.saturating_add(1))).read_until(b'\n', &mut line).await?;
    let answer: &[u8] = match serde_json::from_slice::<Letter>(&line) {
        Ok(letter) => waiting.put(letter),
        Err(error) => {
            tracing::warn!(%error, "what came by the socket was no letter");
            b"bad\n"
        }
    };
    writer.write_all(answer).await
}

fn io(path: &Path, error: &std::io::Error) -> PostError {
    PostError::Io { path: path.to_path_buf(), message: error.to_string() }
}
