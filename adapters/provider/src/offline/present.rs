//! A tool's result, as an answer.

use super::request::ToolOutput;
use super::rules::Wish;
use super::summary;

/// What can be asked.
pub(super) const HELP: &str = include_str!("help.md");

/// The answer to a wish to remember.
pub(super) const REMEMBER: &str = include_str!("remember.md");

/// The answer to everything else.
pub(super) const OTHER: &str = include_str!("other.md");

/// Lines that are shown of a result.
const SCREEN_LINES: usize = 200;

/// Characters that are shown of a result.
const SCREEN_CHARS: usize = 20_000;

/// Answers with what a tool gave.
pub(super) fn result(wish: &Wish, result: &ToolOutput) -> String {
    if result.failed {
        return format!("That did not work:\n\n{}", fenced(&result.text));
    }
    if result.text.trim().is_empty() {
        return empty(wish).to_owned();
    }
    match wish {
        Wish::Summary(path) => summary::summarise(path, &result.text),
        Wish::Read(path) => format!("{path}:\n\n{}", fenced(&result.text)),
        Wish::Search { pattern, .. } => {
            format!("Lines that match {pattern}:\n\n{}", fenced(&result.text))
        }
        Wish::List { .. } => format!("Files, newest first:\n\n{}", fenced(&result.text)),
        Wish::Run(_) => format!("It printed:\n\n{}", fenced(&result.text)),
        Wish::Help | Wish::Remember | Wish::Other => {
            format!("The tool returned:\n\n{}", fenced(&result.text))
        }
    }
}

fn empty(wish: &Wish) -> &'static str {
    match wish {
        Wish::Read(_) | Wish::Summary(_) => "The file is empty.",
        Wish::Search { .. } => "No matches.",
        Wish::List { .. } => "No such files.",
        Wish::Run(_) => "It ran and printed nothing.",
        Wish::Help | Wish::Remember | Wish::Other => "The tool returned nothing.",
    }
}

/// A text between fences, cut to a screenful with a note of what was cut.
fn fenced(text: &str) -> String {
    let text = text.trim_end();
    let mut shown = String::new();
    let mut lines = 0;
    for line in text.lines().take(SCREEN_LINES) {
        if shown.len() + line.len() > SCREEN_CHARS {
            break;
        }
        shown.push_str(line);
        shown.push('\n');
        lines += 1;
    }
    if lines == 0 {
        shown = text.chars().take(SCREEN_CHARS).collect();
        shown.push('\n');
    }
    let fence = fence_for(text);
    let note = match text.lines().count() - lines {
        0 => String::new(),
        rest if lines == 0 => {
            format!("\n\nIt is cut after {SCREEN_CHARS} characters of {rest} long lines.")
        }
        rest => format!("\n\n{rest} more lines are not shown."),
    };
    format!("{fence}\n{shown}{fence}{note}")
}

/// A fence that does not occur in the text.
fn fence_for(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    fence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str, failed: bool) -> ToolOutput {
        ToolOutput { text: text.into(), failed }
    }

    #[test]
    fn q8_a_long_result_is_cut_and_says_so() {
        let text = "line\n".repeat(500);
        let shown = result(&Wish::Run("x".into()), &output(&text, false));
        assert!(shown.ends_with("300 more lines are not shown."), "{shown}");
        let shown = result(&Wish::Run("x".into()), &output(&"é".repeat(90_000), false));
        assert!(shown.chars().count() < 21_000);
        assert!(shown.contains("cut after"));
    }

    #[test]
    fn q8_failures_and_nothing_are_told() {
        let wish = Wish::Read("a".into());
        let shown = result(&wish, &output("/a does not exist", true));
        assert!(shown.starts_with("That did not work") && shown.contains("does not exist"));
        assert_eq!(result(&wish, &output(" \n", false)), "The file is empty.");
        let shown = result(&wish, &output("```\ncode\n```", false));
        assert!(shown.contains("````\n```"));
    }
}
