//! A short form of a text, made only of its own sentences.

/// Headings that are shown.
const HEADINGS: usize = 30;

/// First sentences that are shown.
const SENTENCES: usize = 8;

/// Characters after which a sentence is cut.
const SENTENCE_CHARS: usize = 240;

/// Headings, first sentences and sizes of a file that Read gave.
pub(super) fn summarise(path: &str, text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(without_number).collect();
    let words: usize = lines.iter().map(|line| line.split_whitespace().count()).sum();
    let mut out = format!("{path}: {} lines, {words} words.", lines.len());
    let headings: Vec<&str> = lines.iter().copied().filter(|line| is_heading(line)).collect();
    push(&mut out, "Headings", &headings, HEADINGS);
    let sentences: Vec<String> =
        paragraphs(&lines).iter().map(|paragraph| first_sentence(paragraph)).collect();
    let sentences: Vec<&str> = sentences.iter().map(String::as_str).collect();
    push(&mut out, "First sentences", &sentences, SENTENCES);
    out.push_str("\n\nThese are the file's own words, picked by fixed rules.");
    out
}

fn push(out: &mut String, title: &str, items: &[&str], most: usize) {
    if items.is_empty() {
        return;
    }
    out.push_str("\n\n");
    out.push_str(title);
    out.push_str(":\n");
    for item in items.iter().take(most) {
        out.push_str("\n- ");
        out.push_str(item.trim_start_matches('#').trim());
    }
    if let Some(rest @ 1..) = items.len().checked_sub(most) {
        out.push_str("\n- and ");
        out.push_str(&rest.to_string());
        out.push_str(" more");
    }
}

/// A line without the number that Read puts before it.
fn without_number(line: &str) -> &str {
    let digits = line.trim_start();
    let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    if after.len() == digits.len() {
        return line;
    }
    after.strip_prefix('\t').or_else(|| after.strip_prefix('→')).unwrap_or(line)
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    (1..=6).contains(&level) && rest.starts_with(' ')
}

/// Runs of lines of prose: no headings, lists, tables or code.
fn paragraphs(lines: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    let mut in_code = false;
    for line in lines.iter().copied().chain([""]) {
        let trimmed = line.trim();
        let fence = trimmed.starts_with("```");
        in_code ^= fence;
        let prose = !in_code
            && !fence
            && !is_heading(line)
            && trimmed
                .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '*' | '`' | '('))
            && !trimmed.starts_with("* ");
        if prose {
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(trimmed);
        } else if !current.is_empty() {
            found.push(std::mem::take(&mut current));
        }
    }
    found
}

fn first_sentence(paragraph: &str) -> String {
    let mut end = paragraph.len();
    for (at, _) in paragraph.match_indices(['.', '!', '?']) {
        let after = paragraph.get(at + 1..).unwrap_or_default();
        if after.is_empty() || after.starts_with(char::is_whitespace) {
            end = at + 1;
            break;
        }
    }
    let sentence = paragraph.get(..end).unwrap_or(paragraph);
    let mut chars = sentence.chars();
    let mut short: String = chars.by_ref().take(SENTENCE_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q8_a_summary_is_made_of_the_files_own_words() {
        let text = "     1\t# Title\n     2\t\n     3\tIt is v1.2 of a thing. More of it.\n     4\tstill.\n     5\t\n     6\t## Use\n     7\t```\n     8\tcode here.\n     9\t```\n    10\tRun it";
        let shown = summarise("a.md", text);
        assert!(shown.starts_with("a.md: 10 lines, "), "{shown}");
        assert!(shown.contains("- Title\n- Use"), "{shown}");
        assert!(shown.contains("- It is v1.2 of a thing.\n- Run it"), "{shown}");
        assert!(!shown.contains("code here"));
    }
}
