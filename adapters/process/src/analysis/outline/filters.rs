//! What programs that go over lines carry out, or hand on to others.

use super::wrapper::{Carried, is_shell};
use everfold_kernel::ports::CallWord;

/// Lines that a program which goes over them carries out, and what it pipes into
/// another: `sed 2e x`, `awk '{print|"sh"}' x`, `sqlite3 x '.once |sh y'`.
pub(super) fn handed_on(name: &str, args: &[CallWord], carried: &mut Vec<Carried>) {
    let scripts = args.iter().filter(|word| !word.text.starts_with('-') || word.text.contains(' '));
    for word in scripts {
        if name.ends_with("sed") && carries_out_lines(&word.text) {
            carried.push(Carried::Unknown("it carries out lines that it goes over"));
        }
        let is_mark = |c: char| c.is_whitespace() || "&'\"".contains(c);
        for (at, _) in word.text.match_indices('|').filter(|_| !name.ends_with("sed")) {
            let before = word.text.get(..at).and_then(|start| start.chars().next_back());
            let starts = before.is_none_or(|c| c.is_whitespace() || "'\"".contains(c));
            // In SQL two of them join texts.
            let joins = word.text.get(at + 1..).is_some_and(|rest| rest.starts_with('|'));
            if !name.ends_with("awk") && (!starts || joins || before == Some('|')) {
                continue;
            }
            let rest = word.text.get(at + 1..).unwrap_or_default();
            let quoted = rest.trim_start_matches([' ', '&']).starts_with(['"', '\'']);
            let command: String = rest
                .trim_start_matches(is_mark)
                .chars()
                .take_while(|c| !"'\"".contains(*c))
                .collect();
            let first = command.split_whitespace().next().unwrap_or_default();
            if is_shell(first) && command.trim() == first {
                carried.push(Carried::Unknown("it hands lines on to a shell"));
            } else if !command.is_empty() && (quoted || !name.ends_with("awk")) {
                carried.push(Carried::Script(CallWord { text: command, kind: word.kind }));
            }
        }
    }
}

/// Whether a script of `sed` has the command `e`, or `e` behind a replacement.
fn carries_out_lines(script: &str) -> bool {
    script.match_indices('e').any(|(at, _)| {
        let next = script.get(at + 1..).and_then(|rest| rest.chars().next());
        let before = script.get(..at).unwrap_or_default();
        let before = before.trim_end_matches(|c: char| "gpiImM".contains(c) || c.is_ascii_digit());
        let last = before.chars().next_back();
        next.is_none_or(|c| ";}\n".contains(c))
            && last.is_none_or(|c| !c.is_alphanumeric() && !"_.-*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_scripts_of_sed_that_carry_out_lines_are_told_from_others() {
        for script in ["e", "2e", "2{e\n}", "s/x/y/e", "s/x/y/ge", "$!e", "/rm/e", "2d;e"] {
            assert!(carries_out_lines(script), "{script}");
        }
        for script in
            ["s/e/f/", "s/a/the/", "/some/p", "1,5p", "s/x/e/g", "src/one", "a-e", "file.e"]
        {
            assert!(!carries_out_lines(script), "{script}");
        }
    }
}
