//! What the fork is told that keeps the notes.

use crate::notes::Notes;
use crate::variables::{fill, has_hole};
use everfold_kernel::Limits;

const PROMPT: &str = include_str!("prompt.md");

/// The hole for the notes as they are.
const CURRENT: &str = "currentNotes";

/// What a person's texts may name, beside the notes themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// Where the notes are.
    pub path: &'a str,
    pub session: &'a str,
    /// Where the session works.
    pub cwd: &'a str,
}

impl<'a> Hints<'a> {
    /// The variables of a template (L3.5). None of them changes while a
    /// session runs, so that its headings do not either.
    #[must_use]
    pub fn values(&self) -> [(&'static str, &'a str); 3] {
        [("notesPath", self.path), ("sessionId", self.session), ("cwd", self.cwd)]
    }
}

/// What is said to the fork: a person's own prompt or ours, filled in a single
/// pass, then the sections that are too long (L3.3 to L3.5). A prompt that
/// has no place for the notes gets them at its end.
#[must_use]
pub fn directive(
    own: Option<&str>,
    notes: &Notes<'_>,
    hints: Hints<'_>,
    limits: &Limits,
) -> String {
    let prompt = own.unwrap_or(PROMPT).trim();
    let current = notes.render();
    let (section, file) =
        (limits.notes.section_tokens.to_string(), limits.notes.file_tokens.to_string());
    let mut values = hints.values().to_vec();
    values.extend([
        (CURRENT, current.trim_end()),
        ("sectionTokens", section.as_str()),
        ("fileTokens", file.as_str()),
    ]);
    let mut parts = vec![fill(prompt, &values)];
    if !has_hole(prompt, CURRENT) {
        let path = hints.path;
        let current = current.trim_end();
        parts.push(format!("{path} as it is now:\n\n<current-notes>\n{current}\n</current-notes>"));
    }
    parts.extend(too_long(notes, limits));
    parts.join("\n\n")
}

/// What has to become shorter.
fn too_long(notes: &Notes<'_>, limits: &Limits) -> Option<String> {
    let (section, file) = (limits.notes.section_tokens, limits.notes.file_tokens);
    let mut lines: Vec<String> = notes
        .over_long(limits)
        .into_iter()
        .map(|over| format!("- {} has {} tokens", over.name, over.tokens.0))
        .collect();
    let all = notes.tokens(limits).0;
    if all > file {
        lines.push(format!("- all of it has {all} tokens, and may have {file}"));
    }
    let head = format!(
        "These are too long and have to be shortened now, to under {section} tokens a section. \
         Merge what belongs together and drop what the work no longer needs; Current State and \
         Errors & Corrections are the last to lose anything:"
    );
    (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Template;

    const HINTS: Hints<'_> = Hints { path: "/s/summary.md", session: "s1", cwd: "/p" };

    #[test]
    fn l3_4_the_directive_reads_so() {
        let template = Template::parse("# A\n_about a_\n# B\n_about b_\n").unwrap();
        let text = format!("# A\n_about a_\n{{{{cwd}}}}\n# B\n_about b_\n{}", "b ".repeat(5_000));
        let notes = Notes::read(&text, &template).unwrap();
        let said = directive(None, &notes, HINTS, &Limits::default());
        insta::assert_snapshot!(said.replace(&"b ".repeat(4_999), "b… "));
    }

    #[test]
    fn l3_5_a_persons_prompt_is_filled_once_and_always_has_the_notes() {
        let template = Template::parse("# A\n").unwrap();
        let notes = Notes::adopt("# A\n{{sessionId}} $1", &template);
        let limits = Limits::default();
        let own =
            directive(Some("Do {{sessionId}}: {{ currentNotes }} {{x}}"), &notes, HINTS, &limits);
        assert_eq!(own, "Do s1: # A\n\n{{sessionId}} $1 {{x}}");
        let bare = directive(Some("Just do it."), &notes, HINTS, &limits);
        assert!(
            bare.ends_with("<current-notes>\n# A\n\n{{sessionId}} $1\n</current-notes>"),
            "{bare}"
        );
    }
}
