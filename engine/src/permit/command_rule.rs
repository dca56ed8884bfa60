//! Rules for commands, matched on what the parser says is run (S11).
//!
//! A rule that forbids is taken widely: by path, through wrappers, with options
//! in another order. A rule that allows is taken as it is written.

use everfold_kernel::ports::{
    CallRole, CallWord, CommandEffect, CommandOutline, ProgramCall, WordKind,
};
use globset::Glob;

/// How sure it is that a rule speaks of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    /// It does not.
    No,
    /// It could: nobody can tell before it runs.
    Could,
    Yes,
}

/// Words in code by which a program starts another, or hides what it does.
const STARTS_PROGRAMS: &[&str] = &[
    "system",
    "popen",
    "subprocess",
    "exec",
    "execv",
    "execve",
    "execvp",
    "execfile",
    "execsync",
    "spawn",
    "spawnsync",
    "fork",
    "qx",
    "child_process",
    "eval",
    "shell",
    "run",
    "open",
    "open3",
    "importlib",
    "__import__",
    "getattr",
    "compile",
    "pty",
    "process",
    "proc_open",
    "passthru",
    "backtick",
    "shell_exec",
    "os",
    "command",
    "invoke",
    "do",
];

/// Whether a rule with these words speaks of a command.
pub(super) fn touches(words: &[String], outline: &CommandOutline) -> Touch {
    let Some(program) = words.first() else { return Touch::Yes };
    let name = base_name(program);
    let mut found = Touch::No;
    for call in &outline.runs {
        found = found.max(call_touches(words, call));
        let perhaps = call.role == CallRole::Perhaps;
        if !perhaps && call.words.iter().skip(1).any(|word| is_program_file(&word.text, name)) {
            return Touch::Yes;
        }
    }
    for code in &outline.code {
        let mut tokens = code.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)));
        if tokens.clone().any(|token| base_name(token) == name) {
            return Touch::Yes;
        }
        let starts = tokens.any(|token| {
            let token = token.rsplit('.').next().unwrap_or(token).to_lowercase();
            STARTS_PROGRAMS.contains(&token.as_str())
        });
        if starts || code.contains('`') || code.contains('!') {
            found = found.max(Touch::Could);
        }
    }
    if outline.hidden.is_some() {
        found = found.max(Touch::Could);
    }
    found
}

/// A program by its file, wherever it is handed to.
fn is_program_file(text: &str, name: &str) -> bool {
    text.rsplit_once('/').is_some_and(|(dir, file)| file == name && dir.ends_with("bin"))
}

fn call_touches(words: &[String], call: &ProgramCall) -> Touch {
    // `git-push` is `git push`, and `git send-pack` what it does.
    let split = git_words(&call.words);
    let call_words = split.as_deref().unwrap_or(&call.words);
    let (Some((wanted, rest)), Some((name, args))) =
        (words.split_first(), call_words.split_first())
    else {
        return Touch::No;
    };
    let most = if call.role == CallRole::Perhaps { Touch::Could } else { Touch::Yes };
    let by_name = name_fits(name, wanted).min(most);
    if by_name == Touch::No {
        return Touch::No;
    }
    let (options, operands): (Vec<&String>, Vec<&String>) =
        rest.iter().partition(|word| word.starts_with('-'));
    let mut touch = by_name;
    for option in options {
        touch = touch.min(option_fits(base_name(wanted), option, args));
    }
    touch.min(operands_fit(&operands, args))
}

/// The words of a part of git that is run by a name of its own, or by that of
/// what it does.
fn git_words(words: &[CallWord]) -> Option<Vec<CallWord>> {
    let (name, args) = words.split_first()?;
    let part = base_name(&name.text).strip_prefix("git-");
    let mut own: Vec<CallWord> = match part {
        Some(part) => [CallWord::exact("git"), CallWord::exact(part)].into(),
        None if base_name(&name.text) == "git" => vec![name.clone()],
        None => return None,
    };
    own.extend(args.iter().cloned());
    let plumbing = |text: &str| matches!(text, "send-pack" | "http-push");
    for word in own.iter_mut().filter(|word| plumbing(&word.text)) {
        "push".clone_into(&mut word.text);
    }
    Some(own)
}

/// Whether a word names this program.
fn name_fits(word: &CallWord, wanted: &str) -> Touch {
    let own = if wanted.contains('/') { word.text.as_str() } else { base_name(&word.text) };
    // As Windows names its programs, where the shell runs them too.
    let plain = own.strip_suffix(".exe").or_else(|| own.strip_suffix(".EXE")).unwrap_or(own);
    if own.eq_ignore_ascii_case(wanted) || plain.eq_ignore_ascii_case(wanted) {
        return Touch::Yes;
    }
    if word.kind == WordKind::Exact {
        return Touch::No;
    }
    let known = own.chars().any(|c| !matches!(c, '*' | '?' | '[' | ']'));
    let fits = Glob::new(own).is_ok_and(|glob| glob.compile_matcher().is_match(wanted));
    match (fits, known) {
        (true, true) => Touch::Yes,
        (true, false) => Touch::Could,
        (false, _) if word.kind == WordKind::Open => Touch::Could,
        (false, _) => Touch::No,
    }
}

