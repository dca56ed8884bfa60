//! From somebody else's file to memories: files in the form of memories as
//! they are, notes section by section, and graphs of entities.

use everfold_memory_file::frontmatter::{Key, METADATA, Value, set};
use everfold_memory_file::index::{INDEX_FILE, is_sub_index};
use everfold_memory_file::{Memory, MemoryDraft};
use everfold_memory_judge::wish::kind_and_tier;
use std::path::Path;

/// Characters of a description that is made from a text.
const DESCRIPTION_CHARS: usize = 150;

/// One memory of a foreign file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) name: String,
    description: String,
    /// The file as it stands, where it is a memory already.
    whole: Option<String>,
    body: String,
}

/// The memories of a file.
pub(super) fn of(file: &Path, text: &str) -> Vec<Piece> {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().replace(['_', '-'], " "));
    let stem = stem.unwrap_or_default();
    match ending.as_deref() {
        Some("jsonl" | "json") => entities(text),
        _ => notes(file, &stem, text),
    }
}

fn notes(file: &Path, stem: &str, text: &str) -> Vec<Piece> {
    let memory = Memory::parse(text);
    if let (Some(name), false) = (&memory.front.name, memory.body.trim().is_empty()) {
        let description = memory.front.description.clone().unwrap_or_default();
        let whole = Some(text.to_owned());
        return vec![Piece { name: name.clone(), description, whole, body: String::new() }];
    }
    let is_index = file.file_name().is_some_and(|name| name == INDEX_FILE);
    // An index points to memories that come in by themselves.
    if is_index && is_only_pointers(memory.body) || is_sub_index(text) {
        return Vec::new();
    }
    sections(stem, memory.body)
}

fn is_only_pointers(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.all(|line| line.starts_with('#') || (line.starts_with("- [") && line.contains("](")))
}

/// A text by its headings of the second level; whole where it has none.
fn sections(stem: &str, text: &str) -> Vec<Piece> {
    let mut parts: Vec<(String, String)> = vec![(stem.to_owned(), String::new())];
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.strip_prefix("## ").filter(|_| !in_code);
        if let Some(heading) = heading {
            parts.push((heading.trim().trim_matches('#').trim().to_owned(), String::new()));
        } else if let Some((_, body)) = parts.last_mut() {
            body.push_str(line);
            body.push('\n');
        }
    }
    let says = |body: &str| {
        body.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    };
    let parts = parts.into_iter().filter(|(name, body)| says(body) && !name.is_empty());
    parts.map(|(name, body)| plain(name, &body)).collect()
}

/// A graph of entities, as the reference memory server keeps it: one JSON
/// object a line.
fn entities(text: &str) -> Vec<Piece> {
    let mut found = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>() {
        let Ok(value) = value else { break };
        let word = |key: &str| value.get(key).and_then(serde_json::Value::as_str);
        let observations = value.get("observations").and_then(serde_json::Value::as_array);
        let (Some(name), Some(observations)) = (word("name"), observations) else { continue };
        let lines: Vec<String> = observations
            .iter()
            .filter_map(|one| one.as_str())
            .map(|one| format!("- {one}"))
            .collect();
        if !lines.is_empty() {
            let kind = word("entityType").map(|kind| format!("{name} ({kind})"));
            found.push(plain(kind.unwrap_or_else(|| name.to_owned()), &lines.join("\n")));
        }
    }
    found
}

fn plain(name: String, body: &str) -> Piece {
    let mut lines = body.lines().map(|line| line.trim_start_matches(['-', '*', ' ']).trim());
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let mut description: String =
        first.unwrap_or_default().chars().take(DESCRIPTION_CHARS).collect();
    if description.is_empty() {
        description.clone_from(&name);
    }
    Piece { name, description, whole: None, body: body.trim().to_owned() }
}

impl Piece {
    /// The text of the memory, with where it came from.
    pub(super) fn rendered(&self, file: &Path) -> String {
        let draft = |name, description, body| {
            MemoryDraft { name, description, kind: kind_and_tier(body).0, body }.render()
        };
        let text = match &self.whole {
            // One that does not say what the index and the judge need is completed.
            Some(text) => completed(text),
            None => draft(&self.name, &self.description, &self.body),
        };
        let origin = Value::Text(file.display().to_string());
        set(&text, Key::Under(METADATA, "origin"), &origin).unwrap_or(text)
    }
}

/// A memory of somebody else's with a description and a type, all else as it is.
fn completed(text: &str) -> String {
    let memory = Memory::parse(text);
    let mut text = text.to_owned();
    if memory.front.description.as_ref().is_none_or(|words| words.trim().is_empty()) {
        let first = memory.body.lines().map(str::trim).find(|line| !line.is_empty());
        let words: String = first.unwrap_or_default().chars().take(DESCRIPTION_CHARS).collect();
        text = set(&text, Key::Top("description"), &Value::Text(words)).unwrap_or(text);
    }
    if memory.front.kind.is_none() {
        let kind = Value::Text(kind_and_tier(memory.body).0.as_str().to_owned());
        text = set(&text, Key::Under(METADATA, "type"), &kind).unwrap_or(text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(file: &str, text: &str) -> Vec<String> {
        of(Path::new(file), text).into_iter().map(|piece| piece.name).collect()
    }

    #[test]
    fn l5_30_memories_notes_and_graphs_come_apart() {
        let memory = "---\nname: Tea\ndescription: d\ntype: user\nextra: kept\n---\nGreen.\n";
        assert_eq!(names("tea.md", memory), ["Tea"]);
        assert_eq!(names("MEMORY.md", "# Index\n- [Tea](tea.md) — x\n"), Vec::<String>::new());
        let notes = "# Notes\nintro\n\n## Build\nuse make\n```\n## not a heading\n```\n## Empty\n\n## Deploy\n- on Fridays\n";
        assert_eq!(names("my_notes.md", notes), ["my notes", "Build", "Deploy"]);
        let graph = "{\"type\":\"entity\",\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":[\"likes tea\"]}\n{\"type\":\"relation\",\"from\":\"a\",\"to\":\"b\"}\nbroken";
        assert_eq!(names("memory.jsonl", graph), ["Ada (person)"]);
        assert!(names("x.md", "").is_empty());
    }

    #[test]
    fn l5_30_the_origin_is_named_and_the_rest_is_kept() {
        let memory = "---\nname: Tea\ndescription: d\nextra: kept # why\n---\nGreen.\n";
        let piece = of(Path::new("/f/tea.md"), memory).remove(0);
        let text = piece.rendered(Path::new("/f/tea.md"));
        assert!(text.contains("extra: kept # why") && text.contains("origin: /f/tea.md"), "{text}");
        assert!(text.ends_with("---\nGreen.\n"), "{text}");
    }
}
