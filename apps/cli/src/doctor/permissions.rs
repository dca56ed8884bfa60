//! Permissions that let more happen without a question than people think (Q6).

use super::{Finding, Severity};
use everfold_agent::Agent;
use everfold_kernel::settings::PermissionMode;
use std::path::Path;

const AREA: &str = "permissions";

/// Programs that run what they are given: a rule for one is a rule for all.
const RUN_ANYTHING: [&str; 22] = [
    "sh", "bash", "zsh", "fish", "dash", "env", "eval", "exec", "xargs", "sudo", "su", "ssh",
    "python", "python3", "node", "perl", "ruby", "php", "npx", "find", "awk", "nohup",
];
/// Tools whose calls change files.
const CHANGING: [&str; 4] = ["Edit", "Write", "NotebookEdit", "MultiEdit"];

/// Looks through the rules.
pub(super) fn look(agent: &Agent) -> Vec<Finding> {
    let resolved = agent.settings();
    let permissions = &resolved.settings.permissions;
    let origin = |pointer: &str| {
        resolved.origins.get(pointer).map_or_else(String::new, |origin| format!(" ({origin})"))
    };
    let mut findings = Vec::new();
    if permissions.default_mode == Some(PermissionMode::BypassPermissions) {
        let from = origin("/permissions/defaultMode");
        let message = format!(
            "every session starts in {}{from}: tools run without asking",
            PermissionMode::BypassPermissions.as_str()
        );
        let fix = "remove permissions.defaultMode, or set it to acceptEdits; pass \
                   --permission-mode for the one session that needs it";
        findings.push(Finding::new(Severity::Warning, AREA, message).fix(fix));
    }
    for (at, rule) in permissions.allow.iter().enumerate() {
        if let Some((why, instead)) = too_wide(rule) {
            let from = origin(&format!("/permissions/allow/{at}"));
            let message = format!("the rule {rule:?} allows {why}{from}");
            let fix = format!("remove it from permissions.allow, or write {instead}");
            findings.push(Finding::new(Severity::Warning, AREA, message).fix(fix));
        }
    }
    for (at, directory) in permissions.additional_directories.iter().enumerate() {
        let home = agent.home().root().parent();
        if is_everything(directory, home) {
            let from = origin(&format!("/permissions/additionalDirectories/{at}"));
            let message = format!(
                "{directory:?} is an additional directory{from}: everything in it may be \
                         read"
            );
            let fix = "list only the directories that you need in \
                       permissions.additionalDirectories";
            findings.push(Finding::new(Severity::Warning, AREA, message).fix(fix));
        }
    }
    findings
}

/// What a rule allows that is too much, and what to write instead.
fn too_wide(rule: &str) -> Option<(String, &'static str)> {
    let (tool, inside) = match rule.trim().split_once('(') {
        Some((tool, rest)) => (tool, rest.trim_end_matches(')').trim()),
        None => (rule.trim(), ""),
    };
    let everything = matches!(inside, "" | "*" | "**" | ":*" | "* *");
    match tool {
        "Bash" if everything => Some(("every command".into(), "Bash(git status:*) and the like")),
        "Bash" => {
            let words = inside.strip_suffix(":*").or_else(|| inside.strip_suffix(" *"))?;
            let program = Path::new(words.trim()).file_name()?.to_str()?;
            RUN_ANYTHING.contains(&program).then(|| {
                let why = format!("every command, because {program} runs what it is given");
                (why, "the full command that you mean")
            })
        }
        tool if CHANGING.contains(&tool) && matches!(inside, "//**" | "//*" | "~/**" | "~/*") => {
            let whose = if inside.starts_with('~') { "in your home" } else { "on this machine" };
            Some((format!("changes to any file {whose}"), "Edit(src/**) and the like"))
        }
        "WebFetch" if everything || inside == "domain:*" => {
            Some(("requests to any host".into(), "WebFetch(domain:docs.rs) and the like"))
        }
        "*" => Some(("every tool".into(), "the tools that you mean")),
        _ => None,
    }
}

fn is_everything(directory: &str, home: Option<&Path>) -> bool {
    let directory = directory.trim();
    let path = Path::new(directory);
    matches!(directory, "/" | "~" | "~/") || (path.is_absolute() && Some(path) == home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q6_rules_that_allow_everything_are_known() {
        for wide in [
            "Bash",
            "Bash(*)",
            "Bash(:*)",
            "Bash(bash:*)",
            "Bash(/usr/bin/env *)",
            "Bash(sudo:*)",
            "Edit(//**)",
            "Write(~/**)",
            "WebFetch",
            "WebFetch(domain:*)",
            "*",
        ] {
            assert!(too_wide(wide).is_some(), "{wide}");
        }
        for narrow in [
            "Read",
            "Bash(git status:*)",
            "Bash(bash build.sh)",
            "Bash(npm run test:*)",
            "Edit(src/**)",
            "Edit",
            "WebFetch(domain:docs.rs)",
            "mcp__db",
            "Bash(make)",
        ] {
            assert!(too_wide(narrow).is_none(), "{narrow}");
        }
        assert!(is_everything("/", None) && is_everything("~", None));
        assert!(is_everything("/home/ada", Some(Path::new("/home/ada"))));
        assert!(!is_everything("../beside", Some(Path::new("/home/ada"))));
    }
}
