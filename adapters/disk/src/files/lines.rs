//! Some lines of a file, however long the file is.
//!
//! The whole file goes by once, for its version and the number of its lines;
//! only the lines that were asked for are kept.

use crate::error::Error;
use bytes::Bytes;
use everfold_kernel::ports::{FileError, FileVersion, LinesRead};
use std::io::Read;
use std::path::Path;

/// How much of the start is looked at to tell binary from text.
const SNIFF_BYTES: usize = 8 << 10;
const CHUNK_BYTES: usize = 64 << 10;

/// Reads up to `count` lines from the 1-based `first` on. They are whole
/// lines, and as many as fit in `max_bytes`.
pub(super) fn read(
    path: &Path,
    mut file: impl Read,
    first: u64,
    count: u64,
    max_bytes: u64,
) -> Result<LinesRead, FileError> {
    let mut scan = Scan::new(first.max(1), count, max_bytes);
    let mut hasher = blake3::Hasher::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let got = match file.read(&mut chunk) {
            Ok(got) => got,
            Err(source) if source.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(Error::io(path, source).into()),
        };
        let Some(bytes) = chunk.get(..got).filter(|bytes| !bytes.is_empty()) else {
            break;
        };
        hasher.update(bytes);
        scan.feed(bytes);
    }
    let version = FileVersion(hasher.finalize().to_hex().to_string());
    scan.finish(path, version)
}

/// Where we are in the file.
struct Scan {
    first: u64,
    /// The first line that is not wanted.
    end: u64,
    max_bytes: u64,
    kept: Vec<u8>,
    /// The bytes of `kept` that are whole lines.
    whole: usize,
    lines: u64,
    /// The line we are in, from 1.
    line: u64,
    /// Bytes of that line so far.
    in_line: u64,
    /// The length of the line that did not fit.
    overflow: Option<u64>,
    sniffed: usize,
    binary: bool,
}

impl Scan {
    fn new(first: u64, count: u64, max_bytes: u64) -> Self {
        Self {
            first,
            end: first.saturating_add(count),
            max_bytes,
            kept: Vec::new(),
            whole: 0,
            lines: 0,
            line: 1,
            in_line: 0,
            overflow: None,
            sniffed: 0,
            binary: false,
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        let ahead = SNIFF_BYTES.saturating_sub(self.sniffed);
        self.binary |= bytes.iter().take(ahead).any(|byte| *byte == 0);
        self.sniffed += bytes.len().min(ahead);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.in_line += piece.len() as u64;
            if self.wanted() {
                self.keep(piece);
            }
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn wanted(&self) -> bool {
        (self.first..self.end).contains(&self.line)
    }

    fn keep(&mut self, piece: &[u8]) {
        if self.overflow.is_none() {
            self.kept.extend_from_slice(piece);
            if self.kept.len() as u64 > self.max_bytes {
                self.kept.truncate(self.whole);
                self.overflow = Some(self.in_line);
            }
        } else if self.lines == 0 && self.line == self.first {
            self.overflow = Some(self.in_line);
        }
    }

    fn end_line(&mut self) {
        if self.wanted() && self.overflow.is_none() {
            self.whole = self.kept.len();
            self.lines += 1;
        }
        self.line += 1;
        self.in_line = 0;
    }

    fn finish(mut self, path: &Path, version: FileVersion) -> Result<LinesRead, FileError> {
        if self.in_line > 0 {
            self.end_line();
        }
        if let (Some(bytes), 0) = (self.overflow, self.lines) {
            return Err(FileError::TooLarge {
                path: path.to_path_buf(),
                bytes,
                max: self.max_bytes,
            });
        }
        Ok(LinesRead {
            bytes: Bytes::from(self.kept),
            lines: self.lines,
            total_lines: self.line - 1,
            version,
            binary: self.binary,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], first: u64, count: u64, max: u64) -> Result<LinesRead, FileError> {
        read(Path::new("/f"), text, first, count, max)
    }

    #[test]
    fn q5_lines_from_the_middle() {
        let got = lines(b"a\nb\nc\nd", 2, 2, 100).unwrap();
        assert_eq!(&got.bytes[..], b"b\nc\n");
        assert_eq!((got.lines, got.total_lines), (2, 4));
        let got = lines(b"a\nb\nc\nd", 4, 10, 100).unwrap();
        assert_eq!(&got.bytes[..], b"d");
        assert_eq!((got.lines, got.total_lines), (1, 4));
        assert_eq!(got.version.0, blake3::hash(b"a\nb\nc\nd").to_hex().as_str());
    }

    #[test]
    fn q5_nothing_past_the_end_and_nothing_in_an_empty_file() {
        let got = lines(b"a\n", 5, 1, 100).unwrap();
        assert_eq!((got.lines, got.total_lines, got.bytes.len()), (0, 1, 0));
        let got = lines(b"", 1, 1, 100).unwrap();
        assert_eq!((got.lines, got.total_lines), (0, 0));
        let got = lines(b"a\n", 0, 1, 100).unwrap();
        assert_eq!(got.lines, 1, "0 means the first line");
    }

    #[test]
    fn q5_as_many_whole_lines_as_fit() {
        let got = lines(b"aa\nbb\ncc\n", 1, 10, 7).unwrap();
        assert_eq!(&got.bytes[..], b"aa\nbb\n");
        assert_eq!((got.lines, got.total_lines), (2, 3));
        let error = lines(b"aaaa\nb\n", 1, 2, 3).unwrap_err();
        assert!(matches!(error, FileError::TooLarge { bytes: 5, max: 3, .. }), "{error}");
    }

    #[test]
    fn s6_a_long_line_is_measured_across_chunks() {
        let text = vec![b'x'; CHUNK_BYTES * 3];
        let error = lines(&text, 1, 1, 10).unwrap_err();
        let whole = text.len() as u64;
        assert!(matches!(error, FileError::TooLarge { bytes, .. } if bytes == whole));
    }

    #[test]
    fn q5_a_nul_near_the_start_means_binary() {
        assert!(lines(b"a\0b\n", 1, 1, 100).unwrap().binary);
        let mut late = vec![b'\n'; SNIFF_BYTES];
        late.push(0);
        assert!(!lines(&late, 1, 1, 100).unwrap().binary);
    }
}
