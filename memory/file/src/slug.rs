//! File names for memories: lower-case ASCII, words joined by `-`.

/// Longest name, in characters, without `.md`.
pub const SLUG_CHARS: usize = 60;

/// A name for a file from any text; `memory` where nothing of it can stay.
#[must_use]
pub fn slugify(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(plain) {
        if c != '-' || !(slug.is_empty() || slug.ends_with('-')) {
            slug.push(c);
        }
    }
    if slug.len() > SLUG_CHARS {
        let cut = slug.get(..SLUG_CHARS).unwrap_or(&slug);
        // At a word's end, unless that would leave too little.
        let end = cut.rfind('-').filter(|at| *at >= SLUG_CHARS / 2).unwrap_or(cut.len());
        slug.truncate(end);
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "memory".to_owned() } else { slug.to_owned() }
}

/// The slug, with a number behind it where the name is taken.
pub fn free_slug(slug: &str, mut is_taken: impl FnMut(&str) -> bool) -> String {
    if !is_taken(slug) {
        return slug.to_owned();
    }
    let mut number: u64 = 2;
    loop {
        let tail = format!("-{number}");
        let room = SLUG_CHARS.saturating_sub(tail.len());
        let stem = slug.get(..room.min(slug.len())).unwrap_or(slug).trim_end_matches('-');
        let name = format!("{stem}{tail}");
        if !is_taken(&name) {
            return name;
        }
        number += 1;
    }
}

/// A character as lower-case ASCII: letters with marks lose them, what has no
/// likeness separates words, an apostrophe vanishes.
fn plain(c: char) -> impl Iterator<Item = char> {
    let text = match c {
        'a'..='z' | '0'..='9' => return Some(c).into_iter().chain("".chars()),
        'A'..='Z' => return Some(c.to_ascii_lowercase()).into_iter().chain("".chars()),
        '\'' | '’' => "",
        'à' | 'á' | 'â' | 'ã' | 'å' | 'ā' | 'À' | 'Á' | 'Â' | 'Ã' | 'Å' => "a",
        'ä' | 'Ä' | 'æ' | 'Æ' => "ae",
        'ç' | 'č' | 'ć' | 'Ç' | 'Č' | 'Ć' => "c",
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ę' | 'È' | 'É' | 'Ê' | 'Ë' => "e",
        'ì' | 'í' | 'î' | 'ï' | 'ī' | 'Ì' | 'Í' | 'Î' | 'Ï' => "i",
        'ł' | 'Ł' => "l",
        'ñ' | 'ń' | 'Ñ' | 'Ń' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ø' | 'ō' | 'Ò' | 'Ó' | 'Ô' | 'Õ' | 'Ø' => "o",
        'ö' | 'Ö' | 'œ' | 'Œ' => "oe",
        'š' | 'ś' | 'Š' | 'Ś' => "s",
        'ß' => "ss",
        'ù' | 'ú' | 'û' | 'ū' | 'Ù' | 'Ú' | 'Û' => "u",
        'ü' | 'Ü' => "ue",
        'ý' | 'ÿ' | 'Ý' => "y",
        'ž' | 'ź' | 'ż' | 'Ž' | 'Ź' | 'Ż' => "z",
        _ => "-",
    };
    None.into_iter().chain(text.chars())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_plain() {
        assert_eq!(slugify("Prefer real DBs in tests!"), "prefer-real-dbs-in-tests");
        assert_eq!(slugify("Ann's Büro — été"), "anns-buero-ete");
        assert_eq!(slugify("日本語"), "memory");
        assert_eq!(slugify("../../etc/passwd"), "etc-passwd");
        assert_eq!(slugify(""), "memory");
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let taken = ["a", "a-2"];
        assert_eq!(free_slug("a", |name| taken.contains(&name)), "a-3");
        let long = "x".repeat(60);
        assert_eq!(free_slug(&long, |name| name == long).len(), 60);
    }

    proptest! {
        #[test]
        fn names_fit_a_file_system(text in ".{0,200}") {
            let slug = slugify(&text);
            prop_assert!((1..=SLUG_CHARS).contains(&slug.len()));
            prop_assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-'));
        }
    }
}
