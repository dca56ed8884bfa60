//! Results that went to disk: their files are looked through as bytes, which
//! takes a small part of what unpacking their lines does.

use everfold_kernel::{BlockView, Entry};
use everfold_transcript::find::SearchTerms;
use everfold_transcript::{Decoded, decode_shown};
use std::path::{Path, PathBuf};

/// Where a session's large results are, in its own directory.
const RESULTS_DIR: &str = "tool-results";

/// Whether a line whose text is compressed may have the words. It may, unless
/// all of its results are files that do not.
pub(super) fn may_say(transcript: &Path, line: &[u8], terms: &SearchTerms) -> bool {
    let Ok(Decoded::Record(line)) = decode_shown(line) else { return false };
    let Entry::User(user) = &line.record.entry else { return false };
    user.content.iter().any(|block| match block.view() {
        BlockView::ToolResult { id, .. } => {
            let file = file(transcript, id).and_then(|path| std::fs::read(path).ok());
            file.is_none_or(|bytes| terms.maybe_in_bytes(&bytes))
        }
        _ => true,
    })
}

/// The file of a result; none where its id is not a file name as it is.
fn file(transcript: &Path, id: &str) -> Option<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let directory = transcript.with_extension("").join(RESULTS_DIR);
    (!id.is_empty() && id.bytes().all(is_plain)).then(|| directory.join(format!("{id}.txt")))
}
