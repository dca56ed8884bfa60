//! How programs touch the files that their words name.

use super::{base_name, logins};
use everfold_kernel::ports::{CallWord, FileTouch};

/// Programs that write, replace or remove what they are given.
const WRITERS: &[&str] = &[
    "rm", "rmdir", "unlink", "shred", "mv", "cp", "install", "ln", "touch", "truncate", "tee",
    "dd", "chmod", "chown", "chgrp", "patch", "ed", "ex", "vi", "vim", "nvim", "nano", "emacs",
    "rsync", "unzip", "mkdir", "sponge",
];

/// Programs whose last words are files that get another content.
const MAKERS: &[&str] = &["cp", "mv", "install", "ln", "tee", "dd", "sponge", "rsync", "scp"];

/// Files that a program gives a content that is not in the line.
pub(super) fn made(words: &[CallWord]) -> Vec<String> {
    let Some((program, args)) = words.split_first() else { return Vec::new() };
    let name = base_name(&program.text);
    let behind = |option: &str| args.iter().skip_while(move |word| word.text != option).nth(1);
    match name {
        "curl" => ["-o", "--output"].iter().filter_map(|o| behind(o)).map(text).collect(),
        "wget" => ["-O", "--output-document"].iter().filter_map(|o| behind(o)).map(text).collect(),
        name if MAKERS.contains(&name) => {
            args.iter().map(|word| word.text.trim_start_matches("of=").to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a program writes, replaces or removes what it is given.
pub(super) fn is_writer(name: &str) -> bool {
    WRITERS.contains(&name)
}

fn text(word: &CallWord) -> String {
    word.text.clone()
}

/// Programs that go through directories whatever they are told.
const WALKERS: &[&str] = &[
    "tar", "zip", "7z", "7za", "rsync", "cpio", "pax", "scp", "mv", "bsdtar", "restic", "borg",
    "ag", "ack", "ugrep",
];

/// What a program's words show of its environment, as the file that has it.
pub(super) const ENVIRONMENT: &str = "/proc/self/environ";

/// Files that a program touches in another way than by naming them.
pub(super) fn touched(words: &[CallWord]) -> Vec<(String, FileTouch)> {
    let Some((program, args)) = words.split_first() else { return Vec::new() };
    let name = base_name(&program.text);
    let has = |options: &[&str]| has(args, options);
    let texts = args.iter().map(|word| word.text.as_str());
    let operands: Vec<&str> = if name == "find" {
        // Directories stand before all else, but for three options.
        texts
            .skip_while(|text| matches!(*text, "-H" | "-L" | "-P"))
            .take_while(|text| !text.starts_with(['-', '(', '!']))
            .collect()
    } else {
        texts.filter(|text| !text.starts_with('-')).collect()
    };
    let mut found = Vec::new();
    let tree = goes_through(name, args, &operands);
    if let Some(touch) = tree {
        found.extend(operands.iter().map(|text| ((*text).to_owned(), touch)));
        // A pattern alone: the working directory is meant.
        let alone = if name == "find" { operands.is_empty() } else { operands.len() < 2 };
        if alone || name == "git" {
            found.push((".".to_owned(), touch));
        }
    }
    let edits = matches!(name, "sed" | "gsed" | "perl") && has(&["-i", "--in-place"]);
    if edits || WRITERS.contains(&name) {
        found.extend(operands.iter().map(|text| ((*text).to_owned(), FileTouch::Written)));
    }
    // Without a word it goes home.
    if name == "cd" && operands.is_empty() {
        found.push(("~".to_owned(), FileTouch::Named));
    }
    if matches!(name, "sed" | "gsed") {
        found.extend(taken_in_by_sed(args));
    }
    found.extend(logins::place_of(words).map(|place| (place.to_owned(), FileTouch::Named)));
    if follows_links(name, args) {
        found.extend(operands.iter().map(|text| ((*text).to_owned(), FileTouch::LinkedTree)));
        if operands.len() < 2 {
            found.push((".".to_owned(), FileTouch::LinkedTree));
        }
    }
    if shows_environment(name, args) {
        found.push((ENVIRONMENT.to_owned(), FileTouch::Named));
    }
    found
}

/// Files that a script of `sed` takes in: `1r.env`, without a blank before it.
fn taken_in_by_sed(args: &[CallWord]) -> Vec<(String, FileTouch)> {
    let mut found = Vec::new();
    for script in args.iter().map(|word| word.text.as_str()) {
        for (at, _) in script.match_indices(['r', 'R']) {
            let before = script.get(..at).and_then(|start| start.chars().next_back());
            let is_command = before
                .is_none_or(|c| c.is_ascii_digit() || c.is_whitespace() || ";{}$/!".contains(c));
            let rest = script.get(at + 1..).unwrap_or_default();
            let file = rest.split(['\n', '}', ';']).next().unwrap_or_default().trim();
            if is_command && !file.is_empty() {
                found.push((file.to_owned(), FileTouch::Named));
            }
        }
    }
    found
}

/// How a program goes through the directories that it is given, if it does.
fn goes_through(name: &str, args: &[CallWord], operands: &[&str]) -> Option<FileTouch> {
    let has = |options: &[&str]| has(args, options);
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            has(&["-r", "-R", "--recursive", "--dereference-recursive", "-d", "--directories"])
                .then_some(FileTouch::Tree)
        }
        "rg" => {
            let hidden = has(&["-u", "-.", "--hidden", "--unrestricted"]);
            Some(if hidden { FileTouch::Tree } else { FileTouch::VisibleTree })
        }
        "diff" => has(&["-r", "--recursive"]).then_some(FileTouch::Tree),
        "cp" => has(&["-r", "-R", "-a", "--recursive", "--archive"]).then_some(FileTouch::Tree),
        "git" => {
            let own = operands.first() == Some(&"grep") && has(&["--no-index", "--untracked"]);
            own.then_some(FileTouch::Tree)
        }
        "find" | "fd" => args
            .iter()
            .any(|word| word.text.starts_with("-exec") || word.text.starts_with("-ok"))
            .then_some(FileTouch::Tree),
        name => WALKERS.contains(&name).then_some(FileTouch::Tree),
    }
}

/// Whether one of these options is given, alone, in a cluster or with a value.
fn has(args: &[CallWord], options: &[&str]) -> bool {
    args.iter().any(|word| {
        let text = word.text.as_str();
        options.iter().any(|option| match option.strip_prefix("--") {
            // Programs take the start of a long option for all of it.
            Some(_) => {
                let own = text.split('=').next().unwrap_or_default();
                own == *option || own.len() > 4 && option.starts_with(own)
            }
            None => {
                text.starts_with('-')
                    && !text.starts_with("--")
                    && option.chars().nth(1).is_some_and(|letter| text.contains(letter))
            }
        })
    })
}

/// Whether a program that goes through directories follows links in them.
fn follows_links(name: &str, args: &[CallWord]) -> bool {
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" => has(args, &["-R", "--dereference-recursive"]),
        "rg" => has(args, &["-L", "--follow"]),
        "diff" => has(args, &["-r", "--recursive"]) && !has(args, &["--no-dereference"]),
        "find" => args.iter().any(|word| matches!(word.text.as_str(), "-L" | "-follow")),
        "tar" | "bsdtar" => {
            let first = args.first().is_some_and(|word| word.text.contains('h'));
            first || has(args, &["-h", "-L", "--dereference"])
        }
        "cp" | "rsync" => has(args, &["-L", "-H", "--dereference", "--copy-links"]),
        "zip" | "7z" | "ag" | "ack" | "ugrep" => true,
        _ => false,
    }
}

/// Whether a program prints the variables of its environment.
fn shows_environment(name: &str, args: &[CallWord]) -> bool {
    let has = |wanted: &str| args.iter().any(|word| word.text == wanted);
    match name {
        "printenv" => true,
        "env" => args.iter().all(|word| word.text.starts_with('-')),
        "set" => args.is_empty(),
        "export" | "declare" | "typeset" | "readonly" => args.is_empty() || has("-p") || has("-x"),
        "compgen" => has("-v"),
        "jq" => args.iter().any(|word| {
            let mut words = word.text.split(|c: char| !c.is_ascii_alphanumeric());
            words.any(|word| matches!(word, "env" | "ENV"))
        }),
        "ps" if args.iter().any(|word| word.text.contains("environ")) => true,
        "ps" => {
            args.first().is_some_and(|word| !word.text.starts_with('-') && word.text.contains('e'))
        }
        _ => false,
    }
}

/// Whether a variable of the shell may be a key by its name, or be any.
pub(super) fn is_secret_variable(expansion: &str) -> bool {
    const MARKS: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL"];
    let inner = expansion.trim_start_matches(['$', '{']);
    let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name: String = inner.chars().take_while(is_name).collect();
    let is_environment = name.chars().all(|c| !c.is_ascii_lowercase());
    inner.starts_with('!') || is_environment && MARKS.iter().any(|mark| name.contains(mark))
}

/// Whether code in a line looks at variables that may be keys: all of them, or
/// one that is called so.
pub(super) fn code_shows_environment(code: &str) -> bool {
    const WHOLE: &[&str] =
        &["environ", "process.env", "ENVIRON", "%ENV", "ENV", "getenv", "phpinfo"];
    const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL"];
    WHOLE.iter().any(|name| {
        code.match_indices(name).any(|(at, _)| {
            let rest = code.get(at + name.len()..).unwrap_or_default();
            let one = rest.strip_prefix(['[', '.', '{', '(']);
            let asked: String = one.unwrap_or_default().chars().take(48).collect();
            let whole = one.is_none() && !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
            whole
                || SECRET.iter().any(|mark| asked.to_uppercase().contains(mark))
                || asked.starts_with(')')
                || asked.starts_with("items")
                || asked.starts_with("values")
        })
    })
}
