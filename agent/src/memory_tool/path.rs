//! Paths as the tool has them (`/memories/a/b.txt`), and as the store has them
//! (`a/b.txt.md`).

use super::error::Refused;
use everfold_memory_file::index::INDEX_FILE;
use everfold_memory_store::TopicPath;
use std::path::Path;

/// Where everything is, to the model.
pub(super) const TOP: &str = "/memories";
const ENDING: &str = ".md";

/// What a path stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The folder of all memories.
    Top,
    /// The index.
    Index,
    /// A memory, or a folder of the same name.
    Topic(TopicPath),
}

impl Target {
    /// Reads a path of the tool.
    ///
    /// # Errors
    /// What the model is told of one that leads elsewhere.
    pub(super) fn parse(path: &str) -> Result<Self, Refused> {
        let rest = path.strip_prefix(TOP).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(rest) = rest else {
            return Err(Refused::Elsewhere(path.to_owned()));
        };
        let rest = rest.trim_matches('/');
        if rest.is_empty() {
            return Ok(Self::Top);
        }
        if rest == INDEX_FILE {
            return Ok(Self::Index);
        }
        if rest.split('/').any(|part| part == "..") {
            return Err(Refused::Escapes(path.to_owned()));
        }
        Ok(Self::Topic(TopicPath::new(&stored_name(rest))?))
    }

    /// The folder that it may be, from the top; empty for the top itself.
    pub(super) fn folder(&self) -> String {
        match self {
            Self::Top | Self::Index => String::new(),
            Self::Topic(topic) => {
                let path = topic.as_str();
                path.strip_suffix(ENDING).unwrap_or(path).to_owned()
            }
        }
    }
}

/// The name under which the store keeps a file.
fn stored_name(name: &str) -> String {
    if has_ending(name) { name.to_owned() } else { format!("{name}{ENDING}") }
}

/// The name under which the tool shows a file: with the ending that the model
/// gave it.
pub(super) fn shown_name(name: &str) -> &str {
    let stem = name.strip_suffix(ENDING).unwrap_or(name);
    if Path::new(stem).extension().is_some() { stem } else { name }
}

fn has_ending(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x4_paths_that_lead_elsewhere_are_refused() {
        for path in [
            "/etc/passwd",
            "memories/a.md",
            "/memoriesx/a.md",
            "/memories/../a.md",
            "/memories/a/../../b.md",
            "/memories/%2e%2e/a.md",
            "/memories/..%2fa.md",
            "/memories/．．/a.md",
            "/memories/a\0.md",
            "/memories/.everfold/journal.jsonl",
            "/memories/C:/a.md",
            "/memories/a\\..\\b.md",
            "",
        ] {
            assert!(Target::parse(path).is_err(), "{path:?}");
        }
        assert_eq!(
            Target::parse("/memories/../x").unwrap_err().to_string(),
            "Path /memories/../x would escape /memories directory"
        );
    }

    #[test]
    fn x4_every_name_is_kept_as_markdown_and_shown_as_it_was_given() {
        for (given, kept) in
            [("a.md", "a.md"), ("a.txt", "a.txt.md"), ("d/x.json", "d/x.json.md"), ("n", "n.md")]
        {
            let target = Target::parse(&format!("/memories/{given}")).unwrap();
            assert_eq!(target, Target::Topic(TopicPath::new(kept).unwrap()));
        }
        for (kept, shown) in [("a.md", "a.md"), ("a.txt.md", "a.txt"), ("v1.2.md", "v1.2")] {
            assert_eq!(shown_name(kept), shown);
            assert_eq!(stored_name(shown), kept, "and back");
        }
        assert_eq!(Target::parse("/memories/").unwrap(), Target::Top);
        assert_eq!(Target::parse("/memories/MEMORY.md").unwrap(), Target::Index);
    }
}
