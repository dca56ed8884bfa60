//! What a body is, and its text.

/// How much of a body is looked at to tell what it is.
const SNIFF_BYTES: usize = 8 << 10;

/// Kinds of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Html,
    Text,
    Unknown,
    /// Not text.
    Other,
}

impl Content {
    /// What the server says it is.
    pub(crate) fn declared(header: Option<&str>) -> Self {
        let kind = header.unwrap_or_default().split(';').next();
        let kind = kind.unwrap_or_default().trim().to_ascii_lowercase();
        match kind.split_once('/') {
            Some(("text", "html") | ("application", "xhtml+xml")) => Self::Html,
            Some(("text", _)) => Self::Text,
            Some(("application", sub)) if is_text(sub) => Self::Text,
            Some((_, sub)) if sub.ends_with("+xml") => Self::Text,
            Some(_) => Self::Other,
            None => Self::Unknown,
        }
    }

    /// What it is, by its first bytes where nobody said.
    pub(crate) fn sniffed(self, body: &[u8]) -> Self {
        if self != Self::Unknown {
            return self;
        }
        let start = body.get(..SNIFF_BYTES).unwrap_or(body);
        if start.contains(&0) {
            return Self::Other;
        }
        let start = String::from_utf8_lossy(start).trim_start().to_ascii_lowercase();
        if start.starts_with("<!doctype html") || start.starts_with("<html") {
            Self::Html
        } else {
            Self::Text
        }
    }
}

fn is_text(sub: &str) -> bool {
    const NAMES: [&str; 9] =
        ["json", "xml", "javascript", "yaml", "x-yaml", "toml", "x-ndjson", "x-sh", "sql"];
    NAMES.contains(&sub) || sub.ends_with("+json") || sub.ends_with("+xml")
}

/// The body as text. What is not valid is replaced; of other charsets than
/// UTF-8 only Latin-1 is known, whose bytes are the first characters.
pub(crate) fn decoded(header: Option<&str>, body: Vec<u8>) -> String {
    let header = header.unwrap_or_default().to_ascii_lowercase();
    let charset = header.split_once("charset=").map_or("", |(_, name)| name);
    let charset = charset.trim_matches(['"', '\'', ' ']);
    let latin = ["iso-8859-1", "latin1", "windows-1252"];
    if latin.iter().any(|name| charset.starts_with(name)) {
        return body.into_iter().map(char::from).collect();
    }
    String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_kinds_of_content() {
        let of = |header| Content::declared(Some(header));
        assert_eq!(of("text/html; charset=utf-8"), Content::Html);
        assert_eq!(of("Text/Markdown"), Content::Text);
        assert_eq!(of("application/problem+json"), Content::Text);
        assert_eq!(of("image/svg+xml"), Content::Text);
        assert_eq!(of("image/png"), Content::Other);
        assert_eq!(of("application/octet-stream"), Content::Other);
        assert_eq!(Content::declared(None), Content::Unknown);
        assert_eq!(Content::Unknown.sniffed(b" <!DOCTYPE html>"), Content::Html);
        assert_eq!(Content::Unknown.sniffed(b"plain"), Content::Text);
        assert_eq!(Content::Unknown.sniffed(b"a\0b"), Content::Other);
    }

    #[test]
    fn s6_bytes_become_text() {
        let text = |header, body: &[u8]| decoded(Some(header), body.to_vec());
        assert_eq!(text("text/plain", b"a\xffb"), "a\u{fffd}b");
        assert_eq!(text("text/plain", b"\xef\xbb\xbfa"), "a");
        assert_eq!(text("text/plain; charset=\"ISO-8859-1\"", b"\xe4"), "ä");
    }
}
