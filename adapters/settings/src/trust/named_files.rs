//! Which files of a tree a command names as its program or script (S9), and
//! which files these name in turn. The sources that a command works on are not
//! among them: `eslint src` runs what its configuration says, not `src`.

mod programs;

use super::build_tools::{
    CLIENTS, COMMANDS, FOLDERS, INLINE, INTERPRETERS, NODE_RUNNERS, OBEYED, RUN_WORDS, RUNNERS,
    RUNNERS_OF_TWO, SHELLS, WITH_RUN_WORDS, read_by,
};
use super::script_text::{self, Language};
use super::shell_words::{ShellCommand, UNKNOWN, shell_commands};
use super::word_paths::{
    MAX_MATCHES, after_dashes, after_options, after_unknown, attached, is_name, matches,
    variable_name, without_version,
};
use everfold_kernel::tree::without_dots;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Most files of which one thing is made.
const MAX_FILES: usize = 1_000;
/// Most names that are watched in case a file appears there.
const MAX_ABSENT: usize = 8_000;
/// Most words of a text that are taken for the input of a shell.
const MAX_INPUT: usize = 500;
/// How far scripts are followed that scripts name.
const MAX_DEPTH: usize = 6;
/// Variables that stand for the root of the tree.
const ROOT_VARIABLES: [&str; 4] = ["CLAUDE_PROJECT_DIR", "EVERFOLD_PROJECT_DIR", "PWD", "OLDPWD"];

/// Variables with folders in which modules are looked for.
const MODULE_PATHS: [&str; 4] = ["PYTHONPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB"];

/// Collects the files that commands name.
pub(super) struct NamedFiles {
    root: PathBuf,
    /// Where relative paths may be seen from.
    bases: Vec<PathBuf>,
    variables: BTreeMap<String, Vec<String>>,
    found: BTreeSet<PathBuf>,
    /// Commands and addresses as they are written.
    pub(super) calls: BTreeSet<String>,
    /// How many of the files are there.
    there: usize,
    depth: usize,
}

impl NamedFiles {
    /// None yet, for commands that run in the root or in the working directory.
    pub(super) fn new(root: PathBuf, cwd: &Path) -> Self {
        let mut bases = vec![root.clone()];
        if cwd != root && cwd.starts_with(&root) {
            bases.push(cwd.to_owned());
        }
        let (variables, found, calls) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { root, bases, variables, found, calls, there: 0, depth: 0 }
    }

    /// The files, there or not, by paths that start with the root.
    pub(super) fn into_found(self) -> BTreeSet<PathBuf> {
        self.found
    }

    /// A folder in which commands may run besides.
    pub(super) fn add_base(&mut self, dir: &str) {
        for text in self.expanded(dir) {
            let dirs: Vec<PathBuf> =
                self.bases.iter().map(|base| without_dots(&base.join(&text))).collect();
            for dir in dirs {
                if dir.starts_with(&self.root) && !self.bases.contains(&dir) {
                    self.bases.push(dir);
                }
            }
        }
    }

    /// A variable that commands see. What it names may be run: a script of
    /// `BASH_ENV`, a library of `LD_PRELOAD`, a folder of `PATH`.
    pub(super) fn variable(&mut self, name: &str, value: &str) {
        let parts = value.split([':', ';', ' ', '=']).filter(|part| !part.is_empty());
        for part in parts {
            self.existing(part);
            if MODULE_PATHS.contains(&name) {
                self.add_base(part);
            }
        }
        self.set(name, value);
    }

