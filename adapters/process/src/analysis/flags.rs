//! Options of a program against the list of those that only read.
//!
//! A list is one or more texts of entries with blanks between them:
//!
//! | entry | allows |
//! |---|---|
//! | `-abc` | `-a`, `-b`, `-c`, alone or in one cluster |
//! | `-kt:` | `-k` and `-t` with a value, attached or as the next word |
//! | `-MC?` | `-M` and `-C` with a value that may be attached |
//! | `-#` | a number, as in `-5` |
//! | `--all` | just that |
//! | `--key=` | with a value, attached or as the next word |
//! | `--color?` | with a value that may be attached |
//!
//! Long options are compared in full: programs take `--outp` for `--output`,
//! and a list of what is allowed need not know how they abbreviate.

use super::word::Word;
use super::{Refusal, refuse};

/// Entries of allowed options.
pub(super) type List = &'static [&'static str];

/// What a pattern at the start of a word may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Globs {
    /// A file may be called like an option, so it is refused.
    Guarded,
    /// The program has no option that does harm, whatever a file is called.
    Free,
}

/// Words of a program, told apart.
#[derive(Debug, Default)]
pub(super) struct Sorted<'a> {
    /// Names of options: `-n`, `--list`.
    pub(super) options: Vec<String>,
    /// Values of options by name; none where the text is not known.
    pub(super) values: Vec<(String, Option<String>)>,
    pub(super) operands: Vec<&'a Word>,
}

impl Sorted<'_> {
    /// Whether one of these options is there.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.contains(&option.as_str()))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Value,
    Attached,
}

/// Tells options from operands, and refuses options that are not listed.
pub(super) fn sort<'a>(
    program: &str,
    list: List,
    words: &'a [Word],
    globs: Globs,
) -> Result<Sorted<'a>, Refusal> {
    let mut sorted = Sorted::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.text == "--" {
            sorted.operands.extend(words);
            return Ok(sorted);
        }
        if !word.is_option() {
            if word.expands_at == Some(0) && globs == Globs::Guarded {
                return refuse(format!(
                    "`{}` could become an option of `{program}`: quote it, or put `./` before it",
                    word.text
                ));
            }
            sorted.operands.push(word);
            continue;
        }
        let awaited = match word.text.strip_prefix("--") {
            Some(long) => sorted.long(program, list, long, word)?,
            None => sorted.cluster(program, list, word)?,
        };
        // A value that looks like an option is one to a program that reads
        // its options in another way than the list says.
        if let Some(name) = awaited {
            match words.next() {
                Some(value) if value.is_option() || value.expands_at.is_some() => {
                    return refuse(format!("`{}` is not a plain value for `{name}`", value.text));
                }
                Some(value) => {
                    let text = value.is_fixed().then(|| value.text.clone());
                    sorted.values.push((name, text));
                }
                None => {}
            }
        }
    }
    Ok(sorted)
}

impl Sorted<'_> {
    /// One long option. Answers with its name if the next word is its value.
    fn long(
        &mut self,
        program: &str,
        list: List,
        long: &str,
        word: &Word,
    ) -> Result<Option<String>, Refusal> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let name_end = name.len() + "--=".len();
        let open = word.expands_at.is_some_and(|at| value.is_none() || at < name_end);
        let takes = entries(list).find_map(|entry| long_entry(entry, name));
        let full = format!("--{name}");
        let Some(takes) =
            takes.filter(|takes| !open && (value.is_none() || *takes != Takes::Nothing))
        else {
            return refuse(not_listed(program, &full));
        };
        self.options.push(full.clone());
        match value {
            Some(value) => {
                let text = word.is_fixed().then(|| value.to_owned());
                self.values.push((full, text));
                Ok(None)
            }
            None => Ok((takes == Takes::Value).then_some(full)),
        }
    }

    /// One or more short options. Answers with the last one's name if the next
    /// word is its value.
    fn cluster(
        &mut self,
        program: &str,
        list: List,
        word: &Word,
    ) -> Result<Option<String>, Refusal> {
        let letters = word.text.trim_start_matches('-');
        if word.expands_at.is_some() {
            return refuse(not_listed(program, &word.text));
        }
        if letters.chars().all(|c| c.is_ascii_digit()) && entries(list).any(|entry| entry == "-#") {
            return Ok(None);
        }
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let name = format!("-{letter}");
            let Some(takes) = entries(list).find_map(|entry| short_entry(entry, letter)) else {
                return refuse(not_listed(program, &name));
            };
            self.options.push(name.clone());
            let value = rest.as_str();
            match takes {
                Takes::Nothing => {}
                Takes::Value if value.is_empty() => return Ok(Some(name)),
                Takes::Attached if value.is_empty() => return Ok(None),
                Takes::Value | Takes::Attached => {
                    let text = word.is_fixed().then(|| value.to_owned());
                    self.values.push((name, text));
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }
}

fn not_listed(program: &str, option: &str) -> String {
    format!("`{option}` is not among the options of `{program}` that are known to only read")
}

fn entries(list: List) -> impl Iterator<Item = &'static str> {
    list.iter().flat_map(|text| text.split_ascii_whitespace())
}

fn long_entry(entry: &str, name: &str) -> Option<Takes> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let rest = entry.strip_prefix("--")?.strip_prefix(name).filter(|_| name.chars().all(plain))?;
    match rest {
        "" => Some(Takes::Nothing),
        "=" => Some(Takes::Value),
        "?" => Some(Takes::Attached),
        _ => None,
    }
}

fn short_entry(entry: &str, letter: char) -> Option<Takes> {
    let letters = entry.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let (letters, takes) = if let Some(letters) = letters.strip_suffix(':') {
        (letters, Takes::Value)
    } else if let Some(letters) = letters.strip_suffix('?') {
        (letters, Takes::Attached)
    } else {
        (letters, Takes::Nothing)
    };
    (letter.is_ascii_alphanumeric() && letters.contains(letter)).then_some(takes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::CommandCaller;

    const LIST: List = &["-nr -k: -M?", "-# --all --key= --color?"];

    fn words(sources: &[&str]) -> Vec<Word> {
        sources.iter().map(|source| Word::scan(source, CommandCaller::MainAgent).unwrap()).collect()
    }

    fn allowed(sources: &[&str]) -> bool {
        sort("p", LIST, &words(sources), Globs::Guarded).is_ok()
    }

    #[test]
    fn s3_listed_options_pass_in_every_spelling() {
        for sources in [
            &["-n", "-rn", "-rk2", "-nk", "2", "-M50", "-M", "-5"][..],
            &["--all", "--key=x", "--key", "x", "--color", "--color=y", "a", "-"],
            &["--key=*.rs", "src/*"],
            &["--", "-x", "*"],
        ] {
            assert!(allowed(sources), "{sources:?}");
        }
    }

    #[test]
    fn s3_other_options_do_not() {
        for sources in [
            &["-x"][..],
            &["-nx"],
            &["--al"],
            &["--all=x"],
            &["--key", "-o"],
            &["-k", "-o"],
            &["-k", "*"],
            &["-*"],
            &["--ke*"],
            &["--{key,o}=x"],
            &["*"],
            &["{a,b}"],
            &["--="],
            &["---n"],
        ] {
            assert!(!allowed(sources), "{sources:?}");
        }
    }

    #[test]
    fn s3_values_are_no_operands() {
        let words = words(&["-k", "1", "--key", "2", "f"]);
        let sorted = sort("p", LIST, &words, Globs::Guarded).unwrap();
        assert_eq!(sorted.operands.len(), 1);
        assert_eq!(sorted.values.len(), 2);
    }
}
