//! One piece of a file, looked through as bytes.

use everfold_transcript::find::SearchTerms;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// A part of a file. The lines that start in it are its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// A line that may have the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    at: u64,
    bytes: usize,
}

/// Looks through the lines that start in a piece.
pub(super) fn piece(
    path: &Path,
    piece: Piece,
    terms: &SearchTerms,
    max_line: u64,
    buffer: &mut Vec<u8>,
) -> io::Result<Vec<Found>> {
    let mut file = File::open(path)?;
    // From the byte before: a newline there means that a line starts here.
    let start = piece.from.saturating_sub(1);
    file.seek(SeekFrom::Start(start))?;
    let mut scanner = Scanner { found: Vec::new(), at: start, to: piece.to, terms };
    buffer.clear();
    let mut skipping = piece.from > 0;
    loop {
        let mut held = buffer.len();
        let read = file.by_ref().take(CHUNK_BYTES as u64).read_to_end(buffer)?;
        if skipping {
            held = 0;
            let end = newline(buffer);
            skipping = end.is_none();
            let skipped = end.map_or(buffer.len(), |end| end + 1);
            scanner.drop_front(buffer, skipped);
        }
        let whole = match read {
            // The last line may have no newline.
            0 => buffer.len(),
            _ => last_newline(buffer, held).map_or(0, |last| last + 1),
        };
        if scanner.look(buffer, whole) == Look::Done || read == 0 {
            return Ok(scanner.found);
        }
        scanner.drop_front(buffer, whole);
        if buffer.len() as u64 > max_line {
            let all = buffer.len();
            scanner.drop_front(buffer, all);
            skipping = true;
        }
    }
}

#[derive(PartialEq, Eq)]
enum Look {
    GoOn,
    Done,
}

struct Scanner<'a> {
    found: Vec<Found>,
    /// Where the buffer starts in the file.
    at: u64,
    to: u64,
    terms: &'a SearchTerms,
}

impl Scanner<'_> {
    /// Looks through the whole lines at the start of the buffer.
    fn look(&mut self, buffer: &[u8], whole: usize) -> Look {
        let mut from = 0;
        loop {
            if self.at + from as u64 >= self.to {
                return Look::Done;
            }
            let rest = buffer.get(from..whole).unwrap_or_default();
            let Some(place) = self.terms.next_place(rest) else { break };
            let (before, after) = rest.split_at_checked(place).unwrap_or((rest, &[]));
            let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end = newline(after).map_or(rest.len(), |at| place + at);
            let start = self.at + (from + line) as u64;
            if start >= self.to {
                return Look::Done;
            }
            if rest.get(line..end).is_some_and(|line| self.terms.maybe(line)) {
                self.found.push(Found { at: start, bytes: end - line });
            }
            from += end + 1;
            if from >= whole {
                break;
            }
        }
        if self.at + whole as u64 >= self.to { Look::Done } else { Look::GoOn }
    }

    fn drop_front(&mut self, buffer: &mut Vec<u8>, bytes: usize) {
        buffer.drain(..bytes);
        self.at += bytes as u64;
    }
}

/// Reads one line again.
pub(super) fn line(mut file: &File, place: Found) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(place.at))?;
    let mut line = vec![0; place.bytes];
    file.read_exact(&mut line)?;
    Ok(line)
}

fn newline(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

/// The last newline; before `held` there is none.
fn last_newline(bytes: &[u8], held: usize) -> Option<usize> {
    let fresh = bytes.get(held.min(bytes.len())..).unwrap_or_default();
    fresh.iter().rposition(|byte| *byte == b'\n').map(|at| at + bytes.len() - fresh.len())
}