    /// A variable that only says what words stand for.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.variables.entry(name.to_owned()).or_default().push(value.to_owned());
    }

    /// A command as a text for a shell.
    pub(super) fn shell(&mut self, text: &str) {
        self.commands(&shell_commands(text));
    }

    /// A program and its arguments.
    pub(super) fn program(&mut self, words: &[String]) {
        self.command(words, &[]);
    }

    fn commands(&mut self, commands: &[ShellCommand]) {
        let around = commands.iter().flat_map(|one| one.inputs.iter().chain(&one.words));
        let around: Vec<String> = around.take(MAX_INPUT).cloned().collect();
        for command in commands {
            self.command(&command.words, &around);
            let name = command.words.first().map_or("", String::as_str);
            if CLIENTS.contains(&name) {
                self.client(&command.words, &command.inputs);
            }
        }
    }

    /// One command. `around` are the words that a shell may get as its input.
    fn command(&mut self, words: &[String], around: &[String]) {
        let words = self.without_assignments(words);
        let Some((program, rest)) = words.split_first() else { return };
        let name = program.rsplit('/').next().unwrap_or(program);
        let bare = without_version(name);
        if program.contains(['/', '$', UNKNOWN]) {
            self.script(program);
        }
        self.on_path(program);
        // Options first: they say in which folder the files below are.
        self.options(name, rest);
        for file in read_by(name) {
            self.script_in(file, Language::Orders);
        }
        let next = |skipped: usize| rest.get(skipped..).unwrap_or_default();
        let second = rest.iter().position(|word| !word.starts_with('-'));
        match name {
            "export" | "declare" | "typeset" | "readonly" | "local" => {
                self.without_assignments(after_dashes(rest));
            }
            "git" => self.git_settings(rest),
            "run-parts" => rest.iter().for_each(|dir| self.script(&format!("{dir}/*"))),
            "find" => self.found_and_run(rest),
            "cd" | "pushd" => rest.iter().take(1).for_each(|dir| self.add_base(dir)),
            "for" | "select" => {
                let values = next(2).to_vec();
                self.variables.insert(rest.first().cloned().unwrap_or_default(), values);
            }
            "source" | "." => {
                rest.iter().take(1).for_each(|file| self.script_in(file, Language::Shell));
            }
            "eval" => {
                self.shell(&rest.join(" "));
                self.input(around);
            }
            _ if SHELLS.contains(&bare) => self.shell_call(rest, around),
            _ if INTERPRETERS.contains(&bare) => self.interpreter(bare, rest, around),
            _ => {}
        }
        if NODE_RUNNERS.contains(&name)
            && let Some(at) = second
        {
            let skipped = RUN_WORDS.contains(&rest.get(at).map_or("", String::as_str));
            self.node_program(next(at + usize::from(skipped)));
        }
        let pair = (name, second.and_then(|at| rest.get(at)).map_or("", String::as_str));
        if RUNNERS_OF_TWO.contains(&pair) {
            self.command(after_options(next(second.map_or(0, |at| at + 1))), around);
        } else if RUNNERS.contains(&name) {
            self.command(after_options(rest), around);
        }
    }

    /// Words without `A=b` before them, which are noted.
    fn without_assignments<'w>(&mut self, words: &'w [String]) -> &'w [String] {
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            let Some((name, value)) = word.split_once('=').filter(|(name, _)| is_name(name)) else {
                break;
            };
            self.variable(name, value);
            rest = after;
        }
        rest
    }

    /// What options of a program name: code, folders, other commands.
    fn options(&mut self, program: &str, words: &[String]) {
        for (at, word) in words.iter().enumerate() {
            let value = words.get(at + 1).map_or("", String::as_str);
            if program.starts_with("pytest") && word == "-p" {
                self.module(value);
            } else if let Some((name, value)) = word.split_once('=')
                && name.starts_with('-')
            {
                if FOLDERS.contains(&name) {
                    self.add_base(value);
                }
                self.obeyed(program, name, value);
            } else if OBEYED.contains(&word.as_str()) {
                self.obeyed(program, word, value);
            } else if FOLDERS.contains(&word.as_str()) {
                self.add_base(value);
            } else if program == "env" && word.starts_with("-S") {
                let text = word.trim_start_matches("-S");
                self.shell(if text.is_empty() { value } else { text });
            } else if COMMANDS.contains(&word.as_str()) {
                self.command(words.get(at + 1..).unwrap_or_default(), &[]);
            } else if let Some((option, value)) = attached(word) {
                if FOLDERS.contains(&option) {
                    self.add_base(value);
                } else {
                    self.obeyed(program, option, value);
                }
            }
        }
    }

    /// A file that a program takes orders from by an option. Of tools that have
    /// such files, one that appears is a change; of others it may be a word.
    fn obeyed(&mut self, program: &str, option: &str, file: &str) {
        let language = Language::of_orders(program);
        if read_by(program).is_empty() || !OBEYED.contains(&option) {
            self.existing_in(file, language);
        } else {
            self.script_in(file, language);
        }
    }

    fn shell_call(&mut self, words: &[String], around: &[String]) {
        for (at, word) in words.iter().enumerate() {
            let is_code = word.starts_with('-') && !word.starts_with("--") && word.contains('c');
            if is_code || word.eq_ignore_ascii_case("-command") {
                let code = words.get(at + 1..).unwrap_or_default();
                return code.iter().take(1).for_each(|code| self.shell(code));
            }
            if !word.starts_with(['-', '+']) {
                self.script_in(word, Language::Shell);
                if self.ends_options(words, at) {
                    return;
                }
            }
        }
        // What it is given on its input.
        self.input(around);
    }

    fn interpreter(&mut self, program: &str, words: &[String], around: &[String]) {
        let language = Language::of_interpreter(program);
        let skipped = words.first().is_some_and(|word| RUN_WORDS.contains(&word.as_str()));
        let skipped = skipped && WITH_RUN_WORDS.contains(&program);
        let words = words.get(usize::from(skipped)..).unwrap_or_default();
        for (at, word) in words.iter().enumerate() {
            let next = words.get(at + 1).map_or("", String::as_str);
            if word == "-m" {
                return self.module(next);
            }
            if INLINE.contains(&word.as_str()) {
                return self.code(next);
            }
            if OBEYED.contains(&word.as_str()) {
                self.script_in(next, language);
            } else if !word.starts_with('-') {
                self.script_in(word, language);
                // A folder is run by what it has for that.
                match language {
                    Language::JavaScript => script_text::node_module(self, word),
                    _ => self.script(&format!("{word}/__main__.py")),
                }
                if self.ends_options(words, at) {
                    return;
                }
            }
        }
        self.input(around);
    }

    /// Whether a word is the script, and what follows is for the script. Behind
    /// an option it may be the option's value: `python -W ignore x.py`.
    fn ends_options(&self, words: &[String], at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let word = words.get(at).map_or("", String::as_str);
        !before.is_some_and(|before| before.starts_with(['-', '+']))
            || self.places(word).iter().any(|path| path.is_file())
    }

    /// Code on the command line: whatever in it names a file that is there.
    pub(super) fn code(&mut self, code: &str) {
        let is_part = |c: char| c.is_alphanumeric() || "_./-@$".contains(c);
        for part in code.split(|c| !is_part(c)).filter(|part| !part.is_empty()) {
            for ending in ["", ".js", ".mjs", ".cjs", ".py", ".rb", ".pl"] {
                self.existing(&format!("{part}{ending}"));
            }
        }
    }

    /// A bare name, where the tree has a say in which program that is.
    fn on_path(&mut self, program: &str) {
        if program.contains('/') || program.contains(UNKNOWN) {
            return;
        }
        let paths = self.variables.get("PATH").cloned().unwrap_or_default();
        for dir in paths.iter().flat_map(|path| path.split([':', ';'])) {
            if !dir.is_empty() && !matches!(dir, "$PATH" | "${PATH}") {
                self.script(&format!("{dir}/{program}"));
            }
        }
    }

    /// A word that is a script, there or not: one that appears is a change.
    pub(super) fn script(&mut self, word: &str) {
        self.script_in(word, Language::Other);
    }

    /// The same where who runs it says what it is written in.
    fn script_in(&mut self, word: &str, language: Language) {
        for path in self.places(word) {
            self.take(&path, language);
        }
    }

    /// Words of which some may be what a shell gets to read.
    fn input(&mut self, words: &[String]) {
        for word in words {
            self.existing(word);
        }
    }

    /// A word that may be one.
    fn existing(&mut self, word: &str) {
        self.existing_in(word, Language::Other);
    }

    fn existing_in(&mut self, word: &str, language: Language) {
        for path in self.places(word).into_iter().filter(|path| path.is_file()) {
            self.take(&path, language);
        }
    }

    fn take(&mut self, path: &Path, language: Language) {
        let is_there = path.is_file();
        let is_full =
            if is_there { self.there >= MAX_FILES } else { self.found.len() >= MAX_ABSENT };
        if is_full || !self.found.insert(path.to_owned()) {
            return;
        }
        self.there += usize::from(is_there);
        if is_there && self.depth < MAX_DEPTH {
            self.depth += 1;
            script_text::follow(self, path, language);
            self.depth -= 1;
        }
    }

    /// Where in the tree a word can be.
    fn places(&self, word: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for text in self.expanded(word) {
            if text.is_empty() || text.contains('\0') {
                continue;
            }
            for base in &self.bases {
                let path = without_dots(&base.join(&text));
                if path.starts_with(&self.root) && path != self.root {
                    found.extend(matches(path));
                }
            }
        }
        found
    }

    /// What a word can stand for.
    fn expanded(&self, word: &str) -> Vec<String> {
        if word.starts_with('~') {
            return Vec::new();
        }
        let mut texts = vec![String::new()];
        let mut rest = word;
        while let Some((before, after)) = rest.split_once('$') {
            let (name, after) = variable_name(after);
            let values = self.values(name);
            texts = texts
                .iter()
                .flat_map(|text| values.iter().map(move |value| format!("{text}{before}{value}")))
                .take(MAX_MATCHES)
                .collect();
            rest = after;
        }
        texts.iter().map(|text| after_unknown(&format!("{text}{rest}"))).collect()
    }

    fn values(&self, name: &str) -> Vec<String> {
        if ROOT_VARIABLES.contains(&name) {
            return vec![self.root.display().to_string()];
        }
        let known = self.variables.get(name).filter(|values| !values.is_empty());
        known.cloned().unwrap_or_else(|| vec![UNKNOWN.to_string()])
    }
}
