//! A message of the person that is too long for any request: what was pasted
//! goes to disk, the question stays (Q19).

use everfold_kernel::provenance::{Provenance, Source};
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{BlockProvenance, Limits, Tokens};
use std::path::Path;

/// Of what is shown of a text, so much is its end: questions often stand there.
const TAIL_SHARE: usize = 3;
/// A piece is cut where at least so many times as much is there as is shown.
const WORTH_CUTTING: usize = 2;

/// A message with pieces of it on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortPrompt {
    pub text: String,
    /// Whose words that are.
    pub provenance: BlockProvenance,
    /// What is written, by the name of the file.
    pub spills: Vec<(String, String)>,
}

/// A message that takes at most so many tokens, with the rest of it in files of
/// this directory whose names begin with `name`. None where it fits as it is.
#[must_use]
pub fn shorten(
    text: &str,
    provenance: &BlockProvenance,
    room: Tokens,
    (directory, name): (&Path, &str),
    limits: &Limits,
) -> Option<ShortPrompt> {
    if estimate_text(text, limits) <= room {
        return None;
    }
    let mut pieces: Vec<Piece> = pieces(text, provenance);
    let mut spills = Vec::new();
    // What was pasted goes first, the longest first; then the person's own words.
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|at| {
        let piece = pieces.get(*at);
        let own = piece.is_some_and(|piece| piece.whose == Source::Person.into());
        (own, std::cmp::Reverse(piece.map_or(0, |piece| piece.text.len())))
    });
    for at in order {
        let left = pieces.iter().map(|piece| estimate_text(&piece.text, limits)).sum::<Tokens>();
        let Some(piece) = pieces.get_mut(at).filter(|_| left > room) else { break };
        let others = left - estimate_text(&piece.text, limits);
        let file = format!("{name}-{}.txt", spills.len() + 1);
        let shown = shown_chars(room - others, limits);
        if let Some(short) = piece.cut(&directory.join(&file), shown) {
            spills.push((file, std::mem::replace(&mut piece.text, short)));
        }
    }
    let mut whole = String::new();
    let mut parts = Vec::new();
    for piece in pieces {
        whole.push_str(&piece.text);
        parts.push((whole.len(), piece.whose));
    }
    (!spills.is_empty()).then(|| ShortPrompt {
        text: whole,
        provenance: BlockProvenance::parts(parts),
        spills,
    })
}

/// Characters of a piece that are shown where so many tokens are free.
fn shown_chars(free: Tokens, limits: &Limits) -> usize {
    let half = free.0.saturating_mul(limits.bytes_per_token_text) / 2;
    usize::try_from(half.min(limits.offload.paste_preview_chars)).unwrap_or_default()
}

/// A piece of a message, of one provenance.
struct Piece {
    whose: Provenance,
    text: String,
}

impl Piece {
    /// The piece with its middle in a file; none where that gains nothing.
    fn cut(&self, path: &Path, shown: usize) -> Option<String> {
        let chars = self.text.chars().count();
        if chars < shown.saturating_mul(WORTH_CUTTING) {
            return None;
        }
        let tail = shown / TAIL_SHARE;
        let head: String = self.text.chars().take(shown - tail).collect();
        let end: String = self.text.chars().skip(chars - tail).collect();
        let lines = self.text.lines().count();
        let what = if self.whose == Source::Person.into() { "This message" } else { "Pasted text" };
        Some(format!(
            "[{what}: {chars} characters in {lines} lines, too long to be shown whole. All of it \
             is in {}: page through it with Read (offset, limit), or search it with Grep.]\n\
             {head}\n[… {} characters left out …]\n{end}",
            path.display(),
            chars - shown
        ))
    }
}

fn pieces(text: &str, provenance: &BlockProvenance) -> Vec<Piece> {
    let known: Vec<Piece> = provenance
        .split(text)
        .map(|(whose, part)| Piece { whose, text: part.to_owned() })
        .collect();
    let covered: usize = known.iter().map(|piece| piece.text.len()).sum();
    if covered == text.len() {
        return known;
    }
    vec![Piece {
        whose: provenance.lowest().unwrap_or(Source::Person.into()),
        text: text.to_owned(),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &str, own: &BlockProvenance, room: u64) -> Option<ShortPrompt> {
        shorten(text, own, Tokens(room), (Path::new("/s"), "paste-1"), &Limits::default())
    }

    #[test]
    fn q19_a_paste_goes_to_disk_and_the_question_stays() {
        let (question, paste) = ("Which line is wrong?\n", "let x = 1;\n".repeat(8_700));
        let text = format!("{question}{paste}Answer in one word.");
        let pasted = question.len()..question.len() + paste.len();
        let own = BlockProvenance::marked(
            text.len(),
            Source::Person,
            std::slice::from_ref(&pasted),
            Source::Pasted,
        );
        for room in [300, 1_000, 5_000] {
            let short = short(&text, &own, room).unwrap();
            assert!(short.text.starts_with(question), "{room}");
            assert!(short.text.ends_with("Answer in one word."), "{room}");
            assert!(estimate_text(&short.text, &Limits::default()) <= Tokens(room), "{room}");
            assert_eq!(short.spills, [("paste-1-1.txt".to_owned(), paste.clone())]);
            assert!(short.text.contains("/s/paste-1-1.txt"));
            let said: String = short
                .provenance
                .split(&short.text)
                .filter(|(whose, _)| *whose == Source::Person.into())
                .map(|(_, part)| part)
                .collect();
            assert_eq!(said, format!("{question}Answer in one word."));
        }
        assert_eq!(short(&text, &own, 100_000), None);
    }

    #[test]
    fn q19_words_that_nobody_marked_as_pasted_keep_their_start_and_their_end() {
        let text = format!("Find the bug. {}What is it?", "é line\n".repeat(9_000));
        let short = short(&text, &BlockProvenance::whole(Source::Person), 1_500).unwrap();
        assert!(short.text.contains("Find the bug.") && short.text.ends_with("What is it?"));
        assert_eq!(short.spills.len(), 1);
        assert_eq!(short.spills[0].1, text);
    }
}
