//! Words of programs that may be programs: of one that nobody knows each word
//! may be run, and of one that runs others by a word of its own those behind it.

use super::super::programs;
use super::carriers::{ALL_CODE, INTERPRETERS, RESERVED, TAKE_WORDS};
use super::{call, wrapper::is_shell};
use everfold_kernel::ports::{CallRole, CallWord, ProgramCall, WordKind};

/// Words behind which a program stands: `npm exec -- x`, `docker run i x`.
const VERBS: &[&str] = &[
    "exec",
    "run",
    "x",
    "dlx",
    "shell",
    "develop",
    "rsh",
    "ssh",
    "--args",
    "attach",
    "debug",
    "explore",
    "--command",
];

/// Words at the start among which a verb is looked for.
const NEAR: usize = 6;
/// Programs of one call.
const MOST: usize = 8;
/// Words of a text.
const MOST_WORDS: usize = 24;

/// The programs that a call may run by its words.
pub(super) fn perhaps(name: &str, words: &[CallWord]) -> Vec<ProgramCall> {
    let args = words.get(1..).unwrap_or_default();
    if name.is_empty() {
        return Vec::new();
    }
    // Another program runs a text as its program.
    if name.contains(char::is_whitespace) {
        return in_text(words.first().map_or(name, |word| &word.text));
    }
    if !is_known(name) {
        return of_words(args);
    }
    let verb = args.iter().take(NEAR).position(|word| VERBS.contains(&word.text.as_str()));
    let is_runner = TAKE_WORDS.contains(&name) || name == "gdb";
    match verb.filter(|_| is_runner).and_then(|at| args.get(at + 1..)) {
        Some(rest) => of_words(rest),
        None => Vec::new(),
    }
}

fn is_known(name: &str) -> bool {
    TAKE_WORDS.contains(&name)
        || programs::is_listed(name)
        || is_shell(name)
        || ALL_CODE.contains(&name)
        || RESERVED.contains(&name)
        || INTERPRETERS.iter().any(|(start, _)| name.starts_with(start))
}

fn of_words(args: &[CallWord]) -> Vec<ProgramCall> {
    let is_text = |word: &CallWord| word.text.contains(char::is_whitespace);
    let starts = args.iter().enumerate().filter(|(_, word)| {
        word.kind == WordKind::Exact
            && word.text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
            && !is_text(word)
    });
    let tail = |at: usize| args.get(at..).unwrap_or_default().to_vec();
    let named = starts.take(MOST).map(|(at, _)| call(tail(at), CallRole::Perhaps));
    let texts = args.iter().filter(|word| is_text(word)).flat_map(|word| in_text(&word.text));
    named.chain(texts).collect()
}

/// A text that may be a command: any word of it may be its program.
fn in_text(text: &str) -> Vec<ProgramCall> {
    let splits = |c: char| c.is_whitespace() || "'\"`()<>;|&=:!,{}[]".contains(c);
    let words: Vec<CallWord> = text
        .split(splits)
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
        .map(CallWord::exact)
        .collect();
    let tails = (0..words.len()).filter_map(|at| words.get(at..));
    tails.map(|words| call(words.to_vec(), CallRole::Perhaps)).collect()
}
