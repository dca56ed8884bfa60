//! The host's transcript: what was said since it was last looked at.

use everfold_foreign::{Reader, Thread, What};
use everfold_kernel::{Block, BlockView, Entry, Record, UserOrigin};
use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// What is new in a transcript.
pub(super) struct News {
    /// The records of the conversation with the person.
    pub(super) records: Vec<Record>,
    /// Where each of them stands: the byte of its line, or the message.
    pub(super) starts: Vec<u64>,
    /// How far the file was read.
    pub(super) offset: u64,
}

/// Reads a transcript from a place on, at most so many bytes of its end. The
/// host may be writing: a line that is not whole yet is left for the next time.
pub(super) fn news(path: &Path, from: Option<u64>, most: u64) -> std::io::Result<News> {
    if let Some((database, id)) = everfold_opencode::named_by(path) {
        return news_of_database(database, id, from, most);
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    // A file that is shorter than it was is another file.
    let from = from.filter(|from| *from <= length).unwrap_or_default();
    let start = from.max(length.saturating_sub(most));
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(length - start).read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    bytes.truncate(whole);
    let offset = start + whole as u64;
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let mut start = start;
    if start > from {
        // The first of them is the end of a line.
        start += lines.next().map_or(0, |torn| torn.len() as u64 + 1);
    }
    let lines = lines.map(|line| {
        let at = start;
        start += line.len() as u64 + 1;
        (at, line)
    });
    Ok(told(lines, offset))
}

/// The same of opencode's database. Lines there are made when they are asked for,
/// and those that were told change: places are counted in messages. An answer
/// that is still being given is left for the next time.
fn news_of_database(
    database: &Path,
    id: &str,
    from: Option<u64>,
    most: u64,
) -> std::io::Result<News> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    everfold_opencode::read(database, id, &mut |line| lines.push(line.to_vec()))
        .map_err(std::io::Error::other)?;
    if lines.last().is_some_and(|line| everfold_opencode::is_unfinished(line)) {
        lines.pop();
    }
    let offset = lines.len() as u64;
    let from = from.filter(|from| *from <= offset).unwrap_or_default();
    let mut left = most;
    let fits = |line: &&Vec<u8>| {
        let length = line.len() as u64;
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    };
    let start = offset - lines.iter().rev().take_while(fits).count() as u64;
    let lines = (0..).zip(lines.iter().map(Vec::as_slice));
    Ok(told(lines.filter(|(at, _)| *at >= from.max(start)), offset))
}

/// What lines tell of the conversation with the person, each with its place.
fn told<'l>(lines: impl Iterator<Item = (u64, &'l [u8])>, offset: u64) -> News {
    let place = Cell::new(0);
    let mut found: Vec<(u64, Record)> = Vec::new();
    let mut reader = Reader::new();
    let mut take = |told: everfold_foreign::TranscriptEvent| match told.what {
        What::Record(record) if told.thread == Thread::MAIN => found.push((place.get(), *record)),
        What::Rewound { dropped } => found.retain(|(_, record)| !dropped.contains(&record.id)),
        What::Record(_) => {}
    };
    for (at, line) in lines {
        place.set(at);
        reader.push(line, &mut take);
    }
    reader.finish(&mut take);
    let (starts, records) = found.into_iter().unzip();
    News { records, starts, offset }
}

/// What the person said, in order, as far back as that many bytes go. A
/// transcript that cannot be read has nothing.
pub(crate) fn persons_words(path: &Path, most: u64) -> Vec<String> {
    let records = news(path, None, most).map(|news| news.records).unwrap_or_default();
    records.iter().filter_map(persons_text).collect()
}

/// What the person said in a record.
pub(super) fn persons_text(record: &Record) -> Option<String> {
    let Entry::User(user) = &record.entry else { return None };
    let text = |block: &Block| match block.view() {
        BlockView::Text(text) => Some(text.to_owned()),
        _ => None,
    };
    let text: Vec<String> = user.content.iter().filter_map(text).collect();
    let text = text.join("\n").trim().to_owned();
    (user.origin == UserOrigin::Human && !text.is_empty() && !text.starts_with('<')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn line(id: u32, text: &str) -> String {
        format!(
            r#"{{"type":"user","uuid":"00000000-0000-4000-8000-{id:012}","parentUuid":null,"sessionId":"s","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/p","message":{{"role":"user","content":"{text}"}}}}"#
        )
    }

    #[test]
    fn x1_only_what_is_new_and_whole_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.jsonl");
        let mut file = File::create(&path).unwrap();
        let third = line(3, "three");
        let (start, rest) = third.split_at(40);
        write!(file, "{}\n{}\n{start}", line(1, "one"), line(2, "two")).unwrap();
        let first = news(&path, None, 1 << 20).unwrap();
        let said =
            |news: &News| -> Vec<String> { news.records.iter().filter_map(persons_text).collect() };
        assert_eq!(said(&first), ["one", "two"]);
        writeln!(file, "{rest}").unwrap();
        let second = news(&path, Some(first.offset), 1 << 20).unwrap();
        assert_eq!(said(&second), ["three"]);
        let third = news(&path, Some(second.offset), 1 << 20).unwrap();
        assert!(third.records.is_empty() && third.offset == second.offset);
        let end = news(&path, None, u64::try_from(line(3, "three").len()).unwrap() + 20).unwrap();
        assert_eq!(said(&end), ["three"], "the end of a long one");
        assert_eq!(said(&news(&path, Some(1 << 30), 1 << 20).unwrap()).len(), 3, "another file");
    }
}
