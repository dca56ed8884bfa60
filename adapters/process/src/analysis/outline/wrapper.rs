//! Programs that run other programs, and what they are given to run.

use super::carriers::{RESERVED, WRAPPERS, Wrapper};
use super::given::{given, values};
use super::perhaps::perhaps;
use super::{base_name, call};
use everfold_kernel::ports::{CallRole, CallWord, ProgramCall, WordKind};

/// Words that are tried as the first of a command.
const MOST_TAILS: usize = 6;

/// What a program carries out besides programs that are listed.
pub(super) enum Carried {
    /// A text for a shell.
    Script(CallWord),
    /// A text for another interpreter.
    Code(CallWord),
    /// One for a program that goes over lines, or a file that it goes over.
    Filter(CallWord),
    /// What it is sent.
    Input(Language),
    File(CallWord, Language),
    /// A variable that it sets for others: `NAME=value`.
    Variable(CallWord),
    /// Something that nobody can tell.
    Unknown(&'static str),
}

impl Carried {
    /// Whether rules that allow need not know of it: it is part of what the
    /// program is known for.
    fn is_silent(&self) -> bool {
        matches!(self, Self::Input(_) | Self::File(..) | Self::Variable(_))
    }
}

/// Who carries something out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Shell,
    Other,
    /// A program of which some lines start others: an editor, a database.
    Client,
}

/// A program with all that it runs.
pub(super) struct Unwrapped {
    /// The program, and those in it.
    pub(super) listed: Vec<ProgramCall>,
    /// What else is carried out.
    pub(super) carried: Vec<Carried>,
    /// The same list, where nothing else is.
    pub(super) calls: Option<Vec<ProgramCall>>,
}

pub(super) fn is_shell(name: &str) -> bool {
    const SHELLS: &[&str] = &[
        "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash",
        "elvish", "nu", "xonsh",
    ];
    SHELLS.contains(&base_name(name))
}

/// Whether a program carries out its input line by line.
pub(super) fn takes_input(name: &str) -> bool {
    is_shell(name) || matches!(name, "at" | "batch" | "crontab" | "parallel" | "newgrp" | "su")
}

/// A program with all that it runs.
pub(super) fn unwrapped(words: &[CallWord]) -> Unwrapped {
    let mut found = Unwrapped { listed: Vec::new(), carried: Vec::new(), calls: None };
    let filled = filled(words);
    let mut rest = filled.as_slice();
    let mut is_fed = false;
    while let Some((name, args)) = rest.split_first() {
        let own = rest;
        let base = base_name(&name.text);
        let known = WRAPPERS.iter().find(|known| known.name == base);
        let loader = base.starts_with("ld-") || base == "ld.so";
        rest = match known {
            Some(known) => after(known, args),
            None if RESERVED.contains(&name.text.as_str()) => {
                // The grammar takes what a body begins with for arguments.
                let set = args.iter().take_while(|word| is_assignment(word));
                found.carried.extend(set.clone().cloned().map(Carried::Variable));
                args.get(set.count()..).unwrap_or_default()
            }
            None if loader => args,
            None => &[],
        };
        let asks_only = matches!(name.text.as_str(), "command")
            && args.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"));
        if asks_only {
            rest = &[];
        }
        if rest.is_empty() && known.is_some() && is_fed {
            found.carried.push(Carried::Unknown("what a program is sent names another one"));
        }
        let opens_shell = !matches!(base, "env" | "exec" | "xargs" | "parallel" | "perf");
        if rest.is_empty()
            && opens_shell
            && known.is_some_and(|known| known.role == CallRole::Runner)
        {
            found.carried.push(Carried::Input(Language::Shell));
        }
        is_fed |= matches!(base, "xargs" | "parallel");
        let assigns = args.iter().take(args.len().saturating_sub(rest.len())).any(is_assignment);
        let role = match known {
            Some(known) if !rest.is_empty() && !assigns => known.role,
            Some(_) if !rest.is_empty() => CallRole::Runner,
            _ => CallRole::Program,
        };
        found.listed.push(call(own.to_vec(), role));
        given(base, args, &mut found.carried);
        // What is inside of these is not the end of the line.
        for inner in inside(base, args) {
            let inner = unwrapped(&inner);
            found.listed.extend(inner.listed);
            found.carried.extend(inner.carried);
        }
        if known.is_none() && !loader {
            found.listed.extend(perhaps(base, own));
        }
    }
    let silent =
        found.carried.iter().all(Carried::is_silent) && !found.listed.iter().any(takes_unseen);
    let sure = found.listed.iter().filter(|call| call.role != CallRole::Perhaps);
    found.calls = silent.then(|| sure.cloned().collect());
    found
}

/// The words of a program that puts what it is sent in the place of a mark:
/// those with the mark in them may become anything.
fn filled(words: &[CallWord]) -> Vec<CallWord> {
    let mut own = words.to_vec();
    let at = own.iter().position(|word| {
        matches!(base_name(&word.text), "xargs" | "parallel" | "find" | "gfind" | "fd" | "fdfind")
    });
    let Some(at) = at else { return own };
    let is_xargs = own.get(at).is_some_and(|word| base_name(&word.text) == "xargs");
    let args = own.get(at + 1..).unwrap_or_default();
    let named = values(args, &["-I", "--replace"]).into_iter().next().map(|word| word.text);
    let mark = named.filter(|_| is_xargs).unwrap_or_else(|| "{}".to_owned());
    if mark.is_empty() {
        return own;
    }
    let finds = own.get(at).is_some_and(|word| base_name(&word.text) == "find");
    let found_as = if finds { found_as(args) } else { None };
    // The option that names the mark is no place for it.
    let skip = if is_xargs && mark != "{}" { 3 } else { 1 };
    for word in own.iter_mut().skip(at + skip).filter(|word| word.text.contains(&mark)) {
        let whole = word.text == mark;
        word.text = match &found_as {
            Some(pattern) if whole => pattern.clone(),
            _ => word.text.replace(&mark, "*"),
        };
        word.kind = WordKind::Open;
    }
    own
}

