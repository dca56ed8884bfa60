//! What starts a turn, and whose words it is (L5.33).

use everfold_kernel::provenance::{Provenance, Source};
use everfold_kernel::{Block, BlockProvenance, BlockView};
use everfold_memory_judge::words::split;
use std::ops::Range;

/// A message on the user's side, each block with whose words it holds.
///
/// A surface hands in what the person typed, and says what of it was pasted or
/// piped in. Whatever is made of a plain text or of blocks counts as typed, but
/// for what its form gives away as a quotation; a picture counts as pasted.
///
/// ```
/// use everfold_engine::Prompt;
///
/// let prompt = Prompt::from("fix this: boom").with_pasted(&[10..14]);
/// assert_eq!(prompt.text(), "fix this: boom");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prompt {
    blocks: Vec<Block>,
    /// One for each block.
    provenance: Vec<BlockProvenance>,
}

impl Prompt {
    /// Blocks that are all of one provenance.
    #[must_use]
    pub fn of(provenance: impl Into<Provenance>, blocks: Vec<Block>) -> Self {
        let whole = BlockProvenance::whole(provenance);
        Self { provenance: vec![whole; blocks.len()], blocks }
    }

    /// Blocks with whose words each of them holds.
    pub(crate) fn with_provenance(blocks: Vec<Block>, provenance: Vec<BlockProvenance>) -> Self {
        Self { blocks, provenance }
    }

    /// Words of the program itself.
    #[must_use]
    pub fn of_program(blocks: Vec<Block>) -> Self {
        Self { provenance: vec![BlockProvenance::default(); blocks.len()], blocks }
    }

    /// One text of several, with an empty line between them.
    #[must_use]
    pub fn joined(texts: impl IntoIterator<Item = (Provenance, String)>) -> Self {
        let (mut text, mut parts) = (String::new(), Vec::new());
        for (provenance, part) in texts {
            if !parts.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&part);
            parts.push((text.len(), provenance));
        }
        Self { blocks: vec![Block::text(text)], provenance: vec![BlockProvenance::parts(parts)] }
    }

    /// The same, with these bytes of its first text known to be pasted or piped
    /// in.
    #[must_use]
    pub fn with_pasted(mut self, pasted: &[Range<usize>]) -> Self {
        let mut both = self.blocks.iter().zip(&mut self.provenance);
        let text = both.find_map(|(block, own)| match block.view() {
            BlockView::Text(text) => Some((text, own)),
            _ => None,
        });
        if let Some((text, own)) = text {
            *own = split(text, &in_order(pasted, text));
        }
        self
    }

    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.blocks.extend(other.blocks);
        self.provenance.extend(other.provenance);
        self
    }

    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Whose words its blocks hold, one for each.
    #[must_use]
    pub fn provenance(&self) -> &[BlockProvenance] {
        &self.provenance
    }

    #[must_use]
    pub fn text(&self) -> String {
        text_of(&self.blocks)
    }

    pub(crate) fn into_parts(self) -> (Vec<Block>, Vec<BlockProvenance>) {
        (self.blocks, self.provenance)
    }
}

/// Ranges as [`split`] takes them: in order, apart, within the text and at the
/// edges of characters.
fn in_order(ranges: &[Range<usize>], text: &str) -> Vec<Range<usize>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| range.start);
    let mut own: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        let start = text.floor_char_boundary(range.start.min(text.len()));
        let end = text.ceil_char_boundary(range.end.min(text.len()));
        match own.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ if start < end => own.push(start..end),
            _ => {}
        }
    }
    own
}

impl From<Vec<Block>> for Prompt {
    fn from(blocks: Vec<Block>) -> Self {
        let whose = |block: &Block| match block.view() {
            BlockView::Text(text) => split(text, &[]),
            _ => BlockProvenance::whole(Source::Pasted),
        };
        Self { provenance: blocks.iter().map(whose).collect(), blocks }
    }
}

impl From<Block> for Prompt {
    fn from(block: Block) -> Self {
        vec![block].into()
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Block::text(text).into()
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Block::text(text).into()
    }
}

/// The text of an answer.
pub(crate) fn text_of(blocks: &[Block]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block.view() {
            BlockView::Text(text) if !text.trim().is_empty() => Some(text),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(prompt: &Prompt) -> Vec<(String, String)> {
        let both = prompt.blocks.iter().zip(&prompt.provenance);
        both.flat_map(|(block, own)| {
            let text = block.plain_text();
            let parts: Vec<_> =
                own.split(&text).map(|(who, part)| (who.to_string(), part.to_owned())).collect();
            parts
        })
        .collect()
    }

    fn pair(who: &str, text: &str) -> (String, String) {
        (who.to_owned(), text.to_owned())
    }

    #[test]
    fn l5_33_a_pasted_range_stays_pasted() {
        let text = "fix this: é boom";
        let prompt = Prompt::from(text).with_pasted(&[13..17, 10..14]);
        assert_eq!(told(&prompt), [pair("person", "fix this: "), pair("pasted", "é boom")]);
        let whole = Prompt::from("all of it").with_pasted(std::slice::from_ref(&(0..99)));
        assert_eq!(told(&whole), [pair("pasted", "all of it")]);
        assert_eq!(Prompt::from(text).with_pasted(&[]), Prompt::from(text));
    }

    #[test]
    fn l5_33_a_picture_is_pasted_and_a_task_of_several_texts_keeps_whose_they_are() {
        let prompt = Prompt::from(vec![Block::text("look"), Block::image("image/png", "eA==")]);
        assert_eq!(prompt.provenance()[1].lowest(), Some(Source::Pasted.into()));
        let task = [(Source::Repository.into(), "a skill"), (Provenance::MODEL, "the task")];
        let task = Prompt::joined(task.map(|(who, text)| (who, text.to_owned())));
        assert_eq!(task.text(), "a skill\n\nthe task");
        assert_eq!(told(&task), [pair("repository", "a skill"), pair("model", "\n\nthe task")]);
    }
}
