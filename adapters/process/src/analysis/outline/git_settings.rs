//! Settings of git that decide what a command of it does: aliases, which stand
//! for other words of it or for a command of a shell (S11), and what a
//! repository makes git run where it only reads (S9).

use super::mention::MOST_BASES;
use super::{Findings, base_name};
use everfold_kernel::ports::{CommandEffect, ProgramCall};
use std::io::Read;
use std::path::{Path, PathBuf};

/// More of a file than this is not looked at.
const MOST_BYTES: u64 = 256 * 1024;
/// Files that include others, so many times.
const MOST_LEVELS: usize = 4;

/// Why git does more than read.
pub(super) const GIT_RUNS: &str = "the settings of this repository make git run programs";

/// One line of settings.
struct Setting {
    section: String,
    key: String,
    value: String,
}

impl Findings {
    /// Looks through what an alias stands for.
    pub(super) fn alias_of_git(&mut self, call: &ProgramCall, level: usize) {
        let mut words = call.words.iter().map(|word| word.text.as_str());
        if words.next().map(base_name) != Some("git") {
            return;
        }
        // Which word is the name is not clear behind options: each may be.
        let all: Vec<&str> = words.collect();
        let most = all.iter().position(|word| !word.starts_with('-')).unwrap_or(all.len());
        let texts = self.settings_of_git();
        for (at, name) in all.iter().enumerate().take(most + 2).skip(most) {
            let rest = all.get(at + 1..).unwrap_or_default().join(" ");
            for value in texts.iter().flat_map(|text| aliases(text, name)) {
                let line = match value.strip_prefix('!') {
                    Some(command) => format!("{command} {rest}"),
                    None => format!("git {value} {rest}"),
                };
                self.script(&line, level + 1);
            }
        }
    }

    /// Whether git, where the line runs it, runs a program by itself.
    pub(super) fn makes_git_run(&self) -> bool {
        let is_git = |call: &ProgramCall| {
            call.words.first().is_some_and(|word| base_name(&word.text) == "git")
        };
        let too_many = self.bases.len() >= MOST_BASES;
        self.runs.iter().any(is_git)
            && (too_many || self.bases.iter().any(|dir| makes_git_run(dir)))
    }

    /// The settings that git would read here.
    fn settings_of_git(&self) -> Vec<String> {
        let mut files = vec![PathBuf::from("/etc/gitconfig")];
        if let Some(home) = &self.place.home {
            files.extend([home.join(".gitconfig"), home.join(".config/git/config")]);
        }
        let own = self.place.cwd.ancestors().map(|dir| dir.join(".git")).find(|at| at.exists());
        let dirs = own.iter().flat_map(|own| stores(own));
        files.extend(dirs.map(|dir| dir.join("config")));
        files.iter().filter_map(|file| text_of(file)).collect()
    }
}

/// Calls of git that read, as ones that act, where its settings make them.
pub(super) fn acting(mut calls: Vec<ProgramCall>, by_git: bool) -> Vec<ProgramCall> {
    for call in calls.iter_mut().filter(|_| by_git) {
        if call.words.first().is_some_and(|word| base_name(&word.text) == "git") {
            call.effect = CommandEffect::Acts(GIT_RUNS.to_owned());
        }
    }
    calls
}

/// Whether a repository that a directory is in makes git run a program where it
/// only reads: by settings and hooks of its own, which a clone does not bring
/// and an archive does.
pub(super) fn makes_git_run(dir: &Path) -> bool {
    dir.ancestors().any(|dir| {
        let own = dir.join(".git");
        let is_bare = || dir.join("HEAD").exists() && dir.join("objects").exists();
        let found = if own.exists() {
            stores(&own)
        } else if is_bare() {
            vec![dir.to_owned()]
        } else {
            return false;
        };
        found.iter().any(|store| {
            let files = ["config", "config.worktree"].map(|name| store.join(name));
            store.join("hooks/post-index-change").exists()
                || files.iter().any(|file| runs_by(file, store, 0))
        })
    })
}

