//! Passwords of plain letters: `password: marmalade`, "das Passwort ist …".
//!
//! Nothing about the word itself tells one, so the place has to: a noun for a
//! password, whose it is, and a sign or a verb that gives it a value. What is
//! said *of* a password stands in the same place ("is required", `: string`),
//! and is a list of its own; what people choose is any other word.

use super::nouns::with_nouns;
use super::stand_in::{is_placeholder, is_reference};
use super::value::{self, Dress, Value};
use crate::pattern::compiled;
use regex::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// Shorter words are articles and names of things.
const LENGTHS: std::ops::RangeInclusive<usize> = 5..=64;
/// How far around a short name it is looked for who signs in.
const CONTEXT_BYTES: usize = 160;

/// One of these stands in every name below.
pub(super) const WORDS: &[&str] = with_nouns![
    "passw",
    "passp",
    "passc",
    "pass_",
    "pass-p",
    "pass p",
    "mot de passe",
    "mots de passe",
    "palavra-passe",
    "pass:",
    "pass=",
    "pass =",
    "pass\"",
    "pass'",
    "pass is",
    "pass]",
    " pw",
    "pw:",
    "pw=",
    "pw is",
    "_pw",
    "psw",
    "psk",
    "АРОЛЬ",
    "has\u{142}o",
    "haslo",
    "kata sandi",
];

/// What a password is called; a word that only begins so is another one.
const NOUNS: &str = r"(?:pass(?:word|wd|[_ -]?phrase|code)|passwort|kennwort|pwd|mots? de passe|\bmdp|contrase(?:ñ|n)a|\bsenha|palavra-passe|\bparol(?:a|ă)|wachtwoord|l(?:ö|o)senord(?:et)?|passord(?:et)?|adgangskode(?:n)?|kodeord(?:et)?|salasana|has[łl]o|heslo|lozinka|geslo|jelsz(?:ó|ava)|(?:remote|local|jdbc|ldap|irc|sasl|trust|client|server|master|guest|login|vnc|ssh|git|repo|vpn|smtp|imap|db|ftp|user|auth|mail|root|admin|ssl|key|store|bind|sql|pg|http|proxy|wifi|rpc)pass|[şs]ifre(?:si|miz|m)?|пароль|пароля|mật khẩu|kata sandi|密码|密碼|口令|パスワード|비밀번호|암호|비번)";
/// Names that mean something else as often.
const SHORT: &str = r"(?:(?:\b|_)(?:pass|pw|psw|psk)|(?-i:[a-z]P(?:ass|w))|\bclave)";
/// Whose it is: "… for the staging box".
const OWNER: &str = r"(?:[ \t]+(?:for|of|at|on|to|in|from|für|fürs|beim|ins|der|des|vom|von|zum|zur|am|im|auf|bei|pour|de|du|d'|del|della|dello|di|al|alla|do|da|para|van|voor|op|till?|hos|för|av|på|od|ke|k|для|от|к|на|untuk|của|cho)(?:\b|[ \t])[^\n:=?!.,;]{1,50}?)?";
/// Whose it is, in one word: "mot de passe admin", "the password everywhere".
const OF: &str = r"(?:[ \t]+(?:nov[aáoé]|nuov[ao]|nueva|nouveau|provisoire|provisional|provvisoria|temporal|temporária|temporanea|atual|attuale|actual|nowe|nové|новый|временный|admin\w*|root|user|everywhere|again|there|here|wifi|администратора|сервера|базы|пользователя))?";
/// What gives it a value.
const SIGN: &str = r"[ \t]*(?:=>|:=|->|→|<-|={1,3}|:{1,2}|：)[ \t]*|[ \t]+[—–][ \t]+";
const VERB: &str = r"[ \t]+(?:is|was|are|ist|war|bleibt|lautet|est|sera|es|era|é|è|e|este|är|er|je|jest|brzmi|luidt|lyder|е|это|là|adalah)(?:[ \t]+(?:now|still|currently|just|simply|jetzt|noch|ahora|toujours|maintenant|ora|agora))?[ \t]*:?[ \t]+|['’]s[ \t]+|[ \t]*(?:は|是|为|為|은|는|이)[ \t]*";
/// Nouns behind which the value follows at once, as in their languages it may.
const AT_ONCE: &str = r"(?:has[łl]o(?:[ \t]+d?o[ \t][^\n:=?!.,;]{1,40}?)?[ \t]+to|salasana(?:ni|mme)?[ \t]+on|[şs]ifre(?:si|miz|m)|(?:пароль|비밀번호|비번|パスワード|密码)(?:[ \t]+(?:от|для|к|на|у)(?:[ \t]+[а-яё-]+){1,2})?)[ \t]+";

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = format!(r#"(?:{NOUNS}|(?P<short>{SHORT}))\d?["'`*_\])}}]*"#);
    let aside = r"(?:[ \t]*\([^()\n]{1,40}\))?";
    let given = format!(r"(?:(?P<sign>{SIGN})|(?P<verb>{VERB}))(?:[>|][-+]?[ \t]*\n[ \t]*)?");
    made(&format!(r"(?i){name}{aside}(?:{OWNER}|{OF}){given}|(?P<once>{AT_ONCE})"))
});

