//! What people asked their agents to keep in sessions that are there already
//! (PC14): found by rule in what they typed. Nothing is kept by looking.

use crate::session_files::{SessionFile, read_lines};
use everfold_foreign::{Reader, Thread, TranscriptEvent, What};
use everfold_kernel::limits::Limits;
use everfold_kernel::phrase::cut;
use everfold_kernel::testimony::Testimony;
use everfold_kernel::{BlockView, Entry, Record, Timestamp, UserOrigin};
use everfold_memory_judge::wish::{Certainty, WishRules, wishes};
use everfold_memory_judge::{secrets, words};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Characters of the words that something rests on.
const WORDS_CHARS: usize = 200;
/// The longest message that is looked at: a longer one is a document.
const MESSAGE_BYTES: usize = 64 * 1_024;

/// Something that would have been remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnsavedMemory {
    /// What it says.
    pub text: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The words of the person that it rests on.
    pub words: String,
    /// How often it was said.
    pub times: usize,
    /// When it was said last.
    pub at: Timestamp,
    /// The session in which it was.
    pub session: PathBuf,
    /// Whether it would be kept without a question.
    pub is_sure: bool,
}

/// The surest of what would have been remembered of these sessions.
#[must_use]
pub fn unsaved(files: &[SessionFile], limits: &Limits, most: usize) -> Vec<UnsavedMemory> {
    let mut found: BTreeMap<String, UnsavedMemory> = BTreeMap::new();
    for file in files {
        let mut take = |told: TranscriptEvent| {
            if let (Thread::MAIN, What::Record(record)) = (told.thread, &told.what) {
                for own in of_record(record, file, limits) {
                    add(&mut found, own);
                }
            }
        };
        let mut reader = Reader::new();
        // What cannot be read says nothing; the bill tells of it.
        let _ = read_lines(&file.path, limits.transcript_line_bytes, &mut |line| {
            reader.push(line, &mut take);
        });
        reader.finish(&mut take);
    }
    let mut all: Vec<UnsavedMemory> = found.into_values().collect();
    all.sort_by(|one, other| {
        let rank = |own: &UnsavedMemory| (own.is_sure, own.times, own.at);
        rank(other).cmp(&rank(one))
    });
    all.truncate(most);
    all
}

fn add(found: &mut BTreeMap<String, UnsavedMemory>, own: UnsavedMemory) {
    let key = own.text.to_lowercase();
    match found.get_mut(&key) {
        Some(known) => {
            let times = known.times + own.times;
            if own.at > known.at {
                *known = own;
            }
            known.times = times;
        }
        None => {
            found.insert(key, own);
        }
    }
}

/// What a message asks to keep. What programs put into it is nobody's wish.
fn of_record(record: &Record, file: &SessionFile, limits: &Limits) -> Vec<UnsavedMemory> {
    let Entry::User(user) = &record.entry else { return Vec::new() };
    if user.origin != UserOrigin::Human {
        return Vec::new();
    }
    let texts = user.content.iter().filter_map(|block| match block.view() {
        BlockView::Text(text) => Some(text.trim()),
        _ => None,
    });
    let mut testimony = Testimony::default();
    for text in texts.filter(|text| !text.starts_with('<') && text.len() <= MESSAGE_BYTES) {
        testimony.hear(&record.id, &words::split(text, &[]), text);
    }
    let said: String = testimony.by_person().map(|own| own.text.as_str()).collect();
    wishes(&testimony, WishRules::Standing, &limits.extract)
        .into_iter()
        .filter(|wish| secrets::find(&wish.body).is_empty())
        .map(|wish| UnsavedMemory {
            words: cut(&around(&said, &wish.body), WORDS_CHARS),
            text: wish.body,
            kind: wish.kind.as_str(),
            times: 1,
            at: record.at,
            session: file.path.clone(),
            is_sure: wish.certainty == Certainty::Sure,
        })
        .collect()
}

/// The line of a message in which something stands, else how it begins.
fn around(said: &str, body: &str) -> String {
    let end = body.chars().skip(1).take(40).collect::<String>().to_lowercase();
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.clone().find(|line| line.to_lowercase().contains(&end));
    secrets::mask(line.or_else(|| lines.next()).unwrap_or_default())
}
