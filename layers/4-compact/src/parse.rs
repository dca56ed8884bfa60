//! From a model's answer to the summary in it.
//!
//! The draft in `<analysis>` is dropped. Tags are looked for at the start of
//! a line and outside code blocks first, because a summary may well speak of
//! tags; the last summary wins. An answer without one is asked for once more.

use crate::{clip, prompt};
use everfold_kernel::effect::AskShape;
use everfold_kernel::{Effect, Limits};

/// Which answer this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The first.
    First,
    /// The one after asking again.
    Again,
}

/// What an answer gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParsedSummary {
    Summary(String),
    /// None: ask once more, with [`again`].
    NeedsRetry,
    /// None again: the compaction failed.
    Failed,
}

const CUT: &str = "\n\n[The summary was longer than it may be and is cut here.]";

/// Takes the summary out of an answer. A reply that calls a tool instead has
/// no text, and so no summary.
#[must_use]
pub fn read(answer: &str, attempt: Attempt, limits: &Limits) -> ParsedSummary {
    match summary(answer) {
        Some(text) => {
            let cut = clip::tokens_by_line(text, limits.compact.summary_tokens, limits);
            let note = if cut.len() < text.len() { CUT } else { "" };
            ParsedSummary::Summary(format!("{cut}{note}"))
        }
        None if attempt == Attempt::First => ParsedSummary::NeedsRetry,
        None => ParsedSummary::Failed,
    }
}

/// The same question, asked once more. None for what is no question of this
/// layer's.
#[must_use]
pub fn again(effect: &Effect) -> Option<Effect> {
    let Effect::Ask(ask) = effect else { return None };
    let mut ask = ask.clone();
    match &mut ask.shape {
        AskShape::Fork { directive }
        | AskShape::Cached { directive }
        | AskShape::Conversation { directive, .. } => {
            *directive = prompt::again(directive);
        }
        AskShape::Form { .. } | AskShape::Side { .. } => return None,
    }
    Some(Effect::Ask(ask))
}

fn summary(answer: &str) -> Option<&str> {
    let text = after_analysis(answer);
    let starts = tags(text, "<summary>");
    let (_, from) = *starts.last()?;
    let body = text.get(from..)?;
    let ends = tags(body, "</summary>");
    let body = match ends.last().and_then(|(end, _)| body.get(..*end)) {
        Some(body) => body,
        // A closing tag in a code block that was never closed is better than none.
        None => body.rfind("</summary>").and_then(|end| body.get(..end)).unwrap_or(body),
    };
    let body = body.trim();
    (!body.is_empty()).then_some(body)
}

/// What follows the draft.
fn after_analysis(answer: &str) -> &str {
    let Some((before, draft)) = answer.split_once("<analysis>") else { return answer };
    if before.contains("<summary>") {
        return answer;
    }
    match draft.split_once("\n</analysis>").or_else(|| draft.split_once("</analysis>")) {
        Some((_, after)) => after,
        None => draft,
    }
}

/// Where a tag starts and ends: at the start of a line outside code blocks;
/// if there is none, anywhere outside code blocks.
fn tags(text: &str, tag: &str) -> Vec<(usize, usize)> {
    let mut at_start = Vec::new();
    let mut anywhere = Vec::new();
    let mut offset = 0;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let indent = line.len() - line.trim_start().len();
            for (at, _) in line.match_indices(tag) {
                let place = (offset + at, offset + at + tag.len());
                anywhere.push(place);
                // A closing tag may also end its line.
                let ends = tag.starts_with("</") && line.trim_end().ends_with(tag);
                if at == indent || ends {
                    at_start.push(place);
                }
            }
        }
        offset += line.len();
    }
    if at_start.is_empty() { anywhere } else { at_start }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(answer: &str) -> ParsedSummary {
        read(answer, Attempt::First, &Limits::default())
    }

    fn found(text: &str) -> ParsedSummary {
        ParsedSummary::Summary(text.into())
    }

    #[test]
    fn l4_4_the_draft_is_stripped() {
        assert_eq!(
            first("<analysis>hm <summary>no</summary></analysis>\n<summary>\nyes\n</summary>"),
            found("yes")
        );
        assert_eq!(first("<analysis>never closed\n<summary>yes</summary> bye"), found("yes"));
        assert_eq!(
            first("<analysis>\n```\nopen\n</analysis>\n<summary>yes</summary>"),
            found("yes")
        );
    }

    #[test]
    fn l4_4_odd_answers_still_give_their_summary() {
        assert_eq!(first("<summary>no closing tag"), found("no closing tag"));
        assert_eq!(first("<summary>one</summary>\n<summary>two</summary>"), found("two"));
        let code =
            "<summary>\nSee:\n```html\n<summary>x</summary>\n```\nend `<summary>` here\n</summary>";
        let ParsedSummary::Summary(text) = first(code) else { panic!() };
        assert!(text.starts_with("See:") && text.ends_with("here"), "{text}");
        assert_eq!(first("sure: <summary>inline</summary>"), found("inline"));
        assert_eq!(first("<summary>\n```\nnever closed\n</summary>"), found("```\nnever closed"));
    }

    #[test]
    fn l4_4_without_a_summary_it_is_asked_once_more_then_it_failed() {
        for answer in ["", "Let me look.", "<summary></summary>", "<summary>  \n</summary>"] {
            assert_eq!(first(answer), ParsedSummary::NeedsRetry, "{answer}");
            assert_eq!(read(answer, Attempt::Again, &Limits::default()), ParsedSummary::Failed);
        }
    }

    #[test]
    fn l4_4_a_long_summary_is_cut_to_the_cap() {
        let long = format!("<summary>{}</summary>", "word é\n".repeat(30_000));
        let ParsedSummary::Summary(text) = first(&long) else { panic!() };
        assert!(text.len() < 81_000 && text.ends_with("is cut here.]"), "{}", text.len());
    }
}
