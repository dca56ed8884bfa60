//! The table of programs that only read, and how each is kept to it.
//!
//! A program without a row is refused. Awk, xargs, tee, less, env with
//! arguments and shells have none on purpose: they run or write what they are
//! told.

use super::flags::{self, Globs, List};
use super::word::Word;
use super::{CommandCaller, Refusal, git, refuse, scripts};
use everfold_kernel::ports::CallWord;

/// What a program may be given.
enum Rule {
    /// Anything: none of its options or operands writes or runs something.
    Harmless,
    /// These options, any operands.
    Options(List),
    /// As `Options`; and a file that is called like an option does no harm.
    OptionsFree(List),
    /// These options, and at most so many operands.
    AtMost(usize, List),
    /// These options, and operands that begin with `+`.
    PlusOnly(List),
    /// One of these first, then operands.
    Starts(List),
    /// Exactly one word out of these.
    Alone(List),
    Own(fn(&[Word]) -> Result<(), Refusal>),
}

use Rule::{Alone, AtMost, Harmless, Options, OptionsFree, Own, PlusOnly, Starts};

/// For everybody: what L5.14 names, and three that print.
const BACKGROUND: &[(&str, Rule)] = &[
    ("cat", Harmless),
    ("echo", Harmless),
    ("find", Own(scripts::check_find)),
    ("grep", OptionsFree(GREP)),
    ("head", Harmless),
    ("ls", Harmless),
    ("pwd", Harmless),
    ("stat", Harmless),
    ("tail", Harmless),
    ("true", Harmless),
    ("wc", Harmless),
];

/// For the main agent in addition.
const MAIN: &[(&str, Rule)] = &[
    (":", Harmless),
    ("arch", Harmless),
    ("basename", Harmless),
    ("cd", AtMost(1, &["-LP"])),
    ("cksum", Harmless),
    ("cmp", Harmless),
    ("comm", Harmless),
    ("command", Starts(&["-v", "-V"])),
    ("cut", Harmless),
    ("date", PlusOnly(&["-uR -I? -dr: --date= --utc --universal --rfc-3339= --iso-8601?"])),
    ("df", Harmless),
    ("diff", Options(DIFF)),
    ("dirname", Harmless),
    ("du", Harmless),
    ("egrep", OptionsFree(GREP)),
    ("env", AtMost(0, &[])),
    ("false", Harmless),
    ("fgrep", OptionsFree(GREP)),
    ("file", Options(&["-biLhkrN0 --brief --mime --mime-type --mime-encoding --dereference"])),
    ("fold", Harmless),
    ("gcc", Alone(&["--version"])),
    ("git", Own(git::check)),
    ("groups", Harmless),
    ("id", Harmless),
    ("jq", Options(JQ)),
    ("md5sum", Harmless),
    ("nl", Harmless),
    ("node", Alone(&["--version", "-v"])),
    ("nproc", Harmless),
    ("od", Harmless),
    ("paste", Harmless),
    ("printenv", Harmless),
    ("printf", Own(scripts::check_printf)),
    ("ps", Harmless),
    ("python3", Alone(&["--version", "-V"])),
    ("readlink", Harmless),
    ("realpath", Harmless),
    ("rev", Harmless),
    ("rg", Options(RIPGREP)),
    ("sed", Own(scripts::check_sed)),
    ("seq", Harmless),
    ("sha1sum", Harmless),
    ("sha256sum", Harmless),
    ("sort", Options(SORT)),
    ("tac", Harmless),
    ("test", AtMost(1, &["-defhLnrswxz"])),
    ("tr", Harmless),
    ("tree", Options(&["-adfilhspugDFCnrt -LIP: --dirsfirst --noreport --gitignore --prune"])),
    ("type", Harmless),
    ("uname", Harmless),
    ("uniq", AtMost(1, &["-cduizD -fsw: --count --repeated --unique --ignore-case"])),
    ("which", Harmless),
    ("whoami", Harmless),
];

