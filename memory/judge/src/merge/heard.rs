//! What is new, as it is read: its sentences without chatter, and what it says
//! has come to an end.

use super::keys::Keys;
use super::markers::{self, Change, End};
use super::sentences::{Part, Sentence, sentences};
use super::words::Word;
use std::ops::Range;

/// A new statement, read once for all candidates.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) said: Vec<Said>,
    /// Lines that give reasons, as they stand.
    pub(super) reasons: Vec<String>,
    pub(super) keys: Keys,
    /// What it is called: it says something about the subject, too.
    pub(super) name: String,
    pub(super) change: Change,
    pub(super) addition: Addition,
    /// It is written without capitals, so a name may have none.
    pub(super) is_small: bool,
}

/// Whether it comes on top of what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addition {
    No,
    /// "Also" opens it, which may mean no more than "by the way".
    Opening,
    Yes,
}

/// One sentence of it.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) sentence: Sentence,
    pub(super) ended: Vec<Ended>,
}

/// What a sentence says is over.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) how: End,
    /// Where it says so.
    pub(super) cut: Range<usize>,
    pub(super) words: Vec<Word>,
    /// What takes the place of these words.
    pub(super) instead: &'static str,
    /// What is named was replaced by something in the same clause.
    pub(super) is_displaced: bool,
}

impl Heard {
    pub(super) fn of(name: &str, body: &str) -> Self {
        let change = markers::change(body);
        let mut said = Vec::new();
        let mut reasons = Vec::new();
        for sentence in sentences(body) {
            match sentence.part {
                Part::Reason | Part::Fixed => reasons.push(sentence.text(body).to_owned()),
                Part::Main => said.extend(Said::of(sentence.text(body), change)),
            }
        }
        let adds = said.iter().any(|said| markers::adds(&said.text));
        let opens = adds
            && said
                .iter()
                .all(|said| !markers::adds(&said.text) || markers::adds_by_opening(&said.text));
        Self {
            keys: Keys::of(said.iter().flat_map(|said| said.sentence.words())),
            name: name.to_lowercase(),
            change,
            addition: match (adds, opens) {
                (false, _) => Addition::No,
                (true, true) => Addition::Opening,
                (true, false) => Addition::Yes,
            },
            is_small: !body.chars().any(char::is_uppercase),
            said,
            reasons,
        }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &Word> {
        self.said.iter().flat_map(|said| said.sentence.words())
    }
}

impl Said {
    /// None where nothing but chatter is left.
    fn of(text: &str, change: Change) -> Option<Self> {
        let text = markers::without_chatter(text);
        let sentence =
            sentences(&text).into_iter().find(|sentence| sentence.part != Part::Fixed)?;
        let text = sentence.text(&text).to_owned();
        let sentence = sentences(&text).into_iter().next()?;
        if !sentence.words().any(|word| word.kind.weight() > 0) {
            return None;
        }
        let ended = ended(&text, &sentence, change);
        Some(Self { text, sentence, ended })
    }

    /// The words that still hold once what is over is set aside.
    pub(super) fn standing(&self) -> impl Iterator<Item = &Word> {
        self.sentence
            .words()
            .filter(|word| !self.ended.iter().any(|ended| ended.cut.contains(&word.start)))
    }
}

fn ended(text: &str, sentence: &Sentence, change: Change) -> Vec<Ended> {
    let mut found = Vec::new();
    for clause in &sentence.clauses {
        let part = clause.text(text);
        if let Some(how) = markers::end(part) {
            found.push(Ended {
                how,
                cut: clause.start..clause.end,
                words: clause.words.clone(),
                instead: "",
                is_displaced: false,
            });
        } else if let Some(place) = markers::displaced(part)
            && change == Change::Strong
        {
            let old = clause.start + place.old.start..clause.start + place.old.end;
            found.push(Ended {
                how: End::Over,
                cut: clause.start + place.whole.start..clause.start + place.whole.end,
                instead: place.instead,
                words: clause
                    .words
                    .iter()
                    .filter(|word| old.contains(&word.start))
                    .cloned()
                    .collect(),
                is_displaced: true,
            });
        }
    }
    found
}
