//! Transcripts, searched by words: the port `PastSearch` on a real disk (R10).
//!
//! All files are looked through as bytes, side by side and in large pieces;
//! only lines that may have the words are read as records, from the newest on,
//! until there are enough. So the cost is that of reading the files once.

mod known;
mod scan;
mod spill;

pub use known::mask_known;

use crate::blocking;
use crate::tree::Stop;
use everfold_kernel::ports::{BoxFuture, PastFound, PastHit, PastQuery, PastSearch, SearchError};
use everfold_kernel::{Record, SessionId};
use everfold_memory_judge::secrets;
use everfold_transcript::find::{SearchTerms, said};
use everfold_transcript::{Decoded, decode};
use scan::{Found, Piece};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// A file is looked through in pieces of this size, so that a large one keeps
/// every core busy.
const PIECE_BYTES: u64 = 16 << 20;

/// So much more of a message is looked at for secrets than is shown.
const MARGIN_CHARS: usize = 400;

/// The transcripts of some directories.
#[derive(Clone, Debug)]
pub struct TranscriptSearch {
    dirs: Vec<PathBuf>,
    max_line: u64,
}

impl TranscriptSearch {
    /// The transcripts that lie in these directories. Lines over `max_line`
    /// bytes are passed over.
    #[must_use]
    pub fn new(dirs: Vec<PathBuf>, max_line: u64) -> Self {
        Self { dirs, max_line }
    }
}

impl PastSearch for TranscriptSearch {
    fn search(&self, query: PastQuery) -> BoxFuture<'_, Result<PastFound, SearchError>> {
        let (dirs, max_line) = (self.dirs.clone(), self.max_line);
        let root = dirs.first().cloned().unwrap_or_default();
        blocking(root, move |stop| search(&dirs, max_line, &query, stop))
    }
}

struct Transcript {
    path: PathBuf,
    session: SessionId,
    modified: SystemTime,
    bytes: u64,
}

fn search(
    dirs: &[PathBuf],
    max_line: u64,
    query: &PastQuery,
    stop: &Stop,
) -> Result<PastFound, SearchError> {
    let Some(terms) = SearchTerms::parse(&query.words) else {
        let message = "it has no words".to_owned();
        return Err(SearchError::Pattern { pattern: query.words.clone(), message });
    };
    let mut transcripts: Vec<Transcript> = dirs.iter().flat_map(|dir| listed(dir)).collect();
    transcripts.retain(|transcript| query.except.as_ref() != Some(&transcript.session));
    transcripts.sort_by(|a, b| (b.modified, &b.path).cmp(&(a.modified, &a.path)));
    let scanned = scan_all(&transcripts, &terms, max_line, stop);
    let mut found = PastFound { sessions: transcripts.len(), ..PastFound::default() };
    for (transcript, places) in transcripts.iter().zip(scanned) {
        let Ok(places) = places else {
            found.unreadable.push(transcript.path.clone());
            continue;
        };
        let before = found.hits.len();
        read_back(transcript, &places, &terms, query, &mut found);
        for hit in found.hits.iter_mut().skip(before) {
            let masked = mask_known(&transcript.path, max_line, &hit.excerpt);
            hit.excerpt = terms.excerpt(&masked, query.excerpt_chars);
        }
    }
    Ok(found)
}

