//! The tables of programs that run others, or carry out what they are given.

use everfold_kernel::ports::CallRole;

/// How the words before the program of a wrapper are passed over.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    pub(super) role: CallRole,
    /// Options that take the next word, blanks between them.
    pub(super) valued: &'static str,
    /// Words that come before the program, besides options.
    pub(super) operands: usize,
}

const fn wrapper(name: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, role: CallRole::Wrapper, valued, operands }
}

const fn runner(name: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper { name, role: CallRole::Runner, valued, operands }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper("builtin", "", 0),
    wrapper("command", "", 0),
    wrapper("coproc", "", 0),
    wrapper("ionice", "-c -n -p --class --classdata", 0),
    wrapper("nice", "-n --adjustment", 0),
    wrapper("nohup", "", 0),
    wrapper("setsid", "", 0),
    wrapper("stdbuf", "-i -o -e --input --output --error", 0),
    wrapper("time", "-f -o --format --output", 0),
    wrapper("timeout", "-k -s --kill-after --signal", 1),
    runner("busybox", "", 0),
    runner("caffeinate", "-t -w", 0),
    runner("catchsegv", "", 0),
    runner("choom", "-n -p --adjust --pid", 0),
    runner("chronic", "", 0),
    runner("chroot", "", 1),
    runner("chrt", "-T -P -D", 1),
    runner("daemonize", "-a -c -e -o -p -l -u", 0),
    runner("dbus-launch", "", 0),
    runner("dbus-run-session", "--config-file --dbus-daemon", 0),
    runner("doas", "-u -C", 0),
    runner("dumb-init", "", 0),
    runner("env", "-u -C --unset --chdir", 0),
    runner("exec", "-a", 0),
    runner("eatmydata", "", 0),
    runner("fakechroot", "", 0),
    runner("fakeroot", "-l -s -i -b --lib --faked", 0),
    runner("faketime", "-f", 1),
    runner("firejail", "", 0),
    runner("flock", "-w -E --timeout --conflict-exit-code", 1),
    runner("gpg-agent", "", 0),
    runner("hyperfine", "-r -w -m -M -p -c -n", 0),
    runner("i386", "", 0),
    runner("linux32", "", 0),
    runner("linux64", "", 0),
    runner("logsave", "", 1),
    runner("ltrace", "-e -o -p -s -u -a -l -n", 0),
    runner("nsenter", "-t -S -G --target --setuid --setgid", 0),
    runner("numactl", "-m -N -C -i -p", 0),
    runner("parallel", "-j -a -N -L --jobs --arg-file", 0),
    runner("perf", "", 1),
    runner("pkexec", "--user", 0),
    runner("prlimit", "", 0),
    runner("proxychains", "", 0),
    runner("rtk", "", 0),
    runner("runuser", "-u -g -G", 0),
    runner("setarch", "", 0),
    runner("setpriv", "", 0),
    runner("ssh-agent", "-a -E -O -P -t", 0),
    runner("strace", "-e -o -p -s -u -a -E -I -O -P -S -b", 0),
    runner("sudo", "-u -g -h -p -C -T -r -t -D -R -U --user --group --host --prompt --chdir", 0),
    runner("systemd-run", "-u -p -H -M -E --unit --property --slice --uid --gid", 0),
    runner("taskset", "", 1),
    runner("tini", "-p -g", 0),
    runner("torsocks", "", 0),
    runner("toybox", "", 0),
    runner("uclampset", "-m -M -p", 0),
    runner("uname26", "", 0),
    runner("unbuffer", "", 0),
    runner("unshare", "-S -G -R -w --setuid --setgid --root --wd", 0),
    runner("valgrind", "", 0),
    runner(
        "xargs",
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines --max-chars",
        0,
    ),
    runner("x86_64", "", 0),
    runner("xvfb-run", "-n -s -e -f -w", 0),
];

/// Words of the shell's grammar that stand before a command.
pub(super) const RESERVED: &[&str] =
    &["{", "(", "!", "if", "then", "else", "elif", "do", "while", "until", "for", "select"];

