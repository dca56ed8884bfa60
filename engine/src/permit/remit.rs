//! What an agent may do that nobody watches (L5.14, S1, S3).
//!
//! It has every tool of its parent; what is not its business is refused when it
//! is called, because the list of tools is part of the cached prefix (PC4).

use super::{Footprint, Verdict};
use everfold_kernel::ports::CommandEffect;
use std::path::{Component, Path, PathBuf};

/// The tools of an agent that reads around and writes in its own room.
const READ_AND_WRITE: &[&str] = &["Read", "Grep", "Glob", "Bash", "Edit", "Write"];

/// What a background agent may do. Everything else is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remit {
    tools: Vec<String>,
    rooms: Vec<Room>,
}

/// Where a background agent may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Room {
    /// Markdown files in a directory that nothing hides.
    Markdown(PathBuf),
    File(PathBuf),
}

impl Remit {
    /// Nothing at all: every call is refused.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reading, commands that only read, and writing in these rooms.
    #[must_use]
    pub fn writing_in(rooms: Vec<Room>) -> Self {
        Self { tools: READ_AND_WRITE.iter().map(|name| (*name).to_owned()).collect(), rooms }
    }

    /// Editing one file, and nothing else (L3.4).
    #[must_use]
    pub fn editing(file: PathBuf) -> Self {
        Self { tools: vec!["Edit".to_owned()], rooms: vec![Room::File(file)] }
    }

    /// Decides about a call that reaches no credentials.
    pub(super) fn decide(&self, tool: &str, deed: &Footprint) -> Verdict {
        if !self.tools.iter().any(|name| name == tool) {
            let tools = if self.tools.is_empty() { "none".into() } else { self.tools.join(", ") };
            return deny(format!("{tool} is not for this task; the tools that are: {tools}"));
        }
        match deed {
            Footprint::Nothing | Footprint::Read(_) => Verdict::Allow,
            Footprint::Edit(path) if self.rooms.iter().any(|room| room.has(path)) => Verdict::Allow,
            Footprint::Edit(path) => {
                deny(format!("{} is outside of where this task may write", path.display()))
            }
            Footprint::Command(used) => match &used.outline.unwatched_effect {
                CommandEffect::Reads => Verdict::Allow,
                CommandEffect::Acts(reason) => deny(reason.clone()),
            },
            Footprint::Server { .. } => deny("servers are not for this task".into()),
            Footprint::Fetch { .. } => deny("nothing is fetched for this task".into()),
        }
    }
}

impl Room {
    fn has(&self, path: &Path) -> bool {
        match self {
            Self::File(file) => path == file,
            Self::Markdown(dir) => is_open_markdown(path, dir),
        }
    }
}

/// Whether a path is a Markdown file in a directory with no hidden part: the
/// history of a memory directory is in a hidden folder, which tools leave alone.
pub(super) fn is_open_markdown(path: &Path, dir: &Path) -> bool {
    let is_markdown = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"));
    is_markdown
        && path.strip_prefix(dir).is_ok_and(|inside| {
            inside.components().all(|part| match part {
                Component::Normal(name) => !name.as_encoded_bytes().starts_with(b"."),
                _ => false,
            })
        })
}

fn deny(reason: String) -> Verdict {
    Verdict::Deny { reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permit::CommandUse;
    use everfold_kernel::ports::{BarredFiles, CommandOutline};

    fn allows(remit: &Remit, tool: &str, access: &Footprint) -> bool {
        remit.decide(tool, access) == Verdict::Allow
    }

    #[test]
    fn l5_14_it_reads_anywhere_and_writes_in_its_room() {
        let remit = Remit::writing_in(vec![Room::Markdown("/m".into())]);
        assert!(allows(&remit, "Read", &Footprint::Read("/etc/hosts".into())));
        assert!(allows(&remit, "Write", &Footprint::Edit("/m/sub/a.md".into())));
        for path in ["/m/.journal/a.md", "/m/a.sh", "/m/../a.md", "/other/a.md", "/m"] {
            assert!(!allows(&remit, "Write", &Footprint::Edit(path.into())), "{path}");
        }
        let run = |outline: CommandOutline| {
            let barred = BarredFiles::Found(Vec::new());
            Footprint::Command(Box::new(CommandUse { text: "ls".into(), outline, barred }))
        };
        let acts = CommandOutline::of_words("ls");
        assert!(!allows(&remit, "Bash", &run(acts.clone())));
        assert!(allows(
            &remit,
            "Bash",
            &run(CommandOutline { unwatched_effect: CommandEffect::Reads, ..acts })
        ));
        let fetch = Footprint::Fetch { url: "http://a".into(), host: "a".into() };
        for (tool, access) in [("WebFetch", &fetch), ("TodoWrite", &Footprint::Nothing)] {
            assert!(!allows(&remit, tool, access), "{tool}");
        }
    }

    #[test]
    fn l3_4_a_room_may_be_one_file() {
        let remit = Remit::editing("/s/summary.md".into());
        assert!(allows(&remit, "Edit", &Footprint::Edit("/s/summary.md".into())));
        assert!(!allows(&remit, "Write", &Footprint::Edit("/s/summary.md".into())));
        assert!(!allows(&remit, "Read", &Footprint::Read("/s/summary.md".into())));
        assert!(!allows(&remit, "Edit", &Footprint::Edit("/s/summary.md.bak".into())));
    }

    #[test]
    fn l7_7_an_agent_without_tools_is_refused_all_of_them() {
        assert!(!allows(&Remit::none(), "Read", &Footprint::Read("/a".into())));
    }
}
