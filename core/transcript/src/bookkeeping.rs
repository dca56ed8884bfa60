//! Lines beside the conversation: titles, tags, the current leaf, shortened
//! tool results. The last line of a kind wins. Lines of kinds that are not
//! named here are left where they are.

use everfold_kernel::{Block, Decision, Entry, Record, RecordId, SessionId, ToolUseId, UserOrigin};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Longest title that a list shows, in characters.
const TITLE_CHARS: usize = 200;

/// Prompts that start with one of these were not typed by a person.
const NOT_A_PROMPT: [&str; 5] = [
    "<local-command-stdout>",
    "<session-start-hook>",
    "<tick>",
    "<goal>",
    "[Request interrupted by user",
];

/// Elements that an editor adds to a prompt.
const EDITOR_NOTES: [&str; 2] = ["ide_opened_file", "ide_selection"];

/// A line that names a session, as a person chose.
#[must_use]
pub fn custom_title(session: &SessionId, title: &str) -> String {
    json!({"type": "custom-title", "customTitle": title, "sessionId": session}).to_string()
}

/// A line that names a session, as a model chose.
#[must_use]
pub fn ai_title(session: &SessionId, title: &str) -> String {
    json!({"type": "ai-title", "aiTitle": title, "sessionId": session}).to_string()
}

/// A line with the newest prompt, for lists.
#[must_use]
pub fn last_prompt(session: &SessionId, prompt: &str, leaf: &RecordId) -> String {
    json!({"type": "last-prompt", "lastPrompt": cut(prompt), "leafUuid": leaf, "sessionId": session})
        .to_string()
}

/// A line that takes the conversation back to a record. It holds until the
/// next message is written.
#[must_use]
pub fn rewound(session: &SessionId, leaf: &RecordId) -> String {
    json!({"type": "last-prompt", "leafUuid": leaf, "explicit": true, "rewound": true,
        "sessionId": session})
    .to_string()
}

/// How a session was named. Lists look at the two ends of a file, so that its
/// names are written again behind every boundary (L4.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionNames {
    custom_title: Option<String>,
    ai_title: Option<String>,
    tag: Option<String>,
}

impl SessionNames {
    /// The lines that say so.
    pub fn lines(&self, session: &SessionId) -> impl Iterator<Item = String> {
        let tag = |tag: &String| json!({"type": "tag", "tag": tag, "sessionId": session});
        let titles = [
            self.custom_title.as_ref().map(|title| custom_title(session, title)),
            self.ai_title.as_ref().map(|title| ai_title(session, title)),
            self.tag.as_ref().map(|name| tag(name).to_string()),
        ];
        titles.into_iter().flatten()
    }
}

/// What the bookkeeping lines of a transcript said, and its first prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sidelines {
    custom_title: Option<String>,
    ai_title: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    first_prompt: Option<String>,
    pub(crate) tag: Option<String>,
    /// Where the conversation was taken back to, if nothing was said since.
    pub(crate) rewound_to: Option<RecordId>,
    replacements: BTreeMap<ToolUseId, String>,
}

impl Sidelines {
    /// Takes in one bookkeeping line.
    pub(crate) fn note(&mut self, line: &Value) {
        match line.get("type").and_then(Value::as_str) {
            Some("custom-title") => set(&mut self.custom_title, line, "customTitle"),
            Some("ai-title") => set(&mut self.ai_title, line, "aiTitle"),
            Some("summary") => set(&mut self.summary, line, "summary"),
            Some("tag") => set(&mut self.tag, line, "tag"),
            Some("last-prompt") => {
                if line.get("lastPrompt").is_some() {
                    set(&mut self.last_prompt, line, "lastPrompt");
                }
                let rewound = line.get("rewound").and_then(Value::as_bool);
                let leaf = line.get("leafUuid").and_then(Value::as_str);
                self.rewound_to = leaf.filter(|_| rewound == Some(true)).map(RecordId::new);
            }
            // Those of a sub-agent are about its own conversation.
            Some("content-replacement") if line.get("agentId").is_none_or(Value::is_null) => {
                self.note_replacements(line);
            }
            _ => {}
        }
    }

    fn note_replacements(&mut self, line: &Value) {
        let items = line.get("replacements").and_then(Value::as_array);
        for item in items.into_iter().flatten() {
            let id = item.get("toolUseId").and_then(Value::as_str);
            let text = item.get("replacement").and_then(Value::as_str);
            if let (Some(id), Some(text)) = (id, text) {
                self.replacements.insert(ToolUseId::new(id), text.to_owned());
            }
        }
    }

    /// Takes in a record of the main conversation.
    pub(crate) fn note_record(&mut self, record: &Record) {
        let moves_on = matches!(
            record.entry,
            Entry::User(_) | Entry::Assistant(_) | Entry::Decision(Decision::Rewound(_))
        );
        if moves_on {
            self.rewound_to = None;
        }
        if self.first_prompt.is_none() {
            self.first_prompt = prompt(record);
        }
    }

