//! Sessions of opencode (1.18 and newer), which keeps all of them in one `SQLite`
//! database (PC10). Opened for reading alone: a database that nobody has open is
//! read as a file that does not change, so that not even a lock is left beside
//! it.
//!
//! A session has no file of its own. It is named by a path that begins with the
//! database's, so that whoever has paths of sessions need not know; its lines
//! are made here, in the form that `everfold-foreign` reads.

use everfold_kernel::{Class, Classify};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The database, in opencode's data folder.
pub const DATABASE: &str = "opencode.db";
/// How long a writer is waited for.
const WAIT: Duration = Duration::from_millis(500);

/// Why sessions of opencode cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be read: {source}")]
pub struct Error {
    path: PathBuf,
    source: rusqlite::Error,
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Degrade
    }
}

/// A session, by the path that stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpencodeSession {
    pub path: PathBuf,
    /// When it was last written, in milliseconds since 1970.
    pub modified: i64,
    /// Bytes of its messages, as far as they are counted: a part is not opened
    /// for that.
    pub bytes: u64,
}

/// The sessions of a database.
///
/// # Errors
/// If it is none of opencode's, or cannot be read.
pub fn sessions(database: &Path) -> Result<Vec<OpencodeSession>, Error> {
    let failed = |source| Error { path: database.to_owned(), source };
    let connection = open(database).map_err(failed)?;
    let sql = "select s.id, s.time_updated, \
               (select coalesce(sum(length(m.data)), 0) from message m where m.session_id = s.id) \
               from session s order by s.time_updated, s.id";
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let rows = statement.query_map([], |row| {
        let id: String = row.get(0)?;
        let bytes: i64 = row.get(2)?;
        Ok(OpencodeSession {
            path: database.join(format!("{id}.jsonl")),
            modified: row.get(1)?,
            bytes: u64::try_from(bytes).unwrap_or_default(),
        })
    });
    rows.and_then(Iterator::collect).map_err(failed)
}

/// The database and the id that such a path stands for.
#[must_use]
pub fn named_by(path: &Path) -> Option<(&Path, &str)> {
    let database = path.parent()?;
    let is_database = database.file_name()? == DATABASE && database.is_file();
    is_database.then_some((database, path.file_stem()?.to_str()?))
}

/// Hands over the lines of a session: one about itself, then one for each
/// message with its parts. Says how many there were.
///
/// # Errors
/// If the database cannot be read.
pub fn read(database: &Path, id: &str, sink: &mut dyn FnMut(&[u8])) -> Result<u64, Error> {
    let failed = |source| Error { path: database.to_owned(), source };
    let connection = open(database).map_err(failed)?;
    let told = lines(&connection, id, sink);
    told.map_err(failed)
}

fn lines(
    connection: &Connection,
    id: &str,
    sink: &mut dyn FnMut(&[u8]),
) -> Result<u64, rusqlite::Error> {
    let mut told = 0;
    let mut tell = |line: &Value| {
        sink(line.to_string().as_bytes());
        told += 1;
    };
    let about = "select directory, version from session where id = ?1";
    connection.query_row(about, [id], |row| {
        let (directory, version): (String, String) = (row.get(0)?, row.get(1)?);
        tell(&json!({"opencode": "session", "id": id, "directory": directory, "version": version}));
        Ok(())
    })?;
    let mut parts = parts(connection, id)?;
    let sql = "select id, data from message where session_id = ?1 order by time_created, id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let (message, data): (String, String) = (row.get(0)?, row.get(1)?);
        let own = parts.remove(&message).unwrap_or_default();
        let info = parsed(&data);
        tell(&json!({"opencode": "message", "id": message, "info": info, "parts": own}));
    }
    Ok(told)
}

/// Whether such a line is an answer that is still being given.
#[must_use]
pub fn is_unfinished(line: &[u8]) -> bool {
    let line: Value = serde_json::from_slice(line).unwrap_or_default();
    let info = line.get("info").unwrap_or(&Value::Null);
    let is_over = info.pointer("/time/completed").is_some() || info.get("error").is_some();
    info.get("role").and_then(Value::as_str) == Some("assistant") && !is_over
}

