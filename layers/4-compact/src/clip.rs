//! Cutting text: by bytes, characters or tokens, never inside a character.

use everfold_kernel::Limits;

/// The longest start of `text` of at most this many bytes.
pub(crate) fn bytes(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

/// The start of `text` that is estimated at this many tokens or fewer.
pub(crate) fn tokens<'a>(text: &'a str, max: u64, limits: &Limits) -> &'a str {
    let max = max.saturating_mul(limits.bytes_per_token_text);
    bytes(text, usize::try_from(max).unwrap_or(usize::MAX))
}

/// The same, ended at a line where one ends in the second half.
pub(crate) fn tokens_by_line<'a>(text: &'a str, max: u64, limits: &Limits) -> &'a str {
    let cut = tokens(text, max, limits);
    if cut.len() == text.len() {
        return text;
    }
    match cut.rfind('\n') {
        Some(end) if end >= cut.len() / 2 => cut.get(..end).unwrap_or(cut),
        _ => cut,
    }
}

/// The text as one line of at most this many characters.
pub(crate) fn line(text: &str, max_chars: usize) -> String {
    let mut words = text.split_whitespace();
    let mut out = words.next().unwrap_or("").to_owned();
    let most_bytes = max_chars.saturating_mul(char::MAX.len_utf8());
    // Enough words to know; the text may be a whole file.
    for word in words {
        if out.len() > most_bytes {
            break;
        }
        out.push(' ');
        out.push_str(word);
    }
    if out.chars().count() <= max_chars {
        return out;
    }
    let start: String = out.chars().take(max_chars.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

/// What a result says in one line: its first and its last line, which is
/// where commands say what came of them.
pub(crate) fn gist(text: &str, max_chars: usize) -> String {
    let mut lines = text.lines().filter(|text| !text.trim().is_empty());
    let first = lines.next().unwrap_or("");
    match lines.next_back() {
        Some(last) => {
            let end = line(last, max_chars / 2);
            let room = max_chars.saturating_sub(end.chars().count() + 3);
            format!("{} … {end}", line(first, room))
        }
        None => line(first, max_chars),
    }
}

/// The text with runs of white space as one space, in lower case: how two
/// texts are compared.
pub(crate) fn normal(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cuts_fall_between_characters(text in "[a-zé漢\n ]{0,60}", max in 0_usize..80) {
            prop_assert!(text.starts_with(bytes(&text, max)));
            prop_assert!(bytes(&text, max).len() <= max);
            prop_assert!(line(&text, max.max(1)).chars().count() <= max.max(1));
        }
    }
}
