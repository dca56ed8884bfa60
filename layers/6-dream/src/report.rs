//! What a dream did, and why: found by comparing what was there with what is,
//! so that it is true whoever dreamt.

use crate::{Texts, is_list, said};
use everfold_memory_judge::similar::ShingleSet;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// From here on what a memory said is in what remains.
pub(crate) const ABSORBED: f64 = 0.80;

/// Why files were changed, by their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    by_path: BTreeMap<String, Vec<String>>,
}

impl Reasons {
    pub fn add(&mut self, path: &str, why: &str) {
        let reasons = self.by_path.entry(path.to_owned()).or_default();
        if !reasons.iter().any(|known| known == why) {
            reasons.push(why.to_owned());
        }
    }

    /// Those of a file, in words.
    #[must_use]
    pub fn of(&self, path: &str) -> String {
        self.by_path.get(path).map(|reasons| reasons.join("; ")).unwrap_or_default()
    }

    /// Takes over what an agent said of the files at its end: lines that name
    /// one.
    pub fn hear(&mut self, said: &str, paths: &BTreeSet<String>) {
        for line in said.lines() {
            let Some((path, at)) = paths
                .iter()
                .filter_map(|path| line.find(path.as_str()).map(|at| (path, at)))
                .min_by_key(|(path, at)| (*at, std::cmp::Reverse(path.len())))
            else {
                continue;
            };
            let behind = line.get(at + path.len()..).unwrap_or_default();
            let why = behind.trim_matches(|c: char| {
                c.is_whitespace()
                    || matches!(c, '`' | '*' | ':' | '—' | '–' | '-' | '|' | ')' | '"')
            });
            if !why.is_empty() {
                self.add(path, why);
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileReason {
    pub path: String,
    /// Why; empty where nobody said.
    pub why: String,
}

/// A memory that became part of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergedMemories {
    pub path: String,
    /// What holds it now.
    pub into: String,
    /// Why; empty where nobody said.
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DreamReport {
    /// Memories that became part of others.
    pub merged: Vec<MergedMemories>,
    /// Files that were changed.
    pub rewritten: Vec<FileReason>,
    /// Files that are new.
    pub added: Vec<FileReason>,
    /// Memories that are gone.
    pub deleted: Vec<FileReason>,
    /// Changes that wait for the person.
    pub proposed: Vec<FileReason>,
    /// Files that were to be changed and were not.
    pub kept: Vec<FileReason>,
    /// How many files were left alone.
    pub left_alone: usize,
    /// What a person should look at: contradictions, drift, faults.
    pub seen: Vec<String>,
}

impl DreamReport {
    /// What changed from one state to another.
    #[must_use]
    pub fn compare(before: &Texts, after: &Texts, reasons: &Reasons) -> Self {
        let mut report = Self::default();
        let news: Vec<(&str, ShingleSet)> = after
            .iter()
            .filter(|(path, text)| before.get(*path) != Some(text) && !is_list(path, text))
            .map(|(path, text)| (path.as_str(), ShingleSet::of(text)))
            .collect();
        let told = |path: &str| FileReason { path: path.to_owned(), why: reasons.of(path) };
        for (path, old) in before {
            match after.get(path) {
                Some(new) if new == old => report.left_alone += 1,
                Some(_) => report.rewritten.push(told(path)),
                None => match holder(old, &news, after) {
                    Some(into) => {
                        let FileReason { path, why } = told(path);
                        report.merged.push(MergedMemories { path, into, why });
                    }
                    None => report.deleted.push(told(path)),
                },
            }
        }
        let added = after.keys().filter(|path| !before.contains_key(*path));
        report.added = added.map(|path| told(path)).collect();
        report
    }

    /// Whether nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.merged.is_empty()
            && self.rewritten.is_empty()
            && self.added.is_empty()
            && self.deleted.is_empty()
    }

    /// One line: how much of what.
    #[must_use]
    pub fn summary(&self) -> String {
        let counts = [
            (self.merged.len(), "merged"),
            (self.rewritten.len(), "rewritten"),
            (self.added.len(), "added"),
            (self.deleted.len(), "deleted"),
            (self.proposed.len(), "proposed"),
            (self.left_alone, "left alone"),
        ];
        let said = counts.into_iter().filter(|(count, _)| *count > 0);
        let said: Vec<String> = said.map(|(count, word)| format!("{count} {word}")).collect();
        if said.is_empty() { "nothing to do".to_owned() } else { said.join(", ") }
    }

    /// Line by line, for people.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let why = |why: &str| if why.is_empty() { String::new() } else { format!(" — {why}") };
        let mut lines = Vec::new();
        for merged in &self.merged {
            lines.push(format!(
                "merged     {} into {}{}",
                merged.path,
                merged.into,
                why(&merged.why)
            ));
        }
        let groups = [
            ("rewritten  ", &self.rewritten),
            ("added      ", &self.added),
            ("deleted    ", &self.deleted),
            ("proposed   ", &self.proposed),
            ("kept       ", &self.kept),
        ];
        for (word, group) in groups {
            lines.extend(group.iter().map(|told| format!("{word}{}{}", told.path, why(&told.why))));
        }
        if self.left_alone > 0 {
            lines.push(format!("left alone {} files", self.left_alone));
        }
        lines.extend(self.seen.iter().map(|seen| format!("look at    {seen}")));
        lines
    }
}

/// The file that holds most of what a memory said.
fn holder(old: &str, news: &[(&str, ShingleSet)], after: &Texts) -> Option<String> {
    let print = said(old);
    let share = |other: &ShingleSet| print.share_in([other]);
    let of_news = news.iter().map(|(path, other)| (*path, share(other)));
    // The copy of a memory that was left alone is in that one.
    let of_rest = after.iter().filter(|(path, text)| !is_list(path, text));
    let of_rest = of_rest.map(|(path, text)| (path.as_str(), share(&ShingleSet::of(text))));
    let mut found: Option<(&str, f64)> = None;
    for (path, share) in of_news.chain(of_rest) {
        if share >= ABSORBED && found.is_none_or(|(_, most)| share > most) {
            found = Some((path, share));
        }
    }
    found.map(|(path, _)| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l6_6_reasons_are_heard_where_files_are_named() {
        let paths: BTreeSet<String> = ["a.md", "sub/a.md", "b.md"].map(String::from).into();
        let mut reasons = Reasons::default();
        reasons.hear("Done.\n- `a.md`: joined with b.md\n* **sub/a.md** — too old\nb.md\n", &paths);
        assert_eq!(reasons.of("a.md"), "joined with b.md");
        assert_eq!(reasons.of("sub/a.md"), "too old");
        assert_eq!(reasons.of("b.md"), "");
    }
}
