//! What a context needs of the outside world, and who does it.

use super::{Context, ContextError, ContextMemory, ContextStep};
use bytes::Bytes;
use everfold_disk::atomic::{self, FileReaders};
use everfold_kernel::Attachment;
use everfold_kernel::ports::RecallQuery;
use std::fmt::Display;
use std::future::Future;
use std::path::{Path, PathBuf};

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq)]
pub enum ContextWork {
    /// Write a tool result to a file, once and for ever; answered by
    /// [`ContextOutcome::Written`] with the path that the model can read.
    Write {
        /// The name of the file; it has no folder.
        file: String,
        /// What it holds.
        content: String,
    },
    /// Read files as they are now; answered by [`ContextOutcome::Read`].
    Read {
        /// Which, in order.
        paths: Vec<PathBuf>,
        /// Most bytes of each.
        max_bytes: u64,
    },
    /// Post this to the model as any other request; answered by
    /// [`ContextOutcome::Answered`] with the body of the response.
    Ask {
        /// The body of the request.
        body: Bytes,
    },
    /// Look for memories; answered by [`ContextOutcome::Recalled`].
    Recall(RecallQuery),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum ContextOutcome {
    /// The file is there, under this path.
    Written(PathBuf),
    /// What could be read, in the order in which it was asked for.
    Read(Vec<(PathBuf, String)>),
    /// The body of the response, also of one that is an error.
    Answered(Vec<u8>),
    /// What a model is to be shown of the memories that were found; none where
    /// there are none.
    Recalled(Option<Attachment>),
    /// It could not be done, and why. The conversation goes on without it.
    Failed(String),
}

/// Whoever does what a context needs of the outside world.
pub trait Perform {
    /// Does it, and says what came of it.
    fn perform(&mut self, work: ContextWork) -> ContextOutcome;
}

/// The same for a program that waits.
pub trait PerformAsync {
    /// Does it, and says what came of it.
    fn perform(&mut self, work: ContextWork) -> impl Future<Output = ContextOutcome> + Send;
}

/// Files in a directory, memories if it is given any, and a function that
/// posts a request and gives the body of the response.
pub struct LocalPorts<F> {
    files: LocalFiles,
    post: F,
}

/// [`LocalPorts`] with a function that waits. Files are short and written at
/// once.
pub struct AsyncPorts<F> {
    files: LocalFiles,
    post: F,
}

struct LocalFiles {
    dir: PathBuf,
    memory: Option<ContextMemory>,
}

impl<F> LocalPorts<F> {
    /// Large results go to this directory, which is made when it is needed.
    pub fn new(dir: impl Into<PathBuf>, post: F) -> Self {
        Self { files: LocalFiles { dir: dir.into(), memory: None }, post }
    }

    /// Memories are looked up here.
    #[must_use]
    pub fn memory(mut self, memory: ContextMemory) -> Self {
        self.files.memory = Some(memory);
        self
    }
}

impl<F> AsyncPorts<F> {
    /// Large results go to this directory, which is made when it is needed.
    pub fn new(dir: impl Into<PathBuf>, post: F) -> Self {
        Self { files: LocalFiles { dir: dir.into(), memory: None }, post }
    }

    /// Memories are looked up here.
    #[must_use]
    pub fn memory(mut self, memory: ContextMemory) -> Self {
        self.files.memory = Some(memory);
        self
    }
}

impl<F, E> Perform for LocalPorts<F>
where
    F: FnMut(&[u8]) -> Result<Vec<u8>, E>,
    E: Display,
{
    fn perform(&mut self, work: ContextWork) -> ContextOutcome {
        match self.files.perform(work) {
            Ok(done) => done,
            Err(body) => answered((self.post)(&body)),
        }
    }
}

impl<F, Fut, E> PerformAsync for AsyncPorts<F>
where
    F: FnMut(Bytes) -> Fut + Send,
    Fut: Future<Output = Result<Vec<u8>, E>> + Send,
    E: Display,
{
    async fn perform(&mut self, work: ContextWork) -> ContextOutcome {
        match self.files.perform(work) {
            Ok(done) => done,
            Err(body) => answered((self.post)(body).await),
        }
    }
}

fn answered<E: Display>(response: Result<Vec<u8>, E>) -> ContextOutcome {
    match response {
        Ok(body) => ContextOutcome::Answered(body),
        Err(error) => ContextOutcome::Failed(error.to_string()),
    }
}

impl LocalFiles {
    /// Does what needs no model; gives back the request that does.
    fn perform(&self, work: ContextWork) -> Result<ContextOutcome, Bytes> {
        Ok(match work {
            ContextWork::Ask { body } => return Err(body),
            ContextWork::Write { file, content } => match self.write(&file, &content) {
                Ok(path) => ContextOutcome::Written(path),
                Err(error) => ContextOutcome::Failed(error.to_string()),
            },
            ContextWork::Read { paths, max_bytes } => {
                let read = |path: PathBuf| Some((path.clone(), head(&path, max_bytes)?));
                ContextOutcome::Read(paths.into_iter().filter_map(read).collect())
            }
            ContextWork::Recall(query) => match &self.memory {
                None => ContextOutcome::Recalled(None),
                Some(memory) => match memory.recall(&query) {
                    Ok(found) => ContextOutcome::Recalled(found),
                    Err(error) => ContextOutcome::Failed(error.to_string()),
                },
            },
        })
    }

    /// A file that is there already stays as it is: a spill is written once (L1.7).
    fn write(&self, file: &str, content: &str) -> Result<PathBuf, everfold_disk::Error> {
        let path = self.dir.join(file);
        if !path.exists() {
            atomic::write(&path, content.as_bytes(), FileReaders::Private)?;
        }
        Ok(path)
    }
}

/// The start of a text file; none of what cannot be read, or is not text.
fn head(path: &Path, max_bytes: u64) -> Option<String> {
    let mut bytes = everfold_disk::read_regular(path, u64::MAX).ok()?;
    bytes.truncate(usize::try_from(max_bytes).unwrap_or(usize::MAX));
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        // Cut within a character, or no text at all.
        Err(error) if error.utf8_error().error_len().is_none() => {
            Some(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(_) => None,
    }
}

impl Context {
    /// Makes room for the next request, and brings in memories. What cannot be
    /// done is passed over: a file that is not written leaves the start of the
    /// result, a model that does not answer leaves a summary of our own.
    ///
    /// # Errors
    /// If the conversation is too long, and compaction is switched off.
    pub fn prepare(&mut self, ports: &mut impl Perform) -> Result<(), ContextError> {
        loop {
            match self.step() {
                ContextStep::Perform(work) => {
                    let outcome = ports.perform(work);
                    self.resolve(outcome);
                }
                ContextStep::Ready => return Ok(()),
                ContextStep::Full(refusal) => return Err(refusal.into()),
            }
        }
    }

    /// The same with ports that wait.
    ///
    /// # Errors
    /// If the conversation is too long, and compaction is switched off.
    pub async fn prepare_async(
        &mut self,
        ports: &mut impl PerformAsync,
    ) -> Result<(), ContextError> {
        loop {
            match self.step() {
                ContextStep::Perform(work) => {
                    let outcome = ports.perform(work).await;
                    self.resolve(outcome);
                }
                ContextStep::Ready => return Ok(()),
                ContextStep::Full(refusal) => return Err(refusal.into()),
            }
        }
    }
}