/// Who signs in, and where.
static CONTEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "user|login|log in|account|host|admin|root|mail|smtp|imap|ftp|ssh|server|\
                 database|\\bdb|wifi|wi-fi|wlan|ssid|conexión|cuenta|servidor|auth|secret|literal";
    made(&format!("(?i){words}"))
});

/// A line of a file with a name and a value on each: `password marmalade`.
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    made(
        r#"(?im)^[ \t]*(?:password|passwd|passphrase|pass|secret)[ \t]+["']?([^\s"']{4,64})["']?[ \t]*$"#,
    )
});
/// What else such a file has.
static OTHER_LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    made(
        r"(?im)^[ \t]*(?:user(?:name)?|login|account|host(?:name)?|machine|server|port|protocol|poll|auth\w*|from|tls|ssl|url|realm|ssid|remote|database|address)[ \t]+\S+[ \t]*$",
    )
});
/// Lines between the two.
const CONTEXT_LINES: usize = 4;

/// Names are ASCII, or end before a sign.
fn made(source: &str) -> Option<Regex> {
    compiled(&source.replace(r"\b", r"(?-u:\b)"))
}

/// How a place gives the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Sign,
    Verb,
    AtOnce,
}

/// Words that are passwords by where they stand.
pub(super) fn passwords(text: &str) -> Vec<Range<usize>> {
    let Some(place) = PLACE.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(hit) = place.captures_at(text, from) {
        let Some(whole) = hit.get(0) else { break };
        from = whole.end().max(from + 1);
        found.extend(value_of(text, &hit, whole.range()));
        if !text.is_char_boundary(from) {
            break;
        }
    }
    found
}

/// Passwords of files that have no sign between a name and its value.
pub(super) fn lines(text: &str) -> Vec<Range<usize>> {
    let (Some(line), Some(other)) = (LINE.as_ref(), OTHER_LINE.as_ref()) else { return Vec::new() };
    let is_near = |at: &Range<usize>| {
        let before = text.get(..at.start).unwrap_or_default().rsplit('\n').take(CONTEXT_LINES);
        let behind = text.get(at.end..).unwrap_or_default().split('\n').take(CONTEXT_LINES);
        before.chain(behind).any(|line| other.is_match(line))
    };
    let values = line.captures_iter(text).filter_map(|hit| Some(hit.get(1)?.range()));
    values.filter(|at| text.get(at.clone()).is_some_and(is_choice) && is_near(at)).collect()
}

fn value_of(text: &str, hit: &Captures<'_>, lead: Range<usize>) -> Option<Range<usize>> {
    let way = match (hit.name("sign"), hit.name("once")) {
        (Some(_), _) => Way::Sign,
        (None, Some(_)) => Way::AtOnce,
        (None, None) => Way::Verb,
    };
    if hit.name("short").is_some() && !has_context(text, &lead) || is_word_of_search(text, &lead) {
        return None;
    }
    let value = value::after(text, lead.end)?;
    let is_tight = text.get(..lead.end).is_some_and(|head| head.ends_with('='));
    let ends = value.dress == Dress::Quoted || is_tight || ends_clause(value.rest, way);
    let noun = text.get(lead.clone()).unwrap_or_default().to_lowercase();
    if noun.contains("phrase")
        && value.dress == Dress::Bare
        && let Some(words) = phrase(text, &value)
    {
        return Some(words);
    }
    (ends && stands(&value, way, &noun)).then_some(value.at)
}

