//! Which agents Everfold works beside, and what each of them lets it do (X8).

use everfold_provider::HeadlessProgram;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// An agent of somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostKind {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// opencode
    Opencode,
    /// pi
    Pi,
}

/// Something that a host can let us do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// The index stands at the head of a session.
    Index,
    /// Memories come in with a message.
    Recall,
    /// Memories come in where a tool fails.
    FailureRecall,
    /// What was said is looked through, and what is worth it is kept.
    Keep,
    /// What a summary would lose comes back.
    Compaction,
    /// The six tools of the MCP server.
    Tools,
    /// Reviews by the host's own login, without a key of our own.
    OwnLogin,
    /// A line about memories and the cache at the foot of the screen.
    StatusLine,
}

/// Whether it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// It does.
    Yes,
    /// As far as this says.
    Partly(&'static str),
    /// It does not.
    No,
}

impl Capability {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 8] = [
        Self::Index,
        Self::Recall,
        Self::FailureRecall,
        Self::Keep,
        Self::Compaction,
        Self::Tools,
        Self::OwnLogin,
        Self::StatusLine,
    ];

    /// A few words for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Index => "index at the start",
            Self::Recall => "recall with a message",
            Self::FailureRecall => "recall on failure",
            Self::Keep => "keeping after an answer",
            Self::Compaction => "words kept across a summary",
            Self::Tools => "tools (MCP)",
            Self::OwnLogin => "reviews by the host's login",
            Self::StatusLine => "status line",
        }
    }
}

impl HostKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Pi];

    /// Its name, as it is typed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// Its name, as its makers write it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::Pi => "pi",
        }
    }

    /// The host of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.as_str() == name)
    }

    /// Whose transcript a file is: each keeps its own in a folder of its own.
    pub(crate) fn of_transcript(path: &Path, claude: Option<&PathBuf>) -> Option<Self> {
        let has = |name: &str| path.components().any(|part| part.as_os_str() == name);
        if claude.is_some_and(|dir| path.starts_with(dir)) || has(".claude") {
            Some(Self::Claude)
        } else if has(".codex") {
            Some(Self::Codex)
        } else if has(".gemini") {
            Some(Self::Gemini)
        } else if has(everfold_opencode::DATABASE) {
            Some(Self::Opencode)
        } else if has(".pi") {
            Some(Self::Pi)
        } else {
            None
        }
    }

    /// Who has an event of that name and nobody else has.
    pub(crate) fn of_event(name: &str) -> Option<Self> {
        matches!(name, "BeforeAgent" | "AfterAgent" | "AfterTool" | "PreCompress")
            .then_some(Self::Gemini)
    }

    /// Its program, which answers a question without a person.
    #[must_use]
    pub fn headless(self) -> HeadlessProgram {
        match self {
            Self::Claude => HeadlessProgram::Claude,
            Self::Codex => HeadlessProgram::Codex,
            Self::Gemini => HeadlessProgram::Gemini,
            Self::Opencode => HeadlessProgram::Opencode,
            Self::Pi => HeadlessProgram::Pi,
        }
    }

    /// Whether it says that a session goes on which was there before.
    pub(crate) fn tells_of_resuming(self) -> bool {
        !matches!(self, Self::Opencode | Self::Pi)
    }

    /// Whether its model can be asked to go on after an answer, and save.
    pub(crate) fn can_be_asked(self) -> bool {
        matches!(self, Self::Claude | Self::Codex)
    }

    /// Whether it lets us do something.
    #[must_use]
    pub fn can(self, what: Capability) -> Ability {
        use Ability::{No, Partly, Yes};
        use Capability::{Compaction, FailureRecall, Keep, StatusLine, Tools};
        match (self, what) {
            (Self::Codex, Keep) => Partly("the last words of a session with the next one"),
            (Self::Gemini, FailureRecall) => Partly("file tools that report an error"),
            (Self::Pi, Tools) => Partly("the same six, by its extension"),
            (Self::Opencode, Compaction)
            | (Self::Codex | Self::Gemini | Self::Opencode | Self::Pi, StatusLine) => No,
            _ => Yes,
        }
    }

    /// The table of all hosts, in Markdown.
    #[must_use]
    pub fn table() -> String {
        let mut text = String::from("| |");
        for host in Self::ALL {
            let _ = write!(text, " {} |", host.title());
        }
        let _ = writeln!(text, "\n|---{}|", "|---".repeat(Self::ALL.len()));
        for what in Capability::ALL {
            let _ = write!(text, "| {} |", what.words());
            for host in Self::ALL {
                let _ = match host.can(what) {
                    Ability::Yes => write!(text, " yes |"),
                    Ability::Partly(how) => write!(text, " {how} |"),
                    Ability::No => write!(text, " no |"),
                };
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x8_the_guide_has_the_table_of_hosts() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/hosts.md");
        let guide = std::fs::read_to_string(path).unwrap();
        assert!(
            guide.contains(&HostKind::table()),
            "docs/guide/hosts.md lacks:\n{}",
            HostKind::table()
        );
    }

    #[test]
    fn x7_hosts_are_told_by_their_transcripts() {
        let of = |path: &str| HostKind::of_transcript(Path::new(path), Some(&"/c".into()));
        assert_eq!(of("/c/projects/-p/s.jsonl"), Some(HostKind::Claude));
        assert_eq!(of("/h/.codex/sessions/2026/r.jsonl"), Some(HostKind::Codex));
        assert_eq!(of("/h/.gemini/tmp/x/chats/s.jsonl"), Some(HostKind::Gemini));
        let opencode = "/h/.local/share/opencode/opencode.db/ses_1.jsonl";
        assert_eq!(of(opencode), Some(HostKind::Opencode));
        assert_eq!(of("/h/.pi/agent/sessions/--p--/s.jsonl"), Some(HostKind::Pi));
        assert_eq!(of("/tmp/host.jsonl"), None);
    }
}
