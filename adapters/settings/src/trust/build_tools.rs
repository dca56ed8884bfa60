//! What programs read and run of a tree without being told so: files of build
//! tools, and settings of others that are code themselves (S9).

/// Files that a program takes its orders from, by its name. None need be there;
/// one that appears is a change like any other.
pub(super) fn read_by(program: &str) -> &'static [&'static str] {
    let is_it = |(names, _): &&(&[&str], _)| names.contains(&program);
    TOOLS.iter().find(is_it).map_or(&[], |(_, files)| files)
}

type Tool = (&'static [&'static str], &'static [&'static str]);

const PACKAGE: &[&str] = &["package.json", ".npmrc"];

const TOOLS: &[Tool] = &[
    (&["make", "gmake", "mingw32-make"], &["GNUmakefile", "makefile", "Makefile"]),
    (&["bmake", "pmake"], &["BSDmakefile", "makefile", "Makefile"]),
    (&["npm", "npx", "pnpm", "pnpx", "bunx"], PACKAGE),
    (&["bun"], &["package.json", "bunfig.toml"]),
    (&["yarn", "yarnpkg"], &["package.json", ".yarnrc", ".yarnrc.yml"]),
    (&["deno"], &["deno.json", "deno.jsonc"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["task", "go-task"], &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"]),
    (&["rake"], &["Rakefile", "rakefile", "Rakefile.rb"]),
    (&["bundle", "bundler"], &["Gemfile"]),
    (&["cargo"], &["Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"]),
    (&["cmake"], &["CMakeLists.txt", "CMakePresets.json"]),
    (&["ninja"], &["build.ninja"]),
    (&["meson"], &["meson.build"]),
    (&["scons"], &["SConstruct"]),
    (&["bazel", "bazelisk"], &["MODULE.bazel", "WORKSPACE", "BUILD", "BUILD.bazel", ".bazelrc"]),
    (
        &["gradle", "gradlew"],
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
    ),
    (&["mvn", "mvnw"], &["pom.xml", ".mvn/extensions.xml", ".mvn/jvm.config"]),
    (&["ant"], &["build.xml"]),
    (&["sbt"], &["build.sbt", "project/plugins.sbt"]),
    (&["mix"], &["mix.exs"]),
    (&["composer"], &["composer.json"]),
    (&["tox"], &["tox.ini", "pyproject.toml", "setup.cfg"]),
    (&["nox"], &["noxfile.py"]),
    (&["invoke", "inv", "fab"], &["tasks.py", "fabfile.py"]),
    (&["doit"], &["dodo.py"]),
    (&["pytest", "py.test"], &["conftest.py", "pytest.ini", "pyproject.toml", "tox.ini"]),
    (
        &["pip", "pip3", "uv", "poetry", "pdm", "hatch"],
        &["pyproject.toml", "setup.py", "setup.cfg"],
    ),
    (&["mypy"], &["mypy.ini", "pyproject.toml", "setup.cfg"]),
    (&["pre-commit"], &[".pre-commit-config.yaml"]),
    (&["lefthook"], &["lefthook.yml", "lefthook.yaml"]),
    (&["direnv"], &[".envrc"]),
    (&["mise", "rtx"], &["mise.toml", ".mise.toml"]),
    (&["nix", "nix-shell", "nix-build"], &["flake.nix", "shell.nix", "default.nix"]),
    (
        &["docker", "podman", "docker-compose"],
        &["Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"],
    ),
    (&["vagrant"], &["Vagrantfile"]),
    (&["earthly"], &["Earthfile"]),
    (&["turbo"], &["turbo.json", "package.json"]),
    (&["nx"], &["nx.json", "package.json"]),
    (&["lerna"], &["lerna.json", "package.json"]),
    (&["gulp"], &["gulpfile.js", "gulpfile.mjs", "gulpfile.ts"]),
    (&["grunt"], &["Gruntfile.js"]),
    (&["webpack"], &["webpack.config.js", "webpack.config.cjs", "webpack.config.ts"]),
    (&["rollup"], &["rollup.config.js", "rollup.config.mjs", "rollup.config.ts"]),
    (&["vite"], &["vite.config.js", "vite.config.mjs", "vite.config.ts"]),
    (&["vitest"], &["vitest.config.js", "vitest.config.ts", "vite.config.js", "vite.config.ts"]),
    (&["jest"], &["jest.config.js", "jest.config.cjs", "jest.config.ts", "package.json"]),
    (&["mocha"], &[".mocharc.js", ".mocharc.cjs", ".mocharc.json", "package.json"]),
    (
        &["eslint"],
        &[
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            "eslint.config.ts",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
            ".eslintrc",
            "package.json",
        ],
    ),
    (
        &["prettier"],
        &[
            "prettier.config.js",
            "prettier.config.mjs",
            "prettier.config.cjs",
            ".prettierrc.js",
            ".prettierrc.cjs",
            ".prettierrc",
            ".prettierrc.json",
            "package.json",
        ],
    ),
    (&["babel"], &["babel.config.js", "babel.config.cjs", ".babelrc.js", ".babelrc"]),
    (&["stylelint"], &["stylelint.config.js", ".stylelintrc.js", ".stylelintrc"]),
    (&["rubocop"], &[".rubocop.yml"]),
    (&["rspec"], &[".rspec"]),
    (&["golangci-lint"], &[".golangci.yml", ".golangci.yaml"]),
];

/// Programs that run the program that is named after them.
pub(super) const RUNNERS: &[&str] = &[
    "sudo",
    "doas",
    "env",
    "command",
    "builtin",
    "exec",
    "nohup",
    "time",
    "nice",
    "ionice",
    "timeout",
    "stdbuf",
    "setsid",
    "chronic",
    "xargs",
    "caffeinate",
    "dotenv",
    "busybox",
    "watch",
    "unbuffer",
    "then",
    "do",
    "else",
    "elif",
    "if",
    "while",
    "until",
    "!",
    "{",
    "}",
    "coproc",
];

/// The same in two words.
pub(super) const RUNNERS_OF_TWO: &[(&str, &str)] = &[
    ("poetry", "run"),
    ("pipenv", "run"),
    ("uv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("bundle", "exec"),
    ("npm", "exec"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "exec"),
    ("yarn", "dlx"),
    ("bun", "x"),
    ("mise", "exec"),
    ("direnv", "exec"),
];

/// Programs that find the one that is named after them in `node_modules`.
pub(super) const NODE_RUNNERS: &[&str] =
    &["npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "yarnpkg", "bun"];

/// Shells: their first argument is a script, and `-c` comes before one.
pub(super) const SHELLS: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "pwsh", "powershell", "rbash"];

/// Other programs whose first argument is a script, without their versions.
pub(super) const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "node",
    "deno",
    "bun",
    "ruby",
    "perl",
    "php",
    "lua",
    "Rscript",
    "tsx",
    "ts-node",
    "osascript",
    "tclsh",
    "julia",
    "elixir",
    "groovy",
    "java",
    "dotnet",
    "swift",
    "guile",
    "racket",
    "go",
    "expect",
];

/// Programs that carry out what they are sent, and files that their words name
/// in the midst of other text: editors, debuggers, databases.
pub(super) const CLIENTS: &[&str] = &[
    "ed", "ex", "vi", "vim", "nvim", "view", "gdb", "lldb", "sqlite3", "psql", "mysql", "m4", "dc",
    "bc", "gnuplot",
];

/// Interpreters that have such words.
pub(super) const WITH_RUN_WORDS: &[&str] = &["deno", "bun", "go", "dotnet", "swift", "julia"];

/// Words of some interpreters that stand before the script.
pub(super) const RUN_WORDS: &[&str] = &["run", "test", "exec", "x", "script"];

/// Options behind which there is code.
pub(super) const INLINE: &[&str] = &["-c", "-e", "-E", "-p", "-pe", "-ne", "--eval", "--print"];

/// Options behind which there is a file that is run or obeyed, of any program.
pub(super) const OBEYED: &[&str] = &[
    "-r",
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--rcfile",
    "--init-file",
    "-f",
    "--file",
    "--makefile",
    "--justfile",
    "--manifest-path",
    "--build-file",
    "--settings-file",
    "-P",
    "--project",
    "-jar",
    "--config",
    "-c",
    "--configfile",
    "--config-file",
    "--plugin",
    "--plugins",
    "--rulesdir",
    "--script",
    "--preload",
    "-I",
    "-K",
    "-F",
];

/// Options behind which there is another command.
pub(super) const COMMANDS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "--exec", "--command"];

/// Options behind which there is the folder that the program works in.
pub(super) const FOLDERS: &[&str] = &["-C", "--directory", "--prefix", "--cwd", "--dir"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s9_build_tools_have_files_and_other_programs_have_none() {
        assert!(read_by("make").contains(&"Makefile"));
        assert!(read_by("npm").contains(&"package.json"));
        assert!(read_by("touch").is_empty());
    }

    #[test]
    fn a_program_is_listed_once() {
        let all: Vec<&str> = TOOLS.iter().flat_map(|(names, _)| names.iter().copied()).collect();
        let once: std::collections::BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(all.len(), once.len());
    }
}
