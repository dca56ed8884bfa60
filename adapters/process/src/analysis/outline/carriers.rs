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
    runner("chroot", "", 1),
    runner("chrt", "-T -P -D", 1),
    runner("doas", "-u -C", 0),
    runner("env", "-u -C --unset --chdir", 0),
    runner("exec", "-a", 0),
    runner("firejail", "", 0),
    runner("flock", "-w -E --timeout --conflict-exit-code", 1),
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
    runner("setarch", "", 1),
    runner("setpriv", "", 0),
    runner("strace", "-e -o -p -s -u -a -E -I -O -P -S -b", 0),
    runner("sudo", "-u -g -h -p -C -T -r -t -D -R -U --user --group --host --prompt --chdir", 0),
    runner("systemd-run", "-u -p -H -M -E --unit --property --slice --uid --gid", 0),
    runner("taskset", "", 1),
    runner("toybox", "", 0),
    runner("unbuffer", "", 0),
    runner("unshare", "-S -G -R -w --setuid --setgid --root --wd", 0),
    runner("valgrind", "", 0),
    runner(
        "xargs",
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines --max-chars",
        0,
    ),
    runner("xvfb-run", "-n -s -e -f -w", 0),
];

/// Words of the shell's grammar that stand before a command.
pub(super) const RESERVED: &[&str] =
    &["{", "(", "!", "if", "then", "else", "elif", "do", "while", "until", "for", "select"];

/// Programs to which a command is given by an option, as a text for a shell.
pub(super) const BY_OPTION: &[(&str, &[&str])] = &[
    ("flock", &["-c", "--command"]),
    ("npm", &["-c", "--call"]),
    ("npx", &["-c", "--call"]),
    ("runuser", &["-c", "--command"]),
    ("script", &["-c", "--command"]),
    ("su", &["-c", "--command", "--session-command"]),
    ("env", &["-S", "--split-string"]),
];

/// Options by which programs run others.
pub(super) const RUNS_BY_OPTION: &[(&str, &[&str])] = &[
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "-I",
            "-F",
            "--info-script",
            "--rsh-command",
        ],
    ),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("ssh", &["-o"]),
    ("scp", &["-o", "-S"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("man", &["-P", "--pager", "-H"]),
    ("rg", &["--pre", "--hostname-bin"]),
    (
        "git",
        &[
            "-x",
            "--exec",
            "--upload-pack",
            "--receive-pack",
            "--tree-filter",
            "--index-filter",
            "--msg-filter",
            "-c",
            "--open-files-in-pager",
        ],
    ),
    ("go", &["-exec", "-toolexec"]),
    ("cargo", &["--config"]),
    ("gdb", &["-ex", "--eval-command", "-x"]),
    ("tmux", &[]),
    ("screen", &["-X"]),
    ("xterm", &["-e"]),
    ("socat", &[]),
    ("nc", &["-e", "-c"]),
    ("ncat", &["-e", "-c", "--exec", "--sh-exec"]),
    ("make", &["SHELL", "--eval"]),
    ("zip", &["-TT"]),
];

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
];

/// Programs whose every argument may be code.
pub(super) const ALL_CODE: &[&str] =
    &["awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "m4", "sqlite3", "psql", "mysql", "dc"];

/// Programs whose words from some place on are a text for a shell.
pub(super) const JOINING: &[&str] = &["watch", "ssh", "mosh", "tmux", "screen", "wsl", "adb"];