fn has_context(text: &str, lead: &Range<usize>) -> bool {
    let from = text.floor_char_boundary(lead.start.saturating_sub(CONTEXT_BYTES));
    let to = text.ceil_char_boundary((lead.end + CONTEXT_BYTES).min(text.len()));
    // `db_pass`, `AuthPass`: what it is of is part of the name.
    let head = text.get(..lead.start).unwrap_or_default();
    let own = head.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_'));
    // `String pass = "…"`: a variable, and no step of a compiler.
    let before =
        head.trim_end_matches(['$', ' ', '*']).rsplit(|c: char| !c.is_alphanumeric()).next();
    let is_variable = before.is_some_and(|word| {
        matches!(
            word,
            "String"
                | "let"
                | "var"
                | "const"
                | "val"
                | "char"
                | "auto"
                | "my"
                | "string"
                | "export"
                | "declare"
                | "setenv"
        )
    }) || head.ends_with('$');
    let near = text.get(from..to).unwrap_or_default();
    own || is_variable || CONTEXT.as_ref().is_some_and(|context| context.is_match(near))
}

/// `palabra clave`: what a page is found by.
fn is_word_of_search(text: &str, lead: &Range<usize>) -> bool {
    // Only what is near: a text of many names is not read anew for each.
    let from = text.floor_char_boundary(lead.start.saturating_sub(24));
    let head = text.get(from..lead.start).unwrap_or_default().trim_end().to_lowercase();
    ["palabra", "palabras"].iter().any(|word| head.ends_with(word))
}

/// Whether a value can be one that somebody chose.
fn stands(value: &Value<'_>, way: Way, lead: &str) -> bool {
    let word = value.text.trim_end_matches(['!', '?']);
    let is_plain = |c: char| c.is_alphabetic() || matches!(c, '-' | '.' | ' ');
    let bare = value.dress == Dress::Bare;
    LENGTHS.contains(&word.chars().count())
        && word.chars().all(is_plain)
        && word.starts_with(char::is_alphabetic)
        && !is_placeholder(word)
        && !is_reference(word)
        && !(bare && is_identifier(word))
        && word.is_ascii()
        && is_no_wording(word)
        && !((way == Way::Verb || lead.contains("ifre")) && is_said_of(word, lead))
}

/// `geändert`, `ingesteld`, `nieprawidłowe`: what a sentence says of one, by
/// how such words end in its language.
fn is_said_of(word: &str, lead: &str) -> bool {
    const ENDS: &str = "\
        ert elt ndet igt rat eld erd igd ingd egd baar lijk lig isch ecte ecta ecto oria orio \
        ive ous ful less ary ient ant";
    const SLAVIC: &str = "has hes loz ges";
    const SLAVIC_ENDS: &str = "ne te le we ke la lo li na no ni en an";
    const TURKIC_ENDS: &str = "da de ta te dan den";
    const ROMANCE: &str = "contr senha clave parol \u{e8} \u{e9} es este";
    const ROMANCE_ENDS: &str = "ada ido ado ida ata ato uta uto encia ancia ncia";
    let lower = lead.to_lowercase();
    let starts = |nouns: &str| nouns.split_ascii_whitespace().any(|noun| lower.contains(noun));
    let ends = |ends: &str| {
        ends.split_ascii_whitespace().any(|end| word.len() > end.len() + 3 && word.ends_with(end))
    };
    ends(ENDS)
        || starts("ifre") && ends(TURKIC_ENDS)
        || starts(SLAVIC) && ends(SLAVIC_ENDS)
        || ROMANCE.split_ascii_whitespace().any(|mark| {
            lower.starts_with(mark) || lower.split_whitespace().next_back() == Some(mark)
        }) && ends(ROMANCE_ENDS)
}

/// `newValue`, `SecretStr`, `DB_PASS`: how code calls things.
fn is_identifier(word: &str) -> bool {
    let humps = word.split('-').any(|part| {
        let behind_small =
            |at: usize| part.get(..at).is_some_and(|head| head.ends_with(char::is_lowercase));
        part.char_indices().skip(1).any(|(at, c)| c.is_uppercase() && behind_small(at))
    });
    humps || word.chars().all(|c| !c.is_lowercase())
}

