//! Codes that are typed: at a door, at a till, and those that stand in for a
//! second factor. Numbers are everywhere, so what they are of has to be said.

use super::names;
use super::near;
use super::proof::is_all_digits;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

const CLAUSE_BYTES: usize = 100;
/// Lines that a list of codes may have.
const LIST_BYTES: usize = 600;

/// The nouns, each said once: what they are told by, and what the texts are
/// chosen by in which they are looked for.
macro_rules! nouns {
    (pins: [$($pin:literal),+ $(,)?], codes: [$($code:literal),+ $(,)?]) => {
        /// What is a number for one person.
        const PINS: &[&str] = &[$($pin),+];
        /// What a number may be, where it is of something that it opens.
        const CODES: &[&str] = &[$($code),+];
        /// One of these stands in every number below.
        pub(super) const WORDS: &[&str] = &[$($pin,)+ $($code),+];
    };
}

// Texts are chosen with ASCII folded alone, so a capital of another script is
// named too, or left out.
nouns! {
    pins: [
        "pin",
        "puk",
        "digicode",
        "пин",
        "ПИН",
        "Пин",
        "geheimzahl",
        "geheimnummer",
        "الرقم السري",
        "رمز سري",
    ],
    codes: [
        "code",
        "combination",
        "combo",
        "kód",
        "codul",
        "קוד",
        "पिन",
        "código",
        "codigo",
        "codice",
        "kod",
        "kode",
        "koodi",
        "код",
        "Код",
        "κωδικ",
        "ωδικ",
        "combinaison",
        "combinación",
        "combinazione",
        "kombination",
        "keypad",
        "clave",
        "senha",
        "รหัส",
        "密码",
        "密碼",
        "暗証番号",
        "비밀번호",
        "رمز",
        "cvv",
        "cvc",
    ]
}

/// What a code opens.
const THINGS: &str = "\
    door|gate|alarm|safe|locker|padlock|garage|phone|card|atm|keypad|entrance|lobby|intercom|\
    building|simkarte|sim card|lockbox|shed|bike|bâtiment|ușă|usa |kapu|vrata|dvere|דלת|\
    दरवाज|पिन|tür|haustor|tresor|karte|handy|fahrrad|porte|portail|coffre|carte|alarme|\
    immeuble|puerta|portón|caja fuerte|tarjeta|alarma|móvil|porta|portão|cofre|cartão|\
    portone|cassaforte|carta|cancello|deur|kluis|fiets|dörr|dør|ovi|drzwi|bram|sejf|kart|\
    dveř|двер|подъезд|домофон|сейф|карт|сигнализ|телефон|kapı|kasa|门|門|ドア|金庫|문|도어|باب|cvv|\
    cvc";

static PIN: LazyLock<Option<Regex>> = LazyLock::new(|| near::one_of(PINS));
static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| near::one_of(CODES));
static THING: LazyLock<Option<Regex>> =
    LazyLock::new(|| near::one_of(&THINGS.split('|').collect::<Vec<_>>()));

/// Numbers of doors, cards and alarms.
pub(super) fn numbers(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (Some(pin), Some(code), Some(thing)) = (PIN.as_ref(), CODE.as_ref(), THING.as_ref()) else {
        return found;
    };
    for hit in pin.find_iter(text).filter(|hit| is_word(text, hit.range())) {
        let clause = clause(text, hit.end());
        found.extend(number(clause, false).map(|at| hit.end() + at.start..hit.end() + at.end));
    }
    for hit in code.find_iter(text) {
        let Some((end, is_of_own)) = code_word(text, hit.range()) else { continue };
        let start = text.floor_char_boundary(hit.start().saturating_sub(40));
        let before = text.get(start..hit.start()).unwrap_or_default();
        let before = before.rsplit(['\n', '.', '?']).next().unwrap_or_default();
        let clause = clause(text, end);
        let says = |part: &str| thing.find_iter(part).any(|hit| begins(part, hit.start()));
        if is_of_own || says(before) || says(hit.as_str()) || says(clause) {
            let is_finnish = hit.as_str().eq_ignore_ascii_case("koodi");
            found.extend(number(clause, is_finnish).map(|at| end + at.start..end + at.end));
        }
    }
    found
}

