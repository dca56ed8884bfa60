//! The words of a shell command, as far as it takes to see what it runs.
//!
//! This is no shell parser: where it differs from one, it finds more commands
//! rather than fewer, so that more files count as part of what is trusted.

use std::iter::Peekable;
use std::str::Chars;

/// Stands in a word for what a substitution or an unknown variable would give.
pub(super) const UNKNOWN: char = '\u{1}';
/// How deep substitutions are looked into.
const MAX_DEPTH: usize = 6;

/// One command: its words without quotes, and the files that it reads from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellCommand {
    pub(super) words: Vec<String>,
    pub(super) inputs: Vec<String>,
}

/// Every command of a text, those in substitutions included.
pub(super) fn shell_commands(text: &str) -> Vec<ShellCommand> {
    Splitter::new(text, 0).run()
}

/// What the next word is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Word,
    Input,
    Output,
}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    depth: usize,
    word: Option<String>,
    next: Next,
    open: ShellCommand,
    done: Vec<ShellCommand>,
}

impl<'a> Splitter<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self {
            rest: text.chars().peekable(),
            depth,
            word: None,
            next: Next::Word,
            open: ShellCommand::default(),
            done: Vec::new(),
        }
    }

    fn run(mut self) -> Vec<ShellCommand> {
        while let Some(c) = self.rest.next() {
            match c {
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => self.escaped(),
                '$' if self.rest.peek() == Some(&'(') => self.substitution(),
                '`' => self.backticks(),
                '#' if self.word.is_none() => while self.rest.next_if(|c| *c != '\n').is_some() {},
                '<' => self.redirection(Next::Input),
                '>' => self.redirection(Next::Output),
                ';' | '&' | '|' | '\n' | '(' | ')' => self.end_command(),
                c if c.is_whitespace() => self.end_word(),
                c => self.push(c),
            }
        }
        self.end_command();
        self.done
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::replace(&mut self.next, Next::Word) {
            Next::Word => self.open.words.push(word),
            Next::Input => self.open.inputs.push(word),
            Next::Output => {}
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.next = Next::Word;
        let command = std::mem::take(&mut self.open);
        if command != ShellCommand::default() {
            self.done.push(command);
        }
    }

    fn single_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.next_if(|c| *c != '\'') {
            self.push(c);
        }
        self.rest.next();
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return,
                '\\' => self.escaped(),
                '$' if self.rest.peek() == Some(&'(') => self.substitution(),
                '`' => self.backticks(),
                c => self.push(c),
            }
        }
    }

    fn escaped(&mut self) {
        match self.rest.next() {
            None | Some('\n') => {}
            Some(c) => self.push(c),
        }
    }

    /// `$(…)`, `<(…)` and the like: its commands are commands too.
    fn substitution(&mut self) {
        self.rest.next();
        let (mut inner, mut open) = (String::new(), 1_usize);
        for c in self.rest.by_ref() {
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
            inner.push(c);
        }
        self.inside(&inner);
    }

    fn backticks(&mut self) {
        let mut inner = String::new();
        while let Some(c) = self.rest.next_if(|c| *c != '`') {
            inner.push(c);
        }
        self.rest.next();
        self.inside(&inner);
    }

    fn inside(&mut self, text: &str) {
        self.push(UNKNOWN);
        if self.depth < MAX_DEPTH {
            self.done.extend(Splitter::new(text, self.depth + 1).run());
        }
    }

    fn redirection(&mut self, next: Next) {
        // `2>` is no word.
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        if self.rest.peek() == Some(&'(') {
            return self.substitution();
        }
        while self.rest.next_if(|c| matches!(c, '<' | '>' | '&' | '|' | '-')).is_some() {}
        self.next = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let shown = |word: &String| word.replace(UNKNOWN, "?");
        let all = shell_commands(text);
        all.iter().map(|command| command.words.iter().map(shown).collect()).collect()
    }

    #[test]
    fn s9_every_command_of_a_line_is_seen() {
        assert_eq!(
            words("a 'b c' \"d\"; e && f | g &"),
            [vec!["a", "b c", "d"], vec!["e"], vec!["f"], vec!["g"]]
        );
        assert_eq!(words("( cd x && ./y )"), [vec!["cd", "x"], vec!["./y"]]);
        assert_eq!(words("a\\ b # c\nd"), [vec!["a b"], vec!["d"]]);
        assert_eq!(words("x \"$(./in a)\"/h.sh"), [vec!["./in", "a"], vec!["x", "?/h.sh"]]);
        assert_eq!(words("`./in`"), [vec!["./in"], vec!["?"]]);
        assert_eq!(words("source <(cat x)"), [vec!["cat", "x"], vec!["source", "?"]]);
        assert_eq!(words("'./a"), [vec!["./a"]], "what is not closed goes on to the end");
    }

    #[test]
    fn s9_what_is_read_is_told_from_what_is_written() {
        let found = shell_commands("bash < h.sh 2>&1 >out x");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].words, ["bash", "x"]);
        assert_eq!(found[0].inputs, ["h.sh"]);
    }
}
