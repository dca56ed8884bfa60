//! Sockets by which running sessions reach each other.
//!
//! One connection carries one letter, a line of JSON; the answer is `ok` once
//! it is in the mailbox of the receiver, where it survives the end of either
//! side, else `no` and why. Only the same user can connect: the directory is
//! 0700. What a letter says of its sender is taken as said; it has no authority
//! anyway (L7.9).

use crate::mailbox::{Mailbox, io};
use crate::own;
use everfold_kernel::SessionId;
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::ports::{Letter, PostError};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Longest that one letter may take on its way.
const WAIT: Duration = Duration::from_secs(5);
/// Most letters that wait; a sender is told to come again.
const MOST_WAITING: usize = 1_000;
/// Longest answer that is read.
const MOST_ANSWER_BYTES: u64 = 4 << 10;
const TAKEN: &[u8] = b"ok\n";
/// Whose number the letters of a session's mailbox have: they are numbered as
/// they come, whoever sent them.
const NUMBERED_BY: &str = "socket";

/// The sockets of one process.
pub(crate) struct Sockets {
    dir: PathBuf,
    most: u64,
    wait: Duration,
    arrived: Arc<Notify>,
    listening: Mutex<Option<Listening>>,
    tasks: TaskTracker,
}

struct Listening {
    path: PathBuf,
    inbox: Arc<Mailbox>,
    stop: CancellationToken,
}

impl Sockets {
    pub(crate) fn new(dir: PathBuf, limits: &AgentLimits) -> Self {
        Self {
            dir,
            most: limits.message_bytes,
            wait: Duration::from_millis(limits.mail_wait_ms),
            arrived: Arc::default(),
            listening: Mutex::new(None),
            tasks: TaskTracker::new(),
        }
    }

    /// Where a session listens.
    pub(crate) fn path(&self, session: &SessionId) -> PathBuf {
        self.dir.join(format!("{session}.sock"))
    }

    /// Listens for a session, in place of the one before, and keeps what comes
    /// in the mailbox in a directory.
    pub(crate) fn listen(&self, session: &SessionId, inbox: &Path) -> Result<(), PostError> {
        let path = self.path(session);
        let mut listening = self.listening();
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
        let inbox = Arc::new(Mailbox::new(inbox.to_path_buf(), self.wait));
        let into = Into { inbox: Arc::clone(&inbox), arrived: Arc::clone(&self.arrived) };
        self.tasks.spawn(accept(listener, into, self.most, stop.clone()));
        *listening = Some(Listening { path, inbox, stop });
        Ok(())
    }

    /// Where what comes is kept, while somebody listens.
    pub(crate) fn inbox(&self) -> Option<Arc<Mailbox>> {
        self.listening().as_ref().map(|listening| Arc::clone(&listening.inbox))
    }

    fn listening(&self) -> MutexGuard<'_, Option<Listening>> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a letter, and waits until it is taken.
    pub(crate) async fn send(&self, to: &Path, letter: &Letter) -> Result<Vec<String>, PostError> {
        let path = to.to_path_buf();
        own::socket(to, &self.dir)?;
        let sending = async {
            let stream = UnixStream::connect(to).await.map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => {
                    PostError::NotRunning { path: path.clone() }
                }
                _ => io(to, &error),
            })?;
            // Whatever goes wrong from here on, it may have been read.
            let unanswered = |_| PostError::Unanswered { path: path.clone() };
            exchange(stream, letter).await.map_err(unanswered)
        };
        let answer = tokio::time::timeout(WAIT, sending).await;
        let answer =
            answer.unwrap_or_else(|_| Err(PostError::Unanswered { path: path.clone() }))?;
        if answer == TAKEN {
            return Ok(vec![format!("uds:{}", to.display())]);
        }
        match String::from_utf8_lossy(&answer).trim() {
            "" => Err(PostError::Unanswered { path }),
            said => {
                let reason = said.strip_prefix("no ").unwrap_or(said).to_owned();
                Err(PostError::Refused { path, reason })
            }
        }
    }

    /// Done when a letter has come.
    pub(crate) async fn arrival(&self) {
        self.arrived.notified().await;
    }

    /// Stops listening, and leaves nothing behind.
    pub(crate) async fn close(&self) {
        let old = self.listening().take();
        if let Some(old) = old {
            old.end();
        }
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
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

/// Sends a letter, and reads the answer.
async fn exchange(mut stream: UnixStream, letter: &Letter) -> std::io::Result<Vec<u8>> {
    let mut line = crate::written(letter);
    line.push(b'\n');
    stream.write_all(&line).await?;
    let mut answer = Vec::new();
    BufReader::new(stream).take(MOST_ANSWER_BYTES).read_until(b'\n', &mut answer).await?;
    Ok(answer)
}

/// Where letters go.
struct Into {
    inbox: Arc<Mailbox>,
    arrived: Arc<Notify>,
}

async fn accept(listener: UnixListener, into: Into, most: u64, stop: CancellationToken) {
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
        let (reader, mut writer) = stream.into_split();
        let Ok(Ok(line)) = tokio::time::timeout(WAIT, read(reader, most)).await else { continue };
        let answer = into.put(line).await;
        let _ = tokio::time::timeout(WAIT, writer.write_all(&answer)).await;
    }
}

async fn read(reader: OwnedReadHalf, most: u64) -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::new(reader.take(most.saturating_add(1))).read_until(b'\n', &mut line).await?;
    Ok(line)
}

impl Into {
    /// Keeps a letter, and gives the answer for its sender.
    async fn put(&self, line: Vec<u8>) -> Vec<u8> {
        let letter = match serde_json::from_slice::<Letter>(&line) {
            Ok(letter) => letter,
            Err(error) => {
                tracing::warn!(%error, "what came by the socket was no letter");
                return b"no it is not a letter\n".to_vec();
            }
        };
        if self.inbox.waiting() >= MOST_WAITING {
            let why = format!("no {MOST_WAITING} messages wait there already; try again later\n");
            return why.into_bytes();
        }
        let inbox = Arc::clone(&self.inbox);
        match crate::apart(PathBuf::new(), move || inbox.put(NUMBERED_BY, letter)).await {
            Ok(()) => {
                self.arrived.notify_one();
                TAKEN.to_vec()
            }
            Err(why) => format!("no {}\n", why.to_string().replace('\n', " ")).into_bytes(),
        }
    }
}
