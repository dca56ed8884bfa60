//! What hooks noted of a session: lines of JSON in a file of its own.
//!
//! Twenty hooks may run at once, so lines are only appended. A file that is
//! lost or torn costs a repeated memory, nothing more.

use everfold_disk::jsonl::{self, Appender};
use everfold_memory_store::ContentId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Longest line that is read, in bytes.
const MAX_LINE_BYTES: u64 = 1024 * 1024;
/// Longest name of a session that becomes a file's name as it is.
const NAME_BYTES: usize = 100;

/// One thing that was noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub(super) enum Note {
    /// A session began, in this way; the model is told with the next message.
    Begun { source: String },
    /// It was told.
    Told,
    /// A memory was shown to the model.
    Surfaced { path: PathBuf, bytes: usize },
    /// A memory was named in a line.
    Named { path: PathBuf },
    /// The model read a memory by itself.
    Read { path: PathBuf },
    /// What the person typed, in this project.
    Prompted { project: PathBuf, text: String },
    /// A failure was looked up, by what it is told apart.
    LookedUp { tokens: String },
    /// The transcript was looked at up to here.
    Looked { offset: u64 },
    /// Words of the person's that a summary may lose.
    Kept { words: Vec<String> },
    /// The model no longer sees what it was shown.
    Cleared,
    /// The answer is complete.
    Answered,
    /// The host's model was asked to save what is worth it.
    Asked,
    /// Uses were counted up to here.
    Counted,
    /// Something is left for a worker to do.
    Left { transcript: Option<PathBuf>, ended: Ended },
    /// A worker did what was left, up to the so-many-th time.
    Done { times: u64 },
    /// A model reviewed the transcript up to here, when something had been left
    /// so often.
    Reviewed { offset: u64, times: u64 },
    /// The server refused a review of this part: it is not sent again as it is.
    Refused(RefusedSpan),
    /// Something that this version does not know.
    #[serde(other)]
    Unknown,
}

/// A part of a transcript whose review was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RefusedSpan {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// Whether a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ended {
    Yes,
    No,
}

/// The notes of one session.
#[derive(Debug)]
pub(super) struct Notes {
    path: PathBuf,
    /// How the session began, where the model was not told anything yet.
    pub(super) begun: Option<String>,
    /// Memories that the model sees.
    pub(super) surfaced: BTreeSet<PathBuf>,
    /// Memories that a line in view names.
    pub(super) named: BTreeSet<PathBuf>,
    /// Bytes of these.
    pub(super) bytes: usize,
    /// Memories that were shown and not counted yet.
    pub(super) shown: Vec<PathBuf>,
    /// Memories that were read and not counted yet.
    pub(super) read: Vec<PathBuf>,
    /// What the person typed, and in which project.
    pub(super) prompts: Vec<(PathBuf, String)>,
    /// Failures that were looked up.
    pub(super) looked_up: BTreeSet<String>,
    /// How much of the transcript was looked at.
    pub(super) looked: Option<u64>,
    /// Words of the person's that a summary may have lost.
    pub(super) kept: Vec<String>,
    /// What is left for a worker.
    pub(super) left: Left,
    /// How much of the transcript a model reviewed.
    pub(super) reviewed: Option<u64>,
    /// How often something had been left then.
    reviewed_times: u64,
    /// How often the host's model was asked to save.
    pub(super) asked: u64,
    /// The part whose review was refused last.
    pub(super) refused: Option<RefusedSpan>,
    /// Where an answer is being given, the project that the message was typed in.
    answering: Option<PathBuf>,
}

/// What is left for a worker.
#[derive(Debug)]
pub(super) struct Left {
    /// How often something was left.
    pub(super) times: u64,
    /// How often of these it was done.
    pub(super) done: u64,
    /// Whether the session is over.
    pub(super) ended: Ended,
    /// The host's transcript.
    pub(super) transcript: Option<PathBuf>,
}

impl Notes {
    /// Reads the notes of a session. Those that cannot be read are none.
    pub(super) fn open(dir: &Path, session: &str) -> Self {
        Self::at(dir.join(format!("{}.jsonl", file_name(session))))
    }

