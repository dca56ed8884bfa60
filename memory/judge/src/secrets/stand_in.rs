//! What stands where a secret could, and is none: a stand-in, or the place
//! that a value comes from.

use super::proof::{distinct, has_digit, is_all_digits};

/// Marks of text that stands for a secret.
const PLACEHOLDERS: &str = "\
        placeholder changeme change_me change-me your_ your- yourpass yoursecret yourtoken \
        yourkey my_secret mysecretkey xxxx dummy redacted -here _here goes-here insert todo \
        ${ %{ {{ }} ... … **** •••• ●● process. getenv environ secretref vault: op:// keyring \
        required min: -> :: => [secret env: env( .env. .*";

/// What is shown where a secret would be: `<your-key>`, `$TOKEN`.
pub(super) fn is_placeholder(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let body = word.trim_start_matches(['$', '%', '@', ':', '&', '!', '?', '#']);
    let is_name = !body.is_empty()
        && body
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '}' | '%' | '\''));
    let is_variable = match word.chars().next() {
        Some('$') => !is_hash(word),
        Some('%') => word.ends_with('%') || body.len() < 4,
        Some('@' | '_') if word.starts_with("@@") || word.starts_with("__") => true,
        Some('@') if word.ends_with('@') && is_all_words(word) => true,
        Some('<' | '{' | '[' | '(' | '|' | '=' | '~') => true,
        Some(':') if word.ends_with(['(', ';', ')']) || word.contains('(') => true,
        Some('&' | '!' | ':' | '?' | '@') => is_name && !has_digit(body),
        Some('#') => is_hex_colour(body) || word.starts_with("#{"),
        _ => false,
    };
    is_variable
        || is_for_everybody(word)
        || distinct(word) <= if is_all_digits(word) { 1 } else { 2 }
        || PLACEHOLDERS.split_ascii_whitespace().any(|mark| lower.contains(mark))
        || is_wording(&lower)
}

/// `replace_me`, `example-key-1`, `sample123`: words that say what they are,
/// and at most a count.
fn is_wording(lower: &str) -> bool {
    const SAYING: &str = "\
        example sample replace replaced change fake fill fixme todo tbd notreal mock removed \
        masked omitted";
    const OTHERS: &str = "\
        me it this that with by your my the a an not real value key keys token secret password \
        passwd pass api client access in here please before use only for test tests user name \
        own app id production prod deployment deploying release";
    let words = || {
        lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()))
            .filter(|part| !part.is_empty())
    };
    let is_in = |list: &str, word: &str| list.split_ascii_whitespace().any(|own| own == word);
    let digits: String = lower.chars().filter(char::is_ascii_digit).collect();
    words().any(|word| is_in(SAYING, word))
        && words().all(|word| is_in(SAYING, word) || is_in(OTHERS, word))
        && "1234567890".starts_with(&digits)
}

/// Keys that are made to be shown: in pages, or in a manual.
pub(super) fn is_for_everybody(word: &str) -> bool {
    ["pk_live_", "pk_test_"].iter().any(|start| word.starts_with(start))
        || word.ends_with("EXAMPLEKEY")
        || ["AKIA", "ASIA"].iter().any(|start| word.starts_with(start)) && word.ends_with("EXAMPLE")
}

fn is_all_words(word: &str) -> bool {
    word.bytes().all(|b| b.is_ascii_alphabetic() || b"@_.-".contains(&b))
}

fn is_hash(word: &str) -> bool {
    word.matches('$').count() >= 3
}

fn is_hex_colour(body: &str) -> bool {
    matches!(body.len(), 3 | 6 | 8) && body.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A path, an address, a call, a field: where a value comes from.
pub(super) fn is_reference(word: &str) -> bool {
    const PLACES: &str = "\
        /run/ /etc/ /var/ /home/ /opt/ /usr/ /tmp/ /secrets/ /mnt/ ./ ../ ~/ pass: secret/ \
        secrets/ kv/ arn: http:// https:// file: projects/ s3:// gs:// ssm: ref+ sha256: \
        sha512- sha384- sha256- sha1- ssh-rsa ssh-ed25519 ecdsa- age1 urn: docker.io/ \
        ghcr.io/";
    const ENDINGS: &str = "\
        .txt .json .yml .yaml .pem .key .env .rs .ts .js .py .go .md .conf .toml .ini .com \
        .org .tsx .jsx .php .java .html .sh";
    let lower = word.to_ascii_lowercase();
    let name: usize = word
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '?' | '!'))
        .count();
    let after_name = word.chars().nth(name);
    let is_call = name > 0
        && word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && (after_name == Some('(') || after_name == Some('[') || after_name == Some('<'));
    PLACES.split_ascii_whitespace().any(|place| lower.starts_with(place))
        || ENDINGS.split_ascii_whitespace().any(|ending| lower.ends_with(ending))
        || is_call
        || is_path(word)
        || is_field(&lower)
        || is_address(word)
        || is_sealed(word)
}

/// What a sealed secret of Kubernetes holds: only its cluster can open it.
fn is_sealed(word: &str) -> bool {
    word.len() >= 100
        && word.starts_with("Ag")
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
}

/// `/oauth2/v2.0/token`.
fn is_path(word: &str) -> bool {
    word.strip_prefix('/')
        .is_some_and(|path| path.contains('/') && path.split('/').all(|part| part.len() <= 14))
}

/// `config.db.password`, `self.token2`.
fn is_field(lower: &str) -> bool {
    const OWNERS: &str = "\
        self this config cfg conf settings req request user args params data form props \
        state var local module secrets ctx opts options credentials input body env app \
        process os account event values spec res response row item client session auth";
    lower
        .split_once(['.', '?', '['])
        .is_some_and(|(owner, _)| OWNERS.split_ascii_whitespace().any(|name| name == owner))
}

fn is_address(word: &str) -> bool {
    word.split_once('@').is_some_and(|(user, host)| {
        let top = host.rsplit('.').next().unwrap_or_default();
        let is_named = top.len() >= 2 && top.bytes().all(|b| b.is_ascii_alphabetic());
        let is_number = host.split('.').count() == 4 && host.split('.').all(is_all_digits);
        !user.is_empty()
            && host.contains('.')
            && (is_named || is_number)
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
    })
}
