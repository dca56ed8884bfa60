//! What a program may change by what it is given, for rules that forbid
//! changes (S11). Which programs write is not known of all, so it is the other
//! way round: of one that is not known to leave its files alone, each file
//! that is named may be changed, and that is a question.

mod forms;

use super::super::programs;
use super::carriers::INTERPRETERS;
use super::given::values;
use super::wrapper::is_shell;
use super::{base_name, touch};
use everfold_kernel::ports::{CallRole, CallWord, CommandEffect, FileTouch, ProgramCall, WordKind};

use forms::{by_awk, by_git, by_sed, by_tar};

type Changes = Vec<(String, FileTouch)>;

/// Programs that change what they are given unless they are asked to look.
const FORMATS: &[&str] = &["black", "isort", "rustfmt", "yapf", "autopep8", "clang-format"];

/// Parts of the names of options whose value is a file that is written.
const WRITES: &[&str] = &[
    "out", "log", "save", "write", "report", "dump", "trace", "export", "dest", "prefix", "junit",
    "jar", "stderr", "MF",
];

/// What a program may change.
pub(super) fn changed(call: &ProgramCall) -> Changes {
    let Some((program, args)) = call.words.split_first() else { return Vec::new() };
    let name = base_name(&program.text);
    if call.effect == CommandEffect::Reads {
        return Vec::new();
    }
    match (call.role, name) {
        (CallRole::Perhaps, _) => Vec::new(),
        // What is in them is listed by itself.
        (CallRole::Wrapper | CallRole::Runner, _) => files(&values(args, &["-o", "--output"])),
        (_, "awk" | "gawk" | "mawk" | "nawk") => by_awk(args),
        (_, "sed" | "gsed") => by_sed(args),
        (_, "git") => by_git(args),
        (_, "tar" | "bsdtar") => by_tar(args),
        (_, "find" | "gfind") => {
            let removes = has(args, &["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]);
            if removes || hands_on_to_change(args) { trees(args) } else { Vec::new() }
        }
        (_, "rm" | "chmod" | "chown" | "chgrp" | "rsync" | "shred") => {
            trees(args).into_iter().chain(open(args)).collect()
        }
        (_, "mv") => {
            let sources = args.get(..args.len().saturating_sub(1)).unwrap_or_default();
            trees(sources).into_iter().chain(open(args)).collect()
        }
        (_, "patch") => with_here(args),
        (_, "unzip" | "7z" | "7za" | "cpio") if !has(args, &["-l", "-t", "-p", "l", "t", "-Z"]) => {
            let elsewhere =
                args.iter().any(|word| word.text.starts_with("-d") || word.text.starts_with("-o"));
            if elsewhere { files(args) } else { with_here(args) }
        }
        (_, "gzip" | "bzip2" | "xz" | "zstd") if has(args, &["-c", "-l", "-t", "--stdout"]) => {
            Vec::new()
        }
        (_, name) if FORMATS.contains(&name) => {
            if has(args, &["--check", "--diff", "-c", "--check-only"]) {
                Vec::new()
            } else {
                trees(args)
            }
        }
        (_, "uniq") => files(args),
        (_, name) if keeps(name) => by_options(args),
        _ => {
            let more = if touch::is_writer(name) { open(args) } else { Vec::new() };
            files(args).into_iter().chain(more).collect()
        }
    }
}

/// Whether a program works, or makes others work, in another directory.
pub(super) fn moves(call: &ProgramCall) -> bool {
    const MARKS: &[&str] = &["-C", "-d", "-P", "dir", "cwd", "prefix", "work-tree", "root"];
    let Some((program, args)) = call.words.split_first() else { return false };
    matches!(base_name(&program.text), "cd" | "pushd" | "popd")
        || args.iter().any(|word| {
            let short = !word.text.starts_with("--") && word.text.contains('C');
            word.text.starts_with('-')
                && (short || MARKS.iter().any(|mark| word.text.contains(mark)))
        })
}

fn keeps(name: &str) -> bool {
    programs::leaves_files(name)
        || is_shell(name)
        || INTERPRETERS.iter().any(|(start, _)| is_version_of(name, start))
}

/// `python3.12` is python, `exiftool` no `ex`.
fn is_version_of(name: &str, start: &str) -> bool {
    let rest = name.strip_prefix(start);
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || ".-".contains(c)))
}

