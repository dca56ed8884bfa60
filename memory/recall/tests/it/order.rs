//! What moves the order, and what does not.

use everfold_memory_recall::{Document, Tuning, rank};
use jiff::Timestamp;
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
fn r12_a_short_text_is_found_among_long_ones_that_repeat_it() {
    let talk: Vec<String> = (0..400).map(|number| format!("word{number}")).collect();
    let talk = talk.join(" ");
    let long = format!("{talk} cache keys {talk} cache keys");
    let texts = [body(&long), body("Cache keys expire at noon."), body(&long)];
    assert_eq!(order("cache keys", &texts).first(), Some(&1));
}

#[test]
fn r13_a_name_is_found_however_it_is_joined() {
    let texts = [body("nothing here"), body("see `ledger_entries` for it")];
    for query in ["LedgerEntries", "ledger-entries", "ledger entries", "ledger_entries.rs"] {
        assert_eq!(order(query, &texts), [1], "{query}");
    }
}

#[test]
fn r8_a_slip_of_the_keyboard_is_mended() {
    let texts = [body("how we write a migration"), body("nothing here")];
    for query in ["migratoin", "migrtion", "miggration", "migrarion"] {
        assert_eq!(order(query, &texts), [0], "{query}");
    }
    // A word of its own is no slip.
    assert!(order("ship", &[body("the shop")]).is_empty());
}

#[test]
fn r15_other_languages_are_cut_and_stemmed_by_their_own_rules() {
    let texts = [
        body("배포는 금요일에 한다"),
        body("Die Rückerstattungen sind nur bis zum Monatsende möglich und werden dann gebucht"),
        body("我们在星期五部署服务"),
        body("nothing here"),
    ];
    assert_eq!(order("배포를 언제", &texts), [0]);
    assert_eq!(order("Rückerstattung", &texts), [1]);
    assert_eq!(order("部署", &texts), [2]);
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
            .map(|text| body(text))
            .collect();
        let ranking = rank(query.as_str(), &documents, None, &Tuning::default());
        prop_assert_eq!(&ranking, &rank(query.as_str(), &documents, None, &Tuning::default()));
        for pair in ranking.hits.windows(2) {
            prop_assert!(pair[0].score >= pair[1].score);
        }
        for hit in &ranking.hits {
            prop_assert!(hit.score.is_finite() && hit.score > 0.0 && hit.coverage <= 1.0 + 1e-9);
        }
    }
}

#[test]
fn r15_a_message_in_another_language_finds_a_memory_in_english() {
    let texts = [
        body("Coffee is bought by the office."),
        body("A refund is possible for 90 days."),
        body("The server is restarted on Sunday."),
    ];
    assert_eq!(order("quand est-ce que le remboursement est possible", &texts), [1]);
    assert_eq!(order("когда можно перезапустить сервер", &texts), [2]);
    assert_eq!(order("サーバーの再起動はいつ", &texts), [2]);
    // What is a word of the memories' own language stays what it is.
    assert_eq!(order("wann war die erstattung, und was ist mit office", &texts).first(), Some(&0));
}