/// The parts of every message of a session, in their order.
fn parts(
    connection: &Connection,
    id: &str,
) -> Result<BTreeMap<String, Vec<Value>>, rusqlite::Error> {
    let sql = "select message_id, data from part where session_id = ?1 order by message_id, id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([id])?;
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (message, data): (String, String) = (row.get(0)?, row.get(1)?);
        found.entry(message).or_default().push(parsed(&data));
    }
    Ok(found)
}

/// What a cell says; one that is broken says nothing.
fn parsed(data: &str) -> Value {
    serde_json::from_str(data).unwrap_or_else(|_| Value::Object(Map::new()))
}

fn open(database: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let wal = database.with_extension("db-wal");
    let is_open = wal.metadata().is_ok_and(|data| data.len() > 0);
    let how = if is_open { "mode=ro" } else { "mode=ro&immutable=1" };
    let connection =
        Connection::open_with_flags(format!("file:{}?{how}", escaped(database)), flags)?;
    connection.busy_timeout(WAIT)?;
    Ok(connection)
}

/// A path as a part of an address.
fn escaped(path: &Path) -> String {
    let path = path.to_string_lossy();
    path.replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(at: &Path) -> PathBuf {
        let path = at.join(DATABASE);
        let own = Connection::open(&path).unwrap();
        own.execute_batch(
            "create table session (id text primary key, directory text, version text, time_updated integer);
             create table message (id text primary key, session_id text, time_created integer, data text);
             create table part (id text primary key, message_id text, session_id text, data text);
             insert into session values ('ses_1', '/p', '1.18.33', 7);
             insert into message values ('msg_2', 'ses_1', 2, '{\"role\":\"assistant\"}');
             insert into message values ('msg_1', 'ses_1', 1, '{\"role\":\"user\"}');
             insert into part values ('prt_1', 'msg_1', 'ses_1', '{\"type\":\"text\",\"text\":\"hi\"}');
             insert into part values ('prt_2', 'msg_2', 'ses_1', 'torn{');",
        )
        .unwrap();
        path
    }

    #[test]
    fn pc10_sessions_are_read_and_nothing_is_left_beside_the_database() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a ?#% folder");
        std::fs::create_dir(&folder).unwrap();
        let database = made(&folder);
        let found = sessions(&database).unwrap();
        assert_eq!((found.len(), found[0].modified), (1, 7));
        let (named, id) = named_by(&found[0].path).unwrap();
        assert_eq!((named, id), (database.as_path(), "ses_1"));
        let mut told = Vec::new();
        let count = read(named, id, &mut |line| told.push(line.to_vec())).unwrap();
        assert_eq!(count, 3);
        let line = |at: usize| serde_json::from_slice::<Value>(&told[at]).unwrap();
        assert_eq!(line(0)["directory"], "/p");
        assert_eq!((&line(1)["id"], &line(1)["parts"][0]["text"]), (&json!("msg_1"), &json!("hi")));
        assert_eq!(line(2)["parts"], json!([{}]));
        assert_eq!([1, 2].map(|at| is_unfinished(&told[at])), [false, true]);
        assert!(!is_unfinished(br#"{"info":{"role":"assistant","time":{"completed":3}}}"#));
        assert!(!is_unfinished(br#"{"info":{"role":"assistant","error":{}}}"#));
        let left = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(left, 1, "nothing is left beside it");
        assert_eq!(named_by(&folder.join("x.jsonl")), None);
    }

    #[test]
    fn pc10_what_is_no_database_of_opencode_is_said_to_be_none() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(DATABASE);
        std::fs::write(&path, "no database").unwrap();
        assert!(sessions(&path).unwrap_err().to_string().contains("cannot be read"));
        assert!(sessions(&place.path().join("none.db")).is_err());
    }
}
