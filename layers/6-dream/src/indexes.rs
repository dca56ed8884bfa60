//! The index of a tree of texts: mending what points nowhere, and what nothing
//! points to (L5.28).

use crate::report::Reasons;
use crate::{DreamRules, Texts, topics};
use everfold_memory_file::index::{
    HOOK_CHARS, INDEX_FILE, breach, is_sub_index, reach, relative, resolve, short_hook, split,
};
use everfold_memory_file::{Index, Memory, Pointer};
use std::collections::{BTreeMap, BTreeSet};

/// Folders of the directory whose files are not part of the store; pointers to
/// them are somebody's own.
const ELSEWHERE: &[&str] = &["logs/", "team/", "inbox/"];
/// Where prose of an index goes that has no room in it.
const PROSE_FILE: &str = "notes-from-the-index.md";

/// A tree whose index is to be right.
pub(crate) struct Indexes<'a> {
    pub(crate) texts: &'a mut Texts,
    /// Files that are there and no text.
    pub(crate) others: BTreeSet<&'a str>,
    /// Words for pointers that are missing.
    pub(crate) known: BTreeMap<String, Pointer>,
    /// Why files were changed.
    pub(crate) reasons: &'a mut Reasons,
}

/// What the index of a tree lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// Index file and target, as written there.
    pub(crate) dangling: Vec<(String, String)>,
    /// Memories that nothing points to.
    pub(crate) orphans: Vec<String>,
}

/// Looks for what the index of a tree lacks.
pub(crate) fn faults(texts: &Texts, others: &BTreeSet<&str>) -> Faults {
    let index = texts.get(INDEX_FILE).map(String::as_str).unwrap_or_default();
    let is_elsewhere = |path: &str| ELSEWHERE.iter().any(|folder| path.starts_with(folder));
    let read = |path: &str| match texts.get(path) {
        Some(text) => Some(text.clone()),
        None => (others.contains(path) || is_elsewhere(path)).then(String::new),
    };
    let found = reach(index, read);
    let dangling = found.broken.into_iter().map(|broken| (broken.from, broken.target)).collect();
    let all = texts.keys().map(String::as_str).chain(others.iter().copied());
    let orphans = all.filter(|path| *path != INDEX_FILE && !found.reached.contains(*path));
    Faults { dangling, orphans: orphans.map(str::to_owned).collect() }
}

/// Every pointer of a tree, by where it leads from the top.
pub(crate) fn pointers(texts: &Texts) -> BTreeMap<String, Pointer> {
    let mut found = BTreeMap::new();
    for (file, text) in texts.iter().filter(|(path, text)| crate::is_list(path, text)) {
        for pointer in Index::parse(text).pointers() {
            if let Some(target) = resolve(file, &pointer.target) {
                found.entry(target.clone()).or_insert(Pointer { target, ..pointer.clone() });
            }
        }
    }
    found
}

