//! Memories that say the same become one (L6.9).
//!
//! Nothing that somebody wrote is lost by it: the one that stays gets every
//! line that only the other had. Two that say something different about the
//! same thing are left as they are and reported: which of them holds is not
//! for a rule to say.

use super::{Tidied, day_of, is_topic};
use crate::indexes::{Indexes, pointers};
use crate::lines::{differ_about_one_thing, plain};
use crate::pairs::AkinPair;
use crate::topics;
use everfold_kernel::ports::{Stored, StoredFile};
use everfold_memory_file::Memory;
use everfold_memory_judge::similar::{AKIN, NEAR, pairs};
use std::collections::BTreeSet;

pub(super) fn join(stored: &Stored, done: &mut Tidied) {
    let mut pairs: Vec<(String, String, f64)> = pairs(topics(&done.texts), AKIN)
        .into_iter()
        .map(|pair| (pair.one.to_owned(), pair.other.to_owned(), pair.likeness))
        .collect();
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    for (one, other, likeness) in pairs {
        if !is_topic(&one, &done.texts) || !is_topic(&other, &done.texts) {
            continue;
        }
        let (stays, goes) = ranked(&one, &other, stored, done);
        match joined(&stays, &goes, done) {
            // About one thing, perhaps, but each with its own to say.
            Ok(_) if likeness < NEAR => done.akin.push(AkinPair { stays, goes }),
            Ok(text) => take_over(&stays, &goes, text, done),
            Err(why) => done.seen.push(format!("{stays} and {goes} {why}")),
        }
    }
}

/// Joins a pair that somebody said to be the same, where both are still there
/// and neither contradicts the other.
pub(super) fn join_told(pair: &AkinPair, most_bytes: usize, done: &mut Tidied) {
    let AkinPair { stays, goes } = pair;
    if !is_topic(stays, &done.texts) || !is_topic(goes, &done.texts) {
        return;
    }
    if let Some(text) = joined(stays, goes, done).ok().filter(|text| text.len() <= most_bytes) {
        take_over(stays, goes, text, done);
    }
}

/// One memory in the place of two.
fn take_over(stays: &str, goes: &str, text: String, done: &mut Tidied) {
    done.reasons.add(goes, &format!("it said the same as {stays}"));
    if done.texts.get(stays) != Some(&text) {
        done.reasons.add(stays, &format!("it took over what only {goes} said"));
    }
    done.texts.insert(stays.to_owned(), text);
    done.texts.remove(goes);
    let mut indexes = Indexes {
        texts: &mut done.texts,
        others: BTreeSet::new(),
        known: std::collections::BTreeMap::new(),
        reasons: &mut done.reasons,
    };
    indexes.retarget(goes, stays);
}

/// Which of two stays: what a person stated before what was inferred, what was
/// of use, what has a pointer, the newer, the longer.
fn ranked(one: &str, other: &str, stored: &Stored, done: &Tidied) -> (String, String) {
    let led = pointers(&done.texts);
    let rank = |path: &str| {
        let text = done.texts.get(path).map(String::as_str).unwrap_or_default();
        let front = Memory::parse(text).front;
        let used = stored.files.get(path).map_or(0, |file: &StoredFile| file.used);
        let day = day_of(path, text, stored);
        (front.basis, used, led.contains_key(path), day, text.len())
    };
    let (one, other) = (one.to_owned(), other.to_owned());
    if rank(&one) >= rank(&other) { (one, other) } else { (other, one) }
}

/// Why two memories cannot be joined, after their names.
#[derive(Debug, thiserror::Error)]
enum Apart {
    #[error("say nearly the same, but in different scopes")]
    Places,
    #[error("say nearly the same, but have different types")]
    Types,
    #[error("may contradict each other: \"{rival}\" / \"{line}\"")]
    Contradiction { rival: String, line: String },
}

/// The text of the one that stays, with what only the other says.
fn joined(stays: &str, goes: &str, done: &Tidied) -> Result<String, Apart> {
    let text = |path: &str| done.texts.get(path).map(String::as_str).unwrap_or_default();
    let (keeper, other) = (Memory::parse(text(stays)), Memory::parse(text(goes)));
    let (a, b) = (&keeper.front, &other.front);
    if a.provenance != b.provenance || a.branch != b.branch || a.worktree != b.worktree {
        return Err(Apart::Places);
    }
    if a.kind.is_some() && b.kind.is_some() && a.kind != b.kind {
        return Err(Apart::Types);
    }
    let has: BTreeSet<String> = keeper.body.lines().map(plain).collect();
    let extra: Vec<&str> = other
        .body
        .lines()
        .filter(|line| !plain(line).is_empty() && !has.contains(&plain(line)))
        .collect();
    if let Some((line, rival)) = extra.iter().find_map(|line| {
        let rival = keeper.body.lines().find(|own| differ_about_one_thing(own, line))?;
        Some((line.trim(), rival.trim()))
    }) {
        return Err(Apart::Contradiction { rival: rival.to_owned(), line: line.to_owned() });
    }
    let mut file = text(stays).to_owned();
    if !extra.is_empty() {
        if !file.ends_with('\n') {
            file.push('\n');
        }
        file.push('\n');
        for line in extra {
            file.push_str(line.trim_end());
            file.push('\n');
        }
    }
    Ok(file)
}
