//! Reading one source of settings: a file or a text (C4, S6).
//!
//! A repository may hold anything under the name of a settings file, so the
//! file has to be a regular one of sane size before a byte of it is read.

use crate::check::{self, Checked, Mismatch};
use crate::error::Error;
use crate::origin::dotted;
use everfold_disk::read_regular;
use serde_json::{Map, Value};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Largest settings file. It cannot be a setting itself.
pub const SETTINGS_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Most wrong values of a file that are told one by one.
const MAX_FAULTS: usize = 32;

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
        check::check(&self.value).map_err(|mismatch| self.wrong_value(mismatch))
    }

    /// The same of a file that may not stop the program: values that keys cannot
    /// take are taken out, and told.
    pub(crate) fn check_without_faults(&mut self) -> (Checked, Vec<Error>) {
        let mut faults = Vec::new();
        loop {
            match check::check(&self.value) {
                Ok(checked) => return (checked, faults),
                Err(mismatch) => {
                    let pointer = mismatch.pointer.clone();
                    faults.push(self.wrong_value(mismatch));
                    if faults.len() > MAX_FAULTS || !remove(&mut self.value, &pointer) {
                        self.value = Value::Object(Map::new());
                    }
                }
            }
        }
    }

    fn wrong_value(&self, Mismatch { pointer, reason }: Mismatch) -> Error {
        let (line, column) = check::locate(&self.text, &pointer);
        Error::WrongValue { place: self.place.clone(), key: dotted(&pointer), line, column, reason }
    }
}

/// Takes out the value at a pointer; of a list, the whole list.
fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    let key = key.replace("~1", "/").replace("~0", "~");
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => fields.shift_remove(&key).is_some(),
        _ => remove(value, parent),
    }
}

/// The bytes of a regular file; none if there is none.
pub(crate) fn read_capped(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    use everfold_disk::Error as Disk;
    match read_regular(path, SETTINGS_FILE_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Disk::NotFound { .. }) => Ok(None),
        Err(Disk::IsDirectory { path } | Disk::Special { path }) => Err(Error::NotAFile { path }),
        Err(Disk::TooLarge { path, max, .. }) => Err(Error::TooLarge { path, limit_bytes: max }),
        Err(Disk::Denied { path }) => {
            Err(Error::Unreadable { path, source: ErrorKind::PermissionDenied.into() })
        }
        Err(error) => {
            let source = std::io::Error::other(error.to_string());
            Err(Error::Unreadable { path: path.to_owned(), source })
        }
    }
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
