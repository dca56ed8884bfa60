//! What programs are given to carry out: by argument, by option, by file or
//! by what they are sent.

use super::carriers::{ALL_CODE, CLIENTS, INTERPRETERS, JOINING};
use super::filters::handed_on;
use super::options;
use super::wrapper::{Carried, Language, is_assignment, is_shell, takes_input};
use everfold_kernel::ports::{CallWord, WordKind};

/// Texts that a program is given to carry out.
pub(super) fn given(name: &str, args: &[CallWord], carried: &mut Vec<Carried>) {
    if is_shell(name) {
        carried.push(match script_of(args) {
            ShellTakes::Text(script) => Carried::Script(script),
            ShellTakes::File(file) => Carried::File(file, Language::Shell),
            ShellTakes::Input | ShellTakes::Open => Carried::Input(Language::Shell),
        });
        if matches!(script_of(args), ShellTakes::Open) {
            carried
                .push(Carried::Unknown("a shell is given a file that is only known when it runs"));
        }
        let start_files = values(args, &["--rcfile", "--init-file"]).into_iter();
        carried.extend(start_files.map(|file| Carried::File(file, Language::Shell)));
    }
    if matches!(name, "env" | "sudo" | "doas") {
        let set = args.iter().take_while(|word| is_assignment(word) || word.text.starts_with('-'));
        carried.extend(set.filter(|word| is_assignment(word)).cloned().map(Carried::Variable));
    }
    of_builtins(name, args, carried);
    if name == "git" {
        of_git(args, carried);
    }
    of_packages(name, args, carried);
    if options::loads(name, args) {
        carried.push(Carried::Unknown("it takes in code that is no text"));
    }
    for word in values(args, options::running(name)) {
        // `exec=…` and `alias.x=!…`: the command is behind the name.
        let behind = word.text.split_once('=').map(|(_, rest)| rest);
        let last = word.text.rsplit_once('=').map(|(_, rest)| rest);
        for text in [Some(word.text.as_str()), behind, last].into_iter().flatten() {
            // `gcc -wrapper a,b` runs `a b`.
            let text = text.trim_start_matches(['!', '|']);
            let text = if name == "git" { text.to_owned() } else { text.replace(',', " ") };
            carried.push(Carried::Script(CallWord { text, kind: word.kind }));
        }
    }
    of_interpreters(name, args, carried);
    if ALL_CODE.contains(&name) {
        if args.iter().any(|word| word.text == "*") {
            carried.push(Carried::Unknown("code is only known when it runs"));
        }
        let is_filter = name.ends_with("awk") || name.ends_with("sed");
        handed_on(name, args, carried);
        let of = if is_filter { Carried::Filter } else { Carried::Code };
        carried.extend(args.iter().cloned().map(of));
        let files = values(args, &["-f", "--file"]).into_iter();
        carried.extend(files.map(|file| Carried::File(file, Language::Other)));
    }
    let from_input =
        name != "make" || args.iter().any(|word| is_stream(&word.text) || word.text == "-f-");
    if CLIENTS.contains(&name) && from_input {
        carried.push(Carried::Input(Language::Client));
    }
    if takes_input(name) && !is_shell(name) {
        carried.push(Carried::Input(Language::Shell));
    }
    if is_interpreter_alone(name, args) {
        carried.push(Carried::Input(Language::Other));
    }
}

/// Modules of Python whose arguments are code.
const CODE_MODULES: &[&str] = &["timeit", "pdb"];

/// Code and files that interpreters are given.
fn of_interpreters(name: &str, args: &[CallWord], carried: &mut Vec<Carried>) {
    for (_, options) in INTERPRETERS.iter().filter(|(start, _)| name.starts_with(start)) {
        carried.extend(values(args, options).into_iter().map(Carried::Code));
        // Modules that carry out what they are given: `python -m timeit 'x'`.
        let runs = |pair: &[CallWord]| {
            matches!(pair, [option, module]
                if option.text == "-m" && CODE_MODULES.contains(&module.text.as_str()))
        };
        if args.windows(2).any(runs) {
            carried.extend(args.iter().cloned().map(Carried::Code));
        }
        let files = args.iter().filter(|word| is_file_name(word)).take(1).cloned();
        carried.extend(files.map(|file| Carried::File(file, Language::Other)));
    }
}

/// Names in these are worked out, and what is in brackets is carried out.
const WORKED_OUT: &[&str] = &[
    "let",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "test",
    "[",
    "[[",
    "printf",
    "read",
    "unset",
    "wait",
    "mapfile",
    "readarray",
    "compgen",
    "complete",
];

