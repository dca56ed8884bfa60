//! What goes to disk: fresh results over their cap, then the largest of a
//! message that is over its budget.
//!
//! Only the last message can hold fresh results, so each is judged alone, and
//! the work is in proportion to that message, not to the conversation. What
//! was decided before, or sent whole, is never looked at again (L1.4).

use crate::apply::envelope;
use crate::policy::{ResultCap, cap, is_exempt};
use everfold_kernel::limits::OffloadLimits;
use everfold_kernel::{Effect, ToolUseId};
use everfold_prefix::{Fold, Freshness, ResultView, Showing};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;

/// One result that is to be written, and what [`crate::apply()`] needs then.
#[derive(Clone, Debug, PartialEq)]
pub struct Spill {
    /// The file to write.
    pub effect: Effect,
    /// What is made of the outcome.
    pub pending: Pending,
}

/// A result between its plan and its decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    pub(crate) tool_use_id: ToolUseId,
    /// The name by which the model can ask for the result.
    pub(crate) recall_id: String,
    pub(crate) file: String,
    pub(crate) chars: u64,
    pub(crate) bytes: u64,
    pub(crate) head: Head,
    /// What stays if the disk refuses; none where that is all of it.
    pub(crate) cut: Option<String>,
}

/// The first part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) text: String,
    /// Most bytes of the preview.
    pub(crate) limit: usize,
    pub(crate) extent: Extent,
}

/// How much of a result its head is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Part,
    All,
}

/// Decides which fresh results go to disk.
#[must_use]
pub fn plan(fold: &Fold, limits: &OffloadLimits) -> Vec<Spill> {
    let results = fold.last_results();
    let mut seen = BTreeSet::new();
    let candidates: Vec<Candidate<'_>> = results
        .iter()
        .filter(|result| seen.insert(result.tool_use_id))
        .map(|result| Candidate::new(result, limits))
        .collect();
    let chosen = choose(&candidates, limits);
    candidates
        .iter()
        .enumerate()
        .filter(|(index, _)| chosen.contains(index))
        .map(|(_, candidate)| candidate.spill(limits))
        .collect()
}

/// The positions of the results that go.
fn choose(candidates: &[Candidate<'_>], limits: &OffloadLimits) -> BTreeSet<usize> {
    let mut chosen: BTreeSet<usize> =
        (0..).zip(candidates).filter(|(_, own)| own.is_over_cap()).map(|(at, _)| at).collect();
    // What is shown by a preview counts as one, whatever its envelope takes:
    // so a second look at the same message comes to the same sum.
    let stays = |at: &usize, own: &Candidate<'_>| {
        let is_preview = chosen.contains(at) || own.result.piece.shown != Showing::Whole;
        if is_preview { limits.preview_bytes.min(own.chars) } else { own.chars }
    };
    let mut total: u64 = (0..).zip(candidates).map(|(at, own)| stays(&at, own)).sum();
    if total <= limits.message_chars {
        return chosen;
    }
    // A result no larger than a preview would not get smaller.
    let mut rest: Vec<(usize, &Candidate<'_>)> = (0..)
        .zip(candidates)
        .filter(|(at, own)| !chosen.contains(at) && own.may_go())
        .filter(|(_, own)| own.chars > limits.preview_bytes)
        .collect();
    rest.sort_by_key(|(at, own)| (std::cmp::Reverse(own.chars), *at));
    for (at, own) in rest {
        if total <= limits.message_chars {
            break;
        }
        chosen.insert(at);
        total = total.saturating_sub(own.chars).saturating_add(limits.preview_bytes);
    }
    chosen
}

/// A result of the last message.
struct Candidate<'a> {
    result: &'a ResultView<'a>,
    content: &'a Value,
    cap: ResultCap,
    chars: u64,
}

impl<'a> Candidate<'a> {
    fn new(result: &'a ResultView<'a>, limits: &OffloadLimits) -> Self {
        let content = result.piece.block.as_map().get("content").unwrap_or(&Value::Null);
        Self { result, content, cap: cap(result.tool, limits), chars: chars_of(content) }
    }

    /// Whether the layer may decide on it at all.
    fn may_go(&self) -> bool {
        self.result.freshness == Freshness::Fresh
            && self.result.piece.shown == Showing::Whole
            && !is_exempt(self.result.tool)
            && !has_media(self.content)
    }

    fn is_over_cap(&self) -> bool {
        matches!(self.cap, ResultCap::Chars(most) if self.chars > most) && self.may_go()
    }

