//! Files that a person wants to see.

use crate::style::TextStyle;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a file that are shown.
const MOST_BYTES: u64 = 1024 * 1024;

/// What is in some files, as far as it is shown.
pub(crate) fn shown(files: &[PathBuf]) -> Vec<(TextStyle, String)> {
    let mut parts = Vec::new();
    for file in files {
        parts.push((TextStyle::Bold, format!("{}\n", file.display())));
        parts.push(match read(file) {
            Ok(text) => (TextStyle::Normal, format!("{}\n\n", text.trim_end())),
            Err(error) => (TextStyle::Red, format!("{error}\n\n")),
        });
    }
    parts
}

fn read(file: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
