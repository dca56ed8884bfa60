//! Whether a memory that was brought in was of use (L5.29).
//!
//! It was, if the answer has words of it that the conversation did not have
//! before: then the model has them from there.

use everfold_kernel::limits::RecallLimits;
use std::collections::BTreeSet;

/// Whether the answer uses a memory. All are sets of stems
/// ([`crate::stems`]): of the memory, of what was said besides, of the answer.
///
/// ```
/// use everfold_kernel::limits::RecallLimits;
/// use everfold_memory_recall::{stems, was_used};
///
/// let memory = stems("We deploy the shop on Fridays, after the standup.");
/// let asked = stems("when do we deploy the shop?");
/// let limits = RecallLimits::default();
/// assert!(was_used(&memory, &asked, &stems("On Friday, after standup."), &limits));
/// assert!(!was_used(&memory, &asked, &stems("We deploy the shop with make."), &limits));
/// ```
#[must_use]
pub fn was_used(
    memory: &BTreeSet<String>,
    besides: &BTreeSet<String>,
    answer: &BTreeSet<String>,
    limits: &RecallLimits,
) -> bool {
    let only_there: BTreeSet<&String> = memory.difference(besides).collect();
    let taken = only_there.iter().filter(|stem| answer.contains(**stem)).count();
    let share = only_there.len().saturating_mul(limits.used_percent).div_ceil(100);
    taken >= share.clamp(1, limits.used_words.max(1))
}
