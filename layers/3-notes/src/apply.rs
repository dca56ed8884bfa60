//! What becomes of an update: it is taken whole, or not at all (L3.1).

use crate::notes::{Flaw, Notes, safe};
use crate::template::Template;
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{Decision, Limits, RecordId};

/// An update that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// What the file says from now on.
    pub text: String,
    /// What the file holds, in tokens.
    pub tokens: u64,
}

impl Accepted {
    /// What goes into the log once the file is written: the notes cover the
    /// conversation up to this record.
    #[must_use]
    pub fn decision(&self, through: RecordId) -> Decision {
        Decision::Noted { through, tokens: self.tokens }
    }
}

/// Why an update is thrown away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// The frame was changed.
    #[error(transparent)]
    Frame(#[from] Flaw),
    /// It says no more than the notes before.
    #[error("nothing was written")]
    Unchanged,
    /// They are over their cap already, and would become longer (L3.3).
    #[error("the notes have {before} tokens and would have {after}, over the limit of {most}")]
    Longer { before: u64, after: u64, most: u64 },
    /// There is far too much of it.
    #[error("the notes would have {bytes} bytes, more than {most}")]
    TooLarge { bytes: u64, most: u64 },
}

/// Judges what an agent made of the notes. That a cap is passed is no reason to
/// throw an update away: the next one is told of it. It has to shorten them
/// then, so that they never grow without end (L3.3).
///
/// # Errors
/// If a heading or a line in italics was changed, nothing was, or it is too long.
pub fn judge(
    before: &str,
    after: &str,
    template: &Template,
    limits: &Limits,
) -> Result<Accepted, Rejected> {
    let (bytes, most) = (after.len() as u64, limits.notes.file_bytes);
    if bytes > most {
        return Err(Rejected::TooLarge { bytes, most });
    }
    let after = safe(after);
    let notes = Notes::read(&after, template)?;
    let text = notes.render();
    if text == before {
        return Err(Rejected::Unchanged);
    }
    let tokens = |text: &str| estimate_text(text, limits).0;
    let (before, after, most) = (tokens(before), tokens(&text), limits.notes.file_tokens);
    if before > most && after > before {
        return Err(Rejected::Longer { before, after, most });
    }
    Ok(Accepted { tokens: after, text })
}
