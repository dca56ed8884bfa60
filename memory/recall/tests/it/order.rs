//! What moves the order, and what does not.

use everfold_memory_recall::{Document, Tuning, rank};
use jiff::Timestamp;
use jiff::civil::date;
use proptest::prelude::*;

fn order(query: &str, documents: &[Document<'_>]) -> Vec<usize> {
    let now = Timestamp::from_second(1_750_000_000).unwrap();
    let ranking = rank(query, documents, Some(now), &Tuning::default());
    ranking.hits.iter().map(|hit| hit.index).collect()
}

fn body(body: &str) -> Document<'_> {
    Document { body, ..Document::default() }
}

#[test]
fn r8_words_match_by_their_stem_in_any_case() {
    let texts = [body("nothing here"), body("He was DYING to test the databases")];
    assert_eq!(order("database", &texts), [1]);
    assert_eq!(order("testing", &texts), [1]);
    assert_eq!(order("die", &texts), [1]);
    assert_eq!(order("naïve", &[body("a NAÏVE plan")]), [0]);
    assert_eq!(order("東京 旅行", &[body("来週東京へ行く")]), [0]);
}

#[test]
fn r8_name_and_description_count_more_than_the_body() {
    let texts = [
        body("a note about caching and more"),
        Document { description: "a note about caching and more", ..Document::default() },
        Document { name: "a note about caching and more", ..Document::default() },
    ];
    assert_eq!(order("caching", &texts), [2, 1, 0]);
}

#[test]
fn l5_29_age_and_use_break_ties_and_do_not_beat_a_better_match() {
    let at = |days: i64| Timestamp::from_second(1_750_000_000 - days * 86_400).ok();
    let old = Document { modified: at(300), ..body("cache keys") };
    let new = Document { modified: at(1), ..body("cache keys") };
    let used = Document { modified: at(300), used: 40, ..body("cache keys") };
    let better = Document { modified: at(300), ..body("cache keys expire") };
    assert_eq!(order("cache keys", &[old, new]), [1, 0]);
    assert_eq!(order("cache keys", &[old, used]), [1, 0]);
    assert_eq!(order("when do cache keys expire", &[new, better]), [1, 0]);
    assert!(order("unrelated", &[new, used]).is_empty());
}

#[test]
fn r8_an_answer_is_found_by_the_question_before_it() {
    let turn = |text, group| Document { group: Some(group), ..body(text) };
    let talk = [
        turn("Good morning!", 1),
        turn("What did you paint at the class?", 1),
        turn("A sunset, for my sister.", 1),
        turn("See you", 2),
    ];
    assert_eq!(order("painting class", &talk), [1, 2, 0]);
}

#[test]
fn r8_a_named_author_and_month_come_first() {
    let by = |author, month| Document {
        author: Some(author),
        date: Some(date(2024, month, 3)),
        ..body("we went hiking")
    };
    let talk = [by("Ana", 4), by("Ben", 4), by("Ana", 6)];
    assert_eq!(order("where did Ben go hiking", &talk).first(), Some(&1));
    assert_eq!(order("hiking in June 2024", &talk).first(), Some(&2));
    assert_eq!(order("hiking in June 2023", &talk).first(), Some(&0));
}

#[test]
fn r9_a_ranking_says_by_which_words() {
    let ranking =
        rank("deploying to staging", &[body("we deploy at noon")], None, &Tuning::default());
    assert_eq!(ranking.matched_words(&ranking.hits[0]), ["deploying"]);
    assert!(ranking.hits[0].coverage > 0.0 && ranking.hits[0].coverage < 1.0);
}

proptest! {
    #[test]
    fn r8_ranking_is_total_finite_and_the_same_each_time(
        query in "\\PC{0,40}", texts in prop::collection::vec("[a-zA-Zé ?]{0,40}", 0..12),
    ) {
        let documents: Vec<_> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| Document { group: Some(u32::try_from(at).unwrap() / 3), ..body(text) })
            .collect();
        let ranking = rank(&query, &documents, None, &Tuning::default());
        prop_assert_eq!(&ranking, &rank(&query, &documents, None, &Tuning::default()));
        for pair in ranking.hits.windows(2) {
            prop_assert!(pair[0].score >= pair[1].score);
        }
        for hit in &ranking.hits {
            prop_assert!(hit.score.is_finite() && hit.score > 0.0 && hit.coverage <= 1.0 + 1e-9);
        }
    }
}
