//! What cannot be known before a command runs. The one place that says so for
//! the names of programs and of files: whatever is not literal text raises a
//! question where a rule forbids something (S11).

use super::base_name;
use everfold_kernel::ports::{CallRole, CallWord, ProgramCall, WordKind};

/// Programs that show what is in the files that they are given, or take it
/// elsewhere.
const SHOWS: &[&str] = &[
    "awk", "base32", "base64", "bat", "bzcat", "cat", "cmp", "column", "comm", "cp", "cut", "dd",
    "diff", "egrep", "expand", "fgrep", "fmt", "fold", "gawk", "grep", "gzip", "head", "hexdump",
    "iconv", "install", "jq", "join", "less", "ln", "mawk", "more", "mv", "nl", "od", "paste",
    "pr", "rev", "rg", "rsync", "scp", "sed", "shuf", "sort", "split", "strings", "tac", "tail",
    "tar", "tee", "uniq", "xxd", "yq", "zcat", "zip", "zless",
];

/// What patterns of the line stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Patterns {
    /// Names without a leading dot, which are looked up.
    #[default]
    Visible,
    /// Hidden names too: the line says so.
    All,
}

impl Patterns {
    pub(super) fn of(command: &str) -> Self {
        let all = ["dotglob", "GLOBIGNORE", "globstar"].iter().any(|name| command.contains(name));
        if all { Self::All } else { Self::Visible }
    }
}

/// Words of the shell's grammar: where one is taken for a program, the grammar
/// of the tree has lost its way, and what follows may be anything.
const KEYWORDS: &[&str] = &[
    "{", "}", "(", ")", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done",
    "case", "esac", "select", "function", ";;",
];

/// Why nobody can tell which program a call runs: its name is not literal text.
pub(super) fn about(call: &ProgramCall) -> Option<&'static str> {
    let name = call.words.first()?;
    let text = name.text.as_str();
    if KEYWORDS.contains(&text) {
        return Some("it does not parse as plain shell");
    }
    let is_literal = name.kind == WordKind::Exact && !text.contains(is_sign_of_shell);
    (!is_literal && !matches!(text, "[" | "[[" | "!"))
        .then_some("the name of a program is only known when it runs")
}

/// What stands in no name of a program, unless a grammar has lost its way.
fn is_sign_of_shell(c: char) -> bool {
    c.is_control() || "$`{}()|&;<>*?[]\\\"'".contains(c)
}

/// Whether a word goes on behind a place of a line.
pub(super) fn goes_on(source: &str, end: usize) -> bool {
    let next = source.get(end..).and_then(|rest| rest.chars().next());
    next.is_some_and(|next| !next.is_whitespace() && !";&|<>()`".contains(next))
}

/// The programs that get words by what they are sent: nobody knows which.
pub(super) fn with_what_is_sent(listed: &[ProgramCall]) -> Vec<ProgramCall> {
    let is_sender = |call: &&ProgramCall| {
        let name = call.words.first().map_or("", |word| base_name(&word.text));
        matches!(name, "xargs" | "parallel")
    };
    let Some(at) = listed.iter().position(|call| is_sender(&call)) else { return Vec::new() };
    let programs = listed.iter().skip(at + 1).filter(|call| call.role != CallRole::Perhaps);
    let open = CallWord { text: "*".to_owned(), kind: WordKind::Open };
    let more = programs.cloned().map(|mut call| {
        call.words.push(open.clone());
        call
    });
    more.collect()
}

/// Whether a program shows files of which not even a part of a name is known:
/// `ls -A | xargs -I{} cat {}` may show any of the folder.
pub(super) fn shows_anything(call: &ProgramCall) -> bool {
    let Some((name, args)) = call.words.split_first() else { return false };
    let is_unknown =
        |word: &CallWord| word.kind == WordKind::Open && word.text.chars().all(|c| c == '*');
    SHOWS.contains(&base_name(&name.text)) && args.iter().any(is_unknown)
}

/// The files that a program may show, by names of which not all is known.
pub(super) fn open_reads(call: &ProgramCall, patterns: Patterns) -> Vec<String> {
    let Some((name, args)) = call.words.split_first() else { return Vec::new() };
    if !SHOWS.contains(&base_name(&name.text)) {
        return Vec::new();
    }
    let least = match patterns {
        Patterns::Visible => WordKind::Open,
        Patterns::All => WordKind::Pattern,
    };
    let open = args.iter().filter(|word| word.kind >= least && word.text.contains(['*', '?', '[']));
    open.map(|word| word.text.clone()).collect()
}