/// Reads candidates of a transcript, the last first, until there are enough.
fn read_back(
    transcript: &Transcript,
    places: &[Found],
    terms: &SearchTerms,
    query: &PastQuery,
    found: &mut PastFound,
) {
    let wanted = query.most.saturating_sub(found.hits.len());
    let Ok(file) = File::open(&transcript.path) else {
        found.unreadable.push(transcript.path.clone());
        return;
    };
    let mut taken = 0;
    for (looked_at, place) in places.iter().rev().enumerate() {
        if taken >= wanted {
            found.more += places.len() - looked_at;
            return;
        }
        let Ok(line) = scan::line(&file, *place) else { continue };
        if !terms.maybe_in_bytes(&line) && !spill::may_say(&transcript.path, &line, terms) {
            continue;
        }
        for record in records(&line) {
            let Some((who, text)) = said(&record).filter(|(_, text)| terms.all_in(text)) else {
                continue;
            };
            taken += 1;
            found.hits.push(PastHit {
                session: transcript.session.clone(),
                record: record.id,
                at: record.at,
                who: who.as_str().to_owned(),
                // Masked while what calls it a key is still there (S15), and
                // longer than it is shown, so that none is cut in half.
                excerpt: terms.excerpt(&secrets::mask(&text), query.excerpt_chars + MARGIN_CHARS),
                path: transcript.path.clone(),
            });
        }
    }
}

/// The records of a line, but for copies that a fork made.
fn records(line: &[u8]) -> Vec<Record> {
    match decode(line) {
        Ok(Decoded::Record(line)) if line.facts.forked_from.is_none() => {
            std::iter::once(line.record).chain(line.rest).collect()
        }
        _ => Vec::new(),
    }
}

