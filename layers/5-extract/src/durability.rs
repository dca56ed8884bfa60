//! Whether the person said anything that could last (E2).
//!
//! A review costs, and most turns teach nothing: "run the tests", "go on",
//! "what does this do?". A turn is left out only where every sentence of the
//! person is plainly such a thing, in words of a language that the lists know.
//! Whatever the lists do not know passes: a memory that is lost is worse than
//! a review that finds nothing.

use everfold_kernel::Testimony;

/// Words of a sentence that says nothing by itself.
const NODS: &[&str] = &[
    "again", "ahead", "and", "continue", "cool", "do", "done", "fine", "go", "good", "great", "it",
    "keep", "looks", "next", "nice", "now", "ok", "okay", "on", "please", "proceed", "right", "so",
    "sure", "thank", "thanks", "that", "the", "then", "this", "try", "up", "yep", "yes", "you",
];

/// Words that begin a task, or a question.
const OPENERS: &[&str] = &[
    "add",
    "analyse",
    "analyze",
    "apply",
    "are",
    "build",
    "can",
    "change",
    "check",
    "clean",
    "commit",
    "compare",
    "compile",
    "convert",
    "copy",
    "could",
    "count",
    "create",
    "debug",
    "delete",
    "describe",
    "did",
    "do",
    "document",
    "does",
    "download",
    "edit",
    "explain",
    "extract",
    "fetch",
    "find",
    "fix",
    "format",
    "generate",
    "get",
    "give",
    "go",
    "grep",
    "has",
    "have",
    "how",
    "implement",
    "improve",
    "inline",
    "inspect",
    "install",
    "is",
    "list",
    "look",
    "make",
    "measure",
    "merge",
    "migrate",
    "move",
    "open",
    "optimise",
    "optimize",
    "print",
    "push",
    "read",
    "rebase",
    "refactor",
    "remove",
    "rename",
    "render",
    "replace",
    "reproduce",
    "rerun",
    "reset",
    "restart",
    "revert",
    "review",
    "rewrite",
    "run",
    "search",
    "see",
    "send",
    "set",
    "show",
    "simplify",
    "sort",
    "split",
    "start",
    "stop",
    "sum",
    "summarise",
    "summarize",
    "take",
    "tell",
    "test",
    "translate",
    "try",
    "turn",
    "undo",
    "update",
    "upgrade",
    "verify",
    "was",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "would",
    "wrap",
    "write",
];

/// Words that may go before the one that begins a task.
const SOFTENERS: &[&str] =
    &["also", "and", "finally", "first", "next", "now", "ok", "okay", "please", "so", "then"];

/// Words that may tell of something that lasts, wherever they stand.
const LASTING: &[&str] = &[
    "actually",
    "agreed",
    "allergic",
    "always",
    "anymore",
    "april",
    "asked",
    "august",
    "because",
    "birthday",
    "board",
    "boss",
    "budget",
    "called",
    "channel",
    "client",
    "colleague",
    "company",
    "confirmed",
    "convention",
    "correct",
    "customer",
    "daily",
    "dashboard",
    "deadline",
    "december",
    "decided",
    "decision",
    "don't",
    "dont",
    "due",
    "every",
    "exactly",
    "except",
    "expect",
    "favorite",
    "favourite",
    "february",
    "forget",
    "friday",
    "future",
    "hate",
    "http",
    "https",
    "i",
    "i'd",
    "i'll",
    "i'm",
    "i've",
    "im",
    "important",
    "instead",
    "ive",
    "january",
    "jira",
    "july",
    "june",
    "later",
    "like",
    "likes",
    "linear",
    "live",
    "lives",
    "longer",
    "love",
    "manager",
    "march",
    "me",
    "meeting",
    "mine",
    "monday",
    "monthly",
    "moved",
    "must",
    "my",
    "name",
    "named",
    "need",
    "needs",
    "never",
    "no",
    "not",
    "note",
    "november",
    "october",
    "office",
    "only",
    "our",
    "ours",
    "owner",
    "owns",
    "perfect",
    "policy",
    "prefer",
    "preferred",
    "prefers",
    "quarter",
    "rather",
    "release",
    "releases",
    "remember",
    "remind",
    "responsible",
    "rule",
    "rules",
    "saturday",
    "september",
    "shall",
    "should",
    "shouldn't",
    "since",
    "slack",
    "standard",
    "stands",
    "style",
    "sunday",
    "team",
    "they",
    "thursday",
    "ticket",
    "tomorrow",
    "tonight",
    "tuesday",
    "unless",
    "until",
    "us",
    "usually",
    "want",
    "wanted",
    "wants",
    "we",
    "we'll",
    "we're",
    "we've",
    "wednesday",
    "week",
    "weekly",
    "whenever",
    "wiki",
    "won't",
    "work",
    "works",
    "wrong",
    "year",
    "yesterday",
];

