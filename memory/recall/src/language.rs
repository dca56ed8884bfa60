//! Which language a text is in, by the small words that every sentence has
//! (R15); and how its words are stemmed.
//!
//! A memory is stemmed by its own language, a query by all that the memories
//! have: so a query of two words needs no language of its own. English is what
//! is not known to be another.

use crate::text;
use rust_stemmers::{Algorithm, Stemmer};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A language by its place in [`LANGUAGES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Language(u8);

/// How many small words of another language a text must have more than English ones.
const LEAST_LEAD: usize = 2;

struct Entry {
    /// Its code, as ISO 639 has it.
    name: &'static str,
    algorithm: Algorithm,
    /// Words that carry no meaning of their own.
    small_words: &'static [&'static str],
    /// For a language that is told by its script: its first and last sign.
    script: Option<(char, char)>,
}

const fn by_words(
    name: &'static str,
    algorithm: Algorithm,
    small_words: &'static [&'static str],
) -> Entry {
    Entry { name, algorithm, small_words, script: None }
}

const fn by_script(name: &'static str, algorithm: Algorithm, first: char, last: char) -> Entry {
    Entry { name, algorithm, small_words: &[], script: Some((first, last)) }
}

/// English first: its small words are the stop words.
const LANGUAGES: [Entry; 16] = [
    by_words("en", Algorithm::English, &[]),
    by_words(
        "de",
        Algorithm::German,
        &[
            "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "bitte", "bin", "bis", "da",
            "darf", "das", "dass", "dem", "den", "der", "des", "die", "dir", "doch", "du", "ein",
            "eine", "einem", "einen", "einer", "er", "es", "für", "gegen", "hat", "ich", "im",
            "in", "ist", "kann", "kein", "keine", "man", "mein", "mich", "mir", "mit", "nach",
            "nicht", "noch", "nur", "oder", "sein", "sich", "sie", "sind", "so", "über", "um",
            "und", "uns", "unser", "von", "vom", "vor", "warum", "was", "welche", "welches",
            "wenn", "wer", "wie", "wir", "wird", "wo", "zu", "zum", "zur",
        ],
    ),
    by_words(
        "fr",
        Algorithm::French,
        &[
            "ai", "au", "aux", "avec", "ce", "ces", "cette", "comment", "d", "dans", "de", "des",
            "du", "elle", "en", "est", "et", "il", "j", "je", "l", "la", "le", "les", "leur", "ma",
            "mais", "mes", "moi", "mon", "ne", "nos", "notre", "nous", "on", "ou", "où", "par",
            "pas", "peut", "plus", "pour", "pourquoi", "puis", "qu", "que", "quel", "quelle",
            "qui", "sa", "se", "ses", "si", "son", "sont", "sur", "un", "une", "vous", "à",
        ],
    ),
    by_words(
        "es",
        Algorithm::Spanish,
        &[
            "al", "algo", "algún", "alguna", "como", "con", "cuál", "cuando", "cómo", "de", "del",
            "donde", "dónde", "el", "ella", "en", "es", "esta", "este", "esto", "está", "hay",
            "la", "las", "lo", "los", "me", "mi", "muy", "más", "no", "nos", "nuestra", "nuestro",
            "o", "para", "pero", "por", "porque", "puede", "puedo", "que", "qué", "se", "si",
            "sin", "son", "su", "sus", "tu", "un", "una", "y", "ya", "yo",
        ],
    ),
    by_words(
        "it",
        Algorithm::Italian,
        &[
            "al", "alla", "anche", "che", "chi", "ci", "come", "con", "da", "dal", "dei", "del",
            "della", "di", "dove", "e", "gli", "ho", "i", "il", "in", "io", "la", "le", "lo", "ma",
            "mi", "nel", "nella", "non", "nostro", "per", "perché", "più", "posso", "quale", "se",
            "si", "sono", "su", "sul", "un", "una", "è",
        ],
    ),
    by_words(
        "pt",
        Algorithm::Portuguese,
        &[
            "ao", "as", "com", "como", "da", "das", "de", "do", "dos", "e", "ela", "ele", "em",
            "essa", "esse", "está", "eu", "isso", "mas", "meu", "minha", "na", "nas", "no", "nos",
            "nosso", "não", "o", "onde", "os", "ou", "para", "pela", "pelo", "por", "posso",
            "qual", "que", "se", "sem", "são", "um", "uma", "você", "é",
        ],
    ),
    by_words(
        "nl",
        Algorithm::Dutch,
        &[
            "aan", "als", "bij", "dat", "de", "deze", "die", "dit", "een", "en", "er", "het",
            "hij", "hoe", "ik", "in", "is", "je", "kan", "maar", "met", "mijn", "naar", "niet",
            "nog", "of", "om", "onze", "ook", "op", "te", "uit", "van", "voor", "waar", "wat",
            "we", "wie", "wij", "zijn",
        ],
    ),
    by_words(
        "sv",
        Algorithm::Swedish,
        &[
            "att", "av", "de", "den", "det", "du", "eller", "en", "ett", "från", "för", "han",
            "har", "hur", "i", "inte", "jag", "kan", "med", "men", "min", "när", "och", "om", "på",
            "ska", "som", "så", "till", "vad", "var", "vi", "vår", "är",
        ],
    ),
    by_words(
        "da",
        Algorithm::Danish,
        &[
            "af", "at", "de", "den", "det", "du", "eller", "en", "er", "et", "for", "fra", "han",
            "har", "hvad", "hvor", "hvordan", "i", "ikke", "jeg", "kan", "med", "men", "min", "og",
            "om", "på", "skal", "som", "så", "til", "vi", "vores",
        ],
    ),
    by_words(
        "fi",
        Algorithm::Finnish,
        &[
            "ei", "että", "hän", "ja", "jos", "joka", "kun", "kuin", "me", "mikä", "minä", "miten",
            "mutta", "myös", "ne", "niin", "nyt", "oli", "on", "ovat", "se", "sen", "tai", "tämä",
            "vain", "voi",
        ],
    ),
    by_words(
        "hu",
        Algorithm::Hungarian,
        &[
            "a", "az", "csak", "de", "egy", "ez", "ezt", "hogy", "hogyan", "és", "ha", "is",
            "kell", "lehet", "meg", "mi", "mint", "nem", "van", "vagy", "volt",
        ],
    ),
    by_words(
        "tr",
        Algorithm::Turkish,
        &[
            "ama", "bir", "bu", "çok", "da", "daha", "de", "değil", "gibi", "için", "ile", "mi",
            "mı", "nasıl", "ne", "neden", "o", "olan", "şu", "var", "ve", "veya", "ya",
        ],
    ),
    by_script("ru", Algorithm::Russian, '\u{400}', '\u{52f}'),
    by_script("el", Algorithm::Greek, '\u{370}', '\u{3ff}'),
    by_script("ar", Algorithm::Arabic, '\u{600}', '\u{6ff}'),
    by_script("ta", Algorithm::Tamil, '\u{b80}', '\u{bff}'),
];

/// Small words, with a bit for each language that has them.
fn small_words() -> &'static BTreeMap<&'static str, u16> {
    static WORDS: OnceLock<BTreeMap<&str, u16>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut all: BTreeMap<&str, u16> = text::STOP_WORDS.iter().map(|word| (*word, 1)).collect();
        for (at, entry) in LANGUAGES.iter().enumerate() {
            for word in entry.small_words {
                *all.entry(word).or_default() |= 1 << at;
            }
        }
        all
    })
}

impl Language {
    /// The language of a text.
    pub(crate) fn of(text: &str) -> Self {
        let script =
            text.chars().find(|sign| !sign.is_ascii()).and(Some(text)).and_then(Self::by_script);
        script.unwrap_or_else(|| Self::by_small_words(text))
    }

    fn by_script(text: &str) -> Option<Self> {
        let letters = text.chars().filter(|sign| sign.is_alphabetic()).count();
        let share = |entry: &Entry| {
            let (first, last) = entry.script?;
            let own = text.chars().filter(|sign| (first..=last).contains(sign)).count();
            (own * 2 > letters).then_some(())
        };
        let at = LANGUAGES.iter().position(|entry| share(entry).is_some())?;
        u8::try_from(at).ok().map(Self)
    }

    fn by_small_words(text: &str) -> Self {
        let mut counts = [0_usize; LANGUAGES.len()];
        text::each_token(text, |token| {
            let small = small_words().get(token.text).copied().unwrap_or_default();
            for (at, count) in counts.iter_mut().enumerate() {
                *count += usize::from(small >> at & 1);
            }
        });
        let [english, others @ ..] = counts;
        let best =
            others.iter().zip(1..).max_by_key(|(count, at)| (**count, std::cmp::Reverse(*at)));
        match best {
            Some((count, at)) if *count >= english + LEAST_LEAD => Self(at),
            _ => Self::default(),
        }
    }

    /// Whether a word carries no meaning of its own in this language.
    pub(crate) fn is_small(self, word: &str) -> bool {
        small_words().get(word).is_some_and(|small| small >> self.0 & 1 == 1)
    }

    /// Its code, as ISO 639 has it.
    pub(crate) fn name(self) -> &'static str {
        LANGUAGES.get(usize::from(self.0)).map_or("en", |entry| entry.name)
    }

    /// As a number that is kept, and from it.
    pub(crate) fn code(self) -> u8 {
        self.0
    }

    pub(crate) fn from_code(code: u8) -> Self {
        if usize::from(code) < LANGUAGES.len() { Self(code) } else { Self::default() }
    }

    /// What stems its words.
    pub(crate) fn stemmer(self) -> Stemmer {
        let entry = LANGUAGES.get(usize::from(self.0));
        Stemmer::create(entry.map_or(Algorithm::English, |entry| entry.algorithm))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(text: &str, algorithm: Algorithm) -> bool {
        let of = LANGUAGES.get(usize::from(Language::of(text).0)).unwrap().algorithm;
        std::mem::discriminant(&of) == std::mem::discriminant(&algorithm)
    }

    #[test]
    fn r15_a_language_is_told_by_its_small_words_or_its_script() {
        assert!(is("Kann ich heute noch auf den Server ausrollen?", Algorithm::German));
        assert!(is("ajoute la règle de durée pour les remboursements", Algorithm::French));
        assert!(is(
            "quiero borrar un campo de la partida, ¿hay algún problema con eso?",
            Algorithm::Spanish
        ));
        assert!(is("Мы выкатываем по пятницам", Algorithm::Russian));
        assert!(is("We deploy on Fridays, and die of it", Algorithm::English));
        assert!(is("install lightgbm", Algorithm::English));
        assert!(is("", Algorithm::English));
    }
}
