//! What a command may run and touch, for rules that forbid (S11).
//!
//! Other than the analysis of what only reads, this one must not miss
//! anything: where it cannot tell it lists too much, or says that something is
//! hidden. Quotes, escapes and variables that the line itself sets are carried
//! out; programs that run others are looked into, and so is what shells are
//! given to carry out, by argument, by pipe or by a document in the line.

mod carriers;
mod change;
mod doubt;
mod filters;
mod git_settings;
mod given;
mod logins;
mod loose;
mod mention;
mod options;
mod perhaps;
mod script_file;
mod sent;
mod substitution;
mod syntax;
mod touch;
mod words;
mod wrapper;

use super::word::Word;
use super::{CommandCaller, ReadOnlyVerdict, is_read_only, programs, screen, tree};
use everfold_kernel::ports::{
    CallRole, CallWord, CommandEffect, CommandOutline, FileTouch, ProgramCall, ShellPlace, WordKind,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use syntax::{
    WORD_KINDS, all, children, document_text, feeds, is_inside_word, is_over_lines, is_target,
    text_of,
};
use tree_sitter::{Node, Parser};
use wrapper::{Carried, Language};

/// A command in a command, and so on, so many times.
const MOST_LEVELS: usize = 6;

/// More programs than this are no command that anybody looks through.
const MOST_RUNS: usize = 512;

/// More text than this, nested ones included, is not looked through.
const MOST_BYTES: usize = 256 * 1024;

/// Looks a command through.
#[must_use]
pub fn outline(command: &str, place: &ShellPlace) -> CommandOutline {
    let patterns = doubt::Patterns::of(command);
    let mut found = Findings { place: place.clone(), patterns, ..Findings::default() };
    found.script(command, 0);
    found.written_and_run();
    found.script_files();
    if found.hidden.is_some() {
        found.mentions.extend(loose::words(command, place));
    }
    found.links_made();
    let files = mention::files(&mut found, place);
    let by_git = found.makes_git_run();
    let effect = |caller| match is_read_only(command, caller) {
        ReadOnlyVerdict::ReadOnly if by_git => {
            CommandEffect::Acts(git_settings::GIT_RUNS.to_owned())
        }
        ReadOnlyVerdict::ReadOnly => CommandEffect::Reads,
        ReadOnlyVerdict::Refused { reason } => CommandEffect::Acts(reason),
    };
    CommandOutline {
        plain: plain(command).map(|calls| git_settings::acting(calls, by_git)),
        effect: effect(CommandCaller::MainAgent),
        unwatched_effect: effect(CommandCaller::BackgroundAgent),
        runs: found.runs,
        code: found.code,
        hidden: found.hidden,
        files,
        open_reads: found.open_reads,
    }
}

/// The programs of a line that is nothing but plain commands.
fn plain(command: &str) -> Option<Vec<ProgramCall>> {
    screen(command).ok()?;
    let mut calls = Vec::new();
    for words in tree::commands(command, CommandCaller::MainAgent).ok()? {
        let words: Vec<CallWord> = words.iter().map(call_word).collect();
        calls.extend(wrapper::unwrapped(&words).calls?);
    }
    Some(calls)
}

fn call_word(word: &Word) -> CallWord {
    let kind = match word.expands_at {
        Some(0) => WordKind::Open,
        Some(_) => WordKind::Pattern,
        None if word.has_variable => WordKind::Pattern,
        None => WordKind::Exact,
    };
    CallWord { text: word.text.clone(), kind }
}

/// Whether a program with these words only reads.
fn effect(words: &[CallWord]) -> CommandEffect {
    let words: Vec<Word> = words
        .iter()
        .map(|word| Word {
            text: word.text.clone(),
            expands_at: (word.kind != WordKind::Exact)
                .then(|| if word.kind == WordKind::Open { 0 } else { word.text.len() }),
            has_variable: false,
        })
        .collect();
    match programs::check(&words, CommandCaller::MainAgent) {
        Ok(()) => CommandEffect::Reads,
        Err(refusal) => CommandEffect::Acts(refusal.0),
    }
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    runs: Vec<ProgramCall>,
    code: Vec<String>,
    hidden: Option<String>,
    /// Words that may name files.
    mentions: Vec<(String, FileTouch)>,
    /// The directories in which it may work.
    bases: Vec<PathBuf>,
    /// What variables were set to in the line.
    variables: BTreeMap<String, Vec<CallWord>>,
    /// Files that the line writes, and texts that it prints or quotes.
    written: Vec<String>,
    printed: Vec<String>,
    carried_files: Vec<(String, Language)>,
    open_reads: Vec<String>,
    patterns: doubt::Patterns,
    place: ShellPlace,
    bytes: usize,
    /// Whether something in it works in another directory.
    moves: bool,
}

impl Findings {
    fn hide(&mut self, reason: &str) {
        self.hidden.get_or_insert_with(|| reason.to_owned());
    }

    /// Looks through a script.
    fn script(&mut self, source: &str, level: usize) {
        for text in loose::readings(source) {
            self.reading(&text, level);
        }
    }

    /// One way to read a script.
    fn reading(&mut self, joined: &str, level: usize) {
        self.bytes += joined.len();
        if level > MOST_LEVELS || self.bytes > MOST_BYTES {
            self.hide("it is nested too deeply, or too long, to be checked");
            return;
        }
        let mut parser = Parser::new();
        let known = parser.set_language(&tree_sitter_bash::LANGUAGE.into()).is_ok();
        let Some(tree) = parser.parse(joined, None).filter(|_| known) else {
            self.hide("it does not parse");
            return;
        };
        if tree.root_node().has_error() {
            self.hide("it does not parse as plain shell");
            self.by_pieces(joined);
        }
        let nodes = all(tree.root_node());
        // The grammar takes the end of a line before a backslash for a blank.
        if nodes.iter().any(|node| is_over_lines(*node, joined)) {
            self.hide("it does not parse as plain shell");
            self.by_pieces(joined);
        }
        for node in nodes.iter().filter(|node| node.kind() == "variable_assignment") {
            self.assignment(*node, joined, level);
        }
        for inner in substitution::of_script(joined) {
            self.script(&inner, level + 1);
        }
        for node in &nodes {
            if self.runs.len() > MOST_RUNS {
                self.hide("it runs too much to be checked");
                return;
            }
            self.node(*node, joined, level);
        }
    }

    fn node(&mut self, node: Node<'_>, source: &str, level: usize) {
        match node.kind() {
            "command" | "declaration_command" | "unset_command" | "test_command" => {
                self.command(node, source, level);
            }
            "file_redirect" => {
                self.redirect(node, source);
                self.behind_statement(node, source, level);
            }
            "heredoc_body" => {
                let text = document_text(node, source).to_owned();
                self.document(node, source, &text, level);
                self.input(node, source, &text, level);
            }
            "herestring_redirect" => {
                let parts = children(node).into_iter().filter(|part| part.kind() != "<<<");
                let words: Vec<CallWord> =
                    parts.flat_map(|part| self.words(part, source)).collect();
                let text = joined(&words);
                self.input(node, source, &text, level);
                // The grammar ends the word at an empty text; a shell does not.
                if doubt::goes_on(source, node.end_byte()) {
                    self.hide("it does not parse as plain shell");
                }
            }
            "simple_expansion" | "expansion" if self.shows_variable(node, source) => {
                self.mentions.push((touch::ENVIRONMENT.to_owned(), FileTouch::Named));
            }
            kind if WORD_KINDS.contains(&kind) && !is_inside_word(node) && !is_target(node) => {
                for word in self.words(node, source) {
                    self.mentions.push((word.text, FileTouch::Named));
                }
            }
            _ => {}
        }
    }

    /// One program, and what it runs.
    fn command(&mut self, node: Node<'_>, source: &str, level: usize) {
        let mut words = Vec::new();
        for child in children(node) {
            match child.kind() {
                "variable_assignment" if node.kind() == "command" => {}
                "file_redirect" => words.extend(self.behind_target(child, source)),
                "heredoc_redirect" | "herestring_redirect" => {}
                "command_name" => words.extend(self.name(child, source)),
                _ => self.add_words(child, source, &mut words),
            }
        }
        // What the grammar has split is named by the words, not by its nodes.
        let open = words.iter().filter(|word| word.kind == WordKind::Open && word.text != "*");
        // What is not known at either end may be nothing.
        let open = open.flat_map(|word| {
            [word.text.as_str(), word.text.trim_start_matches('*'), word.text.trim_end_matches('*')]
        });
        let open: Vec<_> = open.map(|text| (text.to_owned(), FileTouch::Named)).collect();
        self.mentions.extend(open);
        let prints = words.first().is_some_and(|word| is_printer(&word.text));
        if prints {
            let said: Vec<CallWord> = words.iter().skip(1).cloned().collect();
            self.printed.push(words::ansi(&joined(&said)));
            self.printed.extend(said.into_iter().map(|word| words::ansi(&word.text)));
        }
        for words in loose::emptied(&words) {
            let named = words.iter().map(|word| (word.text.clone(), FileTouch::Named));
            self.mentions.extend(named);
            self.carry_out(&words, level);
        }
        match self.carry_out(&words, level) {
            Some(language) if feeds(node) => self.fed(node, source, language, level),
            Some(language) => self.take_file(node, source, language),
            None => {}
        }
    }

    /// The words of a program's name. Backquotes in it are not seen by the
    /// grammar where nothing is in them.
    fn name(&self, node: Node<'_>, source: &str) -> Vec<CallWord> {
        let mut words: Vec<CallWord> =
            children(node).into_iter().flat_map(|part| self.words(part, source)).collect();
        if text_of(node, source).contains('`') {
            for word in &mut words {
                word.kind = WordKind::Open;
            }
        }
        words
    }

    /// Lists a program and what it runs. As what it carries out its input, if
    /// it does.
    fn carry_out(&mut self, words: &[CallWord], level: usize) -> Option<Language> {
        let wrapper::Unwrapped { mut listed, carried, .. } = wrapper::unwrapped(words);
        listed.extend(doubt::with_what_is_sent(&listed));
        // What `find` hands on is below the directories that it names.
        let finds = words.first().is_some_and(|word| base_name(&word.text) == "find");
        for call in listed.iter().filter(|call| call.role != CallRole::Perhaps) {
            self.mentions.extend(touch::touched(&call.words));
            let changed = change::changed(call);
            // What a shell is given by an option is code, and looked at as such.
            let by_shell = call.words.first().is_some_and(|word| wrapper::is_shell(&word.text));
            let files =
                changed.iter().filter(|(_, touch)| !by_shell && *touch == FileTouch::Changed);
            self.written.extend(files.map(|(text, _)| text.clone()));
            self.mentions.extend(changed);
            self.moves |= change::moves(call);
            self.written.extend(touch::made(&call.words));
            if let Some(reason) = doubt::about(call) {
                self.hide(reason);
            }
            self.open_reads.extend(doubt::open_reads(call, self.patterns));
            if !finds && doubt::shows_anything(call) {
                self.mentions.push((".".to_owned(), FileTouch::Tree));
            }
            let name = call.words.first().map_or("", |word| word.text.as_str());
            if name.contains('/') {
                self.carried_files.push((name.to_owned(), Language::Shell));
            }
        }
        for call in &listed {
            self.alias_of_git(call, level);
        }
        self.runs.extend(listed);
        let mut takes_input = None;
        for one in carried {
            match one {
                Carried::Script(script) if script.kind == WordKind::Open => {
                    self.hide("a shell is given a text that is only known when it runs");
                    self.script(&script.text.replace('*', " "), level + 1);
                }
                Carried::Script(script) => self.script(&script.text, level + 1),
                Carried::Code(code) => self.inline_code(&code.text),
                Carried::Filter(code) => self.code_of_filter(&code.text),
                Carried::Input(language) => takes_input = Some(language),
                Carried::File(file, _) if file.kind == WordKind::Open => {
                    self.hide("a program carries out a file that is only known when it runs");
                }
                Carried::File(file, language) => self.carried_files.push((file.text, language)),
                Carried::Variable(word) => {
                    if let Some((name, value)) = word.text.split_once('=') {
                        let value = CallWord { text: value.to_owned(), kind: word.kind };
                        self.variable(name, &[value], level);
                    }
                }
                Carried::Unknown(reason) => self.hide(reason),
            }
        }
        takes_input
    }

    fn redirect(&mut self, node: Node<'_>, source: &str) {
        let writes = children(node).iter().any(|part| part.kind().contains('>'));
        let touch = if writes { FileTouch::Written } else { FileTouch::Named };
        let mut targets = Vec::new();
        for part in children(node) {
            if WORD_KINDS.contains(&part.kind())
                || part.kind().ends_with("expansion")
                || part.kind() == "command_substitution"
            {
                self.add_words(part, source, &mut targets);
            }
        }
        targets.extend(loose::emptied(&targets).into_iter().flatten().collect::<Vec<_>>());
        for word in targets {
            if writes {
                self.mentions.extend((word.kind == WordKind::Open).then(change::anything));
                self.written.push(word.text.clone());
            }
            self.mentions.push((word.text, touch));
        }
    }
}

fn is_printer(name: &str) -> bool {
    matches!(base_name(name), "echo" | "printf")
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn joined(words: &[CallWord]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// A call of a program, as rules see it.
fn call(words: Vec<CallWord>, role: CallRole) -> ProgramCall {
    let effect = effect(&words);
    let reading_words = programs::reading_words(&words);
    let acting = options::acting_words(&words);
    ProgramCall { words, role, effect, reading_words, acting }
}
