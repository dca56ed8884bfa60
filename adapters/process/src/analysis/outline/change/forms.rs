//! What programs may change whose words are small languages of their own.

use super::super::given::values;
use super::{Changes, anything, files, has, trees, with_here};
use everfold_kernel::ports::{CallWord, FileTouch};

/// Subcommands of git that change files of the tree by their names.
const GIT_CHANGES: &[&str] = &[
    "am",
    "apply",
    "archive",
    "bugreport",
    "bundle",
    "checkout",
    "checkout-index",
    "clean",
    "clone",
    "config",
    "format-patch",
    "init",
    "mv",
    "read-tree",
    "restore",
    "rm",
    "submodule",
    "worktree",
];

/// A script of awk writes by `>` and by what it starts.
pub(super) fn by_awk(args: &[CallWord]) -> Changes {
    let prints_into = |script: &str| {
        script.match_indices("print").any(|(at, _)| {
            let rest = script.get(at..).unwrap_or_default();
            let rest = rest.split([';', '}', '\n']).next().unwrap_or_default();
            rest.split_once('>')
                .is_some_and(|(_, to)| !to.trim_start_matches(['>', ' ']).starts_with(['"', '\'']))
        })
    };
    if has(args, &["inplace", "-iinplace", "--include=inplace"]) || has(args, &["-f"]) {
        return files(args);
    }
    let writes = |word: &&CallWord| word.text.contains(['>', '|']) || word.text.contains("system");
    let scripts: Vec<CallWord> = args.iter().filter(writes).cloned().collect();
    if scripts.is_empty() {
        return Vec::new();
    }
    let values = args.iter().filter(|word| word.text.contains('=')).cloned();
    let unknown = scripts.iter().any(|word| prints_into(&word.text));
    let named: Vec<CallWord> = scripts.iter().cloned().chain(values).collect();
    files(&named).into_iter().chain(unknown.then(anything)).collect()
}

/// A script of sed writes by `w`.
pub(super) fn by_sed(args: &[CallWord]) -> Changes {
    let given = values(args, &["-e", "--expression"]);
    let first = args.iter().find(|word| !word.text.starts_with('-')).cloned();
    let scripts = if given.is_empty() { first.into_iter().collect() } else { given };
    let mut found = Vec::new();
    for script in &scripts {
        for (at, _) in script.text.match_indices('w') {
            let rest = script.text.get(at + 1..).unwrap_or_default();
            let file = rest.split(['\n', '}', ';']).next().unwrap_or_default().trim();
            found.push((file.to_owned(), FileTouch::Changed));
        }
    }
    if has(args, &["-f", "--file"]) {
        found.extend(files(args));
    }
    found
}

/// Files that git changes by their names, and those that it makes of a patch.
pub(super) fn by_git(args: &[CallWord]) -> Changes {
    let named = args.iter().position(|word| GIT_CHANGES.contains(&word.text.as_str()));
    let writes =
        args.iter().any(|word| word.text.starts_with("--out") || word.text.starts_with("-o"));
    let Some(at) = named else {
        return if writes { files(args) } else { Vec::new() };
    };
    let (name, rest) = (
        args.get(at).map_or("", |word| word.text.as_str()),
        args.get(at + 1..).unwrap_or_default(),
    );
    match name {
        "rm" if has(rest, &["--cached"]) => Vec::new(),
        "restore" if has(rest, &["--staged", "-S"]) && !has(rest, &["--worktree", "-W"]) => {
            Vec::new()
        }
        "apply" if has(rest, &["--stat", "--check", "--numstat", "--summary"]) => Vec::new(),
        "apply" | "am" | "checkout-index" => with_here(args),
        "submodule" | "worktree" if !has(rest, &["add", "move", "remove"]) => Vec::new(),
        "checkout" | "restore" | "clean" | "rm" | "mv" => trees(rest),
        _ => files(rest),
    }
}

/// An archive that is unpacked brings any file; one that is made is written.
pub(super) fn by_tar(args: &[CallWord]) -> Changes {
    let is_mode = |(at, word): &(usize, &CallWord)| {
        *at == 0 || word.text.starts_with('-') && !word.text.starts_with("--")
    };
    let letter = |letter: char| {
        args.iter().enumerate().filter(is_mode).any(|(_, word)| word.text.contains(letter))
    };
    let unpacks = letter('x') || has(args, &["--extract", "--get"]);
    if unpacks {
        let elsewhere = letter('C') || args.iter().any(|word| word.text.starts_with("--dir"));
        return if elsewhere { files(args) } else { with_here(args) };
    }
    let archive =
        args.iter().enumerate().filter(is_mode).filter(|(_, word)| word.text.ends_with('f'));
    let archive: Vec<CallWord> = archive.filter_map(|(at, _)| args.get(at + 1).cloned()).collect();
    let long = values(args, &["-f", "--file"]);
    files(&archive).into_iter().chain(files(&long)).collect()
}
