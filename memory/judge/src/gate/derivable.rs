//! What is not worth keeping, because it can be found out elsewhere (L5.5).
//!
//! Each check looks for a form that such a thing takes. What a person is, and
//! how they want to work, may speak of code and commands; what goes on in a
//! project may not be a copy of it.

use crate::pattern::patterns;
use crate::phrase::fold;
use crate::similar::ShingleSet;
use everfold_kernel::limits::ExtractLimits;
use everfold_memory_file::{Memory, MemoryType};
use std::fmt;

/// What a memory repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivable {
    Code,
    /// Where things are in the project.
    Structure,
    /// What git knows.
    History,
    /// How something was fixed or is done.
    Recipe,
    /// How far the task is.
    TaskState,
    Instructions,
}

impl fmt::Display for Derivable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "it is code, and the code says it",
            Self::Structure => "it tells how the project is laid out, and the files show it",
            Self::History => "it is history, and git says it",
            Self::Recipe => "it is a fix or a recipe, and the change itself shows it",
            Self::TaskState => "it is the state of the task, which ends with it",
            Self::Instructions => "instruction files already say it",
        })
    }
}

/// What a memory repeats, if it does.
pub(super) fn derivable(
    memory: &Memory<'_>,
    instructions: &str,
    limits: &ExtractLimits,
) -> Option<Derivable> {
    let body = memory.body;
    if code_lines(body) > limits.code_lines {
        return Some(Derivable::Code);
    }
    if repeats(body, instructions, limits.instruction_percent) {
        return Some(Derivable::Instructions);
    }
    let about_the_work =
        matches!(memory.front.kind, Some(MemoryType::Project | MemoryType::Reference));
    if !about_the_work {
        return None;
    }
    let text = [memory.front.description.as_deref().unwrap_or_default(), body].join("\n");
    let text = without_urls(&text);
    let low = fold(&text);
    if HISTORY.is_in(&low) {
        return Some(Derivable::History);
    }
    if TASK_STATE.is_in(&low) {
        return Some(Derivable::TaskState);
    }
    if RECIPE.is_in(&low) {
        return Some(Derivable::Recipe);
    }
    let is_structure = STRUCTURE.is_in(&low) || is_mostly_paths(&text, limits.path_percent);
    is_structure.then_some(Derivable::Structure)
}

/// Lines within fences.
fn code_lines(body: &str) -> usize {
    let mut inside = false;
    let mut lines = 0;
    for line in body.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside && !line.trim().is_empty() {
            lines += 1;
        }
    }
    lines
}

fn repeats(body: &str, instructions: &str, percent: u64) -> bool {
    if instructions.is_empty() {
        return false;
    }
    let share = ShingleSet::of(body).share_in([&ShingleSet::of(instructions)]);
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    let least = percent as f64 / 100.0;
    share >= least
}

fn without_urls(text: &str) -> String {
    URL.replaced(text, |_| String::new())
}

fn is_mostly_paths(text: &str, percent: u64) -> bool {
    let paths = PATH.find_all(text).len();
    let words = text.split_whitespace().count().max(1);
    // One or two paths say what a memory is about.
    paths > 2 && (paths * 100 / words) as u64 >= percent
}

patterns! {
    URL = r"https?://\S+";

    PATH = r"[\w.-]*(/[\w.-]+)+/?|\b[\w-]+\.(rs|ts|tsx|js|py|go|java|c|h|cpp|rb|toml|json|ya?ml)\b";

    HISTORY = r"(?x)
        \b(commit|sha|revision)\s+`?[0-9a-f]{7,40}\b
        | \bgit\ (log|blame|history)\b
        | \b(merged|opened|closed|landed)\b [^.\n]{0,30} \b(pr|pull\ request|mr)\s*\#?\d+
        | \b(was|were|got)\ (renamed|refactored|moved|added|removed|deleted|introduced)\ in\ (commit|pr|pull\ request|version)\b";

    TASK_STATE = r"(?mx)
        \b(next|remaining)\ (steps?|tasks?|work)\b \s* (:|are|is)
        | ^[\s*\#>-]*(to-?do|in\ progress|done\ so\ far|status)\b\s*:
        | \bcurrent(ly)?\ (task|step|state\ of\ the\ task|implementing|debugging|fixing|refactoring|editing)\b
        | \b(we|i|the\ assistant)\ (are|am|is|were|was)\ in\ the\ middle\ of\b
        | \b(all|the)\ tests\ (now\ )?(pass|fail)\b
        | \bin\ this\ (session|conversation)\b";

    RECIPE = r"(?mx)
        \bthe\ fix\ (is|was)\b
        | \b(was|were|is|got)\ (fixed|solved|resolved)\ by\ (changing|adding|removing|setting|running|using|renaming)\b
        | ^[\s*\#>-]*(fix|solution|recipe|steps(\ to\ \w+)?)\s*:
        | \bto\ (fix|build|compile|install|run|test|deploy)\ (it|this|the\ \w+)\b [^.\n]{0,20} \b(run|use|call|type)\b";

    STRUCTURE = r"(?x)
        \b(project|repo|repository|code\ ?base|directory|folder|module|package|workspace)\s+
            (structure|layout|tree|organi[sz]ation|architecture)\b
        | \b(is|are|lives?|sits?|located|defined|implemented|found|handled)\ (in|at|under|by)\ `?
            (\./)? (src|lib|app|apps|crates|packages|pkg|cmd|internal|tests?|engine|core)/
        | \b(defined|implemented|declared|located)\ in\ `?[\w./-]+\.(rs|ts|tsx|js|py|go|java|c|h|cpp|rb)\b";
}
