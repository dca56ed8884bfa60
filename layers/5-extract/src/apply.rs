//! What a review becomes: proposals for the one gate, and a note in the log.

use crate::plan::ReviewSpan;
use everfold_kernel::RecordId;
use everfold_kernel::ports::{
    Haste, Kept, MemoryAuthor, MemoryPlacement, MemoryProposal, MemoryScope,
};
use everfold_kernel::record::Extracted;
use everfold_kernel::testimony::Testimony;
use everfold_memory_file::MemoryDraft;
use everfold_memory_file::frontmatter::{Key, METADATA, Value, set};
use everfold_memory_judge::wish::{Certainty, Tier, Wish};

/// What a rule found, as it is proposed: the person's own words, marked with
/// the rule (L5.19).
#[must_use]
pub fn proposal(wish: &Wish, testimony: &Testimony, by: MemoryAuthor) -> MemoryProposal {
    let draft = MemoryDraft {
        name: &wish.name,
        description: &wish.description,
        kind: wish.kind,
        body: &wish.body,
    };
    let text = draft.render();
    let rule = Value::Text(wish.rule.to_owned());
    MemoryProposal {
        text: set(&text, Key::Under(METADATA, "rule"), &rule).unwrap_or(text),
        place: MemoryPlacement::Anywhere {
            scope: (wish.tier == Tier::Global).then_some(MemoryScope::Global),
        },
        testimony: testimony.clone(),
        by,
        haste: match wish.certainty {
            Certainty::Sure => Haste::AtOnce,
            Certainty::Unsure => Haste::Waits,
        },
    }
}

/// What a review came to, for the log: the cursor moves. What was refused is
/// not named (L5.40).
#[must_use]
pub fn extracted(review: &ReviewSpan, kept: &[Kept]) -> Extracted {
    let saved = kept.iter().filter_map(Kept::memory).map(|memory| memory.file.clone());
    let refused = kept.iter().filter_map(|kept| match kept {
        Kept::Refused { reason } => Some(reason.clone()),
        _ => None,
    });
    Extracted {
        through: review.last.clone().unwrap_or_else(|| RecordId::from("")),
        saved: saved.collect(),
        refused: refused.collect(),
        put_off: None,
    }
}

/// A review that is put off: the cursor stays (L5.42).
#[must_use]
pub fn put_off(cursor: Option<&RecordId>, why: &str) -> Extracted {
    Extracted {
        through: cursor.cloned().unwrap_or_else(|| RecordId::from("")),
        saved: Vec::new(),
        refused: Vec::new(),
        put_off: Some(why.to_owned()),
    }
}