/// What the shell's own commands carry out.
fn of_builtins(name: &str, args: &[CallWord], carried: &mut Vec<Carried>) {
    let plain = || args.iter().filter(|word| !word.text.starts_with('-'));
    if name == "eval" || JOINING.contains(&name) {
        let skip = usize::from(matches!(name, "ssh" | "mosh"));
        let words = || plain().skip(skip);
        carried.push(Carried::Script(merged(words())));
        carried
            .extend(words().filter(|word| word.text.contains(' ')).cloned().map(Carried::Script));
    }
    match name {
        "less" | "more" => carried.extend(args.iter().filter_map(|word| {
            let text = word.text.strip_prefix('+')?.split_once('!')?.1.to_owned();
            Some(Carried::Script(CallWord { text, kind: word.kind }))
        })),
        // What stands between `prerotate` and `endscript` is a script.
        "logrotate" => {
            carried.extend(plain().cloned().map(|file| Carried::File(file, Language::Shell)));
        }
        "run-parts" => carried.push(Carried::Unknown("it runs whatever is in a directory")),
        "make" | "gmake" => {
            // A variable that it is given may be a command.
            let set = args.iter().filter(|word| word.text.contains("=$(")).cloned();
            carried.extend(set.map(Carried::Code));
            let files = values(args, &["-f", "--file", "--makefile"]).into_iter();
            carried.extend(
                files
                    .filter(|file| file.kind == WordKind::Open)
                    .map(|file| Carried::File(file, Language::Other)),
            );
        }
        "trap" => carried.extend(plain().next().cloned().map(Carried::Script)),
        "alias" => carried.extend(args.iter().filter_map(|word| {
            let text = word.text.split_once('=')?.1.to_owned();
            Some(Carried::Script(CallWord { text, kind: word.kind }))
        })),
        "history" => carried.push(Carried::Script(merged(plain()))),
        "fc" => carried.push(Carried::Unknown("it repeats what was run before")),
        "declare" | "typeset" | "local" => {
            let names = args.iter().any(|word| {
                word.text.strip_prefix('-').is_some_and(|letters| letters.contains('n'))
            });
            if names {
                carried.push(Carried::Unknown("a variable stands for another one"));
            }
        }
        "." | "source" => carried.extend(plain().next().map(|file| {
            if is_descriptor(&file.text) && !is_stream(&file.text) {
                Carried::Unknown("a shell is given a file that is only known when it runs")
            } else if file.kind == WordKind::Open || is_stream(&file.text) {
                Carried::Input(Language::Shell)
            } else {
                Carried::File(file.clone(), Language::Shell)
            }
        })),
        _ => {}
    }
    if WORKED_OUT.contains(&name) {
        for inner in args.iter().flat_map(|word| super::substitution::inside(&word.text)) {
            carried.push(Carried::Script(CallWord::exact(&inner)));
        }
    }
}

fn of_git(args: &[CallWord], carried: &mut Vec<Carried>) {
    let behind = |mark: &str| {
        let found = args.iter().filter_map(move |word| {
            let text = word.text.split_once(mark)?.1.to_owned();
            Some(Carried::Script(CallWord { text, kind: word.kind }))
        });
        found.collect::<Vec<_>>()
    };
    carried.extend(behind("=!"));
    // An alias stands for words of git.
    let is_alias = |word: &CallWord| word.text.to_lowercase().contains("alias.");
    if let Some(at) = args.iter().position(is_alias) {
        let named = args.get(at..).unwrap_or_default().iter().map(|word| CallWord {
            text: word.text.split_once('=').map_or("", |(_, value)| value).to_owned(),
            kind: word.kind,
        });
        let behind = args.iter().skip(at + 1).cloned();
        let words: Vec<CallWord> = std::iter::once(CallWord::exact("git"))
            .chain(named.take(1).chain(behind).filter(|word| !word.text.is_empty()))
            .collect();
        carried.push(Carried::Script(merged(words.iter())));
    }
    let aliased = args.iter().filter(|word| word.text.starts_with('!'));
    carried.extend(aliased.map(|word| {
        let text = word.text.trim_start_matches('!').to_owned();
        Carried::Script(CallWord { text, kind: word.kind })
    }));
    carried.extend(behind("ext::"));
    of_git_settings(args, carried);
    if let Some(at) = args.iter().position(|word| word.text == "foreach") {
        let words = args.iter().skip(at + 1).skip_while(|word| word.text.starts_with('-'));
        carried.push(Carried::Script(merged(words)));
    }
    if args
        .iter()
        .any(|word| matches!(word.text.as_str(), "clone" | "fetch" | "pull" | "ls-remote"))
    {
        carried.extend(values(args, &["-u"]).into_iter().map(Carried::Script));
    }
}

