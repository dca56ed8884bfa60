//! Programs that find or are handed what they run in ways of their own.

use super::super::build_tools::{COMMANDS, INTERPRETERS, SHELLS};
use super::super::script_text::Language;
use super::super::word_paths::{after_options, is_name, without_version};
use super::NamedFiles;

impl NamedFiles {
    /// A program that takes orders from its input and by its words, and files
    /// that it works on besides.
    pub(super) fn client(&mut self, words: &[String], inputs: &[String]) {
        self.input(inputs);
        for (at, word) in words.iter().enumerate().skip(1) {
            if matches!(word.as_str(), "-x" | "-S" | "-u" | "-init" | "--source") {
                self.input(words.get(at + 1..at + 2).unwrap_or_default());
            } else if word.contains(' ') {
                self.code(word);
            }
        }
    }

    /// Settings of git that name a file of settings, or a folder of hooks.
    pub(super) fn git_settings(&mut self, words: &[String]) {
        for (at, word) in words.iter().enumerate() {
            let lower = word.to_lowercase();
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let next = words.get(at + 1).map_or("", String::as_str);
            let value = if value.is_empty() { next } else { value };
            if key.to_lowercase().ends_with("hookspath") {
                self.script(&format!("{value}/*"));
            } else if lower.starts_with("include") {
                self.script_in(value, Language::Orders);
            }
        }
    }

    /// What `find` hands on to a shell or an interpreter, or runs itself: the
    /// files directly in the folders that it names, by the name that it asks for.
    pub(super) fn found_and_run(&mut self, words: &[String]) {
        let Some(at) = words.iter().position(|word| COMMANDS.contains(&word.as_str())) else {
            return;
        };
        let program = words.get(at + 1).map_or("", String::as_str);
        let bare = without_version(program.rsplit('/').next().unwrap_or(program));
        if program != "{}" && !SHELLS.contains(&bare) && !INTERPRETERS.contains(&bare) {
            return;
        }
        let asked = words.iter().position(|word| word == "-name");
        let name = asked.and_then(|at| words.get(at + 1)).map_or("*", String::as_str);
        for dir in words.iter().take_while(|word| !word.starts_with(['-', '(', '!'])) {
            self.script(&format!("{dir}/{name}"));
        }
    }

    /// A module of Python, by its name.
    pub(in crate::trust) fn module(&mut self, name: &str) {
        let mut path = String::new();
        for part in name.split('.').filter(|part| is_name(part)) {
            path = if path.is_empty() { part.to_owned() } else { format!("{path}/{part}") };
            self.script(&format!("{path}/__init__.py"));
        }
        if !path.is_empty() {
            self.script(&format!("{path}.py"));
            self.script(&format!("{path}/__main__.py"));
        }
    }

    /// A program that a package brought.
    pub(super) fn node_program(&mut self, words: &[String]) {
        let words = after_options(words);
        let Some(program) = words.first() else { return };
        self.script(&format!("node_modules/.bin/{program}"));
        self.command(words, &[]);
    }
}
