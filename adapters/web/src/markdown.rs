//! HTML to Markdown.
//!
//! The converter walks the page by recursion, so a page of a million nested
//! tags would end the process. Such a page loses its tags instead; the others
//! are converted on a thread with room to spare.

use htmd::HtmlToMarkdown;
use std::thread;

/// Tags without a reader's text in them.
const SKIPPED: [&str; 6] = ["script", "style", "noscript", "template", "svg", "iframe"];
/// Tags that end by themselves, so that an open one is no nesting.
const SELF_ENDING: [&str; 26] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "optgroup", "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr",
    "track", "wbr",
];
/// No page that people write nests deeper.
const MAX_DEPTH: usize = 1_000;
const STACK_BYTES: usize = 64 << 20;

/// The page as Markdown, or at least without its tags.
pub(crate) async fn from_html(html: String) -> String {
    let plain = html.clone();
    match tokio::task::spawn_blocking(move || convert(html)).await {
        Ok(Some(markdown)) => markdown,
        _ => without_tags(&plain),
    }
}

fn convert(html: String) -> Option<String> {
    if depth(&html) > MAX_DEPTH {
        return None;
    }
    let work = move || {
        let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec());
        converter.build().convert(&html).ok()
    };
    let worker = thread::Builder::new().stack_size(STACK_BYTES);
    // A converter that panics gives an error here, and the plain text there.
    worker.spawn(work).ok()?.join().ok()?
}

/// Roughly how deep the tags of a page nest; too high rather than too low.
fn depth(html: &str) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let (closing, tag) = match tag.strip_prefix('/') {
            Some(tag) => (true, tag),
            None => (false, tag),
        };
        let name = name_of(tag);
        if name.is_empty() || SELF_ENDING.contains(&name.as_str()) {
            continue;
        }
        now = if closing { now.saturating_sub(1) } else { now + 1 };
        most = most.max(now);
    }
    most
}

fn name_of(tag: &str) -> String {
    let letters = tag.chars().take_while(char::is_ascii_alphanumeric);
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut inside: Option<String> = None;
    for (n, piece) in html.split('<').enumerate() {
        let (tag, after) = match piece.split_once('>') {
            Some((tag, after)) if n > 0 => (tag, after),
            _ => ("", piece),
        };
        let name = name_of(tag);
        match &inside {
            Some(skipped) if tag.strip_prefix('/').map(name_of).as_ref() == Some(skipped) => {
                inside = None;
            }
            Some(_) => continue,
            None if SKIPPED.contains(&name.as_str()) => {
                inside = Some(name);
                continue;
            }
            None => {}
        }
        text.push_str(after);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_html_becomes_markdown() {
        let html = "<html><head><title>T</title><style>p{}</style></head><body>\
            <h1>Head</h1><script>let x = '<p>no</p>';</script>\
            <p>A <a href=\"/b\">link</a> and <b>bold</b>.</p><ul><li>one<li>two</ul></body></html>";
        let text = convert(html.to_owned()).unwrap();
        assert!(text.contains("# Head"), "{text}");
        assert!(text.contains("[link](/b)"), "{text}");
        assert!(text.contains("**bold**"), "{text}");
        assert!(text.contains("one") && text.contains("two"), "{text}");
        assert!(!text.contains("let x") && !text.contains("p{}"), "{text}");
    }

    #[test]
    fn s6_a_page_that_nests_for_ever_loses_its_tags() {
        let deep = format!("{}deep<script>x</script> text", "<div>".repeat(1_000_000));
        assert!(convert(deep.clone()).is_none());
        assert_eq!(without_tags(&deep), "deep text");
        let near = format!("{}near{}", "<div>".repeat(MAX_DEPTH), "</div>".repeat(MAX_DEPTH));
        assert_eq!(convert(near).unwrap().trim(), "near");
        let list = format!("<ul>{}</ul>", "<li>x".repeat(50_000));
        assert!(convert(list).is_some(), "many are not deep");
    }
}
