//! What programs carry out without being given it as words: documents and
//! texts in the line, pipes, files that it writes, variables that it sets.

use super::carriers::{INTERPRETERS, VariableUse, takes_in_code, variable_use};
use super::mention;
use super::syntax::{all, ancestor, children, fed_program, is_redirect, text_of};
use super::wrapper::{self, Carried, Language};
use super::{Findings, base_name, is_printer, joined, substitution, touch, words};
use everfold_kernel::ports::{CallRole, CallWord, FileTouch, ProgramCall, WordKind};
use tree_sitter::Node;

/// Files from which build tools and others take orders.
const ORDERS: &[&str] = &[
    "Makefile",
    "makefile",
    "GNUmakefile",
    "package.json",
    "justfile",
    "Rakefile",
    "build.rs",
    "setup.py",
    "conftest.py",
    "Taskfile.yml",
    ".gitconfig",
    // What shells and others carry out when they start.
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    "config.fish",
    ".npmrc",
    ".vimrc",
    ".gdbinit",
    ".sqliterc",
    ".psqlrc",
    "sitecustomize.py",
];

/// Endings of files that interpreters take in.
const MODULES: &[&str] = &["py", "pm", "rb", "js", "mjs", "cjs"];

/// How code speaks of the home directory.
const HOMES: &[&str] = &["HOME", "home", "expanduser", "~"];

impl Findings {
    /// The words of a program of the tree.
    pub(super) fn program_words(&self, program: Node<'_>, source: &str) -> Vec<CallWord> {
        let mut words = Vec::new();
        for child in children(program).into_iter().filter(|child| !is_redirect(child.kind())) {
            match child.kind() {
                "command_name" => words.extend(self.name(child, source)),
                "variable_assignment" => {}
                _ => self.add_words(child, source, &mut words),
            }
        }
        words
    }

    /// A document in the line, or a text by `<<<`.
    pub(super) fn input(&mut self, node: Node<'_>, source: &str, text: &str, level: usize) {
        self.printed.push(text.to_owned());
        let Some(program) = fed_program(node) else { return };
        let words = self.program_words(program, source);
        for one in wrapper::unwrapped(&words).carried {
            match one {
                Carried::Input(Language::Shell) => self.script(text, level + 1),
                Carried::Input(_) => self.inline_code(text),
                _ => {}
            }
        }
        // Who is sent names of files may open them.
        if !words.first().is_some_and(|word| matches!(word.text.as_str(), "cat" | "tee")) {
            let names = text.split_whitespace().filter(|word| word.contains(['/', '.']));
            self.mentions.extend(names.map(|word| (word.to_owned(), FileTouch::Named)));
        }
        // `xargs` makes words of what it is sent.
        if wrapper::unwrapped(&words)
            .listed
            .iter()
            .any(|call| is_named(call, &["xargs", "parallel"]))
        {
            self.script(text, level + 1);
        }
    }

    /// A document whose substitutions are carried out on the way.
    pub(super) fn document(&mut self, node: Node<'_>, source: &str, text: &str, level: usize) {
        let start = node
            .parent()
            .into_iter()
            .flat_map(children)
            .find(|part| part.kind() == "heredoc_start");
        let is_quoted =
            start.is_some_and(|start| text_of(start, source).contains(['\'', '"', '\\']));
        if !is_quoted {
            for inner in substitution::inside(text) {
                self.script(&inner, level + 1);
            }
        }
    }

    /// What is printed into a program that carries out its input.
    pub(super) fn fed(&mut self, node: Node<'_>, source: &str, language: Language, level: usize) {
        if language != Language::Client {
            self.hide("a program carries out what it is sent");
        }
        let Some(pipeline) = ancestor(node, "pipeline") else { return };
        for part in all(pipeline).into_iter().filter(|part| part.kind() == "command") {
            let words = self.program_words(part, source);
            if !words.first().is_some_and(|word| is_printer(&word.text)) {
                continue;
            }
            let said: Vec<CallWord> = words.into_iter().skip(1).collect();
            if language == Language::Shell {
                self.script(&words::ansi(&joined(&said)), level + 1);
            }
            for word in said {
                self.inline_code(&words::ansi(&word.text));
                if language == Language::Shell {
                    self.script(&words::ansi(&word.text), level + 1);
                }
            }
        }
    }

