//! Names behind an `@`.

/// What ends a sentence more often than a file's name.
const PUNCTUATION: &[char] = &['.', ',', ';', ':', '!', '?', ')', ']', '}', '\'', '"', '>'];

/// A name of a file, perhaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    /// What the name could be, the likeliest first.
    pub(super) names: Vec<String>,
    /// The lines that are meant, the first and the last.
    pub(super) lines: Option<(u64, u64)>,
}

/// The mentions in a text, each once. An `@` counts at the start of a word: an
/// address of mail is none.
pub(super) fn mentions(text: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let starts = c == '@' && (before.is_whitespace() || matches!(before, '(' | '[' | '"'));
        before = c;
        rest = after;
        if !starts {
            continue;
        }
        let mention = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(name, tail)| {
                let range = tail.split(char::is_whitespace).next().unwrap_or_default();
                Mention { names: vec![name.to_owned()], lines: lines(range) }
            }),
            None => Some(word(after.split(char::is_whitespace).next().unwrap_or_default())),
        };
        let mention = mention.filter(|one| one.names.iter().any(|name| !name.is_empty()));
        found.extend(mention.filter(|one| !found.contains(one)));
    }
    found
}

fn word(word: &str) -> Mention {
    let bare = word.trim_end_matches(PUNCTUATION);
    if let Some((name, range)) = bare.split_once("#L")
        && let Some(lines) = lines(&format!("#L{range}"))
    {
        return Mention { names: vec![name.to_owned()], lines: Some(lines) };
    }
    let mut names = vec![word.to_owned()];
    if bare != word && !bare.is_empty() {
        names.push(bare.to_owned());
    }
    Mention { names, lines: None }
}

/// `#L10` or `#L10-20`.
fn lines(text: &str) -> Option<(u64, u64)> {
    let range = text.trim_end_matches(PUNCTUATION).strip_prefix("#L")?;
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last) = (first.parse::<u64>().ok()?, last.trim_start_matches('L').parse().ok()?);
    (first > 0 && last >= first).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn named(text: &str) -> Vec<(String, Option<(u64, u64)>)> {
        let found = mentions(text).into_iter();
        found.filter_map(|mention| Some((mention.names.last()?.clone(), mention.lines))).collect()
    }

    #[test]
    fn q13_names_are_found_where_a_word_starts() {
        assert_eq!(
            named("see @a.rs, and (@src/b.rs)."),
            [("a.rs".into(), None), ("src/b.rs".into(), None)]
        );
        assert_eq!(named("mail me@example.org @ @@"), [("@".into(), None)]);
        assert_eq!(
            named("@a.rs#L10-20 @b#L3. @c#Lx"),
            [("a.rs".into(), Some((10, 20))), ("b".into(), Some((3, 3))), ("c#Lx".into(), None),]
        );
        assert_eq!(
            named(r##"@"my notes.md" @"b c.rs"#L2-4 @"open"##),
            [("my notes.md".into(), None), ("b c.rs".into(), Some((2, 4))),]
        );
        assert_eq!(named("@a @a @b#L9-3").len(), 2);
    }

    proptest! {
        #[test]
        fn q13_any_text_is_looked_through(text in "[@\"#L0-9 a-zé().,-]{0,60}") {
            for mention in mentions(&text) {
                prop_assert!(mention.names.iter().all(|name| text.contains(name.as_str())));
            }
        }
    }
}
