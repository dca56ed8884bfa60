//! Secrets of several lines: key files and manifests.

use std::ops::Range;

/// The longest key file that is taken as one.
const LONGEST_KEY_BYTES: usize = 20_000;

/// What has fewer is only shown: `…`, `<your key>`.
const LEAST_KEY_SIGNS: usize = 16;

/// `-----BEGIN … PRIVATE KEY-----` up to its end, or as far as it goes on;
/// SSH2 writes four dashes and a space.
pub(super) fn private_keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = next(text, BEGIN, from) {
        from = at + BEGIN.len();
        let Some(start) = dashes_before(text, at) else { continue };
        let Some(rest) = text.get(from..) else { break };
        let Some(label_len) =
            rest.get(..rest.floor_char_boundary(60)).and_then(|head| head.find("----"))
        else {
            continue;
        };
        let label = rest.get(..label_len).unwrap_or_default();
        // `OpenVPN Static key V1`, `PGP PRIVATE KEY BLOCK`.
        let label_lower = label.to_ascii_lowercase();
        if !label_lower.contains("key") || label_lower.contains("public") {
            continue;
        }
        let body = from + label_len + dashes(text, from + label_len);
        let end = closing(text, body, label.trim_end()).unwrap_or_else(|| encoded_end(text, body));
        // Text about such a file has the line, and no key.
        let inner = text.get(body..end).unwrap_or_default();
        let inner = inner.split("END ").next().unwrap_or_default();
        if inner.bytes().filter(u8::is_ascii_alphanumeric).count() >= LEAST_KEY_SIGNS {
            found.push(start..end);
        }
        from = end;
    }
    found
}

const BEGIN: &str = "BEGIN ";

fn next(text: &str, what: &str, from: usize) -> Option<usize> {
    Some(from + text.get(from..)?.find(what)?)
}

/// Where the dashes begin that stand before a place.
fn dashes_before(text: &str, at: usize) -> Option<usize> {
    let head = text.get(..at)?;
    let head = head.strip_suffix(' ').unwrap_or(head);
    let start = head.trim_end_matches('-').len();
    (head.len() - start >= 4).then_some(start)
}

/// How many bytes of dashes stand at a place, with the space before them.
fn dashes(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let inner = rest.strip_prefix(' ').unwrap_or(rest);
    let after = inner.trim_start_matches('-');
    if after.len() < inner.len() { rest.len() - after.len() } else { 0 }
}

fn closing(text: &str, body: usize, label: &str) -> Option<usize> {
    let rest = text.get(body..)?;
    let rest = rest.get(..rest.floor_char_boundary(LONGEST_KEY_BYTES))?;
    // Another key may begin before this one ends.
    let rest = rest.get(..rest.find(BEGIN).unwrap_or(rest.len()))?;
    let end = format!("END {label}");
    let at = body + rest.find(&end)? + end.len();
    Some(at + dashes(text, at))
}

/// The end of the lines of base64 after a place.
fn encoded_end(text: &str, body: usize) -> usize {
    let mut end = body;
    for word in text.get(body..).unwrap_or_default().split_inclusive(char::is_whitespace) {
        let signs = word
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\\'))
            .count();
        let is_encoded = signs >= 16 || word.trim().is_empty();
        if is_encoded {
            end += signs;
        }
        if !is_encoded || signs < word.trim_end().len() {
            break;
        }
        end += word.len() - signs;
    }
    let taken = text.get(body..end).unwrap_or_default();
    body + taken.trim_end().len()
}

/// The private lines of a `PuTTY` key file, and its header where only that is
/// there.
pub(super) fn putty_keys(text: &str) -> Vec<Range<usize>> {
    const HEADER: &str = "PuTTY-User-Key-File-";
    const PRIVATE: &str = "Private-Lines:";
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = next(text, PRIVATE, from) {
        from = start + PRIVATE.len();
        let line_end = next(text, "\n", from).unwrap_or(text.len());
        let end = encoded_end(text, line_end);
        let begin = line_end
            + text.get(line_end..end).map_or(0, |body| body.len() - body.trim_start().len());
        if end > begin {
            found.push(begin..end);
        }
    }
    if found.is_empty()
        && !text.contains(PRIVATE)
        && let Some(start) = next(text, HEADER, 0)
    {
        found.push(start..start + HEADER.len());
    }
    found
}

/// The values under `data:` and `stringData:` of a Kubernetes secret.
pub(super) fn kubernetes_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut document = 0;
    for part in text.split_inclusive("\n---") {
        if part.lines().any(|line| {
            matches!(
                line.trim().trim_matches(['"', '\'', ',']),
                "kind: Secret" | "kind: \"Secret\""
            )
        }) {
            values(part, document, &mut found);
        }
        document += part.len();
    }
    found
}

fn values(manifest: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let mut at = offset;
    let mut indent = None;
    for line in manifest.split_inclusive('\n') {
        let bare = line.trim();
        let depth = line.len() - line.trim_start().len();
        if matches!(bare, "data:" | "stringData:") {
            indent = Some(depth);
        } else if indent.is_some_and(|block| depth <= block && !bare.is_empty()) {
            indent = None;
        } else if indent.is_some()
            && let Some((_, value)) = bare.split_once(": ")
        {
            let plain = value.trim().trim_matches(['"', '\'']);
            let is_value =
                plain.len() >= 4 && !plain.starts_with(['{', '$', '<', '|', '>', '*', '[']);
            if is_value && let Some(start) = line.find(plain) {
                // A key of the same spelling stands further left.
                let start = line.rfind(plain).unwrap_or(start);
                found.push(at + start..at + start + plain.len());
            }
        }
        at += line.len();
    }
}

/// A Discord token: three parts, the middle one of six or seven signs. It has
/// no word of its own, but dots at that distance are rare.
pub(super) fn discord_tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let is_sign = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let mut found = Vec::new();
    for (dot, _) in text.match_indices('.') {
        let Some(middle) = [7, 8].into_iter().find(|gap| bytes.get(dot + gap) == Some(&b'.'))
        else {
            continue;
        };
        let head = bytes
            .get(..dot)
            .unwrap_or_default()
            .iter()
            .rev()
            .take(40)
            .take_while(|b| is_sign(b))
            .count();
        let tail = bytes
            .get(dot + middle + 1..)
            .unwrap_or_default()
            .iter()
            .take(80)
            .take_while(|b| is_sign(b))
            .count();
        let inner = bytes.get(dot + 1..dot + middle).unwrap_or_default();
        let token = text.get(dot - head..dot + middle + 1 + tail).unwrap_or_default();
        let is_issued = matches!(token.bytes().next(), Some(b'M' | b'N' | b'O'));
        if (23..=30).contains(&head)
            && (27..=45).contains(&tail)
            && inner.iter().all(is_sign)
            && is_issued
        {
            found.push(dot - head..dot + middle + 1 + tail);
        }
    }
    found
}