    /// A program that carries out its input, which comes from a file.
    pub(super) fn take_file(&mut self, node: Node<'_>, source: &str, language: Language) {
        if language == Language::Client {
            return;
        }
        let outer = node.parent().filter(|parent| parent.kind() == "redirected_statement");
        for redirect in outer.into_iter().chain([node]).flat_map(children) {
            let reads = redirect.kind() == "file_redirect"
                && children(redirect).iter().any(|part| part.kind() == "<");
            if reads {
                let files =
                    children(redirect).into_iter().flat_map(|part| self.words(part, source));
                let files: Vec<_> = files.map(|word| (word.text, language)).collect();
                self.carried_files.extend(files);
            }
        }
    }

    /// Whether a variable that may be a key is printed.
    pub(super) fn shows_variable(&self, node: Node<'_>, source: &str) -> bool {
        let text = text_of(node, source);
        let is_own = text.trim_start_matches(['$', '{']);
        let is_set = self.variables.keys().any(|name| is_own.starts_with(name.as_str()));
        if is_set || !touch::is_secret_variable(text) {
            return false;
        }
        let is_text = ["herestring_redirect", "heredoc_body"];
        let printed = ancestor(node, "command").is_some_and(|command| {
            let words = self.program_words(command, source);
            words.first().is_some_and(|word| is_printer(&word.text))
        });
        printed || is_text.iter().any(|kind| ancestor(node, kind).is_some())
    }

    /// Words behind the file of a redirection: the grammar takes them for
    /// more files, and a shell for words of the program.
    pub(super) fn behind_target(&self, redirect: Node<'_>, source: &str) -> Vec<CallWord> {
        let parts = children(redirect).into_iter();
        let behind = parts.skip_while(|part| !part.kind().contains(['<', '>'])).skip(2);
        behind.flat_map(|part| self.words(part, source)).collect()
    }

    /// The same where the redirection stands beside the program.
    pub(super) fn behind_statement(&mut self, redirect: Node<'_>, source: &str, level: usize) {
        let beside = redirect.parent().filter(|parent| parent.kind() == "redirected_statement");
        let more = self.behind_target(redirect, source);
        if beside.is_none() || more.is_empty() {
            return;
        }
        let program = beside
            .and_then(|parent| children(parent).into_iter().find(|part| part.kind() == "command"));
        let mut words = program.map(|node| self.program_words(node, source)).unwrap_or_default();
        words.extend(more);
        self.carry_out(&words, level);
    }

    /// What the line itself sets a variable to.
    pub(super) fn assignment(&mut self, node: Node<'_>, source: &str, level: usize) {
        let mut parts = children(node).into_iter();
        let Some(name) = parts.next() else { return };
        let name = text_of(name, source).split('[').next().unwrap_or_default().to_owned();
        let mut values = Vec::new();
        for part in parts {
            match part.kind() {
                "=" => {}
                "+=" => values.push(CallWord { text: "*".into(), kind: WordKind::Open }),
                "array" => {
                    let items = children(part).into_iter();
                    for item in items.filter(|item| !matches!(item.kind(), "(" | ")")) {
                        values.extend(self.words(item, source));
                    }
                }
                _ => self.add_words(part, source, &mut values),
            }
        }
        self.variable(&name, &values, level);
        match self.variables.get_mut(&name) {
            // Which of several values it has when it is used, nobody knows.
            Some(known) => known.push(CallWord { text: "*".into(), kind: WordKind::Open }),
            None => drop(self.variables.insert(name, values)),
        }
    }

    /// What a variable is set to, for those who carry that out.
    pub(super) fn variable(&mut self, name: &str, values: &[CallWord], level: usize) {
        let text = joined(values);
        for inner in values.iter().flat_map(|word| substitution::inside(&word.text)) {
            self.script(&inner, level + 1);
        }
        let is_open = values.iter().any(|word| word.kind == WordKind::Open);
        let used = variable_use(name);
        if used != VariableUse::Plain && is_open {
            self.hide("a variable that is carried out is only known when it runs");
        }
        match used {
            VariableUse::Script => self.script(text.trim_start_matches(['!', '|']), level + 1),
            VariableUse::File => self.carried_files.push((text, Language::Shell)),
            VariableUse::Hides => self.hide("a variable changes what programs do"),
            VariableUse::Options if takes_in_code(&text) => {
                self.hide("a variable makes a program take in code");
                self.script(&text.replace("--eval=", " "), level + 1);
            }
            VariableUse::Plain if text.starts_with('!') => {
                self.script(text.trim_start_matches('!'), level + 1);
            }
            VariableUse::Options | VariableUse::Plain => {}
        }
    }

