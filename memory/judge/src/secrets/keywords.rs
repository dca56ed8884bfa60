//! Which rules have a word in a text: all words in one pass.
//!
//! An automaton over bytes with ASCII letters folded. Most text never leaves
//! the states near the root, which have a table of their own; those further off
//! have a list. That makes it small: every process that keeps a memory makes it.

/// All words of all rules.
pub(super) struct Automaton {
    /// The root, then those of one byte, then all others.
    states: Vec<State>,
    /// How many of them are the root or of one byte.
    near: usize,
    /// The column of a byte; bytes that no word begins with or has in second
    /// place share column 0.
    columns: [u8; 256],
    width: usize,
    /// Rows of next states for the root and the states of one byte.
    next: Vec<u16>,
    /// A rule, and where the next one stands that ends in the same state.
    ends: Vec<(u16, u16)>,
    count: usize,
}

/// Where something is that need not be there: one more than its place.
type Link = u16;

#[derive(Clone, Copy, Default)]
struct State {
    byte: u8,
    /// The first of those that follow; never the root, so 0 is none.
    child: u16,
    /// The next that follows the same.
    sibling: u16,
    fallback: u16,
    ends: Link,
}

impl Automaton {
    /// Over the words of each rule, which is then known by its number.
    pub(super) fn new(words: impl Iterator<Item = &'static [&'static str]>) -> Self {
        let rules: Vec<_> = words.collect();
        let mut made = Self {
            states: vec![State::default()],
            near: 0,
            columns: [0; 256],
            width: 1,
            next: Vec::new(),
            ends: Vec::new(),
            count: rules.len(),
        };
        for word in rules.iter().copied().flatten() {
            made.insert(word.as_bytes().get(..1).unwrap_or_default());
        }
        made.near = made.states.len();
        for (rule, words) in (0..).zip(rules) {
            for word in words {
                let last = made.insert(word.as_bytes());
                made.end(last, rule);
            }
        }
        made.link();
        made.lay_out();
        made
    }

    fn state(&self, at: u16) -> State {
        self.states.get(usize::from(at)).copied().unwrap_or_default()
    }

    fn children(&self, of: u16) -> impl Iterator<Item = u16> {
        let there = |at: u16| (at != 0).then_some(at);
        let next = move |at: &u16| there(self.state(*at).sibling);
        std::iter::successors(there(self.state(of).child), next)
    }

    fn child(&self, of: u16, byte: u8) -> Option<u16> {
        self.children(of).find(|child| self.state(*child).byte == byte)
    }

    /// The state of a word.
    fn insert(&mut self, word: &[u8]) -> u16 {
        let mut at = 0_u16;
        for byte in word {
            at = self.child(at, *byte).unwrap_or_else(|| self.follow(at, *byte));
        }
        at
    }

    fn follow(&mut self, at: u16, byte: u8) -> u16 {
        let new = u16::try_from(self.states.len()).unwrap_or(0);
        let Some(parent) = self.states.get_mut(usize::from(at)) else { return 0 };
        let sibling = std::mem::replace(&mut parent.child, new);
        self.states.push(State { byte, sibling, ..State::default() });
        new
    }

    fn end(&mut self, at: u16, rule: u16) {
        let Some(state) = self.states.get_mut(usize::from(at)) else { return };
        self.ends.push((rule, state.ends));
        state.ends = u16::try_from(self.ends.len()).unwrap_or(0);
    }

    /// Sets where each state falls back to, by depth, and what ends there, too.
    fn link(&mut self) {
        let mut order: Vec<u16> = vec![0];
        let mut done = 0;
        while let Some(at) = order.get(done).copied() {
            done += 1;
            let children: Vec<u16> = self.children(at).collect();
            for child in children {
                let byte = self.state(child).byte;
                let fallback = if at == 0 { 0 } else { self.step(self.state(at).fallback, byte) };
                let inherited = self.state(fallback).ends;
                self.inherit(child, inherited);
                if let Some(state) = self.states.get_mut(usize::from(child)) {
                    state.fallback = fallback;
                }
                order.push(child);
            }
        }
    }

    /// Appends what ends in the state that one falls back to.
    fn inherit(&mut self, at: u16, ends: Link) {
        let Some(state) = self.states.get_mut(usize::from(at)) else { return };
        if state.ends == 0 {
            state.ends = ends;
            return;
        }
        let mut last = state.ends;
        while let Some((_, next)) = self.ends.get_mut(usize::from(last) - 1) {
            if *next == 0 {
                *next = ends;
                return;
            }
            last = *next;
        }
    }

    /// The next state, by the lists alone.
    fn step(&self, from: u16, byte: u8) -> u16 {
        let mut at = from;
        loop {
            match self.child(at, byte) {
                Some(child) => return child,
                None if at == 0 => return 0,
                None => at = self.state(at).fallback,
            }
        }
    }

    /// The rows of the states near the root.
    fn lay_out(&mut self) {
        let mut width = 1_u8;
        for state in 0..self.near {
            for child in self.children(u16::try_from(state).unwrap_or(0)).collect::<Vec<_>>() {
                let byte = usize::from(self.state(child).byte);
                if let Some(column) = self.columns.get_mut(byte).filter(|column| **column == 0) {
                    *column = width;
                    width = width.saturating_add(1);
                }
            }
        }
        self.width = usize::from(width);
        self.next = vec![0; self.near * self.width];
        for state in (0_u16..).take(self.near) {
            let row = usize::from(state) * self.width;
            self.next.copy_within(..self.width, row);
            for child in self.children(state).collect::<Vec<_>>() {
                let at = row + self.column(self.state(child).byte);
                if let Some(slot) = self.next.get_mut(at) {
                    *slot = child;
                }
            }
        }
    }

    fn column(&self, byte: u8) -> usize {
        self.columns.get(usize::from(byte)).copied().map_or(0, usize::from)
    }

    /// The rules that have a word in the text, in their order.
    pub(super) fn rules_in(&self, text: &str) -> Vec<usize> {
        let mut fired = Vec::new();
        let mut at = 0;
        for byte in text.bytes() {
            at = self.next(at, byte.to_ascii_lowercase());
            let ends = self.state(at).ends;
            if ends != 0 {
                self.fire(ends, &mut fired);
            }
        }
        fired.iter().enumerate().filter(|(_, is_there)| **is_there).map(|(rule, _)| rule).collect()
    }

    fn next(&self, from: u16, byte: u8) -> u16 {
        let mut at = from;
        while usize::from(at) >= self.near {
            if let Some(child) = self.child(at, byte) {
                return child;
            }
            at = self.state(at).fallback;
        }
        let at = usize::from(at) * self.width + self.column(byte);
        self.next.get(at).copied().unwrap_or(0)
    }

    #[cold]
    fn fire(&self, first: Link, fired: &mut Vec<bool>) {
        fired.resize(self.count, false);
        let mut link = first;
        while let Some((rule, next)) =
            usize::from(link).checked_sub(1).and_then(|at| self.ends.get(at))
        {
            if let Some(slot) = fired.get_mut(usize::from(*rule)) {
                *slot = true;
            }
            link = *next;
        }
    }
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
