//! The name of a project's directory under `projects/` (C3, L5.1).
//!
//! The mapping loses information: two paths can share a slug. The real path of
//! a project stands as `cwd` in its transcripts and is never read off a slug.

use icu_normalizer::ComposingNormalizerBorrowed;
use std::borrow::Cow;

/// Longest slug that carries no hash, in UTF-16 units.
const PLAIN_UNITS: usize = 200;

/// The slug of a path, whose symbolic links the caller has resolved.
///
/// Every UTF-16 unit that is no ASCII letter or digit becomes `-`, so a
/// character outside the basic plane becomes two. A long result is cut and
/// gets a hash of the whole path.
///
/// ```
/// assert_eq!(everfold_transcript::slug("/home/u/my.proj_x"), "-home-u-my-proj-x");
/// ```
#[must_use]
pub fn slug(path: &str) -> String {
    let path = composed(path);
    let mut slug = dashed(&path);
    if slug.len() > PLAIN_UNITS {
        slug.truncate(PLAIN_UNITS);
        slug.push('-');
        slug.push_str(&hash(&path));
    }
    slug
}

/// Whether a directory of this name may belong to a path. A short path has
/// exactly one name. For a long one, other builds used other hashes: try
/// [`slug`] first, then any name that this accepts.
#[must_use]
pub fn is_slug_of(name: &str, path: &str) -> bool {
    let dashed = dashed(&composed(path));
    match dashed.get(..PLAIN_UNITS) {
        Some(prefix) if dashed.len() > PLAIN_UNITS => {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('-'))
        }
        _ => name == dashed,
    }
}

/// Some file systems take an accented letter apart; the same directory must
/// have the same slug on all of them (NFC).
fn composed(path: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(path)
}

/// One ASCII character for each UTF-16 unit, so bytes and units agree.
fn dashed(path: &str) -> String {
    path.encode_utf16()
        .map(|unit| {
            char::from_u32(u32::from(unit)).filter(char::is_ascii_alphanumeric).unwrap_or('-')
        })
        .collect()
}

fn hash(path: &str) -> String {
    let hash = path.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_shl(5).wrapping_sub(hash).wrapping_add(i32::from(unit))
    });
    base36(hash.unsigned_abs())
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn c3_slugs_match_the_vectors() {
        for (path, expected, hashed) in [
            ("/home/u/my.proj_x", "-home-u-my-proj-x", "z78519"),
            ("/", "-", "1b"),
            ("C:\\Users\\me\\proj", "C--Users-me-proj", "7g9guw"),
            ("/tmp/été", "-tmp--t-", "eq4jmx"),
        ] {
            assert_eq!(slug(path), expected);
            assert_eq!(hash(path), hashed);
            assert!(is_slug_of(expected, path));
        }
        assert_eq!(hash(""), "0");
    }

    #[test]
    fn c3_a_long_slug_is_cut_and_hashed() {
        let path = format!("/a/{}", "b".repeat(250));
        let expected = format!("-a-{}-hvza71", "b".repeat(197));
        assert_eq!(slug(&path), expected);
        let other_build = format!("-a-{}-zzzzzz", "b".repeat(197));
        assert!(is_slug_of(&other_build, &path));
        assert!(!is_slug_of(&format!("-a-{}", "b".repeat(250)), &path));
    }

    #[test]
    fn c3_exactly_200_units_stay_whole() {
        let path = "b".repeat(200);
        assert_eq!(slug(&path), path);
        assert!(is_slug_of(&path, &path));
        assert!(!is_slug_of(&format!("{path}-x"), &path));
    }

    #[test]
    fn c3_letters_that_were_taken_apart_are_put_together() {
        assert_eq!(slug("/tmp/e\u{301}te\u{301}"), "-tmp--t-");
    }

    #[test]
    fn c3_a_character_beyond_the_basic_plane_is_two_units() {
        assert_eq!(slug("/😀"), "---");
    }

    proptest! {
        #[test]
        fn l5_1_every_path_has_a_safe_slug_of_its_own(path in any::<String>()) {
            let name = slug(&path);
            prop_assert!(name.chars().all(|c| c == '-' || c.is_ascii_alphanumeric()));
            prop_assert!(name.len() <= PLAIN_UNITS + 1 + 7);
            prop_assert!(is_slug_of(&name, &path));
        }
    }
}
