//! Files of one JSON value a line, only ever appended to.
//!
//! A line and its newline go out in one write to a file opened for appending,
//! so that lines of several writers do not mix, and what a write returned for
//! survives the end of the process. If a crash tore the last line, the next
//! append starts on a new line: the torn bytes stay a line of their own.
//!
//! Reading holds one line in memory, never the file.

use crate::atomic::{FileReaders, make_dirs};
use crate::error::Error;
use serde::de::IgnoredAny;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

mod part;

pub use part::{newest, read_part};

/// A file that is appended to.
#[derive(Debug)]
pub struct Appender {
    file: File,
    path: PathBuf,
    end: End,
}

/// What is known of the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It may be torn: look before the next line.
    Unknown,
    /// Our last line is whole.
    Whole,
}

impl Appender {
    /// Opens a file, making it (0600) and its directories (0700) as needed.
    ///
    /// # Errors
    /// If it cannot be opened, or is not a file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = open_private(path)?;
        hold(&file);
        Ok(Self { file, path: path.to_path_buf(), end: End::Unknown })
    }

    /// Appends one line, given without its newline.
    ///
    /// # Errors
    /// If it has a line break or cannot be written.
    pub fn append(&mut self, line: &[u8]) -> Result<(), Error> {
        if line.contains(&b'\n') {
            let path = self.path.clone();
            return Err(Error::LineBreak { path });
        }
        if !self.is_in_place() {
            *self = Self::open(&self.path)?;
        }
        let mut bytes = Vec::with_capacity(line.len() + 2);
        if self.end == End::Unknown && self.is_torn()? {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
        self.end = End::Unknown;
        self.file.write_all(&bytes).map_err(|source| Error::io(&self.path, source))?;
        self.end = End::Whole;
        Ok(())
    }

    /// Whether the path still leads to the open file. If somebody removed or
    /// replaced it, lines would go to a file that nobody can open any more.
    fn is_in_place(&self) -> bool {
        is_same(&self.file, &self.path)
    }

    fn is_torn(&mut self) -> Result<bool, Error> {
        let failed = |source| Error::io(&self.path, source);
        if self.file.metadata().map_err(failed)?.len() == 0 {
            return Ok(false);
        }
        let mut last = [0_u8];
        self.file.seek(SeekFrom::End(-1)).map_err(failed)?;
        self.file.read_exact(&mut last).map_err(failed)?;
        Ok(last != *b"\n")
    }
}

/// Whether a path leads to an open file.
#[cfg(unix)]
pub(crate) fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Whether a path leads to an open file: one cannot be removed here.
#[cfg(not(unix))]
pub(crate) fn is_same(_: &File, _: &Path) -> bool {
    true
}

/// Shows that the file is in use, to whoever would remove it. Where locks keep
/// others from writing it is not done.
fn hold(file: &File) {
    if cfg!(unix) {
        let _ = file.try_lock_shared();
    }
}

