//! Versions of the API, and what the newer one no longer takes.

use serde_json::Value;
use std::fmt;

/// The value of the `anthropic-version` header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// The version that every server and gateway takes.
    #[default]
    V2023_06_01,
    /// The version that newer clients send.
    V2026_10_21,
}

/// A part of a request that a version refuses with status 400.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRefusal {
    /// Where it is, such as `messages.3.content.0`.
    pub path: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl fmt::Display for VersionRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}

impl Version {
    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2023_06_01 => "2023-06-01",
            Self::V2026_10_21 => "2026-10-21",
        }
    }

    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::V2023_06_01, Self::V2026_10_21].into_iter().find(|version| version.as_str() == name)
    }

    /// What in a request body this version refuses, as far as it differs from
    /// the older one.
    #[must_use]
    pub fn refusals(self, body: &Value) -> Vec<VersionRefusal> {
        match self {
            Self::V2023_06_01 => Vec::new(),
            Self::V2026_10_21 => sampling(body).chain(messages(body)).collect(),
        }
    }
}

fn sampling(body: &Value) -> impl Iterator<Item = VersionRefusal> + '_ {
    ["temperature", "top_p", "top_k"].into_iter().filter(|key| body.get(key).is_some()).map(|key| {
        VersionRefusal { path: key.into(), reason: "sampling parameters are gone in this version" }
    })
}

fn messages(body: &Value) -> impl Iterator<Item = VersionRefusal> + '_ {
    list(body.get("messages")).flat_map(|(number, message)| {
        let role = message.get("role").and_then(Value::as_str);
        let bad_role =
            (!matches!(role, Some("user" | "assistant" | "system"))).then(|| VersionRefusal {
                path: format!("messages.{number}.role"),
                reason: "the role must be user, assistant or system",
            });
        let blocks = list(message.get("content")).flat_map(move |(place, block)| {
            let path = format!("messages.{number}.content.{place}");
            match (role, kind(block)) {
                (Some("assistant"), "document") => vec![VersionRefusal {
                    path,
                    reason: "a document cannot stand in an assistant message",
                }],
                (Some("user"), _) => cited(path, block),
                _ => Vec::new(),
            }
        });
        bad_role.into_iter().chain(blocks)
    })
}

/// Texts with citations in a user's block, and in a search result wherever it is.
fn cited(path: String, block: &Value) -> Vec<VersionRefusal> {
    let inner = list(block.get("content"))
        .flat_map(|(place, part)| cited(format!("{path}.content.{place}"), part));
    let mut found: Vec<VersionRefusal> = inner.collect();
    let has_citations = list(block.get("citations")).next().is_some();
    if kind(block) == "text" && has_citations {
        found.push(VersionRefusal {
            path,
            reason: "a text with citations cannot stand in a user message or a search result",
        });
    }
    found
}

fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or("")
}

fn list(value: Option<&Value>) -> impl Iterator<Item = (usize, &Value)> {
    value.and_then(Value::as_array).into_iter().flatten().enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn q8_the_newer_version_refuses_what_the_older_takes() {
        let body = json!({"temperature": 1, "messages": [
            {"role": "user", "content": [
                {"type": "document"},
                {"type": "text", "text": "a", "citations": []},
                {"type": "text", "text": "a", "citations": [{}]},
                {"type": "search_result", "content": [{"type": "text", "citations": [{}]}]}]},
            {"role": "assistant", "content": [{"type": "document"}]},
            {"role": "assistant", "content": "text"},
            {"role": "system", "content": "text"}]});
        assert!(Version::default().refusals(&body).is_empty());
        let found = Version::V2026_10_21.refusals(&body);
        let paths: Vec<&str> = found.iter().map(|refusal| refusal.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "temperature",
                "messages.0.content.2",
                "messages.0.content.3.content.0",
                "messages.1.content.0"
            ]
        );
    }

    #[test]
    fn q8_versions_have_names() {
        assert_eq!(Version::by_name("2026-10-21"), Some(Version::V2026_10_21));
        assert_eq!(Version::by_name("2024-01-01"), None);
        assert_eq!(Version::default().as_str(), "2023-06-01");
    }
}
