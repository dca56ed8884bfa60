//! Files of the home directory: whether others can read them (S5), and
//! whether the newest session can be read whole (Q4).

use super::{Finding, Severity};
use crate::presenter::counted;
use everfold_agent::Agent;
use std::path::Path;
#[cfg(unix)]
use std::path::PathBuf;

const AREA: &str = "files";
#[cfg(unix)]
/// How many files are named one by one.
const NAMED: usize = 5;

/// Looks through the files.
pub(super) async fn look(agent: &Agent) -> Vec<Finding> {
    let root = agent.home().root();
    if root.exists() && !root.is_dir() {
        let message = format!("Everfold's home {} is not a directory", root.display());
        let fix = "move it away, or set EVERFOLD_HOME";
        return vec![Finding::new(Severity::Error, AREA, message).fix(fix)];
    }
    let mut findings = open_to_others(root);
    findings.extend(newest(agent).await);
    findings
}

async fn newest(agent: &Agent) -> Option<Finding> {
    let newest = match agent.sessions().await {
        Ok(sessions) => sessions.into_iter().next()?.session,
        Err(error) => {
            let fix = "check its owner and its mode";
            return Some(Finding::new(Severity::Error, AREA, error.to_string()).fix(fix));
        }
    };
    let mut unreadable = 0_u64;
    let mut sink = |line: &[u8]| {
        let blank = line.trim_ascii().is_empty();
        if !blank && everfold_transcript::decode_shown(line).is_err() {
            unreadable += 1;
        }
    };
    let loaded = agent.world().transcripts.load(&newest, &mut sink).await.ok()?;
    let lost = unreadable + loaded.skipped;
    (lost > 0 || loaded.torn_bytes > 0).then(|| {
        let torn = loaded.torn_bytes;
        let message = format!(
            "the newest session {newest} has {} and {torn} bytes of an incomplete line; they \
             are skipped when it is resumed",
            counted(lost as u64, "broken line")
        );
        Finding::new(Severity::Info, AREA, message)
    })
}

#[cfg(not(unix))]
fn open_to_others(_: &Path) -> Vec<Finding> {
    Vec::new()
}

/// Files and directories that others may read or write.
#[cfg(unix)]
fn open_to_others(root: &Path) -> Vec<Finding> {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o077;
    let open = |path: &PathBuf| {
        let mode = path.symlink_metadata().ok().map(|found| found.permissions().mode());
        let link = path.is_symlink();
        mode.filter(|mode| !link && mode & OTHERS != 0)
    };
    let found: Vec<(PathBuf, u32)> =
        private(root).into_iter().filter_map(|path| open(&path).map(|mode| (path, mode))).collect();
    let mut findings: Vec<Finding> = found
        .iter()
        .take(NAMED)
        .map(|(path, mode)| {
            let shown = path.display();
            let wanted = if path.is_dir() { "700" } else { "600" };
            let message = format!("other users can access {shown} (mode {:o})", mode & 0o777);
            Finding::new(Severity::Warning, AREA, message).fix(format!("chmod {wanted} '{shown}'"))
        })
        .collect();
    if found.len() > NAMED {
        let message = format!("other users can access {} more", found.len() - NAMED);
        let fix = format!("chmod -R go= '{}'", root.display());
        findings.push(Finding::new(Severity::Warning, AREA, message).fix(fix));
    }
    findings
}

#[cfg(unix)]
/// What has to be private: the home, its settings and logs, and everything of
/// every project down to the transcripts.
fn private(root: &Path) -> Vec<PathBuf> {
    let mut paths = vec![
        root.to_owned(),
        root.join("settings.json"),
        root.join("logs"),
        root.join("logs").join("everfold.log"),
        root.join("projects"),
    ];
    for project in children(&root.join("projects")) {
        paths.extend(children(&project));
        paths.push(project);
    }
    paths
}

#[cfg(unix)]
fn children(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
