//! Reading one source of settings: a file or a text (C4, S6).
//!
//! A repository may hold anything under the name of a settings file, so the
//! file has to be a regular one of sane size before a byte of it is read.

use crate::check::{self, Checked, Mismatch};
use crate::error::Error;
use crate::origin::dotted;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Largest settings file. It cannot be a setting itself.
pub const SETTINGS_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// What `--settings` was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extra {
    /// A file; it has to be there.
    File(PathBuf),
    /// A JSON object.
    Inline(String),
}

impl Extra {
    /// A text that starts with `{` is JSON, anything else is a path.
    ///
    /// ```
    /// use everfold_settings::Extra;
    ///
    /// assert_eq!(Extra::parse("a.json"), Extra::File("a.json".into()));
    /// assert!(matches!(Extra::parse(r#" {"model": "x"}"#), Extra::Inline(_)));
    /// ```
    #[must_use]
    pub fn parse(argument: &str) -> Self {
        if argument.trim_start().starts_with('{') {
            Self::Inline(argument.to_owned())
        } else {
            Self::File(PathBuf::from(argument))
        }
    }
}

/// A source as it was read: its value and the text, to find places in.
#[derive(Debug)]
pub(crate) struct Document {
    place: String,
    text: String,
    pub(crate) value: Value,
}

impl Document {
    /// The settings file at `path`; none if there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Error> {
        let Some(bytes) = read_capped(path)? else {
            return Ok(None);
        };
        let place = path.display().to_string();
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = error.utf8_error().valid_up_to();
            let before = error.as_bytes().get(..good).unwrap_or_default();
            let lines = before.split(|byte| *byte == b'\n');
            let (line, last) = lines.fold((0, 0), |(count, _), line| (count + 1, line.len()));
            let column = last + 1;
            Error::Syntax {
                place: place.clone(),
                line,
                column,
                reason: "this is not UTF-8".to_owned(),
            }
        })?;
        Self::parse(place, &text).map(Some)
    }

    /// A text; nothing at all is an empty object.
    pub(crate) fn parse(place: String, text: &str) -> Result<Self, Error> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        if text.trim().is_empty() {
            let value = Value::Object(Map::new());
            return Ok(Self { place, text, value });
        }
        let value: Value = serde_json::from_str(&text).map_err(|error| Error::Syntax {
            place: place.clone(),
            line: error.line(),
            column: error.column(),
            reason: without_place(&error),
        })?;
        if value.is_object() {
            return Ok(Self { place, text, value });
        }
        let (line, column) = check::locate(&text, "");
        Err(Error::NotAnObject { place, line, column })
    }

    /// Whether the value, as it is by now, has the shape of settings.
    pub(crate) fn check(&self) -> Result<Checked, Error> {
        check::check(&self.value).map_err(|Mismatch { pointer, reason }| {
            let (line, column) = check::locate(&self.text, &pointer);
            Error::WrongValue {
                place: self.place.clone(),
                key: dotted(&pointer),
                line,
                column,
                reason,
            }
        })
    }
}

/// The bytes of a regular file; none if there is none.
pub(crate) fn read_capped(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let unreadable = |source| Error::Unreadable { path: path.to_owned(), source };
    // Looked at before it is opened, because opening a pipe can wait for ever.
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !metadata.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(SETTINGS_FILE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > SETTINGS_FILE_BYTES {
        return Err(Error::TooLarge { path: path.to_owned(), limit_bytes: SETTINGS_FILE_BYTES });
    }
    Ok(Some(bytes))
}

/// A file where a directory should be is nothing there, too.
fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The parser repeats the place at the end of its message.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((reason, _)) => reason.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Document, Error> {
        Document::parse("x.json".into(), text)
    }

    #[test]
    fn c4_broken_json_names_line_and_column() {
        let error = parse("{\n  \"model\": \"a\"\n  \"env\": {}\n}").unwrap_err();
        assert_eq!(error.to_string(), "read x.json, line 3, column 3: expected `,` or `}`");
    }

    #[test]
    fn s6_nothing_and_a_byte_order_mark_are_fine() {
        assert!(parse("").unwrap().value.as_object().unwrap().is_empty());
        assert!(parse(" \n").unwrap().value.as_object().unwrap().is_empty());
        assert_eq!(parse("\u{feff}{\"model\": \"a\"}").unwrap().value["model"], "a");
    }

    #[test]
    fn c4_a_list_is_no_settings() {
        let error = parse("\n[1]").unwrap_err();
        assert!(matches!(error, Error::NotAnObject { line: 2, .. }), "{error}");
    }

    #[test]
    fn c4_a_wrong_type_names_file_line_column_and_key() {
        let document = parse("{\n  \"everfold\": {\n    \"limits\": {\"max_retries\": -1}\n  }\n}");
        let error = document.unwrap().check().unwrap_err().to_string();
        assert!(
            error.starts_with("read x.json, line 3, column 32: `everfold.limits.max_retries`: "),
            "{error}"
        );
    }
}
