//! What a kind of agent learned and keeps (L5.20).
//!
//! One directory for each kind and scope. Its index is always loaded, whole by
//! the caps; there is no recall and no extraction: the agent keeps it itself.

use crate::definition::AgentMemoryScope;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where the memories of agents are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryPlaces {
    /// The person's: `<home>/agent-memory`.
    pub user: Option<PathBuf>,
    /// The project's: `<git root>/.claude/agent-memory`.
    pub project: Option<PathBuf>,
    /// The project's on this machine: `<git root>/.claude/agent-memory-local`.
    pub local: Option<PathBuf>,
}

impl MemoryPlaces {
    /// The directory of a kind of agent; none where memory is off.
    ///
    /// ```
    /// use everfold_mail::memory::MemoryPlaces;
    /// use everfold_mail::AgentMemoryScope;
    ///
    /// let places = MemoryPlaces { user: Some("/h/agent-memory".into()), ..Default::default() };
    /// let dir = places.of(AgentMemoryScope::User, "team:reviewer").unwrap();
    /// assert_eq!(dir, std::path::Path::new("/h/agent-memory/team-reviewer"));
    /// ```
    #[must_use]
    pub fn of(&self, scope: AgentMemoryScope, kind: &str) -> Option<PathBuf> {
        let root = match scope {
            AgentMemoryScope::User => &self.user,
            AgentMemoryScope::Project => &self.project,
            AgentMemoryScope::Local => &self.local,
        };
        root.as_ref().map(|root| root.join(kind.replace(':', "-")))
    }
}

/// What the system prompt of an agent says of its memory. `index` is what its
/// MEMORY.md says, within the caps; none where there is none yet.
#[must_use]
pub fn section(scope: AgentMemoryScope, dir: &Path, index: Option<&str>) -> String {
    let how_general = match scope {
        AgentMemoryScope::User => {
            "It serves you in every project of this person: keep what holds everywhere, nothing \
             that is true of one project only."
        }
        AgentMemoryScope::Project => {
            "It is shared with everybody who works on this project, through its repository: keep \
             what helps them too, and nothing that is private."
        }
        AgentMemoryScope::Local => {
            "It serves you in this project on this machine alone: keep what belongs to it here."
        }
    };
    let dir = dir.display();
    let mut text = format!(
        "# Your memory\n\nYou keep a memory in {dir}/, from task to task. {how_general}\n\n\
         Each thing learned is a Markdown file of its own with `name` and `description` in its \
         frontmatter; {dir}/MEMORY.md is the index, one line a file: `- [Title](file.md) — what it \
         says`. Read what bears on your task, check it against what you see before relying on it, \
         and before you end, write down what would have helped you, or mend what was wrong."
    );
    match index.map(str::trim).filter(|index| !index.is_empty()) {
        Some(index) => {
            let _ = write!(text, "\n\nThe index now:\n\n{index}");
        }
        None => text.push_str("\n\nThere is no index yet."),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_20_each_scope_has_its_directory_and_its_line() {
        let places = MemoryPlaces {
            user: Some("/h/agent-memory".into()),
            project: Some("/p/.claude/agent-memory".into()),
            local: None,
        };
        let dir = places.of(AgentMemoryScope::Project, "reviewer").unwrap();
        assert_eq!(dir, Path::new("/p/.claude/agent-memory/reviewer"));
        assert_eq!(places.of(AgentMemoryScope::Local, "reviewer"), None);
        let text = section(AgentMemoryScope::Project, &dir, Some("- [A](a.md) — b\n"));
        assert!(text.contains("through its repository") && text.ends_with("- [A](a.md) — b"));
        let empty = section(AgentMemoryScope::User, &dir, Some(" \n"));
        assert!(empty.contains("every project") && empty.ends_with("There is no index yet."));
    }
}