/// Words of a rule in the order of a call's, with options and their values
/// passed over: `git -C x push` is `git push`.
fn operands_fit(wanted: &[&String], args: &[CallWord]) -> Touch {
    let mut wanted = wanted.iter().peekable();
    let mut args = args.iter().peekable();
    let mut touch = Touch::Yes;
    while let Some(next) = wanted.peek() {
        let Some(word) = args.next() else { return Touch::No };
        if word.text == ***next || word.text.eq_ignore_ascii_case(next) {
            wanted.next();
        } else if word.kind != WordKind::Exact {
            touch = touch.min(Touch::Could);
            wanted.next();
        } else if word.text.starts_with(['-', '+']) {
            // Its value, if the word after it is none of ours.
            let value = args
                .peek()
                .is_some_and(|value| !value.text.starts_with('-') && value.text != ***next);
            if value && !word.text.contains('=') {
                args.next();
            }
        } else {
            return Touch::No;
        }
    }
    touch
}

/// Whether an option of a rule is among the words of a call, in any spelling.
fn option_fits(program: &str, option: &str, args: &[CallWord]) -> Touch {
    let open = args.iter().any(|word| word.kind == WordKind::Open);
    let otherwise = if open { Touch::Could } else { Touch::No };
    let has = |wanted: &str| {
        args.iter().any(|word| {
            let own = word.text.split('=').next().unwrap_or_default();
            // Programs take the start of a long option for all of it.
            own == wanted || own.len() > 3 && wanted.starts_with("--") && wanted.starts_with(own)
        })
    };
    if option.starts_with("--") {
        let short = synonyms(program).find(|(_, long)| *long == option).map(|(short, _)| short);
        let fits = has(option) || short.is_some_and(|letter| has_letter(args, letter));
        return if fits { Touch::Yes } else { otherwise };
    }
    let all = option.chars().skip(1).all(|letter| {
        let mut long = synonyms(program).filter(|(short, _)| *short == letter);
        let other_case = program == "rm" && letter.eq_ignore_ascii_case(&'r');
        has_letter(args, letter)
            || other_case && (has_letter(args, 'r') || has_letter(args, 'R'))
            || long.any(|(_, long)| has(long))
    });
    if all || has(option) { Touch::Yes } else { otherwise }
}

fn has_letter(args: &[CallWord], letter: char) -> bool {
    args.iter().any(|word| {
        word.text
            .strip_prefix('-')
            .is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter))
    })
}

/// Short and long spellings of options that people forbid.
fn synonyms(program: &str) -> impl Iterator<Item = (char, &'static str)> {
    const ALL: &[(&str, char, &str)] = &[
        ("rm", 'r', "--recursive"),
        ("rm", 'R', "--recursive"),
        ("rm", 'f', "--force"),
        ("git", 'f', "--force"),
        ("git", 'D', "--delete"),
        ("git", 'd', "--delete"),
        ("git", 'n', "--no-verify"),
        ("chmod", 'R', "--recursive"),
        ("chown", 'R', "--recursive"),
        ("cp", 'r', "--recursive"),
        ("docker", 'f', "--force"),
        ("curl", 'o', "--output"),
        ("curl", 'd', "--data"),
        ("curl", 'T', "--upload-file"),
    ];
    ALL.iter().filter(move |(own, ..)| *own == program).map(|(_, short, long)| (*short, *long))
}

/// Whether a rule for commands that start with these words allows a call.
pub(super) fn covers(words: &[String], call: &ProgramCall) -> bool {
    let fits = words.len() <= call.words.len()
        && words
            .iter()
            .zip(&call.words)
            .all(|(wanted, word)| word.kind == WordKind::Exact && word.text == *wanted);
    let args = call.words.get(words.len()..).unwrap_or_default();
    if !fits || args.iter().any(|word| word.kind == WordKind::Open) {
        return false;
    }
    // A rule for something that only reads allows what only reads (S11).
    if call.reading_words > 0
        && words.len() >= call.reading_words
        && call.effect != CommandEffect::Reads
    {
        return false;
    }
    !call.acting.iter().any(|at| *at >= words.len())
}

/// The words of a rule.
pub(super) fn words(text: &str) -> Vec<String> {
    let plain = |word: &str| word.trim_matches(['\'', '"']).trim_start_matches('\\').to_owned();
    text.split_whitespace().map(plain).collect()
}

pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
