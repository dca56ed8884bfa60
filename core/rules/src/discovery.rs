//! Where instruction files can be, in the order in which later ones win (I1).

use std::path::{Path, PathBuf};

/// The places that a session looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionDirs {
    /// The managed file of this platform, if there is one.
    pub managed: Option<PathBuf>,
    /// The person's own directory (`<home>`).
    pub home: PathBuf,
    /// The working directory, absolute, links resolved.
    pub cwd: PathBuf,
}

/// Whose instructions a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionScope {
    /// The organisation's. They cannot be excluded.
    Managed,
    /// The person's own, for all projects.
    User,
    /// The project's, shared with everybody who works on it.
    Project,
    /// The person's own, for this project.
    Local,
}

/// Why a file is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is loaded with every session.
    Start,
    /// A file in its directory was read.
    Nested,
    /// A file that its `paths` match was touched.
    PathMatch {
        /// The pattern that matched.
        glob: String,
    },
    /// Another instruction file imports it.
    Import { by: PathBuf },
}

/// One place to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionCandidate {
    pub path: PathBuf,
    pub look: CandidateKind,
    /// Whose instructions it would hold.
    pub scope: InstructionScope,
    /// Why it would be loaded.
    pub reason: Reason,
}

/// What is looked for at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandidateKind {
    File,
    /// One that is read only where its directory has no CLAUDE.md (I5).
    Fallback,
    /// A directory of rules, at any depth.
    Rules,
    /// One rule. Its `paths` say when it loads.
    Rule,
}

/// Everything that is looked at when a session starts.
#[must_use]
pub fn plan(places: &InstructionDirs) -> Vec<InstructionCandidate> {
    let candidate = |path: PathBuf, look, scope| InstructionCandidate {
        path,
        look,
        scope,
        reason: Reason::Start,
    };
    let mut all = Vec::new();
    if let Some(managed) = &places.managed {
        all.push(candidate(managed.clone(), CandidateKind::File, InstructionScope::Managed));
    }
    all.push(candidate(places.home.join("CLAUDE.md"), CandidateKind::File, InstructionScope::User));
    all.push(candidate(places.home.join("rules"), CandidateKind::Rules, InstructionScope::User));
    let mut down: Vec<&Path> = places.cwd.ancestors().collect();
    down.reverse();
    all.extend(down.into_iter().flat_map(|dir| directory(dir, &Reason::Start)));
    all
}

/// What is looked at in one directory.
#[must_use]
pub fn directory(dir: &Path, reason: &Reason) -> Vec<InstructionCandidate> {
    [
        ("CLAUDE.md", CandidateKind::File, InstructionScope::Project),
        (".claude/CLAUDE.md", CandidateKind::File, InstructionScope::Project),
        ("AGENTS.md", CandidateKind::Fallback, InstructionScope::Project),
        (".claude/rules", CandidateKind::Rules, InstructionScope::Project),
        ("CLAUDE.local.md", CandidateKind::File, InstructionScope::Local),
    ]
    .into_iter()
    .map(|(name, look, scope)| InstructionCandidate {
        path: dir.join(name),
        look,
        scope,
        reason: reason.clone(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i1_the_order_is_managed_user_then_root_to_working_directory() {
        let places = InstructionDirs {
            managed: Some("/etc/claude-code/CLAUDE.md".into()),
            home: "/home/a/.claude".into(),
            cwd: "/w/p".into(),
        };
        let paths: Vec<String> =
            plan(&places).iter().map(|place| place.path.display().to_string()).collect();
        assert_eq!(
            paths,
            [
                "/etc/claude-code/CLAUDE.md",
                "/home/a/.claude/CLAUDE.md",
                "/home/a/.claude/rules",
                "/CLAUDE.md",
                "/.claude/CLAUDE.md",
                "/AGENTS.md",
                "/.claude/rules",
                "/CLAUDE.local.md",
                "/w/CLAUDE.md",
                "/w/.claude/CLAUDE.md",
                "/w/AGENTS.md",
                "/w/.claude/rules",
                "/w/CLAUDE.local.md",
                "/w/p/CLAUDE.md",
                "/w/p/.claude/CLAUDE.md",
                "/w/p/AGENTS.md",
                "/w/p/.claude/rules",
                "/w/p/CLAUDE.local.md",
            ]
        );
    }
}
