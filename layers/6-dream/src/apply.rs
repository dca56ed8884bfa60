//! How a result changes the store: merged, file by file, with what the store
//! became while the dream went on (L6.7).
//!
//! What others saved meanwhile stays. Where both changed a file, the store's
//! is kept and the dream's is laid before the person, and so is a deletion of
//! what a person wrote (L5.24) and what nobody said before (L5.26).

use crate::indexes::{self, Indexes};
use crate::novel::Vocabulary;
use crate::report::{ABSORBED, FileReason, Reasons};
use crate::tidy::day_of;
use crate::{DreamRules, Texts, is_list, others, said, texts, topics};
use everfold_kernel::ports::{MemoryHand, Stored, SwapEdit};
use everfold_kernel::settings::{self, Deed, ReviewMode};
use everfold_memory_file::frontmatter::Basis;
use everfold_memory_file::index::{INDEX_FILE, resolve};
use everfold_memory_file::{Index, Memory, Pointer};
use everfold_memory_judge::consolidation::{Made, Making, made, ordered};
use everfold_memory_judge::gate::{GateRefusal, clean};
use everfold_memory_judge::similar::ShingleSet;
use std::collections::{BTreeMap, BTreeSet};

/// A change that waits for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingChange {
    pub path: String,
    /// What it would hold; none: it would go.
    pub text: Option<String>,
    pub why: String,
}

/// What becomes of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// What the store is to hold.
    pub texts: Texts,
    /// The changes, with what they expect.
    pub edits: Vec<SwapEdit>,
    /// What waits for the person.
    pub waiting: Vec<WaitingChange>,
    /// What was to be changed and was not.
    pub kept: Vec<FileReason>,
}

#[derive(Clone, Copy, Debug)]
pub struct EndedDream<'a> {
    /// The store when it began.
    pub base: &'a Stored,
    pub result: &'a Texts,
    pub reasons: &'a Reasons,
}

/// Merges what a dream left with the store as it is now.
#[must_use]
pub fn settle(
    ended: EndedDream<'_>,
    now: &Stored,
    review: settings::MemorySettings,
    rules: DreamRules<'_>,
) -> Settled {
    let mut merge = Merge::new(ended, now, review, rules);
    merge.memories();
    merge.bring_back();
    merge.lists();
    let known = known_pointers(ended, now);
    let mut mended = Reasons::default();
    let mut index =
        Indexes { texts: &mut merge.done.texts, others: others(now), known, reasons: &mut mended };
    index.mend(rules);
    let mut done = merge.done;
    done.edits = edits(&done.texts, now);
    done
}

/// Every pointer that anybody had: the store's own words first.
fn known_pointers(ended: EndedDream<'_>, now: &Stored) -> BTreeMap<String, Pointer> {
    let mut known = indexes::pointers(ended.result);
    known.extend(indexes::pointers(&texts(ended.base)));
    known.extend(indexes::pointers(&texts(now)));
    known
}

struct Merge<'a> {
    base: Texts,
    now: Texts,
    result: &'a Texts,
    stored: &'a Stored,
    reasons: &'a Reasons,
    vocabulary: Vocabulary,
    remains: Vec<ShingleSet>,
    /// The memories that are changed or go.
    touched: Vec<(String, ShingleSet)>,
    review: settings::MemorySettings,
    rules: DreamRules<'a>,
    done: Settled,
}

impl<'a> Merge<'a> {
    fn new(
        ended: EndedDream<'a>,
        now: &Stored,
        review: settings::MemorySettings,
        rules: DreamRules<'a>,
    ) -> Self {
        let (base, now) = (texts(ended.base), texts(now));
        let is_touched = |(path, text): &(&str, &str)| {
            ended.result.get(*path).is_none_or(|result| result != text)
        };
        let touched = topics(&base).filter(is_touched);
        Self {
            touched: touched.map(|(path, text)| (path.to_owned(), ShingleSet::of(text))).collect(),
            vocabulary: Vocabulary::of([&base, &ended.base.logs]),
            remains: topics(ended.result).map(|(_, text)| ShingleSet::of(text)).collect(),
            done: Settled { texts: now.clone(), ..Settled::default() },
            base,
            now,
            result: ended.result,
            stored: ended.base,
            reasons: ended.reasons,
            review,
            rules,
        }
    }