fn begins(text: &str, at: usize) -> bool {
    !text.get(..at).is_some_and(|head| head.ends_with(|c: char| c.is_ascii_alphanumeric()))
}

/// Where the word for a code ends, and whether it says itself what it opens:
/// `Entsperrcode`, `portkoden`.
fn code_word(text: &str, at: Range<usize>) -> Option<(usize, bool)> {
    const OTHERS: &str = "\
        bar zip op byte uni post status error exit fehler länder area promo gutschein rabatt source quell pseudo \
        qr en de trans vs pre geo country http response return color colour morse machine";
    let own = text.get(at.clone())?;
    if near::is_in_mark(text, at.start) {
        return None;
    }
    if own.starts_with(|c| c > '\u{370}') {
        return Some((at.end, false));
    }
    let head = text.get(..at.start)?;
    let first =
        head.rfind(|c: char| !c.is_alphabetic()).map_or(0, |gap| head.ceil_char_boundary(gap + 1));
    let prefix = head.get(first..)?.to_lowercase();
    let rest = text.get(at.end..)?;
    let suffix = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let is_part = rest.get(suffix..).is_some_and(|rest| rest.starts_with(['_', '(']));
    let is_known = OTHERS.split_ascii_whitespace().any(|other| other == prefix);
    (suffix <= 3 && !is_part && !is_known && (prefix.is_empty() || prefix.chars().count() >= 3))
        .then_some((at.end + suffix, !prefix.is_empty()))
}

/// A short name is a whole word; German puts what it opens before it.
fn is_word(text: &str, at: Range<usize>) -> bool {
    let own = text.get(at.clone()).unwrap_or_default();
    let rest = text.get(at.end..).unwrap_or_default();
    let before = text.get(..at.start).unwrap_or_default();
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    !near::is_in_mark(text, at.start)
        && (!own.is_ascii()
            || !rest.starts_with(is_letter) && (own.len() >= 4 || !before.ends_with(is_letter))
            || own.eq_ignore_ascii_case("pin")
                && ["code", "nummer", "number"].iter().any(|more| rest.starts_with(more)))
}

fn clause(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let near = rest.get(..rest.floor_char_boundary(CLAUSE_BYTES)).unwrap_or_default();
    let end = ["\n", ". ", "? ", "; ", "。", "[secret: "]
        .into_iter()
        .filter_map(|end| near.find(end))
        .min();
    near.get(..end.unwrap_or(near.len())).unwrap_or_default()
}

/// The number that a clause gives.
fn number(clause: &str, is_finnish: bool) -> Option<Range<usize>> {
    const OTHERS: &str = "\
        in since seit by until bis on at um line port room page zeile seite version rfc http status error \
        year jahr en depuis desde v the a no nr";
    let gap = |c: char| c.is_whitespace() || "\"'`()[]{},".contains(c) || c > '\u{370}';
    let start_of = |part: &str| part.as_ptr().addr() - clause.as_ptr().addr();
    let mut last = "";
    for word in clause.split(gap).filter(|word| !word.is_empty()) {
        let own = word.trim_start_matches([':', '=', '*']).trim_end_matches(['.', '!', ':', '?']);
        let own = own.trim_end_matches('*');
        if is_number(own) && is_finnish && last == "on"
            || is_number(own)
                && !OTHERS.split_ascii_whitespace().any(|other| last.eq_ignore_ascii_case(other))
        {
            let rest = clause.get(start_of(own) + own.len()..).unwrap_or_default();
            return is_last(rest).then(|| start_of(own)..start_of(own) + own.len());
        }
        last = word;
    }
    None
}

/// `4711`, `#4711`, `4711#`, `24-11-37`.
fn is_number(word: &str) -> bool {
    let core = word.trim_matches(['#', '*']);
    let pairs = || core.split('-');
    (3..=10).contains(&core.len())
        && is_all_digits(core)
        && (core.len() > 3 || core.len() < word.len())
        && !(core.len() > 4 && "1234567890".starts_with(core))
        || (4..=6).contains(&word.len()) && is_with_letter(word)
        || (3..=4).contains(&pairs().count())
            && pairs().all(|pair| pair.len() <= 2 && is_all_digits(pair))
}

