//! Whether a new statement and a known memory are about the same, and how the
//! one stands to the other.

use super::clauses::{clause_is_in, content, opposed, swapped};
use super::heard::{Addition, Heard, Said};
use super::keys::CONTENT;
use super::markers::{self, Change};
use super::old::{Old, over};
use super::sentences::{Clause, Sentence};
use super::subject::{Subject, marks, subject};
use super::words::{Kind, Word};
use std::collections::BTreeSet;

/// A plain word's weight: what one shared subject is worth.
const SUBJECT: u32 = 10;

/// One value in the place of another.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) new: Word,
    /// In which sentence of the new statement.
    pub(super) said: usize,
    pub(super) old: Word,
}

/// How a new statement stands to a memory.
#[derive(Clone, Debug)]
pub(super) enum Stand {
    Same,
    Extends,
    Supersedes {
        pairs: Vec<Pair>,
        /// What is over, by key.
        over: Vec<Word>,
        /// Clauses of the sentence that are turned round.
        turned: Vec<usize>,
    },
}

/// The finding on one memory.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) score: u32,
    /// The sentence that it is about.
    pub(super) target: usize,
    pub(super) stand: Stand,
}

/// Everything that is weighed about one pair.
struct Weighed<'a> {
    heard: &'a Heard,
    old: &'a Old<'a>,
    target: usize,
    sentence: &'a Sentence,
    core: &'a Said,
    /// What is shared with the sentence, the name and the description.
    shared: u32,
    /// Content of the new sentence that the memory does not have.
    new: Vec<(usize, Word)>,
    /// Content of the known sentence that the new statement does not have.
    gone: Vec<Word>,
    pairs: Vec<Pair>,
    over: Vec<Word>,
}

/// How a statement stands to a memory; none where they are not about the same.
pub(super) fn compared(heard: &Heard, old: &Old<'_>) -> Option<Finding> {
    if !heard.words().any(|word| word.kind.weight() >= CONTENT && old.keys.has(word))
        && !heard.words().any(|word| matches!(word.kind, Kind::Tool(_)))
    {
        return None;
    }
    let weighed = Weighed::of(heard, old)?;
    let finding = |bonus: u32, stand| Finding {
        score: weighed.shared + bonus,
        target: weighed.target,
        stand,
    };
    let supersedes = |turned| Stand::Supersedes {
        pairs: weighed.pairs.clone(),
        over: weighed.over.clone(),
        turned,
    };
    if weighed.is_of_another() {
        return None;
    }
    if weighed.over.is_empty() && old.covers(heard) {
        let stand = if heard.reasons.iter().all(|reason| old.gives(reason)) {
            Stand::Same
        } else {
            Stand::Extends
        };
        return Some(finding(1000, stand));
    }
    let opens = heard.addition == Addition::Opening && !weighed.over.is_empty();
    if heard.addition != Addition::No && !opens {
        return weighed.adds().then(|| finding(0, Stand::Extends));
    }
    if !weighed.over.is_empty() {
        return Some(finding(20, supersedes(Vec::new())));
    }
    let turned = weighed.turned();
    if !turned.is_empty() {
        return Some(finding(10, supersedes(turned)));
    }
    if weighed.replaces() {
        return Some(finding(10, supersedes(Vec::new())));
    }
    weighed.goes_on().then(|| finding(0, Stand::Extends))
}

impl<'a> Weighed<'a> {
    fn of(heard: &'a Heard, old: &'a Old<'a>) -> Option<Self> {
        let (target, sentence, shared) = old
            .main()
            .map(|(at, sentence)| (at, sentence, shared(heard, sentence, old)))
            .reduce(|best, next| if next.2 > best.2 { next } else { best })?;
        let over = over(heard, old);
        let core = heard.said.iter().reduce(|best, next| {
            let shared =
                |said: &Said| said.standing().map(|word| old.keys.weight(word)).sum::<u32>();
            if shared(next) > shared(best) { next } else { best }
        })?;
        let mut weighed = Self {
            heard,
            old,
            target,
            sentence,
            core,
            shared,
            new: Vec::new(),
            gone: Vec::new(),
            pairs: Vec::new(),
            over,
        };
        weighed.new = weighed.new_words();
        weighed.gone = sentence
            .words()
            .filter(|word| word.kind.weight() >= CONTENT)
            .filter(|word| {
                !heard.keys.has(word) || weighed.over.iter().any(|over| over.key == word.key)
            })
            .cloned()
            .collect();
        weighed.pairs = weighed.paired();
        Some(weighed)
    }

    fn new_words(&self) -> Vec<(usize, Word)> {
        let mut found = Vec::new();
        for (at, said) in self.heard.said.iter().enumerate() {
            for clause in said
                .sentence
                .clauses
                .iter()
                .filter(|clause| !markers::is_reason(clause.text(&said.text)))
            {
                let is_standing =
                    |word: &&Word| said.standing().any(|standing| standing.start == word.start);
                let words = clause.words.iter().filter(is_standing);
                let new =
                    words.filter(|word| word.kind.weight() >= CONTENT && !self.old.keys.has(word));
                found.extend(new.map(|word| (at, word.clone())));
            }
        }
        found
    }