/// Options with code, by the start of an interpreter's name.
pub(super) const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("pypy", &["-c"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("node", &["-e", "-p", "--eval", "--print"]),
    ("nodejs", &["-e", "-p", "--eval", "--print"]),
    ("bun", &["-e", "-p", "--eval", "--print"]),
    ("deno", &["eval"]),
    ("php", &["-r", "-B", "-R", "-E"]),
    ("lua", &["-e"]),
    ("osascript", &["-e"]),
    ("Rscript", &["-e"]),
    ("R", &["-e"]),
    ("julia", &["-e", "-E"]),
    ("expect", &["-c"]),
    ("elixir", &["-e"]),
    ("erl", &["-eval"]),
    ("vim", &["-c", "--cmd", "+"]),
    ("vi", &["-c", "+"]),
    ("nvim", &["-c", "--cmd", "+"]),
    ("ex", &["-c", "+"]),
    ("emacs", &["--eval", "-eval", "--execute"]),
    ("pwsh", &["-c", "-Command", "-EncodedCommand"]),
    ("powershell", &["-c", "-Command", "-EncodedCommand"]),
    ("gdb", &["-ex", "-iex", "--eval-command", "--init-eval-command"]),
    ("lldb", &["-o", "-O", "--one-line"]),
    ("tclsh", &[]),
    ("wish", &[]),
    ("guile", &["-c"]),
    ("ghci", &["-e"]),
    ("irb", &["-e"]),
    ("jshell", &[]),
    ("groovy", &["-e"]),
    ("scala", &["-e"]),
    ("octave", &["--eval"]),
    ("iex", &["-e", "--eval"]),
];

/// Programs whose every argument may be code.
pub(super) const ALL_CODE: &[&str] =
    &["awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "m4", "sqlite3", "psql", "mysql", "dc"];

/// Programs that carry out lines of their input, of which some start programs.
pub(super) const CLIENTS: &[&str] =
    &["ed", "ex", "m4", "dc", "sqlite3", "psql", "mysql", "ftp", "sftp", "telnet", "make"];

/// Programs whose words are never programs to run, besides those that only
/// read: of any other, a word that is the name of a program may be one.
pub(super) const TAKE_WORDS: &[&str] = &[
    "[",
    "[[",
    "adduser",
    "alias",
    "apropos",
    "apt",
    "apt-cache",
    "apt-get",
    "aws",
    "az",
    "brew",
    "bundle",
    "cargo",
    "cd",
    "chgrp",
    "chmod",
    "chown",
    "complete",
    "composer",
    "conda",
    "cp",
    "curl",
    "declare",
    "dnf",
    "docker",
    "dotnet",
    "dpkg",
    "export",
    "fd",
    "firebase",
    "flyctl",
    "gcloud",
    "gem",
    "gh",
    "git",
    "glab",
    "go",
    "gradle",
    "hash",
    "helm",
    "help",
    "heroku",
    "hg",
    "info",
    "install",
    "jj",
    "just",
    "kill",
    "killall",
    "kubectl",
    "less",
    "ln",
    "local",
    "locate",
    "ls",
    "make",
    "man",
    "mkdir",
    "more",
    "mv",
    "mvn",
    "nix",
    "npm",
    "oc",
    "pacman",
    "pgrep",
    "pip",
    "pip3",
    "pipx",
    "pkill",
    "pnpm",
    "podman",
    "poetry",
    "pulumi",
    "pushd",
    "read",
    "readonly",
    "rm",
    "rmdir",
    "rustup",
    "set",
    "shred",
    "svn",
    "systemctl",
    "tar",
    "tee",
    "terraform",
    "touch",
    "truncate",
    "typeset",
    "unalias",
    "unlink",
    "unset",
    "unzip",
    "uv",
    "vercel",
    "wget",
    "whatis",
    "whereis",
    "yarn",
    "yum",
    "zip",
    "zypper",
];

/// What becomes of what a variable is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableUse {
    /// Programs carry it out.
    Script,
    /// A shell or an interpreter carries out the file that it names.
    File,
    /// It changes what programs are run in ways that nobody can tell.
    Hides,
    /// Options of a program, of which some take in code.
    Options,
    /// Nothing that is known.
    Plain,
}

/// What becomes of what a variable of this name is set to.
pub(super) fn variable_use(name: &str) -> VariableUse {
    match name {
        "BASH_ENV" | "ENV" | "PYTHONSTARTUP" | "ZDOTDIR" => VariableUse::File,
        "LD_PRELOAD" | "LD_AUDIT" | "DYLD_INSERT_LIBRARIES" | "PERL5DB" => VariableUse::Hides,
        // Settings of git: aliases, helpers, hooks.
        name if name.starts_with("GIT_CONFIG") => VariableUse::Hides,
        "NODE_OPTIONS" | "PERL5OPT" | "RUBYOPT" | "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS"
        | "MAKEFLAGS" | "GNUMAKEFLAGS" | "TAR_OPTIONS" | "LESS" | "MORE" | "PYTEST_ADDOPTS"
        | "RUSTFLAGS" => VariableUse::Options,
        "PS0"
        | "PS1"
        | "PS2"
        | "PS4"
        | "PROMPT_COMMAND"
        | "LESSOPEN"
        | "LESSCLOSE"
        | "BROWSER"
        | "VISUAL"
        | "BASH_ALIASES"
        | "BASH_CMDS"
        | "RUSTC_WRAPPER"
        | "RUSTC"
        | "CC"
        | "CXX"
        | "RSYNC_RSH"
        | "CVS_RSH"
        | "SSH_ASKPASS"
        | "SUDO_ASKPASS"
        | "FZF_DEFAULT_COMMAND" => VariableUse::Script,
        name if name.starts_with("GIT_") => VariableUse::Script,
        name if name.ends_with("EDITOR") || name.ends_with("PAGER") => VariableUse::Script,
        name if name.ends_with("_RUNNER") || name.ends_with("_COMMAND") => VariableUse::Script,
        _ => VariableUse::Plain,
    }
}

/// Options by which interpreters take in more code, in a variable.
pub(super) fn takes_in_code(options: &str) -> bool {
    const MARKS: &[&str] = &[
        "require",
        "import",
        "loader",
        "-r",
        "eval",
        "agent",
        "-M",
        "-d",
        "-I",
        "-p ",
        "wrapper",
        "linker",
        "command",
        "checkpoint",
        "program",
        "+!",
    ];
    MARKS.iter().any(|mark| options.contains(mark))
}

/// Programs whose words from some place on are a text for a shell.
pub(super) const JOINING: &[&str] = &["watch", "ssh", "mosh", "tmux", "screen", "wsl", "adb"];
