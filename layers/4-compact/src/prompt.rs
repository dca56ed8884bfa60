//! Filling the prompts. A hole without a value is a defect, not an empty text.

use crate::error::Error;
use crate::plan::Guidance;
use minijinja::{Environment, UndefinedBehavior, context};

const SUMMARY: &str = include_str!("prompt.md");
const AGAIN: &str = include_str!("again.md");
const SPAN: &str = include_str!("span.md");

/// The directive for a summary.
pub(crate) fn summary(part: &str, guidance: Guidance<'_>) -> Result<String, Error> {
    let text = |hole: Option<&str>| hole.unwrap_or_default().trim().to_owned();
    let person = text(guidance.person);
    let standing = text(guidance.standing);
    fill("prompt.md", SUMMARY, &context! { part, person, standing })
}

/// What is said when an answer had no summary.
pub(crate) fn again(first: &str) -> String {
    format!("{first}\n\n{}", AGAIN.trim())
}

/// The question for one span of a conversation (L4.13).
pub(crate) fn span(span: &str, words: u64) -> Result<String, Error> {
    fill("span.md", SPAN, &context! { span, words })
}

fn fill(name: &'static str, text: &str, values: &minijinja::Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
        .render_str(text, values)
        .map(|text| text.trim().to_owned())
        .map_err(|source| Error::Prompt { name, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_4_the_prompt_has_nine_sections_and_every_hole() {
        let guidance = Guidance { person: Some("the API names"), standing: Some("keep SQL") };
        insta::assert_snapshot!(summary("Sum up only the start.", guidance).unwrap());
        let plain = summary("", Guidance::default()).unwrap();
        assert!(!plain.contains("keep in mind") && !plain.contains("Standing"));
        assert_eq!((1..=9).filter(|n| plain.contains(&format!("\n{n}. "))).count(), 9);
    }
}
