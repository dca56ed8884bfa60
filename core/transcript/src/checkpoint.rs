//! Lines about files that tools changed: what a file was before (Q12).
//!
//! The first change after a message is a `file-history-snapshot`, each later
//! one a `file-history-delta`. The content itself is a file beside the
//! transcript, named by its hash.

use crate::line::encode::time;
use everfold_kernel::RecordId;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

const SNAPSHOT: &str = "file-history-snapshot";
const DELTA: &str = "file-history-delta";
/// Our own field: the version that the tool wrote.
const WROTE: &str = "everfoldWrote";
/// Our own field: why there is no copy.
const NOT_KEPT: &str = "everfoldNotKept";

/// A file, as it was before a tool changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The message, or the step back, after which it was changed.
    pub message: RecordId,
    pub path: PathBuf,
    /// What it was at that message.
    pub before: FileBefore,
    /// The hash of what was written; none where the file was removed.
    pub wrote: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileBefore {
    /// There was none.
    Absent,
    /// The copy of this name.
    Kept(String),
    /// It was not kept, for this reason.
    NotKept(String),
}

/// Which line of its message a checkpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointLine {
    /// The first.
    First,
    Later,
}

impl Checkpoint {
    /// Its line, without a newline.
    #[must_use]
    pub fn line(&self, place: CheckpointLine, at: Timestamp) -> String {
        let at = time(at);
        let mut backup = Map::new();
        let name = match &self.before {
            FileBefore::Kept(name) => Value::from(name.as_str()),
            FileBefore::Absent | FileBefore::NotKept(_) => Value::Null,
        };
        backup.insert("backupFileName".into(), name);
        backup.insert("version".into(), 1.into());
        backup.insert("backupTime".into(), at.clone().into());
        if let FileBefore::NotKept(reason) = &self.before {
            backup.insert(NOT_KEPT.into(), reason.as_str().into());
        }
        backup.insert(WROTE.into(), self.wrote.clone().into());
        let path = self.path.display().to_string();
        let message = &self.message;
        let line = match place {
            CheckpointLine::First => json!({
                "type": SNAPSHOT,
                "messageId": message,
                "snapshot": {
                    "messageId": message,
                    "trackedFileBackups": {path: backup},
                    "timestamp": at,
                },
                "isSnapshotUpdate": false,
            }),
            CheckpointLine::Later => json!({
                "type": DELTA,
                "messageId": message,
                "snapshotMessageId": message,
                "trackingPath": path,
                "backup": backup,
                "timestamp": at,
            }),
        };
        line.to_string()
    }

    /// The checkpoints that a bookkeeping line holds.
    #[must_use]
    pub fn read(line: &Value) -> Vec<Self> {
        let id = |value: &Value| value.get("messageId").and_then(Value::as_str).map(RecordId::new);
        let Some(message) = id(line) else { return Vec::new() };
        match line.get("type").and_then(Value::as_str) {
            Some(SNAPSHOT) => {
                let files = line.pointer("/snapshot/trackedFileBackups").and_then(Value::as_object);
                let files = files.into_iter().flatten();
                files.map(|(path, backup)| Self::of(&message, path, backup)).collect()
            }
            Some(DELTA) => {
                let path = line.get("trackingPath").and_then(Value::as_str);
                let found = path.zip(line.get("backup"));
                found.map(|(path, backup)| Self::of(&message, path, backup)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn of(message: &RecordId, path: &str, backup: &Value) -> Self {
        let text = |key: &str| backup.get(key).and_then(Value::as_str).map(str::to_owned);
        let before = match (text("backupFileName"), text(NOT_KEPT)) {
            (_, Some(reason)) => FileBefore::NotKept(reason),
            (Some(name), None) => FileBefore::Kept(name),
            (None, None) => FileBefore::Absent,
        };
        Self { message: message.clone(), path: path.into(), before, wrote: text(WROTE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q12_checkpoints_come_back_from_their_lines() {
        let befores = [
            FileBefore::Absent,
            FileBefore::Kept("abc@v1".to_owned()),
            FileBefore::NotKept("too large".to_owned()),
        ];
        for before in befores {
            for place in [CheckpointLine::First, CheckpointLine::Later] {
                let checkpoint = Checkpoint {
                    message: RecordId::new("m"),
                    path: "/p/a b.rs".into(),
                    before: before.clone(),
                    wrote: Some("def".to_owned()),
                };
                let line = checkpoint.line(place, Timestamp::UNIX_EPOCH);
                let line: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(Checkpoint::read(&line), [checkpoint]);
            }
        }
        assert_eq!(Checkpoint::read(&json!({"type": SNAPSHOT})), []);
        assert_eq!(Checkpoint::read(&json!({"type": DELTA, "messageId": 1})), []);
    }
}
