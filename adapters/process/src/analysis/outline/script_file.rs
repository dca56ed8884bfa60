//! Scripts in files that a command runs: what they say plainly is looked at,
//! as something that may be run. What is in them is not part of the line, so
//! it raises a question and does not settle one.

use super::wrapper::{Language, is_shell};
use super::{Findings, base_name, call, mention};
use everfold_kernel::ports::{CallRole, CallWord, FileTouch, ProgramCall, WordKind};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A script of more than this is looked at as far as this.
const MOST_BYTES: u64 = 64 * 1024;
/// Scripts that are looked at, those that scripts run included.
const MOST_FILES: usize = 16;
/// Texts in a script that may be commands.
const MOST_TEXTS: usize = 512;

impl Findings {
    /// Looks through the scripts that the line runs.
    pub(super) fn script_files(&mut self) {
        let mut seen = BTreeSet::new();
        let mut open = std::mem::take(&mut self.carried_files);
        if open.is_empty() {
            return;
        }
        let named: BTreeSet<(String, FileTouch)> = self.mentions.iter().cloned().collect();
        let bases = mention::bases(&named, &self.place);
        while let Some((file, language)) = open.pop() {
            // `$PWD` is another directory once the line has gone there.
            let below = Path::new(&file).strip_prefix(&self.place.cwd).ok();
            let below = below.map(|path| path.display().to_string());
            let spellings = below.into_iter().chain([file.clone()]);
            let paths = spellings.flat_map(|name| {
                let full = |base: &PathBuf| mention::full(&name, base, &self.place);
                bases.iter().map(full).collect::<Vec<PathBuf>>()
            });
            let paths = paths.flat_map(|path| mention::expanded(&path));
            for path in paths.collect::<BTreeSet<PathBuf>>() {
                if seen.len() >= MOST_FILES || !seen.insert(path.clone()) {
                    continue;
                }
                let Some(text) = script_text(&path) else { continue };
                let (runs, more) = match language_of(&path, &text, language) {
                    Language::Shell => plain_runs(&text),
                    Language::Other | Language::Client => (texts(&text), Vec::new()),
                };
                self.runs.extend(runs);
                open.extend(more);
            }
        }
    }
}

/// The start of a regular file of text.
fn script_text(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    (!bytes.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Who carries a file out, by its first line or its ending where they say so.
fn language_of(path: &Path, text: &str, asked: Language) -> Language {
    const ENDINGS: &[&str] = &["py", "pl", "rb", "js", "mjs", "cjs", "ts", "php", "lua", "tcl"];
    let Some(first) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        return if ENDINGS.contains(&ending) { Language::Other } else { asked };
    };
    if first.split([' ', '/']).any(is_shell) { Language::Shell } else { Language::Other }
}

/// The programs that a shell script names, and the scripts that it runs.
fn plain_runs(text: &str) -> (Vec<ProgramCall>, Vec<(String, Language)>) {
    let mut inner = Findings::default();
    inner.script(text, 1);
    let exact =
        |call: &ProgramCall| call.words.first().is_some_and(|word| word.kind == WordKind::Exact);
    let runs = inner.runs.into_iter().filter(exact);
    let runs = runs.map(|call| ProgramCall { role: CallRole::Perhaps, ..call }).collect();
    (runs, inner.carried_files)
}

/// The texts of a program in another language, as commands that it may run.
fn texts(code: &str) -> Vec<ProgramCall> {
    let quoted = code.split(['"', '\'', '`']).skip(1).step_by(2);
    // A line may be a command, or have one behind its own: `1e rm x`.
    let behind = code.lines().filter_map(|line| Some(line.trim_start().split_once(' ')?.1));
    let commands = quoted.chain(code.lines()).chain(behind).filter_map(|text| {
        let words: Vec<CallWord> = text.split_whitespace().take(8).map(CallWord::exact).collect();
        let name = base_name(&words.first()?.text);
        let is_name = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
        is_name.then(|| call(words, CallRole::Perhaps))
    });
    commands.take(MOST_TEXTS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_scripts_are_read_as_far_as_they_are_plain() {
        let (runs, more) = plain_runs("set -e\nrm -rf build\n./more.sh\n$X y\n");
        assert!(runs.iter().any(|call| call.words[0].text == "rm"));
        assert!(runs.iter().all(|call| call.role == CallRole::Perhaps));
        assert_eq!(more, [("./more.sh".to_owned(), Language::Shell)]);
        let found = texts("import os\nos.system(\"rm -rf x\")\n");
        assert!(found.iter().any(|call| call.words[0].text == "rm"));
        assert_eq!(
            language_of(Path::new("x"), "#!/usr/bin/env python3\n", Language::Shell),
            Language::Other
        );
        assert_eq!(
            language_of(Path::new("x.py"), "#!/bin/sh -e\n", Language::Other),
            Language::Shell
        );
    }
}
