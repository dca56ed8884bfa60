//! What a memory refers to, so that it can be looked up (L6.8): paths, symbols,
//! branches, dates. Only finding them is done here; whether they still exist
//! is for whoever can see the project.

use crate::pattern::patterns;
use everfold_kernel::ports::Names;
use jiff::civil::Date;
use std::fmt;

/// Something that a memory names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    /// A file or folder, as written, without a line number.
    Path(String),
    /// A name in code.
    Symbol(String),
    Branch(String),
    /// A day.
    Date(Date),
}

impl Reference {
    /// Adds it to what is to be looked for; a day needs no looking.
    pub fn collect(&self, names: &mut Names) {
        match self {
            Self::Path(path) => _ = names.paths.insert(path.clone()),
            Self::Symbol(symbol) => _ = names.symbols.insert(symbol.clone()),
            Self::Branch(branch) => _ = names.branches.insert(branch.clone()),
            Self::Date(_) => {}
        }
    }

    /// Whether it no longer holds: it is among the names that are missing, or a
    /// day that was ahead when it was written and has passed.
    #[must_use]
    pub fn is_gone(&self, missing: &Names, written: Option<Date>, today: Date) -> bool {
        match self {
            Self::Path(path) => missing.paths.contains(path),
            Self::Symbol(symbol) => missing.symbols.contains(symbol),
            Self::Branch(branch) => missing.branches.contains(branch),
            Self::Date(day) => written.is_some_and(|written| written < *day) && *day < today,
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(gone) | Self::Symbol(gone) => write!(
                f,
                "names {gone}, which does not \
                                                                exist"
            ),
            Self::Branch(gone) => write!(f, "names the branch {gone}, which is gone"),
            Self::Date(day) => write!(f, "names {day}, which has passed"),
        }
    }
}

/// Everything that a text names, in order, each once.
#[must_use]
pub fn references(text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    let mut add = |reference| {
        if !found.contains(&reference) {
            found.push(reference);
        }
    };
    for span in CODE.find_all(text).iter().filter_map(|span| span.get(1)) {
        if let Some(reference) = of_span(text, span.start(), span.as_str()) {
            add(reference);
        }
    }
    for path in PATH.find_all(text).iter().filter_map(|path| path.get(0)) {
        let before = text.get(..path.start()).unwrap_or_default();
        let part_of_url = before.ends_with(['/', ':', '@', '-', '$', '~', '*', '{', '<', '\\'])
            || before.ends_with("](");
        if !part_of_url && is_path(path.as_str()) {
            add(Reference::Path(without_line(path.as_str())));
        }
    }
    for day in DAY.find_all(text).iter().filter_map(|day| day.get(0)) {
        if let Ok(date) = day.as_str().parse() {
            add(Reference::Date(date));
        }
    }
    found
}

patterns! {
    CODE = r"`([^`\n]{2,200})`";
    PATH = r"(?:\.{0,2}/)?(?:[\w.@-]+/)+[\w.@-]+\.[A-Za-z]\w{0,7}\b(?::\d+)?";
    DAY = r"\b\d{4}-\d{2}-\d{2}\b";
    SYMBOL = r"^[A-Za-z_$][\w$]*(?:(?:::|\.|#|->)[A-Za-z_$][\w$]*)*(?:\(\)|!)?$";
}

/// What a code span names, if it is one thing.
fn of_span(text: &str, at: usize, span: &str) -> Option<Reference> {
    let span = span.trim();
    if span.contains(char::is_whitespace) {
        return None;
    }
    if says_branch(text, at, span) {
        return Some(Reference::Branch(span.to_owned()));
    }
    if is_path(span) {
        return Some(Reference::Path(without_line(span)));
    }
    let is_symbol = SYMBOL.is_in(span);
    // A plain lower-case word in ticks may be anything: a flag, a tool, a value.
    let tells = span.contains(['_', ':', '.', '(', '#', '!'])
        || span.chars().skip(1).any(char::is_uppercase);
    (is_symbol && tells).then(|| Reference::Symbol(span.trim_end_matches("()").to_owned()))
}

fn says_branch(text: &str, at: usize, span: &str) -> bool {
    let near = text.get(..at.saturating_sub(1)).unwrap_or_default().trim_end().to_lowercase();
    let behind = text.get(at + span.len() + 1..).unwrap_or_default().trim_start().to_lowercase();
    let named = near.ends_with("branch") || behind.starts_with("branch");
    named && !span.contains("..") && !span.starts_with('-')
}

fn is_path(span: &str) -> bool {
    let has_place = span.contains('/') || KNOWN_ENDINGS.iter().any(|ending| span.ends_with(ending));
    let odd = ["://", "*", "<", "{", "$", "|", "&&", "//", "\\"];
    has_place
        && !odd.iter().any(|mark| span.contains(mark))
        && !span.starts_with(['/', '@', '-', '~'])
        && span.trim_matches(['/', '.']).len() >= 2
        && (span.contains('.') || span.ends_with('/') || span.matches('/').count() >= 2)
}

/// Files that are named without a folder.
const KNOWN_ENDINGS: &[&str] = &[
    ".rs", ".py", ".ts", ".tsx", ".js", ".jsx", ".go", ".java", ".rb", ".c", ".h", ".cpp", ".md",
    ".toml", ".json", ".yaml", ".yml", ".sh", ".sql", ".css", ".html",
];

fn without_line(path: &str) -> String {
    let path = path.trim_start_matches("./");
    let name = path.split_once(':').map_or(path, |(name, _)| name);
    name.trim_end_matches(['.', ',']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn l6_8_what_a_memory_names_is_found() {
        let text = "The retry loop in `src/net/retry.rs:40` calls `Client::send()` and `max_retries`.\n\
                    See docs/ops/runbook.md and `Makefile.toml`. On branch `feature/retry` until 2026-12-01.\n\
                    Work goes to the `release-2` branch. `src/net/retry.rs` again.";
        assert_eq!(
            references(text),
            [
                Reference::Path("src/net/retry.rs".into()),
                Reference::Symbol("Client::send".into()),
                Reference::Symbol("max_retries".into()),
                Reference::Path("Makefile.toml".into()),
                Reference::Branch("feature/retry".into()),
                Reference::Branch("release-2".into()),
                Reference::Path("docs/ops/runbook.md".into()),
                Reference::Date(date(2026, 12, 1)),
            ]
        );
    }

    #[test]
    fn l6_8_a_day_is_gone_if_it_was_ahead_when_it_was_written() {
        let (missing, today) = (Names::default(), date(2026, 11, 15));
        let gone = |day, written| Reference::Date(day).is_gone(&missing, written, today);
        let written = Some(date(2026, 11, 1));
        assert!(gone(date(2026, 11, 14), written));
        assert!(!gone(date(2026, 11, 15), written), "it is today");
        assert!(!gone(date(2026, 10, 1), written), "it was past then, too");
        assert!(!gone(date(2026, 11, 14), None));
        let mut names = Names::default();
        Reference::Branch("x".into()).collect(&mut names);
        assert!(Reference::Branch("x".into()).is_gone(&names, None, today));
    }

    #[test]
    fn l6_8_commands_words_and_addresses_are_not() {
        for text in [
            "run `cargo test`",
            "the `main` idea",
            "https://example.com/a/b.html",
            "`**/*.ts`",
            "and/or",
            "`true`",
            "2026-99-99",
            "`https://x.y/z.md`",
            "`$HOME/x.md`",
        ] {
            assert_eq!(references(text), [], "{text}");
        }
    }
}