/// Programs that do more than read, and leave the files alone that they are
/// given, but for options. Of all others each file may be changed.
const KEEPS_FILES: &[&str] = &[
    ".",
    "[",
    "[[",
    "alias",
    "apropos",
    "apt",
    "apt-get",
    "aws",
    "az",
    "bandit",
    "bat",
    "biome",
    "brew",
    "bundle",
    "c++",
    "cargo",
    "cc",
    "clang",
    "clang++",
    "clang-tidy",
    "cloc",
    "cmake",
    "codespell",
    "complete",
    "composer",
    "conda",
    "curl",
    "declare",
    "delta",
    "docker",
    "dotnet",
    "eslint",
    "eval",
    "export",
    "flake8",
    "g++",
    "gdb",
    "gh",
    "glab",
    "go",
    "gofmt",
    "golangci-lint",
    "gradle",
    "hash",
    "helm",
    "help",
    "iconv",
    "info",
    "java",
    "jest",
    "just",
    "kill",
    "kubectl",
    "ldd",
    "less",
    "local",
    "make",
    "man",
    "mocha",
    "more",
    "mvn",
    "mypy",
    "ninja",
    "nix",
    "nm",
    "npm",
    "npx",
    "objdump",
    "open",
    "openssl",
    "pandoc",
    "phpunit",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "prettier",
    "pushd",
    "pylint",
    "pytest",
    "read",
    "readelf",
    "readonly",
    "rspec",
    "rubocop",
    "ruff",
    "rustup",
    "set",
    "shellcheck",
    "shfmt",
    "shuf",
    "source",
    "ssh",
    "stylelint",
    "systemctl",
    "terraform",
    "tokei",
    "tox",
    "typeset",
    "uv",
    "vitest",
    "wget",
    "xargs",
    "xdg-open",
    "yarn",
];

/// GNU grep. Listed all the same: others go by that name, and can run filters.
const GREP: List = &[
    "-EFGPivwxcLloqsbHhnTZzarRIUyV -ABCefmdD: -#",
    "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= --file=",
    "--ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count",
    "--color? --colour? --files-without-match --files-with-matches --max-count= --only-matching",
    "--quiet --silent --no-messages --byte-offset --with-filename --no-filename --label=",
    "--line-number --initial-tab --null --after-context= --before-context= --context= --text",
    "--binary-files= --exclude= --exclude-from= --exclude-dir= --include= --recursive",
    "--dereference-recursive --line-buffered --null-data --version --help",
];

/// Not `--pre`, `--hostname-bin`, `--search-zip`: they run programs.
const RIPGREP: List = &[
    "-nNilcwvoFSsUPuLapqxhHIV0 -eABCgtTmrjMdE:",
    "--files --hidden --no-ignore --no-ignore-vcs --glob= --iglob= --type= --type-not= --regexp=",
    "--context= --after-context= --before-context= --count --count-matches --files-with-matches",
    "--files-without-match --line-number --no-line-number --heading --no-heading --color= --sort=",
    "--sortr= --max-count= --max-depth= --ignore-case --smart-case --case-sensitive --multiline",
    "--multiline-dotall --fixed-strings --word-regexp --line-regexp --only-matching --json --stats",
    "--no-filename --with-filename --vimgrep --follow --type-list --pcre2 --replace=",
    "--max-columns= --trim --invert-match --text --unrestricted --column --null --quiet --version",
    "--max-filesize= --no-messages --passthru --pretty",
];

/// Not `-l`: it runs `pr`.
const DIFF: List = &[
    "-uqrwbBiyNacentTpsd -UCWxIX: --brief --recursive --unified? --context? --side-by-side",
    "--ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --new-file --text",
    "--color? --exclude= --width= --suppress-common-lines --strip-trailing-cr --minimal",
    "--report-identical-files --ignore-trailing-space --normal --label= --no-dereference",
];

/// Not `-o`, `-T`, `--compress-program`.
const SORT: List = &[
    "-bdfghiMnrRVsuzcCm -kt: --key= --field-separator= --reverse --unique --numeric-sort",
    "--human-numeric-sort --version-sort --general-numeric-sort --ignore-case --stable --check?",
    "--ignore-leading-blanks --dictionary-order --month-sort --random-sort --zero-terminated",
    "--merge",
];

const JQ: List = &[
    "-nrcesSjaCMR --null-input --raw-output --compact-output --exit-status --slurp --sort-keys",
    "--raw-input --tab --indent= --arg= --argjson= --slurpfile= --rawfile= --color-output",
    "--monochrome-output --join-output",
];

