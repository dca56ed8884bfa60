//! Git, asked so that a repository cannot start programs by being looked at
//! (S2, S14). Its own configuration may name filters, hooks, monitors, drivers
//! and remotes that are commands; what of these the repository sets is put
//! back to what the person's own configuration says, or to nothing.

use everfold_kernel::ports::WorktreeError;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Output, Stdio};
use tokio::process::Command;

/// Keys of a configuration that name a program, or what makes git start one.
const PROGRAMS: &str = "^(filter\\..*\\.(clean|smudge|process|required)\
    |diff\\.external|diff\\..*\\.(command|textconv)|merge\\..*\\.driver\
    |core\\.(sshcommand|gitproxy|askpass|editor|pager|alternaterefscommand|fsmonitor|hookspath)\
    |credential\\..*|credential\\.helper|gpg\\..*|sequence\\.editor|interactive\\.difffilter\
    |uploadpack\\.packobjectshook|remote\\..*\\.(uploadpack|receivepack|vcs|proxy|promisor)\
    |submodule\\..*|trailer\\..*|pager\\..*)$";
/// What is set for every call, whatever anybody says.
const ALWAYS: [(&str, &str); 5] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("submodule.recurse", "false"),
    ("safe.bareRepository", "explicit"),
];
/// Variables of ours that would lead git elsewhere.
const FORGOTTEN: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
];
const VARIABLES: [(&str, &str); 7] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    // Objects that are missing are not fetched: a remote can be a command.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "true"),
    ("GIT_EDITOR", "true"),
    ("LC_ALL", "C"),
];

/// Git for one repository.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    settings: BTreeMap<String, String>,
}

impl Git {
    /// Looks through the configuration of the repository around a directory.
    pub(crate) async fn around(dir: &Path) -> Result<Self, WorktreeError> {
        let always = ALWAYS.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let mut own = Self { settings: always.into() };
        let args = ["config", "--null", "--show-scope", "--get-regexp", PROGRAMS];
        let listed = own.output(dir, &args).await?;
        // It ends with 1 where there are none.
        own.settings.extend(harmless(&String::from_utf8_lossy(&listed.stdout)));
        let always = ALWAYS.map(|(key, value)| (key.to_owned(), value.to_owned()));
        own.settings.extend(always);
        Ok(own)
    }

    /// Asks git, and gives what it printed.
    pub(crate) async fn ask(&self, dir: &Path, args: &[&str]) -> Result<String, WorktreeError> {
        let output = self.output(dir, args).await?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
        }
        Err(WorktreeError::Git {
            command: args.first().copied().unwrap_or_default().to_owned(),
            dir: dir.to_path_buf(),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }

    async fn output(&self, dir: &Path, args: &[&str]) -> Result<Output, WorktreeError> {
        let mut command = Command::new("git");
        command.arg("-C").arg(dir).args(args);
        for name in FORGOTTEN {
            command.env_remove(name);
        }
        command.envs(VARIABLES);
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (at, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key);
            command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
        output.map_err(|error| WorktreeError::NoGit { message: error.to_string() })
    }
}

/// What a repository sets of those keys, as the person has it: `scope`, then
/// `key` and `value` in two lines, each ended by a NUL.
fn harmless(listed: &str) -> BTreeMap<String, String> {
    let (mut persons, mut repositorys) = (BTreeMap::new(), Vec::new());
    let mut parts = listed.split('\0');
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        match scope {
            "system" | "global" => {
                persons.insert(key.to_owned(), value.to_owned());
            }
            "command" => {}
            _ => repositorys.push(key.to_owned()),
        }
    }
    let mut settings = BTreeMap::new();
    for key in repositorys {
        let nothing =
            if key.ends_with(".required") || key.ends_with(".promisor") { "false" } else { "" };
        let value = persons.get(&key).cloned().unwrap_or_else(|| nothing.to_owned());
        // A filter that does nothing must not be one that has to work.
        if let Some((filter, _)) = key.rsplit_once('.').filter(|_| key.starts_with("filter.")) {
            let required = format!("{filter}.required");
            if !persons.contains_key(&required) {
                settings.insert(required, "false".to_owned());
            }
        }
        settings.insert(key, value);
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s14_what_a_repository_sets_is_put_back_to_what_the_person_has() {
        let listed = "global\0filter.lfs.smudge\ngit-lfs smudge\0global\0filter.lfs.required\ntrue\0\
            local\0filter.lfs.smudge\nevil\0local\0filter.x.clean\nevil\0local\0diff.external\nevil\0\
            command\0core.pager\ncat\0";
        let settings = harmless(listed);
        let expected = [
            ("diff.external", ""),
            ("filter.lfs.smudge", "git-lfs smudge"),
            ("filter.x.clean", ""),
            ("filter.x.required", "false"),
        ];
        let expected = expected.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(settings, BTreeMap::from(expected));
    }
}
