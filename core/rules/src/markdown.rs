//! What has a meaning in an instruction file's Markdown: imports, comments and
//! the section for the summariser. Code is left alone by all of them (I3).

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::ops::Range;

/// The text without block HTML comments. One that does not end stays.
pub(crate) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for block in html_blocks(text) {
        let Some(html) = text.get(block.clone()) else { continue };
        let mut at = block.start + (html.len() - html.trim_start().len());
        // A block holds several comments where no line of text parts them.
        while let Some(rest) = text.get(at..block.end).filter(|rest| rest.starts_with("<!--")) {
            let Some(end) = rest.find("-->").map(|end| at + end + "-->".len()) else { break };
            out.push_str(text.get(from..at).unwrap_or_default());
            from = end;
            let after = text.get(end..block.end).unwrap_or_default();
            at = end + (after.len() - after.trim_start().len());
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

fn html_blocks(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    let blocks = events.filter(|(event, _)| matches!(event, Event::Start(Tag::HtmlBlock)));
    blocks.map(|(_, range)| range).collect()
}

/// The paths that a text imports, in order, as they are written.
pub(crate) fn imports(text: &str) -> Vec<String> {
    let code = code(text);
    let in_code = |at: usize| {
        let next = code.partition_point(|range| range.end <= at);
        code.get(next).is_some_and(|range| range.contains(&at))
    };
    let mut found: Vec<String> = Vec::new();
    let mut known = BTreeSet::new();
    let mut before = None;
    for (at, sign) in text.char_indices() {
        let starts =
            before.is_none_or(|sign: char| sign.is_whitespace() || "([*_\"'".contains(sign));
        before = Some(sign);
        if sign != '@' || !starts || in_code(at) {
            continue;
        }
        if let Some(path) = text.get(at + 1..).and_then(path_at)
            && known.insert(path.clone())
        {
            found.push(path);
        }
    }
    found
}

/// The path at the start of a text: up to a space that is not escaped, without
/// the punctuation of the sentence around it.
fn path_at(text: &str) -> Option<String> {
    let mut path = String::new();
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if signs.peek() == Some(&' ') => path.extend(signs.next()),
            sign if sign.is_whitespace() || sign.is_control() => break,
            '@' | '`' | '<' | '>' => break,
            sign => path.push(sign),
        }
    }
    let path = path.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '*', '_']);
    let first = path.chars().next()?;
    let is_path = first.is_alphanumeric() || matches!(first, '.' | '/' | '~' | '_' | '-');
    is_path.then(|| path.to_owned())
}

/// Where code is: blocks and spans, in order.
fn code(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new_ext(text, Options::empty()).into_offset_iter();
    let ranges = events.filter_map(|(event, range)| {
        matches!(event, Event::Start(Tag::CodeBlock(_)) | Event::Code(_)).then_some(range)
    });
    ranges.collect()
}

/// What a text says under the heading `Compact instructions`, up to the next
/// heading of its level or above.
///
/// ```
/// let text = "# Style\nshort\n\n# Compact instructions\nkeep the plan\n\n# Other\n";
/// assert_eq!(everfold_rules::compact_instructions(text).as_deref(), Some("keep the plan"));
/// ```
#[must_use]
pub fn compact_instructions(text: &str) -> Option<String> {
    let mut title = String::new();
    let mut heading = None;
    let mut section = None;
    for (event, range) in Parser::new_ext(text, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                if let Some((start, of)) = section
                    && level <= of
                {
                    return filled(text.get(start..range.start)?);
                }
                title.clear();
                heading = Some(level);
            }
            Event::Text(part) | Event::Code(part) if heading.is_some() => title.push_str(&part),
            Event::End(TagEnd::Heading(level)) => {
                heading = None;
                if section.is_none() && title.trim().eq_ignore_ascii_case("compact instructions") {
                    section = Some((range.end, level));
                }
            }
            _ => {}
        }
    }
    filled(text.get(section?.0..)?)
}

fn filled(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn i3_imports_are_found_outside_code() {
        let text = "See @README.md, @./docs/a.md and (@~/notes/b.md).\n\n@/abs/c.md\n\n\
            - @docs/my\\ file.md\n\nmail a@b.com, `@span.md`\n\n```\n@fence.md\n```\n\n    @indented.md\n\n~~~\n@tilde.md\n~~~\n";
        assert_eq!(
            imports(text),
            ["README.md", "./docs/a.md", "~/notes/b.md", "/abs/c.md", "docs/my file.md"]
        );
        assert!(imports("@ @@ @! a@b").is_empty());
    }

    #[test]
    fn i3_block_comments_go_and_those_in_code_stay() {
        assert_eq!(without_comments("a\n\n<!-- note\nmore -->\n\nb"), "a\n\n\n\nb");
        assert_eq!(without_comments("<!-- a --> <!-- b -->\ntext"), " \ntext");
        assert_eq!(without_comments("a <!-- inline --> b"), "a <!-- inline --> b");
        let code = "```html\n<!-- kept -->\n```\n";
        assert_eq!(without_comments(code), code);
        assert_eq!(without_comments("<!-- open\ntext"), "<!-- open\ntext");
    }

    #[test]
    fn l4_16_compact_instructions_end_at_the_next_heading_of_their_level() {
        let text = "# A\n\n## compact Instructions\n\nKeep `x`.\n\n### more\nyes\n\n## B\nno";
        assert_eq!(compact_instructions(text).unwrap(), "Keep `x`.\n\n### more\nyes");
        assert_eq!(compact_instructions("# Compact instructions\n\n"), None);
        assert_eq!(compact_instructions("```\n# Compact instructions\nx\n```"), None);
    }

    proptest! {
        #[test]
        fn i3_nothing_inside_a_fence_is_an_import(code in "[a-z@/. \n]{0,60}") {
            let text = format!("```\n{code}\n```\n");
            prop_assert!(imports(&text).is_empty());
        }

        #[test]
        fn i3_any_text_is_read(text in "([a-z@ `#\n]|<!--|-->|```\n|\\PC){0,30}") {
            prop_assert!(without_comments(&text).len() <= text.len());
            let _ = imports(&text);
            let _ = compact_instructions(&text);
        }
    }
}