/// Words that may name files, and the words in them.
fn files(args: &[CallWord]) -> Changes {
    let whole = args.iter().map(|word| word.text.as_str());
    let parts = args.iter().flat_map(|word| tokens(&word.text));
    whole.chain(parts).map(|text| (text.to_owned(), FileTouch::Changed)).collect()
}

fn trees(args: &[CallWord]) -> Changes {
    let named = args.iter().filter(|word| !word.text.starts_with('-'));
    named.map(|word| (word.text.clone(), FileTouch::ChangedTree)).collect()
}

fn here() -> (String, FileTouch) {
    (".".to_owned(), FileTouch::ChangedTree)
}

/// Anything: what it changes is only known when it runs.
pub(super) fn anything() -> (String, FileTouch) {
    ("/".to_owned(), FileTouch::ChangedTree)
}

/// Whether `find` hands files on to a program that changes them.
fn hands_on_to_change(args: &[CallWord]) -> bool {
    let runs = |word: &CallWord| word.text.starts_with("-exec") || word.text.starts_with("-ok");
    let inner = args.iter().skip_while(|word| !runs(word)).skip(1).cloned().collect::<Vec<_>>();
    let writes = |(_, touch): &(String, FileTouch)| *touch == FileTouch::Written;
    !inner.is_empty()
        && (touch::touched(&inner).iter().any(writes)
            || !changed(&super::call(inner, CallRole::Program)).is_empty())
}

fn open(args: &[CallWord]) -> Changes {
    let is_open =
        args.iter().any(|word| word.kind == WordKind::Open && !word.text.starts_with('-'));
    is_open.then(anything).into_iter().collect()
}

fn with_here(args: &[CallWord]) -> Changes {
    files(args).into_iter().chain([here()]).collect()
}

fn has(args: &[CallWord], wanted: &[&str]) -> bool {
    args.iter().any(|word| wanted.contains(&word.text.as_str()))
}

/// What options make a program write that leaves its files alone otherwise.
fn by_options(args: &[CallWord]) -> Changes {
    const IN_PLACE: &[&str] = &[
        "--fix",
        "--write",
        "-w",
        "-i",
        "--in-place",
        "--inplace",
        "fix",
        "fmt",
        "format",
        "new",
        "init",
        "cp",
    ];
    if has(args, IN_PLACE) {
        return trees(args).into_iter().chain(files(args)).collect();
    }
    let mut found = files(&values(args, &["-o", "-D", "-c", "-P", "-a", "-O"]));
    let mut words = args.iter().peekable();
    while let Some(word) = words.next() {
        let (option, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        if option.starts_with('-') && WRITES.iter().any(|mark| option.contains(mark)) {
            let next = words.peek().filter(|_| value.is_empty()).map(|word| word.text.as_str());
            found.extend(
                [value, next.unwrap_or_default()].map(|text| (text.to_owned(), FileTouch::Changed)),
            );
        }
    }
    found
}

fn tokens(code: &str) -> impl Iterator<Item = &str> {
    let splits = |c: char| c.is_whitespace() || "'\"`()<>;|&,+[]{}!".contains(c);
    code.split(splits).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    fn names(line: &str) -> Vec<String> {
        let words = line.split(' ').map(CallWord::exact).collect();
        changed(&call(words, CallRole::Program)).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn s11_what_is_not_known_to_leave_a_file_alone_may_change_it() {
        for line in [
            "sort -o f x",
            "rustfmt f",
            "dos2unix f",
            "gcc -o f x.c",
            "curl --output f u",
            "git checkout -- f",
            "git log --output=f",
            "awk {print>\"f\"} x",
            "sed 1wf x",
            "tar cf f x",
            "eslint --fix f",
            "truncate -s0 f",
            "anything f",
        ] {
            assert!(
                names(line).iter().any(|name| name.ends_with('f')),
                "{line}: {:?}",
                names(line)
            );
        }
        for line in [
            "cat f",
            "python3 f",
            "gcc f -o x",
            "eslint f",
            "git add f",
            "awk {print} f",
            "sed s/a/b/ f",
            "tar cf x f",
            "cargo test f",
            "rustfmt --check f",
            "find f -name x",
        ] {
            assert!(!names(line).iter().any(|name| name == "f"), "{line}: {:?}", names(line));
        }
    }
}
