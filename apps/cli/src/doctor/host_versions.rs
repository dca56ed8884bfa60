//! Versions of other agents that have known traps (X10). The version is read from
//! where the program lies; nothing is started for it.

use super::{Finding, Severity};
use crate::setup::ProcessEnv;
use everfold_agent::hosts::HostKind;
use everfold_kernel::env;
use serde_json::Value;
use std::path::Path;

/// A version: three numbers.
type Version = [u32; 3];

/// Something that goes wrong before a version.
struct Trap {
    host: HostKind,
    before: Version,
    /// Whether it does here.
    is_met: fn(&ProcessEnv) -> bool,
    what: &'static str,
    fix: &'static str,
}

const TRAPS: [Trap; 2] = [
    Trap {
        host: HostKind::Claude,
        before: [2, 1, 325],
        is_met: sends_all_tools,
        what: "sends every tool of every MCP server in full, because ANTHROPIC_BASE_URL is set",
        fix: "set ENABLE_TOOL_SEARCH=true, or update it",
    },
    Trap {
        host: HostKind::Opencode,
        before: [1, 18, 0],
        is_met: |_| true,
        what: "has no readable database: what is said there is not remembered",
        fix: "update it",
    },
];

/// What Everfold was tried with.
fn tried_with(host: HostKind) -> Version {
    match host {
        HostKind::Claude => [2, 1, 197],
        HostKind::Codex => [0, 166, 0],
        HostKind::Gemini => [0, 61, 0],
        HostKind::Opencode => [1, 18, 33],
        HostKind::Pi => [0, 73, 1],
    }
}

/// What is known against the version of a host that is in the path.
pub(super) fn look(env: &ProcessEnv, host: HostKind) -> Vec<Finding> {
    let Some(version) = version_of(env, host) else { return Vec::new() };
    let title = format!("{} {}", host.title(), written(version));
    let traps = TRAPS
        .iter()
        .filter(|trap| trap.host == host && version < trap.before && (trap.is_met)(env));
    let mut found: Vec<Finding> = traps
        .map(|trap| {
            let message = format!("{title} {}", trap.what);
            let fix = format!("{} ({} or newer)", trap.fix, written(trap.before));
            Finding::new(Severity::Warning, super::hosts::AREA, message).fix(fix)
        })
        .collect();
    let tried = tried_with(host);
    if found.is_empty() && version < tried {
        let message = format!(
            "{title} is older than the version Everfold was tested with, {}",
            written(tried)
        );
        found.push(Finding::new(Severity::Info, super::hosts::AREA, message));
    }
    found
}

/// Before 2.1.325 a base URL of one's own switches the search for tools off.
fn sends_all_tools(env: &ProcessEnv) -> bool {
    let is_set = |name: &str| env.variables.get(name).is_some_and(|value| !value.is_empty());
    is_set(env::ANTHROPIC_BASE_URL) && !is_set("ENABLE_TOOL_SEARCH")
}

fn written(version: Version) -> String {
    version.map(|number| number.to_string()).join(".")
}

/// The version of the program that the path leads to: by the package that it is
/// part of, else by the name of a folder or file that it lies in.
fn version_of(env: &ProcessEnv, host: HostKind) -> Option<Version> {
    let folders = env.variables.get("PATH").map(std::env::split_paths)?;
    let name = host.headless().name();
    let program = folders
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|path| path.is_file())?
        .canonicalize()
        .ok()?;
    let by_package = program.ancestors().skip(1).find_map(|dir| package_version(dir, name));
    let by_name = || {
        let parts = program.components().rev();
        parts.filter_map(|part| part.as_os_str().to_str()).find_map(parsed)
    };
    by_package.or_else(by_name)
}

/// The version of a package, if it is the one that has the program.
fn package_version(dir: &Path, program: &str) -> Option<Version> {
    let text = std::fs::read_to_string(dir.join("package.json")).ok()?;
    let package: Value = serde_json::from_str(&text).ok()?;
    let is_meant = package.get("name")?.as_str()?.contains(program);
    parsed(package.get("version")?.as_str()?).filter(|_| is_meant)
}

/// Three numbers with points between, whatever follows them.
fn parsed(text: &str) -> Option<Version> {
    let mut numbers = text.splitn(3, '.').map(|number| {
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        number.get(..end)?.parse().ok()
    });
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x10_versions_are_read_as_they_are_written() {
        assert_eq!(parsed("2.1.197"), Some([2, 1, 197]));
        assert_eq!(parsed("0.61.0-preview.2"), Some([0, 61, 0]));
        for none in ["", "1.2", "v1.2.3", "a.b.c", "node_modules", "99999999999.1.1"] {
            assert_eq!(parsed(none), None, "{none}");
        }
        assert!([1, 18, 33] > [1, 9, 99] && [2, 1, 197] < [2, 1, 325]);
    }
}
