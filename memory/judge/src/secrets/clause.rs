//! Passwords by clause: what one is called, in any language, and in the same
//! clause a word with digits in it, as people make passwords of words:
//! `sunflower22`. How the two are joined is grammar, which differs by language;
//! what stands for a machine, a person or a version is told by the word before.

use super::names::{is_of_machines, is_technical};
use super::near;
use super::nouns::with_nouns;
use super::proof::{has_digit, is_all_digits};
use super::stand_in::{is_placeholder, is_reference};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// How far a clause is looked through.
const CLAUSE_BYTES: usize = 140;

/// What a password is called, in the letters that all its forms share.
pub(super) const WORDS: &[&str] = with_nouns![
    "passw",
    "passphrase",
    "pass-phrase",
    "passcode",
    "mots de passe",
    "mot de passe",
    "palavra-passe",
    "palavra passe",
    "losungswort",
    "contrasin",
    "wagwoord",
    "tunnussana",
    "hasło",
    "hasłe",
    "cyfrinair",
    "lykilor",
    "fhocal faire",
    "nenosiri",
    "neno la siri",
    "frinair",
    "jalëkalim",
    "jalekalim",
    "kata laluan",
    "kata sandi",
    "mat khau",
    "АРОЛ",
    "озинк",
    "тайна дума",
    "ұпиясөз",
    "нууц үг",
    "υνθηματικ",
    "كلمة ال",
    "كلمة مرور",
    "كلمة سر",
    "كلمه عبور",
    "رمز عبور",
    "رمز ال",
    "گذرواژه",
    "پسورد",
    "پاسورد",
    "باسورد",
    "باسوورد",
    "ססמ",
    "พาสเวิร์ด",
    "پاس ورڈ",
    "الرقم السري",
    "கடவுச்சொல்",
    "పాస్‌వర్డ్",
    "รหัสผ่าน",
    "รหัสลับ",
    "პაროლ",
    "աղտնաբառ",
    "パスフレーズ",
    "暗証番号",
    "패스워드",
    // These begin a word, or are one.
    "pw",
    "psw",
    "pass for",
    "pass to",
    "haslo",
    "hesla",
    "zapork",
    "gesla",
    "pasvort",
];

/// Those of them that begin a word, and those that are one.
const BEGINNINGS: &str = "parol parool haslo heslo hesla lozink zapork geslo gesla jelsz pasvort";
const WHOLE: &str = "pwd pw psw mdp clave senha";

static NOUN: LazyLock<Option<Regex>> = LazyLock::new(|| near::one_of(WORDS));

/// Where the names for a password stand, with what is hung on to them.
fn nouns(text: &str) -> impl Iterator<Item = Range<usize>> {
    let hits = NOUN.as_ref().map(|noun| noun.find_iter(text)).into_iter().flatten();
    hits.filter_map(|hit| {
        let own = hit.as_str().to_lowercase();
        let is_in = |list: &str| list.split_ascii_whitespace().any(|name| name == own);
        let before = text.get(..hit.start()).unwrap_or_default();
        let rest = text.get(hit.end()..).unwrap_or_default();
        let is_start = !before.ends_with(|c: char| c.is_ascii_alphanumeric());
        // Chinese and Japanese have no gap before the next word.
        let is_more = |c: char| c < '\u{2e80}' && c.is_alphabetic();
        let tail = rest.find(|c| !is_more(c)).unwrap_or(rest.len());
        let is_name = if is_in(WHOLE) {
            is_start && tail == 0
        } else {
            is_start || !is_in(BEGINNINGS) && !own.starts_with("pass ")
        };
        (is_name && !near::is_in_mark(text, hit.start())).then(|| hit.start()..hit.end() + tail)
    })
}

