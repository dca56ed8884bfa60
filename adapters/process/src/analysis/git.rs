//! Subcommands of git that only read, with their options.
//!
//! Builtin subcommands cannot be hidden by an alias, so the name of a listed
//! one means what it says; an alias has no row and is refused. Options that
//! set configuration, write a file, or run a pager, a filter or a difference
//! program are in no list. What the user's or the repository's own
//! configuration names is trusted; who does not trust a folder below the
//! repository runs commands with `safe.bareRepository=explicit`, so that a
//! checked-out file cannot pass for a repository with a configuration.

use super::flags::{self, Globs, List};
use super::programs::at_most;
use super::word::Word;
use super::{Refusal, refuse};
use everfold_kernel::ports::CallWord;

/// What operands a subcommand may have.
enum Operands {
    /// Any: they name what to read.
    Any,
    /// None, or it would create something.
    None,
    /// Any, but only with one of these options; else none.
    With(&'static [&'static str]),
    /// Any, and one of these options must be there.
    Needs(&'static [&'static str]),
}

use Operands::{Any, Needs, With};

/// Before the subcommand.
const GLOBAL: &[&str] = &["--no-pager", "--no-optional-locks", "--literal-pathspecs"];

/// How differences are shown. Not `--output`, `--ext-diff`, `--textconv`.
const DIFF: &str = "-pusRwbazqtWmc -USGl: -MCB? --cc --stat? --shortstat --numstat --dirstat? \
    --summary --compact-summary --name-only --name-status --patch --no-patch --patch-with-stat \
    --raw --unified= --word-diff? --color-words? --color? --no-color --diff-filter= \
    --find-renames? --find-copies? --no-renames --ignore-space-change --ignore-all-space \
    --ignore-blank-lines --ignore-space-at-eol --ignore-cr-at-eol --exit-code --quiet --check \
    --minimal --patience --histogram --diff-algorithm= --submodule? --no-ext-diff --no-textconv \
    --text --binary --full-index --abbrev? --relative? --pickaxe-all --pickaxe-regex \
    --function-context --inter-hunk-context= --color-moved? --no-prefix --merge-base";

/// Which commits are shown, and how.
const LOG: &str = "-# -nL: -iEFPg --oneline --graph --decorate? --no-decorate --all --branches? \
    --tags? --remotes? --pretty? --format= --since= --until= --after= --before= --author= \
    --committer= --grep= --max-count= --skip= --follow --merges --no-merges --first-parent \
    --reverse --abbrev-commit --no-abbrev-commit --date= --date-order --topo-order \
    --author-date-order --left-right --left-only --right-only --cherry-pick --cherry-mark \
    --cherry --boundary --full-history --full-diff --regexp-ignore-case --invert-grep \
    --all-match --extended-regexp --fixed-strings --perl-regexp --relative-date --parents \
    --children --source --simplify-by-decoration --walk-reflogs --no-walk --count --max-parents= \
    --min-parents= --no-notes --show-pulls";

const REFS: &str = "--sort= --format= --contains= --no-contains= --merged= --no-merged= \
    --points-at= --column? --no-column --color? --no-color --ignore-case";

const CONFIG: &str = "--local --global --system --worktree --show-origin --show-scope --null -z \
    --name-only --type= --bool --int --path --includes --no-includes";

const STATUS: &str = "-sbvz -u? --short --branch --porcelain? --long --untracked-files? \
    --ignored? --ignore-submodules? --show-stash --ahead-behind --no-ahead-behind --renames \
    --no-renames --find-renames? --column? --no-column --null --verbose";

const GREP: &str = "-niIlLwcEFGPhHovqazpW -eABCmf: --cached --untracked --no-index --ignore-case \
    --line-number --files-with-matches --files-without-match --name-only --count --heading \
    --break --show-function --function-context --context= --after-context= --before-context= \
    --and --or --not --all-match --max-depth= --word-regexp --invert-match --extended-regexp \
    --fixed-strings --perl-regexp --basic-regexp --only-matching --column --color? --no-color \
    --full-name --exclude-standard --no-exclude-standard --quiet --text --recursive --max-count=";

const LS_FILES: &str = "-cdmoistuvzk -xX: --cached --deleted --modified --others --ignored \
    --stage --unmerged --killed --exclude= --exclude-standard --directory --full-name --eol \
    --error-unmatch --abbrev? --deduplicate --no-empty-directory";

const REV_PARSE: &str = "--show-toplevel --abbrev-ref? --short? --verify --git-dir \
    --absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir \
    --is-bare-repository --is-shallow-repository --symbolic --symbolic-full-name --show-prefix \
    --show-cdup --all --branches? --tags? --remotes? --quiet -q --show-superproject-working-tree";

