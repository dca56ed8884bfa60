//! Keys that are written with blanks between their signs: `g h p _ a B …`,
//! `sk_live_ 4M4a…`.

/// Signs apart from which on it is no word any more.
const LEAST_APART: usize = 16;
/// The least that follows the beginning of a key behind a blank.
const LEAST_RUN: usize = 16;

/// The blanks in a text that a key goes on behind.
pub(super) fn blanks(text: &str, openings: &[&str]) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut run: Vec<usize> = Vec::new();
    for (at, _) in text.match_indices(' ') {
        if openings.iter().any(|opening| is_cut(text, at, opening)) {
            found.push(at);
        }
        let is_lone = |sign: usize| {
            let is_edge = |edge: Option<&u8>| edge.is_none_or(u8::is_ascii_whitespace);
            bytes.get(sign).is_some_and(u8::is_ascii_graphic)
                && is_edge(bytes.get(sign + 1))
                && sign.checked_sub(1).is_none_or(|before| is_edge(bytes.get(before)))
        };
        if run.last().is_some_and(|last| last + 2 != at) {
            close(text, &mut run, openings, &mut found);
        }
        if at > 0 && is_lone(at - 1) && is_lone(at + 1) {
            run.push(at);
        }
    }
    close(text, &mut run, openings, &mut found);
    found
}

/// Takes a run of blanks between lone signs where a key is written with them.
fn close(text: &str, run: &mut Vec<usize>, openings: &[&str], found: &mut Vec<usize>) {
    if let (Some(first), Some(last)) = (run.first(), run.last())
        && run.len() >= LEAST_APART
        && let Some(signs) = text.get(first - 1..last + 2)
    {
        let word: String = signs.split(' ').collect();
        if openings.iter().any(|opening| word.contains(opening)) {
            found.append(run);
        }
    }
    run.clear();
}

fn is_cut(text: &str, at: usize, opening: &str) -> bool {
    let (before, rest) = text.split_at_checked(at).unwrap_or_default();
    if !opening.ends_with(['_', '-', '.']) || !before.ends_with(opening) {
        return false;
    }
    let run = rest.get(1..).unwrap_or_default();
    let run = run.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    run.len() >= LEAST_RUN && run.bytes().any(|b| b.is_ascii_digit())
}