/// How all files are called that `find` hands on, if it says so.
fn found_as(args: &[CallWord]) -> Option<String> {
    let chooses =
        args.iter().any(|word| matches!(word.text.as_str(), "-o" | "-or" | "!" | "-not" | ","));
    let at = args.iter().position(|word| matches!(word.text.as_str(), "-name" | "-iname"))?;
    let pattern = args.get(at + 1).filter(|word| word.kind != WordKind::Open)?;
    (!chooses && pattern.text.contains('*')).then(|| pattern.text.clone())
}

/// Shells and what reads scripts from its input: what they do is not listed.
fn takes_unseen(call: &ProgramCall) -> bool {
    let Some((name, args)) = call.words.split_first() else { return false };
    let name = base_name(&name.text);
    let bare = !args.iter().any(|word| !word.text.starts_with('-'));
    takes_input(name) && bare
        || matches!(name, "eval" | "alias" | "trap" | "hash" | "enable" | "." | "source")
}

/// The words from the program of a wrapper on.
fn after<'a>(known: &Wrapper, mut words: &'a [CallWord]) -> &'a [CallWord] {
    let mut operands = known.operands;
    // A name may stand before the body: `coproc NAME { …; }`.
    let opens =
        |word: Option<&CallWord>| word.is_some_and(|word| matches!(word.text.as_str(), "{" | "("));
    if known.name == "coproc" && opens(words.get(1)) {
        words = words.get(1..).unwrap_or_default();
    }
    while let Some((word, rest)) = words.split_first() {
        let text = word.text.as_str();
        if text == "--" {
            words = rest.get(operands..).unwrap_or_default();
            break;
        }
        let bare_dash = text == "-" && known.name == "env";
        if bare_dash || text.starts_with('-') && text.len() > 1 {
            let valued = known.valued.split_ascii_whitespace().any(|option| option == text);
            words = if valued { rest.get(1..).unwrap_or_default() } else { rest };
        } else if is_assignment(word) && matches!(known.name, "env" | "sudo" | "doas") {
            words = rest;
        } else if operands > 0 {
            operands -= 1;
            words = rest;
        } else {
            break;
        }
    }
    words
}

pub(super) fn is_assignment(word: &CallWord) -> bool {
    word.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The words that `env -S` makes: those of its text, and those behind it.
fn split_by_env(args: &[CallWord]) -> Option<Vec<CallWord>> {
    const LONG: &str = "--split-string";
    let is_option = |word: &CallWord| {
        let short = word.text.starts_with('-') && !word.text.starts_with("--");
        short && word.text.contains('S') || word.text.starts_with(LONG)
    };
    let at = args.iter().position(is_option)?;
    let (option, rest) = args.get(at..)?.split_first()?;
    let attached = match option.text.strip_prefix(LONG) {
        Some(value) => value.trim_start_matches('='),
        None => option.text.split_once('S')?.1,
    };
    let attached = CallWord { text: attached.to_owned(), kind: option.kind };
    let (text, rest) = match rest.split_first() {
        Some((value, rest)) if attached.text.is_empty() => (value.clone(), rest),
        _ => (attached, rest),
    };
    let plain = text.text.replace(['\'', '"', '\\'], "");
    let own = plain.split_whitespace().map(|word| CallWord { text: word.into(), kind: text.kind });
    Some(own.chain(rest.iter().cloned()).skip_while(is_assignment).collect())
}

/// Commands of git that stand among the words of another: `git subtree push`,
/// `git for-each-repo … push`.
fn by_git(args: &[CallWord]) -> Vec<Vec<CallWord>> {
    let Some(at) =
        args.iter().position(|word| matches!(word.text.as_str(), "subtree" | "for-each-repo"))
    else {
        return Vec::new();
    };
    let rest = args.get(at + 1..).unwrap_or_default();
    // Which word is the command is not clear behind options: each may be.
    let starts = rest.iter().enumerate().filter(|(_, word)| !word.text.starts_with('-'));
    let tails = starts.filter_map(|(at, _)| rest.get(at..)).take(MOST_TAILS);
    tails.map(|tail| [&[CallWord::exact("git")], tail].concat()).collect()
}

/// Programs that stand among the words of another.
fn inside(name: &str, args: &[CallWord]) -> Vec<Vec<CallWord>> {
    let runs: &[&str] = match name {
        "find" | "gfind" => &["-exec", "-execdir", "-ok", "-okdir"],
        "fd" | "fdfind" => &["-x", "-X", "--exec", "--exec-batch"],
        "git" => &["run"],
        "env" => return split_by_env(args).into_iter().collect(),
        _ => return Vec::new(),
    };
    let mut found = if name == "git" { by_git(args) } else { Vec::new() };
    let mut rest = args;
    while let Some(at) = rest.iter().position(|word| runs.contains(&word.text.as_str())) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|word| matches!(word.text.as_str(), ";" | "+"));
        let end = end.unwrap_or(rest.len());
        found.push(rest.get(..end).unwrap_or_default().to_vec());
    }
    found
}
