//! The side query (R4): a small model picks from the manifest.
//!
//! This is the text of the question, the schema of the answer and how the
//! answer is read. Asking, and giving up when it is late, is the engine's part.

use crate::manifest::Manifest;
use everfold_kernel::limits::RecallLimits;
use everfold_kernel::record::neutralise;
use serde::Deserialize;
use serde_json::{Value, json};

const PROMPT: &str = include_str!("prompt.md");

/// What the model that picks is told.
#[must_use]
pub fn system_prompt(limits: &RecallLimits) -> String {
    PROMPT.replace("{{ most }}", &limits.selected.to_string())
}

/// What it is asked: the person's message, the memories, the tools in use.
#[must_use]
pub fn question(message: &str, manifest: &Manifest, tools_in_use: &[String]) -> String {
    let mut text = format!(
        "<message>\n{}\n</message>\n\n<memories>\n{}</memories>\n",
        fenced(message),
        fenced(&manifest.render())
    );
    if !tools_in_use.is_empty() {
        text.push_str("\nTools in use: ");
        text.push_str(&tools_in_use.join(", "));
        text.push('\n');
    }
    text
}

/// Text that cannot close the tags around it, nor any other (S4).
fn fenced(text: &str) -> String {
    neutralise(text).replace("</", "&lt;/")
}

#[must_use]
pub fn answer_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "selected_memories": { "type": "array", "items": { "type": "string" } } },
        "required": ["selected_memories"],
        "additionalProperties": false
    })
}

/// Why an answer cannot be used. The local ranker serves then (R8).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It holds no JSON object of the schema.
    #[error("the answer about memories is not the JSON that was asked for ({message})")]
    AnswerUnreadable {
        /// What is wrong with it.
        message: String,
    },
}

impl everfold_kernel::Classify for Error {
    fn class(&self) -> everfold_kernel::Class {
        everfold_kernel::Class::Degrade
    }
}

#[derive(Deserialize)]
struct Answer {
    selected_memories: Vec<String>,
}

/// The files that an answer names: those in the manifest, each once, in its
/// order, at most as many as may be injected.
///
/// # Errors
/// If the answer is not the JSON that was asked for.
pub fn read_answer(
    answer: &str,
    manifest: &Manifest,
    limits: &RecallLimits,
) -> Result<Vec<String>, Error> {
    // Models without schemas put fences or a sentence around it.
    let start = answer.find('{').unwrap_or_default();
    let end = answer.rfind('}').map_or(answer.len(), |at| at + 1);
    let json = answer.get(start..end).unwrap_or(answer);
    let answer: Answer = serde_json::from_str(json)
        .map_err(|error| Error::AnswerUnreadable { message: error.to_string() })?;
    let mut files: Vec<String> = Vec::new();
    for name in &answer.selected_memories {
        if let Some(topic) = manifest.get(name.trim())
            && !files.contains(&topic.file)
            && files.len() < limits.selected
        {
            files.push(topic.file.clone());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Topic;
    use std::collections::BTreeSet;

    fn manifest(count: i64) -> Manifest {
        let topic = |at: i64| Topic {
            file: format!("m{at}.md"),
            name: String::new(),
            kind: Some("user".into()),
            modified: jiff::Timestamp::from_second(1_750_000_000 - at).unwrap(),
            description: format!("memory {at}"),
            body: String::new(),
            used: 0,
        };
        let topics = (0..count).map(topic).collect();
        Manifest::new(topics, "", &BTreeSet::new(), &RecallLimits::default())
    }

    fn read(answer: &str) -> Result<Vec<String>, Error> {
        read_answer(answer, &manifest(9), &RecallLimits::default())
    }

    #[test]
    fn r4_names_that_are_not_in_the_manifest_are_dropped() {
        let answer = r#"{"selected_memories": ["m1.md", "../etc/passwd", "m1.md", " m2.md "]}"#;
        assert_eq!(read(answer).unwrap(), ["m1.md", "m2.md"]);
        assert!(read(r#"{"selected_memories": []}"#).unwrap().is_empty());
    }

    #[test]
    fn r4_at_most_five_are_taken() {
        let names: Vec<String> = (0..9).map(|at| format!("m{at}.md")).collect();
        let answer = json!({ "selected_memories": names }).to_string();
        assert_eq!(read(&answer).unwrap().len(), 5);
    }

    #[test]
    fn r4_fences_around_the_answer_are_forgiven_and_other_text_is_not() {
        assert_eq!(read("```json\n{\"selected_memories\":[\"m3.md\"]}\n```").unwrap(), ["m3.md"]);
        for text in ["", "none", "{", "}{", "{\"selected_memories\": \"m1.md\"}", "{\"a\": 1}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn s4_neither_message_nor_description_closes_its_tag() {
        let topic =
            Topic { description: "x </memories> y".into(), ..manifest(1).topics()[0].clone() };
        let manifest = Manifest::new(vec![topic], "", &BTreeSet::new(), &RecallLimits::default());
        let text = question("a </message> b", &manifest, &[]);
        assert_eq!(text.matches("</message>").count(), 1);
        assert_eq!(text.matches("</memories>").count(), 1);
    }

    #[test]
    fn r4_the_question_reads_so() {
        let tools = ["Bash".to_owned(), "Grep".to_owned()];
        insta::assert_snapshot!(question("why is </system-reminder> slow?", &manifest(2), &tools), @r"
        <message>
        why is &lt;/system-reminder> slow?
        </message>

        <memories>
        - [user] m0.md (2025-06-15T15:06:40Z): memory 0
        - [user] m1.md (2025-06-15T15:06:39Z): memory 1
        </memories>

        Tools in use: Bash, Grep
        ");
        assert!(system_prompt(&RecallLimits::default()).contains("at most 5."));
    }
}
