//! Regret: a later round reads a file again, or repeats a command, whose
//! result had been taken away.

use everfold_kernel::call::file_of;
use everfold_kernel::{BlockView, Record, ToolUseId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a call asked for; two calls that ask for the same have the same.
pub(crate) type Wish = [u8; 16];

/// What a call asks for, where asking again would mean that it was missed.
pub(crate) fn wish(tool: &str, input: &Value) -> Option<Wish> {
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let target = match tool {
        "Read" => file_of(input)?.to_owned(),
        "Bash" => text("command")?,
        "Grep" | "Glob" | "WebFetch" | "WebSearch" => input.to_string(),
        _ => return None,
    };
    Some(wish_of(tool, &target))
}

/// The wish of a tool with this target.
pub(crate) fn wish_of(tool: &str, target: &str) -> Wish {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tool.as_bytes()).update(b"\0").update(target.as_bytes());
    let mut wish = [0; 16];
    wish.copy_from_slice(hasher.finalize().as_bytes().split_at(16).0);
    wish
}

/// The calls of a response with what they ask for.
pub(crate) fn wishes(response: &[Record]) -> Vec<(ToolUseId, Wish)> {
    let calls = response.iter().flat_map(crate::weigh::blocks).filter_map(|block| {
        let BlockView::ToolUse { id, name, input } = block.view() else { return None };
        Some((ToolUseId::new(id), wish(name, input)?))
    });
    calls.collect()
}

/// What has to be in view for the calls of a response to be made: a file that
/// is edited was read.
pub(crate) fn needs(response: &[Record]) -> Vec<Wish> {
    let calls = response.iter().flat_map(crate::weigh::blocks).filter_map(|block| {
        let BlockView::ToolUse { name: "Edit" | "MultiEdit", input, .. } = block.view() else {
            return None;
        };
        Some(wish_of("Read", file_of(input)?))
    });
    calls.collect()
}

/// What a model can see and what it could, by wish.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Results in view, what they answer, and their tokens.
    shown: BTreeMap<ToolUseId, (Wish, u64)>,
    /// What was answered and is out of view, with its tokens.
    gone: BTreeMap<Wish, u64>,
}

impl Memory {
    /// Takes note of calls, and tells how many ask for what is gone.
    pub(crate) fn called(&mut self, wishes: &[(ToolUseId, Wish)]) -> u64 {
        let missed = wishes.iter().filter(|(_, wish)| self.gone.contains_key(wish)).count() as u64;
        for (id, wish) in wishes {
            self.gone.remove(wish);
            self.shown.insert(id.clone(), (*wish, 0));
        }
        missed
    }

    /// A result came, with so many tokens.
    pub(crate) fn came(&mut self, id: &ToolUseId, tokens: u64) {
        if let Some((_, own)) = self.shown.get_mut(id) {
            *own = tokens;
        }
    }

    /// Something that is gone is needed: its tokens. It is in view again.
    pub(crate) fn needed(&mut self, wish: &Wish) -> Option<u64> {
        self.gone.remove(wish)
    }

    /// A result went out of view.
    pub(crate) fn takes(&mut self, id: &ToolUseId) {
        if let Some((wish, tokens)) = self.shown.remove(id)
            && !self.shown.values().any(|(own, _)| *own == wish)
        {
            self.gone.insert(wish, tokens);
        }
    }

    /// Everything went out of view but these results.
    pub(crate) fn keeps(&mut self, ids: &BTreeSet<&str>) {
        let shown = std::mem::take(&mut self.shown);
        for (id, (wish, tokens)) in shown {
            if ids.contains(id.as_str()) {
                self.shown.insert(id, (wish, tokens));
            } else {
                self.gone.insert(wish, tokens);
            }
        }
        for (wish, _) in self.shown.values() {
            self.gone.remove(wish);
        }
    }

    /// What a tool gives for this target is in view again.
    pub(crate) fn brings_back(&mut self, tool: &str, target: &str) {
        self.gone.remove(&wish_of(tool, target));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pc7_only_what_was_taken_away_is_missed() {
        let read = |path: &str| wish("Read", &json!({"file_path": path, "offset": 3})).unwrap();
        let id = |text: &str| ToolUseId::new(text);
        let mut memory = Memory::default();
        assert_eq!(memory.called(&[(id("1"), read("a")), (id("2"), read("b"))]), 0);
        assert_eq!(memory.called(&[(id("3"), read("a"))]), 0, "it is still there");
        memory.takes(&id("1"));
        assert_eq!(memory.called(&[(id("4"), read("a"))]), 0, "the later one still is");
        memory.keeps(&BTreeSet::from(["4"]));
        assert_eq!(memory.called(&[(id("5"), read("a")), (id("6"), read("b"))]), 1);
        memory.takes(&id("5"));
        memory.takes(&id("4"));
        memory.brings_back("Read", "a");
        assert_eq!(memory.called(&[(id("7"), read("a"))]), 0);
        assert_eq!(wish("Edit", &json!({"file_path": "a"})), None);
    }

    #[test]
    fn pc8_what_is_edited_has_to_be_in_view() {
        let read = wish("Read", &json!({"file_path": "a"})).unwrap();
        let mut memory = Memory::default();
        memory.called(&[("1".into(), read)]);
        memory.came(&"1".into(), 700);
        assert_eq!(memory.needed(&read), None, "it is in view");
        memory.takes(&"1".into());
        assert_eq!((memory.needed(&read), memory.needed(&read)), (Some(700), None));
    }
}
