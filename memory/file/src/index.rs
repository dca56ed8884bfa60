//! `MEMORY.md`: one line for each memory (L5.3), and whatever else people
//! write between those lines, which stays as it is.
//!
//! A pointer is a list item that starts with a link to a `.md` file:
//! `- [Title](file.md) — hook`. A changed pointer keeps the list mark and the
//! separator of its line.

mod load;
mod reach;
mod split;

pub use load::{Breach, Caps, IndexCap, LoadedIndex, breach, load, load_part};
pub use reach::{BrokenPointer, Reach, is_sub_index, reach, relative, resolve};
pub use split::{Moved, Split, split};

use crate::memory::Memory;
use everfold_frontmatter::newline_of;
use std::collections::BTreeSet;
use std::fmt;

/// Most characters of a pointer's hook (L5.3: a line has about 150).
pub const HOOK_CHARS: usize = 140;

/// What the index of a memory directory is called.
pub const INDEX_FILE: &str = "MEMORY.md";

/// One line of an index that points to a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// What the link says.
    pub title: String,
    /// The file, from the directory of the index, without escapes.
    pub target: String,
    /// What is behind the separator.
    pub hook: String,
}

impl Pointer {
    /// The line that a memory itself asks for: its name and description, or
    /// what its file is called and starts with.
    #[must_use]
    pub fn of(path: &str, text: &str) -> Self {
        let memory = Memory::parse(text);
        let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".md");
        let title = memory.front.name.unwrap_or_else(|| stem.to_owned());
        let first_line =
            || memory.body.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
        let hook = memory.front.description.or_else(first_line).unwrap_or_default();
        Self { title, target: path.to_owned(), hook: short_hook(&hook) }
    }
}

/// A hook of at most [`HOOK_CHARS`] characters, cut between words.
#[must_use]
pub fn short_hook(hook: &str) -> String {
    let Some((end, _)) = hook.char_indices().nth(HOOK_CHARS) else { return hook.to_owned() };
    let head = hook.get(..end).unwrap_or_default();
    let head = head.rsplit_once(' ').map_or(head, |(words, _)| words);
    format!("{}…", head.trim_end())
}

/// An index, line by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    lines: Vec<Line>,
    newline: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    text: String,
    pointer: Option<Pointer>,
}

impl Index {
    /// Reads an index; every text is one.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut fenced = false;
        let line = |text: &str| {
            let is_fence = text.trim_start().starts_with("```");
            fenced ^= is_fence;
            let pointer = if fenced || is_fence { None } else { parse_pointer(text) };
            Line { text: text.to_owned(), pointer }
        };
        Self { lines: text.split_inclusive('\n').map(line).collect(), newline: newline_of(text) }
    }

    /// Its pointers, from the top.
    pub fn pointers(&self) -> impl Iterator<Item = &Pointer> {
        self.lines.iter().filter_map(|line| line.pointer.as_ref())
    }

    /// Whether a pointer leads to this file.
    #[must_use]
    pub fn points_to(&self, target: &str) -> bool {
        self.pointers().any(|pointer| pointer.target == target)
    }

    /// Adds a pointer, or changes the one that leads to the same file. A new
    /// one goes behind the last.
    pub fn set(&mut self, pointer: &Pointer) {
        let same = |line: &&mut Line| {
            line.pointer.as_ref().is_some_and(|old| old.target == pointer.target)
        };
        if let Some(line) = self.lines.iter_mut().find(same) {
            if line.pointer.as_ref() != Some(pointer) {
                line.text = rewritten(&line.text, pointer, self.newline);
                line.pointer = Some(pointer.clone());
            }
            return;
        }
        let text = format!("- {}{}", render(pointer, " — "), self.newline);
        let at = self
            .lines
            .iter()
            .rposition(|line| line.pointer.is_some())
            .map_or(self.lines.len(), |at| at + 1);
        if let Some(before) = at.checked_sub(1).and_then(|last| self.lines.get_mut(last))
            && !before.text.ends_with('\n')
        {
            before.text.push_str(self.newline);
        }
        self.lines.insert(at, Line { text, pointer: Some(pointer.clone()) });
    }

    /// Removes every pointer to a file; says whether there was one.
    pub fn remove(&mut self, target: &str) -> bool {
        let before = self.lines.len();
        self.lines
            .retain(|line| line.pointer.as_ref().is_none_or(|pointer| pointer.target != target));
        self.lines.len() != before
    }

    /// Leaves the first pointer to each file.
    pub fn drop_repeats(&mut self) {
        let mut seen = BTreeSet::new();
        self.lines.retain(|line| {
            line.pointer.as_ref().is_none_or(|pointer| seen.insert(pointer.target.clone()))
        });
    }

    /// Lets the pointers to one file lead to another.
    pub fn retarget(&mut self, from: &str, to: &str) -> bool {
        let mut changed = false;
        for line in &mut self.lines {
            if let Some(pointer) = line.pointer.as_mut().filter(|pointer| pointer.target == from) {
                to.clone_into(&mut pointer.target);
                line.text = rewritten(&line.text, pointer, self.newline);
                changed = true;
            }
        }
        changed
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| f.write_str(&line.text))
    }
}

