//! Why a file was not read or changed, in words that say what to do instead.

use crate::failure::Failure;
use crate::input::InputError;
use everfold_kernel::ports::FileError;
use everfold_kernel::{Class, Classify};
use std::path::{Path, PathBuf};

/// What Read, Write and Edit come upon.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileToolError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} does not exist. Did you mean {}?", path.display(), near.join(" or "))]
    Missing { path: PathBuf, near: Vec<String> },
    #[error(
        "{} does not exist; the working directory is {}. Use Glob to find it",
        path.display(),
        cwd.display()
    )]
    NowhereNear { path: PathBuf, cwd: PathBuf },
    #[error("{} is a directory; use Glob with that path to list files, or ls with Bash", path.display())]
    Directory { path: PathBuf },
    #[error(
        "{} is a device, pipe or socket, and reading it might never end; if it must be read, use \
         Bash with head and a timeout",
        path.display()
    )]
    Endless { path: PathBuf },
    #[error(
        "{} has {bytes} bytes, too many to be read from the start; give offset and limit to read \
         a part, or find the place with Grep",
        path.display()
    )]
    TooLarge { path: PathBuf, bytes: u64 },
    #[error(
        "{} has {bytes} bytes, more than the {max} that can be shown; make a smaller copy (a lower \
         resolution, some pages, the text alone) with Bash and read that",
        path.display()
    )]
    TooLargeToShow { path: PathBuf, bytes: u64, max: u64 },
    #[error(
        "{} has {bytes} bytes, more than the {max} that can be changed this way; use Bash with a \
         program such as sed",
        path.display()
    )]
    TooLargeToChange { path: PathBuf, bytes: u64, max: u64 },
    #[error(
        "{} is a binary file{} of {bytes} bytes, not text; use Bash with a program that knows the \
         format, such as file, xxd, strings or unzip -l",
        path.display(),
        ending(path)
    )]
    Binary { path: PathBuf, bytes: u64 },
    #[error("{} has {lines} lines, so there is nothing at offset {offset}", path.display())]
    PastEnd { path: PathBuf, lines: u64, offset: u64 },
    #[error("{} is {kind}, not a file; nothing was written", path.display())]
    NoFile { path: PathBuf, kind: &'static str },
    #[error("{} has not been read yet; read it first, then change it", path.display())]
    Unread { path: PathBuf },
    #[error("{} changed since it was read; read it again, then change it", path.display())]
    Changed { path: PathBuf },
    #[error("nothing was written: {0}")]
    NotWritten(FileError),
    #[error(
        "{} is not UTF-8, and editing it as text would damage it; use Bash with a program such as \
         iconv or sed",
        path.display()
    )]
    NotUtf8 { path: PathBuf },
    #[error("old_string and new_string are the same, so there is nothing to change")]
    NoChange,
    #[error(
        "old_string is empty but {} has content; give the text to replace, or use Write to replace \
         the whole file",
        path.display()
    )]
    NothingToReplace { path: PathBuf },
    #[error("old_string is not in {}; {hint}", path.display())]
    NotFound { path: PathBuf, hint: String },
    #[error(
        "old_string occurs {times} times in {}; take more lines around the one you mean, or set \
         replace_all to change them all",
        path.display()
    )]
    Ambiguous { path: PathBuf, times: usize },
}

impl Classify for FileToolError {
    fn class(&self) -> Class {
        match self {
            Self::File(error) | Self::NotWritten(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

impl Failure for FileToolError {}

fn ending(path: &Path) -> String {
    let kind = path.extension().and_then(|extension| extension.to_str());
    kind.map_or_else(String::new, |extension| format!(" (.{extension})"))
}