/// Looks through all files, side by side.
fn scan_all(
    transcripts: &[Transcript],
    terms: &SearchTerms,
    max_line: u64,
    stop: &Stop,
) -> Vec<std::io::Result<Vec<Found>>> {
    let mut pieces = Vec::new();
    for (number, transcript) in transcripts.iter().enumerate() {
        let starts = (0..transcript.bytes).step_by(usize::try_from(PIECE_BYTES).unwrap_or(1));
        pieces.extend(starts.map(|from| (number, Piece { from, to: from + PIECE_BYTES })));
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        let mut buffer = Vec::new();
        while let Some((number, piece)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(transcript) = transcripts.get(*number) else { break };
            if stop.is_set() {
                break;
            }
            let found = scan::piece(&transcript.path, *piece, terms, max_line, &mut buffer);
            results
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((*number, piece.from, found));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 1..workers.min(pieces.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(number, from, _)| (*number, *from));
    let mut all: Vec<std::io::Result<Vec<Found>>> =
        transcripts.iter().map(|_| Ok(Vec::new())).collect();
    for (number, _, found) in results {
        let Some(of_file) = all.get_mut(number) else { continue };
        match (of_file.as_mut(), found) {
            (Ok(places), Ok(more)) => places.extend(more),
            (Ok(_), Err(error)) => *of_file = Err(error),
            (Err(_), _) => {}
        }
    }
    all
}

/// The transcripts that lie in a directory; none where there is no directory.
fn listed(dir: &Path) -> Vec<Transcript> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let transcript = |entry: std::fs::DirEntry| {
        let path = entry.path();
        let is_transcript = path.extension().is_some_and(|ending| ending == "jsonl");
        let stem = path.file_stem()?.to_str()?.to_owned();
        let metadata = entry.metadata().ok().filter(|data| data.is_file() && is_transcript)?;
        let modified = metadata.modified().ok()?;
        Some(Transcript { session: SessionId::new(stem), modified, bytes: metadata.len(), path })
    };
    entries.filter_map(transcript).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::io::Write;

    fn line(id: usize, text: &str) -> String {
        json!({
            "type": "user", "uuid": format!("r{id}"), "sessionId": "s",
            "timestamp": "2026-01-02T03:04:05Z",
            "message": {"role": "user", "content": text},
        })
        .to_string()
    }

    fn query(words: &str, most: usize) -> PastQuery {
        PastQuery { words: words.into(), most, excerpt_chars: 80, except: None }
    }

    fn find(dir: &Path, words: &str, most: usize) -> PastFound {
        search(&[dir.to_owned()], 1 << 26, &query(words, most), &Stop::default()).unwrap()
    }

    #[test]
    fn r10_the_newest_that_has_all_words_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let lines = [line(1, "the blue door"), line(2, "the red door"), line(3, "a blue DOOR")];
        std::fs::write(dir.path().join("s.jsonl"), lines.join("\n")).unwrap();
        std::fs::write(dir.path().join("other.txt"), line(4, "blue door")).unwrap();
        let found = find(dir.path(), "door blue", 10);
        let ids: Vec<&str> = found.hits.iter().map(|hit| hit.record.as_str()).collect();
        assert_eq!(ids, ["r3", "r1"]);
        assert_eq!((found.hits[0].excerpt.as_str(), found.sessions), ("a blue DOOR", 1));
        let one = find(dir.path(), "door", 1);
        assert_eq!((one.hits.len(), one.more), (1, 2));
    }

    #[test]
    fn r10_l1_words_of_a_result_on_disk_are_found_whichever_file_is_left() {
        use everfold_kernel::{Block, Entry, ToolUseId, UserEntry, UserOrigin};
        let dir = tempfile::tempdir().unwrap();
        let (id, text) = (ToolUseId::new("toolu_1"), "a door\n".repeat(4_000) + "the quokka");
        let entry = Entry::User(UserEntry {
            content: vec![Block::tool_result(&id, text.clone().into())],
            origin: UserOrigin::ToolResult,
            tool_use_result: None,
            provenance: Vec::new(),
        });
        let at = "2026-01-02T03:04:05Z".parse().unwrap();
        let record = Record { id: "r1".into(), parent: None, at, entry };
        let envelope = everfold_transcript::Envelope::new("s".into(), "/p", "0");
        let line = everfold_transcript::encode(&record, &envelope.showing(id, "short".into()));
        assert!(!line.contains("quokka"));
        std::fs::write(dir.path().join("s.jsonl"), line).unwrap();
        let results = dir.path().join("s/tool-results");
        std::fs::create_dir_all(&results).unwrap();
        for file in [Some(text), None] {
            let path = results.join("toolu_1.txt");
            match file {
                Some(text) => std::fs::write(path, text).unwrap(),
                None => std::fs::remove_file(path).unwrap(),
            }
            assert_eq!(find(dir.path(), "quokka door", 10).hits.len(), 1);
            assert!(find(dir.path(), "wombat", 10).hits.is_empty());
        }
    }

    #[test]
    fn r10_words_in_names_and_ids_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("s.jsonl"), line(1, "nothing")).unwrap();
        assert!(find(dir.path(), "sessionId", 10).hits.is_empty());
        assert!(search(&[], 1, &query(" ", 1), &Stop::default()).is_err());
    }

    #[test]
    fn r10_a_session_can_be_left_out_and_a_missing_directory_has_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("s.jsonl"), line(1, "door")).unwrap();
        let query = PastQuery { except: Some(SessionId::new("s")), ..query("door", 5) };
        let dirs = [dir.path().to_owned(), dir.path().join("missing")];
        let found = search(&dirs, 1 << 20, &query, &Stop::default()).unwrap();
        assert_eq!((found.hits.len(), found.sessions), (0, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn r10_pieces_find_every_line_once_wherever_they_are_cut(
            texts in prop::collection::vec("[a-c]{0,12}( needle)?", 1..30),
            cut in 1u64..200,
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            let mut file = File::create(&path).unwrap();
            for (id, text) in texts.iter().enumerate() {
                writeln!(file, "{}", line(id, text)).unwrap();
            }
            let size = file.metadata().unwrap().len();
            let terms = SearchTerms::parse("needle").unwrap();
            let mut found = Vec::new();
            let mut from = 0;
            while from < size {
                let piece = Piece { from, to: from + cut };
                found.extend(scan::piece(&path, piece, &terms, 1 << 20, &mut Vec::new()).unwrap());
                from += cut;
            }
            let expected = texts.iter().filter(|text| text.contains("needle")).count();
            prop_assert_eq!(found.len(), expected);
            let read = File::open(&path).unwrap();
            for place in found {
                let line = scan::line(&read, place).unwrap();
                prop_assert_eq!(records(&line).len(), 1);
            }
        }
    }
}
