//! The instructions as the model sees them.

use crate::discovery::{InstructionScope, Reason};
use crate::instructions::InstructionText;
use everfold_kernel::record::reminder;
use std::fmt::Write as _;

const HEAD: &str = "Instructions for this work, each with the file it comes from. Follow them. \
                    Where two disagree, the later one holds.";

/// All texts as one reminder; none where there are none.
#[must_use]
pub fn render(texts: &[InstructionText]) -> Option<String> {
    if texts.is_empty() {
        return None;
    }
    let mut all = HEAD.to_owned();
    for text in texts {
        let _ = write!(all, "\n\n--- {} ({})\n\n{}", text.path.display(), label(text), text.text);
    }
    Some(reminder(&all))
}

fn label(text: &InstructionText) -> String {
    let whose = match text.scope {
        InstructionScope::Managed => "the organisation's, for everybody",
        InstructionScope::User => "the person's own, for all projects",
        InstructionScope::Project => "the project's",
        InstructionScope::Local => "the person's own, for this project",
    };
    match &text.reason {
        Reason::Import { by } => format!("{whose}; imported by {}", by.display()),
        Reason::Nested => format!("{whose}; for files in its directory"),
        Reason::PathMatch { .. } => format!("{whose}; for files like the one just touched"),
        Reason::Start => whose.to_owned(),
    }
}
