//! A part of a file of lines: its end, looked through backwards, and single
//! lines whose places are known (E11).

use super::{LinesSeen, is_json, open_file, read_on};
use crate::error::Error;
use everfold_kernel::ports::{LineSpan, TranscriptPart};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// How much is read at a time on the way back.
const BLOCK_BYTES: u64 = 64 << 10;

/// Hands single lines and then all from a place on to `sink`, each with its
/// place, as [`read`](super::read) does. A single line that is not there, or
/// is longer than `max_line`, is left out.
///
/// # Errors
/// If the file cannot be read.
pub fn read_part(
    path: &Path,
    max_line: u64,
    part: &TranscriptPart,
    sink: &mut dyn FnMut(u64, &[u8]),
) -> Result<LinesSeen, Error> {
    let failed = |source| Error::io(path, source);
    let mut file = open_file(path)?;
    let mut line = Vec::new();
    for span in part.lines.iter().filter(|span| span.bytes <= max_line) {
        if read_span(&mut file, *span, &mut line).map_err(failed)? {
            sink(span.start, &line);
        }
    }
    file.seek(SeekFrom::Start(part.from)).map_err(failed)?;
    read_on(file, part.from, max_line, sink).map_err(failed)
}

/// Reads one line; says whether the file has so many bytes there.
fn read_span(file: &mut File, span: LineSpan, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    file.seek(SeekFrom::Start(span.start))?;
    let got = file.take(span.bytes).read_to_end(line)?;
    Ok(got as u64 == span.bytes)
}

/// The newest line of at most `max_line` bytes that begins with `opening`. The
/// file is read from its end, and no further than that line.
///
/// # Errors
/// If the file cannot be read.
pub fn newest(path: &Path, max_line: u64, opening: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let failed = |source| Error::io(path, source);
    let mut file = open_file(path)?;
    let mut end = file.metadata().map_err(failed)?.len();
    // What was read behind the block and belongs to a line that begins in it:
    // no more of it than tells whether that line is wanted.
    let mut behind: Vec<u8> = Vec::new();
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK_BYTES);
        block.clear();
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        (&mut file).take(end - start).read_to_end(&mut block).map_err(failed)?;
        let read = block.len();
        block.extend_from_slice(&behind);
        for at in line_starts(&block, read, start) {
            let line = block.get(at..).unwrap_or_default();
            if line.starts_with(opening)
                && let Some(whole) =
                    line_at(&mut file, start + at as u64, max_line).map_err(failed)?
            {
                return Ok(Some(whole));
            }
        }
        behind = block.iter().take(opening.len()).copied().collect();
        end = start;
    }
    Ok(None)
}

/// Where lines begin of which the first byte is in the block, the last first.
/// That of a line which begins exactly with the block is told by the block
/// before, unless the file begins there.
fn line_starts(block: &[u8], read: usize, start: u64) -> impl Iterator<Item = usize> {
    let newlines = block.iter().take(read).enumerate().rev();
    let starts = newlines.filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    starts.chain((start == 0).then_some(0))
}

/// The line at a place; none where it is torn or too long.
fn line_at(file: &mut File, start: u64, max_line: u64) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(start))?;
    let mut line = Vec::new();
    let mut reader = BufReader::new(file.take(max_line.saturating_add(1)));
    reader.read_until(b'\n', &mut line)?;
    let ended = line.pop_if(|last| *last == b'\n').is_some();
    let whole = ended || (line.len() as u64 <= max_line && is_json(&line));
    Ok(whole.then_some(line))
}