/// Before a name for one: `sunflower22 is the wifi password`.
fn gives_before(between: &str) -> bool {
    const VERBS: &str = "\
        is are was ist war est c'est es è é e är er je jest to это as als comme como come jako som \
        как olarak for when same = → -> — – -";
    const AS: &str = "when same as als comme como come jako som как olarak = → -> — – -";
    const WHOSE: &str = "\
        the my our your his her their its a an this that same new das mein unser dein le mon notre ton la \
        el mi nuestra tu o a minha nossa il mia nostra de het mijn onze det min mitt vårt moje nasze мой \
        наш asked it";
    let between = between.trim_start_matches(['"', '\'', '`', '*', ',']);
    let mut words = between.split_whitespace();
    let is_in = |list: &str, word: Option<&str>| {
        word.is_some_and(|word| list.split_whitespace().any(|own| own == word))
    };
    let first = words.next();
    let second = words.clone().next();
    // `mkern88 was locked after a wrong password` is somebody.
    let says_whose = second.is_none() || is_in(WHOSE, second) || is_in(AS, first);
    is_in(VERBS, first)
        && says_whose
        && words.count() <= 5
        && !between.contains([',', ';', ':', '?', '!'])
}

/// The words that people make passwords of, beside a word for one.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for hit in nouns(text) {
        let noun = text.get(hit.clone()).unwrap_or_default();
        let (from, to) = (clause_start(text, hit.start), clause_end(text, hit.end));
        let behind = text.get(hit.end..to).unwrap_or_default();
        let is_said = |at: &Range<usize>| {
            let before = behind.get(..at.start).unwrap_or_default();
            let rest = behind.get(at.end..).unwrap_or_default();
            let word = behind.get(at.clone()).unwrap_or_default();
            is_from_words(word) && (is_given(before) || ends(rest)) && !is_of_another(before, noun)
                || is_respelt(word) && is_given(before) && ends(rest)
                || is_number(word)
                    && !before.starts_with(['_', '-', '.'])
                    && ends(rest)
                    && (is_joined(before) || is_given(before) && !is_year(word))
        };
        found.extend(
            candidates(behind).filter(is_said).map(|at| hit.end + at.start..hit.end + at.end),
        );
        let before = text.get(from..hit.start).unwrap_or_default();
        let is_said = |at: &Range<usize>| {
            let word = before.get(at.clone()).unwrap_or_default();
            let between = before.get(at.end..).unwrap_or_default();
            is_from_words(word) && gives_before(between)
        };
        found.extend(candidates(before).filter(is_said).map(|at| from + at.start..from + at.end));
    }
    found
}

/// `. `, `? `, a new line: where what is said begins anew.
fn clause_start(text: &str, at: usize) -> usize {
    let near = text.floor_char_boundary(at.saturating_sub(CLAUSE_BYTES));
    let head = text.get(near..at).unwrap_or_default();
    let end = |mark: &str| head.rfind(mark).map(|found| near + found + mark.len());
    let cut = ["\n", ". ", "? ", "; ", "。", "？"].into_iter().filter_map(end).max();
    cut.or((near > 0).then(|| near + head.find(char::is_whitespace).unwrap_or(head.len())))
        .unwrap_or(0)
}

fn clause_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let near = rest.get(..rest.floor_char_boundary(CLAUSE_BYTES)).unwrap_or_default();
    let cut = ["\n", ". ", "? ", "; ", "。", "？", "！"]
        .into_iter()
        .filter_map(|end| near.find(end))
        .min();
    let most = if near.len() < rest.len() {
        near.rfind(char::is_whitespace).unwrap_or(near.len())
    } else {
        near.len()
    };
    at + cut.unwrap_or(most)
}

/// Runs of signs that a password has.
fn candidates(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_gap = |c: char| {
        c.is_whitespace()
            || "\"'`()[]{}<>|,;".contains(c)
            || !c.is_ascii() && !('\u{c0}'..='\u{17f}').contains(&c)
    };
    let start_of = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
    text.split(is_gap).filter(|word| word.len() >= 4).map(move |word| {
        let word = word.trim_start_matches([':', '=', '*', '-']);
        let word = word.trim_end_matches(['.', ':', '*', '?']);
        start_of(word)..start_of(word) + word.len()
    })
}

