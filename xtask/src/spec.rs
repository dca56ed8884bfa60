//! The ids of the specification: the one beside the repository, or its copy
//! in `docs/spec`.

use anyhow::{Context, Result};
use regex::Regex;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// What an id looks like.
pub(crate) const ID: &str = r"(?:L[1-7]\.|PC|[TRIQSCXEUKWGFAV])[0-9]+";

/// Every requirement id, in the order of the specification.
pub(crate) struct Spec {
    ids: Vec<(String, Rank)>,
}

/// What the specification says of a requirement beside its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    /// It defines the system.
    Seed,
    Other,
}

impl Spec {
    /// Reads the named specification, the one beside the repository, or the
    /// copy that a clone by itself has.
    pub(crate) fn find(root: &Path, named: Option<PathBuf>) -> Result<Option<Self>> {
        let is_named = named.is_some();
        let beside = root.join("../shared/SPEC.md");
        let copy = root.join("docs/spec/SPEC.md");
        let path = named.unwrap_or(if beside.exists() { beside } else { copy });
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !is_named => Ok(None),
            Err(error) => Err(error).with_context(|| format!("failed to read {}", path.display())),
        }
    }

    /// Takes the ids out of a text: each stands at the start of a list item.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let item = Regex::new(&format!(r"(?m)^- ({ID})\b( seed\b)?"))?;
        let id = |found: regex::Captures<'_>| {
            let rank = if found.get(2).is_some() { Rank::Seed } else { Rank::Other };
            found.get(1).map(|id| (id.as_str().to_owned(), rank))
        };
        Ok(Self { ids: item.captures_iter(text).filter_map(id).collect() })
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(|(id, _)| id.as_str())
    }

    /// Those that define the system.
    pub(crate) fn seeds(&self) -> impl Iterator<Item = &str> {
        let seeds = self.ids.iter().filter(|(_, rank)| *rank == Rank::Seed);
        seeds.map(|(id, _)| id.as_str())
    }
}

/// Whether a word has the form of an id.
fn is_id(word: &str) -> bool {
    WHOLE.as_ref().is_some_and(|pattern| pattern.is_match(word))
}

static WHOLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("^{ID}$")).ok());

/// The ids that the name of a test starts with: `q1_q2_the_order` covers Q1
/// and Q2, `l5_23_a_copy_is_refused` covers L5.23.
pub(crate) fn ids_of_test(name: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut words = name.split('_').peekable();
    while let Some(word) = words.next() {
        let letters: String = word.chars().take_while(char::is_ascii_lowercase).collect();
        let digits = word.strip_prefix(letters.as_str()).unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        if letters == "l" {
            match words.next() {
                Some(part) if part.bytes().all(|byte| byte.is_ascii_digit()) => {
                    ids.push(format!("L{digits}.{part}"));
                }
                _ => break,
            }
            continue;
        }
        let id = format!("{}{digits}", letters.to_ascii_uppercase());
        if !is_id(&id) {
            break;
        }
        ids.push(id);
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_the_starts_of_list_items() {
        let spec =
            Spec::parse("- T1 seed. One\n- L5.23 ours\n  - T9 no\ntext T8\n- PC7 x\n- U1. y")
                .unwrap();
        assert_eq!(spec.ids().collect::<Vec<_>>(), ["T1", "L5.23", "PC7", "U1"]);
        assert_eq!(spec.seeds().collect::<Vec<_>>(), ["T1"]);
    }

    #[test]
    fn the_name_of_a_test_tells_its_ids() {
        assert_eq!(ids_of_test("t4_thresholds_of_a_200k_window"), ["T4"]);
        assert_eq!(ids_of_test("l5_23_a_copy_is_refused"), ["L5.23"]);
        assert_eq!(ids_of_test("q1_q2_l4_10_order"), ["Q1", "Q2", "L4.10"]);
        assert_eq!(
            ids_of_test("e1_u2_k3_w4_g5_f6_a7_v8_all"),
            "E1 U2 K3 W4 G5 F6 A7 V8".split(' ').collect::<Vec<_>>()
        );
        assert!(ids_of_test("paths_are_resolved").is_empty());
        assert!(ids_of_test("base64_is_read").is_empty());
        assert!(ids_of_test("l1_is_no_whole_id").is_empty());
    }

    #[test]
    fn no_specification_is_an_error_only_where_it_was_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Spec::find(folder.path(), None).unwrap().is_none());
        let named = folder.path().join("none.md");
        assert!(Spec::find(folder.path(), Some(named)).is_err());
    }
}
