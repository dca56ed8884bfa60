//! What the checks need of a Markdown file: links, code spans, headings, tables.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeMap;

/// A text and the line that it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
}

#[derive(Default)]
pub(crate) struct Document {
    /// Where links and pictures point.
    pub(crate) links: Vec<Spot>,
    /// Code in running text; fenced blocks are left out.
    pub(crate) spans: Vec<Spot>,
    /// The anchors of the headings.
    pub(crate) anchors: Vec<String>,
}

impl Document {
    pub(crate) fn parse(text: &str) -> Self {
        let mut document = Self::default();
        let mut heading: Option<String> = None;
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            let spot =
                |found: &str| Spot { line: line_at(text, range.start), text: found.to_owned() };
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(spot(&dest_url));
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let slug = slug(&heading.take().unwrap_or_default());
                    let count = seen.entry(slug.clone()).or_default();
                    document.anchors.push(match *count {
                        0 => slug,
                        n => format!("{slug}-{n}"),
                    });
                    *count += 1;
                }
                Event::Code(code) => {
                    document.spans.push(spot(&code));
                    if let Some(heading) = &mut heading {
                        heading.push_str(&code);
                    }
                }
                Event::Text(words) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                _ => {}
            }
        }
        document
    }
}

/// The anchor that Git hosts give a heading.
fn slug(heading: &str) -> String {
    heading
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.get(..offset).unwrap_or_default().matches('\n').count()
}

/// One row of a table.
pub(crate) struct Row {
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) cells: Vec<String>,
}

impl Row {
    /// One cell; empty where the row is short.
    pub(crate) fn cell(&self, index: usize) -> &str {
        self.cells.get(index).map_or("", String::as_str)
    }
}

/// The rows of every table whose header starts with these words.
pub(crate) fn table_rows(text: &str, header: &[&str]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((_, line)) = lines.next() {
        let Some(cells) = cells(line) else { continue };
        let wanted = cells.len() >= header.len()
            && cells.iter().zip(header).all(|(cell, name)| cell == name);
        while let Some((index, line)) = lines.next_if(|(_, line)| line.trim().starts_with('|')) {
            let cells = self::cells(line).unwrap_or_default();
            let rule = cells.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c)));
            if wanted && !rule {
                rows.push(Row { line: index + 1, cells });
            }
        }
    }
    rows
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?;
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

/// The code spans of one line.
pub(crate) fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_spans_and_anchors_with_their_lines() {
        let document = Document::parse(
            "# The `one` idea!\n\nSee [x](a.md#b) and `core/x`.\n\n```\n`no`\n```\n\n## Same\n## Same\n",
        );
        assert_eq!(document.anchors, ["the-one-idea", "same", "same-1"]);
        let links: Vec<_> = document.links.iter().map(|s| (s.line, s.text.as_str())).collect();
        assert_eq!(links, [(3, "a.md#b")]);
        let spans: Vec<_> = document.spans.iter().map(|s| (s.line, s.text.as_str())).collect();
        assert_eq!(spans, [(1, "one"), (3, "core/x")]);
    }

    #[test]
    fn only_the_tables_with_the_header_are_read() {
        let text = "| id | state |\n|---|---|\n| T1 | done |\n\n| a | b |\n|--|--|\n| x | y |\n";
        let rows = table_rows(text, &["id", "state"]);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].line, rows[0].cell(0), rows[0].cell(9)), (3, "T1", ""));
        assert_eq!(code_spans("a `b` c `d`").collect::<Vec<_>>(), ["b", "d"]);
    }
}
