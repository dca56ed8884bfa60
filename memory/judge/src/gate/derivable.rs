//! What is not worth keeping, because it can be found out elsewhere (L5.5).
//!
//! Each check looks for a form that such a thing takes. What a person is, and
//! how they want to work, may speak of code and commands; what goes on in a
//! project may not be a copy of it.

use crate::similar::ShingleSet;
use everfold_kernel::limits::ExtractLimits;
use everfold_memory_file::{Memory, MemoryType};
use regex::Regex;
use std::fmt;
use std::sync::LazyLock;

/// What a memory repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivable {
    /// Code.
    Code,
    /// Where things are in the project.
    Structure,
    /// What git knows.
    History,
    /// How something was fixed or is done.
    Recipe,
    /// How far the task is.
    TaskState,
    /// Instruction files.
    Instructions,
}

impl fmt::Display for Derivable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "it is code, and the code says it",
            Self::Structure => "it tells how the project is laid out, and the files show it",
            Self::History => "it is history, and git says it",
            Self::Recipe => "it is a fix or a recipe, and the change itself shows it",
            Self::TaskState => "it is the state of the task, which is over with it",
            Self::Instructions => "instruction files say it already",
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
    let has = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|p| p.is_match(&text));
    if has(&HISTORY) {
        return Some(Derivable::History);
    }
    if has(&TASK_STATE) {
        return Some(Derivable::TaskState);
    }
    if has(&RECIPE) {
        return Some(Derivable::Recipe);
    }
    (has(&STRUCTURE) || is_mostly_paths(&text, limits.path_percent)).then_some(Derivable::Structure)
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
    URL.as_ref().map_or_else(|| text.to_owned(), |url| url.replace_all(text, "").into_owned())
}

fn is_mostly_paths(text: &str, percent: u64) -> bool {
    let Some(pattern) = PATH.as_ref() else { return false };
    let paths = pattern.find_iter(text).count();
    let words = text.split_whitespace().count().max(1);
    // One or two paths say what a memory is about.
    paths > 2 && (paths * 100 / words) as u64 >= percent
}

static URL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"https?://\S+").ok());

static PATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"[\w.-]*(/[\w.-]+)+/?|\b[\w-]+\.(rs|ts|tsx|js|py|go|java|c|h|cpp|rb|toml|json|ya?ml)\b",
    )
    .ok()
});

static HISTORY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(commit|sha|revision)\s+`?[0-9a-f]{7,40}\b
        | \bgit\ (log|blame|history)\b
        | \b(merged|opened|closed|landed)\b [^.\n]{0,30} \b(PR|pull\ request|MR)\s*\#?\d+
        | \b(was|were|got)\ (renamed|refactored|moved|added|removed|deleted|introduced)\ in\ (commit|PR|pull\ request|version)\b",
    )
    .ok()
});

static TASK_STATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?imx)
        \b(next|remaining)\ (steps?|tasks?|work)\b \s* (:|are|is)
        | ^[\s*\#>-]*(to-?do|in\ progress|done\ so\ far|status)\b\s*:
        | \bcurrent(ly)?\ (task|step|state\ of\ the\ task|implementing|debugging|fixing|refactoring|editing)\b
        | \b(we|i|the\ assistant)\ (are|am|is|were|was)\ in\ the\ middle\ of\b
        | \b(all|the)\ tests\ (now\ )?(pass|fail)\b
        | \bin\ this\ (session|conversation)\b",
    )
    .ok()
});

static RECIPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?imx)
        \bthe\ fix\ (is|was)\b
        | \b(was|were|is|got)\ (fixed|solved|resolved)\ by\ (changing|adding|removing|setting|running|using|renaming)\b
        | ^[\s*\#>-]*(fix|solution|recipe|steps(\ to\ \w+)?)\s*:
        | \bto\ (fix|build|compile|install|run|test|deploy)\ (it|this|the\ \w+)\b [^.\n]{0,20} \b(run|use|call|type)\b",
    )
    .ok()
});

static STRUCTURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)
        \b(project|repo|repository|code\ ?base|directory|folder|module|package|workspace)\s+
            (structure|layout|tree|organi[sz]ation|architecture)\b
        | \b(is|are|lives?|sits?|located|defined|implemented|found|handled)\ (in|at|under|by)\ `?
            (\./)? (src|lib|app|apps|crates|packages|pkg|cmd|internal|tests?|engine|core)/
        | \b(defined|implemented|declared|located)\ in\ `?[\w./-]+\.(rs|ts|tsx|js|py|go|java|c|h|cpp|rb)\b",
    )
    .ok()
});
