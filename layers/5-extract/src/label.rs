//! A review by a weak model (Q18): it is shown the person's sentences one at a
//! time, and says of each what it is. The memory is made of the person's words.
//!
//! Asked for memories in its own words, a model of 1.5 billion parameters
//! rewrites what it read, and the gate refuses that rightly. Shown all sentences
//! at once, it labels them by their place. One sentence, one word of answer and
//! examples as a dialogue are what it does well; the server's cache has read
//! all but the sentence before.

use crate::durability::is_telling;
use crate::plan::ReviewSpan;
use everfold_kernel::limits::ExtractLimits;
use everfold_kernel::{Block, Role};
use everfold_memory_judge::wish::{self, Wish, WishRules};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The field of the answer.
const KIND: &str = "kind";
/// What is not to be kept.
const PASSING: &str = "passing";
/// What a sentence can be.
const KINDS: [&str; 5] = ["user", "feedback", "project", "reference", PASSING];
/// Most tokens of an answer.
pub const ANSWER_TOKENS: u64 = 24;

/// What the model is told about the task.
#[must_use]
pub fn system_prompt() -> &'static str {
    include_str!("label.md").trim_end()
}

/// The form of its answer.
#[must_use]
pub fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": {KIND: {"type": "string", "enum": KINDS}},
        "required": [KIND],
        "additionalProperties": false,
    })
}

/// A sentence to ask about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelQuestion {
    /// Its place among what could be kept.
    pub place: usize,
    pub sentence: String,
}

/// What is asked about a span: the person's sentences that could last. What is
/// the same but for its numbers is a list, and no statement; of more than the
/// limit, those at the start and at the end are asked about, where people say
/// what matters.
#[must_use]
pub fn questions(found: &ReviewSpan, limits: &ExtractLimits) -> Vec<LabelQuestion> {
    let asked_for = asked_for(found, limits);
    let is_open = |sentence: &str| {
        is_telling(sentence) && !asked_for.iter().any(|wish| wish.body.contains(sentence))
    };
    let offers = wish::offers(&found.testimony, limits).into_iter().enumerate();
    let could_last = offers.filter(|(_, sentence)| is_open(sentence));
    let mut forms = BTreeSet::new();
    let new = could_last.filter(|(_, sentence)| forms.insert(form(sentence)));
    let mut questions: Vec<LabelQuestion> =
        new.map(|(place, sentence)| LabelQuestion { place, sentence }).collect();
    let most = limits.picked_sentences;
    if questions.len() > most {
        let last = most / 2;
        questions.drain(most - last..questions.len() - last);
    }
    questions
}

/// A sentence without its numbers.
fn form(sentence: &str) -> String {
    sentence.chars().filter(|sign| sign.is_alphabetic()).collect()
}

/// The examples as a dialogue, and the sentence at its end.
#[must_use]
pub fn dialogue(sentence: &str) -> Vec<(Role, Vec<Block>)> {
    let examples = include_str!("label_examples.md").lines();
    let pairs = examples.filter_map(|line| line.strip_prefix("- ")?.split_once(" → "));
    let turns = pairs.flat_map(|(said, kind)| {
        let answer = json!({KIND: kind}).to_string();
        [(Role::User, vec![Block::text(said)]), (Role::Assistant, vec![Block::text(&answer)])]
    });
    turns.chain([(Role::User, vec![Block::text(sentence)])]).collect()
}

