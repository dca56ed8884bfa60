//! Programs that run other programs, and what they are given to run.

use super::carriers::{
    ALL_CODE, BY_OPTION, INTERPRETERS, JOINING, RESERVED, RUNS_BY_OPTION, WRAPPERS, Wrapper,
};
use super::{base_name, call};
use everfold_kernel::ports::{CallRole, CallWord, ProgramCall, WordKind};

/// What a program carries out besides programs that are listed.
pub(super) enum Carried {
    /// A text for a shell.
    Script(CallWord),
    /// A text for another interpreter.
    Code(CallWord),
    /// What it is sent.
    Input(Language),
}

/// Who carries something out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// A shell.
    Shell,
    /// Another interpreter.
    Other,
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

/// Shells.
pub(super) fn is_shell(name: &str) -> bool {
    const SHELLS: &[&str] = &[
        "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash",
        "elvish", "nu", "xonsh",
    ];
    SHELLS.contains(&base_name(name))
}

/// Whether a program carries out its input line by line.
fn takes_input(name: &str) -> bool {
    is_shell(name) || matches!(name, "at" | "batch" | "crontab" | "parallel")
}

/// A program with all that it runs.
pub(super) fn unwrapped(words: &[CallWord]) -> Unwrapped {
    let mut found = Unwrapped { listed: Vec::new(), carried: Vec::new(), calls: None };
    let mut rest = words;
    while let Some((name, args)) = rest.split_first() {
        let own = rest;
        let known = WRAPPERS.iter().find(|known| known.name == base_name(&name.text));
        let loader = base_name(&name.text).starts_with("ld-") || base_name(&name.text) == "ld.so";
        rest = match known {
            Some(known) => after(known, args),
            None if loader || RESERVED.contains(&name.text.as_str()) => args,
            None => &[],
        };
        let asks_only = matches!(name.text.as_str(), "command")
            && args.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"));
        if asks_only {
            rest = &[];
        }
        let assigns = args.iter().take(args.len().saturating_sub(rest.len())).any(is_assignment);
        let role = match known {
            Some(known) if !rest.is_empty() && !assigns => known.role,
            Some(_) if !rest.is_empty() => CallRole::Runner,
            _ => CallRole::Program,
        };
        found.listed.push(call(own.to_vec(), role));
        given(base_name(&name.text), args, &mut found.carried);
        // What is inside of these is not the end of the line.
        for inner in inside(base_name(&name.text), args) {
            let inner = unwrapped(&inner);
            found.listed.extend(inner.listed);
            found.carried.extend(inner.carried);
        }
    }
    let silent = found.carried.iter().all(|one| matches!(one, Carried::Input(_)))
        && !found.listed.iter().any(takes_unseen);
    found.calls = silent.then(|| found.listed.clone());
    found
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
    while let Some((word, rest)) = words.split_first() {
        let text = word.text.as_str();
        if text == "--" {
            words = rest.get(operands..).unwrap_or_default();
            break;
        }
        if text.starts_with('-') && text.len() > 1 {
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

fn is_assignment(word: &CallWord) -> bool {
    word.text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Programs that stand among the words of another.
fn inside(name: &str, args: &[CallWord]) -> Vec<Vec<CallWord>> {
    let runs: &[&str] = match name {
        "find" | "gfind" => &["-exec", "-execdir", "-ok", "-okdir"],
        "fd" | "fdfind" => &["-x", "-X", "--exec", "--exec-batch"],
        "git" => &["run"],
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let mut rest = args;
    while let Some(at) = rest.iter().position(|word| runs.contains(&word.text.as_str())) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|word| matches!(word.text.as_str(), ";" | "+"));
        let end = end.unwrap_or(rest.len());
        found.push(rest.get(..end).unwrap_or_default().to_vec());
    }
    found
}

/// Texts that a program is given to carry out.
fn given(name: &str, args: &[CallWord], carried: &mut Vec<Carried>) {
    let value_of = |options: &[&str]| values(args, options);
    if is_shell(name) {
        match script_of(args) {
            ShellTakes::Text(script) => carried.push(Carried::Script(script)),
            ShellTakes::File => {}
            ShellTakes::Input => carried.push(Carried::Input(Language::Shell)),
        }
    }
    if matches!(name, "eval") || JOINING.contains(&name) {
        let skip = usize::from(matches!(name, "ssh" | "mosh"));
        let words = || args.iter().filter(|word| !word.text.starts_with('-')).skip(skip);
        carried.push(Carried::Script(merged(words())));
        carried
            .extend(words().filter(|word| word.text.contains(' ')).cloned().map(Carried::Script));
    }
    if matches!(name, "trap") {
        carried.extend(args.first().cloned().map(Carried::Script));
    }
    if matches!(name, "alias") {
        let values = args.iter().filter_map(|word| Some((word.kind, word.text.split_once('=')?.1)));
        carried.extend(
            values.map(|(kind, text)| Carried::Script(CallWord { text: text.to_owned(), kind })),
        );
    }
    if matches!(name, "git") {
        let aliased =
            args.iter().filter_map(|word| Some((word.kind, word.text.split_once('!')?.1)));
        carried.extend(
            aliased.map(|(kind, text)| Carried::Script(CallWord { text: text.to_owned(), kind })),
        );
        let each = args.iter().skip_while(|word| word.text != "foreach").skip(1);
        carried.push(Carried::Script(merged(each)));
    }
    if let Some((_, options)) = BY_OPTION.iter().find(|(known, _)| *known == name) {
        carried.extend(value_of(options).into_iter().map(Carried::Script));
    }
    if let Some((_, options)) = RUNS_BY_OPTION.iter().find(|(known, _)| *known == name) {
        carried.extend(value_of(options).into_iter().map(|word| {
            let text = word.text.rsplit('=').next().unwrap_or_default().to_owned();
            Carried::Script(CallWord { text, kind: word.kind })
        }));
    }
    let code = INTERPRETERS.iter().filter(|(start, _)| name.starts_with(start));
    for (_, options) in code {
        carried.extend(value_of(options).into_iter().map(Carried::Code));
    }
    if ALL_CODE.contains(&name) {
        carried.extend(args.iter().cloned().map(Carried::Code));
    }
    let reads = matches!(name, "." | "source")
        && args.first().is_some_and(|word| word.kind == WordKind::Open || is_stream(&word.text));
    if takes_input(name) && !is_shell(name) || reads {
        carried.push(Carried::Input(Language::Shell));
    }
    if is_interpreter_alone(name, args) {
        carried.push(Carried::Input(Language::Other));
    }
}

fn is_stream(path: &str) -> bool {
    matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// An interpreter that is given nothing carries out what it is sent.
fn is_interpreter_alone(name: &str, args: &[CallWord]) -> bool {
    INTERPRETERS.iter().any(|(start, _)| name.starts_with(start))
        && args.iter().all(|word| word.text == "-" || is_stream(&word.text))
}

/// What a shell carries out.
enum ShellTakes {
    Text(CallWord),
    File,
    Input,
}

fn script_of(args: &[CallWord]) -> ShellTakes {
    let mut words = args.iter();
    let mut by_text = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if matches!(text, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file") {
            words.next();
            continue;
        }
        if text.starts_with(['-', '+']) && text.len() > 1 && text != "--" {
            by_text |= text == "--command" || !text.starts_with("--") && text.contains('c');
            continue;
        }
        if text == "--" {
            continue;
        }
        return match word {
            word if by_text => ShellTakes::Text(word.clone()),
            word if is_stream(&word.text) || word.kind == WordKind::Open => ShellTakes::Input,
            _ => ShellTakes::File,
        };
    }
    ShellTakes::Input
}

/// The values of options: attached, by `=`, or the next word.
fn values(args: &[CallWord], options: &[&str]) -> Vec<CallWord> {
    let mut found = Vec::new();
    let mut words = args.iter().peekable();
    while let Some(word) = words.next() {
        for option in options {
            let Some(rest) = word.text.strip_prefix(option) else {
                // `-lc` and the like: the last letter of a cluster.
                let cluster = option.len() == 2
                    && word.text.len() > 2
                    && word.text.starts_with('-')
                    && !word.text.starts_with("--")
                    && option.chars().last().is_some_and(|letter| word.text.ends_with(letter));
                if cluster {
                    found.extend(words.peek().map(|next| (*next).clone()));
                }
                continue;
            };
            match rest {
                "" => found.extend(words.peek().map(|next| (*next).clone())),
                rest if rest.starts_with('=') || !option.starts_with("--") => {
                    let text = rest.trim_start_matches('=').to_owned();
                    found.push(CallWord { text, kind: word.kind });
                }
                _ => {}
            }
        }
    }
    found
}

fn merged<'a>(words: impl Iterator<Item = &'a CallWord>) -> CallWord {
    let words: Vec<&CallWord> = words.collect();
    let kind = words.iter().map(|word| word.kind).max().unwrap_or(WordKind::Exact);
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    CallWord { text, kind }
}
