//! Taking secrets out of a session for good (S15).
//!
//! What was said is learned from all files of the session first: a password is
//! called one in one place and only used in others. Then each file is written
//! anew, whole or not at all, and the transcript last. Doing it again after a
//! crash does the rest.

use crate::agent::Agent;
use crate::error::Error;
use everfold_disk::session_files::{rewrite, session_files};
use everfold_engine::Error as EngineError;
use everfold_kernel::SessionId;
use everfold_kernel::ports::TranscriptError;
use everfold_memory_judge::secrets::KnownSecrets;
use everfold_transcript::redaction::{Redacted, each_text, redact};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How the mark of a masked secret begins.
const MARK: &str = "[secret: ";

/// What was masked, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// The kinds of secrets, and how many of each.
    pub kinds: BTreeMap<&'static str, usize>,
    /// How often one stood somewhere.
    pub places: usize,
    /// The files that they stood in.
    pub files: Vec<PathBuf>,
    /// Files that are no text and were left as they are.
    pub unread: Vec<PathBuf>,
}

/// What is done about secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedactionMode {
    /// They are counted.
    Count,
    /// They are masked.
    Mask,
}

impl Agent {
    /// The secrets that were said in a session, from all its files.
    #[must_use]
    pub fn secrets_of(&self, id: &SessionId) -> KnownSecrets {
        let mut known = KnownSecrets::default();
        for file in session_files(&self.world().transcripts.path(id)) {
            learn(&file, &mut known);
        }
        known
    }

    /// Masks every secret in the files of a session, and what the home keeps of
    /// it besides: what was typed before, and the log. Nobody else may have the
    /// session open.
    ///
    /// # Errors
    /// If it is open elsewhere, is not there, or a file cannot be read or
    /// written.
    pub fn redact(&self, id: &SessionId, mode: RedactionMode) -> Result<Redaction, Error> {
        let transcripts = &self.world().transcripts;
        let path = transcripts.path(id);
        if !path.is_file() {
            let session = id.clone();
            return Err(EngineError::from(TranscriptError::NotFound { session, path }).into());
        }
        let _claim = transcripts.claim(id)?;
        let own = session_files(&path);
        let known = self.secrets_of(id);
        let home = self.home().root();
        let beside = ["history.jsonl", "logs/everfold.log", "logs/everfold.log.old"];
        let beside = beside.iter().map(|name| home.join(name)).filter(|path| path.is_file());
        let mut done = Redaction { kinds: known.kinds(), ..Redaction::default() };
        for file in beside.chain(own) {
            let Some(text) = read(&file)? else {
                done.unread.push(file);
                continue;
            };
            let fresh = masked(&file, &text, &known);
            if fresh == text {
                continue;
            }
            done.places += fresh.matches(MARK).count().saturating_sub(text.matches(MARK).count());
            if mode == RedactionMode::Mask {
                rewrite(&file, fresh.as_bytes()).map_err(|error| failed(&file, &error))?;
            }
            done.files.push(file);
        }
        Ok(done)
    }
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> Error {
    let (path, message) = (path.to_owned(), error.to_string());
    Error::Transcript(TranscriptError::Write { path, message })
}

/// A file as a text; none where it is not text.
fn read(path: &Path) -> Result<Option<String>, Error> {
    let bytes = std::fs::read(path).map_err(|error| {
        Error::Transcript(TranscriptError::Read {
            path: path.to_owned(),
            message: error.to_string(),
        })
    })?;
    Ok(String::from_utf8(bytes).ok())
}

fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

fn learn(path: &Path, known: &mut KnownSecrets) {
    let Ok(Some(text)) = read(path) else { return };
    if !is_lines(path) {
        known.learn(&text);
        return;
    }
    for line in text.lines() {
        each_text(line.as_bytes(), &mut |name, text| {
            known.learn(text);
            if let Some(name) = name {
                known.learn_named(name, text);
            }
        });
    }
}

fn masked(path: &Path, text: &str, known: &KnownSecrets) -> String {
    let mask = |text: &str| Some(known.mask(text)).filter(|fresh| fresh != text);
    if !is_lines(path) {
        return known.mask(text);
    }
    let mut fresh = String::with_capacity(text.len());
    let mut has_moved = false;
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        match redact(body.as_bytes(), &mask) {
            Redacted::Same => fresh.push_str(line),
            Redacted::Line(changed) => {
                has_moved = true;
                fresh.push_str(&changed);
                fresh.push_str(end);
            }
            Redacted::Gone => {}
        }
    }
    // Where nothing moved, what says where lines stand still holds.
    if has_moved { fresh } else { text.to_owned() }
}
