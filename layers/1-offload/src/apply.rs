//! How the log changes: the decision that freezes what the model sees.

use crate::plan::{Extent, Head, Pending, head};
use everfold_kernel::record::{RECALL_TOOL, Spilled, neutralise};
use everfold_kernel::{Decision, EffectOutcome};
use std::path::Path;

/// What came of one spill.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// What to append to the log; none where the result stays as it is.
    pub decision: Option<Decision>,
    /// Why the result is not on disk. The caller logs it once a session.
    pub failure: Option<String>,
}

/// Turns the outcome of a spill into its decision (L1.1, L1.7). Where the
/// disk refused, the result is cut at its cap with a note that says so; one
/// that was under its cap stays whole.
#[must_use]
pub fn apply(pending: Pending, outcome: EffectOutcome) -> Applied {
    let failure = match outcome {
        EffectOutcome::Spilled { path } => {
            let replacement = envelope(&pending, &path);
            return Applied { decision: Some(decision(pending, replacement)), failure: None };
        }
        EffectOutcome::Failed { reason, .. } => reason,
        EffectOutcome::Answered { .. }
        | EffectOutcome::Files(_)
        | EffectOutcome::TooLong { .. } => {
            "the outcome is not that of writing a tool result".to_owned()
        }
    };
    let Pending { tool_use_id, chars, cut, .. } = pending;
    let decision = cut.map(|cut| {
        let kept = cut.chars().count();
        let replacement = format!(
            "{cut}\n[Cut here: the first {kept} of {chars} characters are shown, \
             and the whole output could not be saved.]"
        );
        Decision::Spilled(Spilled { tool_use_id, replacement, file: None, chars })
    });
    Applied { decision, failure: Some(failure) }
}

fn decision(pending: Pending, replacement: String) -> Decision {
    let Pending { tool_use_id, file, chars, .. } = pending;
    Decision::Spilled(Spilled { tool_use_id, replacement, file: Some(file), chars })
}

pub(crate) fn envelope(pending: &Pending, path: &Path) -> String {
    let Pending { recall_id, chars, bytes, .. } = pending;
    let path = neutralise(&path.display().to_string());
    let (title, preview) = preview(&pending.head);
    format!(
        "<persisted-output>\n\
         Output too large ({chars} characters, {bytes} bytes). Full output saved to: {path}\n\
         Read or search it with {RECALL_TOOL} {{\"id\": \"{recall_id}\"}}.\n\
         \n\
         {title}\n\
         {preview}\n\
         </persisted-output>"
    )
}

/// The preview and its title. It ends with a whole line where it has one, and
/// cannot close the envelope. Tags get longer when they are made harmless, so
/// the limit is held after that.
fn preview(Head { text, limit, extent }: &Head) -> (String, String) {
    let safe = neutralise(text);
    let fits = head(&safe, *limit);
    if *extent == Extent::All && fits.len() == safe.len() {
        return ("Preview (all of its text):".to_owned(), safe);
    }
    let lines = match fits.rfind('\n') {
        Some(end) if end > 0 => head(fits, end),
        _ => fits,
    };
    (format!("Preview (first {} bytes):", lines.len()), lines.to_owned())
}