/// The directories with the settings behind a `.git`.
fn stores(own: &Path) -> Vec<PathBuf> {
    if own.is_dir() {
        return vec![own.to_owned()];
    }
    let Some(text) = text_of(own) else { return Vec::new() };
    let Some(named) = text.strip_prefix("gitdir:") else { return Vec::new() };
    let dir = own.parent().unwrap_or(Path::new("/")).join(named.trim());
    let shared = text_of(&dir.join("commondir")).map(|to| dir.join(to.trim()));
    std::iter::once(dir).chain(shared).collect()
}

/// Whether a file of settings makes git run something where it only reads.
fn runs_by(file: &Path, store: &Path, level: usize) -> bool {
    let Some(text) = text_of(file) else { return false };
    settings(&text).into_iter().any(|Setting { section, key, value }| {
        let part = section.split(['.', '"', ' ']).next().unwrap_or_default();
        match (part, key.as_str()) {
            ("core", "fsmonitor") => {
                let plain = ["true", "false", "yes", "no", "on", "off", "1", "0", ""];
                !plain.contains(&value.to_lowercase().as_str())
            }
            ("core", "hookspath") => {
                let dir = store.parent().unwrap_or(store).join(&value);
                dir.join("post-index-change").exists()
            }
            ("filter", "clean" | "smudge" | "process") => !value.starts_with("git-lfs "),
            ("diff", "external" | "textconv" | "command") | ("gpg", "program") => true,
            ("include" | "includeif", "path") => {
                let near = file.parent().unwrap_or(store);
                level < MOST_LEVELS && runs_by(&near.join(&value), store, level + 1)
            }
            _ => false,
        }
    })
}

fn text_of(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// What an alias of this name stands for, in each place that sets it.
fn aliases(text: &str, name: &str) -> Vec<String> {
    let long = format!("alias{}", name.to_lowercase());
    let named = settings(text).into_iter().filter(|one| {
        one.section == "alias" && one.key.eq_ignore_ascii_case(name)
            || one.key == "command" && one.section.replace(['"', ' ', '.'], "") == long
    });
    // One that is called like a part of git is passed over by git.
    let own = named.filter(|one| one.value.split_whitespace().next() != Some(name));
    own.map(|one| one.value).collect()
}

/// The settings in a text.
fn settings(text: &str) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut section = String::new();
    let text = text.replace("\\\n", " ");
    for line in text.lines().map(str::trim) {
        let (head, line) = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((head, rest)) => (Some(head), rest.trim()),
            None => (None, line),
        };
        if let Some(head) = head {
            section = head.trim().to_lowercase();
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim();
        let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let value = bare.unwrap_or(value).replace("\\\"", "\"");
        found.push(Setting { section: section.clone(), key: key.trim().to_lowercase(), value });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_aliases_are_read_as_git_reads_them() {
        let text = "[core]\n\tbare = false\n[alias]\n p = push\n  x = \"!rm a\"\n[alias] y = log\n";
        assert_eq!(aliases(text, "p"), ["push"]);
        assert_eq!(aliases(text, "x"), ["!rm a"]);
        assert_eq!(aliases(text, "Y"), ["log"]);
        assert!(aliases(text, "bare").is_empty());
    }

    #[test]
    fn s9_what_a_repository_makes_git_run_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        at("extra", "[core]\nfsmonitor = ./x\n");
        for (text, runs) in [
            ("[core]\n\thooksPath = .husky\n[remote \"o\"]\n\turl = x\n", false),
            ("[core]\n\tfsmonitor = true\n", false),
            ("[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n", false),
            ("[core]\n\tfsmonitor = ./x\n", true),
            ("[filter \"x\"]\n\tclean = ./x\n", true),
            ("[diff \"x\"]\n\ttextconv = ./x\n", true),
            ("[diff] external = ./x\n", true),
            ("[include]\n\tpath = ../extra\n", true),
        ] {
            at(".git/config", text);
            assert_eq!(makes_git_run(&dir.path().join("sub")), runs, "{text}");
        }
        at(".git/config", "[core]\n");
        for name in ["b/HEAD", "b/objects/x"] {
            at(name, "x");
        }
        at("b/config", "[core]\n\tfsmonitor = ./x\n");
        assert!(makes_git_run(&dir.path().join("b")) && !makes_git_run(dir.path()));
    }
}
