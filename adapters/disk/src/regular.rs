//! Reading what somebody else may have put there: regular files of bounded
//! size, and nothing else (S14). A pipe would wait for its other end, a device
//! never ends, and a file can grow while it is read.

use crate::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file, links followed, and says how large it claims to be.
///
/// # Errors
/// Why it is none that can be read.
pub fn open_regular(path: &Path) -> Result<(File, u64), Error> {
    let at = || path.to_path_buf();
    let failed = |source: io::Error| match source.kind() {
        // A file where a directory should be is nothing there, too.
        io::ErrorKind::NotADirectory => Error::NotFound { path: at() },
        _ => Error::io(path, source),
    };
    // Looked at before it is opened, because opening can wait or act.
    let about = std::fs::metadata(path).map_err(failed)?;
    if about.is_dir() {
        return Err(Error::IsDirectory { path: at() });
    }
    if !about.is_file() {
        return Err(Error::Special { path: at() });
    }
    Ok((File::open(path).map_err(failed)?, about.len()))
}

/// A whole regular file of at most `max` bytes.
///
/// # Errors
/// Why it was not read.
pub fn read_regular(path: &Path, max: u64) -> Result<Vec<u8>, Error> {
    let too_large = |bytes| Error::TooLarge { path: path.to_path_buf(), bytes, max };
    let (file, size) = open_regular(path)?;
    if size > max {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size + 1).unwrap_or_default());
    file.take(max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| Error::io(path, source))?;
    // Files of the kernel say they are empty, and others may grow meanwhile.
    if bytes.len() as u64 > max {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// The same as text.
///
/// # Errors
/// Why it was not read, or that it is not text.
pub fn read_regular_text(path: &Path, max: u64) -> Result<String, Error> {
    let bytes = read_regular(path, max)?;
    String::from_utf8(bytes).map_err(|_| Error::NotText { path: path.to_path_buf() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s14_only_regular_files_of_bounded_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read_regular(&file, 5).unwrap(), b"12345");
        assert!(matches!(read_regular(&file, 4), Err(Error::TooLarge { bytes: 5, .. })));
        assert!(matches!(read_regular(dir.path(), 4), Err(Error::IsDirectory { .. })));
        let missing = [dir.path().join("none"), file.join("below")];
        for path in missing {
            assert!(matches!(read_regular(&path, 4), Err(Error::NotFound { .. })));
        }
        std::fs::write(&file, [0xff, 0xfe]).unwrap();
        assert!(matches!(read_regular_text(&file, 4), Err(Error::NotText { .. })));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn s14_devices_and_pipes_are_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("zero");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(matches!(read_regular(&link, 10), Err(Error::Special { .. })));
        let status = std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status();
        assert!(status.unwrap().success());
        let pipe = read_regular(&dir.path().join("pipe"), 10);
        assert!(matches!(pipe, Err(Error::Special { .. })));
        // A file of the kernel says that it is empty, and is not.
        assert!(matches!(
            read_regular(Path::new("/proc/self/maps"), 10),
            Err(Error::TooLarge { .. })
        ));
    }
}
