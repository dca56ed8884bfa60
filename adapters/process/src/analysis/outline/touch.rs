//! How programs touch the files that their words name.

use super::base_name;
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
    let has = |options: &[&str]| {
        args.iter().any(|word| {
            let text = word.text.as_str();
            options.iter().any(|option| match option.strip_prefix("--") {
                Some(_) => text == *option || text.split('=').next() == Some(option),
                None => {
                    text.starts_with('-')
                        && !text.starts_with("--")
                        && option.chars().nth(1).is_some_and(|letter| text.contains(letter))
                }
            })
        })
    };
    let operands: Vec<&str> =
        args.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    let mut found = Vec::new();
    let tree = match name {
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
    };
    if let Some(touch) = tree {
        found.extend(operands.iter().map(|text| ((*text).to_owned(), touch)));
        // A pattern alone: the working directory is meant.
        if operands.len() < 2 || name == "git" {
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
    if shows_environment(name, args) {
        found.push((ENVIRONMENT.to_owned(), FileTouch::Named));
    }
    found
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
        "ps" => {
            args.first().is_some_and(|word| !word.text.starts_with('-') && word.text.contains('e'))
        }
        _ => false,
    }
}

/// Whether code in a line looks at variables that may be keys: all of them, or
/// one that is called so.
pub(super) fn code_shows_environment(code: &str) -> bool {
    const WHOLE: &[&str] = &["environ", "process.env", "ENVIRON", "%ENV", "ENV"];
    const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL"];
    WHOLE.iter().any(|name| {
        code.match_indices(name).any(|(at, _)| {
            let rest = code.get(at + name.len()..).unwrap_or_default();
            let one = rest.strip_prefix(['[', '.', '{']);
            let asked: String = one.unwrap_or_default().chars().take(48).collect();
            let whole = one.is_none() && !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
            whole
                || SECRET.iter().any(|mark| asked.to_uppercase().contains(mark))
                || asked.starts_with("items")
                || asked.starts_with("values")
        })
    })
}