/// Whether an answer picks its sentence; none where it is no answer.
#[must_use]
pub fn is_picked(answer: &str) -> Option<bool> {
    let start = answer.find('{')?;
    let mut values = serde_json::Deserializer::from_str(answer.get(start..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let kind = value.get(KIND)?.as_str()?;
    KINDS.contains(&kind).then_some(kind != PASSING)
}

/// What the person asked to keep in so many words, and the memories that the
/// sentences picked become.
#[must_use]
pub fn wishes(found: &ReviewSpan, picks: &BTreeSet<usize>, limits: &ExtractLimits) -> Vec<Wish> {
    let mut wishes = asked_for(found, limits);
    wishes.extend(wish::picked(&found.testimony, picks, limits));
    wishes
}

fn asked_for(found: &ReviewSpan, limits: &ExtractLimits) -> Vec<Wish> {
    wish::wishes(&found.testimony, WishRules::ExplicitOnly, limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everfold_kernel::Testimony;
    use everfold_memory_judge::wish::Certainty;

    fn span(text: &str) -> ReviewSpan {
        ReviewSpan { testimony: Testimony::typed(text, "r".into()), ..ReviewSpan::default() }
    }

    #[test]
    fn q18_what_could_last_is_asked_about_and_nothing_else() {
        let limits = ExtractLimits::default();
        let found = span(
            "The archive is read by the auditors, too. What does it hold? Fix the typo in it. \
             Just this once skip the tests. Remember that we deploy on Fridays.",
        );
        let asked: Vec<String> =
            questions(&found, &limits).into_iter().map(|question| question.sentence).collect();
        assert_eq!(asked, ["The archive is read by the auditors, too."]);
        let few = ExtractLimits { picked_sentences: 3, ..limits };
        let found = span(
            "We ship on Mondays. The pump of hall 1 runs. The pump of hall 2 runs. Ada owns billing. \
             Kai owns search. The archive is read by auditors.",
        );
        let asked: Vec<usize> = questions(&found, &few).iter().map(|one| one.place).collect();
        assert_eq!(asked, [0, 1, 5]);
    }

    #[test]
    fn q18_the_examples_are_a_dialogue_that_ends_with_the_sentence() {
        let turns = dialogue("we ship on Mondays");
        assert_eq!(turns.len() % 2, 1);
        assert!(turns.len() > 20, "{}", turns.len());
        assert_eq!(turns.last(), Some(&(Role::User, vec![Block::text("we ship on Mondays")])));
        for (role, blocks) in &turns {
            let text = blocks[0].plain_text();
            assert_eq!(*role == Role::Assistant, is_picked(&text).is_some(), "{text}");
        }
    }

    #[test]
    fn q18_an_answer_picks_or_not_or_is_none() {
        assert_eq!(is_picked(r#"{"kind":"project"}"#), Some(true));
        assert_eq!(is_picked("Sure: {\"kind\": \"passing\"}"), Some(false));
        for nothing in ["", "project", r#"{"kind":"memory"}"#, r#"{"kind":3}"#, "{"] {
            assert_eq!(is_picked(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn q18_a_memory_is_made_of_the_persons_words() {
        let limits = ExtractLimits::default();
        let found = span("The archive is read by the auditors. They sit in Graz. It is slow.");
        let bodies = |picks: &[usize]| -> Vec<String> {
            let picks = picks.iter().copied().collect();
            wishes(&found, &picks, &limits).into_iter().map(|wish| wish.body).collect()
        };
        assert_eq!(bodies(&[0, 1]), ["The archive is read by the auditors. They sit in Graz"]);
        assert_eq!(bodies(&[1]), ["They sit in Graz"]);
        assert_eq!(bodies(&[0, 2]), ["The archive is read by the auditors", "It is slow"]);
        assert_eq!(bodies(&[]), Vec::<String>::new());
        // What was asked for is kept whatever was picked beside it.
        let found =
            span("The archive is read by the auditors. Remember that we deploy on Fridays.");
        let bodies: Vec<String> =
            wishes(&found, &[0].into(), &limits).into_iter().map(|wish| wish.body).collect();
        assert_eq!(bodies, ["We deploy on Fridays", "The archive is read by the auditors"]);
        // What a rule is unsure of is sure where a part of it was picked.
        let found = span("Stop adding comments that repeat the code. Only comment the why. :)");
        let wishes = |picks: &[usize]| wishes(&found, &picks.iter().copied().collect(), &limits);
        let (by_rule, by_both) = (wishes(&[]), wishes(&[1]));
        assert_eq!(by_rule[0].certainty, Certainty::Unsure);
        assert_eq!(by_both[0].certainty, Certainty::Sure);
        assert_eq!(by_both[0].body, by_rule[0].body);
    }
}
