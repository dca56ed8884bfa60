//! Which options make a program run another, or write where nobody thinks of
//! it: one table, for rules that forbid and for rules that allow (S11).

use super::base_name;
use everfold_kernel::ports::CallWord;

/// Options of one program that do more than choose.
struct Acting {
    program: &'static str,
    /// Their value is a command, or names one.
    run: &'static [&'static str],
    /// They write a file, take orders from one, or work elsewhere.
    act: &'static [&'static str],
}

/// Options by which programs take in code that is no text, or look for parts of
/// themselves in a folder: nobody can tell what that does.
const LOADS: &[(&str, &[&str])] = &[
    ("cc", &["-fplugin", "-B", "-specs"]),
    ("clang", &["-fplugin", "-B"]),
    ("enable", &["-f"]),
    ("gcc", &["-fplugin", "-B", "-specs"]),
    ("git", &["--exec-path"]),
    ("ld", &["-plugin", "--plugin"]),
    ("openssl", &["-engine", "-engine_impl", "-provider", "-provider-path"]),
    ("ssh", &["-I"]),
    ("ssh-add", &["-s"]),
    ("ssh-keygen", &["-D", "-w"]),
];

const fn acting(
    program: &'static str,
    run: &'static [&'static str],
    act: &'static [&'static str],
) -> Acting {
    Acting { program, run, act }
}

const TABLE: &[Acting] = &[
    acting(
        "git",
        &[
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--open-files-in-pager",
            "-O",
            "-c",
            "-x",
            "--tree-filter",
            "--index-filter",
            "--msg-filter",
            "--env-filter",
            "--commit-filter",
            "--parent-filter",
            "--tag-name-filter",
            "--setup",
            "--extcmd",
            "--sendmail-cmd",
            "--to-cmd",
            "--cc-cmd",
            "--header-cmd",
            "--access-hook",
        ],
        &[
            "--output",
            "--ext-diff",
            "--textconv",
            "--config-env",
            "--exec-path",
            "--template",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--output-directory",
            "-o",
            "--hooks-path",
            "--no-index",
        ],
    ),
    acting(
        "cargo",
        &["--config"],
        &[
            "-Z",
            "--artifact-dir",
            "--out-dir",
            "--target-dir",
            "--manifest-path",
            "--lockfile-path",
            "--fix",
            "--open",
            "--logfile",
            "--config-path",
        ],
    ),
    acting(
        "go",
        // It takes each with two dashes, too: here the value of both is looked for.
        &["-exec", "-toolexec", "-vettool", "--exec", "--toolexec", "--vettool"],
        &[
            "-o",
            "-overlay",
            "-modfile",
            "-C",
            "-ldflags",
            "-gccgoflags",
            "-pkgdir",
            "-outputdir",
            "-coverprofile",
            "-cpuprofile",
            "-memprofile",
            "-blockprofile",
            "-mutexprofile",
            "-trace",
        ],
    ),
    acting("npm", &["-c", "--call", "--script-shell"], &["--prefix", "--node-options", "-C"]),
    acting("npx", &["-c", "--call"], &[]),
    acting("pnpm", &["-c", "--script-shell"], &["--shell-emulator", "-C", "--dir"]),
    acting("yarn", &["--script-shell"], &["--cwd", "--use-yarnrc"]),
    acting(
        "pytest",
        &[],
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
            "--pastebin",
            "--cov-report",
            "--cov-config",
            "--html",
            "--report-log",
            "--json-report-file",
            "--alluredir",
            "--benchmark-json",
            "--benchmark-storage",
            "--store-durations",
            "--durations-path",
            "--snapshot-update",
            "--force-regen",
            "--cache-clear",
            "--pyargs",
            "--ds",
        ],
    ),
    acting(
        "make",
        &["--eval", "-E", "SHELL", ".SHELLFLAGS"],
        &["-f", "--file", "--makefile", "-C", "--directory"],
    ),
    acting(
        "find",
        &[],
        &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf",
            "-fls",
        ],
    ),
    acting("fd", &[], &["-x", "-X", "--exec", "--exec-batch"]),
    acting("rg", &["--pre", "--hostname-bin"], &["--search-zip", "-z"]),
    acting("sort", &["--compress-program"], &["-o", "--output", "-T", "--temporary-directory"]),
    acting("split", &["--filter"], &[]),
    acting(
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "-I",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
        ],
        &[],
    ),
    acting("sed", &[], &["-i", "--in-place"]),
    acting("tree", &[], &["-o"]),
    acting(
        "curl",
        &[],
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
    acting(
        "wget",
        &["--use-askpass"],
        &["-O", "--output-document", "-P", "--post-file", "--post-data", "-e", "--execute"],
    ),
    acting("ssh", &["-o"], &["-F"]),
    acting("scp", &["-o", "-S"], &["-F"]),
    acting("sftp", &["-o", "-S"], &["-F"]),
    acting("rsync", &["-e", "--rsh", "--rsync-path"], &[]),
    acting("docker", &[], &["-v", "--volume", "--mount", "--privileged"]),
    acting(
        "eslint",
        &[],
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
    acting("tsc", &[], &["--outDir", "--outFile", "-p", "--project"]),
    acting("prettier", &[], &["--plugin", "--config"]),
    acting("mypy", &[], &["--config-file", "--plugins", "--junit-xml"]),
    acting("ruff", &[], &["--config", "--output-file", "-o"]),
    acting("gcc", &["-wrapper"], &["-fplugin", "-B", "-o", "-specs"]),
    acting("cc", &["-wrapper"], &["-fplugin", "-B", "-o", "-specs"]),
    acting("clang", &[], &["-fplugin", "-B", "-o"]),
    acting("man", &["-P", "--pager", "-H", "--html"], &["-C"]),
    acting("zip", &["-TT", "--unzip-command"], &["-O"]),
    acting("env", &["-S", "--split-string"], &[]),
    acting("flock", &["-c", "--command"], &[]),
    acting("runuser", &["-c", "--command"], &[]),
    acting("script", &["-c", "--command"], &[]),
    acting("su", &["-c", "--command", "--session-command"], &[]),
    acting("start-stop-daemon", &["-x", "--exec", "-a", "--startas"], &[]),
    acting("mapfile", &["-C"], &[]),
    acting("readarray", &["-C"], &[]),
    acting("compgen", &["-C", "-W", "-F"], &[]),
    acting("complete", &["-C", "-W", "-F"], &[]),
    acting("mvn", &["-Dexec.executable"], &["-f", "--file", "-s", "--settings"]),
    acting("screen", &["-X"], &["-c"]),
    acting("xterm", &["-e"], &[]),
    acting("nc", &["-e", "-c"], &[]),
    acting("ncat", &["-e", "-c", "--exec", "--sh-exec"], &[]),
];

fn row(program: &str) -> Option<&'static Acting> {
    TABLE.iter().find(|row| row.program == program)
}