/// `1947E`, `45B7`.
fn is_with_letter(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
        && word.bytes().filter(u8::is_ascii_uppercase).count() == 1
}

/// Whether nothing is said of the number: `4711 characters`.
fn is_last(rest: &str) -> bool {
    const ON: &str = "and und et y e och og i и for on at since now but please then thanks it";
    const COUNTERS: &[char] =
        &['位', '个', '個', '字', '天', '文', '桁', '자', '日', '年', '月', '号'];
    let next = rest.trim_start_matches(['"', '\'', '`', ')', '.', ',', '!', '*']).trim_start();
    let first: String = next.chars().take_while(|c| c.is_alphanumeric()).collect();
    next.is_empty()
        || !next.starts_with(COUNTERS)
            && next.starts_with(|c: char| c > '\u{370}' || "(,;-—–".contains(c))
        || rest.starts_with([',', '.'])
        || ON.split_ascii_whitespace().any(|on| on == first.to_lowercase())
}

/// What a list of codes is called.
pub(super) const LISTS: &[&str] = &[
    "recovery code",
    "backup code",
    "rescue code",
    "scratch code",
    "emergency code",
    "2fa code",
    "recovery_code",
    "backup_code",
    "recoverycode",
    "backupcode",
    "recovery key",
    "backup key",
    "wiederherstellungs",
    "backup-code",
    "recovery-code",
    "codes de secours",
    "codes de récup",
    "codes de recup",
    "código de recup",
    "códigos de recup",
    "codici di ",
    "codici backup",
    "herstelcode",
    "код восстанов",
    "коды восстанов",
    "резервны",
    "резервный",
    "恢复代码",
    "恢复码",
    "备用码",
    "リカバリー",
    "バックアップコード",
    "복구 코드",
    "백업 코드",
    "one-time code",
    "otp code",
    "tan list",
    "tan-liste",
    "unlock key",
];
static LIST: LazyLock<Option<Regex>> = LazyLock::new(|| near::one_of(LISTS));

/// Codes that follow the name of a list, as long as they go on.
pub(super) fn lists(text: &str) -> Vec<Range<usize>> {
    let Some(list) = LIST.as_ref() else { return Vec::new() };
    let mut found: Vec<Range<usize>> = Vec::new();
    for hit in list.find_iter(text) {
        let from = hit.end();
        if found.last().is_some_and(|last| last.end > from) {
            continue;
        }
        let rest = text.get(from..).unwrap_or_default();
        let rest = rest.get(..rest.floor_char_boundary(LIST_BYTES)).unwrap_or_default();
        let start_of = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
        let gap = |c: char| c.is_whitespace() || "\"'`()[]{},;:=*|·•".contains(c);
        let is_noise = |word: &str| word.trim_matches(['.', ')', '-', '#']).len() <= 2;
        let mut said = 0;
        for word in rest.split(gap).filter(|word| !word.is_empty()) {
            let own = word.trim_end_matches('.');
            let is_first = found.last().is_none_or(|last| last.start < from);
            // `pkcs12` in what follows a sentence about a backup key.
            if is_code(own) && !(is_first && names::is_word(own)) {
                found.push(start_of(own)..start_of(own) + own.len());
            } else if !is_first {
                if !is_noise(word) {
                    break;
                }
            } else {
                // `for GitHub`, `of the admin account are`.
                said += 1;
                if said > 8 || word.ends_with('.') && !is_all_digits(own) {
                    break;
                }
            }
        }
    }
    found
}

/// `8cfdc-98efa`, `48210577`, `RQAS-B3ZA-J4AX`.
fn is_code(word: &str) -> bool {
    let parts = || word.split('-');
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_part = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_date = word.len() == 10 && parts().map(str::len).eq([4, 2, 2]);
    let is_alike = parts().all(|part| Some(part.len()) == parts().next().map(str::len));
    (4..=80).contains(&word.len())
        && digits >= 1
        && (digits >= 2 || parts().count() >= 2)
        && parts().all(is_part)
        && !is_date
        && (parts().count() >= 2 && is_alike && parts().all(|part| part.len() >= 3)
            || parts().count() == 1 && word.len() >= 6 && !word.starts_with("20")
            || is_all_digits(word) && (4..=8).contains(&word.len()) && !word.starts_with("20"))
}
