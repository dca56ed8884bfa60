//! Standing guidance: a `# Compact instructions` section in an instruction file.

/// The heading, at any level.
const HEADING: &str = "compact instructions";

/// The text of the section, up to the next heading of its level or above.
/// Headings inside code blocks do not count.
///
/// ```
/// let file = "# Project\n\n## Compact instructions\nKeep SQL.\n### Also\nTests.\n## Style\n";
/// assert_eq!(mnemon_compact::guidance::find(file).unwrap(), "Keep SQL.\n### Also\nTests.");
/// ```
#[must_use]
pub fn find(text: &str) -> Option<String> {
    let mut level = None;
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let heading = heading(line).filter(|_| !fenced);
        match (level, heading) {
            (None, Some((own, title))) if title.eq_ignore_ascii_case(HEADING) => level = Some(own),
            (None, _) => {}
            (Some(outer), Some((own, _))) if own <= outer => break,
            (Some(_), _) => lines.push(line),
        }
    }
    let body = lines.join("\n").trim().to_owned();
    (!body.is_empty()).then_some(body)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    let is_heading = (1..=6).contains(&level) && title.starts_with([' ', '\t']);
    is_heading.then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l4_16_standing_guidance_is_found() {
        assert_eq!(find("# Compact instructions\nA\n\n# Other\nB").unwrap(), "A");
        assert_eq!(
            find("### COMPACT INSTRUCTIONS ###\nA\n#### B\nC\n## D").unwrap(),
            "A\n#### B\nC"
        );
        let code = "# Compact instructions\n```sh\n# not a heading\n```\nend";
        assert_eq!(find(code).unwrap(), "```sh\n# not a heading\n```\nend");
        for none in [
            "",
            "Compact instructions",
            "#Compact instructions\nA",
            "# Compact instructions\n# B\nA",
        ] {
            assert_eq!(find(none), None, "{none}");
        }
    }
}
