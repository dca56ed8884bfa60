//! Instruction files that are too long, or not loaded (I4, I5).

use super::{Finding, Severity};
use crate::args::Choices;
use crate::setup::{self, Ground};
use mnemon::rules::{Fate, Row};

const AREA: &str = "instructions";

/// Looks through them.
pub(super) async fn look(ground: &Ground) -> Vec<Finding> {
    // What stands in the way of looking was found elsewhere.
    let Ok(Ok(repository)) =
        setup::builder(ground, &Choices::default()).map(|builder| builder.repository())
    else {
        return Vec::new();
    };
    let Ok(chain) = repository.chain(&[]).await else { return Vec::new() };
    chain.start.rows.iter().filter_map(finding).collect()
}

fn finding(row: &Row) -> Option<Finding> {
    let path = row.path.display();
    let (message, fix) = match &row.fate {
        Fate::LoadedLarge { chars } => (
            format!("{path} has {chars} characters; models follow short instructions better"),
            "make it shorter, or move parts into rules with `paths:`",
        ),
        Fate::TooLarge { bytes } => {
            (format!("{path} has {bytes} bytes and is not loaded"), "make it shorter")
        }
        Fate::NeedsApproval => (
            format!("{path} is imported from outside the repository and is not loaded"),
            "`mnemon trust`, if you know who wrote it",
        ),
        Fate::TooDeep => (
            format!("{path} is imported over too many hops, or is one import too many"),
            "import it more directly",
        ),
        Fate::NotText => (format!("{path} is not text and is not loaded"), "convert it to UTF-8"),
        Fate::Unreadable { message } => {
            (format!("{path} is not loaded: {message}"), "check its owner and its mode")
        }
        Fate::Waiting { refused_patterns } if !refused_patterns.is_empty() => (
            format!("{path} has patterns that never match: {}", refused_patterns.join(", ")),
            "mend its `paths:`",
        ),
        _ => return None,
    };
    Some(Finding::new(Severity::Warning, AREA, message).fix(fix))
}
