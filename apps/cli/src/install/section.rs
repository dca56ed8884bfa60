//! A part of ours in an instruction file of another program, between two marks.

use std::ops::Range;

const START: &str = "<!-- everfold -->";
const END: &str = "<!-- /everfold -->";

/// The text with the section, at its end or where it stands, with the ends of
/// lines that the file has.
pub(super) fn put(text: &str, section: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let own = format!("{START}\n{}\n{END}\n", section.trim_end()).replace('\n', newline);
    if let Some(there) = find(text) {
        let mut changed = text.to_owned();
        changed.replace_range(there, &own);
        return changed;
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let gap = if text.is_empty() { "" } else { newline };
    format!("{text}{end}{gap}{own}")
}

/// The text without the section.
pub(super) fn take(text: &str) -> String {
    let Some(there) = find(text) else { return text.to_owned() };
    let mut rest = text.to_owned();
    let is_last = there.end == text.len();
    rest.replace_range(there, "");
    for newline in ["\r\n", "\n"] {
        if is_last && rest.ends_with(&newline.repeat(2)) {
            rest.truncate(rest.len() - newline.len());
            break;
        }
    }
    rest
}

fn find(text: &str) -> Option<Range<usize>> {
    let start = text.find(START)?;
    let rest = text.get(start..)?;
    let end = start + rest.find(END)? + END.len();
    let behind = text.get(end..)?;
    let newline = ["\r\n", "\n"].into_iter().find(|newline| behind.starts_with(newline));
    Some(start..end + newline.map_or(0, str::len))
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
        let windows = "# Mine\r\n\r\nrules\r\n";
        let with = put(windows, "Use it.");
        assert!(with.ends_with("<!-- everfold -->\r\nUse it.\r\n<!-- /everfold -->\r\n"));
        assert_eq!((put(&with, "Use it."), take(&with)), (with.clone(), windows.to_owned()));
        let between = put("a\n", "x") + "b\n";
        assert_eq!(put(&between, "y").replace('y', "x"), between);
        assert_eq!(take(&between), "a\n\nb\n");
    }
}