    /// Reads a file of notes.
    pub(super) fn at(path: PathBuf) -> Self {
        let mut notes = Self {
            path,
            begun: None,
            surfaced: BTreeSet::new(),
            named: BTreeSet::new(),
            bytes: 0,
            shown: Vec::new(),
            read: Vec::new(),
            prompts: Vec::new(),
            looked_up: BTreeSet::new(),
            looked: None,
            kept: Vec::new(),
            left: Left { times: 0, done: 0, ended: Ended::No, transcript: None },
            reviewed: None,
            reviewed_times: 0,
            asked: 0,
            refused: None,
            answering: None,
        };
        let mut lines = Vec::new();
        let _ = jsonl::read(&notes.path, MAX_LINE_BYTES, &mut |line| {
            lines.extend(serde_json::from_slice::<Note>(line).ok());
        });
        for line in lines {
            notes.take(line);
        }
        notes
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Begun { source } => self.begun = Some(source),
            Note::Told => self.begun = None,
            Note::Surfaced { path, bytes } => {
                self.bytes = self.bytes.saturating_add(bytes);
                self.shown.push(path.clone());
                self.surfaced.insert(path);
            }
            Note::Named { path } => {
                self.named.insert(path);
            }
            Note::Read { path } => {
                self.read.push(path.clone());
                self.surfaced.insert(path);
            }
            Note::Prompted { project, text } => {
                self.answering = Some(project.clone());
                self.prompts.push((project, text));
            }
            Note::Answered => self.answering = None,
            Note::Asked => self.asked += 1,
            Note::LookedUp { tokens } => {
                self.looked_up.insert(tokens);
            }
            Note::Looked { offset } => self.looked = Some(offset),
            Note::Kept { words } => self.kept = words,
            Note::Cleared => {
                self.surfaced.clear();
                self.named.clear();
                self.bytes = 0;
            }
            Note::Counted => {
                self.shown.clear();
                self.read.clear();
            }
            Note::Left { transcript, ended } => {
                self.answering = None;
                self.left.times += 1;
                self.left.ended = ended;
                self.left.transcript = transcript.or(self.left.transcript.take());
            }
            Note::Done { times } => self.left.done = self.left.done.max(times),
            Note::Reviewed { offset, times } => {
                self.reviewed = Some(offset);
                self.reviewed_times = times;
                self.refused = None;
            }
            Note::Refused(span) => {
                // It was refused with what came after it, too: that goes on without it.
                if let Some(before) = self.refused.filter(|before| before.from == span.from) {
                    self.reviewed = Some(before.to);
                }
                self.refused = Some(span);
            }
            Note::Unknown => {}
        }
    }

    /// Answers since the last review. The end of a session is as good as many.
    pub(super) fn turns(&self) -> u64 {
        match self.left.ended {
            Ended::Yes => u64::MAX,
            Ended::No => self.left.times.saturating_sub(self.reviewed_times),
        }
    }

    /// Notes something. What cannot be noted is forgotten, with a line in the
    /// log: the host does not care.
    pub(super) fn note(&mut self, note: Note) {
        let written =
            serde_json::to_vec(&note).map_err(|error| error.to_string()).and_then(|line| {
                let appended = Appender::open(&self.path).and_then(|mut file| file.append(&line));
                appended.map_err(|error| error.to_string())
            });
        if let Err(error) = written {
            tracing::warn!(error, "a hook could not take a note");
        }
        self.take(note);
    }
}

/// How many files of notes are looked through for what a person typed.
const NEWEST: usize = 8;

/// The notes that were written last, the newest first.
fn newest(dir: &Path) -> impl Iterator<Item = Notes> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut files: Vec<(std::time::SystemTime, PathBuf)> = files
        .filter(|file| file.path().extension().is_some_and(|ending| ending == "jsonl"))
        .filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())))
        .collect();
    files.sort();
    files.into_iter().rev().take(NEWEST).map(|(_, path)| Notes::at(path))
}

/// The session in which a message of a project is being answered: whoever asks
/// for something now is in it.
pub(crate) fn answering(dir: &Path, project: &Path) -> Option<String> {
    let at_work = newest(dir).find(|notes| notes.answering.as_deref() == Some(project))?;
    Some(at_work.path.file_stem()?.to_string_lossy().into_owned())
}

/// What the person typed in a project lately, by the newest notes.
pub(crate) fn prompts_of(dir: &Path, project: &Path, most: usize) -> Vec<String> {
    let mut prompts: Vec<String> = Vec::new();
    for notes in newest(dir) {
        let here = notes.prompts.into_iter().rev().filter(|(other, _)| other == project);
        prompts.extend(here.map(|(_, text)| text));
    }
    prompts.truncate(most);
    prompts
}

/// A session's name as the name of a file: it comes from the host, and could
/// be anything.
pub(super) fn file_name(session: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !session.is_empty() && session.len() <= NAME_BYTES && session.chars().all(plain) {
        session.to_owned()
    } else {
        format!("x{}", ContentId::of(session.as_bytes()).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x1_notes_are_read_back_and_a_torn_line_does_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        let mut notes = Notes::open(dir.path(), "s");
        notes.note(Note::Surfaced { path: "/m/a.md".into(), bytes: 10 });
        notes.note(Note::Looked { offset: 5 });
        let path = dir.path().join("s.jsonl");
        let torn = std::fs::read_to_string(&path).unwrap() + "{\"note\":\"new\"}\n{\"note\":\"rea";
        std::fs::write(&path, torn).unwrap();
        let mut notes = Notes::open(dir.path(), "s");
        assert_eq!((notes.surfaced.len(), notes.bytes, notes.looked), (1, 10, Some(5)));
        notes.note(Note::Cleared);
        let notes = Notes::open(dir.path(), "s");
        assert_eq!((notes.surfaced.len(), notes.bytes, notes.shown.len()), (0, 0, 1));
    }

    #[test]
    fn x1_s1_a_session_names_no_other_file() {
        for bad in ["", "../../x", "a/b", "c:\\d", &"x".repeat(300), "a\0b"] {
            let name = file_name(bad);
            assert!(name.starts_with('x') && name.len() == 65, "{name}");
        }
        assert_eq!(file_name("0192f0c1-1111"), "0192f0c1-1111");
    }
}
