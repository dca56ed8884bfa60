//! Regret: a later round reads a file again, or repeats a command, whose
//! result had been taken away (E4).

use everfold_kernel::call::file_of;
use everfold_kernel::{Tokens, ToolUseId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What a call asked for; two calls that ask for the same have the same.
pub type ResultWish = [u8; 16];

/// What a call asks for, where asking again would mean that it was missed.
#[must_use]
pub fn wish(tool: &str, input: &Value) -> Option<ResultWish> {
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
#[must_use]
pub fn wish_of(tool: &str, target: &str) -> ResultWish {
    let mut hasher = blake3::Hasher::new();
    hasher.update(tool.as_bytes()).update(b"\0").update(target.as_bytes());
    let mut wish = [0; 16];
    wish.copy_from_slice(hasher.finalize().as_bytes().split_at(16).0);
    wish
}

/// What a model can see and what it could, by wish.
#[derive(Clone, Debug, Default)]
pub struct SeenResults {
    /// Results in view, what they answer, and their tokens.
    shown: BTreeMap<ToolUseId, (ResultWish, Tokens)>,
    /// What was answered and is out of view, with its tokens.
    gone: BTreeMap<ResultWish, Tokens>,
}

impl SeenResults {
    /// Takes note of calls, and tells the tokens of each thing that is gone and
    /// that they ask for.
    pub fn called(&mut self, wishes: &[(ToolUseId, ResultWish)]) -> Vec<Tokens> {
        let missed = wishes.iter().filter_map(|(_, wish)| self.gone.get(wish).copied()).collect();
        for (id, wish) in wishes {
            self.gone.remove(wish);
            self.shown.insert(id.clone(), (*wish, Tokens(0)));
        }
        missed
    }

    /// A result came, with so many tokens.
    pub fn came(&mut self, id: &ToolUseId, tokens: Tokens) {
        if let Some((_, own)) = self.shown.get_mut(id) {
            *own = tokens;
        }
    }

    /// Something that is gone is needed: its tokens. It is in view again.
    pub fn needed(&mut self, wish: &ResultWish) -> Option<Tokens> {
        self.gone.remove(wish)
    }

    /// A result went out of view.
    pub fn takes(&mut self, id: &ToolUseId) {
        if let Some((wish, tokens)) = self.shown.remove(id)
            && !self.shown.values().any(|(own, _)| *own == wish)
        {
            self.gone.insert(wish, tokens);
        }
    }

    /// Everything went out of view but these results.
    pub fn keeps(&mut self, ids: &BTreeSet<&str>) {
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
    pub fn brings_back(&mut self, tool: &str, target: &str) {
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
        let mut memory = SeenResults::default();
        assert!(memory.called(&[(id("1"), read("a")), (id("2"), read("b"))]).is_empty());
        assert!(memory.called(&[(id("3"), read("a"))]).is_empty(), "it is still there");
        memory.takes(&id("1"));
        assert!(memory.called(&[(id("4"), read("a"))]).is_empty(), "the later one still is");
        memory.keeps(&BTreeSet::from(["4"]));
        assert_eq!(memory.called(&[(id("5"), read("a")), (id("6"), read("b"))]), [Tokens(0)]);
        memory.takes(&id("5"));
        memory.takes(&id("4"));
        memory.brings_back("Read", "a");
        assert!(memory.called(&[(id("7"), read("a"))]).is_empty());
        assert_eq!(wish("Edit", &json!({"file_path": "a"})), None);
    }

    #[test]
    fn pc8_what_is_edited_has_to_be_in_view() {
        let read = wish("Read", &json!({"file_path": "a"})).unwrap();
        let mut memory = SeenResults::default();
        memory.called(&[("1".into(), read)]);
        memory.came(&"1".into(), Tokens(700));
        assert_eq!(memory.needed(&read), None, "it is in view");
        memory.takes(&"1".into());
        assert_eq!((memory.needed(&read), memory.needed(&read)), (Some(Tokens(700)), None));
    }
}