    /// New values beside the old ones that they replace.
    fn paired(&self) -> Vec<Pair> {
        let mut left: Vec<&Word> = self.gone.iter().collect();
        // What is said to be over comes first, then what stands beside shared words.
        left.sort_by_key(|word| {
            let is_over = self.over.iter().any(|over| over.key == word.key);
            let clause = self
                .sentence
                .clauses
                .iter()
                .find(|clause| clause.words.iter().any(|w| w.start == word.start));
            let near: u32 = clause.map_or(0, |clause| {
                clause.words.iter().map(|word| self.heard.keys.weight(word)).sum()
            });
            (!is_over, u32::MAX - near)
        });
        let mut pairs: Vec<Pair> = Vec::new();
        for (said, new) in &self.new {
            let is_lone = self.heard.is_small && self.new.len() == 1;
            let fits = |old: &&Word| {
                let is_name = matches!(old.kind, Kind::Name | Kind::Tool(_))
                    && matches!(new.kind, Kind::Plain | Kind::MaybeName);
                let by_change = self.heard.change > Change::None || !self.over.is_empty();
                let is_over = self.over.iter().any(|over| over.key == old.key);
                let is_renamed = old.kind == Kind::Identifier && new.kind == Kind::Plain && is_over;
                new.kind.pairs_with(old.kind)
                    || is_renamed
                    || (is_name && (is_lone || self.over.iter().any(|over| over.key == old.key)))
                    || (by_change && old.kind == Kind::MaybeName && new.kind == Kind::Name)
                    || (new.kind == Kind::MaybeName
                        && old.kind == Kind::MaybeName
                        && self.new.len() == 1)
            };
            if let Some(at) = left.iter().position(fits) {
                let old = left.remove(at);
                pairs.push(Pair { new: new.clone(), said: *said, old: old.clone() });
            }
        }
        pairs
    }

    /// What is new and takes no known value's place.
    fn new_plain(&self) -> u32 {
        let core = self.heard.said.iter().position(|said| std::ptr::eq(said, self.core));
        let paired = |word: &Word| self.pairs.iter().any(|pair| pair.new.start == word.start);
        self.new
            .iter()
            .filter(|(at, word)| Some(*at) == core && !paired(word))
            .map(|(_, word)| word.kind.weight())
            .sum()
    }

    fn gone_plain(&self) -> u32 {
        let paired = |word: &Word| self.pairs.iter().any(|pair| pair.old.start == word.start);
        self.gone.iter().filter(|word| !paired(word)).map(|word| word.kind.weight()).sum()
    }

    /// Whether each speaks of something that the other does not know.
    fn differs_in_subject(&self) -> bool {
        let (Subject::Named(new), Subject::Named(old)) =
            (subject(self.core.sentence.words()), subject(self.sentence.words()))
        else {
            return false;
        };
        // Pairs of signs run over from one word into the next.
        let is_signs = |word: &&Word| word.kind == Kind::Signs;
        if new.iter().any(is_signs) && new.iter().any(|word| self.old.keys.has(word)) {
            return false;
        }
        new.iter().any(|word| !self.old.keys.has(word))
            && old.iter().any(|word| !self.heard.keys.has(word))
    }

    /// Whether the marks of the subjects tell two things apart: "service 5",
    /// "service 9". Where nothing else is new and it says that something
    /// changed, the number did.
    fn is_of_another(&self) -> bool {
        let (new, old) = (marks(self.core.sentence.words()), marks(self.sentence.words()));
        let is_other = !new.is_empty()
            && !old.is_empty()
            && new.iter().all(|word| !self.old.keys.has(word))
            && old.iter().all(|word| !self.heard.keys.has(word));
        let is_subject = |word: &Word| new.iter().any(|mark| mark.key == word.key);
        let is_renumbered = self.heard.change > Change::None
            && self.over.is_empty()
            && self.new.iter().all(|(_, word)| is_subject(word));
        is_other && !is_renumbered
    }

    fn knows_subject(&self) -> bool {
        let (Subject::Named(new) | Subject::Object(new)) = subject(self.core.sentence.words());
        !new.is_empty() && new.iter().all(|word| self.old.keys.has(word))
    }

    fn is_same_polarity(&self) -> bool {
        self.core.sentence.is_negative() == self.sentence.is_negative()
    }

