//! A tool was used: a memory that the model read by itself is not shown to it
//! again, and one that it wrote is taken up at once (R7, X5).

use super::call::HostCall;
use super::failure;
use super::notes::{Note, Notes};
use super::reply::HostReply;
use crate::error::Error;
use crate::hosts::HostService;
use everfold_memory_store::StoreScope;
use std::path::{Path, PathBuf};

/// Tools that read a file, as hosts call them.
const READING: [&str; 2] = ["Read", "read_file"];
/// Tools that write one.
const WRITING: [&str; 5] = ["Write", "Edit", "MultiEdit", "write_file", "replace"];

impl HostService {
    pub(super) fn tool_used(&self, call: &HostCall, notes: &mut Notes) -> Result<HostReply, Error> {
        if let Some(said) = failure::reported(call) {
            return self.cause_of(&said, notes);
        }
        let tool = call.text("tool_name");
        let named = [call.inner("tool_input", "file_path"), call.inner("tool_input", "path")];
        let Some(named) = named.into_iter().find(|path| !path.is_empty()) else {
            return Ok(HostReply::nothing());
        };
        let path = real(Path::new(named));
        let Some(scope) = self.scope_of(&path) else { return Ok(HostReply::nothing()) };
        if READING.contains(&tool) {
            notes.note(Note::Read { path });
        } else if WRITING.contains(&tool) {
            // Opening notices what was written from outside, and enters it.
            self.memories.existing(scope)?;
        }
        Ok(HostReply::nothing())
    }

    /// Whose memory a file is.
    pub(super) fn scope_of(&self, path: &Path) -> Option<StoreScope> {
        let of = |scope: StoreScope| path.starts_with(real(&self.memories.dir(scope)));
        [StoreScope::Project, StoreScope::Global].into_iter().find(|scope| of(*scope))
    }
}

/// A path with its links resolved, where it is there.
pub(super) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