/// Letters that make a word, and digits: `sunflower22`, `Blaubeere!42`.
pub(super) fn is_from_words(word: &str) -> bool {
    const SIGNS: &str = "!@#$%&*+?^~";
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let has_sign = word.trim_end_matches('!').contains(|c| SIGNS.contains(c));
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c) || SIGNS.contains(c);
    let parts = || word.split(|c: char| !c.is_alphabetic()).filter(|part| !part.is_empty());
    (6..=40).contains(&word.chars().count())
        && letters >= 3
        && (digits >= 2 || digits == 1 && has_sign)
        && word.chars().all(is_plain)
        && word.starts_with(char::is_alphabetic)
        && parts().any(|part| part.chars().count() >= 3)
        && (has_sign || !parts().any(is_of_machines))
        && !word.bytes().all(|b| b.is_ascii_hexdigit())
        && !word.contains("--")
        && !is_technical(word)
        && !is_placeholder(word)
        && !is_reference(word)
}

/// A word with one digit in the place of a letter: `Kateri4ka`.
fn is_respelt(word: &str) -> bool {
    let inner = word.trim_start_matches(char::is_alphabetic).trim_end_matches(char::is_alphabetic);
    let heads = word.find(inner).unwrap_or(0);
    (8..=40).contains(&word.chars().count())
        && inner.len() == 1
        && has_digit(inner)
        && heads >= 2
        && word.len() - heads >= 3
        && !is_technical(word)
        && !is_placeholder(word)
        && !is_reference(word)
}

/// Behind a colon, an equals sign, a verb.
fn is_given(before: &str) -> bool {
    const VERBS: &str = "\
        is are was be to it's its ist lautet war auf est sera es era son é è e este ar är er on ir yra \
        je jest to brzmi luidt это є adalah là ialah ni és da dir now jetzt currently übrigens \
        actually just simply still type enter use";
    // `The password (sunflower22) expires`.
    if before.trim() == "(" {
        return true;
    }
    let head = before.trim_end().trim_end_matches(['"', '\'', '`', '*', '(']).trim_end();
    let last = head.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    head.ends_with([':', '=', '→', '>', '—', '–', '：'])
        || head.ends_with(|c: char| c > '\u{370}')
        || VERBS.split_ascii_whitespace().any(|verb| verb == last)
}

/// Whether nothing stands between but a sign or a verb.
fn is_joined(before: &str) -> bool {
    let core = before.trim_matches(|c: char| !c.is_alphabetic());
    before.len() <= 16 && (core.is_empty() || !core.is_ascii() || is_given(core))
}

/// Whether the clause is over, or goes on in another script.
fn ends(rest: &str) -> bool {
    const ON: &str = "\
        and but for so as on in at und aber für auf et pour sur y en og och i и for now again everywhere \
        until since before after too btw ok thanks please pls by da est ir";
    let next = rest.trim_start_matches(['"', '\'', '`', '*', ')', ']', '.', '!', '?']).trim_start();
    let first: String = next.chars().take_while(|c| c.is_alphanumeric()).collect();
    next.is_empty()
        || next.starts_with([',', ';', '(', '-', '—', '–', '|', '/'])
        || next.starts_with(|c: char| c > '\u{370}')
        || ON.split_ascii_whitespace().any(|on| on == first.to_lowercase())
}

/// What stands there is a machine, a person, a place: `the password on atlas22`.
fn is_of_another(before: &str, noun: &str) -> bool {
    const OTHERS: &str = "\
        on at in of for from by via user username login account host hostname server machine box \
        cluster version field column table option variable function method class file page ticket issue \
        team room auf bei für im von vom zum am benutzer rechner sur pour dans chez en para del \
        della nel per op voor på för till w do na v в на для от у";
    let head = before.trim_end();
    let last = head.rsplit(|c: char| c.is_whitespace() || "\"'`(".contains(c)).next();
    let last = last.unwrap_or_default().to_lowercase();
    let is_verb = last == "on"
        && ["salas", "parool", "tunnus"].iter().any(|own| noun.to_lowercase().starts_with(own))
        || last == "auf" && head.contains(' ');
    !is_verb && OTHERS.split_ascii_whitespace().any(|other| other == last)
}

/// A number that is typed at a door or a till.
fn is_number(word: &str) -> bool {
    (4..=12).contains(&word.len()) && is_all_digits(word)
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && (word.starts_with("19") || word.starts_with("20"))
}
