//! The whole of a conversation, for showing it: all records on its way, those
//! before boundaries among them. They are read from the log in pages; what is
//! held is where they stand.

use crate::session::{Error, Session};
use crate::turn::rewind;
use everfold_kernel::Record;
use everfold_transcript::{Decoded, decode};
use std::collections::BTreeSet;
use std::ops::Range;

/// Where the records of a conversation stand in its log, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    lines: Vec<u64>,
}

impl History {
    /// How many lines of the log it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether nothing was said yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// Where the records of this conversation stand. What was gone back from
/// is not among them.
///
/// # Errors
/// If the log cannot be read.
pub async fn history(session: &Session) -> Result<History, Error> {
    let Some(leaf) = &session.log.last else { return Ok(History::default()) };
    Ok(History { lines: rewind::trace(session).await?.lines(leaf) })
}

/// Some records of a conversation, in order. Lines that say nothing to
/// anybody are left out.
///
/// # Errors
/// If the log cannot be read.
pub async fn history_page(
    session: &Session,
    history: &History,
    range: Range<usize>,
) -> Result<Vec<Record>, Error> {
    let wanted = history.lines.iter().take(range.end).skip(range.start);
    let wanted: BTreeSet<u64> = wanted.copied().collect();
    let mut page = Vec::new();
    let mut number = 0;
    let mut sink = |line: &[u8]| {
        number += 1;
        if wanted.contains(&number)
            && let Ok(Decoded::Record(found)) = decode(line)
        {
            page.push(found.record);
            page.extend(found.rest);
        }
    };
    if !wanted.is_empty() {
        session.world.transcripts.load(&session.log.id, &mut sink).await?;
    }
    Ok(page)
}