    fn memories(&mut self) {
        let paths: BTreeSet<&String> = self.base.keys().chain(self.result.keys()).collect();
        let paths: Vec<String> = paths.into_iter().cloned().collect();
        for path in paths {
            let (base, result, now) =
                (self.base.get(&path), self.result.get(&path), self.now.get(&path));
            let is_list =
                [base, result, now].into_iter().flatten().any(|text| is_list(&path, text));
            if is_list || base == result || result == now {
                continue;
            }
            let (base, is_changed) = (base.cloned(), base != now);
            let wish = match self.judged(&path) {
                Ok(wish) => wish,
                Err(refusal) => {
                    self.refuse(&path, &refusal);
                    continue;
                }
            };
            if is_changed {
                self.conflict(&path, wish);
                continue;
            }
            match self.objection(&path, base.as_deref(), wish.as_deref()) {
                Some(why) => self.wait(&path, wish, &why),
                None => self.write(&path, wish),
            }
        }
    }

    /// Writes what nobody has to be asked about, if it only orders what the
    /// person ordered.
    fn write(&mut self, path: &str, wish: Option<String>) {
        let allowed = wish.as_ref().map_or(Ok(()), |text| self.making(path, text, ordered));
        match allowed {
            Ok(()) => self.set(path, wish),
            Err(refusal) => self.refuse(path, &refusal),
        }
    }

    /// What a file is to hold, as the judge leaves it (L5.32).
    fn judged(&mut self, path: &str) -> Result<Option<String>, GateRefusal> {
        let Some(text) = self.result.get(path) else { return Ok(None) };
        let Made { text, back } = self.making(path, text, made)?;
        if !back.is_empty() {
            let why = format!("what was left out was put back: {}", back.join(" "));
            self.done.kept.push(FileReason { path: path.to_owned(), why });
        }
        Ok(Some(text))
    }

