//! Filling `{{variable}}` in texts that a person wrote (L3.5).

/// Puts values in the place of `{{name}}`. A single pass: what a value brings
/// along is never looked at again, be it `{{` or `$1`. A name that is not
/// known stays as it is.
///
/// ```
/// use everfold_notes::fill;
///
/// let text = fill("{{ a }} and {{b}}, {{c}}", &[("a", "{{b}}"), ("b", "$1")]);
/// assert_eq!(text, "{{b}} and $1, {{c}}");
/// ```
#[must_use]
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        out.push_str(before);
        let hole = after.split_once(CLOSE).and_then(|(name, tail)| {
            let known = values.iter().find(|(known, _)| *known == name.trim());
            known.map(|(_, value)| (value, tail))
        });
        if let Some((value, tail)) = hole {
            out.push_str(value);
            rest = tail;
        } else {
            out.push_str(OPEN);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Whether a text has a hole of this name.
pub(crate) fn has_hole(text: &str, name: &str) -> bool {
    let mut holes = text.split(OPEN).skip(1);
    holes.any(|after| after.split_once(CLOSE).is_some_and(|(own, _)| own.trim() == name))
}

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn l3_5_a_value_is_put_in_as_it_is(value in r"[a-z{}$0-9\\ ]{0,30}", around in "[a-z }]{0,10}") {
            let filled = fill(&format!("{around}{{{{x}}}}{around}"), &[("x", &value), ("y", "no")]);
            prop_assert_eq!(filled, format!("{around}{value}{around}"));
        }

        #[test]
        fn l3_5_a_text_without_known_names_stays(text in r"[a-z{}$ ]{0,60}") {
            prop_assert_eq!(fill(&text, &[("NAME", "value")]), text);
        }
    }

    #[test]
    fn l3_5_odd_braces_are_text() {
        assert_eq!(fill("{{{x}}} {{x {{x}}", &[("x", "1")]), "{{{x}}} {{x 1");
        assert!(has_hole("{{a}} {{ b }}", "b") && !has_hole("{{a}} b}}", "b"));
    }
}