/// Subcommands; two words where the second decides.
const SUBCOMMANDS: &[(&str, List, Operands)] = &[
    (
        "blame",
        &[
            "-wlstfnepbc -L: -MC? --porcelain --line-porcelain --show-email --date= --since= --ignore-rev= --root",
        ],
        Any,
    ),
    (
        "branch",
        &["-arvil --all --remotes --verbose --list --show-current --abbrev? --no-abbrev", REFS],
        With(&["--list"]),
    ),
    ("cat-file", &["-ptse"], Any),
    ("check-attr", &["-a --all"], Any),
    ("check-ignore", &["-vnq --verbose --non-matching --no-index --quiet"], Any),
    ("cherry", &["-v"], Any),
    (
        "config",
        &["-l --list --get --get-all --get-regexp", CONFIG],
        Needs(&["--get", "--get-all", "--get-regexp", "--list", "-l"]),
    ),
    ("config get", &["--all --regexp", CONFIG], Any),
    ("config list", &[CONFIG], Operands::None),
    ("count-objects", &["-vH --verbose --human-readable"], Operands::None),
    (
        "describe",
        &[
            "--tags --always --long --dirty? --all --abbrev= --exact-match --match= --exclude= --contains --first-parent --candidates=",
        ],
        Any,
    ),
    ("diff", &[DIFF, "--cached --staged -123 --no-index"], Any),
    ("diff-tree", &[DIFF, "-r --root --no-commit-id"], Any),
    ("for-each-ref", &["--count=", REFS], Any),
    ("grep", &[GREP], Any),
    ("log", &[DIFF, LOG], Any),
    ("ls-files", &[LS_FILES], Any),
    (
        "ls-tree",
        &["-rtdlz --name-only --name-status --full-tree --full-name --long --abbrev?"],
        Any,
    ),
    ("merge-base", &["-a --all --is-ancestor --octopus --independent --fork-point"], Any),
    ("name-rev", &["--name-only --tags --refs= --always"], Any),
    ("reflog", &["-# -n: --oneline --date= --max-count="], Operands::None),
    ("reflog show", &[LOG], Any),
    ("remote", &["-v --verbose"], Operands::None),
    ("remote get-url", &["--all --push"], Any),
    ("rev-list", &[LOG, "--objects"], Any),
    ("rev-parse", &[REV_PARSE], Any),
    ("shortlog", &["-sec --summary --numbered --email", LOG_SHORT], Any),
    ("show", &[DIFF, LOG], Any),
    (
        "show-ref",
        &["-dsq --head --heads --branches --tags --hash? --verify --quiet --dereference"],
        Any,
    ),
    ("stash list", &[DIFF, LOG], Any),
    ("stash show", &[DIFF, "--include-untracked"], Any),
    ("status", &[STATUS], Any),
    ("tag", &["-li -n? --list", REFS], With(&["-l", "--list"])),
    ("version", &["--build-options"], Operands::None),
    ("worktree list", &["-vz --porcelain --verbose"], Operands::None),
];

/// `-n` sorts here, and takes no number.
const LOG_SHORT: &str = "-n --since= --until= --after= --before= --author= --all --no-merges \
    --merges --first-parent --group=";

/// Whether git with these words only reads.
pub(super) fn check(words: &[Word]) -> Result<(), Refusal> {
    let words = after_globals(words)?;
    if let [only] = words
        && only.text == "--version"
        && only.is_fixed()
    {
        return Ok(());
    }
    let Some((first, rest)) = words.split_first().filter(|(first, _)| is_name(first)) else {
        return refuse("`git` needs a plain subcommand");
    };
    if let Some(word) = words.iter().find(|word| runs_gpg(&word.text)) {
        return refuse(format!("`{}` runs a program that checks signatures", word.text));
    }
    let two = rest
        .split_first()
        .filter(|(second, _)| second.is_fixed())
        .and_then(|(second, rest)| Some((row(&format!("{} {}", first.text, second.text))?, rest)));
    let Some(((name, list, operands), rest)) = two.or_else(|| Some((row(&first.text)?, rest)))
    else {
        let named = rest.first().filter(|_| {
            SUBCOMMANDS.iter().any(|(name, ..)| {
                name.strip_prefix(first.text.as_str()).is_some_and(|rest| rest.starts_with(' '))
            })
        });
        let second = named.map_or_else(String::new, |word| format!(" {}", word.text));
        return refuse(format!(
            "`git {}{second}` is not among the subcommands that are known to only read",
            first.text
        ));
    };
    let name = format!("git {name}");
    let sorted = flags::sort(&name, list, rest, Globs::Guarded)?;
    match operands {
        Any => Ok(()),
        With(options) if sorted.has(options) => Ok(()),
        Operands::None | With(_) => at_most(0, &name, &sorted.operands),
        Needs(options) if sorted.has(options) => Ok(()),
        Needs(options) => refuse(format!("`{name}` only reads with `{}`", options.join("` or `"))),
    }
}

/// How many words name a subcommand that reads whatever it is given, but for
/// some options.
pub(super) fn reading_words(words: &[CallWord]) -> usize {
    let mut names = words.iter().skip(1).map(|word| word.text.as_str());
    let (first, second) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let is_reading = |name: &str| row(name).is_some_and(|(_, _, operands)| matches!(operands, Any));
    if is_reading(&format!("{first} {second}")) {
        3
    } else if is_reading(first) {
        2
    } else {
        0
    }
}

fn is_name(word: &Word) -> bool {
    word.is_fixed() && word.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn row(name: &str) -> Option<&'static (&'static str, List, Operands)> {
    SUBCOMMANDS.iter().find(|(listed, ..)| *listed == name)
}

/// The words from the subcommand on.
fn after_globals(mut words: &[Word]) -> Result<&[Word], Refusal> {
    loop {
        match words {
            [at, directory, rest @ ..] if at.text == "-C" => {
                if directory.is_option() || directory.expands_at.is_some() {
                    return refuse("`git -C` needs a plain directory");
                }
                words = rest;
            }
            [option, rest @ ..] if GLOBAL.contains(&option.text.as_str()) => words = rest,
            [option, ..] if option.is_option() && option.text != "--version" => {
                return refuse(format!(
                    "`git {}` can change what git runs or where it writes",
                    option.text
                ));
            }
            _ => return Ok(words),
        }
    }
}

/// `%G?` and its kin, and `%(signature)`.
fn runs_gpg(text: &str) -> bool {
    text.contains("%G") || text.contains("%(signature") || text.contains("%(*signature")
}
