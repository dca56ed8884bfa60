//! Comparing lines of memories by what they say, not how they are set.

use std::collections::BTreeSet;

/// Words that carry no fact.
const SMALL: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "in", "is",
    "it", "its", "of", "on", "or", "so", "that", "the", "their", "them", "there", "they", "this",
    "to", "was", "we", "were", "with",
];

/// Two lines that share this much of their words and are not the same say
/// something different about the same thing.
const ABOUT_THE_SAME: usize = 60;

/// The words of a line that say something.
pub(crate) fn words(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !SMALL.contains(&word.as_str()))
}

/// A line as it is compared: its words in their order.
pub(crate) fn plain(line: &str) -> String {
    words(line).collect::<Vec<_>>().join(" ")
}

/// Whether two lines that are not the same are about the same thing.
pub(crate) fn differ_about_one_thing(one: &str, other: &str) -> bool {
    let (one, other): (BTreeSet<String>, BTreeSet<String>) =
        (words(one).collect(), words(other).collect());
    let shared = one.intersection(&other).count();
    let all = one.union(&other).count();
    shared >= 2 && shared * 100 >= all * ABOUT_THE_SAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l6_9_layout_does_not_make_another_line() {
        assert_eq!(
            plain("- **Deploys** go out on the Thursday."),
            plain("Deploys go out: Thursday")
        );
        assert_ne!(plain("never deploy"), plain("deploy"));
    }

    #[test]
    fn l6_9_a_changed_value_is_seen() {
        let thursday = "Deploys go out on Thursday mornings after standup";
        assert!(differ_about_one_thing(
            thursday,
            "Deploys go out on Friday mornings after standup"
        ));
        assert!(!differ_about_one_thing(thursday, "The tracker is at example.com"));
        assert!(!differ_about_one_thing("yes", "no"));
    }
}