/// The pointer's words as a link and a hook, on one line.
fn render(pointer: &Pointer, separator: &str) -> String {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = flat(&pointer.title).replace('[', "(").replace(']', ")");
    let link = format!("[{title}]({})", escape(&pointer.target));
    if pointer.hook.trim().is_empty() {
        link
    } else {
        format!("{link}{separator}{}", flat(&pointer.hook))
    }
}

fn rewritten(old: &str, pointer: &Pointer, newline: &str) -> String {
    let mark = old.find('[').and_then(|at| old.get(..at)).unwrap_or("- ");
    let separator =
        parts(old).and_then(|parts| (!parts.hook.is_empty()).then_some(parts.separator));
    let ending = if old.ends_with('\n') { newline } else { "" };
    format!("{mark}{}{ending}", render(pointer, separator.unwrap_or(" — ")))
}

struct Parts<'a> {
    title: &'a str,
    target: &'a str,
    separator: &'a str,
    hook: &'a str,
}

/// The words of a pointer line.
fn parts(line: &str) -> Option<Parts<'_>> {
    let content = line.trim();
    let item = content.strip_prefix(['-', '*', '+'])?;
    let item = item.strip_prefix([' ', '\t'])?.trim_start();
    let rest = item.strip_prefix("**").unwrap_or(item).strip_prefix('[')?;
    let (title, rest) = rest.split_once("](")?;
    let (target, rest) = match rest.strip_prefix('<') {
        Some(angle) => angle.split_once(">)")?,
        None => rest.split_once(')')?,
    };
    let after = rest.strip_prefix("**").unwrap_or(rest);
    let hook =
        after.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | '-' | ':'));
    let separator = after.get(..after.len() - hook.len())?;
    Some(Parts { title, target, separator, hook })
}

fn parse_pointer(line: &str) -> Option<Pointer> {
    let parts = parts(line)?;
    let target = unescape(parts.target.split('#').next()?.trim());
    let target = target.trim_start_matches("./");
    let is_file = target.to_ascii_lowercase().ends_with(".md")
        && !target.contains("://")
        && !target.starts_with('/');
    is_file.then(|| Pointer {
        title: parts.title.trim().to_owned(),
        target: target.to_owned(),
        hook: parts.hook.trim().to_owned(),
    })
}

/// A path as it can stand in a link.
fn escape(path: &str) -> String {
    path.replace('%', "%25")
        .replace(' ', "%20")
        .replace('(', "%28")
        .replace(')', "%29")
        .replace('#', "%23")
}

fn unescape(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let code = (byte == b'%').then(|| rest.hex_ahead()).flatten();
        if let Some(code) = code {
            bytes.push(code);
            rest.nth(1);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// Two hexadecimal digits ahead of an iterator over bytes.
trait HexAhead {
    fn hex_ahead(&self) -> Option<u8>;
}

impl HexAhead for std::str::Bytes<'_> {
    fn hex_ahead(&self) -> Option<u8> {
        let mut ahead = self.clone();
        let mut digit = || char::from(ahead.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        u8::try_from(high * 16 + low).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(title: &str, target: &str, hook: &str) -> Pointer {
        Pointer { title: title.into(), target: target.into(), hook: hook.into() }
    }

    #[test]
    fn l5_3_pointers_are_read_in_every_spelling() {
        let text = "# Memory\n\n- [A](a.md) — one\n* [B](./b.md): two\n  - [C](sub/c%20d.md) - three\n\
                    - [D](<d e.md>)\n- **[E](e.md)** – five\n- [web](https://x/y.md) — no\n- plain\n\
                    ```\n- [F](f.md)\n```\n";
        let index = Index::parse(text);
        let seen: Vec<_> = index.pointers().cloned().collect();
        assert_eq!(
            seen,
            [
                pointer("A", "a.md", "one"),
                pointer("B", "b.md", "two"),
                pointer("C", "sub/c d.md", "three"),
                pointer("D", "d e.md", ""),
                pointer("E", "e.md", "five"),
            ]
        );
        assert_eq!(index.to_string(), text);
    }

    #[test]
    fn l5_3_a_changed_pointer_keeps_all_other_lines() {
        let text = "# Mine\r\n\r\n* [A](a.md): one\r\n* [B](b.md): two\r\n\r\nNotes below.\r\n";
        let mut index = Index::parse(text);
        index.set(&pointer("A", "a.md", "changed"));
        index.set(&pointer("C", "c.md", "three"));
        assert!(index.remove("b.md"));
        assert!(!index.remove("b.md"));
        assert!(index.retarget("c.md", "sub/c.md"));
        let wanted =
            "# Mine\r\n\r\n* [A](a.md): changed\r\n- [C](sub/c.md) — three\r\n\r\nNotes below.\r\n";
        assert_eq!(index.to_string(), wanted);
    }

    #[test]
    fn l5_3_a_last_line_without_an_end_gets_one() {
        let mut index = Index::parse("- [A](a.md) — one");
        index.set(&pointer("B [x]\ny", "b c.md", ""));
        assert_eq!(index.to_string(), "- [A](a.md) — one\n- [B (x) y](b%20c.md)\n");
        assert!(Index::parse(&index.to_string()).points_to("b c.md"));
    }
}