/// Opens a file of ours for reading and appending, making it as needed.
pub(crate) fn open_private(path: &Path) -> Result<File, Error> {
    if let Some(parent) = path.parent() {
        make_dirs(parent, FileReaders::Private)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let failed = |source| Error::io(path, source);
    let file = options.open(path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        let path = path.to_path_buf();
        return Err(Error::Special { path });
    }
    Ok(file)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinesSeen {
    /// Lines that were handed on.
    pub lines: u64,
    /// Bytes of a torn last line.
    pub torn_bytes: u64,
    /// Lines that were too long and passed over.
    pub skipped: u64,
}

/// Hands every line of at most `max_line` bytes to `sink`, without its
/// newline; blank lines are left out. A last line without a newline counts if
/// it is whole JSON, and is torn otherwise.
///
/// # Errors
/// If the file cannot be read.
pub fn read(path: &Path, max_line: u64, sink: &mut dyn FnMut(&[u8])) -> Result<LinesSeen, Error> {
    let mut sink = |_: u64, line: &[u8]| sink(line);
    read_on(open_file(path)?, 0, max_line, &mut sink).map_err(|source| Error::io(path, source))
}

/// Hands on the lines of a file that stands at `start`, each with its place.
fn read_on(
    file: File,
    mut start: u64,
    max_line: u64,
    sink: &mut dyn FnMut(u64, &[u8]),
) -> io::Result<LinesSeen> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut seen = LinesSeen::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = max_line.saturating_add(1);
        let mut got = (&mut reader).take(most).read_until(b'\n', &mut line)? as u64;
        if got == 0 {
            return Ok(seen);
        }
        if line.pop_if(|last| *last == b'\n').is_some() {
            if !line.trim_ascii().is_empty() {
                seen.lines += 1;
                sink(start, &line);
            }
        } else if line.len() as u64 > max_line {
            seen.skipped += 1;
            got += skip_line(&mut reader)?;
        } else if is_json(&line) {
            seen.lines += 1;
            sink(start, &line);
        } else {
            seen.torn_bytes = line.len() as u64;
        }
        start += got;
    }
}

/// Passes over the rest of a line, and says how long that was.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut passed = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let found = buffer.iter().position(|byte| *byte == b'\n');
        let used = found.map_or(buffer.len(), |at| at + 1);
        reader.consume(used);
        passed += used as u64;
        if found.is_some() || used == 0 {
            return Ok(passed);
        }
    }
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// Opens something for reading, if it is a file: a pipe would wait for ever.
fn open_file(path: &Path) -> Result<File, Error> {
    let failed = |source| Error::io(path, source);
    let kind = std::fs::metadata(path).map_err(failed)?;
    if kind.is_dir() {
        let path = path.to_path_buf();
        return Err(Error::IsDirectory { path });
    }
    if !kind.is_file() {
        let path = path.to_path_buf();
        return Err(Error::Special { path });
    }
    File::open(path).map_err(failed)
}

/// The start and the end of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadTail {
    pub bytes: u64,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its first bytes, in whole lines.
    pub head: Vec<u8>,
    /// Its last bytes, in whole lines, none of them in the head; empty where
    /// the head is all there is.
    pub tail: Vec<u8>,
}

/// Reads at most `limit` bytes from each end of a file, in whole lines.
///
/// # Errors
/// If the file cannot be read.
pub fn head_and_tail(path: &Path, limit: u64) -> Result<HeadTail, Error> {
    let failed = |source| Error::io(path, source);
    let mut file = open_file(path)?;
    let about = file.metadata().map_err(failed)?;
    let (bytes, modified) = (about.len(), about.modified().map_err(failed)?);
    let mut head = Vec::new();
    (&mut file).take(limit.min(bytes)).read_to_end(&mut head).map_err(failed)?;
    let mut tail = Vec::new();
    if bytes <= limit {
        drop_torn(&mut head);
    } else {
        head.truncate(after_last_newline(&head));
        // One byte more than asked for tells whether the tail starts a line.
        let start = (bytes - limit - 1).max((head.len() as u64).saturating_sub(1));
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        (&mut file).take(bytes - start).read_to_end(&mut tail).map_err(failed)?;
        let line = tail.iter().position(|byte| *byte == b'\n');
        tail.drain(..line.map_or(tail.len(), |at| at + 1));
        drop_torn(&mut tail);
    }
    Ok(HeadTail { bytes, modified, head, tail })
}

fn after_last_newline(bytes: &[u8]) -> usize {
    let newline = bytes.iter().rposition(|byte| *byte == b'\n');
    newline.map_or(0, |at| at + 1)
}

/// Drops a last line that has no newline and is not whole JSON.
fn drop_torn(bytes: &mut Vec<u8>) {
    let cut = after_last_newline(bytes);
    if bytes.get(cut..).is_some_and(|last| !is_json(last)) {
        bytes.truncate(cut);
    }
}