/// The options of a program whose value is a command.
pub(super) fn running(program: &str) -> &'static [&'static str] {
    row(program).map_or(&[], |row| row.run)
}

/// Whether a program is given code to take in that nobody can read. What only
/// asks for the folder (`git --exec-path`) takes in nothing.
pub(super) fn loads(program: &str, args: &[CallWord]) -> bool {
    let Some((_, options)) = LOADS.iter().find(|(name, _)| *name == program) else { return false };
    args.iter().enumerate().any(|(at, word)| {
        let (option, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let given = !value.is_empty() || program != "git" && args.len() > at + 1;
        given && options.contains(&option)
    })
}

/// The places of the words that make a program run another or write.
pub(super) fn acting_words(words: &[CallWord]) -> Vec<usize> {
    let Some(program) = words.first().map(|word| base_name(&word.text)) else {
        return Vec::new();
    };
    let Some(row) = row(program) else { return Vec::new() };
    let acts = |word: &CallWord| row.run.iter().chain(row.act).any(|one| is(program, one, word));
    let numbered = words.iter().enumerate().skip(1);
    numbered.filter(|(_, word)| acts(word)).map(|(at, _)| at).collect()
}

fn is(program: &str, option: &str, word: &CallWord) -> bool {
    let own = word.text.split('=').next().unwrap_or_default();
    // Go takes each option with two dashes, too.
    let own = match own.strip_prefix('-') {
        Some(one) if program == "go" && one.starts_with('-') => one,
        _ => own,
    };
    let long = option.starts_with("--");
    own == option
        // Programs take the start of a long option for all of it.
        || long && own.len() > 3 && own.starts_with("--") && option.starts_with(own)
        // A short one with its value attached, or in a cluster. Those of Go
        // have more than one letter.
        || !long
            && program != "go"
            && option.len() == 2
            && own.starts_with('-')
            && !own.starts_with("--")
            && option.chars().nth(1).is_some_and(|letter| own.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acting(line: &str) -> Vec<usize> {
        let words: Vec<CallWord> = line.split(' ').map(CallWord::exact).collect();
        acting_words(&words)
    }

    #[test]
    fn s11_options_that_run_or_write_are_seen_in_any_spelling() {
        assert_eq!(acting("git log --output=x"), [2]);
        assert_eq!(acting("git log --outp x"), [2]);
        assert_eq!(acting("git grep -Oless a"), [2]);
        assert_eq!(acting("sort -uo x"), [1]);
        assert_eq!(acting("go test -exec=x -v"), [2]);
        assert_eq!(acting("make SHELL=./x"), [1]);
        assert_eq!(acting("go test --coverprofile x"), [2]);
        assert!(acting("git log --oneline").is_empty() && acting("ls -o").is_empty());
    }
}