/// Two words in a row that do.
const LASTING_PAIRS: &[(&str, &str)] =
    &[("from", "now"), ("in", "future"), ("in", "general"), ("as", "always"), ("for", "all")];

/// Whether anything that the person typed could last.
///
/// ```
/// use everfold_extract::could_last;
/// use everfold_kernel::Testimony;
///
/// let said = |text: &str| Testimony::typed(text, "r".into());
/// assert!(!could_last(&said("Fix the failing test in fold.rs, please.")));
/// assert!(could_last(&said("We deploy on Thursdays.")));
/// ```
#[must_use]
pub fn could_last(testimony: &Testimony) -> bool {
    testimony.by_person().any(|said| sentences(&said.text).any(is_telling))
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '!', ';'])
        .flat_map(|line| line.split(". "))
        .flat_map(|part| part.split_inclusive('?'))
        .filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}

/// Whether a sentence may tell of something that lasts.
pub(crate) fn is_telling(sentence: &str) -> bool {
    let words: Vec<String> = words(sentence).collect();
    let has = |list: &[&str], word: &String| list.contains(&word.as_str());
    let pairs = || words.iter().zip(words.iter().skip(1));
    let is_pair = |(one, two): (&String, &String)| {
        LASTING_PAIRS.iter().any(|(first, second)| one == first && two == second)
    };
    // Another script, or another language: nothing here can read it.
    let is_foreign = sentence.chars().any(|own| own.is_alphabetic() && !own.is_ascii());
    if is_foreign || words.iter().any(|word| has(LASTING, word)) || pairs().any(is_pair) {
        return true;
    }
    if words.iter().all(|word| has(NODS, word)) {
        return false;
    }
    let mut rest = words.iter().skip_while(|word| has(SOFTENERS, word));
    !rest.next().is_some_and(|word| has(OPENERS, word))
}

fn words(sentence: &str) -> impl Iterator<Item = String> {
    sentence
        .split(|own: char| !(own.is_alphanumeric() || own == '\'' || own == '’'))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lasts(text: &str) -> bool {
        could_last(&Testimony::typed(text, "r".into()))
    }

    #[test]
    fn e2_tasks_questions_and_nods_are_not_reviewed() {
        for text in [
            "go on",
            "ok",
            "yes, do it",
            "Looks good, thanks!",
            "run the tests",
            "Read src/fold.rs and explain the loop.",
            "What does this function do?",
            "please fix the clippy warnings; then commit",
            "now show the diff",
            "Read the five files of step 17 and compare them.",
        ] {
            assert!(!lasts(text), "{text}");
        }
    }

    #[test]
    fn e2_whatever_could_last_passes() {
        for text in [
            "I'm a data scientist.",
            "We deploy on Thursdays, never on Fridays.",
            "no, use tabs instead",
            "Don't mock the database in tests.",
            "the bugs are tracked in Linear under INGEST",
            "Perfect, keep answers short like that.",
            "Run the tests with nextest from now on.",
            "Ada owns the billing service",
            "Wir liefern immer donnerstags aus.",
            "我们每周四部署",
            "fix it, my boss needs it by friday",
            "The staging database is read by two programs.",
            "use tabs",
        ] {
            assert!(lasts(text), "{text}");
        }
    }
}
