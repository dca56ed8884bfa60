//! Arguments that are small languages of their own: what `find` looks for,
//! what `sed` does with a line, what `printf` prints.

use super::word::Word;
use super::{Refusal, flags, refuse};
use std::iter::Peekable;
use std::str::Chars;

/// Tests, actions and operators of `find` that print or choose.
const FIND: &str = "-H -L -P -a -amin -and -anewer -atime -cmin -cnewer -ctime -d -daystart \
    -depth -empty -executable -false -follow -gid -group -ignore_readdir_race -ilname -iname \
    -inum -ipath -iregex -iwholename -links -lname -ls -maxdepth -mindepth -mmin -mount -mtime \
    -name -newer -newerBt -newerct -newermt -newerat -nogroup -noleaf -not -nouser -o -or -path \
    -perm -print -print0 -printf -prune -quit -readable -regex -regextype -samefile -size -true \
    -type -uid -used -user -wholename -writable -xdev -xtype";

/// Options of `sed` beside the script.
const SED: flags::List = &["-nEru -e: --quiet --silent --regexp-extended --expression="];

/// Every word that looks like a test is one that is listed.
pub(super) fn check_find(words: &[Word]) -> Result<(), Refusal> {
    for word in words {
        let known = FIND.split_ascii_whitespace().any(|listed| listed == word.text);
        if word.is_option() && !(word.expands_at.is_none() && (known || is_amount(&word.text))) {
            return refuse(format!(
                "`{}` is not among the tests and actions of `find` that are known to only read",
                word.text
            ));
        }
        if word.expands_at == Some(0) {
            return refuse(format!("`{}` could become an action of `find`: quote it", word.text));
        }
    }
    Ok(())
}

/// Less than so many: `-7`, `-10k`, `-0644`.
fn is_amount(text: &str) -> bool {
    let amount = text.strip_prefix('-').unwrap_or(text);
    let digits = amount.strip_suffix(['c', 'w', 'b', 'k', 'M', 'G']).unwrap_or(amount);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

/// Scripts that print, leave out or replace, and nothing else.
pub(super) fn check_sed(words: &[Word]) -> Result<(), Refusal> {
    let sorted = flags::sort("sed", SED, words, flags::Globs::Guarded)?;
    let mut scripts: Vec<Option<&str>> =
        sorted.values.iter().map(|(_, script)| script.as_deref()).collect();
    if scripts.is_empty() {
        let first = sorted.operands.first();
        scripts.push(first.filter(|word| word.is_fixed()).map(|word| word.text.as_str()));
    }
    if scripts.into_iter().all(|script| script.is_some_and(only_prints)) {
        Ok(())
    } else {
        refuse("the script of `sed` does more than print lines, as far as one can tell")
    }
}

fn only_prints(script: &str) -> bool {
    script.split([';', '\n']).all(|command| {
        let mut rest = command.trim_matches(' ').chars().peekable();
        addresses(&mut rest).is_some_and(|()| sed_command(rest))
    })
}

/// Nothing, a line, or a range of lines.
fn addresses(rest: &mut Peekable<Chars<'_>>) -> Option<()> {
    if address(rest)? && rest.next_if_eq(&',').is_some() {
        rest.next_if_eq(&'+');
        if !address(rest)? {
            return None;
        }
    }
    rest.next_if_eq(&'!');
    while rest.next_if_eq(&' ').is_some() {}
    Some(())
}

/// Whether there was an address; none if it is not a plain one.
fn address(rest: &mut Peekable<Chars<'_>>) -> Option<bool> {
    match rest.peek() {
        Some('$') => Some(rest.next().is_some()),
        Some('/') => {
            rest.next();
            pattern(rest).then_some(true)
        }
        Some(c) if c.is_ascii_digit() => {
            while rest.next_if(char::is_ascii_digit).is_some() {}
            Some(true)
        }
        _ => Some(false),
    }
}

/// Up to the closing slash. No brackets: programs differ in whether a slash
/// within them closes.
fn pattern(rest: &mut Peekable<Chars<'_>>) -> bool {
    while let Some(c) = rest.next() {
        let plain = match c {
            '/' => return true,
            '\\' => rest.next().is_some_and(|c| "sSwWbBt.()+?|*$^123456789".contains(c)),
            c => c.is_alphanumeric() || " _.*^$<>=:,\"'-+?()|@%#~!&".contains(c),
        };
        if !plain {
            return false;
        }
    }
    false
}

fn sed_command(mut rest: Peekable<Chars<'_>>) -> bool {
    match rest.next() {
        Some('p' | 'd' | 'q' | '=') => rest.next().is_none(),
        Some('s') => {
            rest.next() == Some('/')
                && pattern(&mut rest)
                && pattern(&mut rest)
                && rest.all(|c| matches!(c, 'g' | 'p' | 'i' | 'I') || c.is_ascii_digit())
        }
        _ => false,
    }
}

/// A known format. `-v` and `%n` set a variable, and so can change what runs.
pub(super) fn check_printf(words: &[Word]) -> Result<(), Refusal> {
    let format = words.first().filter(|word| word.is_fixed() && !word.is_option());
    let Some(format) = format else {
        return refuse("the format of `printf` has to be a plain text");
    };
    let mut rest = format.text.chars();
    while let Some(c) = rest.next() {
        if c == '%' {
            let conversion = rest.find(|c| !"-+ #'.*0123456789".contains(*c));
            if !conversion.is_some_and(|c| "%sdiouxXcbqeEfFgG".contains(c)) {
                return refuse("the format of `printf` has a conversion that can set a variable");
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_sed_scripts_that_print_pass() {
        for script in [
            "1,20p",
            "$p",
            "/^fn /p",
            "/a/,/b/p",
            "5q",
            "1d;$d",
            "s/a/b/g",
            r"s/^\s*//",
            "2!p",
            "=",
        ] {
            assert!(only_prints(script), "{script}");
        }
    }

    #[test]
    fn s3_sed_scripts_that_write_or_run_do_not() {
        for script in [
            "w out",
            "1w out",
            "s/a/b/w out",
            "s/a/b/e",
            "e",
            "1e rm x",
            "r f",
            "W f",
            "s|a|b|e",
            "/[/]/w x/p",
            "a\\",
            "{p;w x}",
            "s/a/b/;w x",
            "1,",
            "s/a/b",
            "1,5 w x",
            "p w x",
            "\\%x%p",
            "s/a/b\\/e",
            "y/a/b/",
            "p\nw x",
            "p}",
            "",
        ] {
            assert!(!only_prints(script), "{script}");
        }
    }

    #[test]
    fn s3_amounts_are_numbers() {
        assert!(is_amount("-7") && is_amount("-10k") && is_amount("-0644"));
        assert!(!is_amount("-k") && !is_amount("-delete") && !is_amount("-7x"));
    }
}
