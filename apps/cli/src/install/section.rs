//! A part of ours in an instruction file of another program, between two marks.

use std::ops::Range;

const START: &str = "<!-- everfold -->\n";
const END: &str = "<!-- /everfold -->\n";

/// The text with the section, at its end or where it stands.
pub(super) fn put(text: &str, section: &str) -> String {
    let own = format!("{START}{}\n{END}", section.trim_end());
    if let Some(there) = find(text) {
        let mut changed = text.to_owned();
        changed.replace_range(there, &own);
        return changed;
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let gap = if text.is_empty() { "" } else { "\n" };
    format!("{text}{end}{gap}{own}")
}

/// The text without the section.
pub(super) fn take(text: &str) -> String {
    let Some(there) = find(text) else { return text.to_owned() };
    let mut rest = text.to_owned();
    let is_last = there.end == text.len();
    rest.replace_range(there, "");
    if is_last && rest.ends_with("\n\n") {
        rest.pop();
    }
    rest
}

fn find(text: &str) -> Option<Range<usize>> {
    let start = text.find(START.trim_end())?;
    let rest = text.get(start..)?;
    let end = start + rest.find(END.trim_end())? + END.trim_end().len();
    let newline = usize::from(text.get(end..)?.starts_with('\n'));
    Some(start..end + newline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x2_a_section_comes_out_as_it_went_in() {
        for text in ["", "# Mine\n", "# Mine\n\nrules\n\n"] {
            let with = put(text, "Use it.");
            assert!(with.ends_with("<!-- everfold -->\nUse it.\n<!-- /everfold -->\n"));
            assert_eq!(put(&with, "Use it."), with, "twice is once");
            assert_eq!(take(&with), text);
        }
        let between = put("a\n", "x") + "b\n";
        assert_eq!(put(&between, "y").replace('y', "x"), between);
        assert_eq!(take(&between), "a\n\nb\n");
    }
}