    /// Whether the newer words contradict the sentence.
    fn replaces(&self) -> bool {
        if self.differs_in_subject() {
            return false;
        }
        let (new, gone) = (self.new_plain(), self.gone_plain());
        let is_family = self
            .pairs
            .iter()
            .any(|pair| matches!((pair.new.kind, pair.old.kind), (Kind::Tool(_), Kind::Tool(_))));
        let has_subject = self.shared >= 7 || (is_family && new == 0);
        if !self.pairs.is_empty() && has_subject {
            let fits = new * 2 <= self.shared * 3 + SUBJECT;
            return match self.heard.change {
                Change::None => {
                    self.is_same_polarity() && (new == 0 || gone == 0) && new <= self.shared
                }
                Change::Weak => fits && (new <= SUBJECT || gone <= SUBJECT),
                Change::Strong => fits,
            };
        }
        let other_family = self.new.iter().any(|(_, new)| {
            matches!(new.kind, Kind::Tool(_))
                && self.gone.iter().any(|gone| matches!(gone.kind, Kind::Tool(_)))
        });
        if other_family || self.new.is_empty() || self.gone.is_empty() {
            return false;
        }
        let is_slot = self.new.len() <= 2 && self.gone.len() <= 2;
        match self.heard.change {
            Change::Strong => {
                self.shared >= SUBJECT && self.knows_subject() && new * 2 <= self.shared * 5
            }
            Change::Weak => {
                let is_framed = self.shared > SUBJECT;
                self.shared >= SUBJECT && is_slot && is_framed && self.knows_subject()
            }
            Change::None => {
                self.new.len() == 1
                    && self.gone.len() == 1
                    && self.shared >= 2 * SUBJECT
                    && self.is_same_polarity()
            }
        }
    }

    /// Clauses of the sentence that the new one turns round: "use tabs", "do
    /// not use tabs"; "before", "after".
    fn turned(&self) -> Vec<usize> {
        let turns = |clause: &Clause| {
            self.heard.said.iter().flat_map(|said| &said.sentence.clauses).any(|new| {
                let has_content = content(new).next().is_some();
                let all_new = content(new).all(|word| clause.keys.has(word));
                let all_old = content(clause).all(|word| new.keys.has(word));
                let is_turned = new.is_negative != clause.is_negative
                    || opposed(new, clause)
                    || swapped(new, clause);
                let fits = (all_new && all_old)
                    || (all_old
                        && self.heard.change > Change::None
                        && content(clause).next().is_some());
                has_content && is_turned && fits
            })
        };
        let clauses = self.sentence.clauses.iter().enumerate();
        clauses.filter(|(_, clause)| turns(clause)).map(|(at, _)| at).collect()
    }

    /// Whether what comes on top is about this memory.
    fn adds(&self) -> bool {
        let named = self.heard.words().any(|word| {
            matches!(word.kind, Kind::Name | Kind::Identifier | Kind::Tool(_))
                && self.old.keys.has(word)
        });
        let labelled = self
            .heard
            .words()
            .any(|word| word.kind.weight() >= SUBJECT && self.old.label.has(word));
        let is_about = self.shared >= 2 * SUBJECT
            || (self.shared >= SUBJECT && (named || labelled || self.knows_subject()));
        let is_signs = self.core.sentence.words().any(|word| word.kind == Kind::Signs);
        let is_about = is_about || (is_signs && self.shared >= CONTENT);
        // "Ivan has access, too": another one in the place of a name.
        let is_name = |word: &Word| {
            matches!(word.kind, Kind::Name | Kind::MaybeName) && !self.heard.keys.has(word)
        };
        let is_person = match subject(self.sentence.words()) {
            Subject::Named(old) => {
                old.iter().all(|word| self.heard.keys.has(word) || is_name(word))
            }
            Subject::Object(_) => true,
        };
        is_about && self.shared * 2 >= self.new_plain() && (is_person || !self.differs_in_subject())
    }

    /// Whether it says more about the same without a word of it.
    fn goes_on(&self) -> bool {
        let repeats = self.heard.said.iter().any(|said| {
            let weight: u32 = said.sentence.words().map(|word| self.old.keys.weight(word)).sum();
            weight > SUBJECT + CONTENT
                && said
                    .sentence
                    .clauses
                    .iter()
                    .all(|clause| clause_is_in(clause, &self.old.sentences))
        });
        let is_named =
            self.heard.name == self.old.known.name.to_lowercase() && !self.heard.name.is_empty();
        let is_close = self.shared >= 2 * SUBJECT
            && self.shared >= self.new_plain()
            && self.is_same_polarity()
            && !self.differs_in_subject()
            && (self.gone_plain() <= self.shared);
        repeats || is_named || is_close
    }
}

/// What a statement shares with a sentence and the label of its memory; the
/// label alone is not enough.
fn shared(heard: &Heard, sentence: &Sentence, old: &Old<'_>) -> u32 {
    if !sentence.words().any(|word| heard.keys.has(word)) {
        return 0;
    }
    let mut seen = BTreeSet::new();
    let words = heard.words().filter(|word| seen.insert(word.key.as_str()));
    words.map(|word| sentence.keys.weight(word).max(old.label.weight(word) / 2)).sum()
}
