//! opencode's database, as far as it is read: a session with messages in it.

use rusqlite::Connection;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    Person,
    Model,
    /// A model that has not come to its end.
    ModelAtWork,
}

/// The path that stands for a session.
pub(crate) fn session_path(home: &Path, session: &str) -> PathBuf {
    home.join(".local/share/opencode/opencode.db").join(format!("{session}.jsonl"))
}

/// Adds messages to a session.
pub(crate) fn says(home: &Path, session: &str, messages: &[(Speaker, &str)]) {
    let path = home.join(".local/share/opencode/opencode.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let own = Connection::open(&path).unwrap();
    own.execute_batch(
        "create table if not exists session (id text primary key, directory text, version text, time_updated integer);
         create table if not exists message (id text primary key, session_id text, time_created integer, data text);
         create table if not exists part (id text primary key, message_id text, session_id text, data text);",
    )
    .unwrap();
    own.execute("insert or ignore into session values (?1, '/p', '1.18.33', 1)", [session])
        .unwrap();
    let known: i64 = own.query_row("select count(*) from message", [], |row| row.get(0)).unwrap();
    for (at, (who, text)) in (known..).zip(messages) {
        let data = match who {
            Speaker::Person => json!({"role": "user", "time": {"created": at}}),
            Speaker::Model => json!({"role": "assistant", "modelID": "m", "finish": "stop",
                "time": {"created": at, "completed": at}}),
            Speaker::ModelAtWork => {
                json!({"role": "assistant", "modelID": "m", "time": {"created": at}})
            }
        };
        let (id, part) = (format!("msg_{at:04}"), json!({"type": "text", "text": text}));
        own.execute(
            "insert into message values (?1, ?2, ?3, ?4)",
            (&id, session, at, data.to_string()),
        )
        .unwrap();
        own.execute(
            "insert into part values (?1, ?2, ?3, ?4)",
            (format!("prt_{at:04}"), &id, session, part.to_string()),
        )
        .unwrap();
    }
}
