//! A transcript's entry in the list of `/resume`, from its first and last
//! bytes, without reading the rest.

use crate::bookkeeping::Sidelines;
use crate::envelope::Side;
use crate::line::{Decoded, Facts, Gap, decode_shown};
use everfold_kernel::ports::Glimpse;
use everfold_kernel::{SessionId, Timestamp};

/// One session in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub session: SessionId,
    /// Its title: the person's, the model's, the newest prompt, a summary, or
    /// the first prompt, whichever there is first.
    pub title: Option<String>,
    /// The first thing that the person said.
    pub first_prompt: Option<String>,
    /// The directory that it was started in.
    pub cwd: Option<String>,
    /// The branch that was checked out last.
    pub git_branch: Option<String>,
    pub tag: Option<String>,
    /// Time of the first line that has one.
    pub first: Option<Timestamp>,
    /// Time of the last line that has one.
    pub last: Option<Timestamp>,
    /// Whose conversation the file starts with; a list shows only the person's.
    pub side: Side,
    /// When the file was last written.
    pub modified: Timestamp,
    pub bytes: u64,
}

/// Reads an entry off the start and the end of a transcript. What cannot be
/// read there is left out of the entry.
#[must_use]
pub fn list(glimpse: &Glimpse) -> Listed {
    let mut reader = Reader::default();
    for line in glimpse.head.split(|byte| *byte == b'\n') {
        reader.push(line, Part::Head);
    }
    for line in glimpse.tail.split(|byte| *byte == b'\n') {
        reader.push(line, Part::Tail);
    }
    Listed {
        session: glimpse.session.clone(),
        title: reader.notes.title(),
        first_prompt: reader.notes.first_prompt().map(str::to_owned),
        cwd: reader.cwd,
        git_branch: reader.git_branch,
        tag: reader.notes.tag,
        first: reader.first,
        last: reader.last,
        side: reader.side.unwrap_or_default(),
        modified: glimpse.modified,
        bytes: glimpse.bytes,
    }
}

/// Whether an entry has every word of a query, in any letter case, in its
/// title, first prompt, directory, branch, tag or id.
#[must_use]
pub fn matches(entry: &Listed, query: &str) -> bool {
    let fields = [
        entry.title.as_deref(),
        entry.first_prompt.as_deref(),
        entry.cwd.as_deref(),
        entry.git_branch.as_deref(),
        entry.tag.as_deref(),
        Some(entry.session.as_str()),
    ];
    let fields: Vec<String> = fields.into_iter().flatten().map(str::to_lowercase).collect();
    query
        .to_lowercase()
        .split_whitespace()
        .all(|word| fields.iter().any(|field| field.contains(word)))
}

/// Which end of a file a line is from: a prompt in the tail is not the first.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Head,
    Tail,
}

#[derive(Default)]
struct Reader {
    notes: Sidelines,
    cwd: Option<String>,
    git_branch: Option<String>,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    side: Option<Side>,
}

impl Reader {
    fn push(&mut self, line: &[u8], part: Part) {
        match decode_shown(line) {
            Ok(Decoded::Bookkeeping(value)) => self.notes.note(&value),
            Ok(Decoded::Link(node)) => self.note_facts(&node.facts),
            Ok(Decoded::Record(line)) => {
                self.note_facts(&line.facts);
                if part == Part::Head && line.facts.side == Side::Main {
                    self.notes.note_record(&line.record);
                }
                if !line.facts.gaps.contains(&Gap::Time) {
                    self.first.get_or_insert(line.record.at);
                    self.last = Some(line.record.at);
                }
            }
            // A line that cannot be read says nothing to a list; whoever
            // resumes the session is told of it.
            Err(_) => {}
        }
    }

    fn note_facts(&mut self, facts: &Facts) {
        self.side.get_or_insert_with(|| facts.side.clone());
        if self.cwd.is_none() {
            self.cwd.clone_from(&facts.cwd);
        }
        if facts.git_branch.is_some() {
            self.git_branch.clone_from(&facts.git_branch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = concat!(
        r#"{"type":"mode","mode":"normal"}"#,
        "\n",
        r#"{"type":"user","uuid":"m","parentUuid":null,"isMeta":true,"cwd":"/p","message":{"content":"injected"}}"#,
        "\n",
        r#"{"type":"user","uuid":"u","parentUuid":"m","cwd":"/q","gitBranch":"main","timestamp":"2026-01-02T03:04:05.678Z","message":{"content":"Fix the parser"}}"#,
        "\n",
    );
    const TAIL: &str = concat!(
        r#"{"type":"user","uuid":"z","parentUuid":"y","gitBranch":"next","timestamp":"2026-01-03T03:04:05Z","message":{"content":"later"}}"#,
        "\n",
        r#"{"type":"last-prompt","lastPrompt":"later"}"#,
        "\n",
        r#"{"type":"us"#,
    );

    fn glimpse(head: &str, tail: &str) -> Glimpse {
        Glimpse {
            session: SessionId::new("0198-s"),
            modified: Timestamp::UNIX_EPOCH,
            bytes: 7,
            head: head.into(),
            tail: tail.into(),
        }
    }

    #[test]
    fn q4_a_list_entry_comes_from_head_and_tail() {
        let entry = list(&glimpse(HEAD, TAIL));
        assert_eq!(entry.title.as_deref(), Some("later"));
        assert_eq!(entry.first_prompt.as_deref(), Some("Fix the parser"));
        assert_eq!(entry.cwd.as_deref(), Some("/p"));
        assert_eq!(entry.git_branch.as_deref(), Some("next"));
        assert_eq!(entry.first, "2026-01-02T03:04:05.678Z".parse().ok());
        assert_eq!(entry.last, "2026-01-03T03:04:05Z".parse().ok());
        assert_eq!(entry.side, Side::Main);
        assert_eq!(list(&glimpse(HEAD, "")).title.as_deref(), Some("Fix the parser"));
        assert_eq!(list(&glimpse("", "")).title, None);
    }

    #[test]
    fn q4_a_sub_agents_file_is_told_apart() {
        let head = r#"{"type":"user","uuid":"u","parentUuid":null,"isSidechain":true,"agentId":"a1","message":{"content":"x"}}"#;
        assert_eq!(list(&glimpse(head, "")).side, Side::Agent(Some("a1".into())));
    }

    #[test]
    fn q4_the_search_takes_words_in_any_case() {
        let entry = list(&glimpse(HEAD, TAIL));
        assert!(matches(&entry, ""));
        assert!(matches(&entry, "PARSER next"));
        assert!(matches(&entry, "0198"));
        assert!(!matches(&entry, "parser absent"));
    }
}
