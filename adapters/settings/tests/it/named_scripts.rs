//! What is part of a trusted thing: the files that it names as program or
//! script, and not the sources that they work on (S9).

use everfold_kernel::Timestamp;
use everfold_settings::trust::{TrustDecision, TrustState};
use everfold_settings::{Home, TreeInputs, Trust};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Repository {
    dir: TempDir,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Self {
        let own = Self { dir: TempDir::new().unwrap() };
        std::fs::create_dir_all(own.root()).unwrap();
        for (name, text) in files {
            own.write(name, text);
        }
        own
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("repo")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn settings(&self, value: &Value) {
        self.write(".claude/settings.json", &value.to_string());
    }

    fn home(&self) -> Home {
        Home::at(self.dir.path().join("home"))
    }

    fn look_from(&self, cwd: &Path) -> Trust {
        let (home, root) = (self.home(), self.root());
        Trust::look(&TreeInputs { home: &home, user_home: None, root: &root, cwd })
    }

    fn look(&self) -> Trust {
        self.look_from(&self.root())
    }

    fn trust(&self) {
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        self.look().keep(&self.home(), TrustDecision::Trusted, BTreeSet::new(), at).unwrap();
        assert_eq!(self.look().standing(), &TrustState::Trusted);
    }

    fn asks(&self) -> bool {
        self.look().standing() != &TrustState::Trusted
    }
}

fn hook(command: &str) -> Value {
    json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
}

/// Files that commands run, and commands that do.
const RUN: &[(&str, &[&str])] = &[
    (
        "h.sh",
        &[
            "./h.sh",
            "h.sh; ./h.sh",
            "bash h.sh",
            "sh -e ./h.sh now",
            "bash -c './h.sh'",
            "sh -lc \"bash h.sh\"",
            "\"$CLAUDE_PROJECT_DIR\"/h.sh",
            "${CLAUDE_PROJECT_DIR}/h.sh",
            "$(git rev-parse --show-toplevel)/h.sh",
            "FOO=1 ./h.sh",
            "env FOO=1 ./h.sh",
            "if true; then ./h.sh; fi",
            "! ./h.sh",
            "( ./h.sh )",
            "true && ./h.sh",
            "cat h.sh | bash",
            "bash < h.sh",
            "source h.sh",
            ". ./h.sh",
            "eval \"$(cat h.sh)\"",
            "x=./h.sh; $x",
            "for f in *.sh; do bash $f; done",
            "timeout 5 ./h.sh",
            "nohup sudo -n ./h.sh",
            "find . -name x -exec ./h.sh {} \\;",
            "echo | xargs ./h.sh",
            "bash --rcfile h.sh",
            "'./h.sh'",
            "./sub/../h.sh",
            "echo `./h.sh`",
            "bash -o pipefail h.sh",
            "bash -O extglob -eu h.sh src/data.txt",
            "make -f h.sh",
            "make -fh.sh lint",
            "make --file=h.sh lint",
            "make --makefile h.sh lint",
            "MAKEFILES=h.sh make",
            "env -S 'sh h.sh'",
            "env -i -S './h.sh now'",
            "find . -name h.sh -exec sh {} \\;",
            "find . -name '*.sh' -exec {} \\;",
            "ed -s src/data.txt < h.sh",
            "sqlite3 src/data.txt '.read h.sh'",
            "gdb -batch -x h.sh",
            "vim -es -S h.sh -c q",
            "git -c include.path=h.sh status",
        ],
    ),
    ("hk/pre-commit", &["git -c core.hooksPath=hk commit -m x", "run-parts hk"]),
    ("tool/index.js", &["node tool", "node ./tool/ now"]),
    ("start.js", &["node start", "node ./start"]),
    (
        "tools/x.py",
        &[
            "python tools/x.py",
            "python3.12 -u tools/x.py --check src",
            "cd tools && python x.py",
            "python -m tools.x",
            "uv run tools/x.py",
            "poetry run python tools/x.py",
            "python -c \"exec(open('tools/x.py').read())\"",
            "python3 -W ignore tools/x.py src/data.txt",
            "python3 -X dev -u tools/x.py",
            "PYTHONPATH=tools python3 -m x",
            "pytest -p tools.x",
        ],
    ),
    (
        "server/index.js",
        &[
            "node server/index.js",
            "node --require ./server/index.js -e 1",
            "npx tsx server/index.js",
            "node -e \"require('./server/index.js')\"",
            "bun run server/index.js",
            "NODE_OPTIONS='--require ./server/index.js' true",
            "node -r ./server/index.js src/data.txt",
            "node --import=./server/index.js -e 1",
            "node --loader ./server/index.js src/data.txt",
            "ruby -r./server/index.js -e 1",
        ],
    ),
    ("Makefile", &["make", "make lint", "make -C . lint", "(cd . && make)"]),
    ("package.json", &["npm test", "npm run lint", "yarn lint", "pnpm run x", "bun run x"]),
    ("justfile", &["just lint"]),
    ("sub/Makefile", &["make -C sub", "make --directory=sub lint", "make -Csub"]),
    ("sub/package.json", &["npm --prefix sub test"]),
    (
        "tools/rules.txt",
        &[
            "make -f tools/rules.txt lint",
            "gmake -ftools/rules.txt",
            "make -C tools -f rules.txt",
            "make -Ctools -frules.txt",
            "just --justfile tools/rules.txt lint",
            "ninja -f tools/rules.txt",
            "docker compose -f tools/rules.txt up",
        ],
    ),
    ("node_modules/.bin/lint", &["npx lint", "npx --no lint src", "pnpm exec lint", "yarn lint"]),
    ("eslint.config.js", &["eslint src", "npx eslint ."]),
    (
        "bin/tool",
        &[
            "PATH=./bin:$PATH tool",
            "bin/tool",
            "export PATH=\"$CLAUDE_PROJECT_DIR/bin:$PATH\"; tool",
            "declare -x PATH=bin:$PATH && tool",
        ],
    ),
];

#[test]
fn s9_a_changed_script_of_a_hook_asks_again() {
    for (file, commands) in RUN {
        for command in *commands {
            let repository = Repository::new(&[(file, "one\n"), ("src/data.txt", "1")]);
            repository.settings(&hook(command));
            repository.trust();
            repository.write("src/data.txt", "2");
            assert!(!repository.asks(), "sources are not part of it: {command}");
            repository.write(file, "two\n");
            assert!(repository.asks(), "{file} changed: {command}");
            std::fs::remove_file(repository.root().join(file)).unwrap();
            assert!(repository.asks(), "{file} is gone: {command}");
            repository.write(file, "one\n");
            assert!(!repository.asks(), "as it was: {command}");
        }
    }
}

#[test]
fn s9_a_script_that_appears_asks_again() {
    for (file, commands) in RUN {
        let command = commands[0];
        let repository = Repository::new(&[]);
        repository.settings(&hook(command));
        repository.trust();
        repository.write(file, "one\n");
        assert!(repository.asks(), "{file}: {command}");
    }
}

#[test]
fn s9_sources_that_a_command_works_on_may_change() {
    for command in [
        "eslint src/a.js",
        "prettier --write src/a.js",
        "python tools/x.py src/a.js",
        "cargo fmt -- src/a.js",
        "grep -r x src/a.js",
        "cat src/a.js",
        "touch ran src/a.js",
        "make -f tools/rules.mk",
        "python3 -W ignore tools/x.py src/a.js",
        "bash -eu tools/run src/a.js",
        "find src -name a.js -exec wc -l {} +",
        "sqlite3 src/a.js 'select 1'",
        "git add src/a.js",
        "cargo run",
    ] {
        let repository = Repository::new(&[
            ("src/a.js", "1"),
            ("tools/x.py", "print(1)"),
            ("tools/run", "cat \"$1\"\n"),
            (
                "Cargo.toml",
                "[package]\ndescription = \"see src/a.js\"\n[[bin]]\npath = \"src/a.js\"\n",
            ),
            ("tools/rules.mk", "SOURCES := src/a.js\nlint: $(SOURCES)\n\teslint $(SOURCES)\n"),
        ]);
        repository.settings(&hook(command));
        repository.trust();
        repository.write("src/a.js", "2");
        assert!(!repository.asks(), "{command}");
    }
}

type Files = &'static [(&'static str, &'static str)];

/// Commands, the files that they run, and one that these name in turn.
const CHAINS: &[(&str, Files, &str)] = &[
    ("./h.sh", &[("h.sh", "#!/bin/sh\n. ./lib/a.sh\n"), ("lib/a.sh", "x\n")], "lib/a.sh"),
    ("./h", &[("h", "#!/usr/bin/env bash\n./b.sh\n"), ("b.sh", "x\n")], "b.sh"),
    ("npm test", &[("package.json", r#"{"scripts":{"test":"node t.js"}}"#)], "t.js"),
    ("make x", &[("Makefile", "x:\n\t@./tools/gen.sh\n"), ("tools/gen.sh", "x")], "tools/gen.sh"),
    ("make x", &[("Makefile", "include more.mk\n")], "more.mk"),
    ("make -C sub", &[("sub/Makefile", "include ../more.mk\n")], "more.mk"),
    (
        "npm --prefix sub test",
        &[("sub/package.json", r#"{"scripts":{"test":"node t.js"}}"#)],
        "sub/t.js",
    ),
    ("python tools/x.py", &[("tools/x.py", "import json, helper\n")], "tools/json.py"),
    ("python tools/x.py", &[("tools/x.py", "from helper import y\n")], "tools/helper.py"),
    ("node a.js", &[("a.js", "const b = require('./b')\n"), ("b.js", "1")], "b.js"),
    ("node a.mjs", &[("a.mjs", "import b from './lib/b.mjs'\n")], "lib/b.mjs"),
    ("python x.py", &[("x.py", "from . import y\n"), ("y.py", "1")], "y.py"),
    ("python a/x.py", &[("a/x.py", "from .b import y\n")], "a/b.py"),
    ("python a/x.py", &[("a/x.py", "from .. import y\n")], "y.py"),
    ("python a/x.py", &[("a/x.py", "from ..b.c import y\n")], "b/c.py"),
    ("python x.py", &[("x.py", "from pkg import sub\n")], "pkg/sub.py"),
    ("python x.py", &[("x.py", "from pkg import (\n  one,\n  two as t,\n)\n")], "pkg/two.py"),
    ("python x.py", &[("x.py", "import pkg.sub.deep as d\n")], "pkg/sub/deep.py"),
    ("python x.py", &[("x.py", "import pkg.sub.deep as d\n")], "pkg/__init__.py"),
    ("python x.py", &[("x.py", "try: import y\nexcept ImportError: pass\n")], "y.py"),
    ("python x.py", &[("x.py", "import os; import y\n")], "y.py"),
    ("python x.py", &[("x.py", "def f():\n\tfrom y import z\n")], "y.py"),
    ("python x.py", &[("x.py", "importlib.import_module('y')\n")], "y.py"),
    ("python x.py", &[("x.py", "y = __import__(\"y\")\n")], "y.py"),
    ("python x.py", &[("x.py", "sys.path.insert(0, 'lib')\nimport y\n")], "lib/y.py"),
    ("python x.py", &[("x.py", "exec(open('y.py').read())\n")], "y.py"),
    ("python x.py", &[("x.py", "runpy.run_path('y.py')\n")], "y.py"),
    ("python x.py", &[("x.py", "os.system('./y.sh now')\n")], "y.sh"),
    ("python x.py", &[("x.py", "subprocess.run([\"bash\", \"y.sh\"])\n")], "y.sh"),
    ("python3 x", &[("x", "import y\n")], "y.py"),
    ("python3 pkg", &[("pkg/__main__.py", "import y\n")], "pkg/y.py"),
    ("python -m pkg", &[("pkg/__main__.py", "from pkg import y\n")], "pkg/y.py"),
    ("bash ./x", &[("x", ". ./y\n")], "y"),
    ("bash ./x", &[("x", "source \"$(dirname \"$0\")/lib/y\"\n")], "lib/y"),
    (". ./x", &[("x", "bash y\n"), ("y", "./z\n")], "z"),
    ("node -r ./x a.js", &[("x.js", "1"), ("a.js", "1"), ("x", "require('./y')\n")], "y.js"),
    ("node x", &[("x", "import('./y.mjs')\n")], "y.mjs"),
    ("node a.js", &[("a.js", "cp.fork('./b.js')\n")], "b.js"),
    ("node a.js", &[("a.js", "execSync('bash ./b.sh')\n")], "b.sh"),
    ("ruby x.rb", &[("x.rb", "require_relative './y'\n"), ("y.rb", "1")], "y.rb"),
    ("perl x.pl", &[("x.pl", "do './y.pl';\n"), ("y.pl", "1")], "y.pl"),
    ("make -f b.txt", &[("b.txt", "x:\n\t./gen.sh\n")], "gen.sh"),
    ("make -f b.txt", &[("b.txt", "include c.txt\n"), ("c.txt", "\n")], "c.txt"),
    ("make", &[("Makefile", "T := tools\nx:\n\t@$(T)/gen.sh\n")], "tools/gen.sh"),
    ("make", &[("Makefile", "T = ./gen.sh\nx:\n\t$(T) a\n")], "gen.sh"),
    ("make", &[("Makefile", "x: y; ./gen.sh\n")], "gen.sh"),
    ("./x", &[("x", "#!./by\n"), ("by", "#!/bin/sh\n")], "by"),
    ("./x", &[("x", "#!/usr/bin/env -S sh ./lib.sh\n"), ("lib.sh", "1")], "lib.sh"),
    ("node .", &[("package.json", r#"{"main": "src/m.js"}"#), ("src/m.js", "1")], "src/m.js"),
    ("node a.js", &[("a.js", "require('./b')"), ("b/package.json", r#"{"main": "c"}"#)], "b/c.js"),
    ("npm run x", &[(".npmrc", "script-shell=./s.sh\n"), ("s.sh", "1")], "s.sh"),
    ("task x", &[("Taskfile.yml", "tasks:\n  x:\n    cmds:\n      - sh t.sh\n")], "t.sh"),
    ("deno task x", &[("deno.json", r#"{"tasks": {"x": "sh ./t.sh"}}"#)], "t.sh"),
    ("pre-commit run", &[(".pre-commit-config.yaml", "    entry: ./tools/t.sh\n")], "tools/t.sh"),
    ("cargo run", &[(".cargo/config.toml", "[build]\nrustc-wrapper = \"./w.sh\"\n")], "w.sh"),
    ("make", &[("Makefile", "V != ./gen.sh\n")], "gen.sh"),
    ("make", &[("Makefile", "V := $(shell ./gen.sh)\n")], "gen.sh"),
    ("make", &[("Makefile", "x:\n\techo a; \\\n\t./gen.sh\n")], "gen.sh"),
];

#[test]
fn s9_what_a_script_names_in_turn_is_part_of_it() {
    for (command, files, named) in CHAINS {
        let repository = Repository::new(files);
        repository.settings(&hook(command));
        repository.trust();
        repository.write(named, "changed\n");
        assert!(repository.asks(), "{command}: {named}");
    }
}

#[test]
fn s9_servers_helpers_and_prompts_are_made_of_their_scripts_too() {
    let server = r#"{"mcpServers": {"db": {"command": "node", "args": ["srv/db.js"], "env": {"A": "./pre.js"}}}}"#;
    let cases: &[(&str, &str, &[&str])] = &[
        (".mcp.json", server, &["srv/db.js"]),
        (".mcp.json", r#"{"mcpServers": {"x": {"command": "./run.sh", "args": []}}}"#, &["run.sh"]),
        (
            ".mcp.json",
            r#"{"mcpServers": {"x": {"url": "http://h", "headersHelper": "./k.sh"}}}"#,
            &["k.sh"],
        ),
        (".claude/settings.json", r#"{"apiKeyHelper": "./key.sh"}"#, &["key.sh"]),
        (
            ".claude/settings.local.json",
            r#"{"apiKeyHelper": "bash tools/key.sh"}"#,
            &["tools/key.sh"],
        ),
        (
            ".claude/settings.json",
            r#"{"statusLine": {"type": "command", "command": "./s.sh"}}"#,
            &["s.sh"],
        ),
        (".claude/settings.json", r#"{"env": {"BASH_ENV": "./env.sh"}}"#, &["env.sh"]),
        (".claude/commands/go.md", "State: !`./state.sh`\n", &["state.sh"]),
        (
            ".claude/skills/a/SKILL.md",
            "---\nname: a\n---\n!`tools/a.sh x`\n",
            &["tools/a.sh", ".claude/skills/a/ref.md"],
        ),
        (
            ".claude/agents/b.md",
            "---\nname: b\ndescription: c\nhooks:\n  Stop:\n    - hooks:\n        - command: ./b.sh\n---\nx\n",
            &["b.sh"],
        ),
    ];
    for (file, text, scripts) in cases {
        for script in *scripts {
            let repository = Repository::new(&[(file, text), (script, "one\n")]);
            repository.trust();
            repository.write(script, "two\n");
            assert!(repository.asks(), "{file}: {script}");
        }
    }
}

#[cfg(unix)]
#[test]
fn s9_a_link_that_is_turned_elsewhere_asks_again() {
    let repository = Repository::new(&[("real/h.sh", "same\n")]);
    let outside = repository.dir.path().join("outside.sh");
    std::fs::write(&outside, "same\n").unwrap();
    let link = repository.root().join("h.sh");
    std::os::unix::fs::symlink("real/h.sh", &link).unwrap();
    repository.settings(&hook("./h.sh"));
    repository.trust();
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    assert!(repository.asks(), "the same bytes, but from outside of the tree");
}

#[test]
fn s9_what_is_too_large_to_be_checked_stays_off() {
    let repository = Repository::new(&[]);
    repository.settings(&hook("./h.sh"));
    let large = std::fs::File::create(repository.root().join("h.sh")).unwrap();
    large.set_len(1 << 30).unwrap();
    let trust = repository.look();
    assert_eq!(trust.things()[0].hash, None);
    let at = Timestamp::from_second(1).unwrap();
    trust.keep(&repository.home(), TrustDecision::Trusted, BTreeSet::new(), at).unwrap();
    assert!(!repository.look().allows_file(&repository.root().join(".claude/settings.json")));
}

#[test]
fn s9_folders_below_the_root_are_looked_at_where_one_stands() {
    let command = "!`./x.sh`\n";
    let repository = Repository::new(&[("sub/.claude/commands/go.md", command), ("sub/x.sh", "1")]);
    assert_eq!(repository.look().standing(), &TrustState::Nothing);
    let sub = repository.root().join("sub");
    let from_sub = repository.look_from(&sub);
    assert_eq!(from_sub.standing(), &TrustState::Unknown);
    assert!(!from_sub.allows_file(&sub.join(".claude/commands/go.md")));
    let at = Timestamp::from_second(1).unwrap();
    from_sub.keep(&repository.home(), TrustDecision::Trusted, BTreeSet::new(), at).unwrap();
    // A word on the root alone does not take back the one on the folder.
    repository.settings(&hook("true"));
    let decision = TrustDecision::Trusted;
    repository.look().keep(&repository.home(), decision, BTreeSet::new(), at).unwrap();
    assert!(repository.look_from(&sub).allows_file(&sub.join(".claude/commands/go.md")));
    repository.write("sub/x.sh", "2");
    assert!(!repository.look_from(&sub).allows_file(&sub.join(".claude/commands/go.md")));
}
