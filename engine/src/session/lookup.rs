//! Bringing back what is out of the model's view (L1.8, L2.5, L4.16).
//!
//! [`find`] takes an id and answers with text: the result of a tool call that
//! was spilled or cleared, a message that was compacted away, a span of
//! messages in short form. The tool of the model, `everfold show-result` and
//! `/expand` all look things up here.
//!
//! A result is read from its file where that is there, since a log that
//! another program wrote may hold no more than a preview; else from the log,
//! which keeps every result of ours. An id is a name and never a path: it is
//! turned into a file's name by layer 1, and a file that links out of the
//! session's directory is not read (S2).
//!
//! The log is read in one pass and not kept: of every line only what the id
//! asks for stays in memory.

pub(crate) mod search;
pub(crate) mod words;

use crate::session::effects::RESULTS_DIR;
use crate::tools::{Lookup, ToolContext};
pub use crate::tools::{RecallError, Recalled, RecalledKind};
use everfold_kernel::ports::{BoxFuture, Files, TranscriptError, World};
use everfold_kernel::{Limits, SessionId};
use search::{Looking, Wanted};
use std::path::Path;

/// Looks things up in the session of a tool context.
pub struct LogLookup;

impl Lookup for LogLookup {
    fn find<'a>(
        &'a self,
        context: &'a ToolContext,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Recalled, RecallError>> {
        Box::pin(find(&context.world, &context.limits, &context.session, id))
    }
}

/// Finds what an id of a session stands for: a tool call's id, a record's
/// uuid, or `uuid..uuid`.
///
/// # Errors
/// If nothing has that id, or the log cannot be read.
pub async fn find(
    world: &World,
    limits: &Limits,
    session: &SessionId,
    id: &str,
) -> Result<Recalled, RecallError> {
    let wanted = Wanted::parse(id)?;
    if let Wanted::One { id } = wanted {
        let directory = world.transcripts.session_dir(session).join(RESULTS_DIR);
        if let Some(text) = spilled(&*world.files, &directory, id, limits).await {
            let kind = RecalledKind::Result;
            return Ok(Recalled { kind, tool: None, text, at: None, provenance: None });
        }
    }
    let mut looking = Looking::new(wanted);
    let mut sink = |line: &[u8]| looking.take(line);
    match world.transcripts.load(session, &mut sink).await {
        // A session that has said nothing yet has no transcript.
        Ok(_) | Err(TranscriptError::NotFound { .. }) => looking.found(session),
        Err(error) => Err(error.into()),
    }
}

/// The text of a spilled result, if its file is there and can be read. What
/// is wrong with a file is no error: the log has the result too.
async fn spilled(files: &dyn Files, directory: &Path, id: &str, limits: &Limits) -> Option<String> {
    let stem = everfold_offload::stem(id);
    for extension in ["txt", "json"] {
        let path = directory.join(format!("{stem}.{extension}"));
        if !stays_in(files, directory, &path).await {
            continue;
        }
        let Ok(read) = files.read(&path, limits.read_file_bytes).await else {
            continue;
        };
        let text = String::from_utf8_lossy(&read.bytes).into_owned();
        return Some(match extension {
            "json" => serde_json::from_str(&text).map_or(text, |content| words::content(&content)),
            _ => text,
        });
    }
    None
}

async fn stays_in(files: &dyn Files, directory: &Path, path: &Path) -> bool {
    let directory = files.resolve(directory).await;
    files.resolve(path).await.parent() == Some(&*directory)
}
