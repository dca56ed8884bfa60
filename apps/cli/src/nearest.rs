//! What was meant by a word that is none of those that are known (U8).

/// How alike two words must be, from 0 to 1.
const ALIKE: f32 = 0.7;

/// The known word that is most like this one.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    similar::get_close_matches(word, &known, 1, ALIKE).into_iter().next()
}

/// "; did you mean …?", where something is near.
pub(crate) fn meant(near: Option<String>) -> String {
    near.map(|near| format!("; did you mean {near}?")).unwrap_or_default()
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
}