/// Whether a program has a row.
pub(super) fn is_listed(name: &str) -> bool {
    BACKGROUND.iter().chain(MAIN).any(|(listed, _)| *listed == name)
}

/// Whether a program leaves the files alone that it is given, but for options.
pub(super) fn leaves_files(name: &str) -> bool {
    is_listed(name) || KEEPS_FILES.contains(&name)
}

/// Whether a program with these words only reads.
pub(super) fn check(words: &[Word], audience: CommandCaller) -> Result<(), Refusal> {
    let Some((program, words)) = words.split_first() else {
        return refuse("there is no command");
    };
    let name = program.text.as_str();
    let listed = |table: &'static [(&'static str, Rule)]| {
        table.iter().find(|(listed, _)| *listed == name).map(|(_, rule)| rule)
    };
    let for_main = || (audience == CommandCaller::MainAgent).then(|| listed(MAIN)).flatten();
    match listed(BACKGROUND).or_else(for_main) {
        Some(rule) => rule.check(name, words),
        None => refuse(format!("`{name}` is not among the programs that are known to only read")),
    }
}

/// How many words name something that only reads unless an option says
/// otherwise; none where its operands decide, or it has no row.
pub(super) fn reading_words(words: &[CallWord]) -> usize {
    let Some(name) = words.first().map(|word| word.text.as_str()) else { return 0 };
    let row = BACKGROUND.iter().chain(MAIN).find(|(listed, _)| *listed == name);
    match row.map(|(_, rule)| rule) {
        Some(Own(_)) if name == "git" => git::reading_words(words),
        Some(Own(_)) if name == "find" => 1,
        Some(Harmless | Options(_) | OptionsFree(_)) => 1,
        _ => 0,
    }
}

impl Rule {
    fn check(&self, name: &str, words: &[Word]) -> Result<(), Refusal> {
        match self {
            Harmless => Ok(()),
            Own(check) => check(words),
            Options(list) => flags::sort(name, list, words, Globs::Guarded).map(drop),
            OptionsFree(list) => flags::sort(name, list, words, Globs::Free).map(drop),
            AtMost(most, list) => {
                let sorted = flags::sort(name, list, words, Globs::Guarded)?;
                at_most(*most, name, &sorted.operands)
            }
            PlusOnly(list) => {
                let sorted = flags::sort(name, list, words, Globs::Guarded)?;
                match sorted.operands.iter().find(|word| !word.text.starts_with('+')) {
                    Some(word) => {
                        refuse(format!("`{}` can make `{name}` set something", word.text))
                    }
                    None => Ok(()),
                }
            }
            Starts(firsts) => match words.split_first() {
                Some((first, rest))
                    if first.is_fixed()
                        && firsts.contains(&first.text.as_str())
                        && !rest.iter().any(Word::is_option) =>
                {
                    Ok(())
                }
                _ => refuse(format!("`{name}` only reads as `{name} {}`", firsts.join("` or `"))),
            },
            Alone(only) => match words {
                [word] if word.is_fixed() && only.contains(&word.text.as_str()) => Ok(()),
                _ => refuse(format!("`{name}` only reads with just `{}`", only.join("` or `"))),
            },
        }
    }
}

/// At most so many operands, also after patterns became file names.
pub(super) fn at_most(most: usize, name: &str, operands: &[&Word]) -> Result<(), Refusal> {
    if operands.len() <= most && operands.iter().all(|word| word.expands_at.is_none()) {
        return Ok(());
    }
    match most {
        0 => refuse(format!("`{name}` only reads without operands")),
        most => refuse(format!("`{name}` only reads with at most {most} plain operand(s)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn s3_l5_14_background_agents_have_the_listed_programs() {
        let names: BTreeSet<_> = BACKGROUND.iter().map(|(name, _)| *name).collect();
        for name in ["ls", "find", "grep", "cat", "stat", "wc", "head", "tail"] {
            assert!(names.contains(name), "{name}");
        }
        assert_eq!(names.len(), 11);
    }

    #[test]
    fn s3_no_program_has_two_rows() {
        let rows = BACKGROUND.iter().chain(MAIN).map(|(name, _)| name);
        let names: Vec<_> = rows.chain(KEEPS_FILES).copied().collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