    /// Code in the line: what it starts is for rules to look at, and the files
    /// that its texts name are named by the line.
    pub(super) fn inline_code(&mut self, code: &str) {
        let before = self.mentions.len();
        self.code_of_filter(code);
        // What it opens it may write, wherever it goes.
        self.moves = true;
        let named = self.mentions.get(before..).unwrap_or_default().iter();
        let changed: Vec<_> = named.map(|(text, _)| (text.clone(), FileTouch::Changed)).collect();
        self.mentions.extend(changed);
    }

    /// The same for code that goes over lines, which writes where it says so.
    pub(super) fn code_of_filter(&mut self, code: &str) {
        // Texts that are put together are one.
        let mut joined = code.to_owned();
        for quote in ['\'', '"'] {
            for glue in ["+", " + ", ".", " . ", " ", ""] {
                joined = joined.replace(&format!("{quote}{glue}{quote}"), "");
            }
        }
        let splits = |c: char| c.is_whitespace() || "'\"`()<>;|&,+[]{}".contains(c);
        for token in joined.split(splits).filter(|token| !token.is_empty()) {
            self.mentions.push((token.to_owned(), FileTouch::Named));
        }
        if HOMES.iter().any(|mark| joined.contains(mark)) {
            self.mentions.push(("~".to_owned(), FileTouch::Named));
        }
        if touch::code_shows_environment(&joined) {
            self.mentions.push((touch::ENVIRONMENT.to_owned(), FileTouch::Named));
        }
        self.code.push(code.to_owned());
    }

    /// What is below a directory that the line makes a link to may be reached by
    /// what else is in the line.
    pub(super) fn links_made(&mut self) {
        let sure = || self.runs.iter().filter(|call| call.role != CallRole::Perhaps);
        if sure().count() < 2 {
            return;
        }
        let makers = sure().filter(|call| is_named(call, &["ln", "link", "mount"]));
        let words = makers.flat_map(|call| call.words.iter().skip(1));
        let linked: Vec<_> = words.map(|word| (word.text.clone(), FileTouch::Tree)).collect();
        self.mentions.extend(linked);
    }

    /// A file that the line writes and runs is a script of the line.
    pub(super) fn written_and_run(&mut self) {
        let written = std::mem::take(&mut self.written);
        let names = |file: &str, word: &str| mention::fits(base_name(word), base_name(file));
        let is_written = |word: &str| written.iter().any(|file| names(file, word));
        let by_name = self
            .runs
            .iter()
            .filter(|call| call.role != CallRole::Perhaps)
            .any(|call| call.words.first().is_some_and(|word| is_written(&word.text)));
        let by_file = self.carried_files.iter().any(|(file, _)| is_written(file));
        // What git and build tools run by themselves.
        let by_tool = written.iter().any(|file| {
            file.split('/').any(|part| part == "hooks")
                || file.ends_with(".git/config")
                || ORDERS.contains(&base_name(file))
        });
        // Modules that an interpreter of the line may take in.
        let is_module = |file: &String| {
            let ending = file.rsplit_once('.').map(|(_, ending)| ending);
            ending.is_some_and(|ending| MODULES.contains(&ending))
        };
        let by_module = written.iter().any(is_module)
            && self.runs.iter().any(|call| {
                call.role != CallRole::Perhaps
                    && call.words.first().is_some_and(|word| {
                        let name = base_name(&word.text);
                        INTERPRETERS.iter().any(|(start, _)| name.starts_with(start))
                    })
            });
        if by_name || by_file || by_tool || by_module {
            self.hide("it writes a file and runs it");
            for text in std::mem::take(&mut self.printed) {
                self.script(&text, 1);
                self.inline_code(&text);
            }
        }
    }
}

fn is_named(call: &ProgramCall, names: &[&str]) -> bool {
    call.words.first().is_some_and(|word| names.contains(&base_name(&word.text)))
}
