//! Rules for commands, matched on what the parser says is run (S11).
//!
//! A rule that forbids is taken widely: by path, through wrappers, with options
//! in another order. A rule that allows is taken as it is written.

use everfold_kernel::ports::{CallWord, CommandEffect, CommandOutline, ProgramCall, WordKind};
use globset::Glob;

/// How sure it is that a rule speaks of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    /// It does not.
    No,
    /// It could: nobody can tell before it runs.
    Could,
    /// It does.
    Yes,
}

/// Options by which programs run others or write files that nobody thinks of
/// when a rule is made for the program. No rule for the words before them
/// allows them.
const ACTING_OPTIONS: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "--output",
            "--ext-diff",
            "--textconv",
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--open-files-in-pager",
            "-O",
            "-c",
            "--config-env",
            "--exec-path",
            "-x",
            "--template",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--output-directory",
            "-o",
            "--hooks-path",
        ],
    ),
    ("cargo", &["--config", "-Z", "--artifact-dir", "--out-dir"]),
    ("go", &["-exec", "-toolexec", "-o", "-overlay", "-modfile", "-vettool", "-C"]),
    ("npm", &["--script-shell", "--prefix", "--node-options", "-C", "--call", "-c"]),
    ("pnpm", &["--script-shell", "--shell-emulator", "-C", "--dir", "-c"]),
    ("yarn", &["--script-shell", "--cwd", "--use-yarnrc"]),
    (
        "pytest",
        &[
            "-p",
            "-c",
            "--rootdir",
            "--confcutdir",
            "-o",
            "--override-ini",
            "--basetemp",
            "--junitxml",
            "--junit-xml",
            "--result-log",
            "--debug",
            "--pdbcls",
            "--log-file",
        ],
    ),
    ("make", &["--eval", "-f", "--file", "--makefile", "-C", "--directory", "SHELL", "-E"]),
    (
        "find",
        &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf",
            "-fls",
        ],
    ),
    ("fd", &["-x", "-X", "--exec", "--exec-batch"]),
    ("rg", &["--pre", "--hostname-bin", "--search-zip", "-z"]),
    ("sort", &["-o", "--output", "--compress-program", "-T", "--temporary-directory"]),
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "-I",
            "-F",
            "--info-script",
        ],
    ),
    ("sed", &["-i", "--in-place"]),
    ("tree", &["-o"]),
    (
        "curl",
        &[
            "-o",
            "-O",
            "--output",
            "--remote-name",
            "-K",
            "--config",
            "-T",
            "--upload-file",
            "-d",
            "--data",
            "-F",
            "--form",
        ],
    ),
    (
        "wget",
        &[
            "-O",
            "--output-document",
            "-P",
            "--use-askpass",
            "--post-file",
            "--post-data",
            "-e",
            "--execute",
        ],
    ),
    ("ssh", &["-o", "-F"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("docker", &["-v", "--volume", "--mount", "--privileged"]),
    (
        "eslint",
        &[
            "--rulesdir",
            "-c",
            "--config",
            "--plugin",
            "-o",
            "--output-file",
            "--resolve-plugins-relative-to",
        ],
    ),
    ("tsc", &["--outDir", "--outFile", "-p", "--project"]),
    ("prettier", &["--plugin", "--config"]),
    ("mypy", &["--config-file", "--plugins", "--junit-xml"]),
    ("ruff", &["--config", "--output-file", "-o"]),
];

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
        if call.words.iter().skip(1).any(|word| is_program_file(&word.text, name)) {
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
    let (Some((wanted, rest)), Some((name, args))) =
        (words.split_first(), call.words.split_first())
    else {
        return Touch::No;
    };
    let by_name = name_fits(name, wanted);
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

/// Whether a word names this program.
fn name_fits(word: &CallWord, wanted: &str) -> Touch {
    let own = if wanted.contains('/') { word.text.as_str() } else { base_name(&word.text) };
    if own.eq_ignore_ascii_case(wanted) {
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
    !args.iter().any(|word| is_acting(base_name(words.first().map_or("", String::as_str)), word))
}

fn is_acting(program: &str, word: &CallWord) -> bool {
    let own = word.text.split('=').next().unwrap_or_default();
    let options = ACTING_OPTIONS.iter().filter(|(name, _)| *name == program);
    options.flat_map(|(_, options)| options.iter()).any(|option| {
        let long = option.starts_with("--");
        own == *option
            || long && own.len() > 3 && own.starts_with("--") && option.starts_with(own)
            // A short one with its value attached, or in a cluster. Those of
            // Go have more than one letter.
            || !long
                && program != "go"
                && option.len() == 2
                && own.starts_with('-')
                && !own.starts_with("--")
                && option.chars().nth(1).is_some_and(|letter| own.contains(letter))
    })
}

/// The words of a rule.
pub(super) fn words(text: &str) -> Vec<String> {
    let plain = |word: &str| word.trim_matches(['\'', '"']).trim_start_matches('\\').to_owned();
    text.split_whitespace().map(plain).collect()
}

pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