impl Indexes<'_> {
    /// Mends everything that needs no judgement.
    pub(crate) fn mend(&mut self, rules: DreamRules<'_>) {
        self.drop_dangling();
        self.drop_twice();
        self.drop_empty();
        self.add_orphans();
        self.fit(rules);
    }

    fn edit(&mut self, file: &str, why: &str, change: impl FnOnce(&mut Index)) {
        let text = self.texts.get(file).cloned().unwrap_or_default();
        let mut index = Index::parse(&text);
        change(&mut index);
        let changed = index.to_string();
        if changed != text {
            self.texts.insert(file.to_owned(), changed);
            self.reasons.add(file, why);
        }
    }

    /// Pointers that lead nowhere go.
    pub(crate) fn drop_dangling(&mut self) {
        for (file, target) in faults(self.texts, &self.others).dangling {
            let why = format!("its pointer to {target} points nowhere");
            self.edit(&file, &why, |index| _ = index.remove(&target));
        }
    }

    /// A memory has one pointer in an index.
    fn drop_twice(&mut self) {
        for file in self.lists() {
            self.edit(&file, "it pointed to a memory twice", Index::drop_repeats);
        }
    }

    /// A sub-index without pointers goes, and what points to it.
    fn drop_empty(&mut self) {
        let is_empty = |text: &str| {
            let memory = Memory::parse(text);
            let kind = memory.front.all.get("metadata").and_then(|keys| keys.get("node_type"));
            kind.is_some_and(|kind| kind == "index")
                && Index::parse(memory.body).pointers().next().is_none()
                && memory.body.lines().all(|line| line.trim().is_empty() || line.starts_with('#'))
        };
        let empty: Vec<String> = self
            .texts
            .iter()
            .filter(|(path, text)| path.as_str() != INDEX_FILE && is_empty(text))
            .map(|(path, _)| path.clone())
            .collect();
        for path in empty {
            self.texts.remove(&path);
            self.reasons.add(&path, "it was a list of memories, and none was left in it");
        }
        self.drop_dangling();
    }

    /// What nothing points to gets a pointer, in words that somebody gave it
    /// before, or in its own.
    pub(crate) fn add_orphans(&mut self) {
        for path in faults(self.texts, &self.others).orphans {
            let own = || Pointer::of(&path, self.texts.get(&path).map_or("", String::as_str));
            let pointer = self.known.get(&path).cloned().unwrap_or_else(own);
            let why = format!("{path} had no pointer");
            self.edit(INDEX_FILE, &why, |index| index.set(&pointer));
        }
    }

    /// Pointers to one memory lead to another, or go where that one has some.
    pub(crate) fn retarget(&mut self, from: &str, to: &str) {
        let has_one = pointers(self.texts).contains_key(to);
        let mut is_led = has_one;
        for file in self.lists() {
            let text = self.texts.get(&file).cloned().unwrap_or_default();
            let targets: Vec<String> = Index::parse(&text)
                .pointers()
                .filter(|pointer| resolve(&file, &pointer.target).as_deref() == Some(from))
                .map(|pointer| pointer.target.clone())
                .collect();
            for target in targets {
                let why = format!("{from} became part of {to}");
                let new = relative(&file, to);
                let keep = !std::mem::replace(&mut is_led, true);
                self.edit(&file, &why, |index| {
                    if keep {
                        index.retarget(&target, &new);
                    } else {
                        index.remove(&target);
                    }
                });
            }
        }
    }

    /// Over its caps, the index gives lines of one theme away; then long lines
    /// get shorter, and what is no pointer becomes a memory.
    fn fit(&mut self, rules: DreamRules<'_>) {
        self.shorten();
        if self.split(rules) {
            return;
        }
        self.move_prose();
        self.split(rules);
    }

    /// Long hooks are cut; the memory says it all.
    fn shorten(&mut self) {
        let text = self.texts.get(INDEX_FILE).cloned().unwrap_or_default();
        let long: Vec<Pointer> = Index::parse(&text)
            .pointers()
            .filter(|pointer| pointer.hook.chars().count() > HOOK_CHARS)
            .cloned()
            .collect();
        for pointer in long {
            let hook = short_hook(&pointer.hook);
            let new = Pointer { hook, ..pointer };
            self.edit(INDEX_FILE, "a line was too long", |index| index.set(&new));
        }
    }

    /// Whether the index is within its caps now.
    fn split(&mut self, rules: DreamRules<'_>) -> bool {
        let text = self.texts.get(INDEX_FILE).cloned().unwrap_or_default();
        let Some(over) = breach(&text, rules.caps) else { return true };
        let texts = &*self.texts;
        let mut taken = false;
        let read = |path: &str| {
            let text = texts.get(path)?;
            // Somebody's memory of that name must not become an index.
            taken |= !is_sub_index(text);
            Some(text.clone())
        };
        let Ok(done) = split(&Index::parse(&text), rules.caps, read) else { return false };
        if taken {
            return false;
        }
        for sub in done.moved {
            self.reasons.add(&sub.path, "lines of one theme moved here from the index");
            self.texts.insert(sub.path, sub.text);
        }
        let why = format!(
            "it had {} lines and {} bytes, more than are read; lines of one theme moved",
            over.lines, over.bytes
        );
        self.reasons.add(INDEX_FILE, &why);
        self.texts.insert(INDEX_FILE.to_owned(), done.index.to_string());
        true
    }

    /// Text that stands in the index becomes a memory of its own.
    fn move_prose(&mut self) {
        let text = self.texts.get(INDEX_FILE).cloned().unwrap_or_default();
        let stays = |line: &str| line.trim().is_empty() || line.starts_with('#');
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let is_pointer = |line: &str| Index::parse(line).pointers().next().is_some();
        let prose: String =
            lines.iter().filter(|line| !stays(line) && !is_pointer(line)).copied().collect();
        if prose.trim().is_empty() || self.texts.contains_key(PROSE_FILE) {
            return;
        }
        let mut kept = String::new();
        let mut blank = false;
        for line in lines.iter().filter(|line| stays(line) || is_pointer(line)) {
            // What parted the prose is not needed any more.
            if !(blank && line.trim().is_empty()) {
                kept.push_str(line);
            }
            blank = line.trim().is_empty();
        }
        let file = format!(
            "---\nname: notes-from-the-index\ndescription: Text that stood in MEMORY.md and had no room there\n---\n\n{prose}"
        );
        let pointer = Pointer::of(PROSE_FILE, &file);
        self.texts.insert(PROSE_FILE.to_owned(), file);
        self.texts.insert(INDEX_FILE.to_owned(), kept);
        self.reasons.add(PROSE_FILE, "text of the index that had no room there");
        self.edit(INDEX_FILE, "its text moved to a memory", |index| index.set(&pointer));
    }

    fn lists(&self) -> Vec<String> {
        let lists = self.texts.iter().filter(|(path, text)| crate::is_list(path, text));
        lists.map(|(path, _)| path.clone()).collect()
    }
}

/// How many memories a tree has.
pub(crate) fn count(texts: &Texts) -> usize {
    topics(texts).count()
}