/// Whether no part of a word says anything of a password.
fn is_no_wording(word: &str) -> bool {
    let mut parts = word.split(['-', '.', '_', ' ']).filter(|part| !part.is_empty());
    let longest = parts.clone().map(|part| part.chars().count()).max().unwrap_or(0);
    longest >= 4 && !parts.any(is_ordinary)
}

/// What somebody chose, where the place is one of a password for sure.
pub(super) fn is_choice(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphabetic() || matches!(c, '-' | '.' | ' ' | '_');
    LENGTHS.contains(&word.len()) && word.chars().all(is_plain) && is_no_wording(word)
}

/// Words that are said of passwords, or stand for one, in the languages of R15.
static ORDINARY: LazyLock<std::collections::BTreeSet<&'static str>> =
    LazyLock::new(|| include_str!("ordinary.txt").split_whitespace().collect());

pub(super) fn is_ordinary(part: &str) -> bool {
    let lower = part.to_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| lower.ends_with(end));
    lower.chars().count() <= 3
        || ORDINARY.contains(lower.as_str())
        || ["password", "passwort", "passwd", "secret", "token"]
            .iter()
            .any(|own| lower.contains(own))
        || ends(&["pass", "pwd", "passw"])
        || lower.len() >= 6
            && (ends(&["ed", "able", "ible", "tion", "sion", "ment", "ness", "ically"])
                || ends(&["lich", "iert", "toire", "tory"]))
        || lower.len() >= 8 && (ends(&["ing", "ings", "ity", "ance", "ence", "ized"]))
}

/// Whether what was said is over: a sentence says more of what is none.
fn ends_clause(rest: &str, way: Way) -> bool {
    const ON: &str = "\
        and but for so as on in at und aber für auf et pour sur y e en og och och för på i и для \
        by until since before after too btw now ok thanks works again everywhere overall there here";
    let next = rest.trim_start();
    let first: String = next.chars().take_while(|c| c.is_alphanumeric()).collect();
    first.is_empty()
        && !next.starts_with(['(', '.', '[', '=', ':', '?', '+'])
        && !next.starts_with("| ")
        || next.starts_with(['(', '.']) && rest.starts_with([' ', '.'])
        || way != Way::Sign && ON.split_ascii_whitespace().any(|on| on == first.to_lowercase())
        || next.starts_with(|c: char| c > '\u{370}')
}

/// The words of a passphrase that stands without quotes: nobody says three
/// such words of one.
fn phrase(text: &str, value: &Value<'_>) -> Option<Range<usize>> {
    let line = text.get(value.at.start..)?.split(['\n', '.', ',', ';', '"']).next()?.trim_end();
    let is_word = |word: &str| word.len() >= 4 && word.bytes().all(|b| b.is_ascii_lowercase());
    let count = line.split(' ').count();
    // One of four may be said of a password as well: `correct horse …`.
    let said = line.split(' ').filter(|word| is_ordinary(word)).count();
    ((3..=12).contains(&count) && said <= count / 4 && line.split(' ').all(is_word))
        .then(|| value.at.start..value.at.start + line.len())
}

/// The same for a value that a rule of the tables leads to.
pub(super) fn fits(text: &str, lead: &Range<usize>, value: &Value<'_>) -> bool {
    let head = text.get(lead.clone()).unwrap_or_default().trim_end();
    let way = if head.ends_with(char::is_alphabetic) { Way::Verb } else { Way::Sign };
    let is_tight = text.get(..lead.end).is_some_and(|head| head.ends_with('='));
    let ends = value.dress == Dress::Quoted || is_tight || ends_clause(value.rest, way);
    let name = head.trim_end_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is_short = ["pass", "pw", "psw", "passw", "pswd"].iter().any(|own| name.ends_with(own));
    // A noun right before its value: in Turkish it is more often a part of one.
    let is_at_once = way == Way::Verb && name.ends_with("ifre");
    let is_other = is_short || is_word_of_search(text, lead);
    ends && !is_other && !is_at_once && stands(value, way, head)
}
