//! Which rules have a word in a text: all words in one pass.
//!
//! An automaton over bytes with ASCII letters folded. Most text never leaves
//! the few states near the root, so a text without such words costs about a
//! nanosecond a byte.

use std::collections::VecDeque;

/// All words of all rules.
pub(super) struct Automaton {
    /// The column of a byte; bytes that are in no word share column 0.
    columns: [u8; 256],
    width: usize,
    /// Rows of next states, as offsets into this table; the low bit of an
    /// entry says that words end there.
    next: Vec<u32>,
    /// The rules whose words end in a state.
    rules: Vec<Vec<u16>>,
    count: usize,
}

/// A state while the words are laid out.
#[derive(Default)]
struct Node {
    /// By their bytes; most states have one.
    children: Vec<(u8, usize)>,
    fallback: usize,
    rules: Vec<u16>,
}

impl Node {
    fn child(&self, byte: u8) -> Option<usize> {
        self.children.iter().find(|(own, _)| *own == byte).map(|(_, child)| *child)
    }
}

impl Automaton {
    /// Over the words of each rule, which is then known by its number.
    pub(super) fn new(words: impl Iterator<Item = &'static [&'static str]>) -> Self {
        let mut nodes = vec![Node::default()];
        let mut count = 0;
        for (rule, words) in words.enumerate() {
            count = rule + 1;
            for word in words {
                insert(&mut nodes, word, u16::try_from(rule).unwrap_or(u16::MAX));
            }
        }
        let order = link(&mut nodes);
        let (columns, width) = columns(&nodes);
        let next = rows(&nodes, &order, &columns, width);
        Self {
            columns,
            width,
            next,
            rules: nodes.into_iter().map(|node| node.rules).collect(),
            count,
        }
    }

    /// The rules that have a word in the text, in their order.
    pub(super) fn rules_in(&self, text: &str) -> Vec<usize> {
        let mut fired = Vec::new();
        let mut state = 0_usize;
        for byte in text.bytes() {
            let column = self.columns.get(usize::from(byte)).copied().unwrap_or(0);
            let entry = self.next.get(state + usize::from(column)).copied().unwrap_or(0);
            state = (entry >> 1) as usize;
            if entry & 1 == 1 {
                self.fire(state, &mut fired);
            }
        }
        fired.iter().enumerate().filter(|(_, is_there)| **is_there).map(|(rule, _)| rule).collect()
    }

    #[cold]
    fn fire(&self, state: usize, fired: &mut Vec<bool>) {
        fired.resize(self.count, false);
        for rule in self.rules.get(state / self.width).into_iter().flatten() {
            if let Some(slot) = fired.get_mut(usize::from(*rule)) {
                *slot = true;
            }
        }
    }
}

fn insert(nodes: &mut Vec<Node>, word: &str, rule: u16) {
    let mut at = 0;
    for byte in word.bytes() {
        let new = nodes.len();
        let Some(node) = nodes.get_mut(at) else { return };
        if let Some(child) = node.child(byte) {
            at = child;
        } else {
            node.children.push((byte, new));
            nodes.push(Node::default());
            at = new;
        }
    }
    if let Some(node) = nodes.get_mut(at) {
        node.rules.push(rule);
    }
}

/// Sets where each state falls back to; gives the states by depth.
fn link(nodes: &mut [Node]) -> Vec<usize> {
    let mut order = vec![0];
    let mut queue = VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        let children =
            nodes.get_mut(at).map(|node| std::mem::take(&mut node.children)).unwrap_or_default();
        for (byte, child) in children.iter().copied() {
            let fallback = if at == 0 { 0 } else { fallback_of(nodes, at, byte) };
            let inherited = nodes.get(fallback).map(|node| node.rules.clone()).unwrap_or_default();
            if let Some(node) = nodes.get_mut(child) {
                node.fallback = fallback;
                node.rules.extend(inherited);
            }
            order.push(child);
            queue.push_back(child);
        }
        if let Some(node) = nodes.get_mut(at) {
            node.children = children;
        }
    }
    order
}

fn fallback_of(nodes: &[Node], parent: usize, byte: u8) -> usize {
    let mut at = nodes.get(parent).map_or(0, |node| node.fallback);
    loop {
        let Some(node) = nodes.get(at) else { return 0 };
        match node.child(byte) {
            Some(child) => return child,
            None if at == 0 => return 0,
            None => at = node.fallback,
        }
    }
}

fn columns(nodes: &[Node]) -> ([u8; 256], usize) {
    let mut columns = [0_u8; 256];
    let mut width = 1_u8;
    for byte in nodes.iter().flat_map(|node| node.children.iter().map(|(byte, _)| byte)) {
        if let Some(column) = columns.get_mut(usize::from(*byte))
            && *column == 0
        {
            *column = width;
            width = width.saturating_add(1);
        }
    }
    for byte in b'A'..=b'Z' {
        let folded = columns.get(usize::from(byte.to_ascii_lowercase())).copied().unwrap_or(0);
        if let Some(column) = columns.get_mut(usize::from(byte)) {
            *column = folded;
        }
    }
    (columns, usize::from(width))
}

fn rows(nodes: &[Node], order: &[usize], columns: &[u8; 256], width: usize) -> Vec<u32> {
    let mut next = vec![0_u32; nodes.len() * width];
    for at in order {
        let Some(node) = nodes.get(*at) else { continue };
        let row = at * width;
        if *at != 0 {
            let from = node.fallback * width;
            next.copy_within(from..from + width, row);
        }
        for (byte, child) in &node.children {
            let ends = nodes.get(*child).is_some_and(|node| !node.rules.is_empty());
            let entry = u32::try_from(child * width).unwrap_or(0) << 1 | u32::from(ends);
            let column = columns.get(usize::from(*byte)).copied().unwrap_or(0);
            if let Some(slot) = next.get_mut(row + usize::from(column)) {
                *slot = entry;
            }
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l5_18_words_are_found_in_any_case_and_inside_each_other() {
        let words: [&'static [&'static str]; 4] = [&["she"], &["he"], &["hers", "x-"], &["пар"]];
        let automaton = Automaton::new(words.into_iter());
        assert_eq!(automaton.rules_in("uSHErs"), [0, 1, 2]);
        assert_eq!(automaton.rules_in("a X- b"), [2]);
        assert_eq!(automaton.rules_in("пароль"), [3]);
        assert!(automaton.rules_in("nothing").is_empty());
    }
}