    /// How the session was named.
    pub(crate) fn names(&self) -> SessionNames {
        SessionNames {
            custom_title: self.custom_title.clone(),
            ai_title: self.ai_title.clone(),
            tag: self.tag.clone(),
        }
    }

    /// The best title there is.
    pub(crate) fn title(&self) -> Option<String> {
        [&self.custom_title, &self.ai_title, &self.last_prompt, &self.summary, &self.first_prompt]
            .into_iter()
            .find_map(Clone::clone)
    }

    /// The first thing that the person said.
    pub(crate) fn first_prompt(&self) -> Option<&str> {
        self.first_prompt.as_deref()
    }

    /// Whether tool results were shown in another form.
    pub(crate) fn has_replacements(&self) -> bool {
        !self.replacements.is_empty()
    }

    /// Tool results that were shown in another form, by call.
    pub(crate) fn into_replacements(self) -> Vec<(ToolUseId, String)> {
        self.replacements.into_iter().collect()
    }
}

/// An empty text takes the old one away.
fn set(slot: &mut Option<String>, line: &Value, key: &str) {
    let text = line.get(key).and_then(Value::as_str);
    *slot = text.map(cut).filter(|text| !text.is_empty());
}

/// One line, not too long.
fn cut(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(TITLE_CHARS).collect();
    words.join(" ").chars().take(TITLE_CHARS).collect()
}

/// What a person said in a record, if a person said something.
fn prompt(record: &Record) -> Option<String> {
    let Entry::User(user) = &record.entry else {
        return None;
    };
    if user.origin != UserOrigin::Human {
        return None;
    }
    user.content
        .iter()
        .find_map(|block| (block.kind() == "text").then(|| real_text(block)).flatten())
}

fn real_text(block: &Block) -> Option<String> {
    let text = block.plain_text();
    let mut text = text.trim();
    if NOT_A_PROMPT.iter().any(|start| text.starts_with(start)) {
        return None;
    }
    while let Some(rest) = EDITOR_NOTES.iter().find_map(|tag| after_element(text, tag)) {
        text = rest.trim_start();
    }
    let shown = match element(text, "command-name") {
        Some(name) => format!("{name} {}", element(text, "command-args").unwrap_or("")),
        None => text.to_owned(),
    };
    Some(cut(&shown)).filter(|text| !text.is_empty())
}

/// What follows an element at the start of a text.
fn after_element<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    text.strip_prefix('<')?.strip_prefix(tag)?.strip_prefix('>')?;
    text.split_once(&format!("</{tag}>")).map(|(_, rest)| rest)
}

/// The text inside an element.
fn element<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, tail) = text.split_once(&format!("<{tag}>"))?;
    tail.split_once(&format!("</{tag}>")).map(|(inner, _)| inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str) -> Option<String> {
        real_text(&Block::text(text))
    }

    #[test]
    fn q4_the_first_prompt_is_what_a_person_typed() {
        for skipped in [
            "<local-command-stdout>x</local-command-stdout>",
            "<session-start-hook>x",
            "<tick>",
            "<goal>x</goal>",
            "[Request interrupted by user for tool use]",
            "<ide_opened_file>a.rs</ide_opened_file>",
            "<ide_opened_file>a</ide_opened_file> <ide_selection>b</ide_selection>",
            "  ",
        ] {
            assert_eq!(first(skipped), None, "{skipped}");
        }
        assert_eq!(
            first("<ide_selection>b</ide_selection>\nfix  it\nnow").as_deref(),
            Some("fix it now")
        );
        assert_eq!(
            first("<command-message>x</command-message>\n<command-name>/go</command-name>\n<command-args>a b</command-args>").as_deref(),
            Some("/go a b")
        );
        assert_eq!(first(&"é".repeat(500)).map(|t| t.chars().count()), Some(200));
    }

    #[test]
    fn q4_the_best_title_wins_and_an_empty_one_is_removed() {
        let session = SessionId::new("s");
        let mut notes = Sidelines::default();
        let mut seen = Vec::new();
        for line in [
            r#"{"type":"summary","summary":"sum"}"#.to_owned(),
            last_prompt(&session, "last", &"l".into()),
            ai_title(&session, "ai"),
            custom_title(&session, "mine"),
            ai_title(&session, "newer ai"),
            custom_title(&session, ""),
        ] {
            notes.note(&serde_json::from_str(&line).unwrap());
            seen.extend(notes.title());
        }
        assert_eq!(seen, ["sum", "last", "ai", "mine", "mine", "newer ai"]);
    }

    #[test]
    fn l1_5_replacements_come_back() {
        let shown = vec![(ToolUseId::new("t1"), "short".to_owned())];
        let mut notes = Sidelines::default();
        notes.note(&json!({"type": "content-replacement", "sessionId": "s",
            "replacements": [{"kind": "tool-result", "toolUseId": "t1", "replacement": "short"}]}));
        notes.note(&json!({"type": "content-replacement", "agentId": "a",
            "replacements": [{"toolUseId": "t2", "replacement": "x"}]}));
        assert_eq!(notes.into_replacements(), shown);
    }
}
