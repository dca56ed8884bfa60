//! What was meant by a word that is none of those that are known (U8).

/// How alike two words must be, from 0 to 1.
const ALIKE: f32 = 0.7;

/// The known word that is most like this one.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    similar::get_close_matches(word, &known, 1, ALIKE).into_iter().next()
}

/// What is said of a word that is not known: a sentence, with the one that was
/// probably meant.
pub(crate) fn unknown(what: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("{what}; did you mean {near}?"),
        None => format!("{what}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn u8_a_slip_leads_to_the_word_and_another_word_to_none() {
        let known = ["memory", "model", "compact", "config"];
        for (word, near) in [
            ("memry", Some("memory")),
            ("confg", Some("config")),
            ("modle", Some("model")),
            ("compct", Some("compact")),
            ("hello", None),
            ("fix", None),
        ] {
            assert_eq!(nearest(word, known), near, "{word}");
        }
    }

    #[test]
    fn u8_with_a_near_word_or_without_it_is_a_sentence() {
        let told = |near| unknown("there is no command /x", near);
        assert_eq!(told(None), "there is no command /x.");
        assert_eq!(told(Some("/y")), "there is no command /x; did you mean /y?");
    }
}