/// Parts of the names of settings of git that hold a command.
const GIT_RUNS: &[&str] = &[
    "pager",
    "editor",
    "command",
    "cmd",
    "helper",
    "program",
    "askpass",
    "fsmonitor",
    "textconv",
    "external",
    "driver",
    "clean",
    "smudge",
    "process",
    "pack",
    "tool",
    "exec",
];

/// What git carries out by a setting: `git config core.pager x`.
fn of_git_settings(args: &[CallWord], carried: &mut Vec<Carried>) {
    let hides = |word: &&CallWord| {
        let text = word.text.to_lowercase();
        let includes = text.starts_with("include") && text.contains(".path");
        includes || text.contains("hookspath") || text.starts_with("--config-env")
    };
    if args.iter().any(|word| hides(&word)) {
        carried.push(Carried::Unknown("a setting of git is only known when it runs"));
    }
    if let Some(at) = args.iter().position(|word| word.text == "config") {
        let rest = args.get(at + 1..).unwrap_or_default();
        let runs = |word: &CallWord| {
            let text = word.text.to_lowercase();
            text.contains('.') && GIT_RUNS.iter().any(|part| text.contains(part))
        };
        let values = rest.iter().skip_while(|word| !runs(word)).skip(1);
        carried.extend(values.map(|word| {
            let text = word.text.trim_start_matches('!').to_owned();
            Carried::Script(CallWord { text, kind: word.kind })
        }));
    }
}

/// Settings of packages that are carried out: `npm config set script-shell x`,
/// `npm pkg set scripts.x=y`.
fn of_packages(name: &str, args: &[CallWord], carried: &mut Vec<Carried>) {
    const RUNS: &[&str] =
        &["script", "shell", "git", "editor", "viewer", "browser", "node-options"];
    let sets = |word: &CallWord| matches!(word.text.as_str(), "set" | "config" | "c");
    if !matches!(name, "npm" | "pnpm" | "yarn") || !args.iter().any(sets) {
        return;
    }
    let runs = |text: &str| RUNS.iter().any(|part| text.to_lowercase().contains(part));
    for (at, word) in args.iter().enumerate() {
        let (key, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        if !runs(key) {
            continue;
        }
        let next = args.get(at + 1).filter(|_| value.is_empty());
        let kind = next.map_or(word.kind, |next| next.kind);
        let text = next.map_or(value, |next| &next.text).to_owned();
        carried.push(Carried::Script(CallWord { text, kind }));
    }
}

/// Whether a word of an interpreter is the file that it carries out.
fn is_file_name(word: &CallWord) -> bool {
    word.kind == WordKind::Exact
        && !word.text.starts_with('-')
        && word.text.contains(['.', '/'])
        && !word.text.contains(char::is_whitespace)
}

fn is_stream(path: &str) -> bool {
    matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Whether a file is whatever was opened before.
fn is_descriptor(path: &str) -> bool {
    path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/")
}

/// An interpreter that is given nothing carries out what it is sent.
fn is_interpreter_alone(name: &str, args: &[CallWord]) -> bool {
    INTERPRETERS.iter().any(|(start, _)| name.starts_with(start))
        && args.iter().all(|word| word.text == "-" || is_stream(&word.text))
}

/// What a shell carries out.
enum ShellTakes {
    Text(CallWord),
    File(CallWord),
    /// A file that is not known.
    Open,
    Input,
}

fn script_of(args: &[CallWord]) -> ShellTakes {
    let mut words = args.iter();
    let (mut by_text, mut by_input) = (false, false);
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if matches!(text, "--rcfile" | "--init-file") {
            words.next();
            continue;
        }
        if text.starts_with(['-', '+']) && text.len() > 1 && text != "--" {
            by_text |= text == "--command" || !text.starts_with("--") && text.contains('c');
            by_input |= text.starts_with('-') && !text.starts_with("--") && text.contains('s');
            // `-euo pipefail`: the last of a cluster may take the next word.
            if !text.starts_with("--") && text.ends_with(['o', 'O']) {
                words.next();
            }
            continue;
        }
        // The grammar takes the number of a redirection for a word: `sh 0< x`.
        if text == "--" || text.chars().all(|c| c.is_ascii_digit()) && !by_text {
            continue;
        }
        return match word {
            word if by_text => ShellTakes::Text(word.clone()),
            word if by_input || is_stream(&word.text) => ShellTakes::Input,
            word if is_descriptor(&word.text) => ShellTakes::Open,
            word if word.kind == WordKind::Open => ShellTakes::Open,
            word => ShellTakes::File(word.clone()),
        };
    }
    ShellTakes::Input
}

/// The values of options: attached, by `=`, or the next word.
pub(super) fn values(args: &[CallWord], options: &[&str]) -> Vec<CallWord> {
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
