//! The rules: from words to a tool call, from a tool's result to an answer.

use super::present;
use super::request::Request;
use serde_json::{Value, json};

/// What is done about a request.
#[derive(Debug, PartialEq)]
pub(super) enum Plan {
    /// Answer with a text.
    Say(String),
    Call {
        /// What is said about it.
        say: String,
        tool: &'static str,
        input: Value,
    },
}

/// What a person wants, as far as the rules know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Read(String),
    /// A short form of a file.
    Summary(String),
    /// Lines that match.
    Search {
        /// A regular expression.
        pattern: String,
        /// Where; none is the working directory.
        place: Option<String>,
    },
    /// Names of files.
    List {
        pattern: String,
        /// Where; none is the working directory.
        place: Option<String>,
    },
    /// A command of the shell.
    Run(String),
    /// Something to be kept in mind.
    Remember,
    /// What can be asked.
    Help,
    Other,
}

/// Words after a verb that carry nothing.
const FILLERS: [&str; 11] =
    ["me", "us", "the", "a", "file", "files", "contents", "content", "of", "for", "please"];

/// Words that show that what follows `run` is a sentence and no command.
const NOT_COMMANDS: [&str; 12] =
    ["the", "a", "an", "all", "my", "our", "your", "this", "that", "it", "some", "every"];

/// Decides about a request.
pub(super) fn plan(request: &Request) -> Plan {
    let wish = understand(&request.ask);
    if let Some(result) = request.results.last() {
        return Plan::Say(present::result(&wish, result));
    }
    let (tool, say, input) = match &wish {
        Wish::Read(path) | Wish::Summary(path) => {
            ("Read", format!("Reading {path}."), json!({"file_path": path}))
        }
        Wish::Search { pattern, place } => (
            "Grep",
            format!("Searching for {pattern}."),
            with_path(
                json!({"pattern": pattern, "output_mode": "content", "-n": true}),
                place.as_deref(),
            ),
        ),
        Wish::List { pattern, place } => (
            "Glob",
            format!("Listing {pattern}."),
            with_path(json!({"pattern": pattern}), place.as_deref()),
        ),
        Wish::Run(command) => (
            "Bash",
            "Running the command.".to_owned(),
            json!({"command": command, "description": "Run the command that was asked for"}),
        ),
        Wish::Remember => return Plan::Say(present::REMEMBER.trim_end().to_owned()),
        Wish::Help => return Plan::Say(present::HELP.trim_end().to_owned()),
        Wish::Other => return Plan::Say(present::OTHER.trim_end().to_owned()),
    };
    if request.offers(tool) {
        Plan::Call { say, tool, input }
    } else {
        Plan::Say(format!(
            "That needs the {tool} tool, which is not available in this session. I follow fixed \
             rules and have no other way to do it."
        ))
    }
}

fn with_path(mut input: Value, place: Option<&str>) -> Value {
    if let (Some(place), Value::Object(map)) = (place, &mut input) {
        map.insert("path".into(), place.into());
    }
    input
}

/// What the words mean.
pub(super) fn understand(ask: &str) -> Wish {
    let ask = ask.trim();
    let line = ask.lines().next().unwrap_or_default().trim();
    if let Some(command) = line.strip_prefix("$ ") {
        return Wish::Run(command.trim().to_owned());
    }
    let lower = line.to_lowercase();
    let plain = lower.trim_end_matches(['?', '!', '.']);
    if matches!(plain, "help" | "/help" | "?" | "what can you do" | "what do you do") {
        return Wish::Help;
    }
    if plain.starts_with("what files") || plain.starts_with("which files") {
        return list(words_after(line, 2));
    }
    let line = line.strip_prefix("please ").unwrap_or(line);
    let line = line.strip_prefix("Please ").unwrap_or(line);
    let (verb, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match verb.to_lowercase().trim_end_matches(['.', '?', '!']) {
        "read" | "show" | "open" | "cat" | "view" => path(rest).map_or(Wish::Other, Wish::Read),
        "summarise" | "summarize" => path(rest).map_or(Wish::Other, Wish::Summary),
        "list" | "ls" => list(rest),
        "find" | "search" if looks_like_glob(rest) => list(rest),
        "search" | "find" => search(rest, regex::escape),
        "grep" => search(rest, |pattern| {
            if regex::Regex::new(pattern).is_ok() {
                pattern.to_owned()
            } else {
                regex::escape(pattern)
            }
        }),
        "run" | "execute" => command(rest),
        "remember" if !plain.starts_with("remember when") => Wish::Remember,
        _ => Wish::Other,
    }
}

fn words_after(line: &str, count: usize) -> &str {
    let mut rest = line;
    for _ in 0..count {
        rest = rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, after)| after);
    }
    rest
}

/// A text without fillers at its start.
fn skip_fillers(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if rest.is_empty() || !FILLERS.contains(&word.to_lowercase().as_str()) {
            return text.trim_end();
        }
        text = rest;
    }
}

/// What stands between quotes, if the text starts with one.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut chars = text.chars();
    let quote = chars.next().filter(|first| matches!(first, '"' | '\'' | '`'))?;
    chars.as_str().split_once(quote)
}

