//! Where the instruction files of a session are (I1).

use everfold_engine::config::InstructionSources;
use everfold_rules::InstructionDirs;
use everfold_settings::layout::Platform;
use everfold_settings::{Resolved, Trust, ValueOrigin};
use std::path::{Path, PathBuf};

/// The name of instruction files.
const FILE: &str = "CLAUDE.md";

/// What the places depend on.
pub(crate) struct Ground<'a> {
    pub(crate) home: &'a Path,
    pub(crate) user_home: Option<&'a Path>,
    /// Managed settings, where they are elsewhere than usual.
    pub(crate) managed_settings: Option<&'a Path>,
    pub(crate) cwd: &'a Path,
    pub(crate) resolved: &'a Resolved,
    pub(crate) trust: &'a Trust,
}

/// The places of instruction files. What the repository imports from outside is
/// left out, and said, unless a person trusts it (I5, S7).
pub(crate) fn sources(ground: &Ground<'_>) -> InstructionSources {
    let managed = match ground.managed_settings {
        Some(settings) => settings.parent().map(|dir| dir.join(FILE)),
        None => Some(managed_file(Platform::current())),
    };
    InstructionSources {
        places: InstructionDirs {
            managed,
            home: ground.home.to_owned(),
            cwd: ground.cwd.to_owned(),
        },
        tree: ground.trust.bounds(),
        user_dir: ground.user_home.unwrap_or(ground.home).to_owned(),
        excludes: ground.resolved.settings.claude_md_excludes.clone(),
        own_excludes: own_excludes(ground.resolved),
    }
}

/// What the person excludes: a tree cannot leave out what is theirs.
fn own_excludes(resolved: &Resolved) -> Vec<String> {
    let is_own = |at: usize| {
        let origin = resolved.origin(&format!("/claudeMdExcludes/{at}"));
        !matches!(origin, ValueOrigin::Project(_) | ValueOrigin::Local(_))
    };
    let all = resolved.settings.claude_md_excludes.iter().enumerate();
    all.filter(|(at, _)| is_own(*at)).map(|(_, glob)| glob.clone()).collect()
}

/// The organisation's file. Fixed, as that of its settings is.
fn managed_file(platform: Platform) -> PathBuf {
    let dir = match platform {
        Platform::Linux => "/etc/claude-code",
        Platform::MacOs => "/Library/Application Support/ClaudeCode",
        Platform::Windows => r"C:\Program Files\ClaudeCode",
    };
    Path::new(dir).join(FILE)
}
