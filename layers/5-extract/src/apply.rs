//! What an accepted memory looks like on disk: dates in full, and where it
//! came from (L5.6, L5.16).
//!
//! The log of the conversation is not changed by this layer, but for the note
//! that a review took place. What it changes is files.

use crate::capture::Captured;
use crate::gate::Grounds;
use everfold_kernel::{RecordId, SessionId};
use everfold_memfile::frontmatter::{
    Basis, Fence, Key, METADATA, Trust, Value, fence, remove, set,
};
use everfold_memfile::{Draft, Memory, dates};
use jiff::Timestamp;
use jiff::civil::Date;

/// Where a memory came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The session.
    pub session: SessionId,
    /// The day, as the person has it.
    pub today: Date,
    /// The moment.
    pub at: Timestamp,
}

/// The text that is written for an accepted proposal: relative dates are made
/// absolute, and `metadata` says how sure it is and where it came from. All
/// else stays as it was proposed. A text without closed frontmatter stays
/// whole.
#[must_use]
pub fn finished(text: &str, grounds: &Grounds, from: &Provenance) -> String {
    let mut text = dated(text, from.today);
    let words = |value: &str| Value::Text(value.to_owned());
    let messages = grounds.messages.iter().map(RecordId::to_string).collect();
    let keys = [
        ("originSessionId", words(from.session.as_str())),
        ("messages", Value::List(messages)),
        ("date", words(&from.today.to_string())),
        ("basis", words(grounds.basis.as_str())),
        ("modified", words(&from.at.to_string())),
    ];
    for (key, value) in keys {
        text = set(&text, Key::Under(METADATA, key), &value).unwrap_or(text);
    }
    if grounds.trust == Trust::Tainted {
        let mark = set(&text, Key::Under(METADATA, "tainted"), &Value::Flag(true));
        text = mark.unwrap_or(text);
    }
    // The words that the gate looked up; the messages stand for them.
    remove(&text, Key::Under(METADATA, "evidence")).unwrap_or(text)
}

/// The text of a memory that the main agent writes, with where it came from.
/// One that says so already keeps it, and only the moment is new; one without
/// frontmatter stays as it is.
#[must_use]
pub fn stamped(text: &str, messages: &[RecordId], from: &Provenance) -> String {
    let Fence::Closed { .. } = fence(text) else { return text.to_owned() };
    let put = |text: String, key: &str, value: Value| {
        set(&text, Key::Under(METADATA, key), &value).unwrap_or(text)
    };
    let mut text = text.to_owned();
    if Memory::parse(&text).front.session.is_none() {
        let messages: Vec<String> = messages.iter().map(RecordId::to_string).collect();
        text = put(text, "originSessionId", Value::Text(from.session.to_string()));
        if !messages.is_empty() {
            text = put(text, "messages", Value::List(messages));
        }
        text = put(text, "date", Value::Text(from.today.to_string()));
    }
    put(text, "modified", Value::Text(from.at.to_string()))
}

/// The file for what a rule found (L5.19): the person's own words.
#[must_use]
pub fn by_rule(captured: &Captured, from: &Provenance) -> String {
    let draft = Draft {
        name: captured.name.clone(),
        description: captured.description.clone(),
        kind: captured.kind,
        body: captured.body.clone(),
        basis: Basis::Stated,
        session: Some(from.session.clone()),
        messages: vec![captured.record.clone()],
        branch: None,
        worktree: None,
        trust: Trust::Own,
        rule: Some(captured.rule.to_owned()),
    };
    draft.render(from.today, from.at)
}

/// The text with absolute dates in what it says, not in what it says of itself.
fn dated(text: &str, today: Date) -> String {
    let Fence::Closed { body, .. } = fence(text) else { return dates::absolute(text, today) };
    let (head, body) = text.split_at_checked(body).unwrap_or((text, ""));
    let description = Memory::parse(head).front.description.unwrap_or_default();
    let absolute = dates::absolute(&description, today);
    let head = if absolute == description {
        head.to_owned()
    } else {
        set(head, Key::Top("description"), &Value::Text(absolute)).unwrap_or_else(|_| head.into())
    };
    format!("{head}{}", dates::absolute(body, today))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROPOSED: &str = "---\nname: Freeze\ndescription: code freeze by tomorrow # really\n\
        metadata:\n  type: project\n  basis: stated\n  evidence: \"freeze tomorrow\"\nextra: kept\n\
        ---\n\nThe freeze starts tomorrow.\n";

    #[test]
    fn l5_6_l5_16_dates_and_provenance_are_put_in_and_the_rest_is_kept() {
        let grounds = Grounds {
            basis: Basis::Stated,
            trust: Trust::Tainted,
            messages: vec!["r1".into(), "r2".into()],
        };
        let from = Provenance {
            session: "s1".into(),
            today: "2026-06-01".parse().unwrap(),
            at: "2026-06-01T12:00:00Z".parse().unwrap(),
        };
        let text = finished(PROPOSED, &grounds, &from);
        insta::assert_snapshot!(text, @r#"
        ---
        name: Freeze
        description: code freeze by 2026-06-02 # really
        metadata:
          type: project
          basis: stated
          originSessionId: s1
          messages: [r1, r2]
          date: 2026-06-01
          modified: 2026-06-01T12:00:00Z
          tainted: true
        extra: kept
        ---

        The freeze starts 2026-06-02.
        "#);
        let read = Memory::parse(&text);
        assert_eq!(read.front.basis, Some(Basis::Stated));
        assert_eq!(read.front.trust, Trust::Tainted);
        assert_eq!(read.front.messages.len(), 2);
        assert_eq!(finished(&text, &grounds, &from), text, "twice changes nothing");
    }
}