/// A path: quoted, alone, or the first of several words if it looks like one.
fn path(text: &str) -> Option<String> {
    let text = skip_fillers(text);
    if let Some((inner, _)) = quoted(text) {
        return (!inner.is_empty()).then(|| inner.to_owned());
    }
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let word = first.trim_end_matches(['?', '!', ',', ';', ':']);
    let word = match word.strip_suffix('.') {
        Some(stem) if !stem.is_empty() && !stem.ends_with('.') => stem,
        _ => word,
    };
    let alone = words.next().is_none();
    (alone || word.contains(['/', '.'])).then(|| word.to_owned())
}

/// Splits `X in Y` where `Y` is one word.
fn in_place(text: &str) -> (&str, Option<String>) {
    let split = text.rsplit_once(" in ").or_else(|| {
        let place = text.strip_prefix("in ")?;
        Some(("", place))
    });
    match split {
        Some((what, place)) if place.split_whitespace().count() == 1 => {
            let place = place.trim().trim_end_matches(['?', '!']);
            (what.trim(), path(place))
        }
        _ => (text.trim(), None),
    }
}

fn search(text: &str, pattern: impl Fn(&str) -> String) -> Wish {
    let text = text.trim();
    let text = text.strip_prefix("for ").unwrap_or(text);
    let (what, place) = in_place(text);
    let what = quoted(what).map_or(what, |(inner, _)| inner);
    if what.is_empty() {
        return Wish::Other;
    }
    Wish::Search { pattern: pattern(what), place }
}

fn looks_like_glob(text: &str) -> bool {
    let text = skip_fillers(text);
    text.contains(['*', '?']) && !text.contains(char::is_whitespace) && !text.ends_with('?')
}

fn list(text: &str) -> Wish {
    let text = text.trim().trim_end_matches(['?', '!']);
    let (what, place) = in_place(text);
    let place = place.filter(|place| !matches!(place.as_str(), "here" | "there" | "."));
    let bare = skip_fillers(what);
    let everything = "**/*".to_owned();
    match bare.to_lowercase().as_str() {
        "" | "file" | "files" | "all" | "all files" | "everything" | "are here" | "are there"
        | "here" | "are" | "exist" => Wish::List { pattern: everything, place },
        _ if bare.contains('*') => Wish::List { pattern: path(bare).unwrap_or(everything), place },
        _ => match (path(bare), place) {
            (Some(place), None) => Wish::List { pattern: everything, place: Some(place) },
            _ => Wish::Other,
        },
    }
}

fn command(text: &str) -> Wish {
    let text = text.trim();
    let text = quoted(text).map_or(text, |(inner, _)| inner);
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.is_empty() || NOT_COMMANDS.contains(&first.to_lowercase().as_str()) {
        return Wish::Other;
    }
    Wish::Run(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(pattern: &str, place: Option<&str>) -> Wish {
        Wish::Search { pattern: pattern.into(), place: place.map(str::to_owned) }
    }

    fn list(pattern: &str, place: Option<&str>) -> Wish {
        Wish::List { pattern: pattern.into(), place: place.map(str::to_owned) }
    }

    #[test]
    fn q8_words_are_understood() {
        let read = |path: &str| Wish::Read(path.into());
        let cases = [
            ("read README.md", read("README.md")),
            ("Show me the contents of src/main.rs.", read("src/main.rs")),
            ("open `a file.txt` please", read("a file.txt")),
            ("cat Makefile", read("Makefile")),
            ("please read Cargo.toml and tell me more", read("Cargo.toml")),
            ("show me how this works", Wish::Other),
            ("read", Wish::Other),
            ("summarize the file notes.md", Wish::Summary("notes.md".into())),
            ("search for foo(bar in src", search(r"foo\(bar", Some("src"))),
            ("find TODO", search("TODO", None)),
            ("find *.rs", list("*.rs", None)),
            ("grep fn \\w+ in src/lib.rs", search("fn \\w+", Some("src/lib.rs"))),
            ("grep foo(", search(r"foo\(", None)),
            ("grep \"two words\"", search("two words", None)),
            ("list", list("**/*", None)),
            ("list files in docs", list("**/*", Some("docs"))),
            ("ls src/", list("**/*", Some("src/"))),
            ("what files are here?", list("**/*", None)),
            ("What files are in src?", list("**/*", Some("src"))),
            ("list *.md in docs", list("*.md", Some("docs"))),
            ("run cargo test -p x", Wish::Run("cargo test -p x".into())),
            ("$ echo hi | wc", Wish::Run("echo hi | wc".into())),
            ("run `make all`", Wish::Run("make all".into())),
            ("run the tests", Wish::Other),
            ("help", Wish::Help),
            ("What can you do?", Wish::Help),
            ("hello", Wish::Other),
            ("", Wish::Other),
            ("remember that I like tea", Wish::Remember),
            ("remember when this broke?", Wish::Other),
            ("write hello to a.txt", Wish::Other),
        ];
        for (ask, wish) in cases {
            assert_eq!(understand(ask), wish, "{ask}");
        }
    }
}