    fn spill(&self, limits: &OffloadLimits) -> Spill {
        let content = match self.content {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let pending =
            Pending::new(self.result.tool_use_id, self.content, content.len(), self.cap, limits);
        Spill { effect: Effect::Spill { file: pending.file.clone(), content }, pending }
    }
}

impl Pending {
    /// A result of `bytes` on disk, under its cap or over it.
    pub(crate) fn new(
        id: &str,
        content: &Value,
        bytes: usize,
        cap: ResultCap,
        limits: &OffloadLimits,
    ) -> Self {
        let text = readable(content);
        let chars = chars_of(content);
        let limit = usize::try_from(limits.preview_bytes).unwrap_or(usize::MAX);
        let head = head(&text, limit);
        let extent = if head.len() < text.len() { Extent::Part } else { Extent::All };
        let cut = match cap {
            ResultCap::Chars(most) if chars > most => Some(first_chars(&text, most).to_owned()),
            _ => None,
        };
        let stem = stem(id);
        let extension = if content.is_string() { "txt" } else { "json" };
        Self {
            tool_use_id: id.into(),
            file: format!("{stem}.{extension}"),
            recall_id: stem.into_owned(),
            chars,
            bytes: bytes as u64,
            head: Head { text: head.to_owned(), limit, extent },
            cut,
        }
    }
}

/// What the model will see of a result that is over its cap, before anything
/// is on disk: files go to `directory`. None for one that may stay. The line
/// of the result shows it so.
#[must_use]
pub fn preview(
    tool: &str,
    id: &ToolUseId,
    content: &Value,
    directory: &Path,
    limits: &OffloadLimits,
) -> Option<String> {
    let cap = cap(tool, limits);
    let ResultCap::Chars(most) = cap else { return None };
    if has_media(content) || chars_of(content) <= most {
        return None;
    }
    let bytes = content.as_str().map_or_else(|| content.to_string().len(), str::len);
    let pending = Pending::new(id.as_str(), content, bytes, cap, limits);
    Some(envelope(&pending, &directory.join(&pending.file)))
}

/// Longest id that is a file's name as it is.
const ID_BYTES: usize = 128;

/// The name of a result's file without its ending: the id, or where an id is
/// not fit to be a name (it could leave the directory) one made of its hash.
/// The stem of a stem is itself.
#[must_use]
pub fn stem(id: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if (1..=ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain) {
        Cow::Borrowed(id)
    } else {
        Cow::Owned(format!("result-{}", blake3::hash(id.as_bytes()).to_hex()))
    }
}

/// Characters of a content: those of its texts, and of anything else as JSON.
fn chars_of(content: &Value) -> u64 {
    let count = |text: &str| text.chars().count() as u64;
    match content {
        Value::Null => 0,
        Value::String(text) => count(text),
        Value::Array(parts) => parts
            .iter()
            .map(|part| match part_text(part) {
                Some(text) => count(text),
                None if is_media(part) => 0,
                None => count(&part.to_string()),
            })
            .sum(),
        other => count(&other.to_string()),
    }
}

/// The text of which a preview is made: a content that is all text as such,
/// any other as JSON.
fn readable(content: &Value) -> Cow<'_, str> {
    match content {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(parts) => match parts.iter().map(part_text).collect::<Option<Vec<&str>>>() {
            Some(texts) => Cow::Owned(texts.join("\n")),
            None => Cow::Owned(content.to_string()),
        },
        other => Cow::Owned(other.to_string()),
    }
}

fn part_text(part: &Value) -> Option<&str> {
    let is_text = part.get("type").and_then(Value::as_str) == Some("text");
    part.get("text").and_then(Value::as_str).filter(|_| is_text)
}

fn has_media(content: &Value) -> bool {
    content.as_array().is_some_and(|parts| parts.iter().any(is_media))
}

fn is_media(part: &Value) -> bool {
    matches!(part.get("type").and_then(Value::as_str), Some("image" | "document"))
}

/// The longest beginning of at most so many bytes that ends with a character.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

fn first_chars(text: &str, chars: u64) -> &str {
    let chars = usize::try_from(chars).unwrap_or(usize::MAX);
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn l1_1_an_id_that_is_no_file_name_is_hashed() {
        assert_eq!(stem("toolu_01-Ab"), "toolu_01-Ab");
        for id in ["", "../../etc/passwd", "a/b", "C:\\x", "a.b", "é", "a\0b", &"x".repeat(4_000)]
        {
            let name = stem(id);
            assert!(name.starts_with("result-") && name.len() == 71, "{id}: {name}");
            assert_eq!(name, stem(id));
        }
        assert_ne!(stem("a/b"), stem("a.b"));
    }

    proptest! {
        #[test]
        fn l1_1_cuts_are_inside_the_limit_and_never_inside_a_character(
            text in "[a-zé漢🦀\n]{0,60}", limit in 0_usize..80,
        ) {
            let cut = head(&text, limit);
            prop_assert!(cut.len() <= limit && text.starts_with(cut));
            prop_assert!(cut.len() + 3 >= limit.min(text.len()));
            let cut = first_chars(&text, limit as u64);
            prop_assert_eq!(cut.chars().count(), limit.min(text.chars().count()));
        }
    }
}