    /// Lays a file before the judge, with the memories that it is made from.
    fn making<T>(&self, path: &str, text: &str, judge: impl FnOnce(&Making<'_>) -> T) -> T {
        let before = self.base.get(path).map(String::as_str);
        let print = ShingleSet::of(text);
        let others = self
            .touched
            .iter()
            .filter(|(other, known)| other != path && known.share_in([&print]) > 0.0);
        let others: Vec<&str> =
            others.filter_map(|(other, _)| Some(self.base.get(other)?.as_str())).collect();
        judge(&Making {
            text,
            before,
            others: &others,
            whole: &self.whole(path, text),
            day: before.and_then(|before| day_of(path, before, self.stored)),
            limits: self.rules.extract,
        })
    }

    fn refuse(&mut self, path: &str, refusal: &GateRefusal) {
        let why = format!("the change was refused: {refusal}");
        // What was refused is named nowhere, nor by its file (L5.40).
        let path = if self.base.contains_key(path) { path } else { "a new memory" };
        self.done.kept.push(FileReason { path: path.to_owned(), why });
    }

    /// The memories that a text must not lose anything of: its own, where the
    /// person's word is in it, and those that go because they are in it.
    fn whole(&self, path: &str, text: &str) -> Vec<&str> {
        let print = ShingleSet::of(text);
        let is_whole = |(other, old): &(&str, &str)| {
            if *other == path {
                let wrote = self.stored.files.get(path).map(|file| file.writer);
                wrote == Some(MemoryHand::Person)
                    || Memory::parse(old).front.basis == Some(Basis::Stated)
            } else {
                !self.result.contains_key(*other) && said(old).share_in([&print]) >= ABSORBED
            }
        };
        topics(&self.base).filter(is_whole).map(|(_, old)| old).collect()
    }

    /// Why a change waits for the person.
    fn objection(&self, path: &str, base: Option<&str>, wish: Option<&str>) -> Option<String> {
        if self.review.review_of(Deed::Usual) == ReviewMode::Inbox {
            return Some("changes are waiting for review (memory.review)".to_owned());
        }
        let Some(text) = wish else {
            let by_person =
                self.stored.files.get(path).is_some_and(|file| file.writer == MemoryHand::Person);
            let lost = said(base.unwrap_or_default()).share_in(&self.remains) < ABSORBED;
            let waits = self.review.review_of(Deed::DeletesPersons) == ReviewMode::Inbox;
            return (by_person && lost && waits).then(|| "a person wrote it".to_owned());
        };
        if let Some(stranger) = self.takes_over_strangers(path, text) {
            return Some(format!("it repeats what {stranger} has from strangers"));
        }
        let percent = self.rules.limits.novel_percent;
        let line = self.vocabulary.new_line(base.unwrap_or_default(), text, percent)?;
        let line: String = line.trim().chars().take(100).collect();
        Some(format!("no memory and no log says: \"{line}\""))
    }

    /// A memory of data from strangers whose words a text took over that had
    /// no mark of theirs (L5.26).
    fn takes_over_strangers(&self, path: &str, text: &str) -> Option<&str> {
        let is_marked =
            |texts: &Texts| Some(Memory::parse(texts.get(path)?).front.provenance.is_some());
        if is_marked(&self.base) == Some(true) || is_marked(self.result) == Some(true) {
            return None;
        }
        let print = ShingleSet::of(text);
        let mut others = topics(&self.base).filter(|(other, _)| *other != path);
        let found = others.find(|(_, other)| {
            Memory::parse(other).front.provenance.is_some()
                && said(other).share_in([&print]) >= ABSORBED
        });
        found.map(|(other, _)| other)
    }

    /// Both changed it: the store's stays.
    fn conflict(&mut self, path: &str, wish: Option<String>) {
        let why = "it was changed during the dream";
        match wish {
            Some(_) if self.now.contains_key(path) => self.wait(path, wish, why),
            Some(_) => self.wait(path, wish, "it was removed during the dream"),
            None => self.done.kept.push(FileReason { path: path.to_owned(), why: why.to_owned() }),
        }
    }

    fn wait(&mut self, path: &str, text: Option<String>, why: &str) {
        let reason = self.reasons.of(path);
        let why = if reason.is_empty() { why.to_owned() } else { format!("{reason} ({why})") };
        self.done.waiting.push(WaitingChange { path: path.to_owned(), text, why });
    }

    fn set(&mut self, path: &str, text: Option<String>) {
        match text {
            Some(text) => drop(self.done.texts.insert(path.to_owned(), text)),
            None => drop(self.done.texts.remove(path)),
        }
    }

    /// A memory that became part of another one goes only if that one is
    /// there: it may be waiting.
    fn bring_back(&mut self) {
        let prints: Vec<ShingleSet> =
            topics(&self.done.texts).map(|(_, text)| ShingleSet::of(text)).collect();
        for (path, text) in topics(&self.now) {
            if self.done.texts.contains_key(path) {
                continue;
            }
            let print = said(text);
            let was_absorbed = print.share_in(&self.remains) >= ABSORBED;
            if was_absorbed && print.share_in(&prints) < ABSORBED {
                self.done.texts.insert(path.to_owned(), text.to_owned());
                let why = "what it became part of was not written".to_owned();
                self.done.kept.push(FileReason { path: path.to_owned(), why });
            }
        }
    }

    /// Index files: the dream's, unless somebody else changed one; then theirs,
    /// with what the dream added and removed.
    fn lists(&mut self) {
        let paths: BTreeSet<&String> = self.base.keys().chain(self.result.keys()).collect();
        let paths: Vec<String> = paths.into_iter().cloned().collect();
        for path in paths {
            let (base, result, now) =
                (self.base.get(&path), self.result.get(&path), self.now.get(&path));
            let lists = [base, result, now];
            if !lists.into_iter().flatten().any(|text| is_list(&path, text)) || base == result {
                continue;
            }
            if let Some(Err(refusal)) = result.map(|text| clean(text)) {
                self.refuse(&path, &refusal);
                continue;
            }
            let merged = if base == now {
                result.cloned()
            } else {
                let text = |side: Option<&String>| side.cloned().unwrap_or_default();
                Some(merged_list(&path, &text(base), &text(result), &text(now)))
            };
            // A list that the dream did away with goes only if nobody used it.
            if merged.is_some() || base == now {
                self.set(&path, merged);
            }
        }
        if self.done.texts.get(INDEX_FILE).is_some_and(String::is_empty) {
            self.done.texts.remove(INDEX_FILE);
        }
    }
}

/// The store's list with the pointers that a dream added, changed or removed.
fn merged_list(path: &str, base: &str, result: &str, now: &str) -> String {
    let pointers = |text: &str| -> BTreeMap<String, Pointer> {
        let index = Index::parse(text);
        let all = index.pointers().map(|pointer| (pointer.target.clone(), pointer.clone()));
        all.filter(|(target, _)| resolve(path, target).is_some()).collect()
    };
    let (base, result) = (pointers(base), pointers(result));
    let mut index = Index::parse(now);
    for target in base.keys().filter(|target| !result.contains_key(*target)) {
        index.remove(target);
    }
    for (target, pointer) in &result {
        let theirs = index.pointers().find(|own| own.target == *target);
        let untouched = theirs == base.get(target);
        if base.get(target) != Some(pointer) && untouched {
            index.set(pointer);
        }
    }
    index.to_string()
}

/// The changes from the store as it is.
fn edits(texts: &Texts, now: &Stored) -> Vec<SwapEdit> {
    let mut edits = Vec::new();
    let paths: BTreeSet<&String> = texts.keys().chain(now.files.keys()).collect();
    for path in paths {
        let file = now.files.get(path);
        // What is not text is nobody's to change.
        if file.is_some_and(|file| file.text.is_none()) {
            continue;
        }
        let (before, after) = (file.and_then(|file| file.text.as_ref()), texts.get(path));
        if before != after {
            let expect = file.map(|file| file.version.clone());
            edits.push(SwapEdit { path: path.clone(), expect, text: after.cloned() });
        }
    }
    edits
}
