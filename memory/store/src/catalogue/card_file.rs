//! The file of cards, `.everfold/recall.bin`: a name with a version, a sum over
//! all that follows, from how many lines of a file a card was made, then one card
//! after the other. Nothing waits for the disk:
//! a file that was cut short has another sum.

use super::folder::{Body, Folders, Found};
use super::vector_shelf::unusable;
use super::{Card, Mark};
use crate::likeness::{self, Note};
use everfold_disk::{Lock, Root};
use everfold_memory_file::MemoryType;
use everfold_memory_file::frontmatter::Basis;
use everfold_memory_recall::{WORDS_FORM, Words};
use jiff::Timestamp;
use jiff::civil::Date;
use std::io;
use std::sync::Arc;

/// The form of the file, and of how words are counted.
const NAME: [u8; 8] = [b'm', b'n', b'r', b'c', b'l', 0, 3, WORDS_FORM];
const FILE: &str = "recall.bin";

pub(super) fn read(folders: &Folders, head_lines: usize) -> Option<Vec<Card>> {
    let (lines, cards) = match folders.read(FILE, NAME) {
        Found::Nothing => return None,
        Found::Unusable(path) => {
            unusable(&path);
            return None;
        }
        Found::Whole(body) => decode(body).unzip(),
    };
    if cards.is_none() {
        tracing::warn!("kept cards of memories are none; they are made anew");
    }
    // Those of another setting say something else.
    cards.filter(|_| lines == u64::try_from(head_lines).ok())
}

/// From how many lines cards were made, and the cards.
fn decode(body: Body) -> Option<(u64, Vec<Card>)> {
    let (all, mut place) = body.into_buffer();
    let mut left = all.get(place..)?;
    let (lines, count) = (number(&mut left)?, number(&mut left)?);
    place = all.len() - left.len();
    let mut cards = Vec::with_capacity(usize::try_from(count).ok()?.min(all.len()));
    for _ in 0..count {
        cards.push(card(&all, &mut place)?);
    }
    (place == all.len()).then_some((lines, cards))
}

pub(super) fn write(folders: &Folders, cards: &[Card], head_lines: usize) -> io::Result<()> {
    let mut body = Vec::new();
    for number in [head_lines as u64, cards.len() as u64] {
        body.extend(number.to_le_bytes());
    }
    for card in cards {
        encode(card, &mut body);
    }
    folders.write(FILE, NAME, &body)
}

/// Notes what changed memories are about, unless somebody is changing the
/// store just now.
pub(super) fn note(folders: &Folders, changed: &[Note]) -> Option<()> {
    let own = folders.own()?;
    if !own.join(likeness::FILE).is_file() {
        return None;
    }
    let _lock = Lock::try_acquire(&own.join("lock")).ok()??;
    likeness::add(&Root::open(&own).ok()?, changed).ok()
}

fn encode(card: &Card, out: &mut Vec<u8>) {
    let Mark { number, bytes, modified, changed } = card.mark;
    for value in [number, bytes, modified, changed] {
        out.extend(value.to_le_bytes());
    }
    out.extend(card.modified.as_nanosecond().to_le_bytes());
    let kind = card.kind.and_then(|kind| KINDS.iter().position(|known| *known == kind));
    let basis = card.basis.and_then(|basis| BASES.iter().position(|known| *known == basis));
    let place = |at: Option<usize>| at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX);
    out.extend([u8::from(card.is_sure), place(kind), place(basis)]);
    put(&card.path, out);
    let date = card.date.map(|date| date.to_string());
    for text in [&card.name, &card.description, &card.branch, &card.worktree, &date] {
        put(text.as_deref().unwrap_or_default(), out);
    }
    card.words.encode(out);
}

fn card(all: &Arc<Vec<u8>>, place: &mut usize) -> Option<Card> {
    let left = &mut all.get(*place..)?;
    let mark = Mark {
        number: number(left)?,
        bytes: number(left)?,
        modified: number(left)?,
        changed: number(left)?,
    };
    let modified = Timestamp::from_nanosecond(i128::from_le_bytes(take(left)?)).ok()?;
    let [sure, kind, basis] = take(left)?;
    let path = text(left)?;
    // None and nothing are the same here.
    let mut some = || {
        let text = text(left)?;
        Some(if text.is_empty() { None } else { Some(text) })
    };
    let (name, description, branch, worktree) = (some()?, some()?, some()?, some()?);
    let date = text(left)?.parse::<Date>().ok();
    *place = all.len() - left.len();
    Some(Card {
        path,
        modified,
        name,
        description,
        kind: KINDS.get(usize::from(kind)).copied(),
        date,
        basis: BASES.get(usize::from(basis)).copied(),
        branch,
        worktree,
        mark,
        is_sure: sure == 1,
        words: Words::decode(all, place)?,
    })
}

const KINDS: [MemoryType; 4] =
    [MemoryType::User, MemoryType::Feedback, MemoryType::Project, MemoryType::Reference];
const BASES: [Basis; 3] = [Basis::Stated, Basis::Confirmed, Basis::Inferred];

/// Texts come from files of a limited size.
fn put(text: &str, out: &mut Vec<u8>) {
    out.extend(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(text.as_bytes());
}

fn text(left: &mut &[u8]) -> Option<String> {
    let length = u32::from_le_bytes(take(left)?);
    let (bytes, rest) = left.split_at_checked(length as usize)?;
    *left = rest;
    Some(std::str::from_utf8(bytes).ok()?.to_owned())
}

fn number(left: &mut &[u8]) -> Option<u64> {
    take(left).map(u64::from_le_bytes)
}

fn take<const N: usize>(left: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = left.split_first_chunk::<N>()?;
    *left = rest;
    Some(*first)
}
