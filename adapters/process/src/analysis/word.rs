//! One word of a command, as Bash would hand it to a program.
//!
//! The scanner knows quotes, backslashes, patterns and a few variables in
//! double quotes. It refuses everything else, so what it accepts has one
//! meaning. It does not split words: the tree does, and a blank or operator
//! that is not quoted is a refusal here.

use super::{CommandCaller, Refusal, refuse};
use std::iter::Peekable;
use std::str::Chars;

/// Variables that hold a path of the user's own system.
const PATH_VARIABLES: &[&str] = &["HOME", "PWD", "OLDPWD", "TMPDIR"];

/// A word without its quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The text. A variable stands as `/` and its name: its value is a path.
    pub(super) text: String,
    /// Where the first pattern or brace begins: from there on Bash may put in
    /// anything, and make several words of this one.
    pub(super) expands_at: Option<usize>,
    /// Whether a variable is part of it.
    pub(super) has_variable: bool,
}

impl Word {
    /// Reads the source of exactly one word.
    pub(super) fn scan(source: &str, audience: CommandCaller) -> Result<Self, Refusal> {
        let mut word = Self::default();
        let mut rest = source.chars().peekable();
        if rest.peek() == Some(&'#') {
            return refuse("a comment is not analysed: leave it out");
        }
        while let Some(c) = rest.next() {
            match c {
                '\'' => word.single_quoted(&mut rest)?,
                '"' => word.double_quoted(&mut rest, audience)?,
                '\\' => word.escaped(&mut rest)?,
                '*' | '?' | '[' | '{' | '}' => {
                    word.expands_at.get_or_insert(word.text.len());
                    word.text.push(c);
                }
                '$' => {
                    return refuse("a variable or `$` outside double quotes can become anything");
                }
                '`' => return refuse("a command substitution runs another command"),
                c if c.is_ascii_alphanumeric() || "_-./:@%+,=^~!#]".contains(c) => {
                    word.text.push(c);
                }
                c if c.is_ascii() => {
                    return refuse(format!("`{}` has to be quoted", c.escape_default()));
                }
                c => {
                    return refuse(format!(
                        "`{c}` (U+{:04X}) is not a plain letter and has to be quoted",
                        u32::from(c)
                    ));
                }
            }
        }
        Ok(word)
    }

    /// Whether it is one word whose text is known.
    pub(super) fn is_fixed(&self) -> bool {
        self.expands_at.is_none() && !self.has_variable
    }

    /// Whether it is an option, as written.
    pub(super) fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }

    fn single_quoted(&mut self, rest: &mut Peekable<Chars<'_>>) -> Result<(), Refusal> {
        loop {
            match rest.next() {
                Some('\'') => return Ok(()),
                Some(c) => self.text.push(c),
                None => return refuse("a quote is not closed"),
            }
        }
    }

    fn double_quoted(
        &mut self,
        rest: &mut Peekable<Chars<'_>>,
        audience: CommandCaller,
    ) -> Result<(), Refusal> {
        loop {
            match rest.next() {
                Some('"') => return Ok(()),
                Some('`') => return refuse("a command substitution runs another command"),
                Some('$') => self.dollar(rest, audience)?,
                Some('\\') => match rest.next() {
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.text.push(c),
                    Some(c) => self.text.extend(['\\', c]),
                    None => return refuse("a quote is not closed"),
                },
                Some(c) => self.text.push(c),
                None => return refuse("a quote is not closed"),
            }
        }
    }

    fn escaped(&mut self, rest: &mut Peekable<Chars<'_>>) -> Result<(), Refusal> {
        match rest.next() {
            Some(c) if c.is_ascii_graphic() || c == ' ' => {
                self.text.push(c);
                Ok(())
            }
            _ => refuse("a backslash stands before a character that it cannot quote"),
        }
    }

    /// A `$` in double quotes: a known variable, or plainly the character.
    fn dollar(
        &mut self,
        rest: &mut Peekable<Chars<'_>>,
        audience: CommandCaller,
    ) -> Result<(), Refusal> {
        if let Some('"' | ' ' | '|' | ')') = rest.peek() {
            self.text.push('$');
            return Ok(());
        }
        let braced = rest.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        if braced && rest.next() != Some('}') {
            return refuse("a `${…}` that does more than name a variable is not read-only");
        }
        if audience == CommandCaller::BackgroundAgent || !PATH_VARIABLES.contains(&name.as_str()) {
            return refuse(format!("the variable `${name}` can become anything"));
        }
        self.text.push('/');
        self.text.push_str(&name);
        self.has_variable = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> String {
        Word::scan(source, CommandCaller::MainAgent).unwrap().text
    }

    fn refused(source: &str) -> bool {
        Word::scan(source, CommandCaller::MainAgent).is_err()
    }

    #[test]
    fn s3_quotes_are_removed_as_bash_does() {
        assert_eq!(text("-'de'\"le\"\\te"), "-delete");
        assert_eq!(text(r#""a\b\"c\$d""#), r#"a\b"c$d"#);
        assert_eq!(text("a\\ b"), "a b");
        assert_eq!(text("\"é\"'ü'"), "éü");
        assert_eq!(text("\"end$\""), "end$");
    }

    #[test]
    fn s3_a_word_that_could_be_anything_is_refused() {
        for source in
            ["$x", "a`b`", "\"$(x)\"", "\"${HOME:=x}\"", "\"$X\"", "a;b", "a b", "é", "#a"]
        {
            assert!(refused(source), "{source}");
        }
    }

    #[test]
    fn s3_where_a_word_expands_is_known() {
        let at = |source: &str| Word::scan(source, CommandCaller::MainAgent).unwrap().expands_at;
        assert_eq!(at("src/*.rs"), Some(4));
        assert_eq!(at("{a,b}"), Some(0));
        assert_eq!(at("'*'"), None);
        assert_eq!(at("\\*"), None);
    }

    #[test]
    fn s3_a_path_variable_is_one_word() {
        let word = Word::scan("\"$HOME/x\"", CommandCaller::MainAgent).unwrap();
        assert!(word.has_variable && word.expands_at.is_none());
        assert!(Word::scan("\"$HOME\"", CommandCaller::BackgroundAgent).is_err());
    }
}
